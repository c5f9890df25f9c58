//! The writer: collects commits and loads in order, writes them one transaction at a time, probes when the database is away.
//!
//! It never blocks its mailbox: the transaction runs in a task that gives the connection back.

use crate::domain::durable::Versioned;
use crate::store::connect::{self, DatabaseSettings, OpenError, Writing, away};
use crate::store::load::Load;
use crate::store::outbox::Outbox;
use crate::store::queries::{EventFilter, Queries};
use crate::store::rows::LoadError;
use crate::store::transaction::{Ended, Pen};
use crate::store::{Away, Key, Owner, Settlement, Submission};
use futures::FutureExt;
use futures::future::BoxFuture;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use sea_orm::DatabaseConnection;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Most commits in one transaction; bounds its length and memory.
const MOST: usize = 1024;
/// Turns given to answered callers before the next transaction begins, so that they can be part of it.
const GATHER: usize = 2;
const PROBE_FIRST: Duration = Duration::from_millis(100);
const PROBE_LONGEST: Duration = Duration::from_secs(5);

type Run = Box<dyn for<'a> FnOnce(&'a DatabaseConnection) -> BoxFuture<'a, bool> + Send>;

/// A queued load, its type erased.
pub struct LoadEntry {
    key: Key,
    generation: u64,
    run: Option<Run>,
}

impl LoadEntry {
    /// Loads a `T` and gives it back; `None` when the database is away or the writer falls.
    pub fn of<T: Load>(
        key: Key,
        generation: u64,
        back: impl FnOnce(Option<Arc<Versioned<T>>>) + Send + 'static,
    ) -> Self {
        let back = Back(Some(Box::new(back)));
        let run: Run = Box::new(move |db| {
            async move {
                match T::load(db, key.1).await {
                    Ok(loaded) => {
                        back.give(Arc::new(loaded));
                        true
                    }
                    Err(error) => {
                        tracing::error!(kind = key.0, id = %key.1, %error, "load failed");
                        matches!(error, LoadError::Damaged(_))
                    }
                }
            }
            .boxed()
        });
        Self { key, generation, run: Some(run) }
    }
}

type GiveBack<T> = Box<dyn FnOnce(Option<Arc<Versioned<T>>>) + Send>;
/// Dropped unanswered it says so, and the owner asks again.
struct Back<T>(Option<GiveBack<T>>);
impl<T> Back<T> {
    fn give(mut self, loaded: Arc<Versioned<T>>) {
        if let Some(back) = self.0.take() {
            back(Some(loaded));
        }
    }
}
impl<T> Drop for Back<T> {
    fn drop(&mut self) {
        if let Some(back) = self.0.take() {
            back(None);
        }
    }
}

/// An entry of the writer's one queue.
pub enum Entry {
    /// A commit and whom to tell.
    Commit(Box<Submission>, Owner),
    /// A load.
    Load(LoadEntry),
}

/// What the writer is told.
pub enum StoreMsg {
    /// Something to do, in order.
    Enqueue(Entry),
    /// The generations of a thing that left memory may be forgotten.
    Forget(Key),
    /// The transaction ended; the connection comes back, or does not.
    Wrote(Option<Box<Writing>>, Option<Away>),
    /// Those who were just answered have had a chance to come back.
    Gathered,
    /// Try to open the database again.
    Probe,
    /// A try ended.
    Probed(Result<Box<Writing>, Away>),
    /// For fall tests.
    #[cfg(any(test, debug_assertions))]
    Fall,
}

/// What the writer shows of itself: plain counters, read without its mailbox.
#[derive(Default, Debug)]
pub struct WriterCounters {
    /// Transactions on disk.
    pub transactions: AtomicU64,
    /// Submissions settled as durable.
    pub commits: AtomicU64,
    /// 0 = there; 1 away, 2 disk full, 3 read-only.
    pub away: AtomicU64,
}

impl WriterCounters {
    /// Why the store does not write now.
    pub fn away(&self) -> Option<Away> {
        match self.away.load(Relaxed) {
            1 => Some(Away::Database),
            2 => Some(Away::DiskFull),
            3 => Some(Away::ReadOnly),
            _ => None,
        }
    }
    fn set(&self, away: Option<Away>) {
        let word = match away {
            None => 0,
            Some(Away::Database) => 1,
            Some(Away::DiskFull) => 2,
            Some(Away::ReadOnly) => 3,
        };
        self.away.store(word, Relaxed);
    }
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
    generations: HashMap<Key, u64>,
    connection: Link,
    probes: u32,
}

