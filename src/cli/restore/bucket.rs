//! Files from a backup that is restored into a bucket.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::sleep;

use crate::app::backups::reading::VerifiedBackup;
use crate::app::storage::restore_storage;
use crate::cli::CliError;
use crate::config::Config;
use crate::services::object_storage::large::LargeObjectError;
use crate::services::object_storage::mark::{MarkOwner, PlaceMark};
use crate::services::object_storage::{ObjectStorage, StorageError};

/// Folders of an archive, and of the bucket, with files and with documents.
const FILES: &str = "files/";
const DOCUMENTS: &str = "documents/";
/// Folders of the bucket that must be empty before a restore.
const FOLDERS: [&str; 3] = [FILES, DOCUMENTS, "exports/"];

/// Key of the mark that identifies the restore that writes to the place.
const MARK_KEY: &str = "restore#mark";
/// Delays before each further try to send a file.
const TRY_PAUSES: [Duration; 4] =
    [Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(15), Duration::from_secs(30)];

/// Place in a bucket for the files from a backup and, unless they have another place, the documents.
#[derive(Clone)]
pub(super) struct RestoreBucket {
    address: String,
    storage: ObjectStorage,
    has_documents: bool,
}

impl RestoreBucket {
    /// Opens the place in the settings; `None` if files are in a directory.
    pub(super) fn open(config: &Config) -> Result<Option<Self>, CliError> {
        let storage = restore_storage(config).map_err(|error| CliError::Failed(error.to_string()))?;
        let (Some(place), Some(storage)) = (config.files_bucket(), storage) else { return Ok(None) };
        let has_documents = config.documents_bucket().is_some();
        Ok(Some(Self { address: place.to_string(), storage, has_documents }))
    }

    /// Checks that the place contains no files.
    pub(super) async fn must_be_empty(&self) -> Result<(), CliError> {
        match self.objects().await?.keys().next() {
            None => Ok(()),
            Some(key) => Err(CliError::Failed(format!(
                "{} is not empty: it contains {key}. A backup can only be restored into an empty place: set files.dir \
                 to another path in the bucket, or remove the objects",
                self.address
            ))),
        }
    }

    /// Marks the place as the one of this restore.
    pub(super) async fn mark(&self, text: &str) -> Result<(), CliError> {
        self.place_mark().write(text).await.map_err(|error| self.failed(&error))
    }

    /// Removes the mark when the restore is complete.
    pub(super) async fn unmark(&self) -> Result<(), CliError> {
        self.place_mark().remove().await.map_err(|error| self.failed(&error))
    }

    fn place_mark(&self) -> PlaceMark {
        PlaceMark::new(self.storage.clone(), MARK_KEY)
    }

    /// Removes the leftovers of the interrupted restore with this mark. If the place no longer has the mark, another
    /// restore may have completed a shop there since, and the place must be empty.
    pub(super) async fn clear(&self, mark: &str) -> Result<(), CliError> {
        let owner = self.place_mark().owner(mark).await.map_err(|error| self.failed(&error))?;
        if mark.is_empty() || owner != MarkOwner::Own {
            return self.must_be_empty().await;
        }
        for key in self.objects().await?.keys() {
            self.storage.remove(key).await.map_err(|error| self.failed(&error))?;
        }
        Ok(())
    }

    /// Moves an unpacked file to the bucket, if that is its place. Blocks on the bucket.
    pub(super) fn receive(&self, name: &str, file: &Path) -> io::Result<()> {
        if !self.is_place_of(name) {
            return Ok(());
        }
        Handle::current().block_on(self.send(name, file))?;
        fs::remove_file(file)
    }

    /// Sends a file, and tries again if the bucket does not respond: a restore takes long, and would start over.
    async fn send(&self, name: &str, file: &Path) -> io::Result<()> {
        let mut pauses = TRY_PAUSES.iter();
        loop {
            let Err(error) = self.storage.send_file(name, file, &mut |_| {}).await else { return Ok(()) };
            let is_transient = matches!(&error, LargeObjectError::Storage(error) if error.is_transient());
            let Some(pause) = pauses.next().filter(|_| is_transient) else {
                return Err(io::Error::other(format!("{}: {error}", self.address)));
            };
            sleep(*pause).await;
        }
    }

    /// Checks that all files from a backup are in the bucket, with their sizes. Each was compared with its hash when it
    /// was unpacked.
    pub(super) async fn verify(&self, backup: &VerifiedBackup) -> Result<(), CliError> {
        let objects = self.objects().await?;
        for (name, bytes) in backup.members().filter(|(name, _)| self.is_place_of(name)) {
            if objects.get(name) != Some(&bytes) {
                return Err(CliError::Failed(format!("{} lacks {name}, which was stored in it", self.address)));
            }
        }
        Ok(())
    }

    fn is_place_of(&self, name: &str) -> bool {
        name.starts_with(FILES) || (self.has_documents && name.starts_with(DOCUMENTS))
    }

    /// Returns the keys and sizes of all objects in the folders of the place.
    async fn objects(&self) -> Result<BTreeMap<String, u64>, CliError> {
        let objects = self.storage.objects_below("").await.map_err(|error| self.failed(&error))?;
        let objects = objects.into_iter().map(|object| (object.key, object.bytes));
        Ok(objects.filter(|(key, _)| FOLDERS.iter().any(|folder| key.starts_with(*folder))).collect())
    }

    fn failed(&self, error: &StorageError) -> CliError {
        CliError::Failed(format!("{}: {error}", self.address))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[tokio::test]
    async fn only_the_leftovers_of_the_same_restore_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let storage = ObjectStorage::folder(folder.path(), String::new()).unwrap();
        let bucket = RestoreBucket { address: "s3://shop/live".to_owned(), storage, has_documents: true };
        let put = async || bucket.storage.store("files/ab/abc", "text/plain", "content".into()).await.unwrap();
        bucket.clear("first").await.unwrap();
        bucket.mark("first").await.unwrap();
        put().await;
        assert!(bucket.must_be_empty().await.is_err());
        bucket.clear("first").await.unwrap();
        bucket.must_be_empty().await.unwrap();
        // Another machine restores a shop into the same place, and goes live.
        bucket.mark("second").await.unwrap();
        put().await;
        assert!(bucket.clear("first").await.is_err());
        bucket.unmark().await.unwrap();
        assert!(bucket.clear("first").await.is_err() && bucket.clear("").await.is_err());
        assert_eq!(bucket.objects().await.unwrap().len(), 1);
    }
}
