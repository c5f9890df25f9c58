//! The store: one writer, one connection, one transaction at a time; a pool beside it for reading.
//!
//! Not for rules: it writes what decisions say, numbers events, and tells every owner exactly what became of its commit.

pub mod connect;
pub mod event_follower;
pub mod followers;
pub mod load;
pub mod meter;
pub mod outbox;
pub mod queries;
pub mod rows;
mod transaction;
pub mod writer;

use crate::domain::aggregate::{Aggregate, Versioned};
use crate::domain::event::Event;
use crate::domain::id::Id;
use crate::domain::time::Timestamp;
use crate::store::load::Load;
use crate::store::rows::{Audit, Idempotency, Snapshot, SnapshotRow, StoredRow};
use crate::store::writer::{Entry, LoadEntry, StoreMsg};
use arc_swap::ArcSwap;
use ractor::ActorRef;
use std::sync::Arc;

/// An aggregate that the store can write and load.
pub trait StoredAggregate: Aggregate<Row: StoredRow, Created: StoredRow> + Snapshot + Load {}
impl<T: Aggregate<Row: StoredRow, Created: StoredRow> + Snapshot + Load> StoredAggregate for T {}

/// Names a thing: its kind's word and its id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Key(pub &'static str, pub Id);

/// What one command writes besides the head.
#[derive(Debug, Default)]
pub struct Group {
    /// Changed rows, and new aggregates.
    pub rows: Vec<Box<dyn StoredRow>>,
    /// What happened.
    pub events: Vec<Event>,
    /// The audit log's line.
    pub audit: Option<Audit>,
    /// The answer kept for its idempotency key.
    pub kept: Option<Idempotency>,
}

/// One commit of one thing: everything that was decided while the last one was under way.
#[derive(Debug)]
pub struct Submission {
    /// Whose.
    pub key: Key,
    /// Generation of the actor; an older one than the last load is superseded.
    pub generation: u64,
    /// The head at its next version; `None` when only rows are written (kept refusals, audit).
    pub snapshot: Option<SnapshotRow>,
    /// Per command, so that a clash names its command.
    pub groups: Vec<Group>,
}

/// What became of a submission.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Settlement {
    /// On disk.
    Durable,
    /// Certainly not on disk.
    NotDurable(Unavailable),
    /// A constraint said no; nothing of the submission is on disk.
    Clash {
        /// Index of the guilty group; `None` when it is the head that several groups shaped.
        at: Option<usize>,
        /// `table.column`.
        constraint: String,
    },
    /// The version on disk is another one: certainly not on disk, reload.
    Superseded,
    /// The connection went away during the commit: only the version on disk can tell.
    Lost,
}

/// Why the store does not take a commit now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unavailable {
    /// The database does not answer.
    #[error("the database does not answer")]
    Database,
    /// No room on the disk.
    #[error("the disk is full")]
    DiskFull,
    /// The file cannot be written.
    #[error("the database cannot be written")]
    ReadOnly,
}

/// Tells the owner what became of its submission, even when the writer falls.
pub struct Owner {
    tell: Option<Box<dyn FnOnce(Settlement) + Send>>,
    /// In a transaction: nobody can say any more.
    pub(crate) submitted: bool,
}

impl Owner {
    /// An owner that is told once.
    pub fn new(tell: impl FnOnce(Settlement) + Send + 'static) -> Self {
        Self { tell: Some(Box::new(tell)), submitted: false }
    }
    /// Tells it.
    pub fn tell(mut self, settlement: Settlement) {
        if let Some(tell) = self.tell.take() {
            tell(settlement);
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(tell) = self.tell.take() {
            tell(if self.submitted { Settlement::Lost } else { Settlement::NotDurable(Unavailable::Database) });
        }
    }
}

/// How everybody speaks to the writer; outlives it, as a slot outlives its actor.
#[derive(Clone)]
pub struct Store(Arc<ArcSwap<ActorRef<StoreMsg>>>);

impl Store {
    /// To this writer.
    pub fn new(writer: ActorRef<StoreMsg>) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(writer)))
    }
    /// The writer fell and this one took its place.
    pub fn replace(&self, writer: ActorRef<StoreMsg>) {
        self.0.store(Arc::new(writer));
    }
    /// The writer of now.
    pub fn writer(&self) -> Arc<ActorRef<StoreMsg>> {
        self.0.load_full()
    }
    /// Queues a commit; the owner is told whatever happens.
    pub fn commit(&self, submission: Submission, owner: Owner) {
        let _ = self.0.load().cast(StoreMsg::Enqueue(Entry::Commit(Box::new(submission), owner)));
    }
    /// Queues lines of the audit log that belong to no change. They are lost when the database does not take them.
    pub fn note(&self, lines: Vec<Audit>) {
        if lines.is_empty() {
            return;
        }
        let groups = lines.into_iter().map(|line| Group { audit: Some(line), ..Group::default() }).collect();
        let key = Key("audit", Id::ONLY);
        let owner = Owner::new(|settlement| {
            if settlement != Settlement::Durable {
                tracing::warn!(?settlement, "refused attempts were not written down");
            }
        });
        self.commit(Submission { key, generation: 0, snapshot: None, groups }, owner);
    }
    /// Queues a load: whatever was queued before it is in the answer, whatever an older generation queues after it is superseded.
    /// `None`: the database is away.
    pub fn load<T: Aggregate + Load>(
        &self,
        key: Key,
        generation: u64,
        back: impl FnOnce(Option<Arc<Versioned<T>>>) + Send + 'static,
    ) {
        let _ = self.0.load().cast(StoreMsg::Enqueue(Entry::Load(LoadEntry::of::<T>(key, generation, back))));
    }
    /// Forgets what is kept for a time only, as of `now`; between transactions, in the writer's turn.
    pub fn run_retention(&self, now: Timestamp) {
        let _ = self.0.load().cast(StoreMsg::Enqueue(Entry::Load(LoadEntry::run_retention(now))));
    }
    /// The thing left memory: its generations may be forgotten.
    pub fn forget(&self, key: Key) {
        let _ = self.0.load().cast(StoreMsg::Forget(key));
    }
}
