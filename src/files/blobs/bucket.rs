//! Contents in a bucket, with copies on this server's disk.
//!
//! Contents to be sent to a printer, sliced or measured are received as a whole, verified by their hash and copied to
//! the disk. Large downloads pass through in parts. After a bucket did not respond, no new operation is started for a
//! moment, so that later callers need not wait as well; operations in progress continue.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex as BlockingMutex, PoisonError, Weak};
use std::time::Duration;

use futures::stream::try_unfold;
use sha2::{Digest as _, Sha256};
use tokio::fs::{self, File};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::io::StreamReader;

use super::copies::{LocalContent, LocalCopies};
use super::transfers::{TransferClass, TransferSlots};
use super::{ContentEntry, ContentReader, IncomingFile, is_hash};
use services::object_storage::large::{LargeObjectError, SINGLE_TIME};
use services::object_storage::{ObjectStorage, StorageError};

/// Maximum number of files sent to the bucket at the same time: of those that prints wait for, and of others.
const PRODUCTION_SENDS: usize = 1;
pub(super) const OTHER_SENDS: usize = 2;
/// Maximum number of files received from the bucket at the same time: of those that prints wait for, and of others.
const PRODUCTION_RECEIPTS: usize = 4;
pub(super) const OTHER_RECEIPTS: usize = 2;
/// Size of a part received for a copy, in bytes.
const COPY_PART_BYTES: u64 = 4 * 1024 * 1024;
/// Size of a part passed on to a client, in bytes.
const STREAM_PART_BYTES: u64 = 1024 * 1024;
/// Maximum size of contents that are received as a whole before a client gets them.
const MAX_WHOLE_BYTES: u64 = 8 * 1024 * 1024;
/// Time for which no new operation is started after the bucket failed to respond.
const SILENT_PAUSE: Duration = Duration::from_secs(2);
/// Maximum number of attempts at an operation that must not be abandoned because the bucket briefly fails to respond.
const MAX_TRIES: u32 = 5;
/// Delay between two attempts, after which the bucket is asked again.
const TRY_PAUSE: Duration = Duration::from_secs(3);

/// Delay between two checks whether contents are gone.
const LOOK_PAUSE: Duration = Duration::from_secs(1);

/// Lock on contents that are being received or waited for.
type Turn = Weak<Mutex<()>>;

/// Bucket in which contents are stored, and the copies of the most recently used ones.
#[derive(Debug)]
pub(super) struct ContentBucket {
    storage: ObjectStorage,
    pub(super) copies: Arc<LocalCopies>,
    pub(super) sends: TransferSlots,
    pub(super) receipts: TransferSlots,
    /// Locks, by class and hash, held while contents are received, so that they are received once. A print does not
    /// wait for the slot of a picture made from the same contents.
    turns: BlockingMutex<HashMap<(TransferClass, String), Turn>>,
    silent_until: BlockingMutex<Option<Instant>>,
}

/// Loss of contents, which another try would not change.
#[derive(Debug, thiserror::Error)]
enum ContentLoss {
    #[error("the content of the file is missing")]
    Missing,
    #[error("the content of the file is damaged in the bucket")]
    Damaged,
}

/// Converts the error of a request to a bucket to a disk error. Another attempt may succeed.
pub fn bucket_error(error: impl Into<LargeObjectError>) -> io::Error {
    match error.into() {
        LargeObjectError::Disk(error) => error,
        LargeObjectError::Storage(error) => io::Error::new(io::ErrorKind::HostUnreachable, error),
        error @ LargeObjectError::OtherSize { .. } => bucket_error(StorageError::Unavailable(error.to_string())),
    }
}

pub(super) fn missing_error() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, ContentLoss::Missing)
}

fn damaged_error() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, ContentLoss::Damaged)
}

/// Returns whether contents in a bucket cannot be read because they are certainly missing or damaged, which another try
/// would not change.
pub fn is_lost(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<ContentLoss>)
}

/// Returns whether a bucket did not answer, or answered with an internal failure: it may have carried out the request,
/// or may still do so.
pub fn is_outcome_unknown(error: &io::Error) -> bool {
    let storage_error = error.get_ref().and_then(|error| error.downcast_ref::<StorageError>());
    storage_error.is_some_and(StorageError::is_transient)
}

/// Repeats an operation that fails because the bucket does not respond.
///
/// # Errors
///
/// Returns the error of the last attempt, or one that another attempt would not change.
pub async fn with_retries<T>(mut attempt: impl AsyncFnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 1..MAX_TRIES {
        match attempt().await {
            Err(error) if error.kind() == io::ErrorKind::HostUnreachable => sleep(TRY_PAUSE).await,
            outcome => return outcome,
        }
    }
    attempt().await
}

