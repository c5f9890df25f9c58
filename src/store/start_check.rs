//! Checks, without changing anything, whether a server could start with a database and write to it. Used for addresses
//! that are about to be written to the settings: this check rejects whatever [`connect::start`] would reject. It does
//! not cover the server's own secrets; [`super::secret_checks`] compares those with the database.

use std::path::PathBuf;

use migrations::SchemaManager;
use sea_orm::{ConnectionTrait as _, DatabaseBackend, DatabaseConnection, DbErr, QueryResult, RuntimeErr, Statement};
use sqlx::sqlite::SqliteConnectOptions;
use url::form_urlencoded;

use crate::connect::{self, ADVISORY_LOCK, DatabaseSettings, OpenError, UNFINISHED_TABLE, refuse_newer};

/// Reason that a server could not start with a database.
#[derive(Debug, thiserror::Error)]
pub enum StartObstacle {
    /// The database cannot be opened, is in use by a different server, was written by a newer version, or contains an
    /// interrupted restore.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The SQLite address does not refer to a file, so all data would be lost when the server stops.
    #[error("the database would exist only in memory: specify a file, such as sqlite:///path/shop.db?mode=rwc")]
    InMemory,
    /// The address, the database server or its settings only allow reading.
    #[error("the database is read-only, but the server must write to it")]
    ReadOnly,
    /// The user in the address is not allowed to create tables, which any start may require.
    #[error("the database user cannot create tables: run GRANT CREATE ON SCHEMA public TO that user")]
    NoCreateRight,
    /// The tables belong to a different user, and the user in the address is not allowed to change their rows.
    #[error("the database user cannot write to the existing tables; connect as the user that owns them")]
    NoWriteRight,
}

impl From<DbErr> for StartObstacle {
    fn from(error: DbErr) -> Self {
        Self::Open(error.into())
    }
}

/// File that an SQLite address refers to.
#[derive(PartialEq, Eq, Debug)]
pub struct SqliteFile {
    /// Path of the file, parsed from the address as the driver does.
    pub file: PathBuf,
    /// `true` if a missing file is created at startup.
    pub is_created: bool,
}

/// Returns an SQLite database's file from its address; `None` for PostgreSQL. Opens nothing.
///
/// # Errors
///
/// Fails if the driver cannot parse the address, or if no server could write to a database at that address.
pub fn sqlite_place(url: &str) -> Result<Option<SqliteFile>, StartObstacle> {
    if !url.starts_with("sqlite:") {
        return Ok(None);
    }
    let unreadable = |error: sqlx::Error| OpenError::Database(DbErr::Conn(RuntimeErr::SqlxError(error.into())));
    let options = url.parse::<SqliteConnectOptions>().map_err(unreadable)?;
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let parameters: Vec<_> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let has = |name: &str, values: &[&str]| {
        parameters.iter().any(|(key, value)| key == name && values.contains(&value.as_str()))
    };
    let file = options.get_filename().to_path_buf();
    if connect::sqlite_file(url).is_none() || has("mode", &["memory"]) || file.as_os_str().is_empty() {
        return Err(StartObstacle::InMemory);
    }
    if has("mode", &["ro"]) || has("immutable", &["true", "1"]) {
        return Err(StartObstacle::ReadOnly);
    }
    Ok(Some(SqliteFile { file, is_created: has("mode", &["rwc"]) }))
}

/// Checks that a server could start with the database in `next`, which must exist, and write to it. Ignores a lock held
/// by the current server, which uses the database in `present`.
///
/// # Errors
///
/// Fails if the server would not start, or if the database cannot be queried.
pub async fn check_start(present: &DatabaseSettings, next: &DatabaseSettings) -> Result<(), StartObstacle> {
    let db = if next.url.starts_with("sqlite:") {
        connect::reading(&DatabaseSettings { read_connections: 1, ..next.clone() }).await?
    } else {
        connect::reach(&next.url).await?;
        connect::connect_writer(next).await?
    };
    let outcome = check(&db, present).await;
    let closed = db.close().await;
    outcome.and(closed.map_err(StartObstacle::from))
}

async fn check(db: &DatabaseConnection, present: &DatabaseSettings) -> Result<(), StartObstacle> {
    let tables = SchemaManager::new(db);
    if tables.has_table(UNFINISHED_TABLE).await? {
        return Err(OpenError::RestoreUnfinished.into());
    }
    refuse_newer(db).await?;
    if db.get_database_backend() == DatabaseBackend::Postgres {
        check_rights(db, tables.has_table("writer").await?).await?;
        check_lock(db, present).await?;
    }
    Ok(())
}

