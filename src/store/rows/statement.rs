//! Multi-row statements. Each table has only a few, for a few row counts, so that each text is built and prepared only
//! once.

use std::any::TypeId;
use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use dashmap::DashMap;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};
use sea_orm::{
    ActiveModelTrait, ConnectionTrait, DbBackend, DbErr, EntityTrait, Iden, IntoActiveModel, Iterable, ModelTrait,
    PrimaryKeyToColumn, QueryFilter, QueryTrait, RuntimeErr, SqlErr, Statement,
};

use crate::rows::{Doc, SnapshotModel, WriteError};
use crate::value_errors::refuses_value;

/// Maximum number of keys per deletion. SQLite accepts 32,766 parameters, PostgreSQL 65,535.
const MAX_KEYS_PER_DELETE: usize = 30_000;
/// Maximum number of rows per statement. With 20 columns, this is far below the limits on the number of parameters.
const MAX_ROWS_PER_STATEMENT: usize = 256;
/// Largest row count up to which every row count has its own statement; above it, only powers of two have one.
const EXACT_LENGTHS_UP_TO: usize = 8;

/// Cache key of a statement: the table, whether rows are replaced, whether it is for SQLite, and the row count.
type StatementShape = (TypeId, bool, bool, usize);

/// Cached texts of insert statements. The map is only used for lookups, so its order does not matter.
static INSERT_TEXTS: LazyLock<DashMap<StatementShape, Arc<str>>> = LazyLock::new(DashMap::new);

pub(super) type EntityOf<M> = <M as ModelTrait>::Entity;
type ColumnOf<M> = <EntityOf<M> as EntityTrait>::Column;
/// Form of a row that `SeaORM` inserts.
pub type ActiveOf<M> = <EntityOf<M> as EntityTrait>::ActiveModel;

