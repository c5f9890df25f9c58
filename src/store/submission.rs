//! What is committed together, and what became of it.

use crate::domain::event::Event;
use crate::domain::id::Id;
use crate::domain::requirement::Requirement;
use crate::store::rows::{Audit, IdempotentAnswer, SnapshotRow, StoredRow};

/// Names an aggregate: its kind ([`crate::domain::aggregate::Aggregate::KIND`]) and its id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AggregateKey(pub &'static str, pub Id);

/// What one command writes besides the snapshot row of its aggregate.
#[derive(Debug, Default)]
pub struct CommandWrites {
    /// Rows to insert, replace or delete, and new aggregates, each at version 1.
    pub rows: Vec<Box<dyn StoredRow>>,
    /// Events for the outbox; the store gives them their numbers.
    pub events: Vec<Event>,
    /// What must hold of the rows of others once all this is written.
    pub requirements: Vec<Requirement>,
    /// The line of the audit log, unless the server itself gave the command.
    pub audit: Option<Audit>,
    /// The answer that a repeat with the same idempotency key gets.
    pub idempotent_answer: Option<IdempotentAnswer>,
}

/// One commit of one aggregate: everything its actor decided while its previous commit was under way.
///
/// A submission is durable as a whole or not at all. An actor has at most one submission in the store at a time, which
/// is why the version on disk always tells whether a lost one happened.
#[derive(Debug)]
pub struct Submission {
    /// The aggregate that commits.
    pub key: AggregateKey,
    /// The number of the actor's incarnation. A submission of an older incarnation than the one that loaded last is
    /// superseded, so that a crashed actor's late commit cannot overtake its successor.
    pub generation: u64,
    /// The aggregate's row at its next version. It is `None` when only rows are written (remembered refusals, audit
    /// lines): such a submission waits for no version.
    pub snapshot: Option<SnapshotRow>,
    /// Per command, so that a constraint that refuses one of them can name it.
    pub commands: Vec<CommandWrites>,
}

/// What became of a submission. Each owner hears exactly one of these.
///
/// The distinction that matters to the owner is whether the outcome is certain. `Durable`, `NotDurable`, `Clash`,
/// `Unmet`, `BadValue` and `Superseded` are certain, and callers can be answered. After `Lost` the owner must load the
/// aggregate and compare versions before it answers anybody.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Settlement {
    /// It is on disk.
    Durable,
    /// It is certainly not on disk, because the store is unavailable.
    NotDurable(Unavailable),
    /// A unique constraint refused it; nothing of it is on disk.
    Clash {
        /// Index of the command at fault. It is `None` when the snapshot row is refused and several commands shaped it.
        at: Option<usize>,
        /// The constraint as `table.column,column`.
        constraint: String,
    },
    /// What one of its commands relies on does not hold; nothing of it is on disk.
    Unmet {
        /// Index of the command at fault.
        at: usize,
        /// What does not hold.
        requirement: Requirement,
    },
    /// The database refused a value of it; nothing of it is on disk.
    BadValue {
        /// Index of the command at fault. It is `None` when the snapshot row is refused and several commands shaped it.
        at: Option<usize>,
    },
    /// The version on disk is not the one that was decided on, or a newer generation has loaded. It is certainly not on
    /// disk: load and decide again.
    Superseded,
    /// The connection failed during the commit, so only the version on disk can tell whether it happened.
    Lost,
}

/// Why the store takes no commits at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unavailable {
    /// The database does not answer.
    #[error("the database does not answer")]
    Database,
    /// The disk has no room left.
    #[error("the disk is full")]
    DiskFull,
    /// The database file cannot be written.
    #[error("the database cannot be written")]
    ReadOnly,
}

/// The one who waits for the settlement of a submission.
///
/// Whatever crashes, the owner is told exactly once. When it is dropped untold, it tells itself: `NotDurable` while the
/// submission still waited in a queue, and `Lost` once it was part of a transaction, because then nobody can say.
pub struct CommitOwner {
    tell: Option<Box<dyn FnOnce(Settlement) + Send>>,
    /// Set when the submission becomes part of a transaction.
    pub(crate) submitted: bool,
}

impl CommitOwner {
    /// An owner that is told by this function, once.
    pub fn new(tell: impl FnOnce(Settlement) + Send + 'static) -> Self {
        Self { tell: Some(Box::new(tell)), submitted: false }
    }

    /// Tells the owner what became of its submission.
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
