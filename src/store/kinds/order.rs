//! Storage for orders, with separate rows for jobs, attempts and payments.

use std::collections::HashMap;
use std::sync::Arc;

use sea_orm::sea_query::Condition;
use sea_orm::{ColumnTrait, DbErr};

use crate::load::{Load, LoadedAggregate, SnapshotsToLoad};
use crate::rows::{Part, RowSink, SCHEMA_NUMBER, StoredRow, WriteError, doc_row, part_row, snapshot_row, text, word};
use domain::id::Id;
use domain::job::{Attempt, Job};
use domain::order::{Order, OrderRow, Payment};
use domain::sign_off::SignOff;
use entities::{jobs, orders};

snapshot_row!(Order in orders unique number, |this, at_rest| {
    number: this.number,
    kind: word(&this.kind)?,
    status: word(&this.status)?,
    site: this.site.clone(),
    customer_email: this.customer_email.clone(),
    made_by: text(this.made_by),
    total_cents: this.total_cents,
    active: !at_rest,
    flags: this.flags.join(" "),
    payment_session: this.ledger.payment_session.clone(),
    created_at: this.created_at.0,
    updated_at: this.updated_at.0,
});
part_row!(Attempt in attempts of order_id, |this| {
    job_id: this.job_id.to_string(),
    number: i64::from(this.number),
    printer_id: this.printer_id.to_string(),
    state: word(&this.state)?,
    created_at: this.created_at.0,
    judged_end: judged(this).map(|_| this.ended_at.unwrap_or(this.created_at).0),
    parts: judged(this).map(|sign_off| i64::from(sign_off.parts)),
    good: judged(this).map(|sign_off| i64::from(sign_off.good)),
    scrap_reason: judged(this).and_then(|sign_off| sign_off.reason.clone()),
    first_pass: judged(this).map(|_| this.first_pass),
    print_ms: this.printed().then(|| print_ms(this)),
    used: this.printed().then_some(this.used.0),
    used_of: judged(this).and_then(|_| used_of(this)),
});
part_row!(Payment in payments of owner_id, |this| {
    intent: this.reference.clone().filter(|_| this.of_processor()),
    created_at: this.created_at.0,
});

doc_row!(jobs);

impl Part for Job {
    type Entity = jobs::Entity;
    const OWNER_COLUMN: Option<&'static str> = Some("order_id");

    fn owner(&self) -> Id {
        self.order_id
    }

    fn row(&self) -> Result<jobs::Model, WriteError> {
        Ok(jobs::Model {
            id: self.id.to_string(),
            schema: SCHEMA_NUMBER,
            doc: without_attempts(self)?,
            order_id: self.order_id.to_string(),
            number: self.number,
            state: word(&self.state)?,
            unsigned: self.unsigned,
            sku_id: self.sku_id.to_string(),
            material_id: self.material_id.to_string(),
            file_id: text(self.file_id),
            printer_id: text(self.printer_id),
            priority: i64::from(self.priority),
            due_at: self.due_at.map(|at| at.0),
            version: self.version,
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

/// Serialises a job without its attempts, which have their own rows. They would make up two fifths of a finished job.
fn without_attempts(job: &Job) -> Result<String, WriteError> {
    if job.attempts.is_empty() {
        return Ok(serde_json::to_string(job)?);
    }
    Ok(serde_json::to_string(&Job { attempts: Vec::new(), ..job.clone() })?)
}

/// Returns the sign-off of the parts, if the attempt's print has ended and been signed off.
fn judged(attempt: &Attempt) -> Option<&SignOff> {
    attempt.sign_off.as_ref().filter(|_| attempt.printed())
}

/// Returns the printing time, in milliseconds; 0 if it is unknown or the clock was set back meanwhile.
fn print_ms(attempt: &Attempt) -> i64 {
    attempt.took_ms().map_or(0, |took| took.max(0))
}

/// Returns the amount of each material that a print used, in thousandths of its unit, by material ID; `None` if only
/// the total is known.
fn used_of(attempt: &Attempt) -> Option<String> {
    let of = attempt.used_of.iter().map(|(material, amount)| (material.to_string(), amount.0.into()));
    let of: serde_json::Map<String, serde_json::Value> = of.collect();
    (!of.is_empty()).then(|| serde_json::Value::Object(of).to_string())
}

impl StoredRow for OrderRow {
    fn write(&self, to: &mut RowSink<'_>) -> Result<(), WriteError> {
        match self {
            Self::Job(job) => to.replace(&**job),
            Self::Attempt(attempt) => to.replace(attempt),
            Self::Payment(payment) => to.replace(payment),
        }
    }
}

impl Load for Order {
    fn resident() -> Option<Condition> {
        Some(Condition::all().add(orders::Column::Active.eq(true)))
    }

    async fn hydrate(loading: SnapshotsToLoad<'_, Self>) -> Result<Vec<LoadedAggregate<Self>>, DbErr> {
        let mut jobs = loading.parts::<Job>().await?;
        let mut attempts = loading.parts::<Attempt>().await?;
        let mut payments = loading.parts::<Payment>().await?;
        Ok(loading.complete(|id, mut order| {
            let mut of_jobs: HashMap<Id, Vec<Attempt>> = HashMap::new();
            for attempt in attempts.take(id)? {
                of_jobs.entry(attempt.job_id).or_default().push(attempt);
            }
            for job in jobs.take(id)? {
                let attempts = of_jobs.remove(&job.id).unwrap_or_default();
                order.jobs.insert_mut(job.id, Arc::new(with_attempts(job, attempts)));
            }
            order.ledger.payments = payments.take(id)?;
            order.ledger.payments.sort_by_key(|payment| (payment.created_at, payment.id));
            order.count_kept();
            order.trace_departures();
            Ok(order)
        }))
    }
}

/// Attaches the attempts to the job. Their rows replace older versions in the document of a job that an older release
/// wrote.
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
