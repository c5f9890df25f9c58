//! Batch of all rows that a transaction writes, grouped by table, so that each table needs only a few multi-row
//! statements.
//!
//! The batch has no fixed list of tables: a table is added when its first row is pushed. Tables are written in the
//! order in which they were added, but snapshot rows come first. The same pushes always result in the same order, so
//! that a failing commit fails in the same way when it is retried.

use std::any::Any;
use std::fmt::Debug;

use futures::future::BoxFuture;
use sea_orm::{
    DatabaseExecutor, EntityName, EntityTrait, IntoActiveModel, Iterable, ModelTrait, PrimaryKeyToColumn, Value,
};

use crate::rows::counts::{RowNumbers, TableKeys, WrittenKeys, is_counted};
use crate::rows::numbered::{NumberedRow, write_numbered};
use crate::rows::plain::{Audit, IdempotentAnswer, audit_row, event_row, idempotency_row};
use crate::rows::statement::{ActiveOf, EntityOf, write_new, write_rows, write_snapshots};
use crate::rows::{Doc, RowSink, SnapshotModel, SnapshotRow, StoredRow, WriteError};
use domain::audit::chain::ChainHead;
use domain::event::Event;

/// Version of a snapshot row that must not exist yet.
const FIRST_VERSION: i64 = 1;

/// Row of any table that the store can insert.
pub trait TableRow: ModelTrait + IntoActiveModel<ActiveOf<Self>> + Clone + Sync + 'static {}
impl<M: ModelTrait + IntoActiveModel<ActiveOf<M>> + Clone + Sync + 'static> TableRow for M {}

/// Rows of a table, and the way they are written.
trait TableRows: Any + Debug + Send + Sync {
    /// Returns whether the rows are guarded by a version. Guarded rows are written first: a commit based on an old
    /// version must fail for that reason, regardless of what else is wrong with it.
    fn is_guarded(&self) -> bool {
        false
    }
    /// Adds the keys of the rows, if those of their table are counted.
    fn add_keys(&self, written: &mut WrittenKeys);
    fn write<'a>(self: Box<Self>, db: &'a DatabaseExecutor<'a>) -> BoxFuture<'a, Result<(), WriteError>>;
}

/// Snapshot rows. Each is written only if the version on disk is the preceding one.
#[derive(Debug)]
struct SnapshotRows<M>(Vec<M>);

/// Rows to insert or replace by key, in the order in which they were pushed; `None` deletes the row.
#[derive(Debug)]
struct ReplacedRows<M>(Vec<(String, Option<M>)>);

/// Rows that must not exist yet.
#[derive(Debug)]
struct InsertedRows<M>(Vec<M>);

/// Rows that must not exist yet; each gets the next number in its series when it is written.
#[derive(Debug)]
struct SeriesRows<M>(Vec<M>);

impl<M> Default for SnapshotRows<M> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<M> Default for ReplacedRows<M> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<M> Default for InsertedRows<M> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<M: TableRow + SnapshotModel> TableRows for SnapshotRows<M> {
    fn is_guarded(&self) -> bool {
        true
    }
    fn add_keys(&self, written: &mut WrittenKeys) {
        let Some(keys) = keys_of::<M>(written) else { return };
        for row in &self.0 {
            let keys = if row.version() == FIRST_VERSION { &mut keys.new } else { &mut keys.replaced };
            keys.push(row.key().to_owned());
        }
    }
    fn write<'a>(self: Box<Self>, db: &'a DatabaseExecutor<'a>) -> BoxFuture<'a, Result<(), WriteError>> {
        Box::pin(write_snapshots(db, self.0))
    }
}

impl<M: TableRow> TableRows for ReplacedRows<M> {
    fn add_keys(&self, written: &mut WrittenKeys) {
        let Some(keys) = keys_of::<M>(written) else { return };
        keys.replaced.extend(self.0.iter().map(|(key, _)| key.clone()));
    }
    fn write<'a>(self: Box<Self>, db: &'a DatabaseExecutor<'a>) -> BoxFuture<'a, Result<(), WriteError>> {
        Box::pin(write_rows(db, self.0))
    }
}

impl<M: TableRow> TableRows for InsertedRows<M> {
    fn add_keys(&self, written: &mut WrittenKeys) {
        let Some(keys) = keys_of::<M>(written) else { return };
        keys.new.extend(self.0.iter().filter_map(key_of));
    }
    fn write<'a>(self: Box<Self>, db: &'a DatabaseExecutor<'a>) -> BoxFuture<'a, Result<(), WriteError>> {
        Box::pin(write_new(db, self.0))
    }
}

