//! What the setup of a shop holds in memory: the door that the one-time code opens, and turns at what only one may do
//! at a time.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use tokio::sync::{Mutex as Turn, MutexGuard, OwnedMutexGuard};

use crate::domain::setup::{DoorRefusal, SetupDoor};
use crate::domain::time::Timestamp;
use crate::http::production::settings::changes::WrittenSettings;
use crate::printers::discovery::{FoundPrinter, SearchStep};
use crate::secrets::credentials;

/// Name of the cookie that carries a session of the setup.
pub const COOKIE: &str = "setup_session";
/// Most notes of one search that are shown; a search has a few reasons to write one.
const MAX_NOTES: usize = 20;
/// Most finds of one search that are shown while it goes on; its result leaves out what was found twice.
const MAX_FINDS: usize = 400;

/// How far the last search for printers is that a page asked for.
#[derive(Clone, Default)]
pub struct SearchBoard {
    /// Whether there was one since the server started.
    pub begun: bool,
    /// Addresses and ports that were asked.
    pub done: usize,
    /// Those that are asked in all.
    pub total: usize,
    /// What was found, in the order of addresses once the search is over.
    pub found: Vec<FoundPrinter>,
    /// What could not be done, in words for people.
    pub notes: Vec<String>,
}

impl SearchBoard {
    /// Notes what the search told.
    fn take(&mut self, step: SearchStep) {
        match step {
            SearchStep::Asked { done, total } => (self.done, self.total) = (done, total),
            SearchStep::Found(printer) if self.found.len() < MAX_FINDS => self.found.push(printer),
            SearchStep::Note(words) if self.notes.len() < MAX_NOTES => self.notes.push(words),
            SearchStep::Found(_) | SearchStep::Note(_) => {}
        }
    }
}

/// One for each server.
#[derive(Default)]
pub struct SetupDesk {
    /// None where the setup is completed, or nobody was told a code.
    door: Mutex<Option<SetupDoor>>,
    searching: Arc<Turn<()>>,
    writing: Turn<()>,
    board: watch::Sender<SearchBoard>,
    /// What was written last, for the page that says so.
    written: Mutex<Option<Arc<WrittenSettings>>>,
}

impl SetupDesk {
    /// Makes the one-time code, for the owner of the machine to read.
    pub fn make_code(&self, now: Timestamp) -> String {
        let code = credentials::setup_code();
        *self.door() = Some(SetupDoor::new(hash(&code), now));
        code
    }

    /// Burns the code; the token of the session that it opens.
    pub fn enter(&self, code: &str, now: Timestamp) -> Result<String, DoorRefusal> {
        let token = credentials::session_token();
        let mut door = self.door();
        let door = door.as_mut().ok_or(DoorRefusal::CodeSpent)?;
        door.enter(&hash(code), credentials::session_hash(&token), now).map(|()| token)
    }

    /// Whether this is the token of the session that lasts.
    pub fn holds(&self, token: &str, now: Timestamp) -> bool {
        self.door().as_ref().is_some_and(|door| door.holds(&credentials::session_hash(token), now))
    }

    /// The turn at searching the network; `None` while somebody else searches.
    pub fn search(&self) -> Option<OwnedMutexGuard<()>> {
        self.searching.clone().try_lock_owned().ok()
    }

    /// Whether somebody searches now.
    pub fn is_searching(&self) -> bool {
        self.searching.try_lock().is_err()
    }

    /// Begins a board for a new search.
    pub fn begin_board(&self) {
        self.board.send_replace(SearchBoard { begun: true, ..SearchBoard::default() });
    }

    /// Notes on the board what a search told.
    pub fn tell(&self, step: SearchStep) {
        self.board.send_modify(|board| board.take(step));
    }

    /// Notes on the board what the search came to.
    pub fn end_board(&self, found: Vec<FoundPrinter>) {
        self.board.send_modify(|board| board.found = found);
    }

    /// The board, for whoever follows it.
    pub fn follow(&self) -> watch::Receiver<SearchBoard> {
        self.board.subscribe()
    }

    /// Keeps what was written, until it is written again.
    pub fn keep_written(&self, written: Arc<WrittenSettings>) {
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = Some(written);
    }

    /// What was written last since the server started.
    pub fn last_written(&self) -> Option<Arc<WrittenSettings>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for the turn at changing the settings' file.
    pub async fn write(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().await
    }

    fn door(&self) -> std::sync::MutexGuard<'_, Option<SetupDoor>> {
        self.door.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The hash of a code as people type it: without regard to case, spaces and hyphens.
fn hash(code: &str) -> String {
    let normal: String = code.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_uppercase()).collect();
    credentials::session_hash(&normal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_however_it_is_typed() {
        let desk = SetupDesk::default();
        let now = Timestamp(1_000);
        assert_eq!(desk.enter("AAAA-BBBB-CCCC", now), Err(DoorRefusal::CodeSpent), "nobody was told a code");
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
        let desk = SetupDesk::default();
        let turn = desk.search();
        assert!(turn.is_some() && desk.search().is_none());
        drop(turn);
        assert!(desk.search().is_some());
    }
}
