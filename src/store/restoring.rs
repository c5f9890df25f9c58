//! Records in a restored database that it was restored: writes a row for the restore, the gaps in the number series and
//! an event, in one transaction. Must run before anything else is written.

use migrations::SchemaManager;
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseConnection, DbErr, EntityTrait, QueryFilter, QuerySelect, Statement,
    TransactionTrait as _,
};

use crate::connect::{self, DatabaseSettings, OpenError, UNFINISHED_TABLE, WriteConnection};
use crate::rows::{Audit, Batch, LoadError, Snapshot as _, WriteError};
use domain::aggregate::NumberSeries;
use domain::principal::Principal;
use domain::restore::numbers::{PACE_DAYS, SeriesUse};
use domain::restore::{Restore, RestoreFacts};
use domain::time::{DAY_MS, Timestamp};
use entities::invoice_documents::Column;
use entities::{invoice_documents, restores};

/// Reason that the restore could not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RestoringError {
    /// The database cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The database cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A different server has taken over the database.
    #[error(transparent)]
    Open(#[from] OpenError),
}

impl From<DbErr> for RestoringError {
    fn from(error: DbErr) -> Self {
        Self::Load(error.into())
    }
}

/// Backup that the database was restored from.
#[derive(Clone, Debug)]
pub struct RestoredBackup {
    /// SHA-256 hash of the backup's manifest, in hex.
    pub sha256: String,
    /// Time at which the backup was made.
    pub made_at: Timestamp,
}

/// Records that the database was restored from a backup, unless this is already recorded. The connection goes on from
/// the record.
///
/// # Errors
///
/// Fails if the database cannot be read or written, or if a different server has taken over; then nothing is recorded.
pub async fn record(
    writing: &mut WriteConnection,
    backup: &RestoredBackup,
    now: Timestamp,
) -> Result<(), RestoringError> {
    let tx = writing.db.begin().await?;
    let last_event = scalar(&tx, "SELECT CAST(COALESCE(MAX(seq), 0) AS BIGINT) AS value FROM events", []).await?;
    let id = Restore::id_of(&backup.sha256);
    if restores::Entity::find_by_id(id.to_string()).one(&tx).await?.is_some() {
        return Ok(());
    }
    let used = series_used(&tx, backup.made_at).await?;
    let (sha256, backup_made_at) = (backup.sha256.clone(), backup.made_at);
    let facts = RestoreFacts { backup: sha256, backup_made_at, now, last_event, used };
    let (restore, rows, event) = Restore::begin(&facts);
    let mut batch = Batch::default();
    batch.push_snapshot(restore.snapshot(id, 1, false)?);
    for row in &rows {
        batch.push_row(row)?;
    }
    batch.push_event(restore.first_event, &event)?;
    let mut audit = writing.audit.clone();
    let line = Audit {
        id: event.id,
        at: now,
        actor: Principal::Machine.to_string(),
        action: "restore.begin".to_owned(),
        subject_kind: "restore".to_owned(),
        subject_id: id,
        request_id: None,
        outcome: "done".to_owned(),
        detail: None,
    };
    batch.push_audit(line, &mut audit);
    writing.hold(&tx, &audit).await?;
    batch.write(&tx).await?;
    tx.commit().await?;
    (writing.last_seq, writing.audit) = (restore.first_event, audit);
    Ok(())
}

/// Returns whether a restore into the database is complete: recorded, and not marked as unfinished. `backup` is the
/// SHA-256 hash of the backup's manifest, in hex; if it is empty, any restore is accepted. Changes nothing.
///
/// # Errors
///
/// Fails if the database cannot be queried.
pub async fn is_recorded(settings: &DatabaseSettings, backup: &str) -> Result<bool, OpenError> {
    if connect::sqlite_file(&settings.url).is_some_and(|file| !file.exists()) {
        return Ok(false);
    }
    connect::reach(&settings.url).await?;
    let db = connect::reading(&DatabaseSettings { read_connections: 1, ..settings.clone() }).await?;
    let recorded = has_record(&db, backup).await;
    db.close().await?;
    Ok(recorded?)
}

