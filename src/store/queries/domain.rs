//! Queries for rules and effects, on the read pool.

use async_trait::async_trait;

use super::{EventFilter, Queries};
use crate::port::DomainQueries;
use crate::rows::{IdempotentAnswer, LoadError};
use domain::aggregate::LastNumbers;
use domain::endpoint::{Delivery, ReplayProgress};
use domain::event::NumberedEvent;
use domain::forecast::ObservedPrint;
use domain::id::Id;
use domain::promise::Promise;
use domain::time::Timestamp;

#[async_trait]
impl DomainQueries for Queries {
    async fn owner_of_session(&self, session: &str) -> Result<Option<Id>, LoadError> {
        self.owner_of_session(session).await
    }
    async fn owner_of_intent(&self, intent: &str) -> Result<Option<Id>, LoadError> {
        self.owner_of_intent(intent).await
    }
    async fn events_after(&self, seq: i64, filter: &EventFilter, limit: u64) -> Result<Vec<NumberedEvent>, LoadError> {
        self.events_after(seq, filter, limit).await
    }
    async fn pending_deliveries(
        &self,
        endpoint: Id,
        after: Option<(Timestamp, Id)>,
        limit: u64,
    ) -> Result<Vec<Delivery>, LoadError> {
        self.pending_deliveries(endpoint, after, limit).await
    }
    async fn past_deliveries(
        &self,
        endpoint: Id,
        replaying: &ReplayProgress,
        limit: u64,
    ) -> Result<Vec<Delivery>, LoadError> {
        self.past_deliveries(endpoint, replaying, limit).await
    }
    async fn idempotent_answer(&self, key: &str) -> Result<Option<IdempotentAnswer>, LoadError> {
        self.idempotency(key).await
    }
    async fn finished_prints(&self, limit: u64) -> Result<Vec<ObservedPrint>, LoadError> {
        self.finished_prints(limit).await
    }
    async fn met_promises(&self, limit: u64) -> Result<Vec<(Id, Promise)>, LoadError> {
        self.met_promises(limit).await
    }
    async fn highest_numbers(&self) -> Result<LastNumbers, LoadError> {
        self.highest_numbers().await
    }
}
