//! Export files: tables that are appended to, one at a time.
//!
//! A writing task may be cancelled at any await point while its operation on the disk or in the bucket continues. The
//! writer's exclusive lock therefore moves along with the operation, and is released only when the operation has ended,
//! so that two operations never write to the same table.
//!
//! Objects in a bucket cannot be appended to. There, each piece of a table is an object, whose name is the number of
//! bytes before it; pieces that were not reported are removed before the table is continued.
//!
//! A server that has been overtaken would remove what its successor writes. Callers that remove something therefore
//! specify how to confirm the lead, which is done right before each removal.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::stream::{self, StreamExt as _};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::task::spawn_blocking;
use tokio_util::io::StreamReader;

use super::blobs::ContentReader;
use domain::id::Id;
use services::object_storage::{ObjectStorage, StorageError};

/// Media type of a table.
const MEDIA: &str = "text/csv";

/// Exported tables.
#[derive(Clone, Debug)]
pub struct ExportFiles {
    place: ExportPlace,
    turn: Arc<Mutex<()>>,
}

/// Place of the exported tables.
#[derive(Clone, Debug)]
enum ExportPlace {
    Folder(PathBuf),
    Bucket(ObjectStorage),
}

/// Table being written by the holder of the lock.
#[derive(Debug)]
pub struct ExportFile(Option<ExportInProgress>);

#[derive(Debug)]
struct ExportInProgress {
    turn: OwnedMutexGuard<()>,
    target: ExportTarget,
    bytes: u64,
}

#[derive(Debug)]
enum ExportTarget {
    File(File),
    Objects(ObjectStorage),
}

impl ExportFiles {
    /// Opens the directory, which is created if needed.
    pub fn open(dir: impl Into<PathBuf>) -> io::Result<Self> {
        let dir = dir.into();
        std::fs::create_dir_all(&dir)?;
        Ok(Self { place: ExportPlace::Folder(dir), turn: Arc::default() })
    }

    /// Returns the tables in a bucket.
    pub fn in_bucket(storage: ObjectStorage) -> Self {
        Self { place: ExportPlace::Bucket(storage), turn: Arc::default() }
    }

    /// Waits for the lock, then reopens a table for writing after its first `bytes` bytes. Calls `confirm` before any
    /// bytes after them are discarded. Returns `None` if the table is shorter.
    pub async fn resume<F: Future<Output = ()>>(
        &self,
        id: Id,
        bytes: u64,
        confirm: impl Fn() -> F,
    ) -> io::Result<Option<ExportFile>> {
        let turn = self.turn.clone().lock_owned().await;
        let folder = match &self.place {
            ExportPlace::Folder(folder) => folder,
            ExportPlace::Bucket(storage) => {
                let table = storage.below(&id.to_string());
                let is_whole = cut(&table, bytes, confirm).await.map_err(of_bucket)?;
                let target = ExportTarget::Objects(table);
                return Ok(is_whole.then(|| ExportFile(Some(ExportInProgress { turn, target, bytes }))));
            }
        };
        let path = path(folder, id);
        confirm().await;
        on_disk(move || {
            let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
            if file.metadata()?.len() < bytes {
                return Ok(None);
            }
            file.set_len(bytes)?;
            file.seek(SeekFrom::End(0))?;
            let target = ExportTarget::File(file);
            Ok(Some(ExportFile(Some(ExportInProgress { turn, target, bytes }))))
        })
        .await
    }

    /// Opens a table for reading, and returns it with its size in bytes.
    pub async fn read(&self, id: Id) -> io::Result<(ContentReader, u64)> {
        match &self.place {
            ExportPlace::Folder(folder) => {
                let file = tokio::fs::File::open(path(folder, id)).await?;
                let size = file.metadata().await?.len();
                let reader: ContentReader = Box::pin(file);
                Ok((reader, size))
            }
            ExportPlace::Bucket(storage) => read_pieces(storage.below(&id.to_string())).await.map_err(of_bucket),
        }
    }

