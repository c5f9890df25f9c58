//! Mapping from domain values to table rows, and the multi-row statements that write them.
//!
//! Transactions belong to the writer, which opens, guards and commits them, and passes them to [`Batch::write`].

mod batch;
mod counts;
mod doc;
mod json_parameter;
mod numbered;
mod part;
mod plain;
mod print_sums;
mod purge;
mod recount;
mod snapshot;
mod statement;

pub use batch::Batch;
pub(super) use batch::TableRow;
pub(crate) use doc::word;
pub use doc::{Doc, SCHEMA_NUMBER, Unique, read_doc};
pub(super) use doc::{doc_row, text};
pub(crate) use json_parameter::{json_number, json_rows};
pub use numbered::{NumberedPart, NumberedRow};
pub(super) use part::part_row;
pub use part::{ModelOf, Part, RowSink, StoredRow};
pub use plain::{Audit, IdempotentAnswer};
pub(crate) use plain::{audit_row, chain_line, read_audit, read_event, read_idempotency};
pub(crate) use print_sums::{PeriodQuery, PrintList, SCRAP_UNITS, period_sums};
pub(crate) use purge::{
    Deletion, ENDED_EXPORTS, ENDED_MAILS, HasTime, LINK_RETENTION_MS, purge_deliveries, purge_events, purge_exports,
    purge_idempotency, purge_mails, purge_sign_in_links, state_words,
};
pub use recount::WrongNumber;
pub(crate) use recount::{correct_numbers, wrong_numbers};
pub use snapshot::{Snapshot, SnapshotModel, SnapshotRow};
pub(super) use snapshot::{SnapshotFacts, snapshot_row};

use domain::requirement::Requirement;

/// Reason that a batch could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The version of a snapshot row on disk is not the one that the decision was based on.
    #[error("a row of {0} has a different version than expected")]
    Guard(&'static str),
    /// A unique value is already in use. Contains the name of the constraint, such as `skus.code` or
    /// `deliveries.endpoint_id,event_id,replay`.
    #[error("{0} is already in use")]
    Constraint(String),
    /// A requirement of a command is not met.
    #[error("a requirement of the command is not met: {0:?}")]
    Unmet(Requirement),
    /// The database rejected a value: text or a number that it cannot store.
    #[error("the database rejects a value: {0}")]
    Value(sea_orm::DbErr),
    /// A domain value cannot be serialised, which indicates a bug.
    #[error("a value cannot be serialized as JSON")]
    Doc(#[from] serde_json::Error),
    /// The database failed or cannot be reached.
    #[error(transparent)]
    Db(sea_orm::DbErr),
}

/// Stored row that cannot be parsed.
#[derive(Debug, thiserror::Error)]
#[error("{table} {id} is damaged (schema {schema}): {reason}")]
pub struct DamagedRow {
    /// Table of the damaged row.
    pub table: &'static str,
    /// Primary key of the row.
    pub id: String,
    /// Schema number of the row's document.
    pub schema: i64,
    /// Parser's error message.
    pub reason: String,
}

/// Reason that a load or query failed.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A row has contents that this release cannot parse.
    #[error(transparent)]
    Damaged(#[from] DamagedRow),
    /// The database failed or cannot be reached.
    #[error(transparent)]
    Db(#[from] sea_orm::DbErr),
}

impl LoadError {
    /// Returns whether the database rejected one of the query's parameters.
    pub fn is_bad_value(&self) -> bool {
        matches!(self, Self::Db(error) if crate::value_errors::refuses_value(error))
    }
}

#[cfg(any(test, feature = "testing"))]
pub mod samples;
#[cfg(test)]
mod tests;
