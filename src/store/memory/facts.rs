//! What the store in memory needs to know of each kind of row: its table, its key, whose it is, and what is unique.

use crate::domain::aggregate::Row;
use crate::domain::id::Id;
use crate::store::rows::{SnapshotModel, SnapshotRow};

/// A value that no two rows share: the constraint as `table.column`, and the value.
pub(super) type Unique = (&'static str, String);

/// Facts of a snapshot row.
pub(super) struct SnapshotFacts<'a> {
    pub table: &'static str,
    pub id: &'a str,
    pub version: i64,
    pub schema: i64,
    pub doc: &'a str,
    pub unique: Option<Unique>,
}

impl<'a> SnapshotFacts<'a> {
    pub fn of(row: &'a SnapshotRow) -> Self {
        match row {
            SnapshotRow::Order(row) => Self::new(row, Some(("orders.number", row.number.to_string()))),
            SnapshotRow::Sku(row) => Self::new(row, Some(("skus.code", row.code.clone()))),
            SnapshotRow::KeptPaymentEvent(row) => Self::new(row, Some(("inbound.event_id", row.event_id.clone()))),
            SnapshotRow::Material(row) => Self::new(row, None),
            SnapshotRow::File(row) => Self::new(row, None),
            SnapshotRow::Printer(row) => Self::new(row, None),
            SnapshotRow::Endpoint(row) => Self::new(row, None),
            SnapshotRow::Mail(row) => Self::new(row, None),
            SnapshotRow::Access(row) => Self::new(row, None),
        }
    }

    fn new<M: SnapshotModel>(row: &'a M, unique: Option<Unique>) -> Self {
        let (schema, doc) = row.doc();
        Self { table: M::TABLE, id: row.key(), version: row.version(), schema, doc, unique }
    }
}

/// Facts of a row under a snapshot row.
pub(super) struct RowFacts {
    pub table: &'static str,
    pub id: String,
    /// The id of the aggregate that the row belongs to; empty for a deletion, which names the row alone.
    pub owner: String,
    pub write: RowWrite,
}

/// How a row is written.
pub(super) enum RowWrite {
    /// It must not be there yet; its key is unique.
    Insert(&'static str),
    /// It takes the place of the row with the same key.
    Replace(Vec<Unique>),
    /// It goes.
    Delete,
}

impl RowFacts {
    pub fn of(row: &Row) -> Self {
        let replace = |table, id: Id, owner: Id, unique| Self::new(table, id, owner, RowWrite::Replace(unique));
        match row {
            Row::Job(job) => replace("jobs", job.id, job.order_id, vec![]),
            Row::Attempt(attempt) => replace("attempts", attempt.id, attempt.order_id, vec![]),
            Row::Payment(payment) => {
                Self::new("payments", payment.id, payment.order_id, RowWrite::Insert("payments.id"))
            }
            Row::Movement(movement) => {
                Self::new("movements", movement.id, movement.material_id, RowWrite::Insert("movements.id"))
            }
            Row::Claim(claim) => Self::new("claims", claim.id, claim.material_id, RowWrite::Replace(vec![])),
            Row::ClaimGone(id) => Self::new("claims", id, "", RowWrite::Delete),
            Row::Delivery(delivery) => {
                let value = format!("{} {} {}", delivery.endpoint_id, delivery.event_id, delivery.replay);
                let unique = vec![("deliveries.endpoint_id,event_id,replay", value)];
                replace("deliveries", delivery.id, delivery.endpoint_id, unique)
            }
            Row::User(user) => {
                // The address of a deleted member of staff is free again.
                let unique = if user.archived { vec![] } else { vec![("users.email_key", user.email.clone())] };
                replace("users", user.id, Id::ONLY, unique)
            }
            Row::ApiKey(key) => replace("api_keys", key.id, Id::ONLY, vec![("api_keys.hash", key.hash.clone())]),
            Row::Session(session) => {
                replace("staff_sessions", session.id, Id::ONLY, vec![("staff_sessions.hash", session.hash.clone())])
            }
            Row::SessionGone(id) => Self::new("staff_sessions", id, "", RowWrite::Delete),
        }
    }

    fn new(table: &'static str, id: impl ToString, owner: impl ToString, write: RowWrite) -> Self {
        Self { table, id: id.to_string(), owner: owner.to_string(), write }
    }
}
