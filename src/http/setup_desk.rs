//! In-memory state of the shop's setup: the one-time code and its session, and locks for actions that only one client
//! can perform at a time.

mod written;

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Mutex as Turn, MutexGuard, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

use domain::setup::{SetupAccess, SetupCodeError};
use domain::time::Timestamp;
use platform::secrets::credentials;
use platform::watch::{WatchReceiver, WatchSender};
use printers::discovery::{FoundPrinter, SearchStep};

pub use written::{ShadowedSetting, TestedService, WrittenSettings};

/// Name of the setup session cookie.
pub const COOKIE: &str = "setup_session";
/// Maximum number of notes shown for one search; usually there are only a few.
const MAX_NOTES: usize = 20;
/// Maximum number of printers shown while a search is running; its final result omits duplicates.
const MAX_FINDS: usize = 400;

/// Progress of the most recent printer search started from a page.
#[derive(Clone, Default)]
pub struct SearchProgress {
    /// `true` if a search has been started since the server started.
    pub begun: bool,
    /// Number of addresses and ports probed so far.
    pub done: usize,
    /// Total number of addresses and ports to probe.
    pub total: usize,
    /// Printers found, sorted by address once the search is over.
    pub printers: Vec<FoundPrinter>,
    /// Human-readable messages about failed steps.
    pub notes: Vec<String>,
    /// `true` if the search was cancelled.
    pub is_cancelled: bool,
}

impl SearchProgress {
    /// Applies one step of the search.
    fn take(&mut self, step: SearchStep) {
        match step {
            SearchStep::Asked { done, total } => (self.done, self.total) = (done, total),
            SearchStep::Found(printer) if self.printers.len() < MAX_FINDS => self.printers.push(printer),
            SearchStep::Note(words) if self.notes.len() < MAX_NOTES => self.notes.push(words),
            SearchStep::Found(_) | SearchStep::Note(_) => {}
        }
    }
}

/// Turn to search the network, which no one else has until it is dropped.
pub struct SearchTurn {
    _lock: OwnedMutexGuard<()>,
    cancel: CancellationToken,
}

impl SearchTurn {
    /// Returns the token that is cancelled when the search is cancelled.
    pub fn cancel_token(&self) -> CancellationToken {
        self.cancel.clone()
    }
}

/// State of the setup; there is one per server.
#[derive(Default)]
pub struct SetupService {
    /// One-time code and its session; `None` if the setup is complete or no code was issued.
    door: Mutex<Option<SetupAccess>>,
    searching: Arc<Turn<()>>,
    /// Cancellation token of the most recent search.
    search_cancel: Mutex<CancellationToken>,
    writing: Turn<()>,
    board: WatchSender<SearchProgress>,
    /// Settings last written, for the page that reports them.
    written: Mutex<Option<Arc<WrittenSettings>>>,
}

impl SetupService {
    /// Creates access to the setup, protected by a one-time code, and returns the code for the machine's owner.
    pub fn make_code(&self, now: Timestamp) -> String {
        let code = credentials::setup_code();
        *self.door() = Some(SetupAccess::new(hash(&code), now));
        code
    }

    /// Consumes the one-time code and returns the new setup session's token.
    pub fn enter(&self, code: &str, now: Timestamp) -> Result<String, SetupCodeError> {
        let token = credentials::session_token();
        let mut door = self.door();
        let door = door.as_mut().ok_or(SetupCodeError::CodeSpent)?;
        door.enter(&hash(code), credentials::session_hash(&token), now).map(|()| token)
    }

    /// Returns whether the given token belongs to the current session.
    pub fn holds(&self, token: &str, now: Timestamp) -> bool {
        self.door().as_ref().is_some_and(|door| door.holds(&credentials::session_hash(token), now))
    }

    /// Takes the turn to search the network; returns `None` while another search is running.
    pub fn search(&self) -> Option<SearchTurn> {
        let lock = self.searching.clone().try_lock_owned().ok()?;
        let cancel = CancellationToken::new();
        *self.search_cancel.lock().unwrap_or_else(PoisonError::into_inner) = cancel.clone();
        Some(SearchTurn { _lock: lock, cancel })
    }

    /// Cancels the running search, if any: it ends with what it has found so far.
    pub fn cancel_search(&self) {
        self.search_cancel.lock().unwrap_or_else(PoisonError::into_inner).cancel();
    }

    /// Returns whether a search is running.
    pub fn is_searching(&self) -> bool {
        self.searching.try_lock().is_err()
    }

    /// Resets the progress for a new search.
    pub fn begin_board(&self) {
        self.board.send_replace(SearchProgress { begun: true, ..SearchProgress::default() });
    }

    /// Applies one step of the search to the progress.
    pub fn tell(&self, step: SearchStep) {
        self.board.send_modify(|board| board.take(step));
    }

    /// Adds the result of the search to the progress.
    pub fn end_board(&self, printers: Vec<FoundPrinter>, is_cancelled: bool) {
        self.board.send_modify(|board| (board.printers, board.is_cancelled) = (printers, is_cancelled));
    }

    /// Returns a receiver that follows the progress.
    pub fn follow(&self) -> WatchReceiver<SearchProgress> {
        self.board.subscribe()
    }

    /// Stores the settings just written, replacing the previous ones.
    pub fn keep_written(&self, written: Arc<WrittenSettings>) {
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = Some(written);
    }

    /// Returns the settings last written since the server started, if any.
    pub fn last_written(&self) -> Option<Arc<WrittenSettings>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Acquires the lock for changing the settings file, waiting if necessary.
    pub async fn write(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().await
    }

    fn door(&self) -> std::sync::MutexGuard<'_, Option<SetupAccess>> {
        self.door.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the hash of a code as typed by a user, ignoring case, spaces and hyphens.
fn hash(code: &str) -> String {
    let normal: String = code.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_uppercase()).collect();
    credentials::session_hash(&normal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_however_it_is_typed() {
        let desk = SetupService::default();
        let now = Timestamp(1_000);
        assert_eq!(desk.enter("AAAA-BBBB-CCCC", now), Err(SetupCodeError::CodeSpent), "nobody was told a code");
        let code = desk.make_code(now);
        assert_eq!((code.len(), code.matches('-').count()), (14, 2), "{code}");
        assert_ne!(code, desk.make_code(now), "each is another one");
        let code = desk.make_code(now).to_lowercase().replace('-', " ");
        let token = desk.enter(&code, now);
        assert!(token.is_ok_and(|token| desk.holds(&token, now)));
        assert!(!desk.holds("", now));
    }

    #[test]
    fn one_searches_at_a_time() {
        let desk = SetupService::default();
        let turn = desk.search();
        assert!(turn.is_some() && desk.search().is_none());
        drop(turn);
        assert!(desk.search().is_some());
    }

    #[test]
    fn whoever_cancels_ends_the_search_that_is_running_and_none_that_follows() {
        let desk = SetupService::default();
        desk.cancel_search();
        let first = desk.search().map(|turn| turn.cancel_token());
        assert!(first.as_ref().is_some_and(|first| !first.is_cancelled()), "nothing was running");
        desk.cancel_search();
        assert!(first.is_some_and(|first| first.is_cancelled()));
        let second = desk.search().map(|turn| turn.cancel_token());
        assert!(second.is_some_and(|second| !second.is_cancelled()));
    }
}
