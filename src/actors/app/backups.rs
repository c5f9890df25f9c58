//! Backups. Each is an archive of the database and all files, streamed to the client as it is written.
//!
//! The database is copied first, into a directory that exists only during the backup. Files never change, so they are
//! read in place. No file is deleted until all have been read, so the archive contains every file that the database
//! copy refers to. The last entry is the manifest, which lists the contents of the backup. Secrets are not included.

mod manifest;
pub mod place;
pub mod reading;
pub mod schedule;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::task::spawn_blocking;

use self::manifest::{DatabasePart, ManifestHead, ManifestWriter};
use super::ShopStartError;
use super::storage::own_documents;
use config::Config;
use domain::time::Timestamp;
use files::archive::Archive;
use files::blobs::{Blobs, RetentionGuard, bucket_error, with_retries};
use files::disk::{DiskCapacity, LOST_FOUND};
use files::pieces::{PieceWriter, Pieces, pipe};
use services::object_storage::ObjectStorage;
use store::copy::{CopyError, DatabaseCopier, DatabaseCopy};

/// Permissions of a backup's working directory and of the database copy in it: only the server's user has access.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// Minimum free disk space after the copy, in bytes, because the shop continues to write.
const MIN_ROOM_LEFT_BYTES: u64 = 64 * 1024 * 1024;
/// Name of the last file in the archive, which lists the archive's contents.
pub(super) const MANIFEST_NAME: &str = "manifest.json";
/// Product name in the manifest of every backup.
pub(super) const PRODUCT: &str = "Printfloor";

/// Returns the free disk space that a backup needs for a copy of the database of this size, in bytes.
pub const fn needed_bytes(copy_bytes: u64) -> u64 {
    copy_bytes.saturating_add(MIN_ROOM_LEFT_BYTES)
}

/// Reason that a backup could not be made.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// A backup is already in progress.
    #[error("a backup is already being created or downloaded; try again when it is finished")]
    UnderWay,
    /// A copy of the database would fill the disk.
    #[error("not enough disk space for a copy of the database in the data directory; free up some space and try again")]
    NoRoom,
    /// Copying the database failed.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// A disk operation on this server failed.
    #[error(transparent)]
    Disk(#[from] io::Error),
}

/// Service that creates backups, one at a time.
pub struct Backups {
    copier: DatabaseCopier,
    blobs: Arc<Blobs>,
    documents: DocumentPlace,
    folder: PathBuf,
    /// Lock held by the backup in progress; released when its temporary data has been removed from disk.
    turn: Arc<Mutex<()>>,
}

/// Place of the rendered documents. Backups contain none from the public bucket.
#[derive(Clone)]
enum DocumentPlace {
    Folder(PathBuf),
    /// Documents in the bucket for files.
    Bucket(ObjectStorage),
}

/// Backup being downloaded.
pub struct Backup {
    /// File name for the download.
    pub file_name: String,
    /// Archive stream, produced as the archive is written.
    pub pieces: Pieces,
}

impl Backups {
    /// Prepares backups for the shop with the given settings. Removes any temporary data left by an interrupted backup.
    ///
    /// # Errors
    ///
    /// Fails if the temporary data cannot be removed, or the settings for the file bucket are invalid.
    pub fn open(config: &Config, copier: DatabaseCopier, blobs: Arc<Blobs>) -> Result<Self, ShopStartError> {
        let folder = std::path::absolute(config.backup_dir())?;
        remove_folder(&folder)?;
        let bucket = own_documents(config)?.map(DocumentPlace::Bucket);
        let documents = bucket.unwrap_or_else(|| DocumentPlace::Folder(config.documents_dir()));
        Ok(Self { copier, blobs, documents, folder, turn: Arc::default() })
    }

