//! Opens the database: the writer's single connection with its epoch, and the read pool.
//!
//! Opening for writing takes these steps on one connection: check whether a different server has taken over, acquire
//! the lock that excludes other servers (on PostgreSQL; with SQLite, the lock on the data directory has this role), and
//! take the next epoch. The first time a process opens the database, it migrates the tables before these steps, unless
//! a newer version has done so: then it changes nothing.

mod clock;
mod error;
mod exclusion;
mod hosts;
mod replication;
#[cfg(test)]
mod tests;
mod version;
mod whole;

pub use clock::time_of;
pub use error::{OpenError, unavailable};
pub(super) use exclusion::{ADVISORY_LOCK, hold_epoch, lock};
pub use hosts::WritingHost;
pub(crate) use hosts::writing_address;
pub use replication::is_asynchronous;
pub(crate) use version::{MIGRATION_TABLE, has_table};
pub use version::{NewerMigration, refuse_newer};
pub(crate) use whole::{ExclusiveAccess, copying, exclusive};

use std::path::PathBuf;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use migrations::{Migrator, MigratorTrait, SchemaManager};
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseBackend, DatabaseConnection, DatabaseTransaction, DbErr,
    RuntimeErr,
};
use sqlx::postgres::PgConnectOptions;
use url::{Host, Url};

use domain::audit::chain::ChainHead;
use domain::database_address::addresses_of_hosts;
use exclusion::{WriterPosition, epoch_on_disk, lock_in_time, raise_epoch, take_epoch};
use platform::http::lan_connect;
use platform::io_words::io_words;

/// Database address and connection limits.
#[derive(Clone, Debug)]
pub struct DatabaseSettings {
    /// Database address: `sqlite://…?mode=rwc`, or `postgres://…` with one or several hosts.
    pub url: String,
    /// Maximum number of connections in the read pool.
    pub read_connections: u32,
    /// Maximum execution time of a PostgreSQL statement in the read pool.
    pub statement_timeout: Duration,
    /// Host that writes, if the address has several. Clones of the settings share it.
    pub hosts: WritingHost,
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
    /// Head of the audit log; read when the epoch is taken, and advanced with each commit.
    pub audit: ChainHead,
}

/// Table that exists in a PostgreSQL database while a backup is being restored into it.
pub const UNFINISHED_TABLE: &str = "printfloor_restore_unfinished";

/// Connection timeout.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Number of prepared statements cached for the writer's connection. Each table has a few statements, each prepared for
/// a few row counts.
const CACHED_STATEMENTS: usize = 512;

/// Returns the options of connections to the database, on the host that writes.
async fn options(settings: &DatabaseSettings, max_connections: u32) -> Result<ConnectOptions, OpenError> {
    let mut options = ConnectOptions::new(writing_address(settings).await?);
    options
        .min_connections(1)
        .max_connections(max_connections)
        .connect_timeout(CONNECT_TIMEOUT)
        .acquire_timeout(CONNECT_TIMEOUT)
        .sqlx_logging(false)
        .test_before_acquire(false);
    Ok(options)
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
    let addresses = addresses_of_hosts(url).unwrap_or_default();
    let urls: Vec<Url> = addresses.iter().filter_map(|address| Url::parse(address).ok()).collect();
    if urls.is_empty() || urls.len() < addresses.len() {
        return "the database".to_owned();
    }
    let hosts = urls.iter().map(|url| {
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}{port}", url.host_str().unwrap_or_default())
    });
    format!("PostgreSQL {}{}", hosts.collect::<Vec<_>>().join(","), urls[0].path())
}

/// Checks that the database driver can parse the address, without connecting to it.
///
/// # Errors
///
/// Fails if the driver cannot parse the address.
pub fn readable(settings: &DatabaseSettings) -> Result<(), OpenError> {
    let unreadable = |error: sqlx::Error| OpenError::Database(DbErr::Conn(RuntimeErr::SqlxError(error.into())));
    if settings.url.starts_with("sqlite:") {
        return settings.url.parse::<sqlx::sqlite::SqliteConnectOptions>().map(drop).map_err(unreadable);
    }
    for address in addresses_of_hosts(&settings.url)? {
        address.parse::<PgConnectOptions>().map_err(unreadable)?;
    }
    Ok(())
}

/// Checks that a server is listening at the address that the PostgreSQL driver would connect to; with several hosts, at
/// one of them. The connection pool cannot be used for this check, because it would retry repeatedly and report only a
/// timeout. A database in a file, or behind a socket in the file system, always passes. An address that cannot belong
/// to a system in the shop is not contacted.
///
/// # Errors
///
/// Fails if no server is listening at the address.
pub async fn reach(url: &str) -> Result<(), OpenError> {
    if !url.starts_with("postgres") {
        return Ok(());
    }
    let mut attempts: FuturesUnordered<_> = addresses_of_hosts(url)?.into_iter().map(reach_host).collect();
    let mut failures = Vec::new();
    while let Some(attempt) = attempts.next().await {
        match attempt {
            Ok(()) => return Ok(()),
            Err(words) => failures.push(words),
        }
    }
    Err(OpenError::Unreachable(failures.join(", ")))
}

