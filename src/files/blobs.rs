//! File contents, stored on a disk or in a bucket under the SHA-256 of their bytes, so that identical contents are
//! stored only once.
//!
//! Contents arrive in a file on the disk, because they are described and measured before their hash is complete. In a
//! bucket, they are stored when they are complete (`bucket`), and the disk keeps copies of those used last (`copies`).
//!
//! The names and types of files are in the database (`domain/file`). Contents are removed once no file refers to them
//! any more. The same contents cannot be recorded and removed at the same time ([`Recording`], [`ContentRemoval`]).

mod bucket;
mod copies;
mod removal;
mod transfers;
mod uses;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use sha2::{Digest as _, Sha256};
use tokio::fs::{self, File};
use tokio::io::{AsyncRead, AsyncWriteExt as _};
use tokio::runtime::Handle;

use self::bucket::{ContentBucket, missing_error};
pub use self::bucket::{bucket_error, is_lost, is_outcome_unknown, with_retries};
use self::copies::LocalCopies;
pub use self::copies::{CopyLimits, LocalContent};
pub use self::removal::ContentRemoval;
pub(super) use self::transfers::TransferClass;
pub(super) use self::uses::ContentUses;
pub use self::uses::{Recording, RetentionGuard};
use super::turns::{FileOwner, ReadQueue};
use domain::gcode::{ContentType, GcodeContents};
use domain::mesh::{MeasureError, MeshFacts};
use domain::time::Timestamp;
use platform::secrets::random::secret_bytes;
use services::object_storage::ObjectStorage;

/// Subdirectory that contains incomplete uploads.
const INCOMING_FOLDER: &str = "incoming";

/// Contents opened for reading.
pub type ContentReader = Pin<Box<dyn AsyncRead + Send>>;

/// Store for file contents. Only one process at a time uses a directory or a bucket: it has locked the data directory,
/// and leads. Only a process that another one has overtaken may not have noticed yet.
#[derive(Debug)]
pub struct Blobs {
    /// Directory with the contents, or with copies of those in the bucket.
    pub(super) dir: PathBuf,
    bucket: Option<Arc<ContentBucket>>,
    /// Random beginning of the names of incomplete uploads: names chosen by an overtaken process always differ.
    run: String,
    next: AtomicU64,
    /// Contents being recorded or removed.
    pub(super) uses: Arc<ContentUses>,
    /// Slots for reading file contents.
    pub(super) turns: ReadQueue,
}

/// Stored contents, regardless of the files that refer to them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredContent {
    /// Hexadecimal SHA-256 under which the contents are stored.
    pub sha256: String,
    /// Size of the contents in bytes.
    pub size: u64,
}

/// Contents in the list of all contents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContentEntry {
    /// Hexadecimal SHA-256 under which the contents are stored.
    pub sha256: String,
    /// Time at which contents in a bucket were last stored, by the bucket's clock; `None` for those on a disk.
    pub stored_at: Option<Timestamp>,
}

