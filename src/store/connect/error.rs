//! Database errors: the reasons why a database cannot be opened, and the meaning of statement errors.

use sea_orm::{DbErr, RuntimeErr};

use super::{CONNECT_TIMEOUT, NewerMigration};
use crate::Unavailable;
use domain::database_address::DatabaseAddressError;
use platform::io_words::io_words;

/// SQLite error code for a file that is not a database.
const SQLITE_NOT_A_DATABASE: &str = "26";

/// Reason that the database cannot be used, for the log and `printfloor check`. HTTP callers never see it.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The database reports an error or cannot be reached.
    #[error("{}", plain(.0))]
    Database(DbErr),
    /// The hosts in the database address cannot be told apart.
    #[error("the address of the database {0}")]
    Address(#[from] DatabaseAddressError),
    /// No server is listening at the database address. Contains host and port of each attempted connection, with the
    /// operating system's error message.
    #[error("no server responds at {0}")]
    Unreachable(String),
    /// None of the hosts accepts writes. Contains each host with its reason.
    #[error("no host of the database can be written: {0}")]
    NoWritingHost(String),
    /// The file is not a database.
    #[error("the file is not a Printfloor database")]
    NotADatabase,
    /// The connection failed while the next epoch was being committed, so the epoch may or may not have been taken.
    #[error("{}", plain(.0))]
    EpochUncertain(DbErr),
    /// A different server has taken an epoch newer than all of this process's epochs; this process must never write
    /// again.
    #[error("another printfloor server has taken over this database")]
    TakenOver,
    /// A different server holds the advisory lock (PostgreSQL).
    #[error("another printfloor server uses this database")]
    InUse,
    /// Restoring a backup into the database was interrupted.
    #[error("the restore of a backup into this database was interrupted")]
    RestoreUnfinished,
    /// The `writer` table has no row, so the tables do not belong to Printfloor.
    #[error("the database has no writer row; check that database.url is the address of a Printfloor database")]
    NoWriterRow,
    /// The database has migrations that this version does not have.
    #[error("the database was written by a newer version of Printfloor: {0}")]
    NewerTables(NewerMigration),
}

impl From<DbErr> for OpenError {
    fn from(error: DbErr) -> Self {
        match sqlx_error(&error) {
            Some(sqlx::Error::Database(db_error)) if db_error.code().as_deref() == Some(SQLITE_NOT_A_DATABASE) => {
                Self::NotADatabase
            }
            _ => Self::Database(error),
        }
    }
}

/// Returns the driver's error inside one of the object mapper; `None` if there is none.
pub(super) fn sqlx_error(error: &DbErr) -> Option<&sqlx::Error> {
    match error {
        DbErr::Conn(RuntimeErr::SqlxError(inner))
        | DbErr::Exec(RuntimeErr::SqlxError(inner))
        | DbErr::Query(RuntimeErr::SqlxError(inner)) => Some(inner),
        _ => None,
    }
}

/// Returns the error message from the database server or the operating system, without the messages added by the layers
/// in between.
fn plain(error: &DbErr) -> String {
    match error {
        DbErr::Conn(RuntimeErr::Internal(words)) => words.clone(),
        _ => sqlx_error(error).map_or_else(|| error.to_string(), driver_words),
    }
}

/// Returns the message of a driver's error like [`plain`].
pub(super) fn driver_words(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(db_error) => db_error.message().to_owned(),
        sqlx::Error::Io(system) => io_words(system),
        sqlx::Error::PoolTimedOut => format!("no connection within {} s", CONNECT_TIMEOUT.as_secs()),
        other => other.to_string(),
    }
}

/// Classifies the outage indicated by an error, by the error's code or, if it has none, by its text.
pub fn unavailable(error: &DbErr) -> Unavailable {
    let words = error.to_string().to_lowercase();
    let code = match error {
        DbErr::Exec(RuntimeErr::SqlxError(e)) | DbErr::Query(RuntimeErr::SqlxError(e)) => {
            e.as_database_error().and_then(|e| e.code().map(std::borrow::Cow::into_owned))
        }
        _ => None,
    };
    match code.as_deref() {
        Some("13" | "53100") => Unavailable::DiskFull,
        Some("8" | "25006" | "1544" | "264" | "520" | "776") => Unavailable::ReadOnly,
        _ if words.contains("database or disk is full") || words.contains("no space left") => Unavailable::DiskFull,
        _ if words.contains("readonly database") || words.contains("read-only") => Unavailable::ReadOnly,
        _ => Unavailable::Database,
    }
}
