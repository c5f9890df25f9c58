//! List queries and lookups on the read pool. They return domain values.
//!
//! No query activates an actor. A result may be one commit behind an actor's published state, but is never ahead of the
//! disk. A row that cannot be read is omitted from lists ([`DamagedRows`]), and causes an error if it is requested
//! individually.

mod accounting;
mod activity;
mod aggregates;
mod attempts;
mod audit;
mod channels;
mod contents;
mod counts;
mod custom_requests;
mod customer_files;
mod customers;
mod damaged;
mod domain;
mod exports;
mod files;
mod forecast;
mod idempotency;
mod invoices;
mod job_search;
mod mails;
mod maintenance;
mod order_search;
mod orders;
mod outbox;
mod payments;
mod quality;
mod quotes;
mod restores;
#[cfg(test)]
mod tests;

pub use crate::event_filter::EventFilter;
pub use activity::ActivityGrouping;
pub use aggregates::{FileFilter, MaterialFilter, SkuFilter};
pub use attempts::AttemptTotals;
pub use audit::{AuditFilter, AuditPlace, AuditStretch};
pub use channels::ChannelOrderFilter;
pub use custom_requests::CustomRequestFilter;
pub use customer_files::UnclaimedFile;
pub use customers::CustomerFilter;
pub use damaged::DamagedRows;
pub use exports::ExportRange;
pub use files::{FileCounts, FileGroup};
pub use invoices::{InvoiceFilter, NumberingSeries};
pub use job_search::JobSearch;
pub use orders::{JobFilter, OrderFilter, OwnOrders};
pub use outbox::DeliveryFilter;
pub use payments::{ListedPayment, PaymentFilter};
pub use quality::{QualityCounts, QualityGrouping};
pub use quotes::QuoteFilter;

use std::collections::HashMap;
use std::ops::Deref;
use std::time::Duration;

use sea_orm::sea_query::{Expr, ExprTrait, Func, IntoColumnRef, LikeExpr};
use sea_orm::{
    DatabaseConnection, DbBackend, DbErr, EntityTrait, ModelTrait, PaginatorTrait, QueryFilter, QuerySelect, Select,
    SqlxSqliteConnector,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

use crate::memory::MemoryStore;
use crate::rows::{DamagedRow, Doc, LoadError, Snapshot, SnapshotModel};
use ::domain::aggregate::Versioned;
use ::domain::id::Id;
use platform::shared::Shared;

/// Offset at and above which a page's rows are looked up by their IDs.
const DEEP_OFFSET: u64 = 200;

/// Queries on the read pool. Clones share the pool and the batches of idempotency lookups.
#[derive(Clone, Debug)]
pub struct Queries(Shared<QueriesParts>);

/// Parts shared by all clones of the queries.
#[derive(Debug)]
pub struct QueriesParts {
    db: DatabaseConnection,
    idempotent_answers: idempotency::IdempotentAnswers,
    damaged: DamagedRows,
    /// Store in memory, if that is the one to query.
    memory: Option<MemoryStore>,
}

impl Deref for Queries {
    type Target = QueriesParts;

    fn deref(&self) -> &QueriesParts {
        &self.0
    }
}

/// Range of a list to return.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    /// Maximum number of items on the page.
    pub limit: u64,
    /// Number of items to skip before the page.
    pub offset: u64,
}

impl Page {
    /// Returns whether a total number of rows may be right, given the number of rows on the page: a page that is not
    /// full is the last one, and behind one that is full there is another one. A full page may be the last one as well,
    /// but only counting shows that.
    fn fits(self, rows: u64, total: u64) -> bool {
        let end = self.offset.saturating_add(rows);
        if rows < self.limit { end == total } else { end < total }
    }
}

impl Queries {
    /// Creates queries on the given pool. Must be called within a runtime, because it spawns a task.
    pub fn new(db: DatabaseConnection) -> Self {
        Self::with_memory(db, None)
    }

    /// Creates queries for a store in memory, for simulations. The lookups on which commands and emails depend read the
    /// store; all others, which are SQL, fail as they do while a database does not respond. Must be called within a
    /// runtime.
    pub fn of_memory(memory: MemoryStore) -> Self {
        // Nothing ever connects: a pool that is closed refuses at once.
        let pool = SqlitePoolOptions::new().idle_timeout(None::<Duration>).max_lifetime(None::<Duration>);
        let pool = pool.connect_lazy_with(SqliteConnectOptions::new());
        drop(pool.close());
        Self::with_memory(SqlxSqliteConnector::from_sqlx_sqlite_pool(pool), Some(memory))
    }

