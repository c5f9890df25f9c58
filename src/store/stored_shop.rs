//! Databases with a shop that commands read or correct as they are, beside a running server too. Nothing is created or
//! brought up to date for them, unlike by a start (`connect`).

use migrations::SchemaManager;
use sea_orm::{ConnectionTrait as _, DatabaseBackend, DatabaseConnection, DbErr};

use crate::connect::{self, DatabaseSettings, OpenError, refuse_newer};

/// Reason that a stored shop cannot be read or corrected.
#[derive(Debug, thiserror::Error)]
pub enum StoredShopError {
    /// The database cannot be opened, read or written.
    #[error(transparent)]
    Database(#[from] OpenError),
    /// The database has none of Printfloor's tables, or its file does not exist.
    #[error("it contains no shop")]
    NoShop,
    /// The schema does not yet contain what is to be read.
    #[error("its tables belong to an older version of printfloor; the next start brings them up to date")]
    OlderTables,
}

impl From<DbErr> for StoredShopError {
    fn from(error: DbErr) -> Self {
        Self::Database(error.into())
    }
}

/// Opens a database for reading alone.
///
/// # Errors
///
/// Fails if the database cannot be read, contains no shop, or belongs to a newer version.
pub(crate) async fn open_for_reading(settings: &DatabaseSettings) -> Result<DatabaseConnection, StoredShopError> {
    if connect::sqlite_file(&settings.url).is_some_and(|file| !file.exists()) {
        return Err(StoredShopError::NoShop);
    }
    connect::reach(&settings.url).await?;
    let db = connect::copying(settings, None).await?;
    match check(&db).await {
        Ok(()) => Ok(db),
        Err(error) => {
            let _ = db.close().await;
            Err(error)
        }
    }
}

/// Checks that a database contains a shop that this version can read, and allows it to be read only.
async fn check(db: &DatabaseConnection) -> Result<(), StoredShopError> {
    if db.get_database_backend() == DatabaseBackend::Sqlite {
        db.execute_unprepared("PRAGMA query_only = ON").await?;
    }
    refuse_newer(db).await?;
    if SchemaManager::new(db).has_table("writer").await? { Ok(()) } else { Err(StoredShopError::NoShop) }
}
