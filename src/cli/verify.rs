//! `printfloor backup verify FILE`: restores the database of a backup into a temporary place, opens it as a server
//! does, and reads everything in it.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::{env, process};

use tokio::task::spawn_blocking;
use url::Url;

use super::backup::{checked, summary};
use super::progress::ProgressLine;
use super::restore::{is_of_this_version, sqlite_url};
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
use crate::store::trial::{KindTrial, Trial, TrialError};

/// Permissions of the temporary directory: only the user of the command has access.
const FOLDER_MODE: u32 = 0o700;

/// Verifies a backup. Nothing of the shop is touched.
pub async fn run(global: &GlobalOptions, file: &Path) -> Result<(), CliError> {
    log::start_for_command();
    let config = settings::load(global, None)?.config;
    let backup = checked(file.to_owned(), "checking").await?;
    is_of_this_version(&backup)?;
    let folder = TemporaryFolder::create()?;
    let copy =
        folder.path.join(if backup.manifest.database.kind == "sqlite" { "printfloor.db" } else { "copy.pgdump" });
    unpack(file, &backup, &copy).await?;
    let trial = if backup.manifest.database.kind == "sqlite" {
        let config = with_url(&config, sqlite_url(&copy)?);
        tried(&config, &backup, &copy).await
    } else {
        on_postgres(&config, &backup, &copy).await
    };
    report(file, &backup, &trial?)
}

/// Restores a PostgreSQL database beside the shop's own, and removes it again.
async fn on_postgres(config: &Config, backup: &VerifiedBackup, copy: &Path) -> Result<Vec<KindTrial>, CliError> {
    let failed = |words: String| CliError::Failed(format!("no temporary database can be made: {words}"));
    let own = own_secrets::database_settings(config);
    let Some(mut url) = Url::parse(&own.url).ok().filter(|url| url.scheme().starts_with("postgres")) else {
        return Err(failed(
            "set DATABASE_URL to a PostgreSQL server, on which the user may create databases".to_owned(),
        ));
    };
    connect::reach(&own.url).await.map_err(|error| failed(error.to_string()))?;
    let (scratch, leftovers) = ScratchDatabase::create(&own).await.map_err(|error| {
        failed(format!("{error} (the user needs the right to create databases: ALTER ROLE … CREATEDB)"))
    })?;
    for name in leftovers {
        output::note(&format!("the temporary database {name} is left from an interrupted run: `dropdb {name}`"));
    }
    url.set_path(scratch.name());
    let outcome = tried(&with_url(config, url.to_string()), backup, copy).await;
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
    let trial = Trial::open(settings).await?;
    let kinds = Box::pin(Directories::read_everything(&trial)).await;
    trial.close().await;
    kinds
}

/// Tells if the server's own secrets are not those that the backup needs, without which a server does not start.
async fn note_other_secrets(config: &Config) -> Result<(), CliError> {
    let state = own_secrets::look(config).await.map_err(|error| CliError::Failed(error.to_string()))?;
    if let DatabaseState::Existing { differing } = state
        && !differing.is_empty()
    {
        output::note(&format!(
            "the backup was made with another {}: a server needs that to start on it",
            differing.join(" and another ")
        ));
    }
    Ok(())
}

/// Prints what was read.
fn report(file: &Path, backup: &VerifiedBackup, kinds: &[KindTrial]) -> Result<(), CliError> {
    let all: u64 = kinds.iter().map(|kind| kind.aggregates).sum();
    output::line(&format!("{}: {}", file.display(), summary(backup)))?;
    for kind in kinds.iter().filter(|kind| kind.aggregates > 0) {
        output::line(&format!("  {}: {}", kind.kind, kind.aggregates))?;
    }
    output::line(&format!("restored into a temporary place and started: all {all} records can be read"))
}

/// Directory of one run of the command, removed on drop.
struct TemporaryFolder {
    path: PathBuf,
}

impl TemporaryFolder {
    fn create() -> Result<Self, CliError> {
        let path = env::temp_dir().join(format!("printfloor-verify-{}", process::id()));
        let cannot = || CliError::io(format!("{} cannot be created; set TMPDIR to another directory", path.display()));
        // A killed process that had the same ID may have left it.
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(cannot()(error)),
            _ => {}
        }
        DirBuilder::new().mode(FOLDER_MODE).create(&path).map_err(cannot())?;
        Ok(Self { path })
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            output::note(&format!("the temporary directory {} cannot be removed: {error}", self.path.display()));
        }
    }
}
