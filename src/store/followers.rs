//! Registry of outbox followers, which reports to the metrics how far behind each one is.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Kind and position of each follower, by registration number.
type Positions = Arc<Mutex<BTreeMap<u64, (&'static str, Arc<AtomicI64>)>>>;

/// Registry of an outbox's followers.
#[derive(Debug, Default)]
pub struct Followers {
    positions: Positions,
    next: AtomicU64,
}

/// Registration of a follower, which ends on drop.
#[derive(Debug)]
pub struct Follower {
    positions: Positions,
    number: u64,
    read: Arc<AtomicI64>,
}

impl Follower {
    /// Records that the follower has read all events up to the given number.
    pub fn has_read(&self, seq: i64) {
        self.read.store(seq, Relaxed);
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.positions.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.number);
    }
}

impl Followers {
    /// Registers a follower of the given kind (`endpoint`, `stream`) that has read all events up to number `seq`.
    pub fn add(&self, kind: &'static str, seq: i64) -> Follower {
        let read = Arc::new(AtomicI64::new(seq));
        let number = self.next.fetch_add(1, Relaxed);
        self.positions.lock().unwrap_or_else(PoisonError::into_inner).insert(number, (kind, read.clone()));
        Follower { positions: self.positions.clone(), number, read }
    }

    /// Returns the number of followers of a kind, and how many events the slowest one is behind number `last`.
    pub fn of(&self, kind: &str, last: i64) -> (u64, i64) {
        let all = self.positions.lock().unwrap_or_else(PoisonError::into_inner);
        let lags = all.values().filter(|(name, _)| *name == kind).map(|(_, read)| (last - read.load(Relaxed)).max(0));
        lags.fold((0, 0), |(count, most), lag| (count + 1, most.max(lag)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_follower_tells_the_lag_until_it_leaves() {
        let followers = Followers::default();
        let (slow, quick) = (followers.add("stream", 3), followers.add("stream", 10));
        let _endpoint = followers.add("endpoint", 0);
        assert_eq!(followers.of("stream", 10), (2, 7));
        slow.has_read(8);
        assert_eq!(followers.of("stream", 10), (2, 2));
        drop(slow);
        assert_eq!(followers.of("stream", 10), (1, 0));
        drop(quick);
        assert_eq!((followers.of("stream", 10), followers.of("endpoint", 10)), ((0, 0), (1, 10)));
    }
}
