//! `printfloor restore FILE`: restores a backup into an empty data directory and an empty database.
//!
//! The whole backup is read before anything is written. While the restore is in progress, a marker in the data
//! directory (and in a PostgreSQL database) prevents servers from starting. An interrupted restore starts over; a
//! completed one is recognised from its database (`app/restore_mark.rs`).

mod bucket;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tokio::task::spawn_blocking;

use self::bucket::RestoreBucket;
use super::backup::{checked, summary};
use super::bucket::BucketPlace;
use super::progress::ProgressLine;
use super::temporary::TemporaryFolder;
use super::{CliError, GlobalOptions, output, settings};
use crate::actors::kernel::environment::machine_clock;
use crate::app::backups::reading::{BackupDestinations, VerifiedBackup, sync_folders, unpack};
use crate::app::own_secrets;
use crate::app::restore_mark::{self, RestoreMark, RestoreStage, unmark};
use crate::config::Config;
use crate::files::disk::LOST_FOUND;
use crate::observe::log;
use crate::server::{CONTROL_SOCKET, LOCK_FILE, absolute, lock};
use crate::store::connect::{self, DatabaseSettings, NewerMigration, sqlite_file};
use crate::store::copy::DatabaseCopier;
use crate::store::copy::restore::RestoreTarget;
use crate::store::restoring::{RestoredBackup, record};

/// Files that may already exist in the data directory, because backups do not contain them.
const OWN_FILES: [&str; 4] = ["secrets.env", ".env", LOCK_FILE, CONTROL_SOCKET];
/// Maximum number of file names listed in the message about a non-empty directory.
const MAX_NAMED: usize = 3;

/// Restores a backup from a file or a bucket.
pub async fn run(global: &GlobalOptions, place: &str) -> Result<(), CliError> {
    log::start_for_command();
    let config = settings::load(global, None)?.config;
    let Some(place) = BucketPlace::parse(place)? else {
        return Box::pin(restore_file(config, Path::new(place))).await;
    };
    let folder = TemporaryFolder::create()?;
    let (address, file) = place.receive(&config, &folder).await?;
    output::note(&format!("restoring {address}"));
    Box::pin(restore_file(config, &file)).await
}

async fn restore_file(config: Config, file: &Path) -> Result<(), CliError> {
    let data = config.server.data_dir.clone();
    let backup = checked(file.to_owned(), "checking").await?;
    let database = own_secrets::database_settings(&config);
    let copier = DatabaseCopier::new(database.clone());
    fits(&backup, &copier, &database)?;
    let _lock = lock(&data, "restore")?;
    if let Some(restore) = RestoreInProgress::prepare(&config, &database, &copier, &backup).await? {
        restore.run(file, &backup, &copier).await?;
    }
    report(&config, &backup)
}

/// Rejects a backup from a different kind of database or a newer version of the program.
fn fits(backup: &VerifiedBackup, copier: &DatabaseCopier, database: &DatabaseSettings) -> Result<(), CliError> {
    let manifest = &backup.manifest;
    if manifest.database.kind != copier.kind() {
        return Err(CliError::Failed(format!(
            "the backup contains a {} database, but the settings use {}; specify a database of the same kind with \
             DATABASE_URL",
            manifest.database.kind,
            connect::display_url(&database.url)
        )));
    }
    is_of_this_version(backup)
}

/// Rejects a backup from a newer version of the program.
pub fn is_of_this_version(backup: &VerifiedBackup) -> Result<(), CliError> {
    let manifest = &backup.manifest;
    match NewerMigration::find([manifest.schema_version.as_str()]) {
        Some(newer) => Err(CliError::Failed(format!(
            "the backup was created by a newer version of printfloor ({}): {newer}",
            manifest.version
        ))),
        None => Ok(()),
    }
}

/// Restore into a directory and a database that were empty and are now marked as being restored.
struct RestoreInProgress {
    config: Config,
    database: DatabaseSettings,
    places: BackupDestinations,
    /// Place in a bucket for the files, which are unpacked to their directory and then moved to it.
    bucket: Option<RestoreBucket>,
    /// Final path of the database file; `None` on PostgreSQL.
    final_file: Option<PathBuf>,
}

