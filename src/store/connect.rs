//! Opens the database: the writer's single connection with its epoch, and the read pool.
//!
//! Opening for writing takes these steps on one connection: check whether a different server has taken over, acquire
//! the lock that excludes other servers (on PostgreSQL; with SQLite, the lock on the data directory has this role), and
//! take the next epoch. The first time a process opens the database, it migrates the tables before these steps.

use std::path::PathBuf;
use std::time::Duration;

use migrations::{Migrator, MigratorTrait, SchemaManager};
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseBackend, DatabaseConnection, DbErr, RuntimeErr, Statement,
    TransactionTrait,
};
use sqlx::postgres::PgConnectOptions;
use url::Host;

use crate::Unavailable;
use platform::http::lan_connect;
use platform::io_words::io_words;
pub(crate) use whole::{ExclusiveAccess, copying, exclusive};

#[cfg(test)]
mod tests;
mod whole;

/// Database address and connection limits.
#[derive(Clone, Debug)]
pub struct DatabaseSettings {
    /// Database address: `sqlite://…?mode=rwc` or `postgres://…`.
    pub url: String,
    /// Maximum number of connections in the read pool.
    pub read_connections: u32,
    /// Maximum execution time of a PostgreSQL statement in the read pool.
    pub statement_timeout: Duration,
}

/// Reason that the database cannot be used, for the log and `printfloor check`. HTTP callers never see it.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The database reports an error or cannot be reached.
    #[error("{}", plain(.0))]
    Database(DbErr),
    /// No server is listening at the database address.
    #[error("no server responds at {address} ({words})")]
    Unreachable {
        /// Host and port of the attempted connection.
        address: String,
        /// Operating system's error message.
        words: String,
    },
    /// The file is not a database.
    #[error("the file is not a Printfloor database")]
    NotADatabase,
    /// The connection failed while the next epoch was being committed, so the epoch may or may not have been taken.
    #[error("{}", plain(.0))]
    EpochUncertain(DbErr),
    /// A different server has taken an epoch newer than all those of this process, which must never write again.
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
}

/// The writer's connection, with its epoch.
///
/// Opening the connection takes the next epoch from the `writer` row, and every transaction checks that the row still
/// contains the same epoch. A server that loses its connection and is replaced by a different server can therefore no
/// longer write.
pub struct WriteConnection {
    /// Pool of exactly one connection.
    pub db: DatabaseConnection,
    /// Epoch taken by this connection. A different epoch on disk means that a different server has taken over.
    pub epoch: i64,
    /// Number of the last event; read when the epoch is taken, and advanced with each commit.
    pub last_seq: i64,
}

/// Key of the advisory lock that prevents a second server from using a PostgreSQL database: the bytes of "Printflo".
pub(super) const ADVISORY_LOCK: i64 = 0x5072_696e_7466_6c6f;

/// Table that exists in a PostgreSQL database while a backup is being restored into it.
pub const UNFINISHED_TABLE: &str = "printfloor_restore_unfinished";

/// Connection timeout.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// SQLite error code for a file that is not a database.
const SQLITE_NOT_A_DATABASE: &str = "26";

/// Number of prepared statements cached for the writer's connection. Each table has a few statements, each prepared for
/// a few row counts.
const CACHED_STATEMENTS: usize = 512;

fn options(settings: &DatabaseSettings, max_connections: u32) -> ConnectOptions {
    let mut options = ConnectOptions::new(&settings.url);
    options
        .min_connections(1)
        .max_connections(max_connections)
        .connect_timeout(CONNECT_TIMEOUT)
        .acquire_timeout(CONNECT_TIMEOUT)
        .sqlx_logging(false)
        .test_before_acquire(false);
    options
}

/// Returns the file that an SQLite address refers to, parsed as the driver does.
pub fn sqlite_file(url: &str) -> Option<PathBuf> {
    let path = url.strip_prefix("sqlite:")?.split('?').next().unwrap_or_default();
    let path = path.strip_prefix("//").unwrap_or(path);
    // Escapes that are no text are left: the driver refuses such an address.
    let read = || format!("sqlite://{path}").parse::<sqlx::sqlite::SqliteConnectOptions>();
    (path != ":memory:").then(|| read().map_or_else(|_| path.into(), |options| options.get_filename().to_owned()))
}

/// Returns the kind and location of a database for display, without the password.
pub fn display_url(url: &str) -> String {
    if let Some(file) = sqlite_file(url) {
        let absolute = file.canonicalize().or_else(|_| std::path::absolute(&file)).unwrap_or(file);
        return format!("SQLite {}", absolute.display());
    }
    if url.starts_with("sqlite:") {
        return "SQLite in memory".to_owned();
    }
    let Ok(url) = url::Url::parse(url) else { return "the database".to_owned() };
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("PostgreSQL {}{port}{}", url.host_str().unwrap_or_default(), url.path())
}

