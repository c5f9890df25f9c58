//! Exclusion of other servers: the advisory lock of a PostgreSQL database, and the epoch.

use std::time::Duration;

use sea_orm::{
    ConnectionTrait, DatabaseBackend, DatabaseConnection, DatabaseTransaction, DbErr, Statement, TransactionTrait,
};
use tokio::time::{Instant, sleep};

use super::OpenError;
use domain::audit::chain::ChainHead;

/// Key of the advisory lock that prevents a second server from using a PostgreSQL database: the bytes of "Printflo".
pub(crate) const ADVISORY_LOCK: i64 = 0x5072_696e_7466_6c6f;

/// Maximum time that the start of a server waits for the lock.
const LOCK_TIME: Duration = Duration::from_secs(2);
/// Interval between two attempts to acquire the lock.
const LOCK_INTERVAL: Duration = Duration::from_millis(50);

/// Acquires the advisory lock on the database, which is held as long as the connection is open.
pub(crate) async fn lock(db: &DatabaseConnection) -> Result<(), OpenError> {
    let backend = db.get_database_backend();
    if backend != DatabaseBackend::Postgres {
        return Ok(());
    }
    let lock = Statement::from_string(backend, format!("SELECT pg_try_advisory_lock({ADVISORY_LOCK}) AS held"));
    let row = db.query_one_raw(lock).await?;
    match row.map(|row| row.try_get::<bool>("", "held")).transpose()? {
        Some(true) => Ok(()),
        _ => Err(OpenError::InUse),
    }
}

/// Acquires the advisory lock like [`lock`], but waits briefly for its current holder: a leader that has just been
/// replaced reconnects, and needs the lock to find this out.
pub(super) async fn lock_in_time(db: &DatabaseConnection) -> Result<(), OpenError> {
    let until = Instant::now() + LOCK_TIME;
    loop {
        match lock(db).await {
            Err(OpenError::InUse) if Instant::now() < until => sleep(LOCK_INTERVAL).await,
            outcome => return outcome,
        }
    }
}

/// Returns the epoch that was taken last, by any server.
pub(super) async fn epoch_on_disk(db: &DatabaseConnection) -> Result<i64, OpenError> {
    let read = Statement::from_string(db.get_database_backend(), "SELECT epoch FROM writer WHERE id = 1");
    Ok(db.query_one_raw(read).await?.ok_or(OpenError::NoWriterRow)?.try_get("", "epoch")?)
}

/// Raises the epoch in a schema of any version, so that the server that had taken the last epoch writes nothing more.
pub(super) async fn raise_epoch(db: &DatabaseConnection) -> Result<(), OpenError> {
    let raised = db.execute_unprepared("UPDATE writer SET epoch = epoch + 1 WHERE id = 1").await?;
    if raised.rows_affected() == 1 { Ok(()) } else { Err(OpenError::NoWriterRow) }
}

/// Holds the epoch until the transaction ends, and sets the head of the audit log. Returns `false` if a different
/// server has taken a later epoch: then nothing may be written.
pub(crate) async fn hold_epoch(tx: &DatabaseTransaction, epoch: i64, audit: &ChainHead) -> Result<bool, DbErr> {
    let hold = "UPDATE writer SET epoch = $1, audit_number = $2, audit_chain = $3 WHERE id = 1 AND epoch = $1";
    let values = [epoch.into(), audit.number.into(), audit.hash.clone().into()];
    let held = tx.execute_raw(Statement::from_sql_and_values(tx.get_database_backend(), hold, values)).await?;
    Ok(held.rows_affected() == 1)
}

/// Epoch, and the ends of the logs written under it.
pub(super) struct WriterPosition {
    pub(super) epoch: i64,
    /// Number of the last event.
    pub(super) last_seq: i64,
    /// Head of the audit log.
    pub(super) audit: ChainHead,
}

/// Takes the next epoch and reads the number of the last event and the head of the audit log, in one transaction.
pub(super) async fn take_epoch(db: &DatabaseConnection) -> Result<WriterPosition, OpenError> {
    let backend = db.get_database_backend();
    let tx = db.begin().await?;
    let take = "UPDATE writer SET epoch = epoch + 1 WHERE id = 1 RETURNING epoch, audit_number, audit_chain";
    let row = tx.query_one_raw(Statement::from_string(backend, take)).await?.ok_or(OpenError::NoWriterRow)?;
    let epoch = row.try_get("", "epoch")?;
    let audit = ChainHead { number: row.try_get("", "audit_number")?, hash: row.try_get("", "audit_chain")? };
    let last = Statement::from_string(backend, "SELECT CAST(COALESCE(MAX(seq), 0) AS BIGINT) AS last FROM events");
    let last_seq = tx.query_one_raw(last).await?.map(|row| row.try_get("", "last")).transpose()?.unwrap_or(0);
    tx.commit().await.map_err(OpenError::EpochUncertain)?;
    Ok(WriterPosition { epoch, last_seq, audit })
}
