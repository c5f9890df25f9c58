//! Copies of contents from a bucket, on the disk of this server. Their total size is bounded: the copy that was used
//! least recently is removed first, and those in use stay.
//!
//! Looking at the disk and removing files may take long. Both happen on blocking threads, one at a time, and never
//! while anyone waits for the index; the end of a use merely triggers them.

mod index;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use std::{fs, io};

use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use self::index::CopyIndex;
use super::{is_hash, is_prefix};
use crate::disk::DiskCapacity;

/// Limits on the disk space for unused copies.
#[derive(Clone, Copy, Debug)]
pub struct CopyLimits {
    /// Maximum total size of all copies in bytes.
    pub max_bytes: u64,
    /// Disk space, in bytes, that copies leave free for others, such as the database and uploads.
    pub min_free_bytes: u64,
}

/// Copies in a directory.
#[derive(Debug)]
pub(super) struct LocalCopies {
    dir: PathBuf,
    limits: CopyLimits,
    /// Lock held while a file is added or removed, taken before the lock of the index and only on blocking threads. The
    /// index and the disk therefore agree on each file.
    disk: Mutex<()>,
    /// Lock held only briefly, without any work on the disk.
    index: Mutex<CopyIndex>,
    /// `true` if copies beyond the limit are about to be removed.
    is_trim_due: AtomicBool,
}

/// Contents in a file on the disk of this server. A copy of contents from a bucket stays there until this is dropped.
#[derive(Debug)]
pub struct LocalContent {
    path: PathBuf,
    _copy: Option<CopyUse>,
}

#[derive(Debug)]
struct CopyUse {
    copies: Arc<LocalCopies>,
    sha256: String,
    id: u64,
}

