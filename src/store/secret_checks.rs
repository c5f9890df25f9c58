//! Checks whether a database is new and, if it is not, whether its data was created with the server's own secrets. Runs
//! once at startup, before anything else reads from or writes to the database.

use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr, Statement};

use super::connect::{self, DatabaseSettings, OpenError, has_table, refuse_newer};

/// Name of a secret and its check value (`secrets::check_values`).
pub type SecretCheck = (&'static str, String);

/// State of a database before anything is written to it.
#[derive(Debug, PartialEq, Eq)]
pub enum DatabaseState {
    /// The database does not exist, or contains none of Printfloor's tables.
    New,
    /// The database contains a shop.
    Existing {
        /// Names of the secrets that do not match their stored check value.
        differing: Vec<&'static str>,
    },
}

/// Determines the state of a database, and compares the stored check values with the given ones. Changes nothing.
///
/// # Errors
///
/// Fails if the database cannot be queried, or if a newer version has changed its tables.
pub async fn look(settings: &DatabaseSettings, checks: &[SecretCheck]) -> Result<DatabaseState, OpenError> {
    if connect::sqlite_file(&settings.url).is_some_and(|file| !file.exists()) {
        return Ok(DatabaseState::New);
    }
    connect::reach(&settings.url).await?;
    let db = connect::reading(&DatabaseSettings { read_connections: 1, ..settings.clone() }).await?;
    let state = read_state(&db, checks).await;
    db.close().await?;
    state
}

async fn read_state(db: &DatabaseConnection, checks: &[SecretCheck]) -> Result<DatabaseState, OpenError> {
    refuse_newer(db).await?;
    if !has_table(db, "writer").await? {
        return Ok(DatabaseState::New);
    }
    Ok(DatabaseState::Existing { differing: differing(db, checks).await? })
}

/// Returns the names of the secrets that do not match their stored check value. A secret without a stored value is
/// treated as matching.
async fn differing(db: &DatabaseConnection, checks: &[SecretCheck]) -> Result<Vec<&'static str>, DbErr> {
    if !has_table(db, "secret_checks").await? {
        return Ok(Vec::new());
    }
    let backend = db.get_database_backend();
    let rows = db.query_all_raw(Statement::from_string(backend, "SELECT name, value FROM secret_checks")).await?;
    let mut names = Vec::new();
    for row in rows {
        let (name, value): (String, String) = (row.try_get("", "name")?, row.try_get("", "value")?);
        names.extend(
            checks
                .iter()
                .filter(|(check_name, own)| *check_name == name && *own != value)
                .map(|(check_name, _)| *check_name),
        );
    }
    Ok(names)
}

/// Stores check values for secrets that have none yet. Must be called by the server that holds the database lock.
///
/// # Errors
///
/// Fails if the database cannot be written.
pub async fn keep(db: &DatabaseConnection, checks: &[SecretCheck]) -> Result<(), DbErr> {
    let backend = db.get_database_backend();
    for (name, value) in checks {
        let sql = "INSERT INTO secret_checks (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
        let values = [(*name).into(), value.clone().into()];
        db.execute_raw(Statement::from_sql_and_values(backend, sql, values)).await?;
    }
    Ok(())
}
