//! The writer: collects commits and loads in order, writes them one transaction at a time, probes when the database is away.
//!
//! It never blocks its mailbox: the transaction runs in a task that gives the connection back.

mod counters;
mod entry;

pub use counters::WriterCounters;
pub use entry::{Entry, LoadEntry};

use crate::domain::schedule::Delays;
use crate::store::connect::{self, DatabaseSettings, OpenError, Writing, unavailable};
use crate::store::meter::Size;
use crate::store::outbox::Outbox;
use crate::store::queries::{EventFilter, Queries};
use crate::store::rows::LoadError;
use crate::store::transaction::{Ended, LIMIT, TxWriter};
use crate::store::{Key, Owner, Settlement, Submission, Unavailable};
use futures::FutureExt;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use sea_orm::DatabaseConnection;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout;

/// Most commits in one transaction; bounds its length and memory.
const MOST: usize = 1024;
/// Turns given to answered callers before the next transaction begins, so that they can be part of it; as often again as
/// more came meanwhile, since some have a longer way (over their thing's mailbox), but not for ever.
const GATHER: usize = 2;
const MOST_GATHERINGS: u32 = 16;
/// Pauses between attempts to write again while the database is unavailable.
const PROBES: Delays = Delays { first: Duration::from_millis(100), longest: Duration::from_secs(5) };
/// A connection that cannot be closed in this time is left to itself.
const CLOSE: Duration = Duration::from_secs(2);

/// What the writer is told.
pub enum StoreMsg {
    /// Something to do, in order.
    Enqueue(Entry),
    /// The generations of a thing that left memory may be forgotten.
    Forget(Key),
    /// The transaction ended; the connection comes back, or does not.
    Wrote(Result<Box<ConnectionGuard>, ConnectionError>),
    /// Those who were just answered have had a chance to come back.
    Gathered,
    /// Try to open the database again.
    Probe,
    /// A try ended.
    Probed(Result<Box<ConnectionGuard>, ConnectionError>),
    /// For fall tests.
    #[cfg(any(test, debug_assertions))]
    Fall,
}

/// The connection, and the turn that goes with it: only one in the process writes, whatever falls.
pub struct ConnectionGuard {
    writing: Writing,
    _lock: OwnedMutexGuard<()>,
}

/// Why there is no connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConnectionError {
    /// The database is away; it is tried again.
    Unavailable(Unavailable),
    /// Another server took over: never again.
    Fenced,
}

/// What the writer is made with; the same again after a fall.
#[derive(Clone)]
pub struct WriterArgs {
    /// Where.
    pub database: DatabaseSettings,
    /// Where committed events go.
    pub outbox: Arc<Outbox>,
    /// What is shown.
    pub counters: Arc<WriterCounters>,
    /// Called when another server took over: the process must leave.
    pub fenced: Arc<dyn Fn() + Send + Sync>,
}

/// The writer actor.
pub struct Writer;

/// Its state.
pub struct WriterState {
    args: WriterArgs,
    queue: Vec<Entry>,
    /// Those who were just answered have their chance to come back.
    gathering: Option<Gathering>,
    generations: HashMap<Key, u64>,
    connection: ConnectionState,
    probes: u32,
}

/// A pause before a transaction.
struct Gathering {
    /// How many were waiting when it was last looked at.
    seen: usize,
    looks: u32,
}

enum ConnectionState {
    Ready(Box<ConnectionGuard>),
    Busy,
    Unavailable(Unavailable),
}

impl Actor for Writer {
    type Msg = StoreMsg;
    type State = WriterState;
    /// The opened connection, when the starter has one already.
    type Arguments = (WriterArgs, Option<Box<Writing>>);