    /// Copies the database and starts writing the archive.
    ///
    /// # Errors
    ///
    /// Fails if a backup is already in progress, the disk does not have enough space, or the database cannot be copied.
    pub async fn begin(self: &Arc<Self>, now: Timestamp) -> Result<Backup, BackupError> {
        let turn = self.turn.clone().try_lock_owned().map_err(|_| BackupError::UnderWay)?;
        let of = self.clone();
        // A task of its own: when the client goes away it still ends in order, and only then the next may begin.
        let prepared = tokio::spawn(async move { of.prepare(turn, now).await }).await;
        let prepared = prepared.map_err(io::Error::other)??;
        let file_name = format!("printfloor-backup-{}.tar", now.to_string().get(..10).unwrap_or_default());
        let (mut writer, pieces) = pipe();
        spawn_blocking(move || {
            let written = prepared.write(&mut writer);
            // Whoever has the whole archive finds nothing of it left.
            drop(prepared);
            match written {
                Ok(()) => writer.end(),
                Err(error) => {
                    tracing::warn!(%error, "the download of a backup was interrupted");
                    writer.fail(error);
                }
            }
        });
        Ok(Backup { file_name, pieces })
    }

    async fn prepare(&self, turn: OwnedMutexGuard<()>, made_at: Timestamp) -> Result<PreparedBackup, BackupError> {
        let needed = needed_bytes(self.copier.size().await?);
        let (path, name) = (self.folder.clone(), self.copier.file_name());
        let work_folder = spawn_blocking(move || WorkFolder::make(path, name)).await;
        let (folder, room) = work_folder.map_err(io::Error::other)??;
        if room.free_bytes < needed {
            return Err(BackupError::NoRoom);
        }
        // Before the copy: what it names is kept from now on.
        let contents = self.blobs.keep_all().await;
        let copy = self.copier.copy_to(&folder.path.join(name)).await?;
        Ok(PreparedBackup {
            folder,
            copy,
            kind: self.copier.kind(),
            name,
            made_at,
            blobs: self.blobs.clone(),
            documents: self.documents.clone(),
            _contents: contents,
            _turn: turn,
        })
    }
}

/// Working directory of a backup, deleted on drop.
struct WorkFolder {
    path: PathBuf,
}

impl WorkFolder {
    /// Creates the directory with an empty file for the copy, and measures the free space.
    fn make(path: PathBuf, name: &str) -> io::Result<(Self, DiskCapacity)> {
        // An earlier one may not have been removable.
        remove_folder(&path)?;
        DirBuilder::new().mode(FOLDER_MODE).create(&path)?;
        let folder = Self { path };
        OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(folder.path.join(name))?;
        let room = DiskCapacity::of(&folder.path)?;
        Ok((folder, room))
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        if let Err(error) = remove_folder(&self.path) {
            tracing::warn!(%error, "cannot remove the working folder of a backup");
        }
    }
}

/// Deletes a file; a missing file is not an error.
fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Deletes a directory and its contents; a missing directory is not an error.
fn remove_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Database copy, with a guard that prevents files from being deleted. Fields drop in order, so the lock is released
/// last.
struct PreparedBackup {
    folder: WorkFolder,
    copy: DatabaseCopy,
    kind: &'static str,
    name: &'static str,
    made_at: Timestamp,
    blobs: Arc<Blobs>,
    documents: DocumentPlace,
    _contents: RetentionGuard,
    _turn: OwnedMutexGuard<()>,
}

impl PreparedBackup {
    /// Writes the archive, which can be unpacked into a data directory. Blocks on the disk and the reader, so it must
    /// not run on the async runtime's threads.
    fn write(&self, to: &mut PieceWriter) -> io::Result<()> {
        let mut archive = Archive::new(to, self.made_at);
        let head = ManifestHead {
            product: PRODUCT,
            version: env!("CARGO_PKG_VERSION"),
            made_at: self.made_at,
            schema_version: &self.copy.schema,
            database: DatabasePart { kind: self.kind, member: self.name, rows: &self.copy.rows },
        };
        let mut manifest = ManifestWriter::begin(&self.folder.path.join(MANIFEST_NAME), FILE_MODE, &head)?;
        manifest.add(&archive.add(self.name, File::open(self.folder.path.join(self.name))?)?)?;
        self.blobs.for_each_content(|sha256, file| {
            let member = archive.add(&format!("files/{}/{sha256}", &sha256[..2]), file)?;
            if member.sha256 != sha256 {
                tracing::error!(member = member.name, "a stored file is damaged; the backup contains it unchanged");
            }
            manifest.add(&member)
        })?;
        let add = |name: &str, file: File| manifest.add(&archive.add(name, file)?);
        match &self.documents {
            DocumentPlace::Folder(folder) => for_each_document(folder, add)?,
            DocumentPlace::Bucket(bucket) => for_each_stored_document(bucket, &self.folder.path, add)?,
        }
        archive.add(MANIFEST_NAME, manifest.finish()?)?;
        archive.finish()
    }
}

