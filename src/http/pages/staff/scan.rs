//! Label scanning with the camera: the buttons that start it, and the dialog with the camera's picture. Both need the
//! script, which shows the buttons if the browser can read codes and may use a camera, and opens the page of a scanned
//! label. The labels are those of [`super::labels`]; a phone's own camera app can read them, too.

use maud::{Markup, html};

use crate::design::{Icon, icon};
use words::Language;
use words::staff::scan as texts;

/// ID of the dialog, by which the script and the style find it.
const DIALOG_ID: &str = "scan";

/// Renders a button that opens the dialog. The style hides it until the script has established that it can scan.
pub(super) fn scan_button(language: Language) -> Markup {
    html! { button class="btn" type="button" data-scan="" { (icon(Icon::ScanLine)) (texts::scan(language)) } }
}

/// Renders the dialog with the camera's picture. The script writes what it has found below the picture.
pub(super) fn scan_dialog(language: Language) -> Markup {
    html! {
        dialog id=(DIALOG_ID) aria-labelledby="scan-title" {
            h2 id="scan-title" { (texts::title(language)) }
            video aria-label=(texts::camera(language)) width="400" height="300" playsinline muted {}
            p role="status" {}
            form method="dialog" class="acts" { button class="btn" { (texts::close(language)) } }
        }
    }
}
