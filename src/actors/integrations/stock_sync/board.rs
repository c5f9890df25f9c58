//! Synchronisation status of an external stock system, for display, and a trigger for an immediate round.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use domain::parts_sync::StockSystem;
use domain::time::Timestamp;
use services::parts::{MAX_LISTED, StockEntry};

/// Latest known state of an external stock system.
#[derive(Clone, Debug, Default)]
pub struct StockSystemState {
    /// `true` if the settings enable the synchronisation.
    pub on: bool,
    /// Time of the last read, successful or not; `None` before the first one.
    pub looked_at: Option<Timestamp>,
    /// Time of the last complete read.
    pub synchronised_at: Option<Timestamp>,
    /// Reason that the last read ended early; `None` if it was complete.
    pub error: Option<String>,
    /// Entries found by the last read.
    pub entries: Arc<Vec<StockEntry>>,
}

impl StockSystemState {
    /// Returns whether the system may have entries that have not been read.
    pub fn may_have_more(&self) -> bool {
        self.entries.len() >= MAX_LISTED
    }
}

/// Status of an external stock system.
#[derive(Debug, Default)]
pub struct StockSystemStatus {
    wake: Notify,
    state: Mutex<StockSystemState>,
}

impl StockSystemStatus {
    /// Returns the latest known state.
    pub fn state(&self) -> StockSystemState {
        self.with(|state| state.clone())
    }

    /// Triggers a round as soon as possible.
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

    pub(super) fn record_poll(&self, at: Timestamp, error: Option<String>) {
        self.with(|state| {
            state.looked_at = Some(at);
            if error.is_none() {
                state.synchronised_at = Some(at);
            }
            state.error = error;
        });
    }

    fn with<T>(&self, act: impl FnOnce(&mut StockSystemState) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Statuses of all external stock systems.
#[derive(Clone, Debug, Default)]
pub struct StockSystemStatuses {
    parts: Arc<StockSystemStatus>,
    spools: Arc<StockSystemStatus>,
}

impl StockSystemStatuses {
    /// Returns the status of a system.
    pub fn of(&self, system: StockSystem) -> Arc<StockSystemStatus> {
        match system {
            StockSystem::Parts => self.parts.clone(),
            StockSystem::Spools => self.spools.clone(),
        }
    }
}
