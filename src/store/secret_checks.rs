//! Checks whether a database is new and, if it is not, whether its data was created with the server's own secrets. Runs
//! once at startup, before anything else reads from or writes to the database.

use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr, Statement};

use super::connect::{self, DatabaseSettings, OpenError, has_table, refuse_newer};

/// One of the server's own secrets, as the database recognises it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SecretCheck {
    /// Name of the secret.
    pub name: &'static str,
    /// Check value of the secret (`secrets::check_values`).
    pub value: String,
    /// Check value of the secret that this one replaces; `None` if it replaces none.
    pub former: Option<String>,
}

/// State of a database before anything is written to it.
#[derive(Debug, PartialEq, Eq)]
pub enum DatabaseState {
    /// The database does not exist, or contains none of Printfloor's tables.
    New,
    /// The database contains a shop.
    Existing {
        /// Names of the secrets that do not match their stored check value.
        differing: Vec<&'static str>,
        /// Names of the secrets whose stored check value belongs to the former secret: the data still depends on that
        /// one.
        outdated: Vec<&'static str>,
    },
}

/// Determines the state of a database, and compares the stored check values with the given ones. Changes nothing.
///
/// # Errors
///
/// Fails if the database cannot be queried, or if a newer version has changed its schema.
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
    let (mut differing, mut outdated) = (Vec::new(), Vec::new());
    for (name, stored) in stored_values(db).await? {
        let Some(check) = checks.iter().find(|check| check.name == name) else { continue };
        if check.former.as_ref() == Some(&stored) && check.value != stored {
            outdated.push(check.name);
        } else if check.value != stored {
            differing.push(check.name);
        }
    }
    Ok(DatabaseState::Existing { differing, outdated })
}

/// Returns the stored check values with the names of their secrets. A secret without one is treated as matching.
async fn stored_values(db: &DatabaseConnection) -> Result<Vec<(String, String)>, DbErr> {
    if !has_table(db, "secret_checks").await? {
        return Ok(Vec::new());
    }
    let backend = db.get_database_backend();
    let rows = db.query_all_raw(Statement::from_string(backend, "SELECT name, value FROM secret_checks")).await?;
    rows.iter().map(|row| Ok((row.try_get("", "name")?, row.try_get("", "value")?))).collect()
}

/// Returns whether the data depends on this secret already, according to its stored check value.
///
/// # Errors
///
/// Fails if the database cannot be queried.
pub(super) async fn is_current(db: &DatabaseConnection, check: &SecretCheck) -> Result<bool, DbErr> {
    Ok(stored_values(db).await?.iter().any(|(name, value)| name == check.name && *value == check.value))
}

/// Stores check values for secrets that have none yet. Must be called by the server that holds the database lock.
///
/// # Errors
///
/// Fails if the database cannot be written.
pub async fn keep(db: &DatabaseConnection, checks: &[SecretCheck]) -> Result<(), DbErr> {
    let backend = db.get_database_backend();
    for SecretCheck { name, value, .. } in checks {
        let sql = "INSERT INTO secret_checks (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
        let values = [(*name).into(), value.clone().into()];
        db.execute_raw(Statement::from_sql_and_values(backend, sql, values)).await?;
    }
    Ok(())
}
