//! Database clock.

use sea_orm::{ConnectionTrait, DatabaseBackend, DatabaseConnection, DbErr, Statement};

use domain::time::Timestamp;

/// Query for the time in milliseconds.
const TIME: &str = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS value";

/// Returns the time of the machine on which PostgreSQL runs; `None` for SQLite, which has no separate clock.
///
/// # Errors
///
/// Fails if the database cannot be queried.
pub async fn time_of(db: &DatabaseConnection) -> Result<Option<Timestamp>, DbErr> {
    if db.get_database_backend() != DatabaseBackend::Postgres {
        return Ok(None);
    }
    let row = db.query_one_raw(Statement::from_string(DatabaseBackend::Postgres, TIME)).await?;
    row.map(|row| row.try_get("", "value").map(Timestamp)).transpose()
}
