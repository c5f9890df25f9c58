//! Large objects, such as backups, which are sent and received in parts. An object that is being sent exists only when
//! all of its parts have arrived.

use std::io;
use std::path::Path as FilePath;

use futures::TryStreamExt as _;
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore as _, ObjectStoreExt as _, PutPayload};
use tokio::fs::{File, OpenOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{ObjectStorage, StorageError};

/// Minimum size of a part, in bytes. The protocol requires 5 MiB for all but the last.
const MIN_PART_BYTES: u64 = 8 * 1024 * 1024;
/// Maximum number of parts of an object. The protocol allows 10,000.
const MAX_PARTS: u64 = 9_000;
/// Permissions of a file that is received: readable and writable by the owner only.
const FILE_MODE: u32 = 0o600;

/// Reason that a large object was not sent or received.
#[derive(Debug, thiserror::Error)]
pub enum LargeObjectError {
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The file cannot be read or written.
    #[error(transparent)]
    Disk(#[from] io::Error),
    /// The size of the object is not that of the file.
    #[error("object storage has {stored} bytes of {sent}")]
    OtherSize {
        /// Number of bytes in the storage.
        stored: u64,
        /// Number of bytes that it should have.
        sent: u64,
    },
}

/// Returns the size of the parts in which so many bytes are sent.
fn part_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(MAX_PARTS).max(MIN_PART_BYTES)
}

impl ObjectStorage {
    /// Sends a file, and reports the number of bytes after each part. If it is interrupted, there is no object.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or the object was not stored completely.
    pub async fn send_file(
        &self,
        key: &str,
        file: &FilePath,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<(), LargeObjectError> {
        let mut file = File::open(file).await?;
        let sent = file.metadata().await?.len();
        let path = Path::from(key);
        let mut upload = self.within(self.store.put_multipart(&path)).await?;
        if let Err(error) = self.send_parts(&mut *upload, &mut file, part_bytes(sent), progress).await {
            // Parts of what was given up cost money until they are removed.
            let _ = self.within(upload.abort()).await;
            return Err(error);
        }
        self.within(upload.complete()).await?;
        let stored = self.within(self.store.head(&path)).await?.size;
        if stored == sent { Ok(()) } else { Err(LargeObjectError::OtherSize { stored, sent }) }
    }

    async fn send_parts(
        &self,
        upload: &mut dyn MultipartUpload,
        file: &mut File,
        part_bytes: u64,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<(), LargeObjectError> {
        loop {
            let mut part = Vec::new();
            (&mut *file).take(part_bytes).read_to_end(&mut part).await?;
            if part.is_empty() {
                return Ok(());
            }
            let bytes = part.len() as u64;
            self.within(upload.put_part(PutPayload::from(part))).await?;
            progress(bytes);
        }
    }

    /// Receives an object into a file that does not exist yet, and reports the number of bytes after each part.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such object, or it was not received completely.
    pub async fn receive_file(
        &self,
        key: &str,
        file: &FilePath,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<(), LargeObjectError> {
        let path = Path::from(key);
        let sent = self.within(self.store.head(&path)).await?.size;
        let mut file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(file).await?;
        let mut stored = 0;
        while stored < sent {
            let end = sent.min(stored + MIN_PART_BYTES);
            let part = self.within(self.store.get_range(&path, stored..end)).await?;
            if part.len() as u64 != end - stored {
                return Err(LargeObjectError::OtherSize { stored: stored + part.len() as u64, sent });
            }
            file.write_all(&part).await?;
            progress(part.len() as u64);
            stored = end;
        }
        file.sync_all().await?;
        Ok(())
    }

    /// Returns the keys of all objects below a path, sorted.
    ///
    /// # Errors
    ///
    /// Returns an error if the storage does not respond, or does not allow to list its objects.
    pub async fn keys_below(&self, path: &str) -> Result<Vec<String>, StorageError> {
        let path = (!path.is_empty()).then(|| Path::from(path));
        let objects = self.store.list(path.as_ref()).map_ok(|object| object.location.to_string());
        let mut keys: Vec<String> = self.within(objects.try_collect()).await?;
        keys.sort();
        Ok(keys)
    }

    /// Removes an object.
    ///
    /// # Errors
    ///
    /// Returns an error if the storage does not respond, or does not allow it.
    pub async fn remove(&self, key: &str) -> Result<(), StorageError> {
        self.within(self.store.delete(&Path::from(key))).await
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn no_object_has_more_parts_than_are_allowed() {
        assert_eq!(part_bytes(1), MIN_PART_BYTES);
        for bytes in [MIN_PART_BYTES * MAX_PARTS, 5 * 1024 * 1024 * 1024 * 1024] {
            assert!(bytes.div_ceil(part_bytes(bytes)) <= MAX_PARTS, "{bytes}");
        }
    }

    #[tokio::test]
    async fn a_file_comes_back_as_it_was_sent_and_is_found_by_its_folder() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let storage = ObjectStorage::folder(to.path(), String::new()).unwrap();
        let (file, back) = (from.path().join("file"), from.path().join("back"));
        let content: Vec<u8> = (0..=MIN_PART_BYTES).map(|n| (n % 251) as u8).collect();
        std::fs::write(&file, &content).unwrap();
        let (mut sent, mut received) = (0, 0);
        storage.send_file("shop/b.tar", &file, &mut |bytes| sent += bytes).await.unwrap();
        storage.send_file("shop/a.tar", &file, &mut |_| {}).await.unwrap();
        storage.receive_file("shop/b.tar", &back, &mut |bytes| received += bytes).await.unwrap();
        assert_eq!(std::fs::read(&back).unwrap(), content);
        assert_eq!((sent, received), (content.len() as u64, content.len() as u64));
        assert_eq!(storage.keys_below("shop").await.unwrap(), ["shop/a.tar", "shop/b.tar"]);
        storage.remove("shop/a.tar").await.unwrap();
        assert_eq!(storage.keys_below("shop").await.unwrap(), ["shop/b.tar"]);
        assert_eq!(storage.keys_below("other").await.unwrap(), [""; 0]);
        let missing = storage.receive_file("shop/c.tar", &from.path().join("c"), &mut |_| {}).await;
        assert!(matches!(missing, Err(LargeObjectError::Storage(StorageError::Missing))), "{missing:?}");
    }
}
