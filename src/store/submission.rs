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
    /// Rows to insert, replace or delete, and new aggregates, each at version 1.
    pub rows: Vec<Box<dyn StoredRow>>,
    /// Events for the outbox; the store assigns their numbers.
    pub events: Vec<Event>,
    /// Requirements on other aggregates' rows, checked after everything else has been written.
    pub requirements: Vec<Requirement>,
    /// Audit log entry; `None` for the server's own commands.
    pub audit: Option<Audit>,
    /// Response to store for retries with the same idempotency key.
    pub idempotent_answer: Option<IdempotentAnswer>,
}

/// Aggregate commit, with everything that the aggregate's actor decided while the previous commit was in flight.
///
/// A submission becomes durable as a whole or not at all. An actor has at most one submission in the store at a time,
/// so the version on disk always shows whether a lost submission was committed.
#[derive(Debug)]
pub struct Submission {
    /// Aggregate that the commit belongs to.
    pub key: AggregateKey,
    /// Generation of the actor. A submission from a generation older than the last one loaded is superseded, so that a
    /// late commit from a crashed actor cannot overtake commits of the actor's successor.
    pub generation: u64,
    /// The aggregate's snapshot row at its next version; `None` if only other rows are written (stored rejections,
    /// audit log entries). A submission without a snapshot row has no version guard.
    pub snapshot: Option<SnapshotRow>,
    /// Writes of each command, so that a violated constraint can be attributed to a command.
    pub commands: Vec<CommandWrites>,
}

/// Outcome of a submission. Each owner receives exactly one settlement.
///
/// The owner needs to know whether the outcome is certain. `Durable`, `NotDurable`, `Clash`, `Unmet`, `BadValue` and
/// `Superseded` are certain, so the owner can respond to callers. After `Lost`, the owner must load the aggregate and
/// compare versions before it can respond to any caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Settlement {
    /// The submission is on disk.
    Durable,
    /// The submission is definitely not on disk, because the store is unavailable.
    NotDurable(Unavailable),
    /// A unique constraint is violated; no part of the submission is on disk.
    Clash {
        /// Index of the command that caused the violation; `None` if the snapshot row was rejected and several commands
        /// contributed to it.
        at: Option<usize>,
        /// Violated constraint, in the form `table.column,column`.
        constraint: String,
    },
    /// A requirement of a command is not met; no part of the submission is on disk.
    Unmet {
        /// Index of the command whose requirement is not met.
        at: usize,
        /// Unmet requirement.
        requirement: Requirement,
    },
    /// The database rejected a value; no part of the submission is on disk.
    BadValue {
        /// Index of the command that caused the rejection; `None` if the snapshot row was rejected and several commands
        /// contributed to it.
        at: Option<usize>,
    },
    /// The version on disk is not the one that the decision was based on, or a newer generation has been loaded. The
    /// submission is definitely not on disk; the aggregate must be loaded again and the commands decided again.
    Superseded,
    /// The connection failed during the commit, so only the version on disk shows whether the submission was committed.
    Lost,
}

/// Reason that the store currently accepts no commits.
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

/// Receiver of a submission's settlement.
///
/// The owner is notified exactly once, even after crashes. If it is dropped before a settlement, it settles itself: as
/// `NotDurable` if the submission was still queued, and as `Lost`, because the outcome is unknown, if the submission
/// was already part of a transaction.
pub struct CommitOwner {
    tell: Option<Box<dyn FnOnce(Settlement) + Send>>,
    /// `true` once the submission is part of a transaction.
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