/// Returns the key of contents. The folders correspond to those on a disk and in a backup.
fn key(sha256: &str) -> String {
    format!("{}/{sha256}", &sha256[..2])
}

impl ContentBucket {
    pub(super) fn new(storage: ObjectStorage, copies: Arc<LocalCopies>) -> Self {
        Self {
            storage,
            copies,
            sends: TransferSlots::new(PRODUCTION_SENDS, OTHER_SENDS),
            receipts: TransferSlots::new(PRODUCTION_RECEIPTS, OTHER_RECEIPTS),
            turns: BlockingMutex::default(),
            silent_until: BlockingMutex::default(),
        }
    }

    /// Fails if the bucket did not respond a moment ago. Called once at the beginning of each operation.
    pub(super) fn admit(&self) -> io::Result<()> {
        let until = *self.silent_until.lock().unwrap_or_else(PoisonError::into_inner);
        if until.is_some_and(|until| Instant::now() < until) {
            return Err(bucket_error(StorageError::Silent("no response a moment ago".to_owned())));
        }
        Ok(())
    }

    /// Returns the outcome of a request, and remembers that the bucket did not respond.
    fn outcome<T, E: Into<LargeObjectError>>(&self, outcome: Result<T, E>) -> io::Result<T> {
        let error: LargeObjectError = match outcome {
            Ok(answer) => return Ok(answer),
            Err(error) => error.into(),
        };
        if matches!(error, LargeObjectError::Storage(StorageError::Silent(_))) {
            let until = Instant::now() + SILENT_PAUSE;
            *self.silent_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
        }
        Err(bucket_error(error))
    }

    /// Returns the outcome of a request to read contents. They are lost only if the list of the bucket does not have
    /// them either.
    async fn read_outcome<T, E>(&self, sha256: &str, outcome: Result<T, E>) -> io::Result<T>
    where
        E: Into<LargeObjectError>,
    {
        match outcome.map_err(Into::into) {
            Err(LargeObjectError::Storage(StorageError::Missing)) => {
                let is_missing = self.outcome(self.storage.lacks(&key(sha256)).await)?;
                let elsewhere = || StorageError::Unavailable("an object that exists was not found".to_owned());
                Err(if is_missing { missing_error() } else { bucket_error(elsewhere()) })
            }
            outcome => self.outcome(outcome),
        }
    }

    /// Stores contents from a complete file, which then becomes a copy at `home`.
    pub(super) async fn keep(
        &self,
        file: &Path,
        home: PathBuf,
        (sha256, bytes): (&str, u64),
        class: TransferClass,
    ) -> io::Result<()> {
        self.send(sha256, file, class).await?;
        if let Err(error) = self.copies.add_unused(sha256, file, home, bytes).await {
            tracing::warn!(%error, "cannot cache a file from the bucket locally");
        }
        Ok(())
    }

    /// Stores contents from their copy, and returns whether there is one.
    pub(super) async fn send_copy(&self, sha256: &str) -> io::Result<bool> {
        let Some(copy) = self.copies.get(sha256).await else { return Ok(false) };
        self.send(sha256, copy.path(), TransferClass::Other).await.map(|()| true)
    }

    async fn send(&self, sha256: &str, file: &Path, class: TransferClass) -> io::Result<()> {
        let _slot = self.sends.acquire(class).await?;
        self.admit()?;
        self.outcome(self.storage.send_file(&key(sha256), file, &mut |_| {}).await)
    }

    /// Returns the copy of contents on the disk, which are received into a new file if there is none yet.
    pub(super) async fn copy(
        &self,
        new_file: impl FnOnce() -> IncomingFile,
        home: PathBuf,
        sha256: &str,
        class: TransferClass,
    ) -> io::Result<LocalContent> {
        if let Some(copy) = self.copies.get(sha256).await {
            return Ok(copy);
        }
        let turn = self.turn(sha256, class);
        let _turn = turn.lock().await;
        if let Some(copy) = self.copies.get(sha256).await {
            return Ok(copy);
        }
        let incoming = new_file();
        let _slot = self.receipts.acquire(class).await?;
        let (received, bytes) = self.receive(sha256, incoming.path()).await?;
        if received != sha256 {
            return Err(damaged_error());
        }
        self.copies.add(sha256, incoming.path(), home, bytes).await
    }