/// Writes snapshot rows, both new ones and new versions; a new version is written only over the preceding one.
pub async fn write_snapshots<M>(tx: &impl ConnectionTrait, snapshots: Vec<M>) -> Result<(), WriteError>
where
    M: SnapshotModel + IntoActiveModel<ActiveOf<M>> + 'static,
{
    let count = snapshots.len();
    // The two databases judge the same row twice in one statement differently. The writer then writes each submission
    // alone.
    if snapshots.iter().map(Doc::key).collect::<HashSet<_>>().len() != count {
        return Err(WriteError::Guard(M::TABLE));
    }
    let guard = Expr::cust(format!(r#""{0}"."version" = "excluded"."version" - 1"#, M::TABLE));
    let written = insert(tx, snapshots, Some(replace::<M>().action_and_where(guard).to_owned())).await?;
    if written == count as u64 { Ok(()) } else { Err(WriteError::Guard(M::TABLE)) }
}

/// Writes rows by key; `None` deletes the row. If a key occurs more than once, the last entry applies.
pub async fn write_rows<M>(tx: &impl ConnectionTrait, log: Vec<(String, Option<M>)>) -> Result<(), WriteError>
where
    M: ModelTrait + IntoActiveModel<ActiveOf<M>> + 'static,
{
    let mut seen_keys = HashSet::new();
    let (mut newest, mut gone) = (Vec::new(), Vec::new());
    for (key, row) in log.into_iter().rev() {
        if seen_keys.insert(key.clone()) {
            match row {
                Some(row) => newest.push(row),
                None => gone.push(key),
            }
        }
    }
    newest.reverse();
    for keys in gone.chunks(MAX_KEYS_PER_DELETE) {
        let key = Expr::col("id").is_in(keys.iter().map(String::as_str));
        EntityOf::<M>::delete_many().filter(key).exec(tx).await.map_err(map_db_error)?;
    }
    insert(tx, newest, Some(replace::<M>())).await.map(|_| ())
}

/// Inserts rows that must not exist yet.
pub async fn write_new<M>(tx: &impl ConnectionTrait, rows: Vec<M>) -> Result<(), WriteError>
where
    M: ModelTrait + IntoActiveModel<ActiveOf<M>> + 'static,
{
    insert(tx, rows, None).await.map(|_| ())
}

async fn insert<M>(tx: &impl ConnectionTrait, rows: Vec<M>, on_conflict: Option<OnConflict>) -> Result<u64, WriteError>
where
    M: ModelTrait + IntoActiveModel<ActiveOf<M>> + 'static,
{
    let backend = tx.get_database_backend();
    let mut written = 0;
    let mut rows = rows.into_iter().map(M::into_active_model);
    while rows.len() > 0 {
        let many = portion(rows.len());
        let some: Vec<_> = rows.by_ref().take(many).collect();
        let cache_key = (TypeId::of::<M>(), on_conflict.is_some(), backend == DbBackend::Sqlite, many);
        let text = INSERT_TEXTS.get(&cache_key).map(|text| text.clone());
        let statement = if let Some(text) = text {
            let columns = ColumnOf::<M>::iter;
            let values =
                some.into_iter().flat_map(|mut row| columns().filter_map(move |column| row.take(column).into_value()));
            Statement::from_sql_and_values(backend, &*text, values)
        } else {
            let mut query = EntityOf::<M>::insert_many(some);
            if let Some(on_conflict) = &on_conflict {
                query = query.on_conflict(on_conflict.clone());
            }
            let query = query.build(backend);
            INSERT_TEXTS.insert(cache_key, query.sql.as_str().into());
            query
        };
        written += tx.execute_raw(statement).await.map_err(map_db_error)?.rows_affected();
    }
    Ok(written)
}

/// Returns the row count of the next statement, given the number of rows left.
fn portion(left: usize) -> usize {
    if left <= EXACT_LENGTHS_UP_TO {
        left
    } else if left >= MAX_ROWS_PER_STATEMENT {
        MAX_ROWS_PER_STATEMENT
    } else {
        1 << left.ilog2()
    }
}

/// Returns the clause that makes a row completely replace the one with the same key.
fn replace<M: ModelTrait>() -> OnConflict {
    let keys = || <EntityOf<M> as EntityTrait>::PrimaryKey::iter().map(PrimaryKeyToColumn::into_column);
    let names: Vec<_> = keys().map(|column| column.to_string()).collect();
    let others = ColumnOf::<M>::iter().filter(|column| !names.contains(&column.to_string()));
    OnConflict::columns(keys()).update_columns(others).to_owned()
}

/// Distinguishes a violated unique constraint or a rejected value from a failing database.
pub(super) fn map_db_error(error: DbErr) -> WriteError {
    let Some(SqlErr::UniqueConstraintViolation(message)) = error.sql_err() else {
        return if refuses_value(&error) { WriteError::Value(error) } else { WriteError::Db(error) };
    };
    let name = match &error {
        DbErr::Exec(RuntimeErr::SqlxError(inner)) | DbErr::Query(RuntimeErr::SqlxError(inner)) => {
            inner.as_database_error().and_then(|e| e.constraint()).and_then(by_name)
        }
        _ => None,
    };
    WriteError::Constraint(name.or_else(|| by_columns(&message)).unwrap_or(message))
}

/// Parses the name of a violated PostgreSQL constraint, such as `uq__deliveries__endpoint_id__event_id__replay`.
fn by_name(constraint: &str) -> Option<String> {
    let (table, columns) = constraint.strip_prefix("uq__")?.split_once("__")?;
    Some(format!("{table}.{}", columns.replace("__", ",")))
}

/// Parses the columns from an SQLite constraint error, such as
/// `UNIQUE constraint failed: deliveries.endpoint_id, deliveries.event_id, deliveries.replay`.
fn by_columns(message: &str) -> Option<String> {
    let (_, columns) = message.split_once("UNIQUE constraint failed: ")?;
    let (table, _) = columns.split_once('.')?;
    let prefix = format!("{table}.");
    let columns: Vec<_> = columns.split(", ").map(|column| column.strip_prefix(&prefix).unwrap_or(column)).collect();
    Some(format!("{table}.{}", columns.join(",")))
}
