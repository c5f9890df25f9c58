//! `printfloor backup verify FILE`: restores the database of a backup into a temporary place, opens it as a server
//! does, and reads everything in it.

use std::path::Path;

use tokio::task::spawn_blocking;

use super::backup::{checked, summary};
use super::bucket::BucketPlace;
use super::progress::ProgressLine;
use super::restore::{is_of_this_version, sqlite_url};
use super::temporary::TemporaryFolder;
use super::{CliError, GlobalOptions, output, settings};
use crate::app::backups::reading::{BackupReadError, VerifiedBackup, unpack_database};
use crate::app::{Directories, own_secrets};
use crate::config::Config;
use crate::config::values::Secret;
use crate::observe::log;
use crate::store::connect::{self, DatabaseSettings};
use crate::store::copy::DatabaseCopier;
use crate::store::copy::scratch::ScratchDatabase;
use crate::store::secret_checks::DatabaseState;
use crate::store::trial::{KindTrial, TrialDatabase, TrialError};

/// Verifies a backup in a file or a bucket. Nothing of the shop is touched.
pub async fn run(global: &GlobalOptions, place: &str) -> Result<(), CliError> {
    log::start_for_command();
    let config = settings::load(global, None)?.config;
    let folder = TemporaryFolder::create()?;
    let (name, file) = match BucketPlace::parse(place)? {
        Some(place) => place.receive(&config, &folder).await?,
        None => (place.to_owned(), place.into()),
    };
    let backup = checked(file.clone(), "checking").await?;
    is_of_this_version(&backup)?;
    let is_sqlite = backup.manifest.database.kind == "sqlite";
    let copy = folder.file(if is_sqlite { "printfloor.db" } else { "copy.pgdump" });
    unpack(&file, &backup, &copy).await?;
    let trial = if is_sqlite {
        Box::pin(tried(&with_url(&config, sqlite_url(&copy)?), &backup, &copy)).await
    } else {
        Box::pin(on_postgres(&config, &backup, &copy)).await
    };
    report(&name, &backup, &trial?)
}

/// Restores a PostgreSQL database alongside the shop's own, and then removes it.
async fn on_postgres(config: &Config, backup: &VerifiedBackup, copy: &Path) -> Result<Vec<KindTrial>, CliError> {
    let failed = |words: String| CliError::Failed(format!("cannot create a temporary database: {words}"));
    let own = own_secrets::database_settings(config);
    if !own.url.starts_with("postgres") {
        return Err(failed(
            "set DATABASE_URL to a PostgreSQL server, on which the user may create databases".to_owned(),
        ));
    }
    connect::reach(&own.url).await.map_err(|error| failed(error.to_string()))?;
    let (scratch, leftovers) = ScratchDatabase::create(&own).await.map_err(|error| {
        failed(format!("{error} (the user needs the right to create databases: ALTER ROLE … CREATEDB)"))
    })?;
    for name in leftovers {
        output::note(&format!("the temporary database {name} is left from an interrupted run: `dropdb {name}`"));
    }
    let outcome = Box::pin(tried(&with_url(config, scratch.address().to_owned()), backup, copy)).await;
    if let Err(error) = scratch.remove().await {
        output::note(&format!("the temporary database cannot be removed: {error}"));
    }
    outcome
}

fn with_url(config: &Config, url: String) -> Config {
    let mut config = config.clone();
    config.database.url = Secret::new(url);
    config
}

async fn unpack(file: &Path, backup: &VerifiedBackup, copy: &Path) -> Result<(), CliError> {
    let (file, backup, copy) = (file.to_owned(), backup.clone(), copy.to_owned());
    let total = backup.bytes;
    let unpacked = spawn_blocking(move || {
        let mut progress = ProgressLine::new("restoring", Some(total));
        unpack_database(&file, &backup, &copy, |bytes| progress.add(bytes))?;
        progress.end();
        Ok::<_, BackupReadError>(())
    });
    let unpacked = unpacked.await.map_err(|error| CliError::Failed(error.to_string()))?;
    unpacked.map_err(|error| CliError::Failed(error.to_string()))
}

/// Restores the copy into the database of the settings, opens it and reads everything.
async fn tried(config: &Config, backup: &VerifiedBackup, copy: &Path) -> Result<Vec<KindTrial>, CliError> {
    let settings = own_secrets::database_settings(config);
    let copier = DatabaseCopier::new(settings.clone());
    let restored = copier.restore_from(copy, &backup.manifest.database.rows).await;
    restored.map_err(|error| CliError::Failed(format!("the backup cannot be restored: {error}")))?;
    let failed = |error: TrialError| CliError::Failed(format!("a server cannot start on this backup: {error}"));
    note_other_secrets(config).await?;
    let kinds = start_and_read(&settings).await.map_err(failed)?;
    let damaged: u64 = kinds.iter().map(|kind| kind.damaged).sum();
    if damaged == 0 {
        return Ok(kinds);
    }
    kinds.iter().flat_map(|kind| &kind.words).for_each(|words| output::note(words));
    Err(CliError::Failed(format!("the backup starts, but {damaged} of its records cannot be read; see above")))
}

async fn start_and_read(settings: &DatabaseSettings) -> Result<Vec<KindTrial>, TrialError> {
    let trial = TrialDatabase::open(settings).await?;
    let kinds = Box::pin(Directories::read_everything(&trial)).await;
    trial.close().await;
    kinds
}

/// Warns if this server's secrets differ from those that the backup needs. A server restored from the backup cannot
/// start without them.
async fn note_other_secrets(config: &Config) -> Result<(), CliError> {
    let state = own_secrets::look(config).await.map_err(|error| CliError::Failed(error.to_string()))?;
    if let DatabaseState::Existing { differing, .. } = state
        && !differing.is_empty()
    {
        output::note(&format!(
            "the backup was made with another {}: a server needs that to start on it",
            differing.join(" and another ")
        ));
    }
    Ok(())
}

/// Prints the data that was read.
fn report(name: &str, backup: &VerifiedBackup, kinds: &[KindTrial]) -> Result<(), CliError> {
    let all: u64 = kinds.iter().map(|kind| kind.aggregates).sum();
    output::line(&format!("{name}: {}", summary(backup)))?;
    for kind in kinds.iter().filter(|kind| kind.aggregates > 0) {
        output::line(&format!("  {}: {}", kind.kind, kind.aggregates))?;
    }
    output::line(&format!("restored to a temporary location and started: all {all} records can be read"))
}
