//! Outbox of committed events, in the order of their numbers, for its followers: webhook endpoints, event streams,
//! Redis.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::watch;

use crate::followers::Followers;
use domain::event::NumberedEvent;

/// Number of events kept in memory. Followers that are further behind read the table.
const MAX_EVENTS_IN_MEMORY: usize = 4096;

/// Committed events.
///
/// The store publishes to it after a transaction is on disk and before it informs the owners of the commits. Followers
/// wait for the last number to grow, then take the events after their own position from memory, or from the table if
/// memory does not reach back that far. So most events are never read from the database at all.
///
/// Invariants: `newest` holds the last events without gaps, and `last` never decreases. It changes after `newest`, so
/// an observer of a number finds its event.
pub struct Outbox {
    last: watch::Sender<i64>,
    newest: RwLock<VecDeque<Arc<NumberedEvent>>>,
    /// Number ranges skipped by restores: the last event before each, and the first after it.
    undone: Vec<(i64, i64)>,
    /// Registered followers, with the position of each.
    pub followers: Followers,
}

impl Outbox {
    /// Creates an empty outbox whose last committed event has this number.
    pub fn new(last: i64) -> Arc<Self> {
        Self::restored(last, Vec::new())
    }

    /// Does what [`Self::new`] does, for a shop whose restores skipped these number ranges.
    pub fn restored(last: i64, undone: Vec<(i64, i64)>) -> Arc<Self> {
        let (last, newest) = (watch::Sender::new(last), RwLock::default());
        Arc::new(Self { last, newest, undone, followers: Followers::default() })
    }

    /// Returns whether no client can have read up to this number here: it is beyond the last event, or belongs to an
    /// event that a restore has undone.
    pub fn is_ahead(&self, seq: i64) -> bool {
        seq > *self.last.borrow() || self.is_undone(seq)
    }

    /// Returns whether a restore has skipped this number: an event of the shop before the restore may have had it.
    pub fn is_undone(&self, seq: i64) -> bool {
        self.undone.iter().any(|(last, first)| *last < seq && seq < *first)
    }

    /// Returns a receiver of the last committed event's number, which is notified whenever the number grows.
    pub fn last(&self) -> watch::Receiver<i64> {
        self.last.subscribe()
    }

    /// Returns at most `limit` events with a number above `seq`, lowest first; `None` if memory does not reach back
    /// that far.
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

    /// Publishes events that are now on disk, in the order of their numbers.
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
