//! Writer, the only actor in the process that writes to the database.
//!
//! The writer collects commits and ordered work (loads, retention) in a queue, and writes them one transaction at a
//! time. It is fast because commits are grouped: a single disk sync serves up to `MAX_COMMITS_PER_TRANSACTION` commits.
//! The transaction runs in a separate task that returns the connection at the end, so the mailbox never waits for the
//! database. While the database is unavailable, all queued work is rejected immediately, and the writer tries to reopen
//! the database with the backoff in `PROBE_DELAYS`.

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

use crate::connect::{DatabaseSettings, WriteConnection};
use crate::ordered_work::QueueEntry;
use crate::outbox::Outbox;
use crate::port::{MAX_COMMITS_PER_TRANSACTION, YIELDS_BEFORE_BATCH};
use crate::{AggregateKey, Settlement, Unavailable};
use domain::schedule::Delays;
use transaction_task::{TransactionTask, check_epoch, open};

/// Maximum number of times that the pause before a transaction is extended because more commits arrived during it.
/// Commits take longer to arrive than loads, because they go through their actor's mailbox; the limit prevents a steady
/// stream of commits from delaying the transaction.
const MAX_YIELD_ROUNDS: u32 = 16;
/// Backoff between attempts to open an unavailable database.
const PROBE_DELAYS: Delays = Delays { first: Duration::from_millis(100), longest: Duration::from_secs(5) };

/// Interval at which the epoch on disk is checked while nothing is written. Limits the time until a server exits after
/// a different one has replaced it.
const EPOCH_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Message to the writer.
pub enum StoreMsg {
    /// A commit or ordered work must be queued.
    Enqueue(QueueEntry),
    /// The actor of an aggregate has been unloaded, so the aggregate's generation can be forgotten.
    Forget(AggregateKey),
    /// A transaction or an epoch check has ended; contains the connection, or the reason that it cannot be used.
    Wrote(Result<Box<ConnectionGuard>, ConnectionError>),
    /// The pause for the callers that just got a response has ended.
    Yielded,
    /// The epoch must be checked, unless a transaction has checked it since the last time.
    CheckEpoch,
    /// The next attempt to open the database is due.
    Probe,
    /// An attempt to open the database has ended.
    Probed(Result<Box<ConnectionGuard>, ConnectionError>),
    /// Crash the writer on purpose, for tests.
    #[cfg(any(test, debug_assertions))]
    Crash,
}

/// Write connection together with the process-wide write lock.
///
/// The lock belongs to the connection and not to the actor: if the writer crashes during a transaction, its successor
/// can open the database only after the transaction has ended and dropped this guard. Otherwise, the successor's new
/// epoch would fence off its own predecessor, and the process would exit for no reason.
pub struct ConnectionGuard {
    writing: WriteConnection,
    _write_lock: OwnedMutexGuard<()>,
}

/// Reason why there is no connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConnectionError {
    /// The database is unavailable; the writer keeps trying to open it.
    Unavailable(Unavailable),
    /// A different server has taken a newer epoch of the database, or the database has lost changes that this process
    /// acknowledged, so this process must never write to it again. It would assign event numbers a second time and
    /// overwrite versions that it has not read.
    Fenced,
}

/// Start arguments of a writer, which are reused when it is restarted after a crash.
#[derive(Clone)]
pub struct WriterArgs {
    /// Settings for reopening the database after a crash.
    pub database: DatabaseSettings,
    /// Outbox to which committed events are published.
    pub outbox: Arc<Outbox>,
    /// Counters, and the state that survives a writer crash.
    pub counters: Arc<WriterCounters>,
    /// Callback that runs when a different server has taken over the database. The process must then exit.
    pub fenced: Arc<dyn Fn() + Send + Sync>,
}

/// The only actor that writes to the database, with one connection and one transaction at a time.
pub struct Writer;

/// State of the writer.
///
/// Invariants: entries leave `queue` only at its front and only in `WriterState::next`, which keeps commits and loads
/// in order; at most one transaction runs at a time, because the connection is then `ConnectionState::Busy`; and a key
/// is in `generations` only while the aggregate's actor is in memory.
pub struct WriterState {
    args: WriterArgs,
    queue: Vec<QueueEntry>,
    /// Set during the pause before a transaction, in which callers that just got a response can send more commits.
    yielding: Option<YieldRound>,
    /// Newest loaded generation of each aggregate. The map is only used for lookups, so its order does not matter.
    generations: HashMap<AggregateKey, u64>,
    connection: ConnectionState,
    /// Number of consecutive failed attempts to open the database.
    failed_probes: u32,
    /// `true` if a transaction has started since the epoch check was last due. Each transaction checks the epoch
    /// itself.
    wrote: bool,
}

/// Round of the pause before a transaction.
struct YieldRound {
    /// Length of the queue at the start of the round.
    queued: usize,
    /// Number of rounds so far in the pause.
    rounds: u32,
}

enum ConnectionState {
    Ready(Box<ConnectionGuard>),
    /// In use by a transaction.
    Busy,
    Unavailable(Unavailable),
}

impl Actor for Writer {
    type Msg = StoreMsg;
    type State = WriterState;
    /// Start arguments, and the open connection if the starter already has one.
    type Arguments = (WriterArgs, Option<Box<WriteConnection>>);

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

/// Lets other tasks run for a few scheduler turns, and then notifies the writer.
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
            tracing::error!(%reason, "the store has stopped writing");
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

    /// Starts the next transaction if anything is queued and the connection is ready.
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
                tracing::error!("the task of a transaction panicked");
                Err(ConnectionError::Unavailable(Unavailable::Database))
            });
            let _ = me.cast(StoreMsg::Wrote(ended));
        });
    }
}
