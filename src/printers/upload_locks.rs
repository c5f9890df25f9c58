//! Locks that make uploads to printers on the same host take turns.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::OwnedMutexGuard;

/// Upload locks by host name.
#[derive(Debug, Default)]
pub(super) struct UploadLocks(Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>);

impl UploadLocks {
    /// Waits until no other upload to the given host is in progress. The lock is released when the guard is dropped.
    pub(super) async fn take(&self, host: &str) -> OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            turns.retain(|_, turn| turn.strong_count() > 0);
            let existing = turns.get(host).and_then(Weak::upgrade);
            existing.unwrap_or_else(|| {
                let turn = Arc::default();
                turns.insert(host.to_owned(), Arc::downgrade(&turn));
                turn
            })
        };
        turn.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn one_host_has_one_turn_and_others_have_theirs() {
        let turns = UploadLocks::default();
        let first = turns.take("a").await;
        let _other = turns.take("b").await;
        assert!(timeout(Duration::from_millis(20), turns.take("a")).await.is_err(), "taken");
        drop(first);
        let _next = turns.take("a").await;
        assert_eq!(turns.0.lock().unwrap().len(), 2, "turns that nobody takes are forgotten");
    }
}
