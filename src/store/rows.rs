//! What a commit is on disk: which rows each domain value becomes, and one multi-row statement per table to write them.
//!
//! Not for transactions: the writer opens, fences and commits them, and hands one to [`Batch::write`].

mod batch;
mod doc;
mod map;
mod plain;
mod purge;
mod statement;

pub use batch::Batch;
pub use doc::{Doc, SCHEMA, SnapshotModel, read_doc};
pub(crate) use map::word;
pub use map::{Snapshot, SnapshotRow, StoredRow};
pub use plain::{Audit, Idempotency};
pub(crate) use plain::{read_audit, read_event, read_idempotency};
pub use purge::{purge_deliveries, purge_events, purge_idempotency};

/// Why a batch was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A head's version on disk is not the one that was decided on.
    #[error("a head of {0} is not at the version that was decided on")]
    Guard(&'static str),
    /// Taken already: `skus.code`, `deliveries.endpoint_id,event_id,replay`.
    #[error("{0} is taken")]
    Constraint(String),
    /// A domain value that cannot be serialised; a bug.
    #[error("a value cannot be written as JSON")]
    Doc(#[from] serde_json::Error),
    /// The database failed.
    #[error(transparent)]
    Db(sea_orm::DbErr),
}

/// A doc that cannot be read back.
#[derive(Debug, thiserror::Error)]
#[error("{table} {id} is damaged (schema {schema}): {reason}")]
pub struct Damaged {
    /// Of this table.
    pub table: &'static str,
    /// The row.
    pub id: String,
    /// The schema number it was written with.
    pub schema: i64,
    /// What is wrong.
    pub reason: String,
}

/// Why something could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The row is not what was written.
    #[error(transparent)]
    Damaged(#[from] Damaged),
    /// The database failed.
    #[error(transparent)]
    Db(#[from] sea_orm::DbErr),
}

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