    /// Deletes a table, after `confirm`; does nothing if it does not exist.
    pub async fn delete<F: Future<Output = ()>>(&self, id: Id, confirm: impl Fn() -> F) -> io::Result<()> {
        match &self.place {
            ExportPlace::Folder(folder) => {
                confirm().await;
                match tokio::fs::remove_file(path(folder, id)).await {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                    other => other,
                }
            }
            ExportPlace::Bucket(storage) => {
                cut(&storage.below(&id.to_string()), 0, confirm).await.map(drop).map_err(of_bucket)
            }
        }
    }
}

impl ExportFile {
    /// Appends a string, which is durable when the call returns. Returns the new length of the table in bytes.
    pub async fn append(&mut self, text: String) -> io::Result<u64> {
        let Some(writing) = self.0.take() else { return Err(io::Error::other("an earlier write failed")) };
        let ExportInProgress { turn, target, bytes } = writing;
        let added = text.len() as u64;
        let (turn, target) = match target {
            ExportTarget::File(mut file) => {
                on_disk(move || {
                    file.write_all(text.as_bytes())?;
                    file.sync_data()?;
                    Ok((turn, ExportTarget::File(file)))
                })
                .await?
            }
            ExportTarget::Objects(table) => {
                let put = async move {
                    if !text.is_empty() {
                        table.store(&piece_key(bytes), MEDIA, text.into()).await.map_err(of_bucket)?;
                    }
                    Ok::<_, io::Error>((turn, ExportTarget::Objects(table)))
                };
                tokio::spawn(put).await.map_err(io::Error::other)??
            }
        };
        let bytes = bytes + added;
        self.0 = Some(ExportInProgress { turn, target, bytes });
        Ok(bytes)
    }
}

fn path(folder: &Path, id: Id) -> PathBuf {
    folder.join(format!("{id}.csv"))
}

/// Returns the key of the piece of a table that begins after the given number of bytes. Keys sort by it.
fn piece_key(bytes: u64) -> String {
    format!("{bytes:020}.csv")
}

