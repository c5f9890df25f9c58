//! `printfloor restore FILE`: puts a backup back into an empty data folder and an empty database.
//!
//! The backup is read to its end before anything is written. From then on until all is compared a mark stands in the
//! data folder (and in a PostgreSQL database), beside which no server starts; a restore that was interrupted begins
//! anew.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use migrations::{Migrator, MigratorTrait as _};
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::backup::{checked, summary};
use super::progress::ProgressLine;
use super::{CliError, Global, output, settings};
use crate::actors::kernel::environment::machine_clock;
use crate::app::backups::reading::{BackupPlaces, VerifiedBackup, sync_folders, unpack};
use crate::app::own_secrets;
use crate::config::Config;
use crate::observe::log;
use crate::server::{CONTROL_SOCKET, LOCK_FILE, absolute, lock};
use crate::store::connect::{self, DatabaseSettings, sqlite_file};
use crate::store::copy::DatabaseCopier;
use crate::store::copy::restore::RestoreTarget;
use crate::store::restoring::{RestoredBackup, record};

/// Files that may be in the data folder before: they are no part of a backup.
const OWN_FILES: [&str; 4] = ["secrets.env", ".env", LOCK_FILE, CONTROL_SOCKET];
/// Names that are named of a folder that is not empty.
const MAX_NAMED: usize = 3;

/// What the mark says: where the restore writes, which was all empty when it began.
#[derive(PartialEq, Eq, Debug, Serialize, Deserialize)]
struct RestoreMark {
    database: String,
    files: PathBuf,
    documents: PathBuf,
}

/// Puts a backup back.
pub async fn run(global: &Global, file: &Path) -> Result<(), CliError> {
    log::start_for_command();
    let config = settings::load(global, None)?.config;
    let data = config.server.data_dir.clone();
    let backup = checked(file.to_owned(), "checking").await?;
    let database = own_secrets::database_settings(&config);
    let copier = DatabaseCopier::new(database.clone());
    fits(&backup, &copier, &database)?;
    let _lock = lock(&data, "restore")?;
    let restore = Restoring::prepare(&config, &database, &copier).await?;
    restore.run(file, &backup, &copier).await?;
    report(&config, &backup)
}

/// Refuses a backup of another kind of database, or of a newer version of the program.
fn fits(backup: &VerifiedBackup, copier: &DatabaseCopier, database: &DatabaseSettings) -> Result<(), CliError> {
    let manifest = &backup.manifest;
    if manifest.database.kind != copier.kind() {
        return Err(CliError::Failed(format!(
            "the backup is of a {} database, and the settings name {}: name one of the same kind with DATABASE_URL",
            manifest.database.kind,
            connect::shown(&database.url)
        )));
    }
    if !Migrator::migrations().iter().any(|known| known.name() == manifest.schema_version) {
        return Err(CliError::Failed(format!(
            "the backup was made by version {} of printfloor, which is newer than this one ({}): install that version, and \
             try again",
            manifest.version,
            env!("CARGO_PKG_VERSION")
        )));
    }
    Ok(())
}

/// A restore whose places are empty and marked.
struct Restoring {
    data: PathBuf,
    mark: PathBuf,
    database: DatabaseSettings,
    places: BackupPlaces,
    /// The file that the database becomes; `None` on PostgreSQL.
    final_file: Option<PathBuf>,
}

impl Restoring {
    /// Looks that nothing is there, or only what an interrupted restore left, and marks the places.
    async fn prepare(config: &Config, database: &DatabaseSettings, copier: &DatabaseCopier) -> Result<Self, CliError> {
        let (data, mark) = (config.server.data_dir.clone(), config.restore_mark());
        let (files, documents) = (whole_path(&config.files_dir()), whole_path(&config.documents_dir()));
        let final_file = sqlite_file(&database.url);
        let copy =
            final_file.as_ref().map_or_else(|| data.join("printfloor.pgdump"), |file| beside(file, ".restoring"));
        let place = match &final_file {
            Some(file) => whole_path(file).display().to_string(),
            None => connect::shown(&database.url),
        };
        let words = RestoreMark { database: place, files: files.clone(), documents: documents.clone() };
        let restore = Self {
            data,
            mark,
            database: database.clone(),
            places: BackupPlaces { database: copy, files, documents },
            final_file,
        };
        let cannot = || CliError::io(format!("{} cannot be written", restore.mark.display()));
        let target = copier.restore_target().await.map_err(|error| CliError::Failed(error.to_string()))?;
        if restore.mark.exists() {
            let earlier = fs::read(&restore.mark).ok();
            let earlier = earlier.and_then(|text| bounded_json::read(&text, bounded_json::REQUEST).ok());
            let earlier = earlier.and_then(|value| serde_json::from_value(value).ok());
            if earlier != Some(words) {
                return Err(CliError::Failed(format!(
                    "an interrupted restore wrote to other places than those of the present settings: put the settings back, \
                     or empty {} and the former places by hand",
                    restore.data.display()
                )));
            }
            if target == RestoreTarget::Used && restore.final_file.is_none() {
                return Err(not_empty(&connect::shown(&restore.database.url), "has tables"));
            }
            output::note("an earlier restore was interrupted: what it left is removed, and the restore begins anew");
            restore.clear().map_err(CliError::io("what an interrupted restore left cannot be removed"))?;
        } else {
            restore.must_be_empty(target)?;
            let text = serde_json::to_vec(&words).map_err(|error| CliError::Failed(error.to_string()))?;
            fs::write(&restore.mark, text).map_err(cannot())?;
            sync(&restore.mark).and_then(|()| sync(&restore.data)).map_err(cannot())?;
        }
        copier.begin_restore().await.map_err(|error| CliError::Failed(error.to_string()))?;
        Ok(restore)
    }

