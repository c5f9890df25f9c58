//! The writer's counters, and the state that survives its crashes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering::Relaxed};

use tokio::sync::Mutex;

use crate::Unavailable;
use crate::meter::CommitMeter;

/// Counters of the writer, readable without going through its mailbox, and the state that a restarted writer needs from
/// its predecessor.
#[derive(Default, Debug)]
pub struct WriterCounters {
    /// Number of transactions committed to disk.
    pub transactions: AtomicU64,
    /// Number of submissions settled as durable.
    pub commits: AtomicU64,
    /// Sizes, durations and settlements of transactions.
    pub meter: CommitMeter,
    /// Availability of the store for commits: 0 for available, 1 if the database does not respond, 2 if the disk is
    /// full, 3 if it is read-only.
    availability: AtomicU8,
    /// Lock held together with the write connection, even after the writer that acquired it has crashed.
    pub(super) write_lock: Arc<Mutex<()>>,
    /// Last epoch that this process is known to have taken.
    pub(super) epoch: AtomicI64,
    /// Number of further epochs that this process may have taken without confirmation. Any higher epoch was taken by a
    /// different server.
    pub(super) uncertain_epochs: AtomicI64,
    /// `true` once a different server has taken over; from then on, this process writes nothing.
    pub(super) fenced: AtomicBool,
}

impl WriterCounters {
    /// Returns the reason that the store currently accepts no commits; `None` if it accepts them.
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