    fn with_memory(db: DatabaseConnection, memory: Option<MemoryStore>) -> Self {
        let idempotent_answers = idempotency::IdempotentAnswers::new(db.clone());
        Self(Shared::new(QueriesParts { idempotent_answers, db, damaged: DamagedRows::default(), memory }))
    }

    /// Returns the registry of rows that were omitted from lists because they cannot be read.
    pub fn damaged(&self) -> &DamagedRows {
        &self.damaged
    }

    /// Returns an aggregate's snapshot row, without its part rows.
    pub async fn snapshot<T: Snapshot>(&self, id: Id) -> Result<Versioned<T>, LoadError> {
        let row = T::Entity::find().filter(Expr::col("id").eq(id.to_string())).one(&self.db).await?;
        row.map_or_else(|| Ok(Versioned::nothing()), |row| Ok(versioned(&row)?))
    }

    /// Returns a page of snapshot rows, and the total number of rows. Damaged rows are included in the total but
    /// omitted from the page.
    pub(crate) async fn snapshots<E, T>(
        &self,
        select: Select<E>,
        page: Page,
    ) -> Result<(Vec<Versioned<T>>, u64), LoadError>
    where
        E: EntityTrait<Model: SnapshotModel + Sync>,
        T: DeserializeOwned,
    {
        self.snapshots_of(select, page, None).await
    }

    /// Returns a page of snapshot rows like [`Self::snapshots`]. Counts them unless their total is known and fits.
    async fn snapshots_of<E, T>(
        &self,
        select: Select<E>,
        page: Page,
        total: Option<u64>,
    ) -> Result<(Vec<Versioned<T>>, u64), LoadError>
    where
        E: EntityTrait<Model: SnapshotModel + Sync>,
        T: DeserializeOwned,
    {
        let (rows, total) = self.page_of(select, page, total).await?;
        Ok((self.readable(&rows, versioned), total))
    }

    /// Returns a page of rows, and the total number of rows. Damaged rows are included in the total but omitted from
    /// the page.
    async fn rows<E, T>(&self, select: Select<E>, page: Page) -> Result<(Vec<T>, u64), LoadError>
    where
        E: EntityTrait<Model: Doc + Sync>,
        T: DeserializeOwned,
    {
        self.rows_of(select, page, None).await
    }

    /// Returns a page of rows like [`Self::rows`]. Counts them unless their total is known and fits.
    async fn rows_of<E, T>(&self, select: Select<E>, page: Page, total: Option<u64>) -> Result<(Vec<T>, u64), LoadError>
    where
        E: EntityTrait<Model: Doc + Sync>,
        T: DeserializeOwned,
    {
        let (rows, total) = self.page_of(select, page, total).await?;
        Ok((self.readable(&rows, Doc::read), total))
    }

    /// Parses the given rows and returns those that can be read.
    fn readable<M: Doc, T>(&self, rows: &[M], read: impl Fn(&M) -> Result<T, DamagedRow>) -> Vec<T> {
        rows.iter().filter_map(|row| self.damaged.sort_out(M::TABLE, row.key(), read(row))).collect()
    }

    /// Returns the condition that a column contains a text, ignoring case, in the form that the database evaluates
    /// fastest.
    fn contains(&self, column: impl IntoColumnRef, text: &str) -> Expr {
        if self.db.get_database_backend() == DbBackend::Postgres {
            return contains(column, text);
        }
        let lower = Func::lower(Expr::col(column));
        Expr::expr(Func::cust("instr").arg(lower).arg(text.to_lowercase())).gt(0)
    }

    async fn page<E>(&self, select: Select<E>, page: Page) -> Result<(Vec<E::Model>, u64), DbErr>
    where
        E: EntityTrait<Model: ModelTrait + Sync>,
    {
        let total = select.clone().count(&self.db).await?;
        let rows = select.limit(page.limit).offset(page.offset).all(&self.db).await?;
        Ok((rows, total))
    }

