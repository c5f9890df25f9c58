//! Committed events in the order of their numbers, for those who follow them: webhook endpoints, event streams, Redis.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::watch;

use crate::domain::event::Numbered;
use crate::store::followers::Followers;

/// Events that are kept in memory. Followers that are further behind read the table.
const MAX_EVENTS_IN_MEMORY: usize = 4096;

/// The committed events.
///
/// The store publishes to it after a transaction is on disk and before it tells the owners of the commits. Followers
/// wait for the last number to grow, then take the events after their own position from memory, or from the table when
/// memory does not reach back that far. So most events are never read from the database at all.
///
/// Invariants: `newest` holds the last events without gaps, and `last` never goes back. It is changed after `newest`,
/// so whoever sees a number finds its event.
pub struct Outbox {
    last: watch::Sender<i64>,
    newest: RwLock<VecDeque<Arc<Numbered>>>,
    /// Numbers that restores left out: the last event before each, and the first after it.
    undone: Vec<(i64, i64)>,
    /// Who follows, and how far each has read.
    pub followers: Followers,
}

impl Outbox {
    /// An empty outbox whose last committed event has this number.
    pub fn new(last: i64) -> Arc<Self> {
        Self::restored(last, Vec::new())
    }

    /// As [`Self::new`], of a shop whose restores left these numbers out.
    pub fn restored(last: i64, undone: Vec<(i64, i64)>) -> Arc<Self> {
        let (last, newest) = (watch::Sender::new(last), RwLock::default());
        Arc::new(Self { last, newest, undone, followers: Followers::default() })
    }

    /// Whether nobody can have read up to this number here: it is beyond the last event, or of an event that a restore
    /// has undone.
    pub fn is_ahead(&self, seq: i64) -> bool {
        seq > *self.last.borrow() || self.is_undone(seq)
    }

    /// Whether a restore has left this number out: an event of the former shop may have had it.
    pub fn is_undone(&self, seq: i64) -> bool {
        self.undone.iter().any(|(last, first)| *last < seq && seq < *first)
    }

    /// The number of the last committed event, and a wake-up whenever it grows.
    pub fn last(&self) -> watch::Receiver<i64> {
        self.last.subscribe()
    }

    /// At most `limit` events with a number above `seq`, lowest first; `None` when memory does not reach back that far.
    pub fn after(&self, seq: i64, limit: usize) -> Option<Vec<Arc<Numbered>>> {
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

    /// Publishes events that are on disk now, in the order of their numbers.
    pub(crate) fn publish(&self, events: Vec<Numbered>) {
        let Some(last) = events.last().map(|event| event.seq) else { return };
        let mut newest = self.newest.write().unwrap_or_else(PoisonError::into_inner);
        newest.extend(events.into_iter().map(Arc::new));
        let excess = newest.len().saturating_sub(MAX_EVENTS_IN_MEMORY);
        newest.drain(..excess);
        drop(newest);
        self.last.send_replace(last);
    }
}
