//! Contents of files, kept on the local disk under the SHA-256 of their bytes: the same bytes are kept once.
//!
//! Not for descriptions of files (`domain/file`), and nothing is removed here: a job that failed long ago may be retried
//! with the content it was made from.

use sha2::{Digest as _, Sha256};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tokio::fs::{self, File};
use tokio::io::AsyncWriteExt as _;

/// Folder of contents that are still on their way, inside the store's folder.
const INCOMING: &str = "incoming";

/// All contents. One process at a time may hold a folder (the data folder's lock sees to that).
#[derive(Debug)]
pub struct Blobs {
    dir: PathBuf,
    next: AtomicU64,
}

/// What was kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// Hex SHA-256: its address.
    pub sha256: String,
    /// Bytes.
    pub size: u64,
}

impl Blobs {
    /// Opens the folder, making it when it is not there; what an earlier process left half-written is removed.
    pub fn open(dir: impl Into<PathBuf>) -> io::Result<Self> {
        let dir = dir.into();
        let incoming = dir.join(INCOMING);
        std::fs::create_dir_all(&incoming)?;
        for left in std::fs::read_dir(&incoming)? {
            std::fs::remove_file(left?.path())?;
        }
        Ok(Self { dir, next: AtomicU64::new(0) })
    }

    /// Where the content of this address is. An address that is no hex digest names nothing.
    pub fn path(&self, sha256: &str) -> PathBuf {
        let well_formed = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        let name = if well_formed { sha256 } else { "none" };
        self.dir.join(&name[..2]).join(name)
    }

    /// Opens a content for reading; answers its size too.
    pub async fn read(&self, sha256: &str) -> io::Result<(File, u64)> {
        let file = File::open(self.path(sha256)).await?;
        let size = file.metadata().await?.len();
        Ok((file, size))
    }

    /// Begins a content that comes in pieces.
    pub fn begin(&self) -> io::Result<Incoming<'_>> {
        let path = self.dir.join(INCOMING).join(self.next.fetch_add(1, Relaxed).to_string());
        // Made at once: an upload given up while it waited for a thread would leave a file that nobody removes.
        let file = File::from_std(std::fs::File::create_new(&path)?);
        Ok(Incoming { blobs: self, file: Some(file), path, hash: Sha256::new(), size: 0 })
    }

    /// Keeps a content that is in memory.
    pub async fn put(&self, bytes: &[u8]) -> io::Result<Kept> {
        let mut incoming = self.begin()?;
        incoming.write(bytes).await?;
        incoming.keep().await
    }
}

/// A content on its way; dropped before [`Incoming::keep`] it leaves nothing behind.
#[derive(Debug)]
pub struct Incoming<'a> {
    blobs: &'a Blobs,
    file: Option<File>,
    path: PathBuf,
    hash: Sha256,
    size: u64,
}

impl Incoming<'_> {
    /// Takes the next piece.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            file.write_all(bytes).await?;
        }
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
        Ok(())
    }

    /// Bytes so far.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// That was all: on disk, for good, when this returns.
    pub async fn keep(mut self) -> io::Result<Kept> {
        if let Some(mut file) = self.file.take() {
            file.flush().await?;
            file.sync_all().await?;
        }
        let sha256 = hex::encode(std::mem::take(&mut self.hash).finalize());
        let home = self.blobs.path(&sha256);
        let folder = home.parent().unwrap_or(&self.blobs.dir).to_owned();
        fs::create_dir_all(&folder).await?;
        fs::rename(&self.path, &home).await?;
        sync_folder(&folder).await?;
        sync_folder(&self.blobs.dir).await?;
        Ok(Kept { sha256, size: self.size })
    }
}

impl Drop for Incoming<'_> {
    fn drop(&mut self) {
        // After `keep` there is nothing at this path any more.
        if let Err(error) = std::fs::remove_file(&self.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "a half-written content cannot be removed");
        }
    }
}

/// A new name is durable only when its folder is.
async fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder).await?.sync_all().await
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use tokio::io::AsyncReadExt as _;

    fn files_below(dir: &Path) -> usize {
        let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        entries.map(|path| if path.is_dir() { files_below(&path) } else { 1 }).sum()
    }

    #[tokio::test]
    async fn the_same_bytes_are_kept_once_under_their_digest() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(dir.path()).unwrap();
        let whole = blobs.put(b"abc").await.unwrap();
        assert_eq!(whole.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let mut pieces = blobs.begin().unwrap();
        pieces.write(b"a").await.unwrap();
        pieces.write(b"bc").await.unwrap();
        assert_eq!(pieces.keep().await.unwrap(), whole);
        let (mut file, size) = blobs.read(&whole.sha256).await.unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).await.unwrap();
        assert_eq!((text.as_str(), size), ("abc", 3));
        assert_eq!(files_below(dir.path()), 1);
    }

    #[tokio::test]
    async fn what_is_given_up_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(dir.path()).unwrap();
        let mut given_up = blobs.begin().unwrap();
        given_up.write(b"abc").await.unwrap();
        drop(given_up);
        assert_eq!(files_below(dir.path()), 0);
        std::fs::write(dir.path().join(INCOMING).join("7"), b"left").unwrap();
        Blobs::open(dir.path()).unwrap();
        assert_eq!(files_below(dir.path()), 0);
    }

    #[tokio::test]
    async fn an_address_that_is_no_digest_names_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(dir.path()).unwrap();
        assert!(blobs.read("../../etc/passwd").await.is_err());
        assert!(blobs.read("é").await.is_err());
    }
}
