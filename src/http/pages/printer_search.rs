//! Search for printers on the network, for the setup wizard and the staff pages: its findings and its progress. There
//! is one search at a time, whichever page started it.

use maud::{Markup, html};
use tokio_util::sync::CancellationToken;
use url::form_urlencoded;

use super::frame::in_english;
use super::printer_fields::type_name;
use http::error::ApiError;
use http::handles::handles;
use http::setup_desk::SearchProgress;
use http_api::production::setup::discover::{DiscoveredPrinter, DiscoveryHandles, RegisteredAddresses, begin_search};
use printers::discovery::FoundPrinter;
use words::Language;
use words::staff::setup as texts;

handles! {
    /// Dependencies of the search pages.
    pub(crate) struct SearchHandles {
        discovery: DiscoveryHandles,
        leaving: CancellationToken,
    }
}

impl SearchHandles {
    /// Starts a search unless one is already running; in either case, a page shows the progress of the search.
    pub(super) fn begin(&self) -> Result<(), ApiError> {
        if self.discovery.setup.is_searching() {
            return Ok(());
        }
        begin_search(&self.discovery, self.leaving.clone())
    }

    /// Cancels the running search, if any; a page shows what it has found so far.
    pub(super) fn cancel(&self) {
        self.discovery.setup.cancel_search();
    }

    /// Returns whether a search is running, and the progress of the most recent one.
    pub(super) fn progress(&self) -> (bool, SearchProgress) {
        // Looked at before the progress, which has the result when the search ends.
        let is_searching = self.discovery.setup.is_searching();
        let progress = self.discovery.setup.follow().borrow().clone();
        (is_searching, progress)
    }

    /// Returns the printer at the given address, if the most recent search has found it. An address stays the same when
    /// the search ends, where a place in the list does not.
    pub(super) fn find(&self, base_url: &str) -> Option<FoundPrinter> {
        self.progress().1.printers.into_iter().find(|printer| printer.base_url == base_url)
    }
}

/// Returns the value that the search found for a form field, by the field's name.
pub(super) fn value_of_find(find: &FoundPrinter, field: &str) -> Option<String> {
    match field {
        "name" => Some(find.name.clone()),
        "type" => Some(find.kind.to_owned()),
        "baseUrl" => Some(find.base_url.clone()),
        "serial" => find.serial.clone(),
        _ => None,
    }
}

/// Returns a search's status message for screen readers.
pub(super) fn status_text(language: Language, progress: &SearchProgress, is_searching: bool) -> String {
    let count = progress.printers.len();
    match (is_searching, progress.begun) {
        (true, _) => texts::search_running(language, count),
        (false, true) if progress.is_cancelled => texts::search_cancelled(language, count),
        (false, true) => texts::search_complete(language, count),
        (false, false) => String::new(),
    }
}

/// Renders the part of the page that changes during a search: its progress, and each printer found, with a link to the
/// form at `form_path`, which is then filled in.
pub(super) fn part(
    language: Language,
    search: &SearchHandles,
    progress: SearchProgress,
    is_searching: bool,
    form_path: &str,
) -> Markup {
    let registered = RegisteredAddresses::of(&search.discovery.printers);
    let SearchProgress { begun, done, total, printers, notes, is_cancelled } = progress;
    let finds: Vec<_> = printers.into_iter().map(|printer| registered.view(printer)).collect();
    html! {
        @if is_searching {
            label for="asked" {
                @if total > 0 { (texts::checked_of(language, done, total)) } @else { (texts::checked(language, done)) }
            }
            progress id="asked" max=(total.max(1)) value=(done) {}
        }
        @for words in &notes { p class="soft" { (in_english(language, words)) } }
        @if begun && !is_searching && !is_cancelled && finds.is_empty() {
            p { (texts::none_found(language)) }
        }
        (rows(language, &finds, form_path))
    }
}

/// Renders the printers found: name, program and address, and a link to the filled-in form.
fn rows(language: Language, finds: &[DiscoveredPrinter], form_path: &str) -> Markup {
    let form_of = |find: &DiscoveredPrinter| {
        let query = form_urlencoded::Serializer::new(String::new()).append_pair("found", &find.base_url).finish();
        format!("{form_path}?{query}")
    };
    html! {
        ul class="rows" {
            @for find in finds {
                li {
                    strong { (find.name) }
                    span { (type_name(find.kind)) }
                    span class="soft full" { (find.base_url) " – " (in_english(language, &find.evidence)) }
                    @if find.registered {
                        span class="state" { (texts::added(language)) }
                    } @else {
                        a class="button second" href=(form_of(find)) { (texts::add_named(language, &find.name)) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_tells_how_far_the_search_is() {
        let status_text = |progress: &SearchProgress, searching| status_text(Language::English, progress, searching);
        let none = SearchProgress::default();
        assert_eq!(status_text(&none, false), "");
        let begun = SearchProgress { begun: true, ..none };
        assert_eq!(status_text(&begun, true), "Searching: no printers found so far.");
        assert_eq!(status_text(&begun, false), "Search complete: no printers found.");
        let cancelled = SearchProgress { is_cancelled: true, ..begun };
        assert_eq!(status_text(&cancelled, true), "Searching: no printers found so far.", "it ends at once");
        assert_eq!(status_text(&cancelled, false), "Search cancelled: no printers found.");
    }

    #[test]
    fn a_printer_that_was_found_fills_the_form_with_one_click() {
        let find = |last: u8, registered| DiscoveredPrinter {
            kind: "fw_rest",
            base_url: format!("http://192.168.1.{last}:7125"),
            name: format!("Ada {last}"),
            serial: None,
            evidence: "identifies itself".to_owned(),
            registered,
        };
        let html = rows(Language::English, &[find(7, false), find(8, true)], "/floor/printers/new").0;
        let link = "href=\"/floor/printers/new?found=http%3A%2F%2F192.168.1.7%3A7125\">Add Ada 7</a>";
        for words in ["<strong>Ada 7</strong>", type_name("fw_rest"), "http://192.168.1.7:7125 – ", link] {
            assert!(html.contains(words), "{words} in {html}");
        }
        assert!(html.contains(">Added</span>") && !html.contains("192.168.1.8%3A"), "{html}");
    }
}
