//! The writer: the one actor of the process that writes to the database.
//!
//! It collects commits and ordered work (loads, retention) in one queue and writes what has collected as one
//! transaction at a time. Group commit is what makes it fast: one synchronisation of the disk serves up to
//! `MAX_COMMITS_PER_TRANSACTION` commits. The transaction runs in a task of its own that hands the connection back, so
//! the mailbox never waits for the database. While the database is unavailable everything queued is refused at once and
//! the writer tries to open it again, ever less often up to the longest of `PROBE_DELAYS`.

mod counters;
mod handle;
mod transaction_task;

pub use counters::WriterCounters;
pub use handle::WriterHandle;

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures::FutureExt;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::OwnedMutexGuard;

use crate::domain::schedule::Delays;
use crate::store::connect::{DatabaseSettings, Writing};
use crate::store::ordered_work::OrderedWork;
use crate::store::outbox::Outbox;
use crate::store::port::{MAX_COMMITS_PER_TRANSACTION, YIELDS_BEFORE_BATCH};
use crate::store::{AggregateKey, CommitOwner, Settlement, Submission, Unavailable};
use transaction_task::{TransactionTask, check_epoch, open};

/// How often the pause before a transaction is repeated because more commits came during it. Commits have a longer way
/// than loads, over their actor's mailbox; the bound keeps a steady stream of them from delaying the transaction.
const MAX_YIELD_ROUNDS: u32 = 16;
/// Delays between tries to open the database after it became unavailable.
const PROBE_DELAYS: Delays = Delays { first: Duration::from_millis(100), longest: Duration::from_secs(5) };

/// How often the epoch on disk is read when nothing is written. A server that was taken over leaves after this time at
/// most.
const EPOCH_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Messages of the writer.
pub enum StoreMsg {
    /// A commit or ordered work for the end of the queue.
    Enqueue(QueueEntry),
    /// The actor of this aggregate has left memory, so its generations need not be remembered.
    Forget(AggregateKey),
    /// The transaction, or the look at the epoch, ended, and gives the connection back or says why it cannot.
    Wrote(Result<Box<ConnectionGuard>, ConnectionError>),
    /// The callers who were just answered have been yielded to.
    Yielded,
    /// Look whether the epoch is still ours, unless a transaction has looked since the last time.
    CheckEpoch,
    /// Try to open the database again.
    Probe,
    /// A try to open the database ended.
    Probed(Result<Box<ConnectionGuard>, ConnectionError>),
    /// Panics, for tests of crashes.
    #[cfg(any(test, debug_assertions))]
    Crash,
}

/// An entry of the writer's one queue.
pub enum QueueEntry {
    /// A commit and who is told what became of it.
    Commit(Box<Submission>, CommitOwner),
    /// Ordered work, run after the commits that were queued before it.
    Work(OrderedWork),
}

/// The writing connection together with the process-wide write lock.
///
/// The lock travels with the connection and not with the actor: when the writer crashes during a transaction, its
/// successor can open the database only after that transaction has ended and dropped this guard. Otherwise the
/// successor's new epoch would fence its own predecessor, and the process would leave for no reason.
pub struct ConnectionGuard {
    writing: Writing,
    _write_lock: OwnedMutexGuard<()>,
}

/// Why there is no connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConnectionError {
    /// The database is unavailable; opening it is tried again.
    Unavailable(Unavailable),
    /// Another server has taken a newer epoch of this database, so this process may never write to it again. Two
    /// writers would give out the same event numbers and overwrite each other's versions.
    Fenced,
}

/// What a writer is started with; a restart after a crash uses the same.
#[derive(Clone)]
pub struct WriterArgs {
    /// Opened again with the same settings after a crash.
    pub database: DatabaseSettings,
    /// Where committed events are published.
    pub outbox: Arc<Outbox>,
    /// What is counted, and what outlives a crash of the writer.
    pub counters: Arc<WriterCounters>,
    /// Called when another server took over the database. The process must then end.
    pub fenced: Arc<dyn Fn() + Send + Sync>,
}

/// The actor that alone writes to the database: one connection, one transaction at a time.
pub struct Writer;