fn is_gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
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
        let (uses, turns) = (Arc::default(), ReadQueue::default());
        let run = hex::encode(secret_bytes::<8>());
        Ok(Self { dir, bucket: None, run, next: AtomicU64::new(0), uses, turns })
    }

    /// Opens contents in a bucket, and a directory for uploads in progress and for copies of contents. Does not contact
    /// the bucket.
    pub fn in_bucket(storage: ObjectStorage, dir: impl Into<PathBuf>, limits: CopyLimits) -> io::Result<Self> {
        let blobs = Self::open(dir)?;
        let copies = LocalCopies::open(&blobs.dir, limits)?;
        Ok(Self { bucket: Some(Arc::new(ContentBucket::new(storage, copies))), ..blobs })
    }

    /// Returns the path of contents with the given hash, or of their copy. For a string that is not a hexadecimal
    /// SHA-256 hash, returns a path that never exists.
    pub(super) fn path(&self, sha256: &str) -> PathBuf {
        let name = if is_hash(sha256) { sha256 } else { "none" };
        self.dir.join(&name[..2]).join(name)
    }

    /// Returns contents that a print waits for as a file on the disk. Those in a bucket are received first, unless
    /// there is a copy, which remains until the returned value is dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if the bucket does not respond, or contents in it are certainly missing or damaged
    /// ([`is_lost`]).
    pub async fn local(&self, sha256: &str) -> io::Result<LocalContent> {
        self.local_of(sha256, TransferClass::Production).await
    }

    /// Returns contents as a file on the disk, as [`Self::local`] does, but received in the given class.
    pub(super) async fn local_of(&self, sha256: &str, class: TransferClass) -> io::Result<LocalContent> {
        let path = self.path(sha256);
        match &self.bucket {
            None => Ok(LocalContent::on_disk(path)),
            Some(_) if !is_hash(sha256) => Err(missing_error()),
            Some(bucket) => bucket.copy(|| self.incoming_file(), path, sha256, class).await,
        }
    }

    /// Opens contents for reading, and returns them with their size in bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no such contents, or the disk or the bucket fails.
    pub async fn read(&self, sha256: &str) -> io::Result<(ContentReader, u64)> {
        if let Some(bucket) = self.bucket.as_ref().filter(|bucket| is_hash(sha256) && !bucket.copies.has(sha256))
            && let Some(large) = bucket.stream(sha256).await?
        {
            return Ok(large);
        }
        let content = self.local_of(sha256, TransferClass::Other).await?;
        // Once it is open, it can be read to its end even if the copy is removed.
        let file = File::open(content.path()).await?;
        let size = file.metadata().await?.len();
        let reader: ContentReader = Box::pin(file);
        Ok((reader, size))
    }

    /// Starts storing contents that arrive in chunks.
    pub async fn begin(&self) -> io::Result<IncomingContent<'_>> {
        let path = self.incoming_file();
        if let Some(bucket) = &self.bucket {
            bucket.make_room(path.path(), 0).await;
        }
        // Created synchronously: if this future were dropped while it waited for a thread, the file would be left
        // behind.
        let file = File::from_std(std::fs::File::create_new(path.path())?);
        Ok(IncomingContent { blobs: self, file: Some(file), path, hash: Sha256::new(), size: 0 })
    }

    /// Returns the path of a new file for incomplete contents, which does not exist yet.
    fn incoming_file(&self) -> IncomingFile {
        let folder = self.dir.join(INCOMING_FOLDER);
        IncomingFile(folder.join(format!("{}-{}", self.run, self.next.fetch_add(1, Relaxed))))
    }

    /// Returns whether contents are in a bucket.
    pub fn is_in_bucket(&self) -> bool {
        self.bucket.is_some()
    }

    /// Returns the disk space, in bytes, of local copies that make room for uploads.
    pub fn spare_bytes(&self) -> u64 {
        self.bucket.as_ref().map_or(0, |bucket| bucket.copies.spare_bytes())
    }

    /// Returns all contents, of which some may be stored or removed in the meantime.
    ///
    /// # Errors
    ///
    /// Returns an error if the disk or the bucket fails.
    pub async fn contents(&self) -> io::Result<Vec<ContentEntry>> {
        self.contents_in("").await
    }

    /// Returns the contents whose hashes begin with the given two hexadecimal digits, as [`Self::contents`] does; all
    /// if there are no digits.
    ///
    /// # Errors
    ///
    /// Returns an error if the disk or the bucket fails.
    pub async fn contents_in(&self, digits: &str) -> io::Result<Vec<ContentEntry>> {
        if let Some(bucket) = &self.bucket {
            return bucket.contents(digits).await;
        }
        let (mut entries, mut folders) = (Vec::new(), fs::read_dir(&self.dir).await?);
        while let Some(folder) = folders.next_entry().await? {
            let name = folder.file_name();
            let is_among = is_prefix(&name) && (digits.is_empty() || name == *digits);
            if !is_among || !folder.file_type().await?.is_dir() {
                continue;
            }
            let mut contents = fs::read_dir(folder.path()).await?;
            while let Some(content) = contents.next_entry().await? {
                let name = content.file_name().to_string_lossy().into_owned();
                if is_hash(&name) {
                    entries.push(ContentEntry { sha256: name, stored_at: None });
                }
            }
        }
        Ok(entries)
    }

    /// Begins to record a file. Contents are kept with the returned value, which protects them until it is dropped.
    pub fn recording(&self) -> Recording {
        Recording::new(self.uses.clone(), TransferClass::Other)
    }

    /// Begins to record a file that a print waits for, as [`Self::recording`] does: its contents do not wait behind
    /// others to be sent to a bucket.
    pub fn production_recording(&self) -> Recording {
        Recording::new(self.uses.clone(), TransferClass::Production)
    }

    /// Begins to remove contents; `None` if they are being recorded or removed, or protected by a [`RetentionGuard`].
    pub fn removal<'a>(&'a self, sha256: &'a str) -> Option<ContentRemoval<'a>> {
        Some(ContentRemoval::new(self, sha256, self.uses.begin_removal(sha256)?))
    }

    /// Protects all contents that are currently stored. Waits for the removals in progress.
    pub async fn keep_all(&self) -> RetentionGuard {
        self.uses.keep_all().await
    }

    /// Stores contents in the bucket again from their local copy, and returns whether there was one. On a disk, there
    /// is none.
    ///
    /// # Errors
    ///
    /// Returns an error if the bucket does not respond.
    pub async fn store_copy_again(&self, sha256: &str) -> io::Result<bool> {
        let Some(bucket) = &self.bucket else { return Ok(false) };
        let recording = self.recording();
        recording.add(sha256).await;
        bucket.send_copy(sha256).await
    }

    /// Opens all contents one after the other, and passes them to `visit` with their hash. Blocks on the disk and the
    /// bucket, so it must not run on the async runtime's threads. Contents stored in the meantime may be included.
    ///
    /// # Errors
    ///
    /// Returns an error if the disk, the bucket or `visit` fails.
    pub fn for_each_content(&self, mut visit: impl FnMut(&str, std::fs::File) -> io::Result<()>) -> io::Result<()> {
        let runtime = Handle::current();
        for ContentEntry { sha256, .. } in runtime.block_on(with_retries(async || self.contents().await))? {
            let copy = self.bucket.as_ref().and_then(|bucket| bucket.copies.find(&sha256));
            let file = match (&self.bucket, copy) {
                (None, _) => std::fs::File::open(self.path(&sha256))?,
                (_, Some(copy)) => std::fs::File::open(copy.path())?,
                (Some(bucket), None) => {
                    // No copy is made, so that those of files in use remain.
                    let receive = async || {
                        let incoming = self.incoming_file();
                        bucket.receive(&sha256, incoming.path()).await?;
                        Ok::<_, io::Error>(incoming)
                    };
                    std::fs::File::open(runtime.block_on(with_retries(receive))?.path())?
                }
            };
            visit(&sha256, file)?;
        }
        Ok(())
    }

    /// Stores contents from memory.
    pub async fn store(&self, bytes: &[u8], recording: &Recording) -> io::Result<StoredContent> {
        let mut incoming = self.begin().await?;
        incoming.write(bytes).await?;
        incoming.keep(recording).await
    }
}

