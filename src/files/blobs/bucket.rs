//! Contents in a bucket, of which the disk of this server has copies.
//!
//! What is sent to a printer, sliced or measured is received as a whole, verified by its hash and copied to the disk.
//! Large downloads pass through in parts. A bucket that does not respond is not asked again for a moment, so that who
//! comes next need not wait as well.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex as BlockingMutex, PoisonError, Weak};
use std::time::Duration;

use futures::stream::try_unfold;
use sha2::{Digest as _, Sha256};
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::Instant;
use tokio_util::io::StreamReader;

use super::copies::{LocalContent, LocalCopies};
use super::{ContentReader, IncomingFile, is_hash};
use services::object_storage::large::LargeObjectError;
use services::object_storage::{ObjectStorage, StorageError};

/// Maximum number of files sent to the bucket at the same time, and of those received. Each has one part in memory.
const MAX_TRANSFERS: usize = 4;
/// Number of bytes of a part that is received for a copy.
const COPY_PART_BYTES: u64 = 4 * 1024 * 1024;
/// Number of bytes of a part that is passed on to a client.
const STREAM_PART_BYTES: u64 = 1024 * 1024;
/// Maximum size of contents that are received as a whole before a client gets them.
const MAX_WHOLE_BYTES: u64 = 8 * 1024 * 1024;
/// Time for which the bucket is not asked after it did not respond.
const SILENT_PAUSE: Duration = Duration::from_secs(2);

/// Bucket in which contents are stored, and the copies of those used last.
#[derive(Debug)]
pub(super) struct ContentBucket {
    storage: ObjectStorage,
    pub(super) copies: Arc<LocalCopies>,
    sends: Semaphore,
    receipts: Semaphore,
    /// Locks, by hash, held while contents are received, so that they are received once.
    turns: BlockingMutex<HashMap<String, Weak<Mutex<()>>>>,
    silent_until: BlockingMutex<Option<Instant>>,
}

/// Returns the error of a request to the bucket as one of the disk.
fn io_error(error: LargeObjectError) -> io::Error {
    match error {
        LargeObjectError::Disk(error) => error,
        LargeObjectError::Storage(StorageError::Missing) => missing(),
        LargeObjectError::Storage(error) => io::Error::new(io::ErrorKind::HostUnreachable, error),
        error @ LargeObjectError::OtherSize { .. } => io::Error::new(io::ErrorKind::InvalidData, error),
    }
}

pub(super) fn missing() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "the content of the file is missing")
}