impl LocalContent {
    /// Returns contents that are stored on the disk.
    pub(crate) fn on_disk(path: PathBuf) -> Self {
        Self { path, _copy: None }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for CopyUse {
    fn drop(&mut self) {
        self.copies.lock().end_use(&self.sha256, self.id);
        self.copies.trim_later();
    }
}

impl LocalCopies {
    /// Finds the copies that an earlier process left in a directory. Blocks.
    pub(super) fn open(dir: &Path, limits: CopyLimits) -> io::Result<Arc<Self>> {
        let mut leftovers = Vec::new();
        for folder in fs::read_dir(dir)? {
            let folder = folder?;
            if !is_prefix(&folder.file_name()) || !folder.file_type()?.is_dir() {
                continue;
            }
            for copy in fs::read_dir(folder.path())? {
                let copy = copy?;
                let (name, metadata) = (copy.file_name().to_string_lossy().into_owned(), copy.metadata()?);
                if is_hash(&name) {
                    let written_at = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                    leftovers.push((written_at, name, copy.path(), metadata.len()));
                }
            }
        }
        leftovers.sort();
        let mut index = CopyIndex::default();
        for (_, sha256, path, bytes) in leftovers {
            index.add(&sha256, path, bytes, 0);
        }
        let (dir, index) = (dir.to_owned(), Mutex::new(index));
        let copies = Self { dir, limits, disk: Mutex::default(), index, is_trim_due: AtomicBool::new(false) };
        copies.trim();
        Ok(Arc::new(copies))
    }

    /// Removes unused copies until the disk has room for the given number of bytes besides those that copies leave
    /// free, or until no unused copy is left.
    pub(super) async fn make_room_on_disk(self: &Arc<Self>, bytes: u64) {
        let copies = self.clone();
        // Without room, whoever needs it fails.
        drop(spawn_blocking(move || copies.make_room(bytes)).await);
    }

    /// Returns the number of bytes of the unused copies, which can make room for others.
    pub(super) fn spare_bytes(&self) -> u64 {
        self.lock().unused_bytes()
    }

    /// Returns whether there is a copy of contents.
    pub(super) fn has(&self, sha256: &str) -> bool {
        self.lock().has(sha256)
    }

    /// Returns the copy of contents, if there is one.
    pub(super) async fn get(self: &Arc<Self>, sha256: &str) -> Option<LocalContent> {
        if !self.has(sha256) {
            return None;
        }
        let (copies, sha256) = (self.clone(), sha256.to_owned());
        spawn_blocking(move || copies.find(&sha256)).await.ok().flatten()
    }

    /// Moves a complete file to its place, and returns it as a copy in use.
    pub(super) async fn add(
        self: &Arc<Self>,
        sha256: &str,
        from: &Path,
        to: PathBuf,
        bytes: u64,
    ) -> io::Result<LocalContent> {
        let (copies, sha256, from) = (self.clone(), sha256.to_owned(), from.to_owned());
        spawn_blocking(move || copies.insert(&sha256, &from, to, bytes)).await.map_err(io::Error::other)?
    }

    /// Moves a complete file to its place, as a copy not yet in use.
    pub(super) async fn add_unused(
        self: &Arc<Self>,
        sha256: &str,
        from: &Path,
        to: PathBuf,
        bytes: u64,
    ) -> io::Result<()> {
        let (copies, sha256, from) = (self.clone(), sha256.to_owned(), from.to_owned());
        let insert = move || {
            copies.place(&sha256, &from, to, bytes, 0)?;
            copies.make_room_for_all();
            Ok(())
        };
        spawn_blocking(insert).await.map_err(io::Error::other)?
    }

    /// Removes a copy, if there is one.
    pub(super) async fn remove(self: &Arc<Self>, sha256: &str) {
        let (copies, sha256) = (self.clone(), sha256.to_owned());
        drop(spawn_blocking(move || copies.delete(&sha256)).await);
    }

    /// Returns the copy of contents, if there is one. Blocks.
    pub(super) fn find(self: &Arc<Self>, sha256: &str) -> Option<LocalContent> {
        let copy = self.lock().begin_use(sha256)?;
        let content = self.in_use(copy.path, sha256, copy.id);
        let is_whole = || fs::metadata(content.path()).is_ok_and(|metadata| metadata.len() == copy.bytes);
        if is_whole() {
            return Some(content);
        }
        let disk = self.lock_disk();
        // Somebody may have emptied the directory, or the disk may have lost the end; unless it was just stored anew.
        let is_usable = is_whole();
        if !is_usable {
            self.unlink(sha256);
        }
        drop(disk);
        is_usable.then_some(content)
    }

    /// Moves a complete file to its place, and returns it as a copy in use. Blocks.
    fn insert(self: &Arc<Self>, sha256: &str, from: &Path, to: PathBuf, bytes: u64) -> io::Result<LocalContent> {
        let id = self.place(sha256, from, to.clone(), bytes, 1)?;
        let content = self.in_use(to, sha256, id);
        self.make_room_for_all();
        Ok(content)
    }

    /// Moves a complete file to its place, and returns the ID of the copy with its new users.
    fn place(&self, sha256: &str, from: &Path, to: PathBuf, bytes: u64, users: usize) -> io::Result<u64> {
        let _disk = self.lock_disk();
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::rename(from, &to)?;
        Ok(self.lock().add(sha256, to, bytes, users))
    }

    /// Removes copies until they keep within both limits, or no unused one is left. Blocks.
    fn make_room_for_all(&self) {
        self.trim();
        self.make_room(0);
    }

    /// Removes unused copies until the disk has room for the given number of bytes, as [`Self::make_room_on_disk`]
    /// does. Blocks.
    fn make_room(&self, bytes: u64) {
        let needed = self.limits.min_free_bytes.saturating_add(bytes);
        let has_room = || DiskCapacity::of(&self.dir).map_or(true, |disk| disk.free_bytes >= needed);
        while !has_room() && self.evict(|_| true) {}
    }

    /// Removes unused copies until all copies together have at most the maximum total size. Blocks.
    fn trim(&self) {
        while self.evict(|index| index.exceeds(self.limits.max_bytes)) {}
    }

    /// Has copies beyond the limit removed, on another thread if there is a runtime.
    fn trim_later(self: &Arc<Self>) {
        if !self.lock().exceeds(self.limits.max_bytes) || self.is_trim_due.swap(true, SeqCst) {
            return;
        }
        let copies = self.clone();
        let trim = move || {
            // What becomes unused from now on may be missed by this run.
            copies.is_trim_due.store(false, SeqCst);
            copies.trim();
        };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(trim)),
            Err(_) => trim(),
        }
    }

    /// Removes the least recently used of the unused copies if that is needed; returns whether one was removed. Blocks.
    fn evict(&self, is_needed: impl Fn(&CopyIndex) -> bool) -> bool {
        let _disk = self.lock_disk();
        let mut index = self.lock();
        let victim = if is_needed(&index) { index.remove_oldest() } else { None };
        drop(index);
        let Some(path) = victim else { return false };
        remove_file(&path);
        true
    }

    /// Removes a copy, if there is one. Blocks.
    fn delete(&self, sha256: &str) {
        let _disk = self.lock_disk();
        self.unlink(sha256);
    }

    /// Removes a copy, if there is one; the caller holds the disk lock.
    fn unlink(&self, sha256: &str) {
        let path = self.lock().remove(sha256);
        if let Some(path) = path {
            remove_file(&path);
        }
    }

    fn in_use(self: &Arc<Self>, path: PathBuf, sha256: &str, id: u64) -> LocalContent {
        let copy_use = CopyUse { copies: self.clone(), sha256: sha256.to_owned(), id };
        LocalContent { path, _copy: Some(copy_use) }
    }

    fn lock(&self) -> MutexGuard<'_, CopyIndex> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_disk(&self) -> MutexGuard<'_, ()> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn remove_file(path: &Path) {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, "cannot remove a local copy of a file in the bucket");
    }
}

#[cfg(test)]
mod tests;
