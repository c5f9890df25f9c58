//! Restore marker, a file that records the backup being restored and its destinations. It is placed in the data
//! directory before anything else is written, and removed after everything has been verified. No server starts while it
//! exists.
//!
//! A process killed between its last write and the removal of the marker leaves a complete restore behind. The database
//! shows this: it contains the restore, no longer marked as unfinished. The next server or restore command then removes
//! the marker.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::own_secrets;
use config::Config;
use config::bucket_address::BucketAddress;
use platform::secrets::random::secret_bytes;
use store::connect::{self, OpenError, sqlite_file};
use store::restoring::is_recorded;

/// Backup and destinations of a restore. All destinations were empty when the restore began.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RestoreMark {
    /// Type and location of the database.
    pub database: String,
    /// Directory for stored files, or the address of their place in a bucket.
    files: PathBuf,
    /// Directory for rendered documents, or the address of their place in the bucket for files.
    documents: PathBuf,
    /// SHA-256 hash of the backup's manifest, in hex; empty in markers from older releases.
    #[serde(default)]
    pub backup: String,
    /// Random text with which the restore marks its place in a bucket; empty in markers from older releases.
    #[serde(default)]
    pub place_mark: String,
}

/// Stage of the restore into a data directory.
#[derive(PartialEq, Eq, Debug)]
pub enum RestoreStage {
    /// No restore is in progress.
    Unmarked,
    /// The restore was interrupted; `None` if it was interrupted before the marker, and therefore anything, was
    /// written.
    Interrupted(Option<RestoreMark>),
    /// The restore is complete, but was interrupted before it removed its marker; the marker has now been removed.
    Complete(RestoreMark),
}

/// Reason that the state of a restore cannot be determined.
#[derive(Debug, thiserror::Error)]
pub enum RestoreMarkError {
    /// The marker cannot be read or removed.
    #[error(transparent)]
    Disk(#[from] io::Error),
    /// The database cannot be queried.
    #[error(transparent)]
    Open(#[from] OpenError),
}

impl RestoreMark {
    /// Creates the marker for restoring the backup with the given manifest to the destinations in the settings.
    pub fn new(config: &Config, backup: &str) -> Self {
        let url = config.database_url();
        let database = sqlite_file(url.expose())
            .map_or_else(|| connect::display_url(url.expose()), |file| whole_path(&file).display().to_string());
        Self {
            database,
            files: place(config.files_bucket(), &config.files_dir()),
            documents: place(config.documents_bucket(), &config.documents_dir()),
            backup: backup.to_owned(),
            place_mark: hex::encode(secret_bytes::<16>()),
        }
    }

    /// Returns whether the two markers have the same destinations.
    pub fn has_places_of(&self, other: &Self) -> bool {
        (&self.database, &self.files, &self.documents) == (&other.database, &other.files, &other.documents)
    }

    /// Writes the marker and syncs it to disk.
    ///
    /// # Errors
    ///
    /// Fails if the data directory cannot be written.
    pub fn write(&self, config: &Config) -> io::Result<()> {
        let path = config.restore_mark();
        fs::write(&path, serde_json::to_vec(self)?)?;
        File::open(&path)?.sync_all()?;
        sync(&config.server.data_dir)
    }
}

/// Removes the marker and syncs the removal to disk.
///
/// # Errors
///
/// Fails if the marker cannot be removed.
pub fn unmark(config: &Config) -> io::Result<()> {
    fs::remove_file(config.restore_mark())?;
    sync(&config.server.data_dir)
}

/// Returns the stage of the restore into the data directory; removes the marker if the restore is complete. The caller
/// must hold the lock on the data directory.
///
/// # Errors
///
/// Fails if the marker cannot be read or removed, or if it exists and the database cannot be queried.
pub async fn settle(config: &Config) -> Result<RestoreStage, RestoreMarkError> {
    let text = match fs::read(config.restore_mark()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(RestoreStage::Unmarked),
        text => text?,
    };
    let mark = bounded_json::read(&text, bounded_json::REQUEST).ok();
    let Some(mark) = mark.and_then(|mark| serde_json::from_value::<RestoreMark>(mark).ok()) else {
        return Ok(RestoreStage::Interrupted(None));
    };
    if mark.has_places_of(&RestoreMark::new(config, &mark.backup)) && is_complete(config, &mark).await? {
        unmark(config)?;
        return Ok(RestoreStage::Complete(mark));
    }
    Ok(RestoreStage::Interrupted(Some(mark)))
}

async fn is_complete(config: &Config, mark: &RestoreMark) -> Result<bool, OpenError> {
    match is_recorded(&own_secrets::database_settings(config), &mark.backup).await {
        Err(OpenError::NotADatabase) => Ok(false),
        recorded => recorded,
    }
}

/// Returns the address of a place in a bucket or, if there is none, the absolute form of a path.
fn place(bucket: Option<BucketAddress>, path: &Path) -> PathBuf {
    bucket.map_or_else(|| whole_path(path), |address| address.to_string().into())
}

/// Returns the absolute form of a path, regardless of whether the path exists.
fn whole_path(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[tokio::test]
    async fn a_restore_is_complete_only_once_its_database_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.server.data_dir = folder.path().to_owned();
        assert_eq!(settle(&config).await.unwrap(), RestoreStage::Unmarked);
        let mark = RestoreMark::new(&config, "ab");
        mark.write(&config).unwrap();
        assert_eq!(settle(&config).await.unwrap(), RestoreStage::Interrupted(Some(mark.clone())), "no database");
        fs::write(folder.path().join("printfloor.db"), "no database ".repeat(100)).unwrap();
        assert_eq!(settle(&config).await.unwrap(), RestoreStage::Interrupted(Some(mark)), "no whole database");
        for cut in ["", "{\"database\": \"SQL"] {
            fs::write(config.restore_mark(), cut).unwrap();
            assert_eq!(settle(&config).await.unwrap(), RestoreStage::Interrupted(None));
        }
        assert!(config.restore_mark().exists());
        unmark(&config).unwrap();
        assert_eq!(settle(&config).await.unwrap(), RestoreStage::Unmarked);
    }

    #[test]
    fn marks_of_older_releases_name_no_backup() {
        let text = r#"{"database": "SQLite /a/b.db", "files": "/a/files", "documents": "/a/documents"}"#;
        let mark: RestoreMark = serde_json::from_str(text).unwrap();
        assert_eq!((mark.backup, mark.place_mark), (String::new(), String::new()));
    }
}
