//! Store, which makes commits durable and loads aggregates.
//!
//! Actors, effects and the dispatcher use the store only through [`Store`], which builds on the traits of `port`. Two
//! implementations have the same contract, and the same tests run against both: the [`writer`], which writes to SQLite
//! or PostgreSQL, and [`memory`], which holds all data in ordered maps for deterministic simulations.
//!
//! The store contains no business rules. It writes the results of decisions, numbers events in commit order, and
//! reports each commit's outcome exactly once to the owner of the commit.

pub mod audit_log;
pub mod connect;
pub mod copy;
mod event_filter;
pub mod event_follower;
pub mod followers;
mod kinds;
pub mod lease;
pub mod load;
pub mod memory;
mod meter;
pub mod ordered_work;
pub mod outbox;
mod port;
pub mod queries;
pub mod reader;
pub mod recount;
mod requirements;
pub mod restoring;
pub mod rows;
pub mod secret_checks;
pub mod secret_rotation;
pub mod start_check;
pub mod stored_shop;
mod submission;
mod tables;
mod transaction;
pub mod trial;
mod value_errors;
pub mod writer;

pub use port::{CommitLog, DomainQueries};
pub use submission::{AggregateKey, CommandWrites, CommitOwner, Settlement, Submission, Unavailable};

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::load::Load;
use crate::ordered_work::{LoadAnswer, OrderedWork};
use crate::reader::Reader;
use crate::rows::{Audit, Snapshot, StoredRow};
use domain::aggregate::Aggregate;
use domain::id::Id;
use domain::time::Timestamp;
use platform::shared::Shared;

/// Aggregate that every implementation of the store can write and load.
pub trait StoredAggregate: Aggregate<Row: StoredRow, Created: StoredRow> + Snapshot + Load {}
impl<T: Aggregate<Row: StoredRow, Created: StoredRow> + Snapshot + Load> StoredAggregate for T {}

/// Handle that actors, effects and the dispatcher use the store through.
///
/// It adds typed methods, which a trait object cannot have, to the object-safe traits in `port`. Cloning it increments
/// one reference count, and a commit is one virtual call, so the cost on the hot path is not measurable. It remains
/// valid when the writer crashes and is restarted, because it is then redirected to the new writer.
#[derive(Clone)]
pub struct Store(Shared<StoreParts>);

struct StoreParts {
    commits: Box<dyn CommitLog>,
    reader: Reader,
    queries: Box<dyn DomainQueries>,
}

impl Store {
    /// Assembles a store from a commit log, a reader outside the commit order, and the queries for rules and effects.
    /// All three must operate on the same data.
    pub fn new(commits: impl CommitLog, reader: Reader, queries: impl DomainQueries) -> Self {
        Self(Shared::new(StoreParts { commits: Box::new(commits), reader, queries: Box::new(queries) }))
    }

    /// Queues a commit. The outcome is reported to the owner exactly once, even after a crash.
    pub fn commit(&self, submission: Submission, owner: CommitOwner) {
        self.0.commits.commit(Box::new(submission), owner);
    }

    /// Queues audit log entries that do not belong to a change, such as those for rejected attempts and backups.
    /// Entries that cannot be written are lost, and a warning is logged.
    pub fn note(&self, lines: Vec<Audit>) {
        if lines.is_empty() {
            return;
        }
        let commands = lines.into_iter().map(|line| CommandWrites { audit: Some(line), ..CommandWrites::default() });
        let submission = Submission {
            key: AggregateKey("audit", Id::ONLY),
            generation: 0,
            snapshot: None,
            commands: commands.collect(),
        };
        let owner = CommitOwner::new(|settlement| {
            if settlement != Settlement::Durable {
                tracing::warn!(?settlement, "cannot write lines of the audit log");
            }
        });
        self.commit(submission, owner);
    }

    /// Queues a load. The result includes every commit queued before it. Once the load has run, commits from older
    /// generations of the same aggregate are superseded.
    pub fn load<T: StoredAggregate>(
        &self,
        key: AggregateKey,
        generation: u64,
        back: impl FnOnce(LoadAnswer<T>) + Send + 'static,
    ) {
        self.0.commits.run_in_order(OrderedWork::load::<T>(key, generation, back));
    }

    /// Deletes rows whose retention period has ended as of `now`, between transactions. Measures the time with `clock`,
    /// whatever the wall clock says, and stops before commits have to wait long. Returns whether another call may find
    /// more; also `false` if none can be deleted. `turn` is the number of calls since the last one that returned
    /// `false`.
    pub async fn run_retention(
        &self,
        now: Timestamp,
        turn: usize,
        clock: impl Fn() -> Instant + Send + Sync + 'static,
    ) -> bool {
        let (back, has_more) = oneshot::channel();
        self.0.commits.run_in_order(OrderedWork::retention(now, turn, clock, back));
        has_more.await.unwrap_or(false)
    }

    /// Forgets the generation of an aggregate. Must be called after the aggregate's actor has been unloaded.
    pub fn forget(&self, key: AggregateKey) {
        self.0.commits.forget(key);
    }

    /// Returns the reader that reads aggregates in their current state on disk, outside the commit order.
    pub fn reader(&self) -> &Reader {
        &self.0.reader
    }

    /// Returns the queries for rules and effects.
    pub fn queries(&self) -> &dyn DomainQueries {
        &*self.0.queries
    }
}