impl RestoreInProgress {
    /// Checks that the targets are empty or contain only leftovers from an interrupted restore, then marks them as
    /// restore targets. Returns `None` if an earlier run has already completed the restore of this backup.
    async fn prepare(
        config: &Config,
        database: &DatabaseSettings,
        copier: &DatabaseCopier,
        backup: &VerifiedBackup,
    ) -> Result<Option<Self>, CliError> {
        let failed = |error: &dyn std::fmt::Display| CliError::Failed(error.to_string());
        let mark = RestoreMark::new(config, &backup.sha256);
        let final_file = sqlite_file(&database.url);
        let copy = final_file
            .as_ref()
            .map_or_else(|| config.server.data_dir.join("printfloor.pgdump"), |file| beside(file, ".restoring"));
        let (files, documents) = (absolute(&config.files_dir()), absolute(&config.documents_dir()));
        let restore = Self {
            config: config.clone(),
            database: database.clone(),
            places: BackupDestinations { database: copy, files, documents },
            bucket: RestoreBucket::open(config)?,
            final_file,
        };
        let stage = restore_mark::settle(config).await.map_err(|error| failed(&error))?;
        let target = copier.restore_target().await.map_err(|error| failed(&error))?;
        match stage {
            RestoreStage::Complete(earlier) if earlier.backup == mark.backup => {
                output::note("an earlier run restored this backup but was interrupted before it reported success");
                return Ok(None);
            }
            RestoreStage::Interrupted(Some(earlier)) => {
                if !earlier.has_places_of(&mark) {
                    return Err(CliError::Failed(format!(
                        "an interrupted restore wrote to locations other than those in the current settings; restore \
                         the settings, or empty {} and the previous locations manually",
                        config.server.data_dir.display()
                    )));
                }
                if target == RestoreTarget::Used && restore.final_file.is_none() {
                    return Err(not_empty(&connect::display_url(&restore.database.url), "has tables"));
                }
                output::note("an earlier restore was interrupted; removing its leftovers and starting over");
                if let Some(bucket) = &restore.bucket {
                    bucket.clear(&earlier.place_mark).await?;
                }
                restore.clear().map_err(CliError::io("the leftovers of an interrupted restore cannot be removed"))?;
            }
            // The mark of another backup is gone, but not what that left. One that says nothing was all there was.
            RestoreStage::Complete(_) | RestoreStage::Interrupted(None) | RestoreStage::Unmarked => {
                restore.must_be_empty(target)?;
                if let Some(bucket) = &restore.bucket {
                    bucket.must_be_empty().await?;
                }
            }
        }
        let cannot = CliError::io(format!("{} cannot be written", config.restore_mark().display()));
        mark.write(config).map_err(cannot)?;
        if let Some(bucket) = &restore.bucket {
            bucket.mark(&mark.place_mark).await?;
        }
        copier.begin_restore().await.map_err(|error| failed(&error))?;
        Ok(Some(restore))
    }

    fn must_be_empty(&self, target: RestoreTarget) -> Result<(), CliError> {
        let mark = self.config.restore_mark();
        let own = |name: &str| OWN_FILES.contains(&name) || mark.file_name().is_some_and(|mark| mark == name);
        for folder in [&self.config.server.data_dir, &self.places.files, &self.places.documents] {
            let names = names_in(folder).map_err(CliError::io(format!("{} cannot be read", folder.display())))?;
            // Each of these is looked into by itself: it may be a volume of its own.
            let is_place = |name: &str| {
                let path = absolute(&folder.join(name));
                [&self.places.files, &self.places.documents].iter().any(|place| path == absolute(place))
            };
            let mut names: Vec<String> = names.into_iter().filter(|name| !own(name) && !is_place(name)).collect();
            if !names.is_empty() {
                let more = if names.len() > MAX_NAMED { ", …" } else { "" };
                names.truncate(MAX_NAMED);
                let display_path = absolute(folder).display().to_string();
                return Err(not_empty(&display_path, &format!("contains {}{more}", names.join(", "))));
            }
        }
        match target {
            RestoreTarget::Used => Err(not_empty(&connect::display_url(&self.database.url), "contains data")),
            RestoreTarget::Empty | RestoreTarget::Interrupted => Ok(()),
        }
    }

    /// Removes the leftovers of an interrupted restore, except for the marker.
    fn clear(&self) -> io::Result<()> {
        for folder in [&self.places.files, &self.places.documents] {
            empty(folder)?;
        }
        for file in self.final_file.iter().chain([&self.places.database]) {
            for ending in ["", "-wal", "-shm"] {
                gone(fs::remove_file(beside(file, ending)))?;
            }
        }
        Ok(())
    }

