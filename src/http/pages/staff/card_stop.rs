//! Emergency stop on a printer's card.

use maud::{Markup, html};

use super::card_print::printer_path;
use crate::design::{Icon, icon};
use domain::printer::Printer;
use words::Language;
use words::staff::common;

/// Renders the emergency-stop button in its own place, apart from the other actions, with its words where there is
/// room for them. It must be held down with the pointer or a key while a ring around it fills. Without the script, it
/// links to the stop on the printer's own page.
pub(super) fn emergency_stop(language: Language, printer: &Printer) -> Markup {
    let name = &printer.fields.name;
    let hold = common::hold_to_stop(language, name);
    html! {
        form class="stops" method="get" action={ (printer_path(printer.id)) "#stop-title" }
            data-hold={ "/api/printers/" (printer.id) "/emergency-stop" } {
            button id={ "stop-" (printer.id) } class="stop" type="submit"
                data-says=(common::emergency_stop_of(language, name))
                aria-label=(hold) title=(hold) {
                (icon(Icon::OctagonX)) span class="word" { (common::emergency_stop(language)) }
            }
        }
    }
}
