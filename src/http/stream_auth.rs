//! Ends open streams at once when the key, session or role that opened them changes.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::http::access::{AccessHandles, Caller, still};
use crate::http::handles::{AccessChanges, handles};

/// Time between two checks by the clock: keys and sessions also expire.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

handles! {
    /// What tells whether a stream may go on.
    pub(crate) struct StreamHandles {
        access: AccessHandles,
        changes: AccessChanges,
        leaving: CancellationToken,
    }
}

/// The right of one caller to go on reading a stream.
pub struct ReadingRight {
    app: StreamHandles,
    who: Caller,
    changes: watch::Receiver<u64>,
    looked: Instant,
}

impl ReadingRight {
    /// For a caller who has just been let in.
    pub(crate) fn new(app: StreamHandles, who: Caller) -> Self {
        let changes = app.changes.0.subscribe();
        Self { app, who, changes, looked: Instant::now() }
    }

    /// Whether they may still read: their key or session has not ended, their role is the same, the server stays.
    pub fn holds(&mut self) -> bool {
        if self.app.leaving.is_cancelled() {
            return false;
        }
        let changed = self.changes.has_changed().unwrap_or(true);
        if !changed && self.looked.elapsed() < CHECK_INTERVAL {
            return true;
        }
        self.changes.mark_unchanged();
        self.looked = Instant::now();
        still(&self.app.access, &self.who)
    }

    /// Completes when the right should be checked again.
    pub async fn again(&mut self) {
        let leaving = self.app.leaving.clone();
        tokio::select! {
            biased; // all three only end the wait; the change is marked again
            () = leaving.cancelled() => {}
            _ = self.changes.changed() => self.changes.mark_changed(),
            () = tokio::time::sleep_until(self.looked + CHECK_INTERVAL) => {}
        }
    }
}
