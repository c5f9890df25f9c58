//! Places for backups, which are distinguished by the time in their names: a directory, or a folder in a bucket.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tokio::task::spawn_blocking;

use crate::app::ShopStartError;
use crate::app::storage::backup_bucket;
use config::Config;
use config::bucket_address::BucketAddress;
use domain::time::Timestamp;
use services::object_storage::large::LargeObjectError;
use services::object_storage::{ObjectStorage, StorageError};

/// Prefix of a backup's name.
const NAME_PREFIX: &str = "printfloor-backup-";
/// Suffix of a backup's name, after the time.
const NAME_ENDING: &str = "Z.tar";
/// Length of a time without its fraction of a second, such as `2030-01-31T12:00:00`.
const SECONDS_CHARS: usize = 19;
/// Name of a backup while it is being written to a directory.
const UNFINISHED: &str = "printfloor-backup.unfinished";

/// Reason that a place for backups cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BackupPlaceError {
    /// The directory, or the file to send, cannot be read or written.
    #[error(transparent)]
    Disk(#[from] io::Error),
    /// The bucket cannot be used.
    #[error(transparent)]
    Bucket(#[from] LargeObjectError),
}

impl From<StorageError> for BackupPlaceError {
    fn from(error: StorageError) -> Self {
        Self::Bucket(error.into())
    }
}

/// Directory or bucket in which backups are kept.
#[derive(Clone)]
pub enum BackupPlace {
    /// Directory, which must exist: a disk that is not mounted is no place for backups.
    Folder(PathBuf),
    /// Folder in a bucket.
    Bucket {
        /// Client of the bucket.
        storage: ObjectStorage,
        /// Key of the folder, without a slash at its end; may be empty.
        path: String,
    },
}

impl BackupPlace {
    /// Returns the place at a path or an address. Contacts nothing.
    ///
    /// # Errors
    ///
    /// Fails if the settings for the bucket's service are invalid.
    pub fn open(config: &Config, to: &str) -> Result<Self, ShopStartError> {
        let Some(BucketAddress { bucket, path }) = BucketAddress::parse(to) else {
            return Ok(Self::Folder(to.into()));
        };
        Ok(Self::Bucket { storage: backup_bucket(config, &bucket)?, path })
    }

    /// Returns the times of the backups in this place, oldest first.
    ///
    /// # Errors
    ///
    /// Fails if the place cannot be read.
    pub async fn times(&self) -> Result<Vec<Timestamp>, BackupPlaceError> {
        let names = match self {
            Self::Folder(folder) => {
                let folder = folder.clone();
                spawn_blocking(move || names_in(&folder)).await.map_err(io::Error::other)??
            }
            Self::Bucket { storage, path } => {
                let keys = storage.keys_below(path).await?.into_iter();
                let below = |key: String| Some(key.strip_prefix(path.as_str())?.trim_start_matches('/').to_owned());
                keys.filter_map(below).collect()
            }
        };
        let mut times: Vec<Timestamp> = names.iter().filter_map(|name| time_of(name)).collect();
        times.sort();
        Ok(times)
    }

    /// Returns the path at which a backup for this place is written.
    pub(super) fn unfinished(&self, data: &Path) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.join(UNFINISHED),
            Self::Bucket { .. } => data.join(UNFINISHED),
        }
    }

    /// Puts a complete backup into this place.
    pub(super) async fn store(&self, file: &Path, at: Timestamp) -> Result<(), BackupPlaceError> {
        let name = backup_name(at);
        match self {
            Self::Folder(folder) => {
                let (file, folder) = (file.to_owned(), folder.clone());
                let put = move || {
                    fs::rename(file, folder.join(name))?;
                    File::open(folder)?.sync_all()
                };
                spawn_blocking(put).await.map_err(io::Error::other)??;
            }
            Self::Bucket { storage, path } => {
                storage.send_file(&key(path, &name), file, &mut |_| {}).await?;
                tokio::fs::remove_file(file).await?;
            }
        }
        Ok(())
    }

    /// Removes a backup.
    pub(super) async fn remove(&self, at: Timestamp) -> Result<(), BackupPlaceError> {
        let name = backup_name(at);
        match self {
            Self::Folder(folder) => tokio::fs::remove_file(folder.join(name)).await?,
            Self::Bucket { storage, path } => storage.remove(&key(path, &name)).await?,
        }
        Ok(())
    }
}

fn key(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// Returns the name of a backup that is made at this time. Names sort by time.
pub fn backup_name(at: Timestamp) -> String {
    let seconds = at.to_string().get(..SECONDS_CHARS).unwrap_or_default().replace(':', "-");
    format!("{NAME_PREFIX}{seconds}{NAME_ENDING}")
}

/// Returns the time in the name of a backup; `None` if it is the name of something else.
fn time_of(name: &str) -> Option<Timestamp> {
    let (day, time) = name.strip_prefix(NAME_PREFIX)?.strip_suffix(NAME_ENDING)?.split_once('T')?;
    let at = format!("{day}T{}Z", time.replace('-', ":")).parse().ok()?;
    (backup_name(at) == name).then_some(at)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn names_of_backups_sort_by_time_and_are_read_back() {
        let (first, later) = (Timestamp(1_893_456_000_000), Timestamp(1_893_456_061_000));
        assert_eq!(backup_name(first), "printfloor-backup-2030-01-01T00-00-00Z.tar");
        assert_eq!(backup_name(later.plus_ms(500)), "printfloor-backup-2030-01-01T00-01-01Z.tar");
        assert_eq!(time_of(&backup_name(later)), Some(later));
        for other in [
            "printfloor-backup-2030-01-01.tar",
            "printfloor-backup-2030-01-01T00-00-00Z.tar.part",
            "shop.tar",
            UNFINISHED,
        ] {
            assert_eq!(time_of(other), None, "{other}");
        }
    }

    #[tokio::test]
    async fn what_is_not_a_backup_stays_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let place = BackupPlace::open(&Config::default(), folder.path().to_str().unwrap()).unwrap();
        fs::write(folder.path().join("printfloor-backup-2030-01-01.tar"), "downloaded").unwrap();
        let at = Timestamp(1_893_456_000_000);
        let file = place.unfinished(Path::new("none"));
        fs::write(&file, "backup").unwrap();
        place.store(&file, at).await.unwrap();
        assert_eq!(place.times().await.unwrap(), [at]);
        place.remove(at).await.unwrap();
        assert_eq!(place.times().await.unwrap(), []);
        assert_eq!(names_in(folder.path()).unwrap(), ["printfloor-backup-2030-01-01.tar"]);
        let missing = BackupPlace::Folder(folder.path().join("none"));
        assert!(matches!(missing.times().await, Err(BackupPlaceError::Disk(_))));
    }
}
