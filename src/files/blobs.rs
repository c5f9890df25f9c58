//! Contents of files, stored on the local disk under the SHA-256 of their bytes, so that equal contents are stored
//! once.
//!
//! Names and types of files are in the database (`domain/file`). A content is removed when no file names it any more.
//! Storing one and removing one exclude each other ([`Recording`], [`Removing`]).

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

use super::turns::{FileOwner, ReadingTurns};
use crate::domain::gcode::{Content, Found};
use crate::domain::mesh::{MeasureError, MeshFacts};

/// Subdirectory of uploads that are not complete.
const INCOMING_FOLDER: &str = "incoming";

/// The stored contents. Only one process may use a directory at a time, which the lock of the data directory ensures.
#[derive(Debug)]
pub struct Blobs {
    dir: PathBuf,
    next: AtomicU64,
    /// Taken together by contents whose file is not recorded yet, alone by removals.
    recording: Arc<RwLock<()>>,
    /// How many need everything that is there: as long as it is not zero, nothing is removed.
    kept_by: Arc<AtomicUsize>,
    /// Turns at reading what files say.
    pub(super) turns: ReadingTurns,
}

/// A content that is stored on disk, whichever files name it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredContent {
    /// Hex SHA-256, under which it is stored.
    pub sha256: String,
    /// Size of the content in bytes.
    pub size: u64,
}

/// The right to store contents. Nothing is removed before it is dropped: hold it until the file that names the content
/// is recorded, and no longer, for removals wait for it and others wait for removals.
#[derive(Debug)]
pub struct Recording {
    _together: OwnedRwLockReadGuard<()>,
}

/// The right to remove contents. Nothing is stored meanwhile.
#[derive(Debug)]
pub struct Removing<'a> {
    blobs: &'a Blobs,
    _alone: OwnedRwLockWriteGuard<()>,
}

/// Keeps every content that is there until it is dropped. Nobody waits for it: what would have been removed meanwhile
/// is found and removed later, as what no file names.
#[derive(Debug)]
pub struct KeptContents(Arc<AtomicUsize>);

impl Drop for KeptContents {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

impl Removing<'_> {
    /// Removes a content; one that is not there is no error, and one that is needed stays ([`KeptContents`]).
    pub async fn remove(&self, sha256: &str) -> io::Result<()> {
        if self.blobs.kept_by.load(SeqCst) > 0 {
            return Ok(());
        }
        match fs::remove_file(self.blobs.path(sha256)).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    /// Removes every content that `named` does not name; how many. None as long as all are needed ([`KeptContents`]).
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

/// Whether a text is a hex SHA-256.
fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a folder of this name holds contents: those whose hash begins with it. Others are incomplete uploads, and on
/// a volume of its own `lost+found`, which the server may not look into.
fn is_prefix(name: &OsStr) -> bool {
    name.len() == 2 && name.as_encoded_bytes().iter().all(u8::is_ascii_hexdigit)
}

impl Blobs {
    /// Opens the directory, creating it if needed, and removes incomplete uploads of earlier processes.
    pub fn open(dir: impl Into<PathBuf>) -> io::Result<Self> {
        let dir = dir.into();
        let incoming = dir.join(INCOMING_FOLDER);
        std::fs::create_dir_all(&incoming)?;
        for left in std::fs::read_dir(&incoming)? {
            std::fs::remove_file(left?.path())?;
        }
        let (recording, turns) = (Arc::default(), ReadingTurns::default());
        Ok(Self { dir, next: AtomicU64::new(0), recording, kept_by: Arc::default(), turns })
    }

    /// The path of a content. A text that is not a hex SHA-256 gives the path of no content.
    pub fn path(&self, sha256: &str) -> PathBuf {
        let name = if is_hash(sha256) { sha256 } else { "none" };
        self.dir.join(&name[..2]).join(name)
    }

    /// Opens a content for reading and returns its size in bytes.
    pub async fn read(&self, sha256: &str) -> io::Result<(File, u64)> {
        let file = File::open(self.path(sha256)).await?;
        let size = file.metadata().await?.len();
        Ok((file, size))
    }

    /// Begins a content that arrives in pieces.
    pub fn begin(&self) -> io::Result<Incoming<'_>> {
        let path = self.dir.join(INCOMING_FOLDER).join(self.next.fetch_add(1, Relaxed).to_string());
        // Created synchronously: if this future were dropped while it waited for a thread, the file would be left
        // behind.
        let file = File::from_std(std::fs::File::create_new(&path)?);
        Ok(Incoming { blobs: self, file: Some(file), path, hash: Sha256::new(), size: 0 })
    }

    /// Waits for the end of removals.
    pub async fn recording(&self) -> Recording {
        Recording { _together: self.recording.clone().read_owned().await }
    }

    /// Waits until every content that is stored has its file recorded, and lets none be stored meanwhile.
    pub async fn removing(&self) -> Removing<'_> {
        Removing { blobs: self, _alone: self.recording.clone().write_owned().await }
    }

    /// Keeps every content that is there now. Waits for the end of a removal that has begun.
    pub async fn keep_all(&self) -> KeptContents {
        self.kept_by.fetch_add(1, SeqCst);
        let kept = KeptContents(self.kept_by.clone());
        drop(self.recording().await);
        kept
    }

    /// Opens every content in turn, with its hash. Waits for the disk: not for the threads of the runtime. What is
    /// stored meanwhile may be among them.
    ///
    /// # Errors
    ///
    /// When the disk does not give them, or `visit` fails.
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

    /// Stores a content that is in memory.
    pub async fn put(&self, bytes: &[u8], recording: &Recording) -> io::Result<StoredContent> {
        let mut incoming = self.begin()?;
        incoming.write(bytes).await?;
        incoming.keep(recording).await
    }
}

/// An incomplete content. If it is dropped before [`Incoming::keep`], its file is removed.
#[derive(Debug)]
pub struct Incoming<'a> {
    blobs: &'a Blobs,
    file: Option<File>,
    path: PathBuf,
    hash: Sha256,
    size: u64,
}

impl Incoming<'_> {
    /// Appends a piece of the content, to the file and to the hash.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            file.write_all(bytes).await?;
        }
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
        Ok(())
    }

    /// Returns what it is by its bytes so far, and what a slicer wrote into it.
    pub async fn describe(&mut self, owner: &FileOwner) -> io::Result<Found> {
        if let Some(file) = &mut self.file {
            file.flush().await?;
        }
        self.blobs.describe(&self.path, owner).await
    }

    /// What it measures, if it is a model of this kind.
    ///
    /// # Errors
    ///
    /// When it cannot be measured, or cannot be read.
    pub async fn measure(&mut self, content: Content, owner: &FileOwner) -> Result<MeshFacts, MeasureError> {
        if let Some(file) = &mut self.file {
            file.flush().await.map_err(MeasureError::Io)?;
        }
        self.blobs.measure(&self.path, content, owner).await
    }

    /// Number of bytes so far.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Completes the content. It is durable when this returns.
    pub async fn keep(mut self, _: &Recording) -> io::Result<StoredContent> {
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

impl Drop for Incoming<'_> {
    fn drop(&mut self) {
        // After `keep`, there is no file at this path.
        if let Err(error) = std::fs::remove_file(&self.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "the file of an incomplete upload cannot be removed");
        }
    }
}

/// Makes new names in a directory durable.
async fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory).await?.sync_all().await
}

#[cfg(test)]
mod tests;
