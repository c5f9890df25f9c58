//! Number of open tasks, which the navigation shows on every page: the number of entries on the to-do page. Entries are
//! made from the database, so they are counted independently of requests, once for all viewers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use actors::app::App;
use config::Config;
use http::resource_state::ResourceState;

/// Minimum time between two counts.
const COUNT_EVERY: Duration = Duration::from_secs(2);
/// Time after which tasks are recounted even without an event: orders become late simply as time passes.
const RECOUNT_AFTER: Duration = Duration::from_secs(30);

/// State of the shop at a count: its last event, the commits that are hardly events, and the version of the floor's
/// order.
pub(super) type ShopMark = (i64, i64, i64);

/// Number of tasks at the last count, and its time.
#[derive(Default)]
struct LastCount {
    tasks: Option<u64>,
    at: Option<Instant>,
    mark: ShopMark,
}

impl LastCount {
    /// Returns whether tasks should be counted again for a shop in the given state.
    fn is_due(&self, now: Instant, mark: ShopMark) -> bool {
        let Some(at) = self.at else { return true };
        let age = now.saturating_duration_since(at);
        age >= RECOUNT_AFTER || (age >= COUNT_EVERY && self.mark != mark)
    }
}

/// Number of open tasks as last counted.
#[derive(Default)]
pub(crate) struct TaskCounter {
    last: Mutex<LastCount>,
    is_counting: AtomicBool,
}

impl ResourceState for TaskCounter {
    fn create(_: &App, _: &Config) -> Self {
        Self::default()
    }
}

impl TaskCounter {
    /// Returns the number of open tasks; `None` if they have not been counted yet.
    pub(super) fn latest(&self) -> Option<u64> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).tasks
    }

    /// Records a count. Returns whether it differs from the previous one.
    pub(super) fn record(&self, tasks: u64) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.tasks.replace(tasks) != Some(tasks)
    }

    /// Returns the turn in which to count the tasks of a shop in the given state; `None` if the last count will do, or
    /// if they are being counted.
    pub(super) fn take_turn(self: &Arc<Self>, now: Instant, mark: ShopMark) -> Option<CountTurn> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if !last.is_due(now, mark) || self.is_counting.swap(true, Ordering::AcqRel) {
            return None;
        }
        (last.at, last.mark) = (Some(now), mark);
        Some(CountTurn(self.clone()))
    }
}

/// Right to count the tasks, which no one else has until it is dropped.
pub(super) struct CountTurn(Arc<TaskCounter>);

impl CountTurn {
    /// Records the count.
    pub(super) fn finish(self, tasks: u64) {
        self.0.record(tasks);
    }
}

impl Drop for CountTurn {
    fn drop(&mut self) {
        self.0.is_counting.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_counted_when_something_has_happened_and_by_one_at_a_time() {
        let (counter, begin) = (Arc::new(TaskCounter::default()), Instant::now());
        let turn = |after: Duration, mark| counter.take_turn(begin + after, mark);
        assert_eq!(counter.latest(), None);
        let first = turn(Duration::ZERO, (1, 1, 1));
        assert!(first.is_some(), "nobody has counted");
        assert!(turn(RECOUNT_AFTER, (2, 1, 1)).is_none(), "it is being counted");
        first.into_iter().for_each(|turn| turn.finish(7));
        assert_eq!(counter.latest(), Some(7));
        let soon = COUNT_EVERY.saturating_sub(Duration::from_millis(1));
        assert!(turn(soon, (2, 1, 1)).is_none(), "not that often");
        assert!(turn(COUNT_EVERY, (1, 1, 1)).is_none(), "nothing has happened");
        assert!(turn(COUNT_EVERY, (2, 1, 1)).is_some(), "something has happened");
        assert_eq!(counter.latest(), Some(7), "a count that failed changes nothing");
        assert!(turn(COUNT_EVERY + RECOUNT_AFTER, (2, 1, 1)).is_some(), "time alone makes tasks");
        assert!(!counter.record(7) && counter.record(8));
    }
}
