//! Index of the copies on the disk: which there are, who uses them, and the order in which unused ones make room. Knows
//! paths, but does nothing with the disk.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

/// Index of copies by their hashes.
#[derive(Debug, Default)]
pub(super) struct CopyIndex {
    copies: HashMap<String, LocalCopy>,
    /// Hashes of the unused copies, by their last uses.
    unused: BTreeMap<u64, String>,
    bytes: u64,
    unused_bytes: u64,
    /// Number of uses of all copies so far, which orders them in time.
    uses: u64,
}

#[derive(Debug)]
struct LocalCopy {
    path: PathBuf,
    bytes: u64,
    /// Number of the use that added the copy, which distinguishes it from another copy of the same contents.
    id: u64,
    last_use: u64,
    users: usize,
}

/// Copy that is about to be used.
#[derive(Debug)]
pub(super) struct IndexedCopy {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    pub(super) id: u64,
}

impl CopyIndex {
    /// Returns whether there is a copy of contents.
    pub(super) fn has(&self, sha256: &str) -> bool {
        self.copies.contains_key(sha256)
    }

    /// Returns the number of bytes of the unused copies.
    pub(super) fn unused_bytes(&self) -> u64 {
        self.unused_bytes
    }

    /// Returns whether unused copies have to be removed for all copies to have at most the given total size.
    pub(super) fn exceeds(&self, max_bytes: u64) -> bool {
        self.bytes > max_bytes && !self.unused.is_empty()
    }

    /// Adds a copy with new users, and returns its ID. One of the same contents is replaced, and keeps its users.
    pub(super) fn add(&mut self, sha256: &str, path: PathBuf, bytes: u64, users: usize) -> u64 {
        self.uses += 1;
        let id = self.uses;
        let added = LocalCopy { path, bytes: 0, id, last_use: id, users: 0 };
        let copy = self.copies.entry(sha256.to_owned()).or_insert(added);
        if copy.users == 0 {
            self.unused.remove(&copy.last_use);
            self.unused_bytes -= copy.bytes;
        }
        self.bytes = self.bytes - copy.bytes + bytes;
        (copy.bytes, copy.last_use, copy.users) = (bytes, self.uses, copy.users + users);
        if copy.users == 0 {
            self.unused.insert(copy.last_use, sha256.to_owned());
            self.unused_bytes += bytes;
        }
        copy.id
    }

    /// Adds a user of a copy, if there is one.
    pub(super) fn begin_use(&mut self, sha256: &str) -> Option<IndexedCopy> {
        let copy = self.copies.get_mut(sha256)?;
        if copy.users == 0 {
            self.unused.remove(&copy.last_use);
            self.unused_bytes -= copy.bytes;
        }
        self.uses += 1;
        copy.last_use = self.uses;
        copy.users += 1;
        Some(IndexedCopy { path: copy.path.clone(), bytes: copy.bytes, id: copy.id })
    }

    /// Removes a user of the copy with this ID, unless the copy was removed meanwhile.
    pub(super) fn end_use(&mut self, sha256: &str, id: u64) {
        let Some(copy) = self.copies.get_mut(sha256).filter(|copy| copy.id == id && copy.users > 0) else { return };
        copy.users -= 1;
        if copy.users == 0 {
            self.unused.insert(copy.last_use, sha256.to_owned());
            self.unused_bytes += copy.bytes;
        }
    }

    /// Removes a copy, if there is one, and returns its path.
    pub(super) fn remove(&mut self, sha256: &str) -> Option<PathBuf> {
        let copy = self.copies.remove(sha256)?;
        self.bytes -= copy.bytes;
        if copy.users == 0 {
            self.unused.remove(&copy.last_use);
            self.unused_bytes -= copy.bytes;
        }
        Some(copy.path)
    }

    /// Removes the least recently used of the unused copies, and returns its path.
    pub(super) fn remove_oldest(&mut self) -> Option<PathBuf> {
        let sha256 = self.unused.first_key_value().map(|(_, sha256)| sha256.clone())?;
        self.remove(&sha256)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn oldest(index: &mut CopyIndex) -> Option<String> {
        index.remove_oldest().map(|path| path.display().to_string())
    }

    #[test]
    fn unused_copies_go_in_the_order_of_their_last_uses() {
        let mut index = CopyIndex::default();
        for name in ["a", "b", "c", "d"] {
            index.add(name, name.into(), 10, 0);
        }
        let (b, d) = (index.begin_use("b").unwrap(), index.begin_use("d").unwrap());
        index.end_use("b", b.id);
        assert_eq!((index.unused_bytes(), index.exceeds(39), index.exceeds(40)), (30, true, false));
        assert_eq!(oldest(&mut index).as_deref(), Some("a"));
        assert_eq!(oldest(&mut index).as_deref(), Some("c"));
        assert_eq!(oldest(&mut index).as_deref(), Some("b"));
        assert_eq!(oldest(&mut index), None, "the last one is in use");
        assert_eq!((index.unused_bytes(), index.exceeds(0)), (0, false));
        index.end_use("d", d.id);
        assert!(index.exceeds(9) && index.unused_bytes() == 10);
    }

    #[test]
    fn a_copy_that_is_replaced_counts_once_and_keeps_its_users() {
        let mut index = CopyIndex::default();
        let first = index.add("a", "a".into(), 10, 1);
        assert_eq!(index.add("a", "a".into(), 10, 0), first);
        assert_eq!((index.unused_bytes(), index.bytes), (0, 10));
        index.end_use("a", first);
        index.end_use("a", first);
        assert_eq!((index.unused_bytes(), index.bytes), (10, 10));
        index.add("a", "a".into(), 10, 0);
        assert_eq!((index.unused_bytes(), index.bytes, index.unused.len()), (10, 10, 1));
        assert_eq!(index.remove("a"), Some("a".into()));
        let second = index.add("a", "a".into(), 10, 1);
        index.end_use("a", first);
        assert!(first != second && index.unused.is_empty(), "it is another copy");
    }
}
