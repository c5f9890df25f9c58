//! Connection on which a lease is read, taken and renewed, and the table that contains it.

use std::time::Duration;

use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseBackend, DatabaseConnection, DbErr, RuntimeErr, Statement, Value,
};
use tokio::time::timeout;

use super::{ANSWER_TIME, LeaseRow};
use crate::connect::{DatabaseSettings, writing_address};

const READ: &str = "SELECT mark, holder, address, term, beat, \
                    CAST(EXTRACT(EPOCH FROM since) * 1000 AS BIGINT) AS since_ms FROM printfloor_leader WHERE id = 1";
const CREATE: &str = "CREATE TABLE IF NOT EXISTS printfloor_leader (id INT PRIMARY KEY CHECK (id = 1), \
                      mark TEXT NOT NULL, holder TEXT NOT NULL, address TEXT NOT NULL, term BIGINT NOT NULL, \
                      beat BIGINT NOT NULL, since TIMESTAMPTZ NOT NULL)";
const FILL: &str = "INSERT INTO printfloor_leader (id, mark, holder, address, term, beat, since) \
                    VALUES (1, '', '', '', 0, 0, now()) ON CONFLICT (id) DO NOTHING";

/// Returns a statement with these values.
pub(super) fn statement<const N: usize>(sql: &str, values: [Value; N]) -> Statement {
    Statement::from_sql_and_values(DatabaseBackend::Postgres, sql, values)
}

/// Returns the error for a database that does not respond in time.
pub(super) fn no_answer() -> DbErr {
    DbErr::Conn(RuntimeErr::Internal("the database did not respond".to_owned()))
}

/// Connects to the database's host that writes within this time.
pub(super) async fn open_session(settings: &DatabaseSettings, within: Duration) -> Result<DatabaseConnection, DbErr> {
    timeout(within, connect(settings, within)).await.unwrap_or_else(|_| Err(no_answer()))
}

async fn connect(settings: &DatabaseSettings, within: Duration) -> Result<DatabaseConnection, DbErr> {
    let address = writing_address(settings).await;
    let address = address.map_err(|error| DbErr::Conn(RuntimeErr::Internal(error.to_string())))?;
    let mut options = ConnectOptions::new(address);
    options
        .min_connections(1)
        .max_connections(1)
        .connect_timeout(within)
        .acquire_timeout(within)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .sqlx_logging(false);
    // A beat that a crash of the database loses is of no use to anybody, so it does not wait for the disk.
    options.map_sqlx_postgres_opts(|options| {
        options.options([
            ("synchronous_commit", "off"),
            ("statement_timeout", "3000"),
            ("idle_in_transaction_session_timeout", "3000"),
        ])
    });
    Database::connect(options).await
}

/// Takes the session out of its place, or opens one if it was lost.
pub(super) async fn reopen_session(
    place: &mut Option<DatabaseConnection>,
    settings: &DatabaseSettings,
) -> Result<DatabaseConnection, DbErr> {
    match place.take() {
        Some(session) => Ok(session),
        None => open_session(settings, ANSWER_TIME).await,
    }
}

/// Reads the lease.
pub(super) async fn read(session: &DatabaseConnection) -> Result<LeaseRow, DbErr> {
    let row = session.query_one_raw(statement(READ, [])).await?;
    let row = row.ok_or_else(|| DbErr::RecordNotFound("the lease of the database is missing".to_owned()))?;
    Ok(LeaseRow {
        mark: row.try_get("", "mark")?,
        holder: row.try_get("", "holder")?,
        address: row.try_get("", "address")?,
        since_ms: row.try_get("", "since_ms")?,
        term: row.try_get("", "term")?,
        beat: row.try_get("", "beat")?,
    })
}

/// Reads the lease, creating it if it does not exist. Creates the table too if necessary, because it can be dropped
/// while servers are running.
pub(super) async fn read_or_make(session: &DatabaseConnection) -> Result<LeaseRow, DbErr> {
    if let Ok(row) = read(session).await {
        return Ok(row);
    }
    make(session).await?;
    read(session).await
}

/// Creates a lease without a holder, unless one exists.
pub(super) async fn make(session: &DatabaseConnection) -> Result<(), DbErr> {
    let created = session.execute_unprepared(CREATE).await;
    // Another server may have created it at the same moment: then it is there, although this one failed.
    if let Err(error) = session.execute_unprepared(FILL).await {
        created?;
        return Err(error);
    }
    Ok(())
}

/// Returns whether the table with the lease exists.
pub(super) async fn has_table(session: &DatabaseConnection) -> Result<bool, DbErr> {
    flag(session, "SELECT to_regclass('printfloor_leader') IS NOT NULL AS is_so").await
}

/// Returns the answer to a question, which the statement names `is_so`.
pub(super) async fn flag(tx: &impl ConnectionTrait, sql: &str) -> Result<bool, DbErr> {
    let row = tx.query_one_raw(Statement::from_string(DatabaseBackend::Postgres, sql)).await?;
    row.map(|row| row.try_get("", "is_so")).transpose().map(Option::unwrap_or_default)
}
