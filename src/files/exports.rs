//! Export files: tables that are appended to, one at a time.
//!
//! A writing task may be cancelled at any await point while its disk operation continues. The writer's exclusive lock
//! therefore moves to the disk thread together with the operation, and is released only when the operation has ended,
//! so that two operations never write to the same file.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::task::spawn_blocking;

use domain::id::Id;

/// Directory with the exported tables.
#[derive(Clone, Debug)]
pub struct ExportFiles {
    dir: PathBuf,
    turn: Arc<Mutex<()>>,
}

/// Table being written by the holder of the lock.
#[derive(Debug)]
pub struct ExportFile(Option<ExportInProgress>);

#[derive(Debug)]
struct ExportInProgress {
    _turn: OwnedMutexGuard<()>,
    file: File,
    bytes: u64,
}

impl ExportFiles {
    /// Opens the directory, which is created if needed.
    pub fn open(dir: impl Into<PathBuf>) -> io::Result<Self> {
        let dir = dir.into();
        std::fs::create_dir_all(&dir)?;
        Ok(Self { dir, turn: Arc::default() })
    }

    fn path(&self, id: Id) -> PathBuf {
        self.dir.join(format!("{id}.csv"))
    }

    /// Waits for the lock, and continues after the first `bytes` bytes of a table; any bytes after them are discarded.
    /// Returns `None` if the table is shorter.
    pub async fn resume(&self, id: Id, bytes: u64) -> io::Result<Option<ExportFile>> {
        let (path, turn) = (self.path(id), self.turn.clone().lock_owned().await);
        on_disk(move || {
            let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
            if file.metadata()?.len() < bytes {
                return Ok(None);
            }
            file.set_len(bytes)?;
            file.seek(SeekFrom::End(0))?;
            Ok(Some(ExportFile(Some(ExportInProgress { _turn: turn, file, bytes }))))
        })
        .await
    }

    /// Opens a table for reading, and returns the file and its size in bytes.
    pub async fn read(&self, id: Id) -> io::Result<(tokio::fs::File, u64)> {
        let file = tokio::fs::File::open(self.path(id)).await?;
        let size = file.metadata().await?.len();
        Ok((file, size))
    }

    /// Deletes a table; does nothing if it does not exist.
    pub async fn delete(&self, id: Id) -> io::Result<()> {
        match tokio::fs::remove_file(self.path(id)).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }
}

impl ExportFile {
    /// Appends a string, which is durable when the call returns. Returns the new length of the table in bytes.
    pub async fn append(&mut self, text: String) -> io::Result<u64> {
        let Some(mut writing) = self.0.take() else { return Err(io::Error::other("an earlier write failed")) };
        let (writing, bytes) = on_disk(move || {
            writing.file.write_all(text.as_bytes())?;
            writing.file.sync_data()?;
            writing.bytes += text.len() as u64;
            let bytes = writing.bytes;
            Ok((writing, bytes))
        })
        .await?;
        self.0 = Some(writing);
        Ok(bytes)
    }
}

/// Runs blocking disk work off the async runtime's threads.
async fn on_disk<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use tokio::io::AsyncReadExt as _;

    use super::*;

    async fn text(files: &ExportFiles, id: Id) -> String {
        let mut text = String::new();
        files.read(id).await.unwrap().0.read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test]
    async fn what_was_not_reported_is_written_again() {
        let dir = tempfile::tempdir().unwrap();
        let (files, id) = (ExportFiles::open(dir.path()).unwrap(), Id::ONLY);
        let mut first = files.resume(id, 0).await.unwrap().unwrap();
        let reported = first.append("a,b\r\n".to_owned()).await.unwrap();
        first.append("1,".to_owned()).await.unwrap();
        drop(first);
        let mut second = files.resume(id, reported).await.unwrap().unwrap();
        assert_eq!(second.append("1,2\r\n".to_owned()).await.unwrap(), 10);
        drop(second);
        assert_eq!(text(&files, id).await, "a,b\r\n1,2\r\n");
        assert!(files.resume(id, 11).await.unwrap().is_none(), "it is not there as a whole");
        files.delete(id).await.unwrap();
        files.delete(id).await.unwrap();
        assert!(files.read(id).await.is_err());
    }

    #[tokio::test]
    async fn nobody_writes_before_the_other_is_done() {
        let dir = tempfile::tempdir().unwrap();
        let files = ExportFiles::open(dir.path()).unwrap();
        let first = files.resume(Id::ONLY, 0).await.unwrap();
        let mut second = std::pin::pin!(files.resume(Id::ONLY, 0));
        assert!(futures::poll!(&mut second).is_pending());
        drop(first);
        assert!(second.await.unwrap().is_some());
    }
}