async fn has_record(db: &DatabaseConnection, backup: &str) -> Result<bool, DbErr> {
    let tables = SchemaManager::new(db);
    if tables.has_table(UNFINISHED_TABLE).await? || !tables.has_table("restores").await? {
        return Ok(false);
    }
    let mut all = restores::Entity::find().select_only().column(restores::Column::Id);
    if !backup.is_empty() {
        all = all.filter(restores::Column::Id.eq(Restore::id_of(backup).to_string()));
    }
    let id: Option<String> = all.into_tuple().one(db).await?;
    Ok(id.is_some())
}

/// Returns the highest number used in each series, and how fast the series was growing before the backup.
async fn series_used(db: &impl ConnectionTrait, made_at: Timestamp) -> Result<Vec<SeriesUse>, RestoringError> {
    let since = made_at.plus_ms(-PACE_DAYS * DAY_MS).0;
    let mut used = Vec::new();
    for series in NumberSeries::ALL {
        let table = match series {
            NumberSeries::Order => "orders",
            NumberSeries::Job => "jobs",
            NumberSeries::Quote => "quotes",
        };
        let last = format!("SELECT CAST(COALESCE(MAX(number), 0) AS BIGINT) AS value FROM {table}");
        let recent = format!("SELECT COUNT(*) AS value FROM {table} WHERE created_at >= $1");
        used.push(SeriesUse {
            series: series.prefix().to_owned(),
            last: scalar(db, &last, []).await?,
            recent: scalar(db, &recent, [since.into()]).await?,
        });
    }
    let select = invoice_documents::Entity::find().select_only().column(Column::Series);
    let of_all = select.clone().column_as(Column::Number.max(), "last").group_by(Column::Series);
    let lasts: Vec<(String, i64)> = of_all.into_tuple().all(db).await?;
    let of_late =
        select.column_as(Column::Number.count(), "n").filter(Column::CreatedAt.gte(since)).group_by(Column::Series);
    let recent: Vec<(String, i64)> = of_late.into_tuple().all(db).await?;
    used.extend(lasts.into_iter().map(|(series, last)| {
        let recent = recent.iter().find(|(name, _)| *name == series).map_or(0, |(_, count)| *count);
        SeriesUse { series, last, recent }
    }));
    // What an earlier restore left out is behind the last number too.
    let gaps = "SELECT series, MAX(last_number) AS value FROM number_gaps GROUP BY series";
    for row in db.query_all_raw(Statement::from_string(db.get_database_backend(), gaps)).await? {
        let (series, last): (String, i64) = (row.try_get("", "series")?, row.try_get("", "value")?);
        match used.iter_mut().find(|one| one.series == series) {
            Some(existing) => existing.last = existing.last.max(last),
            None => used.push(SeriesUse { series, last, recent: 0 }),
        }
    }
    Ok(used)
}

/// Runs a query and returns its `value` column as a number.
async fn scalar<const N: usize>(
    db: &impl ConnectionTrait,
    sql: &str,
    values: [sea_orm::Value; N],
) -> Result<i64, RestoringError> {
    let query = Statement::from_sql_and_values(db.get_database_backend(), sql, values);
    let row = db.query_one_raw(query).await?;
    Ok(row.map(|row| row.try_get("", "value")).transpose()?.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::rows::samples::{at, on_each};

    #[tokio::test]
    async fn a_server_that_was_followed_records_nothing() {
        on_each(async |db| {
            let backup = RestoredBackup { sha256: "ab".to_owned(), made_at: at(0) };
            let mut former = WriteConnection::take(db.clone()).await.unwrap();
            let mut next = WriteConnection::take(db.clone()).await.unwrap();
            let refused = record(&mut former, &backup, at(1)).await;
            assert!(matches!(refused, Err(RestoringError::Open(OpenError::TakenOver))), "{refused:?}");
            assert!(!has_record(db, "ab").await.unwrap());
            record(&mut next, &backup, at(1)).await.unwrap();
            assert!(has_record(db, "ab").await.unwrap());
        })
        .await;
    }
}