/// State of the writer.
///
/// Invariants: entries leave `queue` only from its front and only in `WriterState::next`, which is what keeps commits
/// and loads in order; at most one transaction runs, because the connection is then `ConnectionState::Busy`; and a
/// key is in `generations` only while its actor is in memory.
pub struct WriterState {
    args: WriterArgs,
    queue: Vec<QueueEntry>,
    /// Set while callers who were just answered are yielded to before the next transaction.
    yielding: Option<YieldRound>,
    /// The newest generation that loaded, per aggregate. Only looked up, never iterated, so its order has no effect.
    generations: HashMap<AggregateKey, u64>,
    connection: ConnectionState,
    /// Tries to open the database that have failed in a row.
    failed_probes: u32,
    /// Whether a transaction began since the epoch was last due to be checked. Each checks the epoch itself.
    wrote: bool,
}

/// A pause before a transaction.
struct YieldRound {
    /// Length of the queue when the round began.
    queued: usize,
    /// Rounds of this pause so far.
    rounds: u32,
}

enum ConnectionState {
    Ready(Box<ConnectionGuard>),
    /// A transaction has it.
    Busy,
    Unavailable(Unavailable),
}

impl Actor for Writer {
    type Msg = StoreMsg;
    type State = WriterState;
    /// The second is the opened connection, when the starter has one already.
    type Arguments = (WriterArgs, Option<Box<Writing>>);

    async fn pre_start(
        &self,
        me: ActorRef<StoreMsg>,
        (args, writing): Self::Arguments,
    ) -> Result<WriterState, ActorProcessingErr> {
        let write_lock = args.counters.write_lock.clone().try_lock_owned();
        let connection = match (writing, write_lock) {
            (Some(writing), Ok(write_lock)) => {
                args.counters.epoch.store(writing.epoch, Relaxed);
                ConnectionState::Ready(Box::new(ConnectionGuard { writing: *writing, _write_lock: write_lock }))
            }
            _ => {
                let _ = me.cast(StoreMsg::Probe);
                ConnectionState::Unavailable(Unavailable::Database)
            }
        };
        // It ends with the actor.
        me.send_interval(EPOCH_CHECK_INTERVAL, || StoreMsg::CheckEpoch);
        Ok(WriterState {
            args,
            queue: Vec::new(),
            yielding: None,
            generations: HashMap::new(),
            connection,
            failed_probes: 0,
            wrote: false,
        })
    }

    async fn handle(
        &self,
        me: ActorRef<StoreMsg>,
        message: StoreMsg,
        s: &mut WriterState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            StoreMsg::Enqueue(entry) => s.queue.push(entry),
            StoreMsg::Forget(key) => {
                s.generations.remove(&key);
            }
            StoreMsg::Wrote(Ok(guard)) => {
                s.connection = ConnectionState::Ready(guard);
                s.yielding = Some(YieldRound { queued: 0, rounds: 0 });
                yield_to_callers(me);
                return Ok(());
            }
            StoreMsg::Wrote(Err(error)) => s.connection_failed(error, &me),
            StoreMsg::Yielded => {
                if let Some(round) = &mut s.yielding
                    && s.queue.len() > round.queued
                    && round.rounds < MAX_YIELD_ROUNDS
                {
                    *round = YieldRound { queued: s.queue.len(), rounds: round.rounds + 1 };
                    yield_to_callers(me);
                    return Ok(());
                }
                s.yielding = None;
            }
            StoreMsg::CheckEpoch => {
                if !std::mem::take(&mut s.wrote) {
                    s.check_epoch(&me);
                }
            }
            StoreMsg::Probe => s.probe(me.clone()),
            StoreMsg::Probed(Ok(guard)) => {
                tracing::info!(epoch = guard.writing.epoch, "the database is available again");
                s.args.counters.set_unavailable(None);
                s.failed_probes = 0;
                s.connection = ConnectionState::Ready(guard);
            }
            StoreMsg::Probed(Err(error)) => s.connection_failed(error, &me),
            #[cfg(any(test, debug_assertions))]
            StoreMsg::Crash => panic!("asked to crash"),
        }
        s.next(me);
        Ok(())
    }
}

