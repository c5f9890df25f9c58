//! Part rows. The growing collections of an aggregate (jobs, movements, deliveries) have their own tables, guarded by
//! the version of the aggregate's snapshot row.

use std::convert::Infallible;
use std::fmt::Debug;

use sea_orm::EntityTrait;
use serde::{Serialize, de::DeserializeOwned};

use crate::rows::batch::{Batch, TableRow};
use crate::rows::{Doc, NumberedPart, NumberedRow, Snapshot, Unique, WriteError};
use crate::tables::Tables;
use domain::aggregate::Aggregate;
use domain::id::Id;

/// Row model of the table that stores a part.
pub type ModelOf<P> = <<P as Part>::Entity as EntityTrait>::Model;

/// Part of an aggregate that has its own table. Implemented by `part_row!`.
pub trait Part: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {
    /// Table for the part's rows.
    type Entity: EntityTrait<Model: TableRow + Doc>;
    /// Column that contains the owning aggregate's ID; `None` if there is only one such aggregate, [`Id::ONLY`].
    const OWNER_COLUMN: Option<&'static str> = None;
    /// Returns the ID of the owning aggregate.
    fn owner(&self) -> Id {
        Id::ONLY
    }
    /// Returns the row for the part's current value.
    fn row(&self) -> Result<ModelOf<Self>, WriteError>;
    /// Returns the row's unique value besides its key, if the table has one.
    fn unique(row: &ModelOf<Self>) -> Option<Unique> {
        let _ = row;
        None
    }
}

/// Row that belongs to an aggregate: a changed part, or a new aggregate that the commit creates.
pub trait StoredRow: Debug + Send + Sync + 'static {
    /// Writes the row to a sink.
    fn write(&self, to: &mut RowSink<'_>) -> Result<(), WriteError>;
}

/// Empty row type for aggregates that consist only of a snapshot row, or that create no other aggregates.
impl StoredRow for Infallible {
    fn write(&self, _: &mut RowSink<'_>) -> Result<(), WriteError> {
        match *self {}
    }
}

/// Target that rows are written to: a database transaction, or the tables of the in-memory store.
pub struct RowSink<'a>(Target<'a>);

enum Target<'a> {
    Database(&'a mut Batch),
    Memory(&'a mut Tables),
}

impl<'a> RowSink<'a> {
    pub(super) fn batch(batch: &'a mut Batch) -> Self {
        Self(Target::Database(batch))
    }

    pub(crate) fn memory(tables: &'a mut Tables) -> Self {
        Self(Target::Memory(tables))
    }

    /// Writes a part, whose key must be new.
    pub fn insert<P: Part>(&mut self, part: &P) -> Result<(), WriteError> {
        let row = part.row()?;
        match &mut self.0 {
            Target::Database(batch) => batch.insert(row),
            Target::Memory(tables) => tables.insert_part(part, &row)?,
        }
        Ok(())
    }

    /// Writes a part, whose key must be new, and assigns it the next number in its series.
    pub fn insert_numbered<P: NumberedPart<Entity: EntityTrait<Model: NumberedRow>>>(
        &mut self,
        part: &P,
    ) -> Result<(), WriteError> {
        match &mut self.0 {
            Target::Database(batch) => batch.number(part.row()?),
            Target::Memory(tables) => tables.insert_numbered(part)?,
        }
        Ok(())
    }

    /// Writes a part, replacing the one with the same key, if any.
    pub fn replace<P: Part>(&mut self, part: &P) -> Result<(), WriteError> {
        let row = part.row()?;
        match &mut self.0 {
            Target::Database(batch) => batch.replace(row),
            Target::Memory(tables) => tables.replace_part(part, &row)?,
        }
        Ok(())
    }

    /// Deletes the part with the given key.
    pub fn delete<P: Part>(&mut self, key: impl ToString) {
        match &mut self.0 {
            Target::Database(batch) => batch.delete::<ModelOf<P>>(key.to_string()),
            Target::Memory(tables) => tables.delete_part::<P>(key.to_string()),
        }
    }

    /// Writes a new aggregate at version 1. If it is at rest from the start, it is not loaded at startup.
    pub fn create<T: Snapshot + Aggregate>(&mut self, id: Id, new: &T) -> Result<(), WriteError> {
        let snapshot = new.snapshot(id, 1, new.at_rest())?;
        match &mut self.0 {
            Target::Database(batch) => batch.push_snapshot(snapshot),
            Target::Memory(tables) => tables.write_snapshot(&snapshot)?,
        }
        Ok(())
    }
}

/// Declares a part's rows: `part_row!(Job in jobs of order_id, |this| { … })`. The key, owner, schema number and
/// document are filled in automatically; list the columns that queries filter, sort or join by. `unique` lists the
/// columns whose combined values are unique.
macro_rules! part_row {
    ($part:ident in $table:ident $(of $owner:ident)? $(unique [$unique:ident $($more:ident)*])?, |$this:ident| { $($column:ident : $value:expr),* $(,)? }) => {
        $crate::rows::doc_row!($table);
        impl $crate::rows::Part for $part {
            type Entity = entities::$table::Entity;
            $(
                const OWNER_COLUMN: Option<&'static str> = Some(stringify!($owner));
                fn owner(&self) -> domain::id::Id {
                    self.$owner
                }
            )?
            fn row(&self) -> Result<entities::$table::Model, $crate::rows::WriteError> {
                let $this = self;
                Ok(entities::$table::Model {
                    id: $this.id.to_string(),
                    $($owner: $this.$owner.to_string(),)?
                    schema: $crate::rows::SCHEMA_NUMBER,
                    doc: serde_json::to_string($this)?,
                    $($column: $value),*
                })
            }
            $(fn unique(row: &entities::$table::Model) -> Option<$crate::rows::Unique> {
                let constraint = concat!(stringify!($table), ".", stringify!($unique) $(, ",", stringify!($more))*);
                Some((constraint, [row.$unique.to_string() $(, row.$more.to_string())*].join(" ")))
            })?
        }
    };
}
pub(crate) use part_row;
