//! Recount of a database: the numbers of rows and sums of prints that each transaction updates are compared with the
//! rows themselves, and those that are wrong are corrected. They are right as long as only the server writes; somebody
//! may have written to the tables by hand.

use migrations::SchemaManager;
use sea_orm::{ConnectionTrait as _, DatabaseBackend, DatabaseConnection, DbErr, TransactionTrait as _};

use crate::connect::{self, DatabaseSettings, OpenError, WriteConnection, refuse_newer};
use crate::rows::{WrongNumber, correct_numbers, wrong_numbers};

/// Reason that numbers cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum RecountError {
    /// The database cannot be opened, read or written.
    #[error(transparent)]
    Database(#[from] OpenError),
    /// The database has no tables of Printfloor, or its file does not exist.
    #[error("it contains no shop")]
    NoShop,
    /// The tables have no such numbers yet.
    #[error("its tables belong to an older version of printfloor; the next start brings them up to date")]
    OlderTables,
}

impl From<DbErr> for RecountError {
    fn from(error: DbErr) -> Self {
        Self::Database(error.into())
    }
}

/// Counts everything in a database, and lists the first numbers that are wrong. A server may write to it meanwhile.
///
/// # Errors
///
/// Fails if the database cannot be read, or contains no numbers of this version, or of a newer one.
pub async fn compare(settings: &DatabaseSettings) -> Result<Vec<WrongNumber>, RecountError> {
    if connect::sqlite_file(&settings.url).is_some_and(|file| !file.exists()) {
        return Err(RecountError::NoShop);
    }
    connect::reach(&settings.url).await?;
    let db = connect::copying(settings, None).await?;
    let wrong = compare_in(&db).await;
    let _ = db.close().await;
    wrong
}

async fn compare_in(db: &DatabaseConnection) -> Result<Vec<WrongNumber>, RecountError> {
    if db.get_database_backend() == DatabaseBackend::Sqlite {
        db.execute_unprepared("PRAGMA query_only = ON").await?;
    }
    refuse_newer(db).await?;
    let tables = SchemaManager::new(db);
    if !tables.has_table("writer").await? {
        return Err(RecountError::NoShop);
    }
    if !tables.has_table("print_sums").await? {
        return Err(RecountError::OlderTables);
    }
    Ok(wrong_numbers(db).await?)
}

/// Corrects all numbers that are wrong in one transaction, under an epoch of its own, and returns how many there were.
/// The caller must have the lead, as a server does.
///
/// # Errors
///
/// Fails if the database cannot be opened or written; then nothing is changed.
pub async fn correct(settings: &DatabaseSettings) -> Result<u64, RecountError> {
    let writing = connect::start(settings).await?;
    let corrected = correct_under(&writing).await;
    let _ = writing.db.close().await;
    corrected
}

async fn correct_under(writing: &WriteConnection) -> Result<u64, RecountError> {
    let tx = writing.db.begin().await?;
    writing.hold(&tx, &writing.audit).await?;
    if tx.get_database_backend() == DatabaseBackend::Postgres {
        // Counting all rows of a large shop may take longer than a statement of the server may.
        tx.execute_unprepared("SET LOCAL statement_timeout = 0").await?;
    }
    let corrected = correct_numbers(&tx).await?;
    tx.commit().await?;
    Ok(corrected)
}
