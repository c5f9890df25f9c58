//! In-memory store, which implements the contract of `port` with ordered maps, for deterministic simulations and tests.
//!
//! The store is deterministic: it holds all data in ordered maps, does not use the machine's clock or randomness, and
//! runs one task at a time, which yields to callers as often as the writer does. On a single-threaded runtime with a
//! paused clock, the same calls therefore always produce the same settlements, event numbers and response order.
//!
//! Failures can be injected: [`MemoryStore::set_unavailable`] simulates an outage, and
//! [`MemoryStore::lose_next_transaction`] simulates a connection that fails during a commit. The store is not for
//! production, because all data is lost when it is dropped.

mod queries;

pub use crate::tables::Tables;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;

use crate::ordered_work::{OrderedWork, QueueEntry};
use crate::outbox::Outbox;
use crate::port::{CommitLog, MAX_COMMITS_PER_TRANSACTION, YIELDS_BEFORE_BATCH};
use crate::reader::Reader;
use crate::rows::WriteError;
use crate::{AggregateKey, CommitOwner, Settlement, Store, Submission, Unavailable};
use domain::time::Timestamp;

/// Actual outcome of a transaction that is reported as lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LostTransaction {
    /// The connection failed before the commit reached the disk.
    NotWritten,
    /// The commit reached the disk, but the response was lost.
    Written,
}

/// In-memory store. Clones share the same data.
#[derive(Clone)]
pub struct MemoryStore(Arc<Contents>);

struct Contents {
    outbox: Arc<Outbox>,
    state: Mutex<MemoryState>,
}

/// Mutable state of the in-memory store.
///
/// Invariants: entries leave `queue` only at its front; at most one task drains the queue, and `draining` is set
/// meanwhile; `tables` changes only as a whole, from one committed state to the next.
#[derive(Default)]
struct MemoryState {
    tables: Tables,
    queue: VecDeque<QueueEntry>,
    draining: bool,
    /// Newest loaded generation of each aggregate.
    generations: BTreeMap<AggregateKey, u64>,
    unavailable: Option<Unavailable>,
    lose_next: Option<LostTransaction>,
    transactions: u64,
}

/// Owners of the submissions in a transaction, each with its settlement.
type SettledOwners = Vec<(CommitOwner, Settlement)>;

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

impl MemoryStore {
    /// Creates an empty store that publishes committed events to the given outbox.
    pub fn new(outbox: Arc<Outbox>) -> Self {
        Self::with_tables(Tables::default(), outbox)
    }

    /// Creates a store that contains the given data, as found by a server that starts after a crash. The outbox must
    /// continue after the last event of the data.
    pub fn with_tables(tables: Tables, outbox: Arc<Outbox>) -> Self {
        let state = MemoryState { tables, ..MemoryState::default() };
        Self(Arc::new(Contents { outbox, state: Mutex::new(state) }))
    }

    /// Returns the store's handle for actors and effects.
    pub fn store(&self) -> Store {
        Store::new(self.clone(), Reader::Memory(self.clone()), self.clone())
    }

    /// Returns a snapshot of all data committed so far. Taking it costs only a few reference counts.
    pub fn tables(&self) -> Tables {
        self.state().tables.clone()
    }

    /// Returns the number of committed transactions.
    pub fn transactions(&self) -> u64 {
        self.state().transactions
    }

    /// Makes the store reject all work for the given reason; `None` ends the outage.
    pub fn set_unavailable(&self, reason: Option<Unavailable>) {
        self.state().unavailable = reason;
    }

    /// Makes the owners in the next transaction receive [`Settlement::Lost`], regardless of whether the transaction was
    /// committed.
    pub fn lose_next_transaction(&self, outcome: LostTransaction) {
        self.state().lose_next = Some(outcome);
    }

    /// Deletes rows whose retention period has ended, and returns the number of rows deleted. The last event is
    /// preserved, because numbering continues from it. A database deletes the same rows.
    pub(super) fn delete_old_rows(&self, now: Timestamp, before: Timestamp) -> Result<u64, WriteError> {
        self.state().tables.delete_old_rows(now, before)
    }

    fn state(&self) -> MutexGuard<'_, MemoryState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enqueue(&self, entry: QueueEntry) {
        let mut state = self.state();
        state.queue.push_back(entry);
        if !std::mem::replace(&mut state.draining, true) {
            tokio::spawn(self.clone().drain());
        }
    }

    async fn drain(self) {
        loop {
            for _ in 0..YIELDS_BEFORE_BATCH {
                tokio::task::yield_now().await;
            }
            let Some((settled, works)) = self.run_transaction() else { return };
            // Owners and loads are called without the lock: they may queue the next commit at once.
            settled.into_iter().for_each(|(owner, settlement)| owner.tell(settlement));
            let reader = Reader::Memory(self.clone());
            for work in works {
                if AssertUnwindSafe(work.run(&reader)).catch_unwind().await.is_err() {
                    tracing::error!("the callback of a load panicked");
                }
            }
        }
    }

    /// Commits the queued submissions, and returns their settlements and the ordered work. If nothing is queued, stops
    /// draining and returns `None`.
    fn run_transaction(&self) -> Option<(SettledOwners, Vec<OrderedWork>)> {
        let mut state = self.state();
        let state = &mut *state;
        if state.queue.is_empty() {
            state.draining = false;
            return None;
        }
        let count = state.queue.len().min(MAX_COMMITS_PER_TRANSACTION);
        let (mut settled, mut works, mut events) = (Vec::new(), Vec::new(), Vec::new());
        let (mut tables, mut committed) = (state.tables.clone(), 0);
        let lost = state.lose_next;
        let mut tried = false;
        for entry in state.queue.drain(..count) {
            match (entry, state.unavailable) {
                (QueueEntry::Commit(_, owner), Some(reason)) => settled.push((owner, Settlement::NotDurable(reason))),
                // A load that is dropped answers `None` by itself.
                (QueueEntry::Work(_), Some(_)) => {}
                (QueueEntry::Work(work), None) => {
                    let newest = state.generations.entry(work.key).or_insert(work.generation);
                    *newest = work.generation.max(*newest);
                    works.push(work);
                }
                (QueueEntry::Commit(submission, owner), None) => {
                    let newest = state.generations.get(&submission.key);
                    let settlement = if newest.is_some_and(|newest| *newest > submission.generation) {
                        Settlement::Superseded
                    } else {
                        tried = true;
                        match tables.with(&submission) {
                            Ok((next, numbered)) => {
                                tables = next;
                                events.extend(numbered);
                                committed += 1;
                                Settlement::Durable
                            }
                            Err(refused) => refused,
                        }
                    };
                    let certain = settlement == Settlement::Superseded || lost.is_none();
                    settled.push((owner, if certain { settlement } else { Settlement::Lost }));
                }
            }
        }
        if tried {
            state.lose_next = None;
        }
        if committed > 0 && lost != Some(LostTransaction::NotWritten) {
            state.tables = tables;
            state.transactions += 1;
            self.0.outbox.publish(events);
        }
        Some((settled, works))
    }
}

impl CommitLog for MemoryStore {
    fn commit(&self, submission: Box<Submission>, owner: CommitOwner) {
        self.enqueue(QueueEntry::Commit(submission, owner));
    }

    fn run_in_order(&self, work: OrderedWork) {
        self.enqueue(QueueEntry::Work(work));
    }

    fn forget(&self, key: AggregateKey) {
        self.state().generations.remove(&key);
    }
}