/// File with incomplete contents, which is removed on drop unless it has been moved to its place.
#[derive(Debug)]
struct IncomingFile(PathBuf);

impl IncomingFile {
    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for IncomingFile {
    fn drop(&mut self) {
        if let Err(error) = is_gone(std::fs::remove_file(&self.0)) {
            tracing::warn!(%error, "cannot remove the file of an incomplete upload");
        }
    }
}

/// Contents being received. Their file is removed on drop, unless [`IncomingContent::keep`] has been called.
#[derive(Debug)]
pub struct IncomingContent<'a> {
    blobs: &'a Blobs,
    file: Option<File>,
    path: IncomingFile,
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
        self.blobs.describe(self.path.path(), owner).await
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
        self.blobs.measure(self.path.path(), content, owner).await
    }

    /// Returns the number of bytes received so far.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Completes the contents; they are durable when the call returns.
    pub async fn keep(mut self, recording: &Recording) -> io::Result<StoredContent> {
        if let Some(mut file) = self.file.take() {
            file.flush().await?;
            file.sync_all().await?;
        }
        let sha256 = hex::encode(std::mem::take(&mut self.hash).finalize());
        recording.add(&sha256).await;
        let home = self.blobs.path(&sha256);
        if let Some(bucket) = &self.blobs.bucket {
            bucket.keep(self.path.path(), home, (&sha256, self.size), recording.class()).await?;
            return Ok(StoredContent { sha256, size: self.size });
        }
        let folder = home.parent().unwrap_or(&self.blobs.dir).to_owned();
        fs::create_dir_all(&folder).await?;
        fs::rename(self.path.path(), &home).await?;
        sync_directory(&folder).await?;
        sync_directory(&self.blobs.dir).await?;
        Ok(StoredContent { sha256, size: self.size })
    }
}

/// Makes new entries in a directory durable.
async fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory).await?.sync_all().await
}

#[cfg(test)]
mod tests;
