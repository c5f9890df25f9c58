//! Queries for rules and effects on the in-memory tables. They scan whole tables, because simulations are small.

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::{MemoryStore, Tables};
use crate::event_filter::EventFilter;
use crate::port::DomainQueries;
use crate::rows::{Doc, IdempotentAnswer, LoadError};
use domain::aggregate::LastNumbers;
use domain::endpoint::{Delivery, DeliveryState, ReplayProgress};
use domain::event::{self, NumberedEvent};
use domain::forecast::ObservedPrint;
use domain::id::Id;
use domain::invoice::IssuedDocument;
use domain::job::{Attempt, AttemptState, Job};
use domain::material::Movement;
use domain::order::{Order, OrderStatus, Payment};
use domain::promise::Promise;
use domain::time::Timestamp;
use entities::{customers, invoices, orders, quotes};

impl Tables {
    fn orders(&self) -> impl Iterator<Item = &orders::Model> {
        self.models_of()
    }

    fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.parts()
    }

    /// Returns all attempts at jobs, oldest first.
    pub fn attempts(&self) -> impl Iterator<Item = &Attempt> {
        self.parts()
    }

    /// Returns the stock ledger of a material, oldest entry first.
    pub fn movements(&self, material: Id) -> impl Iterator<Item = &Movement> {
        self.parts_under::<Movement>(material)
    }

    /// Returns the order that a job belongs to.
    pub(crate) fn order_of_job(&self, job: Id) -> Option<Id> {
        self.jobs().find(|one| one.id == job).map(|one| one.order_id)
    }

    /// Returns the ID, in its stored form, of the customer with the given normalised email address; `None` if there is
    /// none.
    pub(crate) fn customer_by_email(&self, email: &str) -> Option<String> {
        self.models_of::<customers::Model>().find(|one| one.email == email).map(|one| one.id.clone())
    }

    /// Returns the issued document with the given ID.
    pub(crate) fn issued_document(&self, id: Id) -> Option<&IssuedDocument> {
        self.parts::<IssuedDocument>().find(|one| one.id == id)
    }

    /// Returns an endpoint's deliveries, lowest ID first, for simulations.
    pub fn deliveries(&self, endpoint: Id) -> impl Iterator<Item = &Delivery> {
        self.parts_under(endpoint)
    }

    /// Returns an endpoint's pending deliveries, earliest first.
    pub(crate) fn pending_deliveries(&self, endpoint: Id) -> Vec<Delivery> {
        let deliveries = self.parts_under::<Delivery>(endpoint);
        let mut pending: Vec<_> = deliveries.filter(|row| row.state == DeliveryState::Pending).cloned().collect();
        pending.sort_by_key(|delivery| (delivery.next_at, delivery.id));
        pending
    }
}

#[async_trait]
impl DomainQueries for MemoryStore {
    async fn owner_of_session(&self, session: &str) -> Result<Option<Id>, LoadError> {
        let tables = self.tables();
        let order = tables.orders().filter(|order| order.payment_session.as_deref() == Some(session)).last();
        let of_it = |one: &&invoices::Model| one.payment_session.as_deref() == Some(session);
        let invoice = tables.models_of::<invoices::Model>().filter(of_it).last();
        let id = order.map(|order| &order.id).or(invoice.map(|invoice| &invoice.id));
        Ok(id.and_then(|id| id.parse().ok()))
    }

    async fn owner_of_intent(&self, intent: &str) -> Result<Option<Id>, LoadError> {
        let tables = self.tables();
        let of_it = |one: &&Payment| one.of_processor() && one.reference.as_deref() == Some(intent);
        Ok(tables.parts::<Payment>().filter(of_it).max_by_key(|one| one.id).map(|one| one.owner_id))
    }

    async fn events_after(&self, seq: i64, filter: &EventFilter, limit: u64) -> Result<Vec<NumberedEvent>, LoadError> {
        let matches = |numbered: &NumberedEvent| {
            let event = &numbered.event;
            (filter.events.is_empty() || filter.events.contains(&event.event))
                && filter.subject_kind.as_ref().is_none_or(|kind| *kind == event.subject_kind)
                && filter.subject_id.is_none_or(|id| id == event.subject_id)
        };
        Ok(self.tables().events_after(seq).filter(matches).take(to_usize(limit)).collect())
    }

