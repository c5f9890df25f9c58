//! How each row is kept in memory: its table, its key, whose it is, and what is unique.

use std::any::Any;
use std::convert::Infallible;
use std::sync::Arc;

use crate::domain::access::AccessRow;
use crate::domain::endpoint::Delivery;
use crate::domain::id::Id;
use crate::domain::mail::Mail;
use crate::domain::material::MaterialRow;
use crate::domain::order::OrderRow;
use crate::store::rows::{Snapshot, SnapshotRow, WriteError};

/// A value that no two rows share: the constraint as `table.column`, and the value.
pub(super) type Unique = (&'static str, String);

/// The domain value of a row, with its type erased. Whoever reads a table knows the type of its rows.
pub(super) type RowValue = Arc<dyn Any + Send + Sync>;

/// A row that the store in memory can keep, the counterpart of what [`crate::store::rows::StoredRow`] adds to a batch.
pub trait ToMemory {
    /// What it is in memory.
    fn to_memory(&self) -> Result<MemoryWrite, WriteError>;
}

/// What a row writes in memory.
pub struct MemoryWrite(pub(super) Written);

pub(super) enum Written {
    /// A new aggregate.
    Snapshot(SnapshotRow),
    /// A row under a snapshot row.
    Row(RowFacts),
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
    /// It must not be there yet; its key is unique, by the constraint of this name.
    Insert(&'static str, RowValue),
    /// It takes the place of the row with the same key.
    Replace(Vec<Unique>, RowValue),
    /// It goes.
    Delete,
}

impl MemoryWrite {
    fn row(table: &'static str, id: impl ToString, owner: impl ToString, write: RowWrite) -> Self {
        Self(Written::Row(RowFacts { table, id: id.to_string(), owner: owner.to_string(), write }))
    }

    fn insert<V: Clone + Send + Sync + 'static>(
        table: &'static str,
        constraint: &'static str,
        id: Id,
        owner: Id,
        value: &V,
    ) -> Self {
        Self::row(table, id, owner, RowWrite::Insert(constraint, Arc::new(value.clone())))
    }

    fn replace<V: Clone + Send + Sync + 'static>(
        table: &'static str,
        id: impl ToString,
        owner: Id,
        unique: Option<Unique>,
        value: &V,
    ) -> Self {
        Self::row(table, id, owner, RowWrite::Replace(unique.into_iter().collect(), Arc::new(value.clone())))
    }

    fn delete(table: &'static str, id: impl ToString) -> Self {
        Self::row(table, id, "", RowWrite::Delete)
    }
}

/// For aggregates that are their snapshot row alone, or create no others.
impl ToMemory for Infallible {
    fn to_memory(&self) -> Result<MemoryWrite, WriteError> {
        match *self {}
    }
}

impl ToMemory for OrderRow {
    fn to_memory(&self) -> Result<MemoryWrite, WriteError> {
        Ok(match self {
            Self::Job(job) => MemoryWrite::replace("jobs", job.id, job.order_id, None, &**job),
            Self::Attempt(attempt) => MemoryWrite::replace("attempts", attempt.id, attempt.order_id, None, attempt),
            Self::Payment(payment) => MemoryWrite::replace("payments", payment.id, payment.order_id, None, payment),
        })
    }
}

impl ToMemory for MaterialRow {
    fn to_memory(&self) -> Result<MemoryWrite, WriteError> {
        Ok(match self {
            Self::Movement(movement) => {
                MemoryWrite::insert("movements", "movements.id", movement.id, movement.material_id, movement)
            }
            Self::Claim(claim) => MemoryWrite::replace("claims", claim.id, claim.material_id, None, claim),
            Self::ClaimGone(id) => MemoryWrite::delete("claims", id),
        })
    }
}

impl ToMemory for Delivery {
    fn to_memory(&self) -> Result<MemoryWrite, WriteError> {
        let value = format!("{} {} {}", self.endpoint_id, self.event_id, self.replay);
        let unique = ("deliveries.endpoint_id,event_id,replay", value);
        Ok(MemoryWrite::replace("deliveries", self.id, self.endpoint_id, Some(unique), self))
    }
}

impl ToMemory for AccessRow {
    fn to_memory(&self) -> Result<MemoryWrite, WriteError> {
        Ok(match self {
            Self::User(user) => {
                // The address of a deleted member of staff is free again.
                let unique = (!user.archived).then(|| ("users.email_key", user.email.clone()));
                MemoryWrite::replace("users", user.id, Id::ONLY, unique, user)
            }
            Self::ApiKey(key) => {
                MemoryWrite::replace("api_keys", key.id, Id::ONLY, Some(("api_keys.hash", key.hash.clone())), key)
            }
            Self::Session(session) => {
                let unique = ("staff_sessions.hash", session.hash.clone());
                MemoryWrite::replace("staff_sessions", session.id, Id::ONLY, Some(unique), session)
            }
            Self::SessionGone(id) => MemoryWrite::delete("staff_sessions", id),
        })
    }
}

/// A mail that another aggregate's commit creates.
impl ToMemory for Mail {
    fn to_memory(&self) -> Result<MemoryWrite, WriteError> {
        Ok(MemoryWrite(Written::Snapshot(self.snapshot(self.id, 1, false)?)))
    }
}