/// Checks that the database driver can parse the address, without connecting to it.
///
/// # Errors
///
/// Fails if the driver cannot parse the address.
pub fn readable(settings: &DatabaseSettings) -> Result<(), OpenError> {
    let unreadable = |error: sqlx::Error| OpenError::Database(DbErr::Conn(RuntimeErr::SqlxError(error.into())));
    if settings.url.starts_with("sqlite:") {
        settings.url.parse::<sqlx::sqlite::SqliteConnectOptions>().map(drop).map_err(unreadable)
    } else {
        settings.url.parse::<PgConnectOptions>().map(drop).map_err(unreadable)
    }
}

/// Checks that a server is listening at the address that the PostgreSQL driver would connect to. The connection pool
/// cannot be used for this check, because it would retry repeatedly and report only a timeout. A database in a file, or
/// behind a socket in the file system, always passes. An address that cannot belong to a system in the shop is not
/// contacted.
///
/// # Errors
///
/// Fails if no server is listening at the address.
pub async fn reach(url: &str) -> Result<(), OpenError> {
    if !url.starts_with("postgres") {
        return Ok(());
    }
    // The address may name the host in several places; the driver's reading of it counts.
    let Ok(options) = url.parse::<PgConnectOptions>() else { return Ok(()) };
    if options.get_socket().is_some() || options.get_host().starts_with('/') {
        return Ok(());
    }
    let (host, port) = (options.get_host().trim_matches(['[', ']']), options.get_port());
    let unreachable = |words: String| OpenError::Unreachable { address: format!("{host}:{port}"), words };
    match tokio::time::timeout(CONNECT_TIMEOUT, lan_connect(Host::Domain(host), port)).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(unreachable(io_words(&error))),
        Err(_) => Err(unreachable(format!("no answer within {} s", CONNECT_TIMEOUT.as_secs()))),
    }
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

fn sqlx_error(error: &DbErr) -> Option<&sqlx::Error> {
    match error {
        DbErr::Conn(RuntimeErr::SqlxError(inner))
        | DbErr::Exec(RuntimeErr::SqlxError(inner))
        | DbErr::Query(RuntimeErr::SqlxError(inner)) => Some(inner),
        _ => None,
    }
}

/// Returns the error message of the database server or the operating system, without the messages added by the layers
/// in between.
fn plain(error: &DbErr) -> String {
    let Some(inner) = sqlx_error(error) else { return error.to_string() };
    match inner {
        sqlx::Error::Database(db_error) => db_error.message().to_owned(),
        sqlx::Error::Io(system) => io_words(system),
        sqlx::Error::PoolTimedOut => format!("no connection within {} s", CONNECT_TIMEOUT.as_secs()),
        other => other.to_string(),
    }
}

fn sqlite_writer(options: sqlx::sqlite::SqliteConnectOptions) -> sqlx::sqlite::SqliteConnectOptions {
    options
        .pragma("journal_mode", "WAL")
        .pragma("synchronous", "FULL")
        .pragma("temp_store", "MEMORY")
        // In pages: pages that are written again and again reach the database file once for many commits.
        .pragma("wal_autocheckpoint", "4000")
        // In KiB when negative. More would be slower: each commit that splits a page walks the whole cache.
        .pragma("cache_size", "-8192")
        .statement_cache_capacity(CACHED_STATEMENTS)
        .busy_timeout(Duration::from_secs(5))
}

/// Opens the database for writing when the process starts: acquires the lock, fences off the previous server, migrates
/// the tables and takes an epoch.
pub async fn start(settings: &DatabaseSettings) -> Result<WriteConnection, OpenError> {
    let db = connect_writer(settings).await?;
    if SchemaManager::new(&db).has_table(UNFINISHED_TABLE).await? {
        return Err(OpenError::RestoreUnfinished);
    }
    started(db).await
}

/// Opens the database like [`start`], but while a backup is being restored into it.
///
/// # Errors
///
/// Fails in the same cases as [`start`].
pub async fn start_restored(settings: &DatabaseSettings) -> Result<WriteConnection, OpenError> {
    started(connect_writer(settings).await?).await
}

async fn started(db: DatabaseConnection) -> Result<WriteConnection, OpenError> {
    lock(&db).await?;
    let backend = db.get_database_backend();
    let postgres = backend == DatabaseBackend::Postgres;
    // A server that still believes that it writes must not see tables that it does not know.
    if SchemaManager::new(&db).has_table("writer").await? {
        take_epoch(&db).await?;
    }
    if postgres {
        // A migration may take longer than a statement of the server may.
        db.execute_unprepared("SET statement_timeout = 0").await?;
    }
    Migrator::up(&db, None).await?;
    if postgres {
        db.execute_unprepared("RESET statement_timeout").await?;
    }
    take_epoch(&db).await.map(|(epoch, last_seq)| WriteConnection { db, epoch, last_seq })
}