    async fn pending_deliveries(
        &self,
        endpoint: Id,
        after: Option<(Timestamp, Id)>,
        limit: u64,
    ) -> Result<Vec<Delivery>, LoadError> {
        let pending = self.tables().pending_deliveries(endpoint).into_iter();
        let later = pending.filter(|delivery| after.is_none_or(|after| (delivery.next_at, delivery.id) > after));
        Ok(later.take(to_usize(limit)).collect())
    }

    async fn past_deliveries(
        &self,
        endpoint: Id,
        replaying: &ReplayProgress,
        limit: u64,
    ) -> Result<Vec<Delivery>, LoadError> {
        let tables = self.tables();
        let past = tables.parts_under::<Delivery>(endpoint);
        let due = |delivery: &&Delivery| {
            delivery.replay == 0
                && delivery.state != DeliveryState::Pending
                && delivery.event != event::TEST
                && (replaying.since..=replaying.upto).contains(&delivery.created_at)
                && replaying.after.is_none_or(|after| (delivery.created_at, delivery.id) > after)
        };
        let mut past: Vec<_> = past.filter(due).cloned().collect();
        past.sort_by_key(|delivery| (delivery.created_at, delivery.id));
        past.truncate(to_usize(limit));
        Ok(past)
    }

    async fn idempotent_answer(&self, key: &str) -> Result<Option<IdempotentAnswer>, LoadError> {
        Ok(self.tables().idempotent_answer(key).cloned())
    }

    async fn finished_prints(&self, limit: u64) -> Result<Vec<ObservedPrint>, LoadError> {
        let tables = self.tables();
        let jobs: BTreeMap<Id, &Job> = tables.jobs().map(|job| (job.id, job)).collect();
        let mut finished: Vec<&Attempt> =
            tables.parts::<Attempt>().filter(|attempt| attempt.state == AttemptState::Finished).collect();
        finished.sort_by_key(|attempt| attempt.id);
        let newest = &finished[finished.len().saturating_sub(to_usize(limit))..];
        let prints = newest.iter().filter_map(|attempt| {
            let job = jobs.get(&attempt.job_id)?;
            ObservedPrint::of(attempt, job.file_id, job.estimated_seconds)
        });
        Ok(prints.collect())
    }

    async fn met_promises(&self, limit: u64) -> Result<Vec<(Id, Promise)>, LoadError> {
        let tables = self.tables();
        let mut over = Vec::new();
        for row in tables.orders() {
            let order: Order = row.read()?;
            if matches!(order.status, OrderStatus::Ready | OrderStatus::Shipped) {
                over.push(order);
            }
        }
        over.sort_by_key(|order| (order.created_at, order.id));
        let mut newest = over.split_off(over.len().saturating_sub(to_usize(limit)));
        newest.sort_by_key(|order| (order.updated_at, order.id));
        let met = newest.iter().filter_map(|order| {
            let promise = order.promise.filter(|promise| promise.met_at.is_some())?;
            Some((order.id, promise))
        });
        Ok(met.collect())
    }

    async fn highest_numbers(&self) -> Result<LastNumbers, LoadError> {
        let tables = self.tables();
        let order = tables.orders().map(|order| order.number).max();
        let job = tables.jobs().map(|job| job.number).max();
        let quote = tables.models_of::<quotes::Model>().map(|quote| quote.number).max();
        Ok(LastNumbers { order: order.unwrap_or(0), job: job.unwrap_or(0), quote: quote.unwrap_or(0) })
    }
}

fn to_usize(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::outbox::Outbox;
    use crate::queries::Queries;
    use crate::rows::{RowSink, StoredRow as _};
    use domain::invoice::InvoiceRow;
    use domain::testing::invoices::document;

    #[tokio::test]
    async fn documents_of_emails_are_read_from_memory() {
        let mut tables = Tables::default();
        let issued = document(&[(1250, 2, 1900)], 0, 0);
        InvoiceRow::Issued(Box::new(issued.clone())).write(&mut RowSink::memory(&mut tables)).unwrap();
        let queries = Queries::of_memory(MemoryStore::with_tables(tables, Outbox::new(0)));
        assert_eq!(queries.document(issued.id).await.unwrap().unwrap().number, 1);
        let numbers = queries.document_numbers(&[issued.id]).await.unwrap();
        assert!(numbers[&issued.id].ends_with("-000001"), "{numbers:?}");
    }
}
