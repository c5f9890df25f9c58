//! Backup manifest: the version of the program that made the backup, the database with its row counts, and each file
//! with its size and hash. It is written to disk file by file because a backup can contain a great many files.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use domain::time::Timestamp;
use files::archive::ArchiveMember;

/// Part of the manifest that is completed before the first file is written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ManifestHead<'a> {
    /// Product that made the backup.
    pub product: &'static str,
    /// Product version.
    pub version: &'static str,
    /// Time at which the backup was requested.
    pub made_at: Timestamp,
    /// Name of the latest migration applied to the database.
    pub schema_version: &'a str,
    /// Copy of the database.
    pub database: DatabasePart<'a>,
}

/// Description of the database in the backup.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DatabasePart<'a> {
    /// `sqlite` or `postgresql`.
    pub kind: &'static str,
    /// Name of the database file in the archive.
    pub member: &'static str,
    /// Number of rows in each table.
    pub rows: &'a BTreeMap<String, u64>,
}

/// Manifest being written.
pub(super) struct ManifestWriter {
    path: PathBuf,
    to: BufWriter<File>,
    is_first: bool,
}

impl ManifestWriter {
    /// Creates the manifest as a new file with the given permissions.
    pub(super) fn begin(path: &Path, mode: u32, head: &ManifestHead<'_>) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
        let (mut to, head) = (BufWriter::new(file), serde_json::to_string(head)?);
        // The list of members is one more member of the same object.
        write!(to, "{},\"members\":[", head.strip_suffix('}').unwrap_or(&head))?;
        Ok(Self { path: path.to_owned(), to, is_first: true })
    }

    /// Appends an entry for a file in the archive.
    pub(super) fn add(&mut self, member: &ArchiveMember) -> io::Result<()> {
        let comma = if std::mem::take(&mut self.is_first) { "" } else { "," };
        write!(self.to, "{comma}\n{}", serde_json::to_string(member)?)
    }

    /// Completes the manifest and opens it for reading.
    pub(super) fn finish(mut self) -> io::Result<File> {
        self.to.write_all(b"\n]}\n")?;
        self.to.flush()?;
        File::open(&self.path)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_manifest_is_one_document() {
        let folder = tempfile::tempdir().unwrap();
        let rows = BTreeMap::from([("orders".to_owned(), 2)]);
        let head = ManifestHead {
            product: "Printfloor",
            version: "1.2.3",
            made_at: Timestamp(1_700_000_000_000),
            schema_version: "m1",
            database: DatabasePart { kind: "sqlite", member: "printfloor.db", rows: &rows },
        };
        for count in [0_u64, 2] {
            let path = folder.path().join(count.to_string());
            let mut manifest = ManifestWriter::begin(&path, 0o600, &head).unwrap();
            for n in 0..count {
                manifest.add(&ArchiveMember { name: format!("files/{n}"), bytes: n, sha256: "00".to_owned() }).unwrap();
            }
            let text = io::read_to_string(manifest.finish().unwrap()).unwrap();
            let read: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(read["members"].as_array().map(Vec::len), Some(count as usize));
            assert_eq!(read["database"], json!({"kind": "sqlite", "member": "printfloor.db", "rows": {"orders": 2}}));
            assert_eq!((&read["schemaVersion"], &read["madeAt"]), (&json!("m1"), &json!("2023-11-14T22:13:20.000Z")));
        }
    }
}
