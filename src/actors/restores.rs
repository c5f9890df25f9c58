//! Effects of restores from a backup. They do no external work, but jobs are not dispatched automatically until every
//! restore has been reviewed.

use std::convert::Infallible;
use std::sync::Arc;

use async_trait::async_trait;

use domain::aggregate::{NumberSeries, Versioned};
use domain::id::Id;
use domain::restore::Restore;
use domain::time::Timestamp;
use kernel::directory::Directory;
use kernel::effects::Effects;
use kernel::environment::Environment;
use kernel::handle::Handle;
use platform::watch::WatchSender;

/// Hold on automatic dispatching while a restored shop awaits review. Clones share the same state.
#[derive(Clone, Debug)]
pub struct DispatchHold(Arc<WatchSender<Option<Timestamp>>>);

impl DispatchHold {
    /// Human-readable reason shown for jobs on hold.
    pub const REASON: &str =
        "on hold since the shop was restored from a backup: an admin must review the restore first";

    /// Creates a hold; `since` is the time of the latest restore that has yet to be reviewed, if any.
    pub fn new(since: Option<Timestamp>) -> Self {
        Self(Arc::new(WatchSender::new(since)))
    }

    /// Returns whether automatic dispatching is on hold.
    pub fn is_on(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// Waits until the hold is lifted.
    pub async fn wait_until_off(&self) {
        // The sender lives as long as this borrow of it, so the wait ends with the hold.
        let _ = self.0.subscribe().wait_for(Option::is_none).await;
    }

    /// Returns whether the hold applies to the item with the given ID. It does if the ID is no newer than the restore,
    /// which means that the item came from the backup.
    pub fn covers(&self, id: Id) -> bool {
        let Some(since) = *self.0.borrow() else { return false };
        let made_at = id.0.get_timestamp().map(|at| at.to_unix());
        made_at.is_none_or(|(seconds, nanos)| {
            i128::from(seconds) * 1000 + i128::from(nanos / 1_000_000) <= i128::from(since.0)
        })
    }

    fn set(&self, since: Option<Timestamp>) {
        self.0.send_if_modified(|now| std::mem::replace(now, since) != since);
    }
}

/// Effects of restores, which lift the hold after the review, and advance the number counters as the reviewer
/// specified.
pub struct RestoreEffects {
    /// Directory of restores; those that have yet to be reviewed are in memory.
    pub restores: Directory<Restore>,
    /// Hold that the review lifts.
    pub hold: DispatchHold,
    /// Environment whose number counters are advanced.
    pub environment: Arc<Environment>,
}

#[async_trait]
impl Effects<Restore> for RestoreEffects {
    async fn run(&self, effect: Infallible, _: Handle<Restore>) {
        match effect {}
    }

    fn committed(&self, of: &Handle<Restore>, state: &Arc<Versioned<Restore>>) {
        let Some(restore) = &state.state else { return };
        for series in NumberSeries::ALL {
            if let Some(restored) = restore.series.iter().find(|restored| restored.series == series.prefix()) {
                self.environment.skip_to(series, restored.next.saturating_sub(1));
            }
        }
        let waits_since = |restore: &Restore| restore.review.is_none().then_some(restore.restored_at);
        let others = self.restores.all_resident().into_iter().filter(|(id, _)| *id != of.id());
        let others = others.filter_map(|(_, state)| waits_since(state.state.as_ref()?));
        self.hold.set(others.chain(waits_since(restore)).max());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_hold_covers_what_is_older_and_ends_for_all_who_wait() {
        let hold = DispatchHold::new(Some(Timestamp(1_700_000_000_000)));
        let at = |seconds: u64| Id(uuid::Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, seconds, 0)));
        assert!(hold.is_on() && hold.covers(at(1_699_999_999)) && !hold.covers(at(1_700_000_001)));
        assert!(hold.covers(Id::ONLY), "of unknown age");
        let waiting = tokio::spawn({
            let hold = hold.clone();
            async move { hold.wait_until_off().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        hold.set(None);
        assert!(waiting.await.is_ok());
        assert!(!hold.is_on() && !hold.covers(at(1)));
    }
}
