//! Large objects, such as backups, which are sent and received in parts. An object being sent exists only once all of
//! its parts have arrived.

use std::io;
use std::ops::Range;
use std::path::Path as FilePath;
use std::time::Duration;

use bytes::Bytes;
use futures::TryStreamExt as _;
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore as _, ObjectStoreExt as _, PutPayload};
use tokio::fs::{File, OpenOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::runtime::Handle;

use super::{ObjectStorage, StorageError, no_bucket, within};
use domain::time::Timestamp;

/// Minimum size of a part, in bytes, which the protocol requires for all parts but the last. Over a slow line, a larger
/// one takes long, and is lost as a whole.
const MIN_PART_BYTES: u64 = 5 * 1024 * 1024;
/// Maximum number of parts of an object. The protocol allows 10,000.
const MAX_PARTS: u64 = 9_000;
/// Time limit for a request that must not take effect late. A request may still arrive after this limit if the network
/// or the service holds it back: the limit makes that unlikely, not impossible.
pub const SINGLE_TIME: Duration = Duration::from_secs(2);
/// Permissions of a file that is received: readable and writable by the owner only.
const FILE_MODE: u32 = 0o600;
/// Media type of objects that are small enough to be sent in one piece.
const MEDIA: &str = "application/octet-stream";

/// Reason that a large object was not sent or received.
#[derive(Debug, thiserror::Error)]
pub enum LargeObjectError {
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The file cannot be read or written.
    #[error(transparent)]
    Disk(#[from] io::Error),
    /// The size of the object differs from that of the file.
    #[error("object storage has {stored} bytes of {sent}")]
    OtherSize {
        /// Number of bytes in the storage.
        stored: u64,
        /// Number of bytes that it should have.
        sent: u64,
    },
}

/// Object in the storage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredObject {
    /// Key of the object.
    pub key: String,
    /// Size of the object in bytes.
    pub bytes: u64,
    /// Time at which it was last stored, by the storage's clock.
    pub modified_at: Timestamp,
}

/// Returns the size of the parts in which the given number of bytes is sent.
fn part_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(MAX_PARTS).max(MIN_PART_BYTES)
}

/// Upload in parts. One that is dropped before its end is aborted, because parts cost money until they are removed.
struct PartialUpload {
    storage: ObjectStorage,
    upload: Option<Box<dyn MultipartUpload>>,
}

impl PartialUpload {
    async fn begin(storage: &ObjectStorage, path: &Path) -> Result<Self, StorageError> {
        let upload = storage.within(storage.store.put_multipart(path)).await.map_err(no_bucket)?;
        Ok(Self { storage: storage.clone(), upload: Some(upload) })
    }

    async fn send(&mut self, part: Vec<u8>) -> Result<(), StorageError> {
        let Some(upload) = &mut self.upload else { return Ok(()) };
        let time = self.storage.transfer_time(part.len() as u64);
        within(time, upload.put_part(PutPayload::from(part))).await.map_err(no_upload)
    }

    /// Completes the upload. Returns [`StorageError::Missing`] if it no longer exists, which is also so if an earlier
    /// try has completed it and its answer was lost.
    async fn complete(&mut self) -> Result<(), StorageError> {
        if let Some(upload) = &mut self.upload {
            // The service puts the parts together before it answers.
            within(self.storage.transfer_time(MIN_PART_BYTES), upload.complete()).await?;
        }
        self.upload = None;
        Ok(())
    }

    async fn abort(&mut self) {
        if let Some(mut upload) = self.upload.take() {
            let _ = self.storage.within(upload.abort()).await;
        }
    }
}

impl Drop for PartialUpload {
    fn drop(&mut self) {
        if let (Some(mut upload), Ok(runtime)) = (self.upload.take(), Handle::try_current()) {
            let storage = self.storage.clone();
            runtime.spawn(async move { storage.within(upload.abort()).await });
        }
    }
}

/// Returns the error for a request that belongs to an upload, for which "missing" means that the upload is missing.
fn no_upload(error: StorageError) -> StorageError {
    match error {
        StorageError::Missing => StorageError::Unavailable("the upload was aborted".to_owned()),
        other => other,
    }
}