    fn must_be_empty(&self, target: RestoreTarget) -> Result<(), CliError> {
        let own = |name: &str| OWN_FILES.contains(&name);
        for folder in [&self.data, &self.places.files, &self.places.documents] {
            let found = match fs::read_dir(folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(CliError::io(format!("{} cannot be read", folder.display()))(error)),
                Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned())),
            };
            let mut names: Vec<String> = found.filter(|name| !own(name)).collect();
            names.sort();
            if !names.is_empty() {
                let more = if names.len() > MAX_NAMED { ", …" } else { "" };
                names.truncate(MAX_NAMED);
                let shown = absolute(folder).display().to_string();
                return Err(not_empty(&shown, &format!("holds {}{more}", names.join(", "))));
            }
        }
        match target {
            RestoreTarget::Used => Err(not_empty(&connect::shown(&self.database.url), "holds data")),
            RestoreTarget::Empty | RestoreTarget::Interrupted => Ok(()),
        }
    }

    /// Removes what an interrupted restore left, but for the mark.
    fn clear(&self) -> io::Result<()> {
        for folder in [&self.places.files, &self.places.documents] {
            gone(fs::remove_dir_all(folder))?;
        }
        for file in self.final_file.iter().chain([&self.places.database]) {
            for ending in ["", "-wal", "-shm"] {
                gone(fs::remove_file(beside(file, ending)))?;
            }
        }
        Ok(())
    }

    /// Unpacks, compares, brings the tables up to date, records the restore, and removes the mark.
    async fn run(&self, file: &Path, backup: &VerifiedBackup, copier: &DatabaseCopier) -> Result<(), CliError> {
        let (from, whole, places) = (file.to_owned(), backup.clone(), self.places.clone());
        let total = fs::metadata(file).map_or(0, |found| found.len());
        let unpacked = spawn_blocking(move || {
            let mut progress = ProgressLine::new("restoring", Some(total));
            let unpacked = unpack(&from, &whole, &places, |bytes| progress.add(bytes));
            let unpacked = unpacked.and_then(|()| {
                sync_folders(&places.files)?;
                Ok(sync_folders(&places.documents)?)
            });
            progress.end();
            unpacked
        });
        let failed = |error: &dyn std::fmt::Display| CliError::Failed(format!("the restore is not finished: {error}"));
        unpacked.await.map_err(|error| failed(&error))?.map_err(|error| failed(&error))?;
        let copy = &self.places.database;
        copier.restore_from(copy, &backup.manifest.database.rows).await.map_err(|error| failed(&error))?;
        let settings = match &self.final_file {
            Some(_) => DatabaseSettings { url: sqlite_url(copy)?, ..self.database.clone() },
            None => self.database.clone(),
        };
        let writing = connect::start_restored(&settings).await.map_err(|error| failed(&error))?;
        let restored = RestoredBackup { sha256: backup.sha256.clone(), made_at: backup.manifest.made_at };
        record(&writing.db, &restored, machine_clock()).await.map_err(|error| failed(&error))?;
        writing.db.close().await.map_err(|error| failed(&error))?;
        let put = match &self.final_file {
            Some(file) => fs::rename(copy, file).and_then(|()| sync(file)),
            None => fs::remove_file(copy),
        };
        put.map_err(|error| failed(&error))?;
        copier.end_restore().await.map_err(|error| failed(&error))?;
        fs::remove_file(&self.mark).and_then(|()| sync(&self.data)).map_err(|error| failed(&error))
    }
}

fn not_empty(what: &str, why: &str) -> CliError {
    CliError::Failed(format!(
        "{what} is not empty: it {why}. A backup is restored into an empty data folder and an empty database: name others with \
         --data and DATABASE_URL, or move what is there away"
    ))
}

/// The absolute path, the same whether there is something or not.
fn whole_path(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// A file of the same folder, whose name has one more ending.
fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn gone(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

fn sqlite_url(file: &Path) -> Result<String, CliError> {
    let text = file.to_str().ok_or_else(|| CliError::Failed("the path of the database is no text".to_owned()))?;
    Ok(format!("sqlite://{}?mode=rw", text.replace('%', "%25").replace('?', "%3F").replace('#', "%23")))
}

/// What was put back, and what a person does next.
fn report(config: &Config, backup: &VerifiedBackup) -> Result<(), CliError> {
    let data = absolute(&config.server.data_dir);
    output::line(&format!("restored into {}: {}", data.display(), summary(backup)))?;
    if !config.secrets_file().exists() && config.auth.secrets_key.is_empty() {
        output::note(&format!(
            "put the secrets of the shop back as {}: it does not start without",
            config.secrets_file().display()
        ));
    }
    output::note("start the server, and review the restore at /shop/settings/restore: no job is started until then");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beside_a_file_keep_its_folder() {
        assert_eq!(beside(Path::new("/a/shop.db"), "-wal"), Path::new("/a/shop.db-wal"));
        assert!(
            gone(Err(io::ErrorKind::NotFound.into())).is_ok()
                && gone(Err(io::ErrorKind::PermissionDenied.into())).is_err()
        );
        assert!(sqlite_url(Path::new("/a/50%?.db")).is_ok_and(|url| url == "sqlite:///a/50%25%3F.db?mode=rw"));
    }
}