/// Returns whether contents cannot be read because they are missing or damaged, which another try would not change.
pub fn is_lost(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData)
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the content of the file is damaged in the bucket")
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
            sends: Semaphore::new(MAX_TRANSFERS),
            receipts: Semaphore::new(MAX_TRANSFERS),
            turns: BlockingMutex::default(),
            silent_until: BlockingMutex::default(),
        }
    }

    /// Makes a request, unless the bucket did not respond a moment ago.
    async fn ask<T, E: Into<LargeObjectError>>(&self, request: impl Future<Output = Result<T, E>>) -> io::Result<T> {
        let until = *self.silent_until.lock().unwrap_or_else(PoisonError::into_inner);
        if until.is_some_and(|until| Instant::now() < until) {
            let silent = StorageError::Silent("no response a moment ago".to_owned());
            return Err(io_error(silent.into()));
        }
        let error: LargeObjectError = match request.await {
            Ok(answer) => return Ok(answer),
            Err(error) => error.into(),
        };
        if matches!(error, LargeObjectError::Storage(StorageError::Silent(_))) {
            let until = Instant::now() + SILENT_PAUSE;
            *self.silent_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
        }
        Err(io_error(error))
    }

    /// Stores contents from a complete file, which then becomes a copy at `home`.
    pub(super) async fn keep(&self, file: &Path, home: PathBuf, sha256: &str, bytes: u64) -> io::Result<()> {
        let _place = self.sends.acquire().await.map_err(io::Error::other)?;
        self.ask(self.storage.send_file(&key(sha256), file, &mut |_| {})).await?;
        if let Err(error) = self.copies.add(sha256, file, home, bytes) {
            tracing::warn!(%error, "cannot keep a local copy of a file in the bucket");
        }
        Ok(())
    }

    /// Returns the copy of contents on the disk, which are received if there is none yet.
    pub(super) async fn copy(&self, incoming: IncomingFile, home: PathBuf, sha256: &str) -> io::Result<LocalContent> {
        if let Some(copy) = self.copies.get(sha256) {
            return Ok(copy);
        }
        let turn = self.turn(sha256);
        let _turn = turn.lock().await;
        if let Some(copy) = self.copies.get(sha256) {
            return Ok(copy);
        }
        let _place = self.receipts.acquire().await.map_err(io::Error::other)?;
        let (received, bytes) = self.receive(sha256, incoming.path()).await?;
        if received != sha256 {
            return Err(damaged());
        }
        self.copies.add(sha256, incoming.path(), home, bytes)
    }

    fn turn(&self, sha256: &str) -> Arc<Mutex<()>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| turn.strong_count() > 0);
        let existing = turns.get(sha256).and_then(Weak::upgrade);
        existing.unwrap_or_else(|| {
            let turn = Arc::default();
            turns.insert(sha256.to_owned(), Arc::downgrade(&turn));
            turn
        })
    }

    /// Receives contents into a file that does not exist yet, and returns their hash and size.
    pub(super) async fn receive(&self, sha256: &str, to: &Path) -> io::Result<(String, u64)> {
        let key = key(sha256);
        let bytes = self.ask(self.storage.size(&key)).await?;
        // Created synchronously, as in `Blobs::begin`.
        let mut file = File::from_std(std::fs::File::create_new(to)?);
        let (mut hash, mut received) = (Sha256::new(), 0);
        while received < bytes {
            let end = bytes.min(received + COPY_PART_BYTES);
            let part = self.ask(self.storage.part(&key, received..end)).await?;
            hash.update(&part);
            file.write_all(&part).await?;
            received = end;
        }
        file.flush().await?;
        // A copy is used after a loss of power, too.
        file.sync_all().await?;
        Ok((hex::encode(hash.finalize()), bytes))
    }

    /// Opens contents that are large enough to be passed on in parts, and returns them with their size; `None` if they
    /// are not.
    pub(super) async fn stream(self: &Arc<Self>, sha256: &str) -> io::Result<Option<(ContentReader, u64)>> {
        let bytes = self.ask(self.storage.size(&key(sha256))).await?;
        if bytes <= MAX_WHOLE_BYTES {
            return Ok(None);
        }
        let begin = (self.clone(), sha256.to_owned(), Sha256::new(), 0);
        let parts = try_unfold(begin, move |(bucket, sha256, mut hash, sent)| async move {
            if sent == bytes {
                return Ok::<_, io::Error>(None);
            }
            let end = bytes.min(sent + STREAM_PART_BYTES);
            let part = bucket.ask(bucket.storage.part(&key(&sha256), sent..end)).await?;
            hash.update(&part);
            // Whoever receives damaged contents does not get their end.
            if end == bytes && hex::encode(hash.clone().finalize()) != sha256 {
                return Err(damaged());
            }
            Ok(Some((part, (bucket, sha256, hash, end))))
        });
        let reader: ContentReader = Box::pin(StreamReader::new(parts));
        Ok(Some((reader, bytes)))
    }

    /// Returns the hashes of all contents.
    pub(super) async fn hashes(&self) -> io::Result<Vec<String>> {
        let keys = self.ask(self.storage.keys_below("")).await?;
        let names = keys.iter().filter_map(|key| key.rsplit('/').next());
        Ok(names.filter(|name| is_hash(name)).map(str::to_owned).collect())
    }

    /// Removes contents and their copy, if they exist.
    pub(super) async fn remove(&self, sha256: &str) -> io::Result<()> {
        self.copies.remove(sha256);
        match self.ask(self.storage.remove(&key(sha256))).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }
}
