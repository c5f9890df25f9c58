//! Who follows the outbox, and how far each has read.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

type All = Arc<Mutex<HashMap<u64, (&'static str, Arc<AtomicI64>)>>>;

/// Those who follow.
#[derive(Debug, Default)]
pub struct Followers {
    all: All,
    next: AtomicU64,
}

/// One who follows; no more when it is dropped.
#[derive(Debug)]
pub struct Follower {
    all: All,
    number: u64,
    read: Arc<AtomicI64>,
}

impl Follower {
    /// Has read up to here.
    pub fn has_read(&self, seq: i64) {
        self.read.store(seq, Relaxed);
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.number);
    }
}

impl Followers {
    /// Somebody of this kind (`endpoint`, `stream`) follows from here.
    pub fn add(&self, kind: &'static str, seq: i64) -> Follower {
        let read = Arc::new(AtomicI64::new(seq));
        let number = self.next.fetch_add(1, Relaxed);
        self.all.lock().unwrap_or_else(PoisonError::into_inner).insert(number, (kind, read.clone()));
        Follower { all: self.all.clone(), number, read }
    }

    /// How many of a kind there are, and what the slowest has not read yet when `last` is the newest.
    pub fn of(&self, kind: &str, last: i64) -> (u64, i64) {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let lags = all.values().filter(|(known, _)| *known == kind).map(|(_, read)| (last - read.load(Relaxed)).max(0));
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
