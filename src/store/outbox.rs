//! Outbox of committed events, in order of event number, for its followers: webhook endpoints, event streams and Redis.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError, RwLock};

use crate::followers::Followers;
use domain::event::NumberedEvent;
use platform::watch::{WatchReceiver, WatchSender};

/// Number of events kept in memory. Followers that are further behind read the table.
const MAX_EVENTS_IN_MEMORY: usize = 4096;

/// Outbox of committed events.
///
/// The store publishes a transaction's events once they are on disk, before informing the owners of the commits.
/// Followers wait for the last number to increase, and then read the events after their own position from memory, or
/// from the table if memory does not go back that far. Most events are therefore never read from the database.
///
/// Invariants: `newest` contains the last events without gaps; `last` never decreases and is updated after `newest`, so
/// that any number that has been observed has its event there.
pub struct Outbox {
    last: WatchSender<i64>,
    newest: RwLock<VecDeque<Arc<NumberedEvent>>>,
    /// Number ranges skipped by restores: for each, the last event before it and the first event after it.
    undone: Vec<(i64, i64)>,
    /// Registered followers with their positions.
    pub followers: Followers,
}

impl Outbox {
    /// Creates an empty outbox; `last` is the number of the last committed event.
    pub fn new(last: i64) -> Arc<Self> {
        Self::restored(last, Vec::new())
    }

    /// Creates the outbox like [`Self::new`], for a shop whose restores skipped the given number ranges.
    pub fn restored(last: i64, undone: Vec<(i64, i64)>) -> Arc<Self> {
        let (last, newest) = (WatchSender::new(last), RwLock::default());
        Arc::new(Self { last, newest, undone, followers: Followers::default() })
    }

    /// Returns whether no client of this database can have read the given number: it is beyond the last event, or
    /// belongs to an event that a restore has undone.
    pub fn is_ahead(&self, seq: i64) -> bool {
        seq > *self.last.borrow() || self.is_undone(seq)
    }

    /// Returns whether a restore has skipped the given number, which an event from before the restore may have had.
    pub fn is_undone(&self, seq: i64) -> bool {
        self.undone.iter().any(|(last, first)| *last < seq && seq < *first)
    }

    /// Returns a receiver for the number of the last committed event; it is notified whenever the number increases.
    pub fn last(&self) -> WatchReceiver<i64> {
        self.last.subscribe()
    }

    /// Returns at most `limit` events with numbers above `seq`, lowest first; `None` if memory does not go back that
    /// far.
    pub fn after(&self, seq: i64, limit: usize) -> Option<Vec<Arc<NumberedEvent>>> {
        let newest = self.newest.read().unwrap_or_else(PoisonError::into_inner);
        if seq >= *self.last.borrow() {
            return Some(Vec::new());
        }
        let first = newest.front()?.seq;
        if first > seq + 1 {
            return None;
        }
        let start = usize::try_from(seq + 1 - first).ok()?;
        Some(newest.iter().skip(start).take(limit).cloned().collect())
    }

    /// Publishes events that are now on disk, in ascending order of event number.
    pub(crate) fn publish(&self, events: Vec<NumberedEvent>) {
        let Some(last) = events.last().map(|event| event.seq) else { return };
        let mut newest = self.newest.write().unwrap_or_else(PoisonError::into_inner);
        newest.extend(events.into_iter().map(Arc::new));
        let excess = newest.len().saturating_sub(MAX_EVENTS_IN_MEMORY);
        newest.drain(..excess);
        drop(newest);
        self.last.send_replace(last);
    }
}