/// Reopens the database for writing. `highest` is the highest epoch that this process can have taken; 0 if none. A
/// higher epoch on disk belongs to a different server. This is checked before the lock is requested, because the server
/// that took over holds the lock as long as it runs.
pub async fn reopen(settings: &DatabaseSettings, highest: i64) -> Result<WriteConnection, OpenError> {
    let db = connect_writer(settings).await?;
    if highest > 0 && epoch_on_disk(&db).await? > highest {
        return Err(OpenError::TakenOver);
    }
    lock(&db).await?;
    let (epoch, last_seq) = take_epoch(&db).await?;
    if highest > 0 && epoch > highest + 1 {
        return Err(OpenError::TakenOver);
    }
    Ok(WriteConnection { db, epoch, last_seq })
}

impl WriteConnection {
    /// Returns whether the epoch on disk is still the one that this connection took.
    pub(super) async fn holds(&self) -> Result<bool, OpenError> {
        Ok(epoch_on_disk(&self.db).await? == self.epoch)
    }
}

pub(super) async fn connect_writer(settings: &DatabaseSettings) -> Result<DatabaseConnection, DbErr> {
    let mut options = options(settings, 1);
    options.idle_timeout(None).max_lifetime(None);
    options.map_sqlx_sqlite_opts(sqlite_writer);
    options.map_sqlx_postgres_opts(|options| {
        options.statement_cache_capacity(CACHED_STATEMENTS).options([
            ("synchronous_commit", "on"),
            ("idle_in_transaction_session_timeout", "15000"),
            ("statement_timeout", "60000"),
            ("tcp_keepalives_idle", "5"),
            ("tcp_keepalives_interval", "2"),
            ("tcp_keepalives_count", "3"),
        ])
    });
    Database::connect(options).await
}

/// Acquires the advisory lock on the database, which is held as long as the connection is open.
pub(super) async fn lock(db: &DatabaseConnection) -> Result<(), OpenError> {
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

async fn epoch_on_disk(db: &DatabaseConnection) -> Result<i64, OpenError> {
    let read = Statement::from_string(db.get_database_backend(), "SELECT epoch FROM writer WHERE id = 1");
    Ok(db.query_one_raw(read).await?.ok_or(OpenError::NoWriterRow)?.try_get("", "epoch")?)
}

/// Takes the next epoch and reads the number of the last event, in one transaction.
async fn take_epoch(db: &DatabaseConnection) -> Result<(i64, i64), OpenError> {
    let backend = db.get_database_backend();
    let tx = db.begin().await?;
    let take = Statement::from_string(backend, "UPDATE writer SET epoch = epoch + 1 WHERE id = 1 RETURNING epoch");
    let epoch = tx.query_one_raw(take).await?.ok_or(OpenError::NoWriterRow)?.try_get("", "epoch")?;
    let last = Statement::from_string(backend, "SELECT CAST(COALESCE(MAX(seq), 0) AS BIGINT) AS last FROM events");
    let last_seq = tx.query_one_raw(last).await?.map(|row| row.try_get("", "last")).transpose()?.unwrap_or(0);
    tx.commit().await.map_err(OpenError::EpochUncertain)?;
    Ok((epoch, last_seq))
}

/// Opens the read pool.
pub async fn reading(settings: &DatabaseSettings) -> Result<DatabaseConnection, OpenError> {
    let mut options = options(settings, settings.read_connections.max(1));
    options.map_sqlx_sqlite_opts(|options| {
        options.pragma("journal_mode", "WAL").pragma("query_only", "ON").busy_timeout(Duration::from_secs(5))
    });
    // After an outage the pool holds dead connections; without the test a reader would be given one.
    options.test_before_acquire(true);
    let limit = settings.statement_timeout.as_millis().to_string();
    options.map_sqlx_postgres_opts(move |options| {
        options.options([("statement_timeout", limit.as_str()), ("default_transaction_read_only", "on")])
    });
    Ok(Database::connect(options).await?)
}

/// Returns whether an error is caused by a value rather than the connection: text that the database cannot store (NUL
/// on PostgreSQL), a number out of range, or a value too large for an index.
pub(super) fn refuses_value(error: &DbErr) -> bool {
    let (DbErr::Exec(RuntimeErr::SqlxError(inner)) | DbErr::Query(RuntimeErr::SqlxError(inner))) = error else {
        return false;
    };
    let code = inner.as_database_error().and_then(sqlx::error::DatabaseError::code);
    // PostgreSQL: data exceptions, violated constraints (unique ones are told apart before), program limits. SQLite:
    // a value that is too big, of the wrong type, or against a constraint.
    code.is_some_and(|code| {
        let postgres = code.len() == 5 && ["22", "23", "54"].iter().any(|class| code.starts_with(class));
        postgres || matches!(&*code, "18" | "20" | "1299" | "275")
    })
}

/// Classifies the outage that an error indicates, by the error's code or, if it has none, by its text.
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