/// Checks that the database user is allowed to write rows and create tables. `has_shop` is `true` if the database
/// contains a shop's tables.
async fn check_rights(db: &DatabaseConnection, has_shop: bool) -> Result<(), StartObstacle> {
    let sql = "SELECT current_setting('transaction_read_only') = 'on' AS read_only, \
               COALESCE(has_schema_privilege(current_schema(), 'CREATE'), FALSE) AS may_create";
    let rights = one_row(db, sql).await?;
    if rights.try_get("", "read_only")? {
        return Err(StartObstacle::ReadOnly);
    }
    if !rights.try_get::<bool>("", "may_create")? {
        return Err(StartObstacle::NoCreateRight);
    }
    if has_shop {
        let sql =
            "SELECT has_table_privilege('writer', 'SELECT') AND has_table_privilege('writer', 'UPDATE') AS may_write";
        if !one_row(db, sql).await?.try_get::<bool>("", "may_write")? {
            return Err(StartObstacle::NoWriteRight);
        }
    }
    Ok(())
}

/// Checks that no other server holds the lock on the database.
async fn check_lock(db: &DatabaseConnection, present: &DatabaseSettings) -> Result<(), StartObstacle> {
    match connect::lock(db).await {
        // Given back at once: a server that starts now must not find it taken by a connection that is being closed.
        Ok(()) => Ok(one_row(db, &format!("SELECT pg_advisory_unlock({ADVISORY_LOCK})")).await.map(drop)?),
        Err(OpenError::InUse) if is_database_of(db, present).await? => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether the given settings lead to the same database as the connection, regardless of the address used.
async fn is_database_of(db: &DatabaseConnection, settings: &DatabaseSettings) -> Result<bool, StartObstacle> {
    if settings.url.starts_with("sqlite:") {
        return Ok(false);
    }
    let other = connect::reading(&DatabaseSettings { read_connections: 1, ..settings.clone() }).await?;
    let place = postgres_place(&other).await;
    other.close().await?;
    Ok(place? == postgres_place(db).await?)
}

/// Returns text that uniquely identifies a PostgreSQL database: its number, and the time at which its server was
/// started.
async fn postgres_place(db: &DatabaseConnection) -> Result<String, DbErr> {
    let sql = "SELECT CAST(oid AS TEXT) || ' ' || CAST(EXTRACT(EPOCH FROM pg_postmaster_start_time()) AS TEXT) AS place \
               FROM pg_database WHERE datname = current_database()";
    one_row(db, sql).await?.try_get("", "place")
}

async fn one_row(db: &DatabaseConnection, sql: &str) -> Result<QueryResult, DbErr> {
    let row = db.query_one_raw(Statement::from_string(db.get_database_backend(), sql)).await?;
    row.ok_or_else(|| DbErr::RecordNotFound("the database returned no row".to_owned()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn an_address_of_sqlite_names_a_file_that_can_be_written() {
        let place = |file: &str, is_created| Some(SqliteFile { file: file.into(), is_created });
        assert_eq!(sqlite_place("postgres://localhost/shop").unwrap(), None);
        assert_eq!(sqlite_place("sqlite:///srv/shop.db?mode=rwc").unwrap(), place("/srv/shop.db", true));
        assert_eq!(sqlite_place("sqlite:/srv/a%20shop%3F.db").unwrap(), place("/srv/a shop?.db", false));
        assert_eq!(sqlite_place("sqlite:shop.db?mode=rw&immutable=0").unwrap(), place("shop.db", false));
        for url in
            ["sqlite::memory:", "sqlite://:memory:?mode=rwc", "sqlite:shop.db?mode=memory", "sqlite:", "sqlite://"]
        {
            assert!(matches!(sqlite_place(url), Err(StartObstacle::InMemory)), "{url}");
        }
        for url in ["sqlite:///srv/shop.db?mode=ro", "sqlite:///srv/shop.db?mode=rwc&immutable=true"] {
            assert!(matches!(sqlite_place(url), Err(StartObstacle::ReadOnly)), "{url}");
        }
        for url in ["sqlite:///srv/shop.db?mode=odd", "sqlite:///srv/shop.db?what=1"] {
            assert!(matches!(sqlite_place(url), Err(StartObstacle::Open(_))), "{url}");
        }
    }
}
