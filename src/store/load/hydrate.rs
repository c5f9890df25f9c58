//! What is resident of each kind, and how its rows are put back under its head.

use std::sync::Arc;

use sea_orm::sea_query::Condition;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait};

use crate::domain::access::Access;
use crate::domain::endpoint::{Delivery, Endpoint, WINDOW};
use crate::domain::file::File;
use crate::domain::job::{Attempt, Job};
use crate::domain::kept_payment_event::KeptPaymentEvent;
use crate::domain::mail::{Mail, MailState};
use crate::domain::material::{Claim, Material};
use crate::domain::order::{Order, Payment};
use crate::domain::printer::Printer;
use crate::domain::sku::Sku;
use crate::entities as e;
use crate::store::load::{Load, Loaded, Scope, gather, under};
use crate::store::queries::pending_deliveries;
use crate::store::rows::{Doc, LoadError, word};

impl Load for Order {
    fn resident() -> Option<Condition> {
        Some(Condition::all().add(e::orders::Column::Active.eq(true)))
    }

    async fn hydrate<C: ConnectionTrait>(
        db: &C,
        scope: Scope,
        mut orders: Vec<Loaded<Self>>,
    ) -> Result<Vec<Loaded<Self>>, LoadError> {
        let jobs = under::<Self>(scope, e::jobs::Column::OrderId);
        let mut jobs = gather::<e::jobs::Entity, Job, C>(db, jobs, |job| job.order_id).await?;
        let attempts = under::<Self>(scope, e::attempts::Column::OrderId);
        let mut attempts = gather::<e::attempts::Entity, Attempt, C>(db, attempts, |attempt| attempt.job_id).await?;
        let payments = under::<Self>(scope, e::payments::Column::OrderId);
        let mut payments = gather::<e::payments::Entity, Payment, C>(db, payments, |payment| payment.order_id).await?;
        for (id, _, order) in &mut orders {
            for job in jobs.remove(id).unwrap_or_default() {
                let attempts = attempts.remove(&job.id).unwrap_or_default();
                order.jobs.insert_mut(job.id, Arc::new(with_attempts(job, attempts)));
            }
            order.payments = payments.remove(id).unwrap_or_default();
            order.payments.sort_by_key(|payment| (payment.created_at, payment.id));
        }
        Ok(orders)
    }
}

/// The job with its ledger. A row is newer than its copy in the job's own doc.
pub fn with_attempts(mut job: Job, rows: Vec<Attempt>) -> Job {
    for row in rows {
        match job.attempts.iter_mut().find(|attempt| attempt.id == row.id) {
            Some(attempt) => *attempt = row,
            None => job.attempts.push(row),
        }
    }
    job.attempts.sort_by_key(|attempt| attempt.number);
    job
}

impl Load for Material {
    fn resident() -> Option<Condition> {
        Some(Condition::all().add(e::materials::Column::Active.eq(true)))
    }

    async fn hydrate<C: ConnectionTrait>(
        db: &C,
        scope: Scope,
        materials: Vec<Loaded<Self>>,
    ) -> Result<Vec<Loaded<Self>>, LoadError> {
        let claims = under::<Self>(scope, e::claims::Column::MaterialId);
        let mut claims = gather::<e::claims::Entity, Claim, C>(db, claims, |claim| claim.material_id).await?;
        let whole = |(id, version, material): Loaded<Self>| {
            (id, version, material.hydrate(claims.remove(&id).unwrap_or_default()))
        };
        Ok(materials.into_iter().map(whole).collect())
    }
}

impl Load for Endpoint {
    fn resident() -> Option<Condition> {
        Some(Condition::all().add(e::endpoints::Column::Active.eq(true)))
    }

    /// One query for each: endpoints are few, their deliveries many.
    async fn hydrate<C: ConnectionTrait>(
        db: &C,
        _: Scope,
        endpoints: Vec<Loaded<Self>>,
    ) -> Result<Vec<Loaded<Self>>, LoadError> {
        let mut whole = Vec::with_capacity(endpoints.len());
        for (id, version, endpoint) in endpoints {
            let mut rows: Vec<Delivery> = pending_deliveries(db, id, None, WINDOW as u64 + 1).await?;
            let more = rows.len() > WINDOW;
            rows.truncate(WINDOW);
            whole.push((id, version, endpoint.hydrate(rows, more)));
        }
        Ok(whole)
    }
}

impl Load for Access {
    fn resident() -> Option<Condition> {
        Some(Condition::all())
    }

    async fn hydrate<C: ConnectionTrait>(
        db: &C,
        _: Scope,
        access: Vec<Loaded<Self>>,
    ) -> Result<Vec<Loaded<Self>>, LoadError> {
        let mut whole = Vec::with_capacity(access.len());
        for (id, version, access) in access {
            let users = read_all(e::users::Entity::find().all(db).await?)?;
            let keys = read_all(e::api_keys::Entity::find().all(db).await?)?;
            let sessions = read_all(e::staff_sessions::Entity::find().all(db).await?)?;
            whole.push((id, version, access.hydrate(users, keys, sessions)));
        }
        Ok(whole)
    }
}

fn read_all<M: Doc, T: serde::de::DeserializeOwned>(rows: Vec<M>) -> Result<Vec<T>, LoadError> {
    rows.iter().map(|row| row.read().map_err(LoadError::from)).collect()
}

impl Load for Printer {
    fn resident() -> Option<Condition> {
        Some(Condition::all().add(e::printers::Column::Active.eq(true)))
    }
}

impl Load for Mail {
    fn resident() -> Option<Condition> {
        Some(Condition::all().add(e::mails::Column::State.eq(word(&MailState::Queued).ok()?)))
    }
}

impl Load for KeptPaymentEvent {
    fn resident() -> Option<Condition> {
        Some(Condition::all().add(e::inbound::Column::Done.eq(false)))
    }
}

impl Load for Sku {
    fn resident() -> Option<Condition> {
        None
    }
}

impl Load for File {
    fn resident() -> Option<Condition> {
        None
    }
}
