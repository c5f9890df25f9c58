//! The committed events, in order: the last number for all who wait, the newest few in memory for all who follow closely.

use crate::domain::event::Numbered;
use crate::store::followers::Followers;
use std::collections::VecDeque;
use std::sync::{Arc, PoisonError, RwLock};
use tokio::sync::watch;

/// Events kept in memory; followers further behind read the table.
const NEWEST: usize = 4096;

/// The committed events.
pub struct Outbox {
    last: watch::Sender<i64>,
    newest: RwLock<VecDeque<Arc<Numbered>>>,
    /// Who follows.
    pub followers: Followers,
}

impl Outbox {
    /// Beginning after this number.
    pub fn new(last: i64) -> Arc<Self> {
        Arc::new(Self { last: watch::Sender::new(last), newest: RwLock::default(), followers: Followers::default() })
    }

    /// The number of the last committed event, and its changes.
    pub fn last(&self) -> watch::Receiver<i64> {
        self.last.subscribe()
    }

    /// The events after `seq` in order, at most `most`; `None` when memory does not reach back that far.
    pub fn after(&self, seq: i64, most: usize) -> Option<Vec<Arc<Numbered>>> {
        let newest = self.newest.read().unwrap_or_else(PoisonError::into_inner);
        if seq >= *self.last.borrow() {
            return Some(Vec::new());
        }
        let first = newest.front()?.seq;
        if first > seq + 1 {
            return None;
        }
        let start = usize::try_from(seq + 1 - first).ok()?;
        Some(newest.iter().skip(start).take(most).cloned().collect())
    }

    /// The writer committed these.
    pub(crate) fn publish(&self, events: Vec<Numbered>) {
        let Some(last) = events.last().map(|event| event.seq) else { return };
        let mut newest = self.newest.write().unwrap_or_else(PoisonError::into_inner);
        newest.extend(events.into_iter().map(Arc::new));
        let excess = newest.len().saturating_sub(NEWEST);
        newest.drain(..excess);
        drop(newest);
        self.last.send_replace(last);
    }
}
