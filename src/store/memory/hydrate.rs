//! Puts the rows under a snapshot row back for the store in memory, as [`crate::store::load`] does for databases.

use std::sync::Arc;

use super::tables::Tables;
use crate::domain::access::Access;
use crate::domain::endpoint::{Delivery, DeliveryState, Endpoint, WINDOW};
use crate::domain::file::File;
use crate::domain::id::Id;
use crate::domain::job::{Attempt, Job};
use crate::domain::kept_payment_event::KeptPaymentEvent;
use crate::domain::mail::Mail;
use crate::domain::material::Material;
use crate::domain::order::Order;
use crate::domain::printer::Printer;
use crate::domain::sku::Sku;
use crate::store::load::with_attempts;

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
        let attempts: Vec<Attempt> = tables.rows_under("attempts", id).cloned().collect();
        for job in tables.rows_under::<Job>("jobs", id) {
            let own = attempts.iter().filter(|attempt| attempt.job_id == job.id).cloned().collect();
            self.jobs.insert_mut(job.id, Arc::new(with_attempts(job.clone(), own)));
        }
        self.payments.extend(tables.rows_under("payments", id).cloned());
        self.payments.sort_by_key(|payment| (payment.created_at, payment.id));
        self
    }
}

impl HydrateFromMemory for Material {
    fn with_rows(self, id: Id, tables: &Tables) -> Self {
        self.hydrate(tables.rows_under("claims", id).cloned())
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
    let deliveries = tables.rows_under::<Delivery>("deliveries", endpoint);
    let mut pending: Vec<_> = deliveries.filter(|row| row.state == DeliveryState::Pending).cloned().collect();
    pending.sort_by_key(|delivery| (delivery.next_at, delivery.id));
    pending
}

impl HydrateFromMemory for Access {
    fn with_rows(self, id: Id, tables: &Tables) -> Self {
        let users = tables.rows_under("users", id).cloned();
        let keys = tables.rows_under("api_keys", id).cloned();
        let sessions = tables.rows_under("staff_sessions", id).cloned();
        self.hydrate(users, keys, sessions)
    }
}

impl HydrateFromMemory for Sku {}
impl HydrateFromMemory for File {}
impl HydrateFromMemory for Printer {}
impl HydrateFromMemory for Mail {}
impl HydrateFromMemory for KeptPaymentEvent {}
