//! Files stored on a virtual printer, which are kept in memory.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use jiff::Timestamp;

use crate::gcode::GcodeFacts;

/// File in the printer's storage.
#[derive(Clone, Debug)]
pub struct PrinterFile {
    /// File contents, as uploaded.
    pub bytes: Bytes,
    /// Time at which the file was stored.
    pub modified: Timestamp,
    /// Metadata from the file's comments.
    pub facts: Arc<GcodeFacts>,
    /// Unique ID that changes with every upload.
    pub uuid: String,
}

/// All files by path, relative to a single root, without a leading slash.
#[derive(Clone, Debug, Default)]
pub struct PrinterStorage {
    by_path: BTreeMap<String, PrinterFile>,
}

impl PrinterStorage {
    /// Returns the file at a path.
    pub fn get(&self, path: &str) -> Option<&PrinterFile> {
        self.by_path.get(path)
    }

    /// Returns the path as stored: an exact match or, if there is none, the first path that differs only in case (which
    /// is how Klipper resolves paths for a start).
    pub fn resolve(&self, path: &str) -> Option<String> {
        let path = path.trim_start_matches('/');
        if self.by_path.contains_key(path) {
            return Some(path.to_owned());
        }
        self.by_path.keys().find(|key| key.eq_ignore_ascii_case(path)).cloned()
    }

    /// Returns all files, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &PrinterFile)> {
        self.by_path.iter()
    }

    pub(super) fn insert(&mut self, path: String, file: PrinterFile) {
        self.by_path.insert(path, file);
    }

    pub(super) fn choose(&mut self, path: &str, facts: Arc<GcodeFacts>) {
        if let Some(file) = self.by_path.get_mut(path) {
            file.facts = facts;
        }
    }

    pub(super) fn remove(&mut self, path: &str) -> Option<PrinterFile> {
        self.by_path.remove(path)
    }
}

/// Normalises a path relative to the root: no leading slash, no empty, `.` or `..` parts. Returns `None` if the path
/// would leave the root or is empty.
pub fn clean_path(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => return None,
            part if part.contains('\0') => return None,
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_the_root() {
        assert_eq!(clean_path("/a//b.gcode").as_deref(), Some("a/b.gcode"));
        assert_eq!(clean_path("../b.gcode"), None);
        assert_eq!(clean_path("a/../../b"), None);
        assert_eq!(clean_path("//"), None);
    }
}
