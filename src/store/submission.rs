//! Submissions, the unit of commit, and their settlements.

use crate::rows::{Audit, IdempotentAnswer, SnapshotRow, StoredRow};
use domain::event::Event;
use domain::id::Id;
use domain::requirement::Requirement;

/// Identity of an aggregate: its kind ([`domain::aggregate::Aggregate::KIND`]) and ID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AggregateKey(pub &'static str, pub Id);

/// Rows that a command writes in addition to its aggregate's snapshot row.
#[derive(Debug, Default)]
pub struct CommandWrites {
    /// Rows to be inserted, replaced or deleted, and new aggregates, each at version 1.
    pub rows: Vec<Box<dyn StoredRow>>,
    /// Events for the outbox; their numbers are assigned by the store.
    pub events: Vec<Event>,
    /// Requirements on the rows of other aggregates, checked after everything else has been written.
    pub requirements: Vec<Requirement>,
    /// Audit log entry; `None` for the server's own commands.
    pub audit: Option<Audit>,
    /// Answer to be stored for retries with the same idempotency key.
    pub idempotent_answer: Option<IdempotentAnswer>,
}

/// Commit of an aggregate, with everything that the aggregate's actor decided while the previous commit was in flight.
///
/// A submission becomes durable as a whole or not at all. An actor has at most one submission in the store at a time,
/// so the version on disk always shows whether a lost submission was committed.
#[derive(Debug)]
pub struct Submission {
    /// Aggregate to which the commit belongs.
    pub key: AggregateKey,
    /// Generation of the actor. A submission from an older generation than the last one loaded is superseded, so that a
    /// late commit from a crashed actor cannot overtake those of the actor's successor.
    pub generation: u64,
    /// Snapshot row of the aggregate at its next version; `None` if only other rows are written (stored refusals, audit
    /// log entries). A submission without a snapshot row has no version guard.
    pub snapshot: Option<SnapshotRow>,
    /// Writes of each command, so that a violated constraint can be attributed to one of them.
    pub commands: Vec<CommandWrites>,
}

/// Outcome of a submission. Each owner receives exactly one settlement.
///
/// What matters to the owner is whether the outcome is certain. `Durable`, `NotDurable`, `Clash`, `Unmet`, `BadValue`
/// and `Superseded` are certain, so callers can be answered. After `Lost`, the owner must load the aggregate and
/// compare versions before it can answer any caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Settlement {
    /// The submission is on disk.
    Durable,
    /// The submission is certainly not on disk, because the store is unavailable.
    NotDurable(Unavailable),
    /// A unique constraint is violated; no part of the submission is on disk.
    Clash {
        /// Index of the command at fault; `None` if the snapshot row was rejected and several commands contributed to
        /// it.
        at: Option<usize>,
        /// Violated constraint as `table.column,column`.
        constraint: String,
    },
    /// A requirement of a command is not met; no part of the submission is on disk.
    Unmet {
        /// Index of the command at fault.
        at: usize,
        /// Requirement that is not met.
        requirement: Requirement,
    },
    /// The database rejected a value; no part of the submission is on disk.
    BadValue {
        /// Index of the command at fault; `None` if the snapshot row was rejected and several commands contributed to
        /// it.
        at: Option<usize>,
    },
    /// The version on disk is not the one on which the decision was based, or a newer generation has been loaded. The
    /// submission is certainly not on disk; the aggregate must be loaded again and the commands decided again.
    Superseded,
    /// The connection failed during the commit, so only the version on disk shows whether the submission was committed.
    Lost,
}

/// Reason the store currently accepts no commits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unavailable {
    /// The database does not respond.
    #[error("the database does not respond")]
    Database,
    /// The disk has no space left.
    #[error("the disk is full")]
    DiskFull,
    /// The database file cannot be written.
    #[error("the database is read-only")]
    ReadOnly,
}

/// Receiver of the settlement of a submission.
///
/// The owner is notified exactly once, even after crashes. If it is dropped without a settlement, it settles itself: as
/// `NotDurable` if the submission was still queued, and as `Lost` if it was already part of a transaction, so that the
/// outcome is unknown.
pub struct CommitOwner {
    tell: Option<Box<dyn FnOnce(Settlement) + Send>>,
    /// Set once the submission is part of a transaction.
    pub(crate) submitted: bool,
}

impl CommitOwner {
    /// Creates an owner that passes the settlement to the given function, once.
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