/// Lets other tasks run for a few turns of the scheduler, then tells the writer.
fn yield_to_callers(me: ActorRef<StoreMsg>) {
    tokio::spawn(async move {
        for _ in 0..YIELDS_BEFORE_BATCH {
            tokio::task::yield_now().await;
        }
        let _ = me.cast(StoreMsg::Yielded);
    });
}

impl WriterState {
    fn connection_failed(&mut self, error: ConnectionError, me: &ActorRef<StoreMsg>) {
        let ConnectionError::Unavailable(reason) = error else {
            self.args.counters.fenced.store(true, Relaxed);
            self.args.counters.set_unavailable(Some(Unavailable::Database));
            self.connection = ConnectionState::Unavailable(Unavailable::Database);
            (self.args.fenced)();
            return;
        };
        if self.args.counters.unavailable().is_none() {
            tracing::error!(%reason, "the store does not write");
        }
        self.args.counters.set_unavailable(Some(reason));
        self.connection = ConnectionState::Unavailable(reason);
        let delay = PROBE_DELAYS.next(self.failed_probes, 1.0);
        self.failed_probes += 1;
        me.send_after(delay, || StoreMsg::Probe);
    }

    fn check_epoch(&mut self, me: &ActorRef<StoreMsg>) {
        match std::mem::replace(&mut self.connection, ConnectionState::Busy) {
            ConnectionState::Ready(guard) => {
                let me = me.clone();
                tokio::spawn(async move {
                    let checked = AssertUnwindSafe(check_epoch(guard)).catch_unwind().await;
                    let checked = checked.unwrap_or(Err(ConnectionError::Unavailable(Unavailable::Database)));
                    let _ = me.cast(StoreMsg::Wrote(checked));
                });
            }
            other => self.connection = other,
        }
    }

    fn probe(&self, me: ActorRef<StoreMsg>) {
        if self.args.counters.fenced.load(Relaxed) {
            return;
        }
        let args = self.args.clone();
        tokio::spawn(async move {
            let opened = AssertUnwindSafe(open(&args)).catch_unwind().await;
            let opened = opened.unwrap_or(Err(ConnectionError::Unavailable(Unavailable::Database)));
            let _ = me.cast(StoreMsg::Probed(opened));
        });
    }

    /// Begins the next transaction when something is queued and the connection is ready.
    fn next(&mut self, me: ActorRef<StoreMsg>) {
        if self.queue.is_empty() || self.yielding.is_some() {
            return;
        }
        let guard = match std::mem::replace(&mut self.connection, ConnectionState::Busy) {
            ConnectionState::Ready(guard) => guard,
            ConnectionState::Busy => return,
            ConnectionState::Unavailable(reason) => {
                self.connection = ConnectionState::Unavailable(reason);
                // Nothing of this was written, which is certain. A load that is dropped answers `None` by itself.
                for entry in self.queue.drain(..) {
                    if let QueueEntry::Commit(_, owner) = entry {
                        owner.tell(Settlement::NotDurable(reason));
                    }
                }
                return;
            }
        };
        self.wrote = true;
        let count = self.queue.len().min(MAX_COMMITS_PER_TRANSACTION);
        let (mut submissions, mut owners, mut works) = (Vec::new(), Vec::new(), Vec::new());
        for entry in self.queue.drain(..count) {
            match entry {
                QueueEntry::Work(work) => {
                    let newest = self.generations.entry(work.key).or_insert(work.generation);
                    *newest = work.generation.max(*newest);
                    works.push(work);
                }
                QueueEntry::Commit(submission, mut owner) => {
                    if self.generations.get(&submission.key).is_some_and(|newest| *newest > submission.generation) {
                        owner.tell(Settlement::Superseded);
                    } else {
                        owner.submitted = true;
                        owners.push(owner);
                        submissions.push(*submission);
                    }
                }
            }
        }
        let (outbox, counters) = (self.args.outbox.clone(), self.args.counters.clone());
        tokio::spawn(async move {
            let task = TransactionTask { guard, outbox, counters, owners };
            let ended = AssertUnwindSafe(task.run(submissions, works)).catch_unwind().await;
            let ended = ended.unwrap_or_else(|_| {
                tracing::error!("a transaction's task crashed");
                Err(ConnectionError::Unavailable(Unavailable::Database))
            });
            let _ = me.cast(StoreMsg::Wrote(ended));
        });
    }
}
