//! Printer search in the setup wizard. It is started with a button and followed by the page's script or by reloading
//! the page.

use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{WizardHandles, WizardRequest, printers};
use crate::form::PageForm;
use crate::frame::{in_english, see_other};
use crate::printer_fields::program_of;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http::setup_desk::SearchProgress;
use http::sse::{self, Sse, SseSource};
use http_api::production::setup::discover::{DiscoveryHandles, RegisteredAddresses, begin_search};
use words::Language;
use words::staff::setup as texts;

/// Path to which the request to start a search is posted.
pub(super) const PATH: &str = "/setup/printers/search";
/// Path of a search's event stream.
pub(super) const LIVE_PATH: &str = "/setup/printers/live";
/// Maximum time between two polls of the search results.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Minimum time between two events of the stream, so that a quick search does not send one for every printer that
/// responds.
const SENT_AFTER: Duration = Duration::from_millis(100);

handles! {
    /// Dependencies of the search pages.
    pub(crate) struct SearchHandles {
        discovery: DiscoveryHandles,
        leaving: CancellationToken,
    }
}

/// Starts a search and redirects to the page that shows its progress.
pub(super) async fn begin(
    State(app): State<WizardHandles>,
    State(search): State<SearchHandles>,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let visit = WizardRequest::new(&app, &sent.call.who).await?;
    if let Some(elsewhere) = visit.instead() {
        return Ok(elsewhere);
    }
    begin_search(&search.discovery, search.leaving.clone())?;
    Ok(see_other(printers::PATH))
}

/// Returns a search's status message for screen readers.
pub(super) fn status_text(language: Language, board: &SearchProgress, searching: bool) -> String {
    let count = board.printers.len();
    match (searching, board.begun) {
        (true, _) => texts::search_running(language, count),
        (false, true) => texts::search_complete(language, count),
        (false, false) => String::new(),
    }
}

/// Renders the live part of the page, which shows the search results and progress.
pub(super) fn part(language: Language, search: &SearchHandles, board: SearchProgress, searching: bool) -> Markup {
    let registered = RegisteredAddresses::of(&search.discovery.printers);
    let SearchProgress { begun, done, total, printers, notes } = board;
    let finds: Vec<_> = printers.into_iter().map(|printer| registered.view(printer)).collect();
    html! {
        @if searching {
            label for="asked" {
                @if total > 0 { (texts::checked_of(language, done, total)) } @else { (texts::checked(language, done)) }
            }
            progress id="asked" max=(total.max(1)) value=(done) {}
        }
        @for words in &notes { p class="soft" { (in_english(language, words)) } }
        @if begun && !searching && finds.is_empty() {
            p { (texts::none_found(language)) }
        }
        ul class="rows" {
            @for (number, find) in finds.iter().enumerate() {
                li {
                    strong { (find.name) }
                    span { (program_of(find.kind)) }
                    span class="soft full" { (find.base_url) " – " (in_english(language, &find.evidence)) }
                    @if find.registered {
                        span class="state" { (texts::added(language)) }
                    } @else {
                        a class="button second" href={ (printers::NEW_PATH) "?found=" (number) } { (texts::add_named(language, &find.name)) }
                    }
                }
            }
        }
    }
}

/// Open event stream of a printer search.
pub(super) struct SearchStream {
    language: Language,
    search: SearchHandles,
    board: watch::Receiver<SearchProgress>,
    /// `true` if the search results have changed since they were last sent.
    is_stale: bool,
    over: bool,
}

/// Serves the event stream of a search, which ends when the search ends.
pub(super) async fn live(State(search): State<SearchHandles>, who: Caller) -> Sse<SearchStream> {
    let mut board = search.discovery.setup.follow();
    // The first part is sent at once.
    board.mark_changed();
    Sse::new(SearchStream { language: who.language, search, board, is_stale: false, over: false })
}

impl SseSource for SearchStream {
    fn may_continue(&mut self) -> bool {
        !self.search.leaving.is_cancelled()
    }

    async fn due(&mut self) -> Option<String> {
        if self.over {
            return None;
        }
        if !std::mem::take(&mut self.is_stale) {
            return Some(String::new());
        }
        // Looked at before the board, which has the result when the turn is given back.
        let searching = self.search.discovery.setup.is_searching();
        self.over = !searching;
        let board = self.board.borrow_and_update().clone();
        let status = status_text(self.language, &board, searching);
        let data = json!({"html": part(self.language, &self.search, board, searching).into_string(), "said": status});
        let mut text = sse::event("part", &data);
        if self.over {
            text.push_str(sse::OVER);
        }
        Some(text)
    }

    async fn wait(&mut self) {
        tokio::select! {
            biased; // the end of the server before news
            () = self.search.leaving.cancelled() => return,
            _ = self.board.changed() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
        tokio::time::sleep(SENT_AFTER).await;
        self.is_stale = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_tells_how_far_the_search_is() {
        let status_text = |board: &SearchProgress, searching| status_text(Language::English, board, searching);
        let none = SearchProgress::default();
        assert_eq!(status_text(&none, false), "");
        let begun = SearchProgress { begun: true, ..none };
        assert_eq!(status_text(&begun, true), "Searching: no printers found so far.");
        assert_eq!(status_text(&begun, false), "Search complete: no printers found.");
    }
}
