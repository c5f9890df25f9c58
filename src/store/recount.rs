//! Recount of a database: the numbers of rows and sums of prints that each transaction updates are compared with the
//! rows themselves, and those that are wrong are corrected. They are right as long as only the server writes; someone
//! may have edited the tables by hand.

use migrations::SchemaManager;
use sea_orm::{ConnectionTrait as _, DatabaseBackend, DatabaseConnection, TransactionTrait as _};

use crate::connect::{self, DatabaseSettings, WriteConnection};
use crate::rows::{WrongNumber, correct_numbers, wrong_numbers};
use crate::stored_shop::{StoredShopError, open_for_reading};

/// Counts everything in a database, and lists the first numbers that are wrong. A server may write to it meanwhile.
///
/// # Errors
///
/// Fails if the database cannot be read, or contains no numbers of this version, or of a newer one.
pub async fn compare(settings: &DatabaseSettings) -> Result<Vec<WrongNumber>, StoredShopError> {
    let db = open_for_reading(settings).await?;
    let wrong = compare_in(&db).await;
    let _ = db.close().await;
    wrong
}

async fn compare_in(db: &DatabaseConnection) -> Result<Vec<WrongNumber>, StoredShopError> {
    if !SchemaManager::new(db).has_table("print_sums").await? {
        return Err(StoredShopError::OlderTables);
    }
    Ok(wrong_numbers(db).await?)
}

/// Corrects all wrong numbers in one transaction, under its own epoch, and returns how many there were. The caller must
/// have the lead, as a server does.
///
/// # Errors
///
/// Fails if the database cannot be opened or written; then nothing is changed.
pub async fn correct(settings: &DatabaseSettings) -> Result<u64, StoredShopError> {
    let writing = connect::start(settings).await?;
    let corrected = correct_under(&writing).await;
    let _ = writing.db.close().await;
    corrected
}

async fn correct_under(writing: &WriteConnection) -> Result<u64, StoredShopError> {
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