enum Link {
    Ready(Box<Writing>),
    Busy,
    Away(Away),
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
        let connection = match writing {
            Some(writing) => Link::Ready(writing),
            None => {
                let _ = me.cast(StoreMsg::Probe);
                Link::Away(Away::Database)
            }
        };
        Ok(WriterState { args, queue: Vec::new(), generations: HashMap::new(), connection, probes: 0 })
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
            StoreMsg::Wrote(Some(writing), _) => {
                s.connection = Link::Ready(writing);
                gather(me);
                return Ok(());
            }
            StoreMsg::Wrote(None, why) => s.lost(why.unwrap_or(Away::Database), &me),
            StoreMsg::Gathered => {}
            StoreMsg::Probe => s.probe(me.clone()),
            StoreMsg::Probed(Ok(writing)) => {
                tracing::info!(epoch = writing.epoch, "the database is there again");
                s.args.counters.set(None);
                s.probes = 0;
                s.connection = Link::Ready(writing);
            }
            StoreMsg::Probed(Err(why)) => s.lost(why, &me),
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
    fn lost(&mut self, why: Away, me: &ActorRef<StoreMsg>) {
        if self.args.counters.away().is_none() {
            tracing::error!(reason = %why, "the store does not write");
        }
        self.args.counters.set(Some(why));
        self.connection = Link::Away(why);
        let wait = PROBE_FIRST.saturating_mul(2u32.saturating_pow(self.probes.min(10))).min(PROBE_LONGEST);
        self.probes += 1;
        me.send_after(wait, || StoreMsg::Probe);
    }

    fn probe(&mut self, me: ActorRef<StoreMsg>) {
        let database = self.args.database.clone();
        let last = *self.args.outbox.last().borrow();
        let outbox = self.args.outbox.clone();
        tokio::spawn(async move {
            let tried = match connect::writing(&database).await {
                Ok(writing) => {
                    // A commit whose end nobody heard of may have written events: publish them before any later one.
                    match catch_up(&writing, last, &outbox).await {
                        Ok(()) => Ok(Box::new(writing)),
                        Err(LoadError::Db(error)) => Err(away(&error)),
                        Err(error) => {
                            tracing::error!(%error, "committed events cannot be read");
                            Err(Away::Database)
                        }
                    }
                }
                Err(OpenError::Database(error)) => Err(away(&error)),
                Err(OpenError::Held | OpenError::NoWriterRow) => Err(Away::Database),
            };
            let _ = me.cast(StoreMsg::Probed(tried));
        });
    }

    /// Begins the next transaction when there is something to do and something to do it with.
    fn next(&mut self, me: ActorRef<StoreMsg>) {
        if self.queue.is_empty() {
            return;
        }
        let writing = match std::mem::replace(&mut self.connection, Link::Busy) {
            Link::Ready(writing) => writing,
            Link::Busy => return,
            Link::Away(why) => {
                self.connection = Link::Away(why);
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
        let (outbox, counters, fenced) =
            (self.args.outbox.clone(), self.args.counters.clone(), self.args.fenced.clone());
        tokio::spawn(async move {
            let job = Job { writing, outbox, counters, fenced, owners };
            let (writing, why) = job.run(submissions, loads).await;
            let _ = me.cast(StoreMsg::Wrote(writing, why));
        });
    }
}

struct Job {
    writing: Box<Writing>,
    outbox: Arc<Outbox>,
    counters: Arc<WriterCounters>,
    fenced: Arc<dyn Fn() + Send + Sync>,
    owners: Vec<Owner>,
}

impl Job {
    async fn run(
        mut self,
        submissions: Vec<Submission>,
        loads: Vec<LoadEntry>,
    ) -> (Option<Box<Writing>>, Option<Away>) {
        if !submissions.is_empty() {
            let mut pen = Pen {
                db: &self.writing.db,
                epoch: self.writing.epoch,
                seq: self.writing.last_seq,
                published: Vec::new(),
            };
            let ended = pen.write(submissions).await;
            let (seq, published) = (pen.seq, pen.published);
            self.writing.last_seq = seq;
            self.outbox.publish(published);
            match ended {
                Ended::Settled(settled) => {
                    let durable = settled.iter().filter(|s| **s == Settlement::Durable).count();
                    self.counters.commits.fetch_add(durable as u64, Relaxed);
                    self.counters.transactions.fetch_add(1, Relaxed);
                    self.owners.into_iter().zip(settled).for_each(|(owner, settlement)| owner.tell(settlement));
                }
                Ended::Broken(settled, error) => {
                    let why = away(&error);
                    tracing::error!(%error, "a transaction failed");
                    self.owners.into_iter().zip(settled).for_each(|(owner, settlement)| owner.tell(settlement));
                    let _ = self.writing.db.close().await;
                    return (None, Some(why));
                }
                Ended::Fenced => {
                    tracing::error!("another server took over the database: leaving");
                    (self.fenced)();
                    return (None, Some(Away::Database));
                }
            }
        }
        for mut load in loads {
            if let Some(run) = load.run.take()
                && !run(&self.writing.db).await
            {
                return (None, Some(Away::Database));
            }
        }
        (Some(self.writing), None)
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
