//! Copies of contents from a bucket, on the disk of this server. Their total size is bounded: the copy that was used
//! least recently is removed first, and those in use stay.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use std::{fs, io};

use super::{is_hash, is_prefix};
use crate::disk::DiskCapacity;

/// Limits on the disk space of copies that nobody uses.
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
    index: Mutex<CopyIndex>,
}

#[derive(Debug, Default)]
struct CopyIndex {
    copies: HashMap<String, LocalCopy>,
    bytes: u64,
    /// Number of uses of all copies so far, which orders them in time.
    uses: u64,
}

#[derive(Debug)]
struct LocalCopy {
    path: PathBuf,
    bytes: u64,
    /// Number of the use that added the copy, which tells it from another one of the same contents.
    id: u64,
    last_use: u64,
    users: usize,
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
        let mut index = self.copies.lock();
        if let Some(copy) = index.copies.get_mut(&self.sha256).filter(|copy| copy.id == self.id) {
            copy.users = copy.users.saturating_sub(1);
        }
        index.make_room(self.copies.limits.max_bytes);
    }
}

impl LocalCopies {
    /// Finds the copies that an earlier process left in a directory. Blocks.
    pub(super) fn open(dir: &Path, limits: CopyLimits) -> io::Result<Arc<Self>> {
        let mut copies = Vec::new();
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
                    copies.push((written_at, name, copy.path(), metadata.len()));
                }
            }
        }
        copies.sort();
        let mut index = CopyIndex::default();
        for (_, sha256, path, bytes) in copies {
            index.add(sha256, path, bytes, 0);
        }
        index.make_room(limits.max_bytes);
        Ok(Arc::new(Self { dir: dir.to_owned(), limits, index: Mutex::new(index) }))
    }

    /// Removes copies that nobody uses until the disk has room for so many bytes besides those that copies leave free,
    /// or no such copy is left.
    pub(super) fn make_room_on_disk(&self, bytes: u64) {
        let needed = self.limits.min_free_bytes.saturating_add(bytes);
        let has_room = || DiskCapacity::of(&self.dir).map_or(true, |disk| disk.free_bytes >= needed);
        while !has_room() && self.lock().remove_oldest() {}
    }

    /// Returns the number of bytes of the copies that nobody uses, which make room for others.
    pub(super) fn spare_bytes(&self) -> u64 {
        self.lock().copies.values().filter(|copy| copy.users == 0).map(|copy| copy.bytes).sum()
    }

    /// Returns whether there is a copy of contents.
    pub(super) fn has(&self, sha256: &str) -> bool {
        self.lock().copies.contains_key(sha256)
    }

    /// Returns the copy of contents, if there is one.
    pub(super) fn get(self: &Arc<Self>, sha256: &str) -> Option<LocalContent> {
        let mut index = self.lock();
        let copy = index.copies.get(sha256)?;
        // Somebody may have emptied the directory, or the disk may have lost the end.
        if !fs::metadata(&copy.path).is_ok_and(|metadata| metadata.len() == copy.bytes) {
            index.remove(sha256);
            return None;
        }
        index.uses += 1;
        let uses = index.uses;
        let copy = index.copies.get_mut(sha256)?;
        copy.last_use = uses;
        copy.users += 1;
        Some(self.in_use(copy, sha256))
    }

    /// Moves a complete file to its place, and returns it as a copy in use.
    pub(super) fn add(
        self: &Arc<Self>,
        sha256: &str,
        from: &Path,
        to: PathBuf,
        bytes: u64,
    ) -> io::Result<LocalContent> {
        let mut index = self.lock();
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::rename(from, &to)?;
        let copy = index.add(sha256.to_owned(), to, bytes, 1);
        let content = self.in_use(copy, sha256);
        index.make_room(self.limits.max_bytes);
        drop(index);
        self.make_room_on_disk(0);
        Ok(content)
    }

    /// Removes a copy, if there is one.
    pub(super) fn remove(&self, sha256: &str) {
        self.lock().remove(sha256);
    }

    fn in_use(self: &Arc<Self>, copy: &LocalCopy, sha256: &str) -> LocalContent {
        let copy_use = CopyUse { copies: self.clone(), sha256: sha256.to_owned(), id: copy.id };
        LocalContent { path: copy.path.clone(), _copy: Some(copy_use) }
    }

    fn lock(&self) -> MutexGuard<'_, CopyIndex> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CopyIndex {
    /// Adds a copy with new users. One of the same contents is replaced, and keeps its users.
    fn add(&mut self, sha256: String, path: PathBuf, bytes: u64, users: usize) -> &LocalCopy {
        self.uses += 1;
        let uses = self.uses;
        self.bytes += bytes;
        let copy = self.copies.entry(sha256).or_insert(LocalCopy { path, bytes: 0, id: uses, last_use: 0, users: 0 });
        self.bytes -= copy.bytes;
        (copy.bytes, copy.last_use, copy.users) = (bytes, uses, copy.users + users);
        copy
    }

    /// Removes copies that nobody uses until the others have at most the given size.
    fn make_room(&mut self, max_bytes: u64) {
        while self.bytes > max_bytes && self.remove_oldest() {}
    }

    /// Removes the copy that nobody uses and that was used least recently; returns whether there was one.
    fn remove_oldest(&mut self) -> bool {
        let unused = self.copies.iter().filter(|(_, copy)| copy.users == 0);
        let oldest = unused.min_by_key(|(_, copy)| copy.last_use).map(|(sha256, _)| sha256.clone());
        let Some(sha256) = oldest else { return false };
        self.remove(&sha256);
        true
    }

    fn remove(&mut self, sha256: &str) {
        let Some(copy) = self.copies.remove(sha256) else { return };
        self.bytes -= copy.bytes;
        if let Err(error) = fs::remove_file(&copy.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "cannot remove a local copy of a file in the bucket");
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn open(dir: &tempfile::TempDir, max_bytes: u64) -> Arc<LocalCopies> {
        LocalCopies::open(dir.path(), CopyLimits { max_bytes, min_free_bytes: 0 }).unwrap()
    }

    /// Adds a copy of ten bytes, which nobody uses.
    fn add(copies: &Arc<LocalCopies>, dir: &Path, digit: char) -> String {
        drop(add_in_use(copies, dir, digit));
        hash(digit)
    }

    fn add_in_use(copies: &Arc<LocalCopies>, dir: &Path, digit: char) -> LocalContent {
        let (from, sha256) = (dir.join("incoming"), hash(digit));
        fs::write(&from, [0_u8; 10]).unwrap();
        copies.add(&sha256, &from, dir.join(&sha256[..2]).join(&sha256), 10).unwrap()
    }

    fn hash(digit: char) -> String {
        digit.to_string().repeat(64)
    }

    #[test]
    fn the_copy_that_was_used_least_recently_makes_room() {
        let dir = tempfile::tempdir().unwrap();
        let copies = open(&dir, 20);
        let (a, b) = (add(&copies, dir.path(), 'a'), add(&copies, dir.path(), 'b'));
        drop(copies.get(&a).unwrap());
        let c = add(&copies, dir.path(), 'c');
        assert!(copies.get(&b).is_none() && !dir.path().join("bb").join(&b).exists());
        assert!(copies.get(&a).is_some() && copies.get(&c).is_some());
        copies.remove(&a);
        assert!(copies.get(&a).is_none());
        fs::remove_file(dir.path().join("cc").join(&c)).unwrap();
        assert!(copies.get(&c).is_none(), "somebody has removed it");
        assert_eq!(copies.lock().bytes, 0);
    }

    #[test]
    fn a_copy_in_use_stays() {
        let dir = tempfile::tempdir().unwrap();
        let copies = open(&dir, 10);
        let first = add_in_use(&copies, dir.path(), 'a');
        let again = add_in_use(&copies, dir.path(), 'a');
        add(&copies, dir.path(), 'b');
        drop(again);
        assert!(first.path().exists() && copies.get(&hash('b')).is_none());
        copies.remove(&hash('a'));
        let other = add_in_use(&copies, dir.path(), 'a');
        drop(first);
        add(&copies, dir.path(), 'c');
        assert!(other.path().exists(), "the user of the former copy was not one of this copy");
    }

    #[test]
    fn copies_of_an_earlier_process_are_found_and_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let copies = open(&dir, 20);
        let (a, b) = (add(&copies, dir.path(), 'a'), add(&copies, dir.path(), 'b'));
        let copies = open(&dir, 20);
        assert!(copies.get(&a).is_some() && copies.get(&b).is_some());
        let copies = open(&dir, 10);
        assert_eq!(copies.lock().copies.len(), 1);
    }

    #[test]
    fn copies_leave_room_on_the_disk() {
        let dir = tempfile::tempdir().unwrap();
        let copies = open(&dir, 100);
        let used = add_in_use(&copies, dir.path(), 'a');
        let b = add(&copies, dir.path(), 'b');
        assert_eq!(copies.spare_bytes(), 10);
        copies.make_room_on_disk(0);
        assert!(copies.has(&b), "there is room");
        copies.make_room_on_disk(u64::MAX);
        assert!(!copies.has(&b) && used.path().exists(), "the disk never has so much");
        assert_eq!(copies.spare_bytes(), 0);
        drop(used);
        let limits = CopyLimits { max_bytes: 100, min_free_bytes: u64::MAX };
        let copies = LocalCopies::open(dir.path(), limits).unwrap();
        let c = add_in_use(&copies, dir.path(), 'c');
        assert!(!copies.has(&hash('a')) && c.path().exists(), "what is added makes room");
    }

    #[test]
    fn a_copy_that_lost_its_end_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let copies = open(&dir, 100);
        let a = add(&copies, dir.path(), 'a');
        fs::write(dir.path().join("aa").join(&a), "half").unwrap();
        assert!(copies.get(&a).is_none() && !copies.has(&a));
    }
}
