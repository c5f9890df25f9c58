//! Port of the store: object-safe traits with everything that actors, rules and effects need from the store.
//!
//! The contract, which `tests/it/store/contract.rs` checks for every implementation:
//! - Commits and loads take effect in the order in which they were queued.
//! - Submissions that are queued together may become one transaction, but each is settled separately: a rejected one
//!   does not affect the others.
//! - A snapshot row only replaces the version directly before it, and a submission from a generation older than its
//!   aggregate's last load is superseded.
//! - Events are numbered without gaps in commit order, and are in the outbox before the owner receives `Durable`.
//! - Idempotency keys are unique; a second response for a key is a clash that identifies its command.

use async_trait::async_trait;

use crate::event_filter::EventFilter;
use crate::ordered_work::OrderedWork;
use crate::rows::{IdempotentAnswer, LoadError};
use crate::{AggregateKey, CommitOwner, Submission};
use domain::aggregate::LastNumbers;
use domain::endpoint::{Delivery, ReplayProgress};
use domain::event::NumberedEvent;
use domain::forecast::ObservedPrint;
use domain::id::Id;
use domain::promise::Promise;
use domain::time::Timestamp;

/// Maximum number of commits and loads per transaction. Limits its duration and memory use.
pub(crate) const MAX_COMMITS_PER_TRANSACTION: usize = 1024;

/// Number of times that a store yields to the callers it has just responded to before it starts the next transaction,
/// so that their next commits can become part of it.
pub(crate) const YIELDS_BEFORE_BATCH: usize = 2;

/// Log that accepts commits and reads in a single order. No method waits: results arrive through the given callbacks.
pub trait CommitLog: Send + Sync + 'static {
    /// Queues a commit; the outcome is reported to the owner.
    fn commit(&self, submission: Box<Submission>, owner: CommitOwner);
    /// Queues a load, or a deletion of old rows, after all work already queued.
    fn run_in_order(&self, work: OrderedWork);
    /// Forgets the generation of an aggregate whose actor has been unloaded.
    fn forget(&self, key: AggregateKey);
}

/// Queries for rules and effects. Results may be one commit behind the actors, but never ahead of the disk. They are
/// always in the order documented for the method.
#[async_trait]
pub trait DomainQueries: Send + Sync + 'static {
    /// Returns the order, or the invoice without an order, that the given checkout session belongs to.
    async fn owner_of_session(&self, session: &str) -> Result<Option<Id>, LoadError>;
    /// Returns the order, or the invoice without an order, that has a payment with the given payment intent.
    async fn owner_of_intent(&self, intent: &str) -> Result<Option<Id>, LoadError>;
    /// Returns at most `limit` events with numbers above `seq`, lowest number first.
    async fn events_after(&self, seq: i64, filter: &EventFilter, limit: u64) -> Result<Vec<NumberedEvent>, LoadError>;
    /// Returns at most `limit` of an endpoint's pending deliveries that come after the given time and ID, earliest
    /// first.
    async fn pending_deliveries(
        &self,
        endpoint: Id,
        after: Option<(Timestamp, Id)>,
        limit: u64,
    ) -> Result<Vec<Delivery>, LoadError>;
    /// Returns at most `limit` of the deliveries that a replay must send again, oldest first.
    async fn past_deliveries(
        &self,
        endpoint: Id,
        replaying: &ReplayProgress,
        limit: u64,
    ) -> Result<Vec<Delivery>, LoadError>;
    /// Returns the response stored for an idempotency key. The retention period may have ended even though the row has
    /// not been deleted yet.
    async fn idempotent_answer(&self, key: &str) -> Result<Option<IdempotentAnswer>, LoadError>;
    /// Returns at most `limit` of the newest finished prints, oldest first.
    async fn finished_prints(&self, limit: u64) -> Result<Vec<ObservedPrint>, LoadError>;
    /// Returns the promises of ready or shipped orders, for at most `limit` of the newest such orders, oldest change
    /// first. Omits orders without a promise, or with one that is not met yet.
    async fn met_promises(&self, limit: u64) -> Result<Vec<(Id, Promise)>, LoadError>;
    /// Returns the highest number issued in each series; 0 if none has been issued.
    async fn highest_numbers(&self) -> Result<LastNumbers, LoadError>;
}
