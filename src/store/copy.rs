//! Consistent copy of the whole database in one file. It is made while the shop keeps running, and then verified: it
//! must be completely readable, and its tables must have the same row counts as the database.
//!
//! With SQLite, SQLite itself makes the copy (`sqlite`); with PostgreSQL, the PostgreSQL client programs do
//! (`postgres`).

mod postgres;
pub mod restore;
pub mod scratch;
mod sqlite;
pub mod transfer;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

use sea_orm::{ConnectionTrait, DatabaseBackend, DbErr, Statement};
use tokio::time::timeout;

use super::Unavailable;
use super::connect::{self, DatabaseSettings, OpenError, sqlite_file};
use super::lease::LEASE_TABLE;

/// Timeout for making and verifying a copy.
const MAX_COPY_TIME: Duration = Duration::from_secs(3600);

/// Reason that the copy failed. The error output of programs is only for the log.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The database does not respond or cannot be read.
    #[error("the database cannot be read: {words}")]
    Database {
        /// Type of outage.
        why: Unavailable,
        /// Error message from the database.
        words: String,
    },
    /// A PostgreSQL program needed to make or read copies is not installed.
    #[error(
        "{0} is not installed on the server; install the PostgreSQL client programs (Debian: apt install postgresql-client) and try again"
    )]
    NoProgram(&'static str),
    /// A PostgreSQL program is older than the database server and therefore cannot copy the database.
    #[error(
        "{program} is from PostgreSQL {version}, but the database is PostgreSQL {server_version}; install the client programs of PostgreSQL {server_version} on the server and try again"
    )]
    OldProgram {
        /// Program name.
        program: &'static str,
        /// Major version of the program.
        version: u32,
        /// Major version of the database server.
        server_version: u32,
    },
    /// A PostgreSQL program failed.
    #[error("{program} failed: {words}")]
    Failed {
        /// Program name.
        program: &'static str,
        /// Error output of the program.
        words: String,
    },
    /// The copy does not match the database.
    #[error("the copy of the database is damaged: {0}")]
    Unsound(String),
    /// Copying timed out and was aborted.
    #[error("copying the database took longer than {} minutes", MAX_COPY_TIME.as_secs() / 60)]
    TookTooLong,
    /// The copy's file cannot be written or read.
    #[error(transparent)]
    Disk(#[from] io::Error),
}

impl From<DbErr> for CopyError {
    fn from(error: DbErr) -> Self {
        Self::Database { why: connect::unavailable(&error), words: error.to_string() }
    }
}

impl From<OpenError> for CopyError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Database(error) => error.into(),
            other => Self::Database { why: Unavailable::Database, words: other.to_string() },
        }
    }
}

/// Summary of a copy's contents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DatabaseCopy {
    /// Name of the latest migration applied to the database.
    pub schema: String,
    /// Number of rows per table.
    pub rows: BTreeMap<String, u64>,
}

/// Service that copies the database, using its own connections.
#[derive(Clone)]
pub struct DatabaseCopier {
    settings: DatabaseSettings,
}

impl DatabaseCopier {
    /// Creates a copier for the given database.
    pub fn new(settings: DatabaseSettings) -> Self {
        Self { settings }
    }

    fn is_sqlite(&self) -> bool {
        self.settings.url.starts_with("sqlite:")
    }

    /// Returns the kind of database: `sqlite` or `postgresql`.
    pub fn kind(&self) -> &'static str {
        if self.is_sqlite() { "sqlite" } else { "postgresql" }
    }

    /// Returns the file name for a copy. With SQLite, this is the name of the database file itself, so that a server
    /// can use the copy unchanged.
    pub fn file_name(&self) -> &'static str {
        if self.is_sqlite() { "printfloor.db" } else { "printfloor.pgdump" }
    }

    /// Returns the approximate size of the database, in bytes. A copy is rarely larger.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be queried.
    pub async fn size(&self) -> Result<u64, CopyError> {
        if let Some(file) = sqlite_file(&self.settings.url) {
            return Ok(tokio::fs::metadata(file).await?.len());
        }
        let db = connect::copying(&self.settings, None).await?;
        let size = number(&db, "SELECT pg_database_size(current_database()) AS value").await;
        db.close().await?;
        Ok(size?)
    }

    /// Copies the database into the given file, which must exist and be empty, and verifies the copy against the
    /// database.
    ///
    /// # Errors
    ///
    /// Fails if the copy cannot be made or does not match the database.
    pub async fn copy_to(&self, file: &Path) -> Result<DatabaseCopy, CopyError> {
        let copying = async {
            if self.is_sqlite() {
                sqlite::copy(&self.settings, file).await
            } else {
                postgres::copy(&self.settings, file).await
            }
        };
        timeout(MAX_COPY_TIME, copying).await.map_err(|_| CopyError::TookTooLong)?
    }
}

/// Runs a query and returns its `value` column as a number.
async fn number(db: &impl ConnectionTrait, sql: &str) -> Result<u64, DbErr> {
    let statement = Statement::from_string(db.get_database_backend(), sql);
    let number: Option<i64> = db.query_one_raw(statement).await?.map(|row| row.try_get("", "value")).transpose()?;
    Ok(number.unwrap_or_default() as u64)
}

/// Runs a query and returns its `value` column as text; empty if there is no row.
async fn text(db: &impl ConnectionTrait, sql: &str) -> Result<String, DbErr> {
    let statement = Statement::from_string(db.get_database_backend(), sql);
    let text: Option<String> = db.query_one_raw(statement).await?.map(|row| row.try_get("", "value")).transpose()?;
    Ok(text.unwrap_or_default())
}

/// Returns the name of the latest migration applied to the database.
async fn schema_of(db: &impl ConnectionTrait) -> Result<String, DbErr> {
    text(db, "SELECT MAX(version) AS value FROM seaql_migrations").await
}

/// Counts the rows per table, without the lease. Must run in a transaction, or on a database that is not being written
/// to.
async fn counted(db: &impl ConnectionTrait) -> Result<BTreeMap<String, u64>, DbErr> {
    let backend = db.get_database_backend();
    let names = match backend {
        DatabaseBackend::Postgres => {
            "SELECT tablename::text AS name FROM pg_tables WHERE schemaname = current_schema()"
        }
        _ => "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
    };
    let mut rows = BTreeMap::new();
    for row in db.query_all_raw(Statement::from_string(backend, names)).await? {
        let name: String = row.try_get("", "name")?;
        // Which server leads is nothing of the shop.
        if name == LEASE_TABLE {
            continue;
        }
        let count = format!("SELECT COUNT(*) AS value FROM \"{}\"", name.replace('"', "\"\""));
        let count = number(db, &count).await?;
        rows.insert(name, count);
    }
    Ok(rows)
}