    async fn pre_start(
        &self,
        me: ActorRef<StoreMsg>,
        (args, writing): Self::Arguments,
    ) -> Result<WriterState, ActorProcessingErr> {
        let lock = args.counters.write_lock.clone().try_lock_owned();
        let connection = match (writing, lock) {
            (Some(writing), Ok(lock)) => {
                args.counters.epoch.store(writing.epoch, Relaxed);
                ConnectionState::Ready(Box::new(ConnectionGuard { writing: *writing, _lock: lock }))
            }
            _ => {
                let _ = me.cast(StoreMsg::Probe);
                ConnectionState::Unavailable(Unavailable::Database)
            }
        };
        Ok(WriterState { args, queue: Vec::new(), gathering: None, generations: HashMap::new(), connection, probes: 0 })
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
                s.gathering = Some(Gathering { seen: 0, looks: 0 });
                gather(me);
                return Ok(());
            }
            StoreMsg::Wrote(Err(gone)) => s.lost(gone, &me),
            StoreMsg::Gathered => {
                if let Some(gathering) = &mut s.gathering
                    && s.queue.len() > gathering.seen
                    && gathering.looks < MOST_GATHERINGS
                {
                    *gathering = Gathering { seen: s.queue.len(), looks: gathering.looks + 1 };
                    gather(me);
                    return Ok(());
                }
                s.gathering = None;
            }
            StoreMsg::Probe => s.probe(me.clone()),
            StoreMsg::Probed(Ok(guard)) => {
                tracing::info!(epoch = guard.writing.epoch, "the database is there again");
                s.args.counters.set(None);
                s.probes = 0;
                s.connection = ConnectionState::Ready(guard);
            }
            StoreMsg::Probed(Err(gone)) => s.lost(gone, &me),
            #[cfg(any(test, debug_assertions))]
            StoreMsg::Fall => panic!("asked to fall"),
        }
        s.next(me);
        Ok(())
    }
}

fn gather(me: ActorRef<StoreMsg>) {
    tokio::spawn(async move {
        for _ in 0..GATHER {
            tokio::task::yield_now().await;
        }
        let _ = me.cast(StoreMsg::Gathered);
    });
}

impl WriterState {
    fn lost(&mut self, gone: ConnectionError, me: &ActorRef<StoreMsg>) {
        let ConnectionError::Unavailable(why) = gone else {
            self.args.counters.fenced.store(true, Relaxed);
            self.args.counters.set(Some(Unavailable::Database));
            self.connection = ConnectionState::Unavailable(Unavailable::Database);
            (self.args.fenced)();
            return;
        };
        if self.args.counters.unavailable().is_none() {
            tracing::error!(reason = %why, "the store does not write");
        }
        self.args.counters.set(Some(why));
        self.connection = ConnectionState::Unavailable(why);
        let wait = PROBES.next(self.probes, 1.0);
        self.probes += 1;
        me.send_after(wait, || StoreMsg::Probe);
    }

    fn probe(&self, me: ActorRef<StoreMsg>) {
        if self.args.counters.fenced.load(Relaxed) {
            return;
        }
        let args = self.args.clone();
        tokio::spawn(async move {
            let tried = AssertUnwindSafe(open(&args)).catch_unwind().await;
            let _ =
                me.cast(StoreMsg::Probed(tried.unwrap_or(Err(ConnectionError::Unavailable(Unavailable::Database)))));
        });
    }

    /// Begins the next transaction when there is something to do and something to do it with.
    fn next(&mut self, me: ActorRef<StoreMsg>) {
        if self.queue.is_empty() || self.gathering.is_some() {
            return;
        }
        let guard = match std::mem::replace(&mut self.connection, ConnectionState::Busy) {
            ConnectionState::Ready(guard) => guard,
            ConnectionState::Busy => return,
            ConnectionState::Unavailable(why) => {
                self.connection = ConnectionState::Unavailable(why);
                // Certain: nothing of this was written. Loads answer "away" by being dropped.
                for entry in self.queue.drain(..) {
                    if let Entry::Commit(_, owner) = entry {
                        owner.tell(Settlement::NotDurable(why));
                    }
                }
                return;
            }
        };
        let many = self.queue.len().min(MOST);
        let (mut submissions, mut owners, mut loads) = (Vec::new(), Vec::new(), Vec::new());
        for entry in self.queue.drain(..many) {
            match entry {
                Entry::Load(load) => {
                    let known = self.generations.entry(load.key).or_insert(load.generation);
                    *known = load.generation.max(*known);
                    loads.push(load);
                }
                Entry::Commit(submission, owner) => {
                    if self.generations.get(&submission.key).is_some_and(|newest| *newest > submission.generation) {
                        owner.tell(Settlement::Superseded);
                    } else {
                        let mut owner = owner;
                        owner.submitted = true;
                        owners.push(owner);
                        submissions.push(*submission);
                    }
                }
            }
        }
        let (outbox, counters) = (self.args.outbox.clone(), self.args.counters.clone());
        tokio::spawn(async move {
            let job = Job { guard, outbox, counters, owners };
            let ended = AssertUnwindSafe(job.run(submissions, loads)).catch_unwind().await;
            let ended = ended.unwrap_or_else(|_| {
                tracing::error!("a transaction's task fell");
                Err(ConnectionError::Unavailable(Unavailable::Database))
            });
            let _ = me.cast(StoreMsg::Wrote(ended));
        });
    }
}

struct Job {
    guard: Box<ConnectionGuard>,
    outbox: Arc<Outbox>,
    counters: Arc<WriterCounters>,
    owners: Vec<Owner>,
}