/// Opens each document in a directory and its subdirectories, and passes it to `visit` with its name in the archive. A
/// missing directory is not an error: documents may be stored in a bucket, or none may have been rendered yet.
fn for_each_document(folder: &Path, mut visit: impl FnMut(&str, File) -> io::Result<()>) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries = match fs::read_dir(&next) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            other => other?,
        };
        for entry in entries {
            let (path, kind) = {
                let entry = entry?;
                (entry.path(), entry.file_type()?)
            };
            if kind.is_dir() {
                folders.extend((!path.ends_with(LOST_FOUND)).then_some(path));
                continue;
            }
            let below = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy();
            // What is being written has a name of its own until it is whole.
            if !kind.is_file() || below.contains('#') {
                continue;
            }
            match File::open(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                other => visit(&format!("documents/{below}"), other?)?,
            }
        }
    }
    Ok(())
}

/// Receives each document in the bucket for files into a file in `folder`, and passes it to `visit` with its name in
/// the archive. Blocks on the bucket.
fn for_each_stored_document(
    bucket: &ObjectStorage,
    folder: &Path,
    mut visit: impl FnMut(&str, File) -> io::Result<()>,
) -> io::Result<()> {
    let runtime = Handle::current();
    let path = folder.join("document");
    let keys = async || bucket.keys_below("").await.map_err(bucket_error);
    for key in runtime.block_on(with_retries(keys))? {
        let receive = async || {
            remove_file(&path)?;
            bucket.receive_file(&key, &path, &mut |_| {}).await.map_err(bucket_error)
        };
        runtime.block_on(with_retries(receive))?;
        let file = File::open(&path)?;
        fs::remove_file(&path)?;
        visit(&format!("documents/{key}"), file)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_folder_of_a_backup_is_closed_to_others_and_goes_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("backup");
        let (folder, _) = WorkFolder::make(path.clone(), "printfloor.db").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&path.join("printfloor.db"))), (0o700, 0o600));
        drop(folder);
        assert!(!path.exists());
        remove_folder(&path).unwrap();
    }

    #[test]
    fn documents_are_found_below_their_folder_when_they_are_whole() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("abc")).unwrap();
        fs::write(dir.path().join("abc/INV-1.pdf"), b"pdf").unwrap();
        fs::write(dir.path().join("abc/INV-2.pdf#1"), b"half").unwrap();
        let mut visited = Vec::new();
        let visit = |name: &str, _: File| {
            visited.push(name.to_owned());
            Ok(())
        };
        for_each_document(dir.path(), visit).unwrap();
        assert_eq!(visited, ["documents/abc/INV-1.pdf"]);
        for_each_document(&dir.path().join("none"), |_, _| Ok(())).unwrap();
    }

    #[tokio::test]
    async fn documents_in_the_bucket_for_files_are_visited() {
        let (place, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let bucket = ObjectStorage::folder(place.path(), String::new()).unwrap();
        for name in ["INV-1", "INV-2"] {
            bucket.store(&format!("abc/{name}.pdf"), "application/pdf", name.into()).await.unwrap();
        }
        let folder = dir.path().to_owned();
        let visit_all = move || {
            let mut visited = Vec::new();
            let visit = |name: &str, file: File| {
                visited.push((name.to_owned(), io::read_to_string(file)?));
                Ok::<_, io::Error>(())
            };
            for_each_stored_document(&bucket, &folder, visit).map(|()| visited)
        };
        let visited = spawn_blocking(visit_all).await.unwrap().unwrap();
        let expected = ["INV-1", "INV-2"].map(|name| (format!("documents/abc/{name}.pdf"), name.to_owned()));
        assert_eq!(visited, expected);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
