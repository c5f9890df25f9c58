//! Submissions, the unit of commit, and their settlements.

use crate::rows::{Audit, IdempotentAnswer, SnapshotRow, StoredRow};
use domain::event::Event;
use domain::id::Id;
use domain::requirement::Requirement;

/// Identity of an aggregate: its kind ([`domain::aggregate::Aggregate::KIND`]) and its id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AggregateKey(pub &'static str, pub Id);

/// Rows that one command writes besides the snapshot row of its aggregate.
#[derive(Debug, Default)]
pub struct CommandWrites {
    /// Rows to insert, replace or delete, and new aggregates, each at version 1.
    pub rows: Vec<Box<dyn StoredRow>>,
    /// Events for the outbox; the store assigns their numbers.
    pub events: Vec<Event>,
    /// Requirements on the rows of other aggregates, checked once everything is written.
    pub requirements: Vec<Requirement>,
    /// Entry of the audit log; `None` for the server's own commands.
    pub audit: Option<Audit>,
    /// Answer to store for retries with the same idempotency key.
    pub idempotent_answer: Option<IdempotentAnswer>,
}

/// One commit of one aggregate: everything its actor decided while its previous commit was in flight.
///
/// A submission is durable as a whole or not at all. An actor has at most one submission in the store at a time, which
/// is why the version on disk always tells whether a lost one happened.
#[derive(Debug)]
pub struct Submission {
    /// Aggregate that commits.
    pub key: AggregateKey,
    /// Generation of the actor. A submission of an older generation than the one that loaded last is superseded, so
    /// that a crashed actor's late commit cannot overtake its successor.
    pub generation: u64,
    /// Snapshot row of the aggregate at its next version; `None` if only rows are written (stored refusals, audit
    /// entries): such a submission has no version guard.
    pub snapshot: Option<SnapshotRow>,
    /// Writes of each command, so that a violated constraint can be attributed to one of them.
    pub commands: Vec<CommandWrites>,
}

/// Outcome of a submission. Each owner receives exactly one.
///
/// The distinction that matters to the owner is whether the outcome is certain. `Durable`, `NotDurable`, `Clash`,
/// `Unmet`, `BadValue` and `Superseded` are certain, and callers can be answered. After `Lost` the owner must load the
/// aggregate and compare versions before it answers any caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Settlement {
    /// The submission is on disk.
    Durable,
    /// The submission is certainly not on disk, because the store is unavailable.
    NotDurable(Unavailable),
    /// A unique constraint was violated; nothing of the submission is on disk.
    Clash {
        /// Index of the command at fault; `None` if the snapshot row is refused and several commands shaped it.
        at: Option<usize>,
        /// Violated constraint as `table.column,column`.
        constraint: String,
    },
    /// A requirement of one of its commands is not met; nothing of the submission is on disk.
    Unmet {
        /// Index of the command at fault.
        at: usize,
        /// Requirement that is not met.
        requirement: Requirement,
    },
    /// The database rejected one of its values; nothing of the submission is on disk.
    BadValue {
        /// Index of the command at fault; `None` if the snapshot row is refused and several commands shaped it.
        at: Option<usize>,
    },
    /// The version on disk is not the one that the decision was based on, or a newer generation has loaded. The
    /// submission is certainly not on disk: load and decide again.
    Superseded,
    /// The connection failed during the commit, so only the version on disk can tell whether it happened.
    Lost,
}

/// Reason the store takes no commits at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unavailable {
    /// The database does not answer.
    #[error("the database does not respond")]
    Database,
    /// The disk has no room left.
    #[error("the disk is full")]
    DiskFull,
    /// The database file cannot be written.
    #[error("the database is read-only")]
    ReadOnly,
}

/// Receiver of the settlement of a submission.
///
/// The owner is notified exactly once, even after crashes. If it is dropped without a settlement, it settles itself:
/// `NotDurable` while the submission was still queued, and `Lost` once it was part of a transaction, because then the
/// outcome is unknown.
pub struct CommitOwner {
    tell: Option<Box<dyn FnOnce(Settlement) + Send>>,
    /// Set once the submission is part of a transaction.
    pub(crate) submitted: bool,
}

impl CommitOwner {
    /// Creates an owner that passes the settlement to this function, once.
    pub fn new(tell: impl FnOnce(Settlement) + Send + 'static) -> Self {
        Self { tell: Some(Box::new(tell)), submitted: false }
    }

    /// Reports the settlement of the submission to the owner.
    pub fn tell(mut self, settlement: Settlement) {
        if let Some(tell) = self.tell.take() {
            tell(settlement);
        }
    }
}

impl Drop for CommitOwner {
    fn drop(&mut self) {
        if let Some(tell) = self.tell.take() {
            tell(if self.submitted { Settlement::Lost } else { Settlement::NotDurable(Unavailable::Database) });
        }
    }
}
