//! What the writer counts, and what outlives its crashes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering::Relaxed};

use tokio::sync::Mutex;

use crate::store::Unavailable;
use crate::store::meter::CommitMeter;

/// Counters of the writer, read without its mailbox, and the state that a restarted writer needs of its predecessor.
#[derive(Default, Debug)]
pub struct WriterCounters {
    /// Transactions that are on disk.
    pub transactions: AtomicU64,
    /// Submissions that were settled as durable.
    pub commits: AtomicU64,
    /// Sizes, durations and settlements of transactions.
    pub meter: CommitMeter,
    /// Whether the store takes commits: 0 yes, 1 the database does not answer, 2 the disk is full, 3 read-only.
    availability: AtomicU8,
    /// Held together with the writing connection, also while the writer that took it has crashed.
    pub(super) write_lock: Arc<Mutex<()>>,
    /// The last epoch that this process is known to have taken.
    pub(super) epoch: AtomicI64,
    /// How many epochs this process may have taken since without hearing of it. An epoch beyond all of these was taken
    /// by another server.
    pub(super) uncertain_epochs: AtomicI64,
    /// Another server has taken over; this process writes no more.
    pub(super) fenced: AtomicBool,
}

impl WriterCounters {
    /// Why the store takes no commits at the moment; `None` when it does.
    pub fn unavailable(&self) -> Option<Unavailable> {
        match self.availability.load(Relaxed) {
            1 => Some(Unavailable::Database),
            2 => Some(Unavailable::DiskFull),
            3 => Some(Unavailable::ReadOnly),
            _ => None,
        }
    }

    pub(super) fn set_unavailable(&self, reason: Option<Unavailable>) {
        let code = match reason {
            None => 0,
            Some(Unavailable::Database) => 1,
            Some(Unavailable::DiskFull) => 2,
            Some(Unavailable::ReadOnly) => 3,
        };
        self.availability.store(code, Relaxed);
    }
}
