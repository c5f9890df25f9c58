//! File contents, stored on the local disk under the SHA-256 of their bytes, so that identical contents are stored only
//! once.
//!
//! The names and types of files are in the database (`domain/file`). Contents are removed once no file refers to them
//! any more. Contents cannot be stored and removed at the same time ([`StorePermission`], [`RemovePermission`]).

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU64, AtomicUsize};

use sha2::{Digest as _, Sha256};
use tokio::fs::{self, File};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use super::turns::{FileOwner, ReadQueue};
use domain::gcode::{ContentType, GcodeContents};
use domain::mesh::{MeasureError, MeshFacts};
use platform::secrets::random::secret_bytes;

/// Subdirectory that contains incomplete uploads.
const INCOMING_FOLDER: &str = "incoming";

/// Store for file contents. Only one process at a time uses a directory: it has locked the data directory, and leads.
/// Only a process that another one has overtaken may not have noticed yet.
#[derive(Debug)]
pub struct Blobs {
    pub(super) dir: PathBuf,
    /// Random beginning of the names of incomplete uploads: those of a process that was overtaken are never the same.
    run: String,
    next: AtomicU64,
    /// Lock that is held shared from the time contents are stored until their file is recorded, and exclusively while
    /// contents are removed.
    pub(super) recording: Arc<RwLock<()>>,
    /// Number of [`RetentionGuard`]s, which protect all stored contents; nothing is removed unless it is zero.
    kept_by: Arc<AtomicUsize>,
    /// Slots for reading file contents.
    pub(super) turns: ReadQueue,
}

/// Contents stored on disk, regardless of the files that refer to them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredContent {
    /// Hexadecimal SHA-256 under which the contents are stored.
    pub sha256: String,
    /// Size of the contents in bytes.
    pub size: u64,
}

/// Permission to store contents. Nothing is removed until the permission is dropped. Hold it until the file that refers
/// to the contents is recorded, and no longer: removals wait for it, and other requests to store wait for removals.
#[derive(Debug)]
pub struct StorePermission {
    _together: OwnedRwLockReadGuard<()>,
}

/// Permission to remove contents. Nothing is stored until the permission is dropped.
#[derive(Debug)]
pub struct RemovePermission<'a> {
    blobs: &'a Blobs,
    _alone: OwnedRwLockWriteGuard<()>,
}

/// Guard that prevents stored contents from being removed until it is dropped. Removals do not wait for the guard; they
/// remove nothing, and a later removal finds the contents to which no file refers.
#[derive(Debug)]
pub struct RetentionGuard(Arc<AtomicUsize>);

impl Drop for RetentionGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

impl RemovePermission<'_> {
    /// Removes contents and their drawings. Does nothing if they do not exist or are protected by a [`RetentionGuard`].
    pub async fn remove(&self, sha256: &str) -> io::Result<()> {
        if self.blobs.kept_by.load(SeqCst) > 0 {
            return Ok(());
        }
        let is_gone = |result: io::Result<()>| match result {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        };
        is_gone(fs::remove_dir_all(self.blobs.drawings(sha256)).await)?;
        is_gone(fs::remove_file(self.blobs.path(sha256)).await)
    }

    /// Removes all contents whose hash `named` does not contain, and returns the number removed; 0 while contents are
    /// protected by a [`RetentionGuard`].
    pub async fn keep_only(&self, named: &HashSet<String>) -> io::Result<usize> {
        let mut removed = 0;
        if self.blobs.kept_by.load(SeqCst) > 0 {
            return Ok(removed);
        }
        let mut folders = fs::read_dir(&self.blobs.dir).await?;
        while let Some(folder) = folders.next_entry().await? {
            if !is_prefix(&folder.file_name()) || !folder.file_type().await?.is_dir() {
                continue;
            }
            let mut contents = fs::read_dir(folder.path()).await?;
            while let Some(content) = contents.next_entry().await? {
                let name = content.file_name().to_string_lossy().into_owned();
                if is_hash(&name) && !named.contains(&name) {
                    self.remove(&name).await?;
                    removed += 1;
                }
            }
        }
        Ok(removed)
    }
}

/// Returns whether a string is a SHA-256 hash in hexadecimal.
pub(super) fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns whether the given name is that of a content directory, which is named after the first characters of the
/// hashes in it. The other directories are the one for incomplete uploads and, on a separate volume, `lost+found`,
/// which the server may not read.
fn is_prefix(name: &OsStr) -> bool {
    name.len() == 2 && name.as_encoded_bytes().iter().all(u8::is_ascii_hexdigit)
}

impl Blobs {
    /// Opens the directory, which is created if needed, and removes incomplete uploads from earlier processes.
    pub fn open(dir: impl Into<PathBuf>) -> io::Result<Self> {
        let dir = dir.into();
        let incoming = dir.join(INCOMING_FOLDER);
        std::fs::create_dir_all(&incoming)?;
        for left in std::fs::read_dir(&incoming)? {
            std::fs::remove_file(left?.path())?;
        }
        let (recording, turns) = (Arc::default(), ReadQueue::default());
        let run = hex::encode(secret_bytes::<8>());
        Ok(Self { dir, run, next: AtomicU64::new(0), recording, kept_by: Arc::default(), turns })
    }