impl Job {
    async fn run(
        mut self,
        submissions: Vec<Submission>,
        loads: Vec<LoadEntry>,
    ) -> Result<Box<ConnectionGuard>, ConnectionError> {
        let writing = &mut self.guard.writing;
        if !submissions.is_empty() {
            let mut pen =
                TxWriter { db: &writing.db, epoch: writing.epoch, seq: writing.last_seq, published: Vec::new() };
            let (size, began) = (Size::of(&submissions), Instant::now());
            let ended = pen.write(submissions).await;
            let (seq, published) = (pen.seq, pen.published);
            writing.last_seq = seq;
            self.outbox.publish(published);
            let (settled, gone) = match ended {
                Ended::Settled(settled) => (settled, None),
                Ended::Broken(settled, error) => {
                    tracing::error!(%error, "a transaction failed");
                    (settled, Some(ConnectionError::Unavailable(unavailable(&error))))
                }
                Ended::Fenced(settled) => {
                    tracing::error!("another server took over the database: leaving");
                    (settled, Some(ConnectionError::Fenced))
                }
            };
            self.counters.meter.wrote(size, began.elapsed(), &settled);
            let durable = settled.iter().filter(|s| **s == Settlement::Durable).count();
            self.counters.commits.fetch_add(durable as u64, Relaxed);
            self.counters.transactions.fetch_add(u64::from(durable > 0), Relaxed);
            self.owners.into_iter().zip(settled).for_each(|(owner, settlement)| owner.tell(settlement));
            if let Some(gone) = gone {
                close(self.guard.writing.db).await;
                return Err(gone);
            }
        }
        for mut load in loads {
            let Some(run) = load.run.take() else { continue };
            if !timeout(LIMIT, run(&self.guard.writing.db)).await.unwrap_or(false) {
                close(self.guard.writing.db).await;
                return Err(ConnectionError::Unavailable(Unavailable::Database));
            }
        }
        Ok(self.guard)
    }
}

async fn close(db: DatabaseConnection) {
    let _ = timeout(CLOSE, db.close()).await;
}

/// Opens the database again, once whoever of this process still writes has ended.
async fn open(args: &WriterArgs) -> Result<Box<ConnectionGuard>, ConnectionError> {
    let counters = &args.counters;
    let lock = counters.write_lock.clone().lock_owned().await;
    let writing = match timeout(LIMIT, connect::writing(&args.database)).await {
        Ok(Ok(writing)) => writing,
        Ok(Err(OpenError::Database(error))) => return Err(ConnectionError::Unavailable(unavailable(&error))),
        Ok(Err(OpenError::Unsure(error))) => {
            counters.unsure.fetch_add(1, Relaxed);
            return Err(ConnectionError::Unavailable(unavailable(&error)));
        }
        Ok(Err(error @ (OpenError::Held | OpenError::NoWriterRow))) => {
            tracing::warn!(%error, "the store cannot write");
            return Err(ConnectionError::Unavailable(Unavailable::Database));
        }
        Err(_) => {
            counters.unsure.fetch_add(1, Relaxed);
            return Err(ConnectionError::Unavailable(Unavailable::Database));
        }
    };
    let (known, unsure) = (counters.epoch.load(Relaxed), counters.unsure.swap(0, Relaxed));
    if known != 0 && writing.epoch > known + 1 + unsure {
        tracing::error!("another server wrote to the database in the meantime: leaving");
        close(writing.db).await;
        return Err(ConnectionError::Fenced);
    }
    counters.epoch.store(writing.epoch, Relaxed);
    // A commit whose end nobody heard of may have written events: publish them before any later one.
    let last = *args.outbox.last().borrow();
    match catch_up(&writing, last, &args.outbox).await {
        Ok(()) => Ok(Box::new(ConnectionGuard { writing, _lock: lock })),
        Err(LoadError::Db(error)) => Err(ConnectionError::Unavailable(unavailable(&error))),
        Err(error) => {
            tracing::error!(%error, "committed events cannot be read");
            Err(ConnectionError::Unavailable(Unavailable::Database))
        }
    }
}

async fn catch_up(writing: &Writing, from: i64, outbox: &Outbox) -> Result<(), LoadError> {
    let queries = Queries::new(writing.db.clone());
    let mut seq = from;
    while seq < writing.last_seq {
        let events = queries.events_after(seq, &EventFilter::default(), 1000).await?;
        match events.last() {
            Some(last) => seq = last.seq,
            None => break,
        }
        outbox.publish(events);
    }
    Ok(())
}