    /// Returns a page of rows, and their total number: the stored total if it is consistent with the rows read,
    /// otherwise a counted one.
    async fn page_of<E>(
        &self,
        select: Select<E>,
        page: Page,
        stored: Option<u64>,
    ) -> Result<(Vec<E::Model>, u64), DbErr>
    where
        E: EntityTrait<Model: Doc + Sync>,
    {
        // Only a total that was counted shows that the page is behind the last row: a wrong number must hide no row.
        let stored = stored.filter(|total| page.offset < *total);
        let total = match stored {
            Some(total) => total,
            None => select.clone().count(&self.db).await?,
        };
        if page.limit == 0 || page.offset >= total {
            return Ok((Vec::new(), total));
        }
        let rows = self.rows_at(select.clone(), page).await?;
        let total = if stored.is_none_or(|total| page.fits(rows.len() as u64, total)) {
            total
        } else {
            select.count(&self.db).await?
        };
        Ok((rows, total))
    }

    /// Returns the rows of a page. If it begins far behind the first row, the rows before it are passed over in the
    /// index that sorts them, without reading any of them.
    async fn rows_at<E>(&self, select: Select<E>, page: Page) -> Result<Vec<E::Model>, DbErr>
    where
        E: EntityTrait<Model: Doc + Sync>,
    {
        let select = select.limit(page.limit).offset(page.offset);
        if page.offset < DEEP_OFFSET {
            return select.all(&self.db).await;
        }
        self.rows_by_id(select).await
    }

    /// Returns the rows of a query, in its order. The database sorts and passes over their IDs alone.
    async fn rows_by_id<E>(&self, select: Select<E>) -> Result<Vec<E::Model>, DbErr>
    where
        E: EntityTrait<Model: Doc + Sync>,
    {
        let ids: Vec<String> = select.select_only().expr(Expr::col("id")).into_tuple().all(&self.db).await?;
        let mut places: HashMap<&str, usize> = HashMap::new();
        places.extend(ids.iter().enumerate().map(|(place, id)| (id.as_str(), place)));
        let mut rows = E::find().filter(Expr::col("id").is_in(ids.iter().map(String::as_str))).all(&self.db).await?;
        rows.sort_by_key(|row| places.get(row.key()).copied());
        Ok(rows)
    }

    /// Counts the rows by their value in a column.
    async fn counts<E, W>(&self, select: Select<E>, column: E::Column) -> Result<Vec<(W, u64)>, LoadError>
    where
        E: EntityTrait<Model: Doc>,
        W: DeserializeOwned,
    {
        let rows: Vec<(String, i64)> = select
            .select_only()
            .column(column)
            .column_as(Expr::col("id").count(), "n")
            .group_by(column)
            .into_tuple()
            .all(&self.db)
            .await?;
        rows.into_iter().map(|(word, count)| Ok((parse_word(E::Model::TABLE, word)?, count as u64))).collect()
    }
}

/// Parses a value from a column that contains its name.
fn parse_word<W: DeserializeOwned>(table: &'static str, word: String) -> Result<W, LoadError> {
    serde_json::from_value(Value::String(word.clone()))
        .map_err(|error| LoadError::Damaged(DamagedRow { table, id: word, schema: 1, reason: error.to_string() }))
}

fn versioned<M: SnapshotModel, T: DeserializeOwned>(row: &M) -> Result<Versioned<T>, DamagedRow> {
    Ok(Versioned { version: row.version(), state: Some(row.read()?) })
}

/// Returns the condition that the column contains the given text, ignoring case.
fn contains(column: impl IntoColumnRef, text: &str) -> Expr {
    let text = escaped(&text.to_lowercase());
    Expr::expr(Func::lower(Expr::col(column))).like(LikeExpr::new(format!("%{text}%")).escape('\\'))
}

/// Returns the condition that the column equals the given text, ignoring case. SQLite ignores case only for ASCII
/// letters, so the text is also compared exactly.
fn equals(column: impl IntoColumnRef, text: &str) -> Expr {
    Expr::expr(Func::lower(Expr::col(column))).is_in([text.to_lowercase(), text.to_ascii_lowercase()])
}

/// Escapes text for use in a LIKE pattern whose escape character is the backslash.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}

/// Parses an ID from a column.
fn id_of(table: &'static str, text: &str) -> Result<Id, LoadError> {
    text.parse().map_err(|error: uuid::Error| {
        LoadError::Damaged(DamagedRow { table, id: text.to_owned(), schema: 1, reason: error.to_string() })
    })
}
