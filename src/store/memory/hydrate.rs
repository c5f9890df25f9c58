//! Puts the rows under a snapshot row back for the store in memory, as [`crate::store::load`] does for databases.

use super::tables::Tables;
use crate::domain::access::Access;
use crate::domain::aggregate::Row;
use crate::domain::endpoint::{Delivery, DeliveryState, Endpoint, WINDOW};
use crate::domain::file::File;
use crate::domain::id::Id;
use crate::domain::job::Attempt;
use crate::domain::kept_payment_event::KeptPaymentEvent;
use crate::domain::mail::Mail;
use crate::domain::material::Material;
use crate::domain::order::Order;
use crate::domain::printer::Printer;
use crate::domain::sku::Sku;
use crate::store::load::with_attempts;
use std::sync::Arc;

/// An aggregate that is put together from the rows of the store in memory. One without rows needs only an empty `impl`.
pub trait HydrateFromMemory: Sized {
    /// The state with the rows that stand under its snapshot row.
    #[must_use]
    fn with_rows(self, _id: Id, _tables: &Tables) -> Self {
        self
    }
}

impl HydrateFromMemory for Order {
    fn with_rows(mut self, id: Id, tables: &Tables) -> Self {
        let attempts = tables.rows_under("attempts", id).filter_map(|row| match row {
            Row::Attempt(attempt) => Some(attempt.clone()),
            _ => None,
        });
        let attempts: Vec<Attempt> = attempts.collect();
        for row in tables.rows_under("jobs", id) {
            if let Row::Job(job) = row {
                let own = attempts.iter().filter(|attempt| attempt.job_id == job.id).cloned().collect();
                self.jobs.insert_mut(job.id, Arc::new(with_attempts((**job).clone(), own)));
            }
        }
        for row in tables.rows_under("payments", id) {
            if let Row::Payment(payment) = row {
                self.payments.push(payment.clone());
            }
        }
        self.payments.sort_by_key(|payment| (payment.created_at, payment.id));
        self
    }
}

impl HydrateFromMemory for Material {
    fn with_rows(self, id: Id, tables: &Tables) -> Self {
        let claims = tables.rows_under("claims", id).filter_map(|row| match row {
            Row::Claim(claim) => Some(claim.clone()),
            _ => None,
        });
        self.hydrate(claims)
    }
}

impl HydrateFromMemory for Endpoint {
    fn with_rows(self, id: Id, tables: &Tables) -> Self {
        let mut pending = pending_deliveries(tables, id);
        let more = pending.len() > WINDOW;
        pending.truncate(WINDOW);
        self.hydrate(pending, more)
    }
}

/// An endpoint's pending deliveries, earliest first.
pub(super) fn pending_deliveries(tables: &Tables, endpoint: Id) -> Vec<Delivery> {
    let deliveries = tables.rows_under("deliveries", endpoint).filter_map(|row| match row {
        Row::Delivery(delivery) if delivery.state == DeliveryState::Pending => Some(delivery.clone()),
        _ => None,
    });
    let mut pending: Vec<_> = deliveries.collect();
    pending.sort_by_key(|delivery| (delivery.next_at, delivery.id));
    pending
}

impl HydrateFromMemory for Access {
    fn with_rows(self, id: Id, tables: &Tables) -> Self {
        let users = tables.rows_under("users", id).filter_map(|row| match row {
            Row::User(user) => Some(user.clone()),
            _ => None,
        });
        let keys = tables.rows_under("api_keys", id).filter_map(|row| match row {
            Row::ApiKey(key) => Some(key.clone()),
            _ => None,
        });
        let sessions = tables.rows_under("staff_sessions", id).filter_map(|row| match row {
            Row::Session(session) => Some(session.clone()),
            _ => None,
        });
        self.hydrate(users, keys, sessions)
    }
}

impl HydrateFromMemory for Sku {}
impl HydrateFromMemory for File {}
impl HydrateFromMemory for Printer {}
impl HydrateFromMemory for Mail {}
impl HydrateFromMemory for KeptPaymentEvent {}
