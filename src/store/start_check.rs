//! Checks whether a start could open a database for writing, without changing anything there. For addresses that are
//! about to be written into the settings: what [`connect::start`] would refuse is refused here. Not for the server's
//! own secrets, which [`super::secret_checks`] holds against the database.

use std::path::PathBuf;

use migrations::{Migrator, MigratorTrait as _, SchemaManager};
use sea_orm::{ConnectionTrait as _, DatabaseBackend, DatabaseConnection, DbErr, QueryResult, RuntimeErr, Statement};
use sqlx::sqlite::SqliteConnectOptions;
use url::form_urlencoded;

use crate::connect::{self, ADVISORY_LOCK, DatabaseSettings, OpenError, UNFINISHED_TABLE};

/// The reason why a start could not use a database.
#[derive(Debug, thiserror::Error)]
pub enum StartObstacle {
    /// It cannot be opened, another server uses it, or a restore into it was interrupted.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// An address of SQLite that names no file: everything would be gone with the next stop.
    #[error("the database would exist only in memory: specify a file, such as sqlite:///path/shop.db?mode=rwc")]
    InMemory,
    /// The address, the server or its settings allow reading alone.
    #[error("the database is read-only, but the server must write to it")]
    ReadOnly,
    /// The user of the address may not make tables, which each start may have to.
    #[error("the database user cannot create tables: run GRANT CREATE ON SCHEMA public TO that user")]
    NoCreateRight,
    /// The tables belong to somebody else, and the user of the address may not change their rows.
    #[error("the database user cannot write to the existing tables; connect as the user that owns them")]
    NoWriteRight,
    /// It has migrations that this program does not know.
    #[error("the tables were created by a newer version of Printfloor; update this server first")]
    NewerTables,
}

impl From<DbErr> for StartObstacle {
    fn from(error: DbErr) -> Self {
        Self::Open(error.into())
    }
}

/// The file that an SQLite address names.
#[derive(PartialEq, Eq, Debug)]
pub struct SqliteFile {
    /// As the driver reads it from the address.
    pub file: PathBuf,
    /// True if a start makes it where it is missing.
    pub is_created: bool,
}

/// Reads the place of an SQLite database from its address; `None` for PostgreSQL. Nothing is opened.
///
/// # Errors
///
/// When the driver cannot read the address, or no server can write at it.
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

/// Checks that a start could write to the database of `next`, which exists. That the server whose database `present`
/// is holds it does not count.
///
/// # Errors
///
/// When a start would be refused, or the database cannot be asked.
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
    match Migrator::get_migration_with_status_read_only(db).await {
        // The library's only words of its own: migrations are recorded that it does not know.
        Err(DbErr::Custom(_)) => return Err(StartObstacle::NewerTables),
        statuses => statuses.map(drop)?,
    }
    if db.get_database_backend() == DatabaseBackend::Postgres {
        check_rights(db, tables.has_table("writer").await?).await?;
        check_lock(db, present).await?;
    }
    Ok(())
}

/// Checks that the user may write and make tables. `has_shop`: the tables of a shop are there.
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

/// Checks that no other server holds the lock of the database.
async fn check_lock(db: &DatabaseConnection, present: &DatabaseSettings) -> Result<(), StartObstacle> {
    match connect::lock(db).await {
        // Given back at once: a server that starts now must not find it taken by a connection that is being closed.
        Ok(()) => Ok(one_row(db, &format!("SELECT pg_advisory_unlock({ADVISORY_LOCK})")).await.map(drop)?),
        Err(OpenError::InUse) if is_database_of(db, present).await? => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether these settings name, by whatever address, the very database that this connection leads to.
async fn is_database_of(db: &DatabaseConnection, settings: &DatabaseSettings) -> Result<bool, StartObstacle> {
    if settings.url.starts_with("sqlite:") {
        return Ok(false);
    }
    let other = connect::reading(&DatabaseSettings { read_connections: 1, ..settings.clone() }).await?;
    let place = postgres_place(&other).await;
    other.close().await?;
    Ok(place? == postgres_place(db).await?)
}

/// Names a PostgreSQL database apart from all others: by its number, and by the moment at which its server was started.
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