    /// Returns the path of contents with the given hash. For a string that is not a hexadecimal SHA-256 hash, returns a
    /// path that never exists.
    pub fn path(&self, sha256: &str) -> PathBuf {
        let name = if is_hash(sha256) { sha256 } else { "none" };
        self.dir.join(&name[..2]).join(name)
    }

    /// Opens contents for reading, and returns the file and its size in bytes.
    pub async fn read(&self, sha256: &str) -> io::Result<(File, u64)> {
        let file = File::open(self.path(sha256)).await?;
        let size = file.metadata().await?.len();
        Ok((file, size))
    }

    /// Starts storing contents that arrive in chunks.
    pub fn begin(&self) -> io::Result<IncomingContent<'_>> {
        let name = format!("{}-{}", self.run, self.next.fetch_add(1, Relaxed));
        let path = self.dir.join(INCOMING_FOLDER).join(name);
        // Created synchronously: if this future were dropped while it waited for a thread, the file would be left
        // behind.
        let file = File::from_std(std::fs::File::create_new(&path)?);
        Ok(IncomingContent { blobs: self, file: Some(file), path, hash: Sha256::new(), size: 0 })
    }

    /// Waits for removals in progress, then grants permission to store.
    pub async fn recording(&self) -> StorePermission {
        StorePermission { _together: self.recording.clone().read_owned().await }
    }

    /// Waits until the files of all stored contents are recorded, then grants permission to remove. Nothing is stored
    /// until the permission is dropped.
    pub async fn removing(&self) -> RemovePermission<'_> {
        RemovePermission { blobs: self, _alone: self.recording.clone().write_owned().await }
    }

    /// Protects all contents that are currently stored. Waits for a removal in progress.
    pub async fn keep_all(&self) -> RetentionGuard {
        self.kept_by.fetch_add(1, SeqCst);
        let contents = RetentionGuard(self.kept_by.clone());
        drop(self.recording().await);
        contents
    }

    /// Opens all contents one after the other, and passes them to `visit` with their hash. Blocks on disk I/O, so it
    /// must not run on the async runtime's threads. Contents stored in the meantime may be included.
    ///
    /// # Errors
    ///
    /// Returns an error if the disk or `visit` fails.
    pub fn for_each_content(&self, mut visit: impl FnMut(&str, std::fs::File) -> io::Result<()>) -> io::Result<()> {
        for folder in std::fs::read_dir(&self.dir)? {
            let folder = folder?;
            if !is_prefix(&folder.file_name()) || !folder.file_type()?.is_dir() {
                continue;
            }
            for content in std::fs::read_dir(folder.path())? {
                let content = content?;
                let name = content.file_name().to_string_lossy().into_owned();
                if is_hash(&name) {
                    visit(&name, std::fs::File::open(content.path())?)?;
                }
            }
        }
        Ok(())
    }

    /// Stores contents from memory.
    pub async fn put(&self, bytes: &[u8], recording: &StorePermission) -> io::Result<StoredContent> {
        let mut incoming = self.begin()?;
        incoming.write(bytes).await?;
        incoming.keep(recording).await
    }
}

/// Contents that are being received. Their file is removed on drop, unless [`IncomingContent::keep`] has been called.
#[derive(Debug)]
pub struct IncomingContent<'a> {
    blobs: &'a Blobs,
    file: Option<File>,
    path: PathBuf,
    hash: Sha256,
    size: u64,
}

impl IncomingContent<'_> {
    /// Appends a chunk to the file and updates the hash.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            file.write_all(bytes).await?;
        }
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
        Ok(())
    }

    /// Determines the file type from the bytes received so far, and the metadata that a slicer wrote into the file.
    pub async fn describe(&mut self, owner: &FileOwner) -> io::Result<GcodeContents> {
        if let Some(file) = &mut self.file {
            file.flush().await?;
        }
        self.blobs.describe(&self.path, owner).await
    }

    /// Measures the contents as a model of the given type.
    ///
    /// # Errors
    ///
    /// Returns an error if the contents cannot be measured or read.
    pub async fn measure(&mut self, content: ContentType, owner: &FileOwner) -> Result<MeshFacts, MeasureError> {
        if let Some(file) = &mut self.file {
            file.flush().await.map_err(MeasureError::Io)?;
        }
        self.blobs.measure(&self.path, content, owner).await
    }

    /// Returns the number of bytes received so far.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Completes the contents, which are durable when the call returns.
    pub async fn keep(mut self, _: &StorePermission) -> io::Result<StoredContent> {
        if let Some(mut file) = self.file.take() {
            file.flush().await?;
            file.sync_all().await?;
        }
        let sha256 = hex::encode(std::mem::take(&mut self.hash).finalize());
        let home = self.blobs.path(&sha256);
        let folder = home.parent().unwrap_or(&self.blobs.dir).to_owned();
        fs::create_dir_all(&folder).await?;
        fs::rename(&self.path, &home).await?;
        sync_directory(&folder).await?;
        sync_directory(&self.blobs.dir).await?;
        Ok(StoredContent { sha256, size: self.size })
    }
}

impl Drop for IncomingContent<'_> {
    fn drop(&mut self) {
        // After `keep`, there is no file at this path.
        if let Err(error) = std::fs::remove_file(&self.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "cannot remove the file of an incomplete upload");
        }
    }
}

/// Makes new entries in a directory durable.
async fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory).await?.sync_all().await
}

#[cfg(test)]
mod tests;