async fn reach_host(address: String) -> Result<(), String> {
    // The address may name the host in several places; the driver's reading of it counts.
    let Ok(options) = address.parse::<PgConnectOptions>() else { return Ok(()) };
    dial(&options).await.map_err(|words| format!("{} ({words})", host_and_port(&options)))
}

/// Connects to a host and closes the connection. Fails with the operating system's error message.
async fn dial(options: &PgConnectOptions) -> Result<(), String> {
    if options.get_socket().is_some() || options.get_host().starts_with('/') {
        return Ok(());
    }
    let host = Host::Domain(options.get_host().trim_matches(['[', ']']));
    match tokio::time::timeout(CONNECT_TIMEOUT, lan_connect(host, options.get_port())).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(io_words(&error)),
        Err(_) => Err(format!("no answer within {} s", CONNECT_TIMEOUT.as_secs())),
    }
}

fn host_and_port(options: &PgConnectOptions) -> String {
    let socket = options.get_socket().map(|path| path.display().to_string());
    let host = socket.unwrap_or_else(|| options.get_host().trim_matches(['[', ']']).to_owned());
    format!("{host}:{}", options.get_port())
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
/// the schema and takes an epoch.
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
    lock_in_time(&db).await?;
    refuse_newer(&db).await?;
    let backend = db.get_database_backend();
    let postgres = backend == DatabaseBackend::Postgres;
    // A server that still believes that it writes must not see tables that it does not know.
    if SchemaManager::new(&db).has_table("writer").await? {
        raise_epoch(&db).await?;
    }
    if postgres {
        // A migration may take longer than a statement of the server may.
        db.execute_unprepared("SET statement_timeout = 0").await?;
    }
    Migrator::up(&db, None).await?;
    if postgres {
        db.execute_unprepared("RESET statement_timeout").await?;
    }
    // If the connection was lost, this one is another, which has to have the lock as well.
    lock(&db).await?;
    WriteConnection::take(db).await
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
    let writing = WriteConnection::take(db).await?;
    if highest > 0 && writing.epoch > highest + 1 {
        return Err(OpenError::TakenOver);
    }
    Ok(writing)
}

impl WriteConnection {
    /// Takes the next epoch on a connection that has the lock.
    pub(super) async fn take(db: DatabaseConnection) -> Result<Self, OpenError> {
        let WriterPosition { epoch, last_seq, audit } = take_epoch(&db).await?;
        Ok(Self { db, epoch, last_seq, audit })
    }

    /// Holds the epoch like [`hold_epoch`]; fails if a different server has taken over.
    pub(super) async fn hold(&self, tx: &DatabaseTransaction, audit: &ChainHead) -> Result<(), OpenError> {
        if hold_epoch(tx, self.epoch, audit).await? { Ok(()) } else { Err(OpenError::TakenOver) }
    }

    /// Returns whether the epoch on disk is still the one that this connection took.
    pub(super) async fn holds(&self) -> Result<bool, OpenError> {
        Ok(epoch_on_disk(&self.db).await? == self.epoch)
    }
}

pub(super) async fn connect_writer(settings: &DatabaseSettings) -> Result<DatabaseConnection, OpenError> {
    let mut options = options(settings, 1).await?;
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
    Ok(Database::connect(options).await?)
}

/// Opens the read pool. If the address has several hosts, the pool goes wherever these settings find the one that
/// writes.
pub async fn reading(settings: &DatabaseSettings) -> Result<DatabaseConnection, OpenError> {
    let mut options = options(settings, settings.read_connections.max(1)).await?;
    options.map_sqlx_sqlite_opts(|options| {
        options.pragma("journal_mode", "WAL").pragma("query_only", "ON").busy_timeout(Duration::from_secs(5))
    });
    // After an outage the pool holds dead connections; without the test a reader would be given one.
    options.test_before_acquire(true);
    let limit = settings.statement_timeout;
    options.map_sqlx_postgres_opts(move |options| reader_session(options, limit));
    settings.hosts.renew_connections(&mut options, &settings.url);
    let db = Database::connect(options).await?;
    settings.hosts.lead(&db, settings);
    Ok(db)
}

/// Returns the options of a session in a read pool.
fn reader_session(options: PgConnectOptions, statement_timeout: Duration) -> PgConnectOptions {
    let limit = statement_timeout.as_millis().to_string();
    // Compiling a query takes longer than each of these queries.
    options.options([("statement_timeout", limit.as_str()), ("default_transaction_read_only", "on"), ("jit", "off")])
}
