//! Snapshot rows: the state of an aggregate at a version. Each aggregate kind has its own table.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use sea_orm::EntityTrait;
use serde::{Serialize, de::DeserializeOwned};

use crate::rows::batch::{Batch, TableRow};
use crate::rows::{Doc, Unique, WriteError};
#[cfg(doc)]
use domain::aggregate::Aggregate;
use domain::id::Id;

/// Aggregate kind that has a table of snapshot rows. Implemented by `snapshot_row!`.
pub trait Snapshot: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {
    /// Table for the snapshot rows.
    type Entity: EntityTrait<Model: SnapshotModel>;
    /// Builds the snapshot row at the given version. `at_rest` is the value of [`Aggregate::at_rest`]; some tables have
    /// a column for it, used to find the aggregates to load at startup.
    fn snapshot(&self, id: Id, version: i64, at_rest: bool) -> Result<SnapshotRow, WriteError>;
}

/// Row in a table of snapshot rows.
pub trait SnapshotModel: Doc {
    /// Returns the version, which is the number of commits to the aggregate.
    fn version(&self) -> i64;
    /// Returns the row's unique value besides its ID, if the table has one.
    fn unique(&self) -> Option<Unique> {
        None
    }
}

/// Snapshot row of an aggregate, with the table type erased. It is built by the actor, written by the writer (which is
/// independent of the aggregate kinds), and cloned when a transaction is retried.
#[derive(Clone, Debug)]
pub struct SnapshotRow(Arc<dyn ErasedSnapshot>);

trait ErasedSnapshot: Any + Debug + Send + Sync {
    fn push_into(&self, batch: &mut Batch);
    fn facts(&self) -> SnapshotFacts<'_>;
}

/// Information about a snapshot row that the in-memory store needs, regardless of the table.
pub struct SnapshotFacts<'a> {
    pub table: &'static str,
    pub id: &'a str,
    pub version: i64,
    pub schema: i64,
    pub doc: &'a str,
    pub unique: Option<Unique>,
}

impl<M: TableRow + SnapshotModel> ErasedSnapshot for M {
    fn push_into(&self, batch: &mut Batch) {
        batch.snapshot(self.clone());
    }
    fn facts(&self) -> SnapshotFacts<'_> {
        let (schema, doc) = self.doc();
        SnapshotFacts { table: M::TABLE, id: self.key(), version: self.version(), schema, doc, unique: self.unique() }
    }
}

impl SnapshotRow {
    /// Erases the type of a row from any snapshot table.
    pub fn new<M: TableRow + SnapshotModel>(row: M) -> Self {
        Self(Arc::new(row))
    }

    pub(super) fn push_into(&self, batch: &mut Batch) {
        self.0.push_into(batch);
    }

    pub(crate) fn facts(&self) -> SnapshotFacts<'_> {
        self.0.facts()
    }

    /// Returns the row if it belongs to table `M`.
    pub(crate) fn model<M: TableRow + SnapshotModel>(&self) -> Option<&M> {
        let row: &dyn Any = &*self.0;
        row.downcast_ref()
    }
}

/// Declares a kind's snapshot rows: `snapshot_row!(Sku in skus unique code, |this, at_rest| { code: … })`. The ID,
/// version, schema number and document are filled in automatically; list the columns that queries filter, sort or join
/// by. `unique` names the column whose values are unique.
macro_rules! snapshot_row {
    ($kind:ident in $table:ident $(unique $unique:ident)?, |$this:ident, $at_rest:ident| { $($column:ident : $value:expr),* $(,)? }) => {
        $crate::rows::doc_row!($table);
        impl $crate::rows::SnapshotModel for entities::$table::Model {
            fn version(&self) -> i64 {
                self.version
            }
            $(fn unique(&self) -> Option<$crate::rows::Unique> {
                Some((concat!(stringify!($table), ".", stringify!($unique)), self.$unique.to_string()))
            })?
        }
        impl $crate::rows::Snapshot for $kind {
            type Entity = entities::$table::Entity;
            fn snapshot(
                &self,
                id: domain::id::Id,
                version: i64,
                at_rest: bool,
            ) -> Result<$crate::rows::SnapshotRow, $crate::rows::WriteError> {
                let ($this, $at_rest) = (self, at_rest);
                let _ = $at_rest;
                Ok($crate::rows::SnapshotRow::new(entities::$table::Model {
                    id: id.to_string(),
                    version,
                    schema: $crate::rows::SCHEMA_NUMBER,
                    doc: serde_json::to_string($this)?,
                    $($column: $value),*
                }))
            }
        }
    };
}
pub(crate) use snapshot_row;