impl ObjectStorage {
    /// Sends a file, and reports the number of bytes after each part. If the transfer is interrupted, no object is
    /// created.
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
        if sent <= MIN_PART_BYTES {
            let mut content = Vec::new();
            file.take(sent).read_to_end(&mut content).await?;
            self.store(key, MEDIA, content.into()).await?;
            progress(sent);
            return Ok(());
        }
        let path = Path::from(key);
        let mut upload = PartialUpload::begin(self, &path).await?;
        if let Err(error) = send_parts(&mut upload, &mut file, part_bytes(sent), progress).await {
            upload.abort().await;
            return Err(error);
        }
        match upload.complete().await {
            Ok(()) => {}
            Err(StorageError::Missing) => {
                let is_stored = matches!(self.size(key).await, Ok(stored) if stored == sent);
                return if is_stored { Ok(()) } else { Err(no_upload(StorageError::Missing).into()) };
            }
            Err(error) => return Err(error.into()),
        }
        let stored = self.size(key).await?;
        if stored == sent { Ok(()) } else { Err(LargeObjectError::OtherSize { stored, sent }) }
    }

    /// Returns the size of an object in bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such object, or the storage does not respond.
    pub async fn size(&self, key: &str) -> Result<u64, StorageError> {
        Ok(self.within(self.store.head(&Path::from(key))).await?.size)
    }

    /// Reads a part of an object.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such object, it is shorter, or the storage does not respond.
    pub async fn part(&self, key: &str, range: Range<u64>) -> Result<Bytes, LargeObjectError> {
        let time = self.transfer_time(range.end.saturating_sub(range.start));
        let part = within(time, self.store.get_range(&Path::from(key), range.clone())).await?;
        let stored = range.start + part.len() as u64;
        if stored == range.end { Ok(part) } else { Err(LargeObjectError::OtherSize { stored, sent: range.end }) }
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
        let sent = self.size(key).await?;
        let mut file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(file).await?;
        let mut stored = 0;
        while stored < sent {
            let end = sent.min(stored + MIN_PART_BYTES);
            let part = self.part(key, stored..end).await?;
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
        Ok(self.objects_below(path).await?.into_iter().map(|object| object.key).collect())
    }

    /// Returns all objects below a path, sorted by their keys.
    ///
    /// # Errors
    ///
    /// Returns an error if the storage does not respond, or does not allow to list its objects.
    pub async fn objects_below(&self, path: &str) -> Result<Vec<StoredObject>, StorageError> {
        let path = (!path.is_empty()).then(|| Path::from(path));
        let (mut listed, mut objects) = (self.store.list(path.as_ref()), Vec::new());
        // The service lists a thousand objects at a time, and each of its answers has the time of one request.
        while let Some(object) = self.within(listed.try_next()).await? {
            let modified_at = Timestamp(object.last_modified.timestamp_millis());
            objects.push(StoredObject { key: object.location.to_string(), bytes: object.size, modified_at });
        }
        objects.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(objects)
    }

    /// Returns whether an object is certainly missing: its folder can be listed, and the object is not in it. That a
    /// request for the object alone finds nothing does not say so: the whole bucket may be missing, or a proxy may have
    /// answered.
    ///
    /// # Errors
    ///
    /// Returns an error if the storage does not respond, or does not allow to list its objects.
    pub async fn lacks(&self, key: &str) -> Result<bool, StorageError> {
        let path = Path::from(key);
        let folder = key.rsplit_once('/').map(|(folder, _)| Path::from(folder));
        let mut listed = self.store.list(folder.as_ref());
        while let Some(object) = self.within(listed.try_next()).await? {
            if object.location == path {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Removes an object.
    ///
    /// # Errors
    ///
    /// Returns an error if the storage does not respond, or does not allow it.
    pub async fn remove(&self, key: &str) -> Result<(), StorageError> {
        self.within(self.store.delete(&Path::from(key))).await
    }

    /// Stores a small object with a single request, which is not repeated and is abandoned after [`SINGLE_TIME`].
    ///
    /// # Errors
    ///
    /// Returns an error if the object was not stored at once, or the outcome is unknown.
    pub async fn store_once(&self, key: &str, media: &'static str, content: Bytes) -> Result<(), StorageError> {
        let (path, payload) = (Path::from(key), PutPayload::from_bytes(content));
        let put = within(SINGLE_TIME, self.single.put_opts(&path, payload, self.put_options(media)));
        put.await.map(drop).map_err(no_bucket)
    }

    /// Removes an object with a single request, which is not repeated and is abandoned after [`SINGLE_TIME`].
    ///
    /// # Errors
    ///
    /// Returns an error if the storage does not respond at once, or does not allow it.
    pub async fn remove_once(&self, key: &str) -> Result<(), StorageError> {
        within(SINGLE_TIME, self.single.delete(&Path::from(key))).await
    }
}

async fn send_parts(
    upload: &mut PartialUpload,
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
        upload.send(part).await?;
        progress(bytes);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

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
        let shop = storage.below("shop");
        let objects = shop.objects_below("").await.unwrap();
        assert!(matches!(&objects[..], [StoredObject { key, bytes, modified_at }]
            if key == "b.tar" && *bytes == content.len() as u64 && modified_at.0 > 0));
        assert!(!shop.lacks("b.tar").await.unwrap() && !storage.lacks("shop/b.tar").await.unwrap());
        assert!(shop.lacks("a.tar").await.unwrap() && storage.lacks("other/b.tar").await.unwrap());
        assert_eq!(shop.part("b.tar", 1..4).await.unwrap(), content[1..4]);
        let beyond = content.len() as u64;
        assert!(shop.part("b.tar", beyond - 1..beyond + 1).await.is_err());
        let missing = storage.receive_file("shop/c.tar", &from.path().join("c"), &mut |_| {}).await;
        assert!(matches!(missing, Err(LargeObjectError::Storage(StorageError::Missing))), "{missing:?}");
    }

    #[tokio::test]
    async fn an_upload_that_is_given_up_leaves_nothing_behind() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let storage = ObjectStorage::folder(to.path(), String::new()).unwrap();
        let file = from.path().join("file");
        std::fs::write(&file, vec![7_u8; 3 * MIN_PART_BYTES as usize]).unwrap();
        let parts = AtomicUsize::new(0);
        let mut count = |_: u64| {
            parts.fetch_add(1, Relaxed);
        };
        {
            let mut sending = std::pin::pin!(storage.send_file("a", &file, &mut count));
            while parts.load(Relaxed) == 0 {
                assert!(futures::poll!(&mut sending).is_pending());
                tokio::task::yield_now().await;
            }
        }
        while std::fs::read_dir(to.path()).unwrap().next().is_some() {
            tokio::task::yield_now().await;
        }
        storage.check_writable().await.unwrap();
        assert!(storage.keys_below("").await.unwrap().is_empty());
        storage.send_file("a", &file, &mut count).await.unwrap();
        assert_eq!(storage.size("a").await.unwrap(), 3 * MIN_PART_BYTES);
    }
}
