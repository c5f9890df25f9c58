//! Rows: how domain values become rows of tables, and the multi-row statements that write them.
//!
//! Transactions are the writer's: it opens, guards and commits one, and hands it to [`Batch::write`].

mod batch;
mod doc;
mod numbered;
mod part;
mod plain;
mod purge;
mod snapshot;
mod statement;

pub use batch::Batch;
pub(super) use batch::TableRow;
pub(crate) use doc::word;
pub use doc::{Doc, SCHEMA_NUMBER, Unique, read_doc};
pub(super) use doc::{doc_row, text};
pub use numbered::{NumberedPart, NumberedRow};
pub(super) use part::part_row;
pub use part::{ModelOf, Part, RowSink, StoredRow};
pub use plain::{Audit, IdempotentAnswer};
pub(crate) use plain::{read_audit, read_event, read_idempotency};
pub use purge::{purge_deliveries, purge_events, purge_exports, purge_idempotency, purge_sign_in_links};
pub use snapshot::{Snapshot, SnapshotModel, SnapshotRow};
pub(super) use snapshot::{SnapshotFacts, snapshot_row};

use crate::domain::requirement::Requirement;

/// Why a batch was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The version of a snapshot row on disk is not the one that was decided on.
    #[error("a row of {0} is not at the version that was decided on")]
    Guard(&'static str),
    /// A unique value is taken. Named as `skus.code` or `deliveries.endpoint_id,event_id,replay`.
    #[error("{0} is taken")]
    Constraint(String),
    /// Something that a command relies on does not hold.
    #[error("what a command relies on does not hold: {0:?}")]
    Unmet(Requirement),
    /// The database refuses a value: text or a number that it cannot hold.
    #[error("the database refuses a value: {0}")]
    Value(sea_orm::DbErr),
    /// A domain value cannot be serialised, which is a bug.
    #[error("a value cannot be written as JSON")]
    Doc(#[from] serde_json::Error),
    /// The database failed or cannot be reached.
    #[error(transparent)]
    Db(sea_orm::DbErr),
}

/// A stored row that cannot be read back.
#[derive(Debug, thiserror::Error)]
#[error("{table} {id} is damaged (schema {schema}): {reason}")]
pub struct Damaged {
    /// The table that the damaged row is in.
    pub table: &'static str,
    /// Primary key of the row.
    pub id: String,
    /// The schema number that its document was written with.
    pub schema: i64,
    /// What the parser says.
    pub reason: String,
}

/// Why something could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A row does not hold what this release can read.
    #[error(transparent)]
    Damaged(#[from] Damaged),
    /// The database failed or cannot be reached.
    #[error(transparent)]
    Db(#[from] sea_orm::DbErr),
}

impl LoadError {
    /// Whether the database refused a value that it was asked to look for.
    pub fn is_bad_value(&self) -> bool {
        matches!(self, Self::Db(error) if crate::store::connect::refuses_value(error))
    }
}

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
