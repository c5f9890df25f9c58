//! Rows of parts: the growing collections of an aggregate (jobs, movements, deliveries) have their own tables, under
//! the version of the aggregate's snapshot row.

use std::convert::Infallible;
use std::fmt::Debug;

use sea_orm::EntityTrait;
use serde::{Serialize, de::DeserializeOwned};

use crate::memory::Tables;
use crate::rows::batch::{Batch, TableRow};
use crate::rows::{Doc, NumberedPart, NumberedRow, Snapshot, Unique, WriteError};
use domain::aggregate::Aggregate;
use domain::id::Id;

/// Model of a part's table.
pub type ModelOf<P> = <<P as Part>::Entity as EntityTrait>::Model;

/// Part of an aggregate that has its own table. `part_row!` implements it.
pub trait Part: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {
    /// Table of the part's rows.
    type Entity: EntityTrait<Model: TableRow + Doc>;
    /// Column that holds the id of the owning aggregate. `None`: there is only one such aggregate, [`Id::ONLY`].
    const OWNER_COLUMN: Option<&'static str> = None;
    /// Returns the id of the owning aggregate.
    fn owner(&self) -> Id {
        Id::ONLY
    }
    /// Returns the row for the part's current value.
    fn row(&self) -> Result<ModelOf<Self>, WriteError>;
    /// Returns the row's unique value besides the key, if the table has one.
    fn unique(row: &ModelOf<Self>) -> Option<Unique> {
        let _ = row;
        None
    }
}

/// Row that belongs to an aggregate: a change of one of its parts, or a new aggregate that its commit creates.
pub trait StoredRow: Debug + Send + Sync + 'static {
    /// Writes the row to a sink.
    fn write(&self, to: &mut RowSink<'_>) -> Result<(), WriteError>;
}

/// Empty row type of aggregates that consist of their snapshot row only, or create no others.
impl StoredRow for Infallible {
    fn write(&self, _: &mut RowSink<'_>) -> Result<(), WriteError> {
        match *self {}
    }
}

/// Target to which rows are written: a transaction of a database, or the tables of the store in memory.
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

    /// Writes a part whose key must be new.
    pub fn insert<P: Part>(&mut self, part: &P) -> Result<(), WriteError> {
        let row = part.row()?;
        match &mut self.0 {
            Target::Database(batch) => batch.insert(row),
            Target::Memory(tables) => tables.insert_part(part, &row)?,
        }
        Ok(())
    }

    /// Writes a part whose key must be new, and assigns it the next number of its series.
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

    /// Writes a part in place of the one with the same key, if there is one.
    pub fn replace<P: Part>(&mut self, part: &P) -> Result<(), WriteError> {
        let row = part.row()?;
        match &mut self.0 {
            Target::Database(batch) => batch.replace(row),
            Target::Memory(tables) => tables.replace_part(part, &row)?,
        }
        Ok(())
    }

    /// Deletes the part with this key.
    pub fn delete<P: Part>(&mut self, key: impl ToString) {
        match &mut self.0 {
            Target::Database(batch) => batch.delete::<ModelOf<P>>(key.to_string()),
            Target::Memory(tables) => tables.delete_part::<P>(key.to_string()),
        }
    }

    /// Writes a new aggregate, at version 1. One that is at rest from the beginning is not loaded at start.
    pub fn create<T: Snapshot + Aggregate>(&mut self, id: Id, new: &T) -> Result<(), WriteError> {
        let snapshot = new.snapshot(id, 1, new.at_rest())?;
        match &mut self.0 {
            Target::Database(batch) => batch.push_snapshot(snapshot),
            Target::Memory(tables) => tables.write_snapshot(&snapshot)?,
        }
        Ok(())
    }
}

/// Declares the rows of a part: `part_row!(Job in jobs of order_id, |this| { … })`. Key, owner, schema number and
/// document are filled in; the columns are those by which queries filter, sort and join. `unique` names the columns
/// whose combined values are unique.
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
