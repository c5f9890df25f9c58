//! Backups in a bucket, using the service and keys from the `[object_storage]` settings.

use std::path::{Path, PathBuf};

use super::CliError;
use super::progress::ProgressLine;
use super::temporary::TemporaryFolder;
use crate::app::storage::backup_bucket;
use crate::config::Config;
use crate::config::bucket_address::BucketAddress;
use crate::services::object_storage::ObjectStorage;
use crate::services::object_storage::large::LargeObjectError;

/// Suffix of a backup's name.
const ENDING: &str = ".tar";

/// Object, or folder of objects, in a bucket: `s3://bucket/path`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BucketPlace(BucketAddress);

impl BucketPlace {
    /// Parses an address; `None` if it is a path of this machine.
    pub fn parse(text: &str) -> Result<Option<Self>, CliError> {
        match BucketAddress::parse(text) {
            Some(place) if place.bucket.is_empty() => Err(CliError::Usage(format!("{text}: must be s3://BUCKET/PATH"))),
            place => Ok(place.map(Self)),
        }
    }

    /// Returns the place of a file below this one.
    pub fn join(&self, name: &str) -> Self {
        Self(self.0.join(name))
    }

    /// Formats the address.
    pub fn address(&self) -> String {
        self.0.to_string()
    }

    /// Sends a file to this place, which becomes an object when all of it has arrived. Fails if everybody could read it
    /// there.
    pub async fn send(&self, config: &Config, file: &Path) -> Result<(), CliError> {
        if config.is_public(&self.0) {
            let words = "everybody can read this bucket, which is that of the documents (object_storage.bucket)";
            return Err(CliError::Failed(format!("{}: {words}; use a private bucket", self.address())));
        }
        let storage = self.storage(config)?;
        if storage.has(&self.0.path).await.map_err(|error| self.failed(error.into()))? {
            return Err(CliError::Failed(format!("{} already exists", self.address())));
        }
        let total = file.metadata().map_err(CliError::io(format!("{} cannot be read", file.display())))?.len();
        let mut progress = ProgressLine::new("sending", Some(total));
        let sent = storage.send_file(&self.0.path, file, &mut |bytes| progress.add(bytes)).await;
        sent.map_err(|error| self.failed(error))?;
        progress.end();
        Ok(())
    }

    /// Receives the backup at this place or, if this is a folder, the one with the highest name in it. Returns its
    /// address and the file that it was written to.
    pub async fn receive(&self, config: &Config, folder: &TemporaryFolder) -> Result<(String, PathBuf), CliError> {
        let storage = self.storage(config)?;
        let place = if self.0.path.ends_with(ENDING) { self.clone() } else { self.newest(&storage).await? };
        let file = folder.file("received.tar");
        let mut progress = ProgressLine::new("receiving", None);
        let received = storage.receive_file(&place.0.path, &file, &mut |bytes| progress.add(bytes)).await;
        received.map_err(|error| place.failed(error))?;
        progress.end();
        Ok((place.address(), file))
    }

    async fn newest(&self, storage: &ObjectStorage) -> Result<Self, CliError> {
        let keys = storage.keys_below(&self.0.path).await.map_err(|error| self.failed(error.into()))?;
        match keys.into_iter().rfind(|key| key.ends_with(ENDING)) {
            Some(path) => Ok(Self(BucketAddress { bucket: self.0.bucket.clone(), path })),
            None => Err(CliError::Failed(format!("{} contains no backup (*{ENDING})", self.address()))),
        }
    }

    fn storage(&self, config: &Config) -> Result<ObjectStorage, CliError> {
        let settings = &config.object_storage;
        if settings.access_key_id.is_empty() || settings.secret_access_key.is_empty() {
            return Err(CliError::Failed(format!(
                "{}: set object_storage.access_key_id and OBJECT_STORAGE_SECRET_KEY, and object_storage.endpoint unless \
                 the service is Amazon's",
                self.address()
            )));
        }
        backup_bucket(config, &self.0.bucket).map_err(|error| CliError::Failed(format!("{}: {error}", self.address())))
    }

    fn failed(&self, error: LargeObjectError) -> CliError {
        CliError::Failed(format!("{}: {error}", self.address()))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn addresses_of_buckets_are_told_from_paths() {
        assert_eq!(BucketPlace::parse("/srv/backups").unwrap(), None);
        for (text, address) in [
            ("s3://shop", "s3://shop/a.tar"),
            ("s3://shop/", "s3://shop/a.tar"),
            ("s3://shop/daily/", "s3://shop/daily/a.tar"),
        ] {
            assert_eq!(BucketPlace::parse(text).unwrap().unwrap().join("a.tar").address(), address);
        }
        assert!(matches!(BucketPlace::parse("s3:///daily"), Err(CliError::Usage(_))));
    }

    #[tokio::test]
    async fn no_backup_is_sent_to_the_bucket_that_everybody_can_read() {
        let mut config = Config::default();
        config.object_storage.bucket = "papers".to_owned();
        let place = BucketPlace::parse("s3://papers/daily/a.tar").unwrap().unwrap();
        let refused = place.send(&config, Path::new("a.tar")).await.unwrap_err();
        assert!(matches!(&refused, CliError::Failed(words) if words.contains("everybody can read")), "{refused:?}");
    }
}
