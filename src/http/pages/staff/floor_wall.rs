//! Bar at the bottom of the wall display: the link back, and the controls for its pages, which the script shows if
//! there are several.

use maud::{Markup, html};

use super::FLOOR_PATH;
use super::shell::SCRIPT_SLOTS;
use crate::design::{Icon, icon};
use words::Language;
use words::staff::floor as texts;

/// Seconds for which each page is shown if the URL does not specify it.
const TURN_SECONDS: u32 = 10;
/// Maximum number of seconds for which each page is shown.
const MAX_TURN_SECONDS: u32 = 600;

/// Returns the number of seconds for which each page of the wall display is shown, from the text in the URL.
pub(super) fn turn_seconds(text: Option<&str>) -> u32 {
    text.and_then(|text| text.parse().ok()).unwrap_or(TURN_SECONDS).clamp(1, MAX_TURN_SECONDS)
}

/// Renders the bar. The label of the button in the middle names its action: to hold the page, or to let the pages turn
/// again.
pub(super) fn bar(language: Language) -> Markup {
    let [page, pages] = SCRIPT_SLOTS;
    let turn = |picture: Icon, label: &str| {
        html! {
            button class="btn square" type="button" aria-label=(label) title=(label) { (icon(picture)) }
        }
    };
    html! {
        div class="wall-bar" {
            a class="small" href=(FLOOR_PATH) { (texts::back(language)) }
            div id="turns" class="turns" role="group" aria-label=(texts::wall_pages(language)) hidden {
                (turn(Icon::ArrowLeft, &texts::previous_page(language)))
                span class="num" data-words=(texts::wall_page(language, page, pages)) {}
                button class="btn" type="button" {
                    span { (icon(Icon::Pause)) (texts::wall_pause(language)) }
                    span data-held="" hidden { (icon(Icon::Play)) (texts::wall_resume(language)) }
                }
                (turn(Icon::ArrowRight, &texts::next_page(language)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_shown_for_ten_seconds_unless_the_address_says_otherwise() {
        let times = [None, Some(""), Some("soon"), Some("-3"), Some("30"), Some("0"), Some("86400")].map(turn_seconds);
        assert_eq!(times, [10, 10, 10, 10, 30, 1, 600]);
    }

    #[test]
    fn the_bar_leads_back_and_shows_its_controls_by_the_script_only() {
        for (language, texts) in [
            (Language::English, [">Back to the floor</a>", "data-words=\"%1 of %2\"", "</svg>Pause</span>"]),
            (Language::German, [">Zur Werkstatt</a>", "data-words=\"%1 von %2\"", "</svg>Anhalten</span>"]),
        ] {
            let bar = bar(language).0;
            for text in texts.into_iter().chain(["role=\"group\"", " hidden>"]) {
                assert!(bar.contains(text), "{text} in {bar}");
            }
        }
    }
}