    fn turn(&self, sha256: &str, class: TransferClass) -> Arc<Mutex<()>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| turn.strong_count() > 0);
        let key = (class, sha256.to_owned());
        let existing = turns.get(&key).and_then(Weak::upgrade);
        existing.unwrap_or_else(|| {
            let turn = Arc::default();
            turns.insert(key, Arc::downgrade(&turn));
            turn
        })
    }

    /// Receives contents into a file that does not exist yet, and returns their hash and size.
    pub(super) async fn receive(&self, sha256: &str, to: &Path) -> io::Result<(String, u64)> {
        let key = key(sha256);
        self.admit()?;
        let bytes = self.read_outcome(sha256, self.storage.size(&key).await).await?;
        self.make_room(to, bytes).await;
        // Created synchronously, as in `Blobs::begin`.
        let mut file = File::from_std(std::fs::File::create_new(to)?);
        let (mut hash, mut received) = (Sha256::new(), 0);
        while received < bytes {
            let end = bytes.min(received + COPY_PART_BYTES);
            let part = self.read_outcome(sha256, self.storage.part(&key, received..end).await).await?;
            hash.update(&part);
            file.write_all(&part).await?;
            received = end;
        }
        file.flush().await?;
        // A copy is used after a loss of power, too.
        file.sync_all().await?;
        Ok((hex::encode(hash.finalize()), bytes))
    }

    /// Makes room for a new file of the given size among the copies. If this fails, so will the creation of the file.
    pub(super) async fn make_room(&self, new_file: &Path, bytes: u64) {
        self.copies.make_room_on_disk(bytes).await;
        // Somebody may have emptied the folder of copies. (A folder that has all contents is not made anew: its disk
        // may not be mounted.)
        if let Some(folder) = new_file.parent() {
            let _ = fs::create_dir_all(folder).await;
        }
    }

    /// Opens contents that are large enough to be passed on in parts, and returns them with their size; `None` if they
    /// are not.
    pub(super) async fn stream(self: &Arc<Self>, sha256: &str) -> io::Result<Option<(ContentReader, u64)>> {
        self.admit()?;
        let bytes = self.read_outcome(sha256, self.storage.size(&key(sha256)).await).await?;
        if bytes <= MAX_WHOLE_BYTES {
            return Ok(None);
        }
        let begin = (self.clone(), sha256.to_owned(), Sha256::new(), 0);
        let parts = try_unfold(begin, move |(bucket, sha256, mut hash, sent)| async move {
            if sent == bytes {
                return Ok::<_, io::Error>(None);
            }
            let end = bytes.min(sent + STREAM_PART_BYTES);
            let part = bucket.storage.part(&key(&sha256), sent..end).await;
            let part = bucket.read_outcome(&sha256, part).await?;
            hash.update(&part);
            // Whoever receives damaged contents does not get their end.
            if end == bytes && hex::encode(hash.clone().finalize()) != sha256 {
                return Err(damaged_error());
            }
            Ok(Some((part, (bucket, sha256, hash, end))))
        });
        let reader: ContentReader = Box::pin(StreamReader::new(parts));
        Ok(Some((reader, bytes)))
    }

    /// Returns the contents in a folder, which has the first two digits of their hashes as its name; all if it is
    /// empty.
    pub(super) async fn contents(&self, folder: &str) -> io::Result<Vec<ContentEntry>> {
        self.admit()?;
        let objects = self.outcome(self.storage.objects_below(folder).await)?;
        let entries = objects.into_iter().filter_map(|object| {
            let sha256 = object.key.rsplit('/').next().filter(|name| is_hash(name))?.to_owned();
            Some(ContentEntry { sha256, stored_at: Some(object.modified_at) })
        });
        Ok(entries.collect())
    }

    /// Removes contents, if they exist, but not their copy. The request is not repeated. Call [`Self::admit`] first.
    pub(super) async fn remove(&self, sha256: &str) -> io::Result<()> {
        match self.storage.remove_once(&key(sha256)).await {
            Err(StorageError::Missing) => Ok(()),
            removed => self.outcome(removed),
        }
    }

    /// Waits until a removal that was sent but not answered can no longer take effect: it has already taken effect, or
    /// the time limit for a request has passed.
    pub(super) async fn outlast_removal(&self, sha256: &str, sent_at: Instant) {
        let key = key(sha256);
        let gone = async {
            while !matches!(self.storage.lacks(&key).await, Ok(true)) {
                sleep(LOOK_PAUSE).await;
            }
        };
        let _ = timeout_at(sent_at + self.storage.time_limit().max(SINGLE_TIME), gone).await;
    }
}
