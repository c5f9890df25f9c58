//! What people see of the work of a system that counts stock, and how they make it look at once.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::domain::parts_sync::StockSystem;
use crate::domain::time::Timestamp;
use crate::services::parts::{MAX_LISTED, StockEntry};

/// What was last seen of a system.
#[derive(Clone, Debug, Default)]
pub struct StockBoardState {
    /// Whether the settings switch it on.
    pub on: bool,
    /// When it was last read, successfully or not; `None` before the first time.
    pub looked_at: Option<Timestamp>,
    /// When it was last read to the end.
    pub synchronised_at: Option<Timestamp>,
    /// Why the last reading ended early; `None` when it did not.
    pub error: Option<String>,
    /// Its entries, as last read.
    pub entries: Arc<Vec<StockEntry>>,
}

impl StockBoardState {
    /// Whether the system may have entries that were not read.
    pub fn may_have_more(&self) -> bool {
        self.entries.len() >= MAX_LISTED
    }
}

/// The board of one system.
#[derive(Debug, Default)]
pub struct StockBoard {
    wake: Notify,
    state: Mutex<StockBoardState>,
}

impl StockBoard {
    /// What was last seen.
    pub fn state(&self) -> StockBoardState {
        self.with(|state| state.clone())
    }

    /// Has the work look as soon as it can.
    pub fn look_now(&self) {
        self.wake.notify_one();
    }

    pub(super) async fn woken(&self) {
        self.wake.notified().await;
    }

    pub(super) fn switched_on(&self) {
        self.with(|state| state.on = true);
    }

    pub(super) fn entries(&self, entries: Vec<StockEntry>) {
        self.with(|state| state.entries = Arc::new(entries));
    }

    pub(super) fn looked(&self, at: Timestamp, error: Option<String>) {
        self.with(|state| {
            state.looked_at = Some(at);
            if error.is_none() {
                state.synchronised_at = Some(at);
            }
            state.error = error;
        });
    }

    fn with<T>(&self, act: impl FnOnce(&mut StockBoardState) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The boards of all systems.
#[derive(Clone, Debug, Default)]
pub struct StockBoards {
    parts: Arc<StockBoard>,
    spools: Arc<StockBoard>,
}

impl StockBoards {
    /// The board of a system.
    pub fn of(&self, system: StockSystem) -> Arc<StockBoard> {
        match system {
            StockSystem::Parts => self.parts.clone(),
            StockSystem::Spools => self.spools.clone(),
        }
    }
}
