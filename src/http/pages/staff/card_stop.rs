//! Emergency stop on a printer's card.

use maud::{Markup, html};

use super::FLOOR_PATH;
use crate::design::{Icon, icon};
use domain::printer::Printer;

/// Renders the emergency-stop button, which is separate from the other actions. It must be held down with the pointer
/// or a key while a ring around it fills. Without the script, it links to the printer's own page.
pub(super) fn emergency_stop(printer: &Printer) -> Markup {
    html! {
        form class="stops" method="get" action={ (FLOOR_PATH) "/printers/" (printer.id) }
            data-hold={ "/api/printers/" (printer.id) "/emergency-stop" } {
            button id={ "stop-" (printer.id) } class="stop" type="submit"
                data-says={ "emergency stop of " (printer.fields.name) }
                aria-label={ "Hold to stop " (printer.fields.name) } title={ "Hold to stop " (printer.fields.name) } {
                (icon(Icon::OctagonX))
            }
        }
    }
}
