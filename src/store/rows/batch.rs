//! Everything that one transaction writes, gathered table by table.

use crate::domain::aggregate::{Created, Row};
use crate::domain::event::Event;
use crate::entities as e;
use crate::store::rows::WriteError;
use crate::store::rows::map::{Snapshot, SnapshotRow, ToRow};
use crate::store::rows::plain::{Audit, IdempotentAnswer, audit_row, event_row, idempotency_row};
use crate::store::rows::statement::{write_heads, write_new, write_rows};
use sea_orm::ConnectionTrait;

/// Rows by key in the order they were pushed; `None` deletes.
type Log<M> = Vec<(String, Option<M>)>;

/// What one transaction writes.
#[derive(Default, Debug)]
pub struct Batch {
    orders: Vec<e::orders::Model>,
    materials: Vec<e::materials::Model>,
    skus: Vec<e::skus::Model>,
    files: Vec<e::files::Model>,
    printers: Vec<e::printers::Model>,
    endpoints: Vec<e::endpoints::Model>,
    mails: Vec<e::mails::Model>,
    inbound: Vec<e::inbound::Model>,
    access: Vec<e::access::Model>,
    jobs: Log<e::jobs::Model>,
    attempts: Log<e::attempts::Model>,
    payments: Vec<e::payments::Model>,
    movements: Vec<e::movements::Model>,
    claims: Log<e::claims::Model>,
    deliveries: Log<e::deliveries::Model>,
    users: Log<e::users::Model>,
    api_keys: Log<e::api_keys::Model>,
    sessions: Log<e::staff_sessions::Model>,
    events: Vec<e::events::Model>,
    audit: Vec<e::audit::Model>,
    idempotency: Vec<e::idempotency::Model>,
}

impl Batch {
    /// The next version of a head.
    pub fn push_snapshot(&mut self, snapshot: SnapshotRow) {
        match snapshot {
            SnapshotRow::Order(row) => self.orders.push(row),
            SnapshotRow::Material(row) => self.materials.push(row),
            SnapshotRow::Sku(row) => self.skus.push(row),
            SnapshotRow::File(row) => self.files.push(row),
            SnapshotRow::Printer(row) => self.printers.push(row),
            SnapshotRow::Endpoint(row) => self.endpoints.push(row),
            SnapshotRow::Mail(row) => self.mails.push(row),
            SnapshotRow::KeptPaymentEvent(row) => self.inbound.push(row),
            SnapshotRow::Access(row) => self.access.push(row),
        }
    }

    /// A changed row.
    pub fn push_row(&mut self, row: &Row) -> Result<(), WriteError> {
        match row {
            Row::Job(job) => self.jobs.push((job.id.to_string(), Some(job.row()?))),
            Row::Attempt(attempt) => self.attempts.push((attempt.id.to_string(), Some(attempt.row()?))),
            Row::Payment(payment) => self.payments.push(payment.row()?),
            Row::Movement(movement) => self.movements.push(movement.row()?),
            Row::Claim(claim) => self.claims.push((claim.id.to_string(), Some(claim.row()?))),
            Row::ClaimGone(id) => self.claims.push((id.to_string(), None)),
            Row::Delivery(delivery) => self.deliveries.push((delivery.id.to_string(), Some(delivery.row()?))),
            Row::User(user) => self.users.push((user.id.to_string(), Some(user.row()?))),
            Row::ApiKey(key) => self.api_keys.push((key.id.to_string(), Some(key.row()?))),
            Row::Session(session) => self.sessions.push((session.id.to_string(), Some(session.row()?))),
            Row::SessionGone(id) => self.sessions.push((id.to_string(), None)),
        }
        Ok(())
    }

    /// Another thing, at version 1.
    pub fn push_created(&mut self, created: &Created) -> Result<(), WriteError> {
        match created {
            Created::Mail(mail) => self.push_snapshot(mail.snapshot(mail.id, 1, false)?),
        }
        Ok(())
    }

    /// What happened, under the writer's number.
    pub fn push_event(&mut self, seq: i64, event: &Event) -> Result<(), WriteError> {
        self.events.push(event_row(seq, event)?);
        Ok(())
    }

    /// A line of the audit log.
    pub fn push_audit(&mut self, line: Audit) {
        self.audit.push(audit_row(line));
    }

    /// What a key is answered from now on.
    pub fn push_idempotency(&mut self, answered: IdempotentAnswer) {
        self.idempotency.push(idempotency_row(answered));
    }

    /// Writes it all. After an error the transaction is to be rolled back (to its savepoint).
    pub async fn write(self, tx: &impl ConnectionTrait) -> Result<(), WriteError> {
        write_heads(tx, self.orders).await?;
        write_heads(tx, self.materials).await?;
        write_heads(tx, self.skus).await?;
        write_heads(tx, self.files).await?;
        write_heads(tx, self.printers).await?;
        write_heads(tx, self.endpoints).await?;
        write_heads(tx, self.mails).await?;
        write_heads(tx, self.inbound).await?;
        write_heads(tx, self.access).await?;
        write_rows(tx, self.jobs).await?;
        write_rows(tx, self.attempts).await?;
        write_new(tx, self.payments).await?;
        write_new(tx, self.movements).await?;
        write_rows(tx, self.claims).await?;
        write_rows(tx, self.deliveries).await?;
        write_rows(tx, self.users).await?;
        write_rows(tx, self.api_keys).await?;
        write_rows(tx, self.sessions).await?;
        write_new(tx, self.events).await?;
        write_new(tx, self.audit).await?;
        write_new(tx, self.idempotency).await
    }
}