impl<M> Default for SeriesRows<M> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<M: TableRow + NumberedRow> TableRows for SeriesRows<M> {
    fn add_keys(&self, written: &mut WrittenKeys) {
        let Some(keys) = keys_of::<M>(written) else { return };
        keys.new.extend(self.0.iter().map(|row| row.key().to_owned()));
    }
    fn write<'a>(self: Box<Self>, db: &'a DatabaseExecutor<'a>) -> BoxFuture<'a, Result<(), WriteError>> {
        Box::pin(write_numbered(db, self.0))
    }
}

/// Rows for a transaction to write.
#[derive(Default, Debug)]
pub struct Batch {
    /// Tables with rows; there are at most a dozen, so they are searched linearly.
    tables: Vec<Box<dyn TableRows>>,
}

impl Batch {
    /// Adds the next version of a snapshot row.
    pub fn push_snapshot(&mut self, snapshot: SnapshotRow) {
        snapshot.push_into(self);
    }

    /// Adds an aggregate's changed row, or a new aggregate.
    pub fn push_row(&mut self, row: &(impl StoredRow + ?Sized)) -> Result<(), WriteError> {
        row.write(&mut RowSink::batch(self))
    }

    /// Adds an event with the number assigned by the writer.
    pub fn push_event(&mut self, seq: i64, event: &Event) -> Result<(), WriteError> {
        self.insert(event_row(seq, event)?);
        Ok(())
    }

    /// Adds the audit log entry that follows `head`, and makes it the head.
    pub fn push_audit(&mut self, line: Audit, head: &mut ChainHead) {
        self.insert(audit_row(line, head));
    }

    /// Adds the response to store for an idempotency key.
    pub fn push_idempotency(&mut self, answered: IdempotentAnswer) {
        self.insert(idempotency_row(answered));
    }

    /// Adds a snapshot row, which is written only if the version on disk is the preceding one.
    pub(super) fn snapshot<M: TableRow + SnapshotModel>(&mut self, row: M) {
        self.table::<SnapshotRows<M>>().0.push(row);
    }

    /// Adds a row that replaces the one with the same key, if any.
    pub(super) fn replace<M: TableRow + Doc>(&mut self, row: M) {
        self.table::<ReplacedRows<M>>().0.push((row.key().to_owned(), Some(row)));
    }

    /// Adds the deletion of the row with the given key.
    pub(super) fn delete<M: TableRow>(&mut self, key: String) {
        self.table::<ReplacedRows<M>>().0.push((key, None));
    }

    /// Adds a row, whose key must be new.
    pub(super) fn insert<M: TableRow>(&mut self, row: M) {
        self.table::<InsertedRows<M>>().0.push(row);
    }

    /// Adds a row, whose key must be new and which gets the next number in its series.
    pub(super) fn number<M: TableRow + NumberedRow>(&mut self, row: M) {
        self.table::<SeriesRows<M>>().0.push(row);
    }

    /// Returns the rows collected for a table, adding the table if needed.
    fn table<T: TableRows + Default>(&mut self) -> &mut T {
        let at = self.tables.iter().position(|table| (table.as_ref() as &dyn Any).is::<T>()).unwrap_or_else(|| {
            self.tables.push(Box::new(T::default()));
            self.tables.len() - 1
        });
        let table: &mut dyn Any = self.tables[at].as_mut();
        #[expect(clippy::expect_used, reason = "the position was found by this type")]
        table.downcast_mut().expect("the table is of the type it was found by")
    }

    /// Writes all rows. If this fails, the transaction must be rolled back, at least to its savepoint.
    pub async fn write<'c>(self, db: impl Into<DatabaseExecutor<'c>>) -> Result<(), WriteError> {
        let db = db.into();
        let mut written = WrittenKeys::new();
        for table in &self.tables {
            table.add_keys(&mut written);
        }
        let former = RowNumbers::read(&db, &written).await?;
        let (guarded, others): (Vec<_>, Vec<_>) = self.tables.into_iter().partition(|table| table.is_guarded());
        for table in guarded.into_iter().chain(others) {
            table.write(&db).await?;
        }
        former.update(&db, &written).await
    }
}

/// Returns the place for the keys of a table's rows; `None` if they are not counted.
fn keys_of<M: ModelTrait>(written: &mut WrittenKeys) -> Option<&mut TableKeys> {
    let table = EntityOf::<M>::default().table_name();
    is_counted(table).then(|| written.entry(table).or_default())
}

/// Returns a row's primary key, if it is text.
fn key_of<M: ModelTrait>(row: &M) -> Option<String> {
    let key = <EntityOf<M> as EntityTrait>::PrimaryKey::iter().next()?;
    match row.get(key.into_column()) {
        Value::String(key) => key,
        _ => None,
    }
}
