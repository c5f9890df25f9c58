//! Session in which the lease is read and renewed, apart from those that the shop uses.

use std::time::Duration;

use sea_orm::{ConnectOptions, Database, DatabaseConnection, DbErr, RuntimeErr};
use tokio::time::timeout;

use super::ANSWER_TIME;
use crate::connect::{DatabaseSettings, writing_address};

/// Returns the error of a database that does not answer in time.
pub(super) fn no_answer() -> DbErr {
    DbErr::Conn(RuntimeErr::Internal("the database did not respond".to_owned()))
}

/// Opens a session on the host that writes.
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
