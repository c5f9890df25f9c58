//! The server's own secrets: found in the settings, or made at the first start; held against the check values that the
//! database keeps of them.
//!
//! They are made only for a database that is new. With new secrets over old data every API key would be refused and no
//! stored secret could be read, so a start is refused instead, before it changes anything.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sea_orm::DatabaseConnection;

use crate::config::io_words::io_words;
use crate::config::values::Secret;
use crate::config::{Config, dotenv};
use crate::secrets::check_values::check_value;
use crate::secrets::random::secret_bytes;
use crate::store::connect::{self, DatabaseSettings, OpenError};
use crate::store::secret_checks::{self, DatabaseState, SecretCheck};

/// Why the server does not start with these secrets.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// The database holds data, and secrets that it was made with are nowhere.
    #[error("{database} holds a shop, but {} {} missing", .names.join(", "), is_or_are(.names))]
    Missing {
        /// Names of the secrets that are missing.
        names: Vec<&'static str>,
        /// Kind and place of the database.
        database: String,
        /// The file in which they are looked for.
        file: PathBuf,
    },
    /// The database was made with others.
    #[error("{database} was made with another {} than the present one", .names.join(" and another "))]
    Differ {
        /// Names of the secrets that differ from those of the database.
        names: Vec<&'static str>,
        /// Kind and place of the database.
        database: String,
        /// The file in which they are looked for.
        file: PathBuf,
    },
    /// New secrets cannot be stored, so the next start would not know them.
    #[error("{} cannot be written to keep new secrets: {words}", file.display())]
    Keep {
        /// Where they would be kept.
        file: PathBuf,
        /// What the system says.
        words: String,
    },
    /// The database does not say whether it is new.
    #[error(transparent)]
    Open(#[from] OpenError),
}

fn is_or_are(names: &[&str]) -> &'static str {
    if names.len() == 1 { "is" } else { "are" }
}

/// The address and limits of the database that the settings name.
pub fn database_settings(config: &Config) -> DatabaseSettings {
    DatabaseSettings {
        url: config.database_url().expose().to_owned(),
        read_connections: config.database.read_connections,
        statement_timeout: config.database.statement_timeout_seconds.duration(),
    }
}

/// The check values of the secrets that data depends on, as far as they are set. `SESSION_SECRET` is not among them:
/// with another one, links that were signed before stop working, and nothing else.
fn checks(config: &Config) -> Vec<SecretCheck> {
    let auth = &config.auth;
    let names = [("API_KEY_SALT", &auth.api_key_salt), ("SECRETS_KEY", &auth.secrets_key)];
    let set = names.into_iter().filter(|(_, secret)| !secret.is_empty());
    set.map(|(name, secret)| (name, check_value(name, secret.expose()))).collect()
}

/// Whether a shop is in the database, and whether it was made with these secrets. Changes nothing.
///
/// # Errors
///
/// When the database cannot be asked.
pub async fn look(config: &Config) -> Result<DatabaseState, OpenError> {
    secret_checks::look(&database_settings(config), &checks(config)).await
}

/// Refuses secrets that existing data was not made with, and makes those that are missing if the database is new. Made
/// ones are kept beside the data before anything else is written. To be called with the lock on the data folder held.
/// Gives the file if it was written.
///
/// # Errors
///
/// When secrets are missing or differ, or the database cannot be asked.
pub async fn settle(config: &mut Config) -> Result<Option<PathBuf>, SecretsError> {
    let found = look(config).await?;
    let (file, database) = (config.secrets_file(), connect::shown(config.database_url().expose()));
    let all = config.auth.own_secrets_mut().into_iter();
    let mut lacking: Vec<_> = all.filter(|(_, secret)| secret.is_empty()).collect();
    match found {
        DatabaseState::Existing { .. } if !lacking.is_empty() => {
            let names = lacking.iter().map(|(name, _)| *name).collect();
            Err(SecretsError::Missing { names, database, file })
        }
        DatabaseState::Existing { differing } if !differing.is_empty() => {
            Err(SecretsError::Differ { names: differing, database, file })
        }
        DatabaseState::New if !lacking.is_empty() => {
            for (_, secret) in &mut lacking {
                **secret = Secret::new(STANDARD.encode(secret_bytes::<32>()));
            }
            let made: Vec<_> = lacking.iter().map(|(name, secret)| (*name, secret.expose())).collect();
            let before = std::fs::read_to_string(&file).unwrap_or_default();
            let kept = dotenv::write(&file, &dotenv::with_values(&before, &made));
            kept.map_err(|error| SecretsError::Keep { file: file.clone(), words: io_words(&error) })?;
            Ok(Some(file))
        }
        DatabaseState::New | DatabaseState::Existing { .. } => Ok(None),
    }
}

/// Keeps the check values of secrets that the database sees for the first time. To be called by the server that holds
/// the database, after [`settle`].
///
/// # Errors
///
/// When the database does not take them.
pub async fn keep(config: &Config, db: &DatabaseConnection) -> Result<(), OpenError> {
    Ok(secret_checks::keep(db, &checks(config)).await?)
}
