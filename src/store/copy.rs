//! A copy of the whole database in one file, of one moment, made while the shop goes on and then held against the
//! database: its tables have as many rows, and it can be read to its end.
//!
//! SQLite copies itself (`sqlite`); for PostgreSQL its own programs do (`postgres`).

mod postgres;
pub mod restore;
mod sqlite;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

use sea_orm::{ConnectionTrait, DatabaseBackend, DbErr, Statement};
use tokio::time::timeout;

use super::Unavailable;
use super::connect::{self, DatabaseSettings, OpenError, sqlite_file};

/// Longest time of copying and checking.
const MAX_COPY_TIME: Duration = Duration::from_secs(3600);

/// Why there is no copy. The words of a program that failed are for the log.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The database does not answer, or cannot be read.
    #[error("the database cannot be read: {words}")]
    Database {
        /// What kind of outage it is.
        why: Unavailable,
        /// What the database says.
        words: String,
    },
    /// A program of PostgreSQL that makes or reads copies is not there.
    #[error(
        "{0} is not installed where the server runs: install the client programs of PostgreSQL there (Debian: apt install postgresql-client), and try again"
    )]
    NoProgram(&'static str),
    /// It is there, and does not understand the newer server.
    #[error(
        "{program} is of PostgreSQL {found}, and the database of {wanted}: install the client programs of PostgreSQL {wanted} where the server runs, and try again"
    )]
    OldProgram {
        /// Which program.
        program: &'static str,
        /// Its major version.
        found: u32,
        /// The major version of the database server.
        wanted: u32,
    },
    /// A program ended without having done its work.
    #[error("{program} failed: {words}")]
    Failed {
        /// Which program.
        program: &'static str,
        /// What it said last.
        words: String,
    },
    /// It is not a copy of what is in the database.
    #[error("the copy of the database is not sound: {0}")]
    Unsound(String),
    /// It was given up.
    #[error("copying the database took longer than {} minutes", MAX_COPY_TIME.as_secs() / 60)]
    TookTooLong,
    /// The file cannot be written or read.
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

/// What is in a copy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DatabaseCopy {
    /// Name of the newest migration that made its tables.
    pub schema: String,
    /// How many rows each of its tables has.
    pub rows: BTreeMap<String, u64>,
}

/// Copies the database, over connections of its own.
#[derive(Clone)]
pub struct DatabaseCopier {
    settings: DatabaseSettings,
}

impl DatabaseCopier {
    /// For this database.
    pub fn new(settings: DatabaseSettings) -> Self {
        Self { settings }
    }

    fn is_sqlite(&self) -> bool {
        self.settings.url.starts_with("sqlite:")
    }

    /// The kind of database, in a word.
    pub fn kind(&self) -> &'static str {
        if self.is_sqlite() { "sqlite" } else { "postgresql" }
    }

    /// What a copy is called: on SQLite as the database itself, so that a server takes it as it is.
    pub fn file_name(&self) -> &'static str {
        if self.is_sqlite() { "printfloor.db" } else { "printfloor.pgdump" }
    }

    /// About how large the database is, in bytes; a copy is hardly ever larger.
    ///
    /// # Errors
    ///
    /// When it cannot be asked.
    pub async fn size(&self) -> Result<u64, CopyError> {
        if let Some(file) = sqlite_file(&self.settings.url) {
            return Ok(tokio::fs::metadata(file).await?.len());
        }
        let db = connect::copying(&self.settings, None).await?;
        let asked = number(&db, "SELECT pg_database_size(current_database()) AS value").await;
        db.close().await?;
        Ok(asked?)
    }

    /// Copies the database into this file, which is there and empty, and holds the copy against the database.
    ///
    /// # Errors
    ///
    /// When there is no copy, or it is not sound.
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

/// A number that a query answers as `value`.
async fn number(db: &impl ConnectionTrait, sql: &str) -> Result<u64, DbErr> {
    let asked = Statement::from_string(db.get_database_backend(), sql);
    let number: Option<i64> = db.query_one_raw(asked).await?.map(|row| row.try_get("", "value")).transpose()?;
    Ok(number.unwrap_or_default() as u64)
}

/// A text that a query answers as `value`; empty where it answers no row.
async fn text(db: &impl ConnectionTrait, sql: &str) -> Result<String, DbErr> {
    let asked = Statement::from_string(db.get_database_backend(), sql);
    let text: Option<String> = db.query_one_raw(asked).await?.map(|row| row.try_get("", "value")).transpose()?;
    Ok(text.unwrap_or_default())
}

/// Name of the newest migration that the tables have seen.
async fn schema_of(db: &impl ConnectionTrait) -> Result<String, DbErr> {
    text(db, "SELECT MAX(version) AS value FROM seaql_migrations").await
}

/// How many rows each table has. To be asked in a transaction, or of what nobody writes to.
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
        let count = format!("SELECT COUNT(*) AS value FROM \"{}\"", name.replace('"', "\"\""));
        let count = number(db, &count).await?;
        rows.insert(name, count);
    }
    Ok(rows)
}
