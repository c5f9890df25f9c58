//! The server's own secrets. They are taken from the settings or generated at the first start, and verified against
//! check values in the database.
//!
//! Secrets are generated only for a new database. With existing data, new secrets would invalidate every API key and
//! make all stored secrets unreadable, so the server does not start and changes nothing.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::start_error::ShopStartError;
use config::values::Secret;
use config::{Config, dotenv};
use domain::time::Timestamp;
use files::setup_draft::DraftFile;
use platform::io_words::io_words;
use platform::secrets::check_values::check_value;
use platform::secrets::encryption::{EncryptionError, SecretCipher};
use platform::secrets::random::secret_bytes;
use store::connect::{self, DatabaseSettings, OpenError, WriteConnection, WritingHost};
use store::secret_checks::{self, DatabaseState, SecretCheck};
use store::secret_rotation::{self, KeyRotation};

/// Reason that the server does not start with the configured secrets.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// The database contains data, but some of the secrets it was created with are missing.
    #[error("{database} contains a shop, but {} {} missing", .names.join(", "), is_or_are(.names))]
    Missing {
        /// Names of the missing secrets.
        names: Vec<&'static str>,
        /// Type and location of the database.
        database: String,
        /// File that should contain the secrets.
        file: PathBuf,
    },
    /// The database was created with different secrets.
    #[error("{database} was created with a different {}", .names.join(" and a different "))]
    Differ {
        /// Names of the secrets that differ from those the database was created with.
        names: Vec<&'static str>,
        /// Type and location of the database.
        database: String,
        /// File that should contain the secrets.
        file: PathBuf,
    },
    /// The generated secrets cannot be stored, so they would not be available at the next start.
    #[error("cannot save new secrets to {}: {words}", file.display())]
    Keep {
        /// File in which the secrets would be stored.
        file: PathBuf,
        /// Operating system's error message.
        words: String,
    },
    /// The database could not be checked.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// Name of the secret that API keys are hashed with.
const API_KEY_SALT: &str = "API_KEY_SALT";
/// Name of the key that stored secrets are encrypted with.
const SECRETS_KEY: &str = "SECRETS_KEY";

fn is_or_are(names: &[&str]) -> &'static str {
    if names.len() == 1 { "is" } else { "are" }
}

/// Returns the database address and connection limits from the settings.
pub fn database_settings(config: &Config) -> DatabaseSettings {
    DatabaseSettings {
        url: config.database_url().expose().to_owned(),
        read_connections: config.database.read_connections,
        statement_timeout: config.database.statement_timeout_seconds.duration(),
        hosts: WritingHost::default(),
    }
}

/// Returns the check values of the configured secrets that data depends on. `SESSION_SECRET` is not included, because
/// changing it only invalidates existing links.
fn checks(config: &Config) -> Vec<SecretCheck> {
    let auth = &config.auth;
    let salt = check(API_KEY_SALT, &auth.api_key_salt, &Secret::default());
    salt.into_iter().chain(check_of_key(config)).collect()
}

/// Returns the check values of the key that encrypts stored secrets; `None` until it has been generated.
fn check_of_key(config: &Config) -> Option<SecretCheck> {
    check(SECRETS_KEY, &config.auth.secrets_key, &config.auth.secrets_key_old)
}

/// Returns the check values of a secret and of the one that it replaces; `None` if the secret is not set.
fn check(name: &'static str, secret: &Secret, former: &Secret) -> Option<SecretCheck> {
    let value_of = |secret: &Secret| (!secret.is_empty()).then(|| check_value(name, secret.expose()));
    Some(SecretCheck { name, value: value_of(secret)?, former: value_of(former) })
}

/// Creates the cipher for stored secrets, which can also decrypt with the key being replaced.
///
/// # Errors
///
/// Fails if a key is not one.
pub fn cipher(config: &Config) -> Result<SecretCipher, EncryptionError> {
    SecretCipher::with_former(config.auth.secrets_key.expose(), config.auth.secrets_key_old.expose())
}

/// Determines whether the database contains a shop and, if so, whether it was created with the configured secrets.
/// Changes nothing.
///
/// # Errors
///
/// Fails if the database cannot be queried.
pub async fn look(config: &Config) -> Result<DatabaseState, OpenError> {
    secret_checks::look(&database_settings(config), &checks(config)).await
}

/// Generates missing secrets if the database is new; otherwise checks that the secrets are those the database was
/// created with.
///
/// # Errors
///
/// Fails if secrets are missing, differ or cannot be stored, or if the database cannot be queried.
pub async fn settle(config: &mut Config) -> Result<Option<PathBuf>, SecretsError> {
    let state = look(config).await?;
    let (file, database) = (config.secrets_file(), connect::display_url(config.database_url().expose()));
    let all = config.auth.own_secrets_mut().into_iter();
    let mut lacking: Vec<_> = all.filter(|(_, secret)| secret.is_empty()).collect();
    match state {
        DatabaseState::Existing { .. } if !lacking.is_empty() => {
            let names = lacking.iter().map(|(name, _)| *name).collect();
            Err(SecretsError::Missing { names, database, file })
        }
        DatabaseState::Existing { differing, .. } if !differing.is_empty() => {
            Err(SecretsError::Differ { names: differing, database, file })
        }
        DatabaseState::New if !lacking.is_empty() => {
            for (_, secret) in &mut lacking {
                **secret = Secret::new(STANDARD.encode(secret_bytes::<32>()));
            }
            let generated: Vec<_> = lacking.iter().map(|(name, secret)| (*name, secret.expose())).collect();
            let before = std::fs::read_to_string(&file).unwrap_or_default();
            let written = dotenv::write(&file, &dotenv::with_values(&before, &generated));
            written.map_err(|error| SecretsError::Keep { file: file.clone(), words: io_words(&error) })?;
            Ok(Some(file))
        }
        DatabaseState::New | DatabaseState::Existing { .. } => Ok(None),
    }
}

/// Checks that the secrets are those the database was created with, if it contains a shop. Changes nothing.
///
/// # Errors
///
/// Fails if secrets are missing or differ, or if the database cannot be queried.
pub async fn verify(config: &Config) -> Result<(), SecretsError> {
    match look(config).await? {
        DatabaseState::New => Ok(()),
        DatabaseState::Existing { .. } => settle(&mut config.clone()).await.map(drop),
    }
}

/// Replaces the key for stored secrets and for the setup's draft if a former one is configured, and stores check values
/// for secrets that have none in the database yet. Must be called after [`settle`], by the server that holds the
/// database lock.
///
/// # Errors
///
/// Fails if a key cannot be used, or the database or the draft cannot be written.
pub async fn keep(config: &Config, writing: &mut WriteConnection, now: Timestamp) -> Result<(), ShopStartError> {
    let old = &config.auth.secrets_key_old;
    if let Some(check) = check_of_key(config)
        && !old.is_empty()
    {
        let (former, new) = (SecretCipher::new(old.expose())?, SecretCipher::new(config.auth.secrets_key.expose())?);
        match secret_rotation::rotate(writing, &check, (&former, &new), now).await? {
            None => {}
            Some(KeyRotation { renewed, unreadable: 0 }) => {
                tracing::info!(renewed, "encrypted all stored secrets with the new SECRETS_KEY");
            }
            Some(KeyRotation { renewed, unreadable }) => {
                tracing::warn!(renewed, unreadable, "some stored secrets can be decrypted with neither key");
            }
        }
        DraftFile::new(&config.server.data_dir, &cipher(config)?).renew()?;
    }
    Ok(secret_checks::keep(&writing.db, &checks(config)).await.map_err(OpenError::from)?)
}
