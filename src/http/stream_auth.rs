//! Closes open streams immediately when the key, session or role used to open them changes.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::access::{AccessHandles, Caller, still};
use crate::handles::{AccessChanges, handles};
use platform::watch::WatchReceiver;

/// Interval between checks for expired keys and sessions.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

handles! {
    /// Handles needed to check whether a stream may continue.
    pub struct StreamHandles {
        access: AccessHandles,
        changes: AccessChanges,
        leaving: CancellationToken,
    }
}

/// A caller's permission to keep reading a stream.
pub struct StreamPermission {
    app: StreamHandles,
    who: Caller,
    changes: WatchReceiver<u64>,
    looked: Instant,
}

impl StreamPermission {
    /// Creates the permission for a caller who has just been authorized.
    pub fn new(app: StreamHandles, who: Caller) -> Self {
        let changes = app.changes.0.subscribe();
        Self { app, who, changes, looked: Instant::now() }
    }

    /// Returns whether the caller may keep reading: the key or session is valid, the role is unchanged, and the server
    /// is not shutting down.
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

    /// Completes when the permission should be checked again.
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