    /// Unpacks and compares the backup, migrates the schema, records the restore, and removes the marker.
    async fn run(&self, file: &Path, backup: &VerifiedBackup, copier: &DatabaseCopier) -> Result<(), CliError> {
        let (from, whole, places, bucket) = (file.to_owned(), backup.clone(), self.places.clone(), self.bucket.clone());
        let total = fs::metadata(file).map_or(0, |metadata| metadata.len());
        let unpacked = spawn_blocking(move || {
            let mut progress = ProgressLine::new("restoring", Some(total));
            let settle = |name: &str, path: &Path| match &bucket {
                Some(bucket) => bucket.receive(name, path),
                None => Ok(()),
            };
            let unpacked = unpack(&from, &whole, &places, |bytes| progress.add(bytes), settle);
            let unpacked = unpacked.and_then(|()| {
                sync_folders(&places.files)?;
                Ok(sync_folders(&places.documents)?)
            });
            progress.end();
            unpacked
        });
        let failed = |error: &dyn std::fmt::Display| CliError::Failed(format!("the restore is incomplete: {error}"));
        unpacked.await.map_err(|error| failed(&error))?.map_err(|error| failed(&error))?;
        if let Some(bucket) = &self.bucket {
            bucket.verify(backup).await?;
        }
        let copy = &self.places.database;
        copier.restore_from(copy, &backup.manifest.database.rows).await.map_err(|error| failed(&error))?;
        let settings = match &self.final_file {
            Some(_) => DatabaseSettings { url: sqlite_url(copy)?, ..self.database.clone() },
            None => self.database.clone(),
        };
        let mut writing = connect::start_restored(&settings).await.map_err(|error| failed(&error))?;
        let restored = RestoredBackup { sha256: backup.sha256.clone(), made_at: backup.manifest.made_at };
        record(&mut writing, &restored, machine_clock()).await.map_err(|error| failed(&error))?;
        writing.db.close().await.map_err(|error| failed(&error))?;
        let put = match &self.final_file {
            Some(file) => fs::rename(copy, file).and_then(|()| sync(file)),
            None => fs::remove_file(copy),
        };
        put.map_err(|error| failed(&error))?;
        copier.end_restore().await.map_err(|error| failed(&error))?;
        if let Some(bucket) = &self.bucket {
            bucket.unmark().await?;
        }
        unmark(&self.config).map_err(|error| failed(&error))
    }
}

fn not_empty(what: &str, why: &str) -> CliError {
    CliError::Failed(format!(
        "{what} is not empty: it {why}. A backup can only be restored into an empty data directory and an empty \
         database: specify others with --data and DATABASE_URL, or move the existing data away"
    ))
}

/// Returns the path of a file in the same directory, with `ending` appended to its name.
fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Returns the sorted names of a directory's entries, except those that the file system itself creates; empty if the
/// directory does not exist.
fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != LOST_FOUND {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Removes the contents of a directory but not the directory itself, which may be a mounted volume.
fn empty(folder: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_name() == LOST_FOUND {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn gone(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Returns the address of an existing SQLite file.
pub fn sqlite_url(file: &Path) -> Result<String, CliError> {
    let text =
        file.to_str().ok_or_else(|| CliError::Failed("the path of the database must be valid UTF-8".to_owned()))?;
    Ok(format!("sqlite://{}?mode=rw", text.replace('%', "%25").replace('?', "%3F").replace('#', "%23")))
}

/// Prints the restored items and the operator's next steps.
fn report(config: &Config, backup: &VerifiedBackup) -> Result<(), CliError> {
    let data = absolute(&config.server.data_dir);
    output::line(&format!("restored into {}: {}", data.display(), summary(backup)))?;
    if !config.secrets_file().exists() && config.auth.secrets_key.is_empty() {
        output::note(&format!(
            "restore the shop's secrets to {}; the shop does not start without them",
            config.secrets_file().display()
        ));
    }
    output::note("start the server and review the restore at /shop/settings/restore; no jobs start until then");
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    /// Creates a directory like a new ext4 volume, which contains only `lost+found`.
    fn volume() -> tempfile::TempDir {
        let volume = tempfile::tempdir().unwrap();
        fs::create_dir(volume.path().join(LOST_FOUND)).unwrap();
        volume
    }

    #[test]
    fn a_new_volume_is_empty_and_what_somebody_put_there_is_not() {
        let volume = volume();
        assert!(names_in(volume.path()).unwrap().is_empty());
        assert!(names_in(&volume.path().join("none")).unwrap().is_empty());
        fs::write(volume.path().join("b.txt"), "").unwrap();
        fs::create_dir(volume.path().join("a")).unwrap();
        assert_eq!(names_in(volume.path()).unwrap(), ["a", "b.txt"]);
        assert!(names_in(&volume.path().join("b.txt")).is_err(), "no folder");
    }

    #[test]
    fn what_an_interrupted_restore_left_is_removed_and_the_folder_itself_is_not() {
        let (volume, outside) = (volume(), tempfile::tempdir().unwrap());
        let before = fs::metadata(volume.path()).unwrap().ino();
        fs::create_dir_all(volume.path().join("ab/cd")).unwrap();
        fs::write(volume.path().join("ab/cd/file"), "half of it").unwrap();
        fs::write(volume.path().join("file"), "half of it").unwrap();
        fs::write(outside.path().join("kept"), "").unwrap();
        std::os::unix::fs::symlink(outside.path(), volume.path().join("link")).unwrap();
        empty(volume.path()).unwrap();
        assert!(names_in(volume.path()).unwrap().is_empty());
        assert_eq!(fs::metadata(volume.path()).unwrap().ino(), before, "the same folder");
        assert!(volume.path().join(LOST_FOUND).exists() && outside.path().join("kept").exists());
        empty(&volume.path().join("none")).unwrap();
    }

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
