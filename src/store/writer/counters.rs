//! What the writer shows of itself, and what outlives its falls.

use crate::store::Unavailable;
use crate::store::meter::CommitMeter;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};
use tokio::sync::Mutex;

/// What the writer shows of itself: plain counters, read without its mailbox.
#[derive(Default, Debug)]
pub struct WriterCounters {
    /// Transactions on disk.
    pub transactions: AtomicU64,
    /// Submissions settled as durable.
    pub commits: AtomicU64,
    /// How large, how long, what came of it.
    pub meter: CommitMeter,
    /// 0 = there; 1 away, 2 disk full, 3 read-only.
    pub away: AtomicU64,
    /// Held with the connection, through falls of the writer.
    pub(super) write_lock: Arc<Mutex<()>>,
    /// The last epoch taken, and how many were perhaps taken since: a higher one is another server's.
    pub(super) epoch: AtomicI64,
    pub(super) unsure: AtomicI64,
    pub(super) fenced: AtomicBool,
}

impl WriterCounters {
    /// Why the store does not write now.
    pub fn unavailable(&self) -> Option<Unavailable> {
        match self.away.load(Relaxed) {
            1 => Some(Unavailable::Database),
            2 => Some(Unavailable::DiskFull),
            3 => Some(Unavailable::ReadOnly),
            _ => None,
        }
    }
    /// Said by the writer alone.
    pub(super) fn set(&self, away: Option<Unavailable>) {
        let word = match away {
            None => 0,
            Some(Unavailable::Database) => 1,
            Some(Unavailable::DiskFull) => 2,
            Some(Unavailable::ReadOnly) => 3,
        };
        self.away.store(word, Relaxed);
    }
}
