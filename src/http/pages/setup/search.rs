//! Printer search in the setup wizard. It is started with a button and followed by the page's script or by reloading
//! the page.

use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use serde_json::json;

use super::{WizardHandles, WizardRequest, printers};
use crate::form::PageForm;
use crate::frame::see_other;
use crate::printer_search::{SearchHandles, part, status_text};
use http::access::Caller;
use http::error::ApiError;
use http::setup_desk::SearchProgress;
use http::sse::{self, Sse, SseSource};
use platform::watch::WatchReceiver;
use words::Language;

/// Path to which the request to start a search is posted.
pub(super) const PATH: &str = "/setup/printers/search";
/// Path to which the request to cancel the search is posted.
pub(super) const CANCEL_PATH: &str = "/setup/printers/search/cancel";
/// Path of a search's event stream.
pub(super) const LIVE_PATH: &str = "/setup/printers/live";
/// Maximum time between two polls of the search results.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Minimum time between two events in the stream, so that a quick search does not send one for every printer that
/// responds.
const SENT_AFTER: Duration = Duration::from_millis(100);

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
    search.begin()?;
    Ok(see_other(printers::PATH))
}

/// Cancels the running search and redirects to the page that shows what it has found.
pub(super) async fn cancel(
    State(app): State<WizardHandles>,
    State(search): State<SearchHandles>,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let visit = WizardRequest::new(&app, &sent.call.who).await?;
    if let Some(elsewhere) = visit.instead() {
        return Ok(elsewhere);
    }
    search.cancel();
    Ok(see_other(printers::PATH))
}

/// Open event stream of a printer search.
pub(super) struct SearchStream {
    language: Language,
    search: SearchHandles,
    board: WatchReceiver<SearchProgress>,
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
        let part = part(self.language, &self.search, board, searching, printers::NEW_PATH);
        let data = json!({"html": part.into_string(), "said": status});
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
