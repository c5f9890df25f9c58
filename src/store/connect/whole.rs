//! Connections that read or write a whole database, without time limits.

use std::path::PathBuf;
use std::time::Duration;

use sea_orm::{ConnectionTrait as _, Database, DatabaseBackend, DatabaseConnection, DbErr, Statement};

use super::error::sqlx_error;
use super::{DatabaseSettings, OpenError, lock, options, sqlite_writer};

/// Maximum time to wait for another process to close an SQLite file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);

/// Number of prepared statements cached by an exclusive connection, whose statements are few and long.
const MAX_CACHED_STATEMENTS: usize = 8;

/// Page cache while a whole SQLite database is written, in KiB when negative. Rows come in no order, so that each
/// index is written all over.
const TRANSFER_CACHE: &str = "-262144";

/// SQLite error code for a file that another process has open.
const SQLITE_BUSY: &str = "5";

/// Opens a separate connection for reading the whole database, without a statement timeout or a limit on idle
/// transactions. With SQLite, reads the file `copy` instead.
pub(crate) async fn copying(
    settings: &DatabaseSettings,
    copy: Option<PathBuf>,
) -> Result<DatabaseConnection, OpenError> {
    let mut options = options(settings, 1).await?;
    options.idle_timeout(None).max_lifetime(None);
    options.map_sqlx_sqlite_opts(move |options| {
        let options = options.create_if_missing(false).busy_timeout(Duration::from_secs(5));
        match &copy {
            Some(copy) => options.filename(copy).read_only(true),
            None => options,
        }
    });
    options.map_sqlx_postgres_opts(|options| {
        options.options([
            ("statement_timeout", "0"),
            ("idle_in_transaction_session_timeout", "0"),
            ("default_transaction_read_only", "on"),
        ])
    });
    Ok(Database::connect(options).await?)
}

/// Purpose of an exclusive connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExclusiveAccess {
    /// The database is only read, and must exist.
    Read,
    /// The database is written. An SQLite file that does not exist is created.
    Write,
}

/// Opens the only connection to a database. No server can use the database until it is closed: an SQLite file is locked
/// as a whole, and on PostgreSQL the lock that servers acquire is held.
pub(crate) async fn exclusive(
    settings: &DatabaseSettings,
    access: ExclusiveAccess,
) -> Result<DatabaseConnection, OpenError> {
    let writes = access == ExclusiveAccess::Write;
    let mut options = options(settings, 1).await?;
    options.idle_timeout(None).max_lifetime(None);
    options.map_sqlx_sqlite_opts(move |options| {
        let options = if writes { sqlite_writer(options).pragma("cache_size", TRANSFER_CACHE) } else { options };
        options
            .read_only(false)
            .create_if_missing(writes)
            .pragma("locking_mode", "EXCLUSIVE")
            .statement_cache_capacity(MAX_CACHED_STATEMENTS)
            .busy_timeout(BUSY_TIMEOUT)
    });
    options.map_sqlx_postgres_opts(move |options| {
        options.statement_cache_capacity(MAX_CACHED_STATEMENTS).options([
            ("synchronous_commit", "on"),
            ("statement_timeout", "0"),
            ("idle_in_transaction_session_timeout", "0"),
            ("default_transaction_read_only", if writes { "off" } else { "on" }),
            ("tcp_keepalives_idle", "5"),
            ("tcp_keepalives_interval", "2"),
            ("tcp_keepalives_count", "3"),
        ])
    });
    let db = Database::connect(options).await.map_err(in_use_or_failed)?;
    lock(&db).await?;
    if db.get_database_backend() == DatabaseBackend::Sqlite {
        // SQLite locks the file when it is first read.
        let first_read = Statement::from_string(DatabaseBackend::Sqlite, "SELECT COUNT(*) AS value FROM sqlite_master");
        db.query_one_raw(first_read).await.map_err(in_use_or_failed)?;
    }
    Ok(db)
}

fn in_use_or_failed(error: DbErr) -> OpenError {
    match sqlx_error(&error) {
        Some(sqlx::Error::Database(db_error)) if db_error.code().as_deref() == Some(SQLITE_BUSY) => OpenError::InUse,
        _ => error.into(),
    }
}