/// Removes the pieces of a table that begin after its first `bytes` bytes, each after `confirm`, and returns whether
/// those before are all there. No request is repeated, because it could remove what a successor has stored meanwhile.
async fn cut<F: Future<Output = ()>>(
    table: &ObjectStorage,
    bytes: u64,
    confirm: impl Fn() -> F,
) -> Result<bool, StorageError> {
    let mut whole = 0;
    for piece in table.objects_below("").await? {
        if piece.key < piece_key(bytes) {
            whole += piece.bytes;
            continue;
        }
        confirm().await;
        match table.remove_once(&piece.key).await {
            Ok(()) | Err(StorageError::Missing) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(whole == bytes)
}

/// Opens the pieces of a table one after the other, and returns them with their total size.
async fn read_pieces(table: ObjectStorage) -> Result<(ContentReader, u64), StorageError> {
    let pieces = table.objects_below("").await?;
    if pieces.is_empty() {
        return Err(StorageError::Missing);
    }
    let size = pieces.iter().map(|piece| piece.bytes).sum();
    let contents = stream::iter(pieces).then(move |piece| {
        let table = table.clone();
        async move { table.get(&piece.key).await.map_err(of_bucket) }
    });
    let reader: ContentReader = Box::pin(StreamReader::new(contents));
    Ok((reader, size))
}

fn of_bucket(error: StorageError) -> io::Error {
    let kind =
        if matches!(error, StorageError::Missing) { io::ErrorKind::NotFound } else { io::ErrorKind::HostUnreachable };
    io::Error::new(kind, error)
}

/// Runs blocking disk work off the async runtime's threads.
async fn on_disk<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::future::{Ready, pending, ready};
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use tokio::io::AsyncReadExt as _;
    use tokio::sync::Notify;

    use super::*;

    /// Confirms the lead at once.
    fn sure() -> Ready<()> {
        ready(())
    }

    async fn text(files: &ExportFiles, id: Id) -> String {
        let mut text = String::new();
        files.read(id).await.unwrap().0.read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test]
    async fn what_was_not_reported_is_written_again() {
        let (dir, bucket) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let storage = ObjectStorage::folder(bucket.path(), String::new()).unwrap();
        for files in [ExportFiles::open(dir.path()).unwrap(), ExportFiles::in_bucket(storage)] {
            write_again(&files).await;
        }
    }

    async fn write_again(files: &ExportFiles) {
        let id = Id::ONLY;
        let mut first = files.resume(id, 0, sure).await.unwrap().unwrap();
        let reported = first.append("a,b\r\n".to_owned()).await.unwrap();
        first.append("1,".to_owned()).await.unwrap();
        drop(first);
        let mut second = files.resume(id, reported, sure).await.unwrap().unwrap();
        assert_eq!(second.append("1,2\r\n".to_owned()).await.unwrap(), 10);
        drop(second);
        assert_eq!(text(files, id).await, "a,b\r\n1,2\r\n");
        assert!(files.resume(id, 11, sure).await.unwrap().is_none(), "it is not there as a whole");
        files.delete(id, sure).await.unwrap();
        files.delete(id, sure).await.unwrap();
        assert!(files.read(id).await.is_err());
    }

    #[tokio::test]
    async fn nothing_is_removed_before_the_lead_is_confirmed() {
        let (dir, bucket) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let storage = ObjectStorage::folder(bucket.path(), String::new()).unwrap();
        for files in [ExportFiles::open(dir.path()).unwrap(), ExportFiles::in_bucket(storage)] {
            let mut file = files.resume(Id::ONLY, 0, sure).await.unwrap().unwrap();
            file.append("a\r\n".to_owned()).await.unwrap();
            file.append("b\r\n".to_owned()).await.unwrap();
            drop(file);
            let confirming = Notify::new();
            let confirm = || {
                confirming.notify_one();
                pending::<()>()
            };
            tokio::select! {
                biased; // the removal first
                _ = files.resume(Id::ONLY, 3, confirm) => panic!("it does not wait"),
                () = confirming.notified() => {}
            }
            tokio::select! {
                biased; // the removal first
                _ = files.delete(Id::ONLY, confirm) => panic!("it does not wait"),
                () = confirming.notified() => {}
            }
            assert_eq!(text(&files, Id::ONLY).await, "a\r\nb\r\n");
        }
    }

    #[tokio::test]
    async fn the_lead_is_confirmed_before_each_piece_is_removed() {
        let bucket = tempfile::tempdir().unwrap();
        let files = ExportFiles::in_bucket(ObjectStorage::folder(bucket.path(), String::new()).unwrap());
        let mut file = files.resume(Id::ONLY, 0, sure).await.unwrap().unwrap();
        for text in ["a\r\n", "b\r\n", "c\r\n"] {
            file.append(text.to_owned()).await.unwrap();
        }
        drop(file);
        let confirmations = AtomicUsize::new(0);
        let confirm = || {
            confirmations.fetch_add(1, Relaxed);
            ready(())
        };
        assert!(files.resume(Id::ONLY, 3, confirm).await.unwrap().is_some());
        assert_eq!((confirmations.load(Relaxed), text(&files, Id::ONLY).await), (2, "a\r\n".to_owned()));
    }

    #[tokio::test]
    async fn nobody_writes_before_the_other_is_done() {
        let dir = tempfile::tempdir().unwrap();
        let files = ExportFiles::open(dir.path()).unwrap();
        let first = files.resume(Id::ONLY, 0, sure).await.unwrap();
        let mut second = std::pin::pin!(files.resume(Id::ONLY, 0, sure));
        assert!(futures::poll!(&mut second).is_pending());
        drop(first);
        assert!(second.await.unwrap().is_some());
    }
}
