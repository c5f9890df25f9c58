//! Reads backups: verifies their files against the manifest and unpacks them.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use bounded_json::Bounds;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tar::{Archive, EntryType};

use super::{FILE_MODE, FOLDER_MODE, MANIFEST_NAME, PRODUCT};
use domain::time::Timestamp;
use files::disk::LOST_FOUND;

#[cfg(test)]
mod tests;

/// Maximum size of a manifest, in bytes. A manifest has one line per file in the shop.
pub const MAX_MANIFEST_BYTES: u64 = 256 * 1024 * 1024;
/// Limits for parsing a manifest: nesting depth and number of values (four per file).
pub const MANIFEST: Bounds = Bounds { depth: 8, values: 8_000_000 };
/// Size of each read, in bytes.
const PIECE_BYTES: usize = 256 * 1024;
/// Length of a SHA-256 hash in hexadecimal digits, which is also the length of a stored file's directory name.
const SHA256_CHARS: usize = 64;
const FOLDER_CHARS: usize = 2;

/// Reason that a backup cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BackupReadError {
    /// The archive cannot be read, or a file cannot be written.
    #[error(transparent)]
    Disk(#[from] io::Error),
    /// The manifest, which must be the last file, is missing.
    #[error("not a backup, or an incomplete download: its last file is not {MANIFEST_NAME}")]
    NoManifest,
    /// The manifest does not belong to a backup.
    #[error("{MANIFEST_NAME} is not the manifest of a Printfloor backup")]
    BadManifest,
    /// A file does not match its entry in the manifest.
    #[error("the backup is damaged: {0}")]
    Damaged(String),
}

/// Contents of a manifest.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestText {
    product: String,
    /// Version of the program that made the backup.
    pub version: String,
    /// Time at which the backup was made.
    pub made_at: Timestamp,
    /// Name of the latest migration applied to the database.
    pub schema_version: String,
    /// Copy of the database.
    pub database: ManifestDatabase,
    members: Vec<ManifestMember>,
}

/// Database section of a manifest.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestDatabase {
    /// `sqlite` or `postgresql`.
    pub kind: String,
    /// Name of the database file in the archive.
    pub member: String,
    /// Number of rows in each table.
    pub rows: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, Deserialize)]
struct ManifestMember {
    name: String,
    bytes: u64,
    sha256: String,
}

/// Backup whose files all match the manifest.
#[derive(Clone, Debug)]
pub struct VerifiedBackup {
    /// Parsed manifest.
    pub manifest: ManifestText,
    /// SHA-256 of the manifest, in hex.
    pub sha256: String,
    /// Number of files, excluding the database and the manifest.
    pub files: usize,
    /// Total size of all files, in bytes.
    pub bytes: u64,
}

impl VerifiedBackup {
    /// Returns the names and sizes of the files in the manifest, which include the database.
    pub fn members(&self) -> impl Iterator<Item = (&str, u64)> {
        self.manifest.members.iter().map(|member| (member.name.as_str(), member.bytes))
    }
}

/// Destinations for a backup's files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BackupDestinations {
    /// Path of the database file.
    pub database: PathBuf,
    /// Directory for stored files.
    pub files: PathBuf,
    /// Directory for rendered documents.
    pub documents: PathBuf,
}

impl BackupDestinations {
    /// Returns the destination for a file in an archive; `None` if no backup can contain such a file.
    fn of(&self, name: &str, database: &str) -> Option<PathBuf> {
        if name == database {
            return Some(self.database.clone());
        }
        let (folder, rest) = name.split_once('/')?;
        let is_hex = |text: &str, chars: usize| {
            text.len() == chars && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        };
        match folder {
            "files" => {
                let (start, sha256) = rest.split_once('/')?;
                let fits = is_hex(start, FOLDER_CHARS) && is_hex(sha256, SHA256_CHARS) && sha256.starts_with(start);
                fits.then(|| self.files.join(start).join(sha256))
            }
            "documents" => {
                let below = Path::new(rest);
                let fits = !rest.is_empty() && below.components().all(|part| matches!(part, Component::Normal(_)));
                fits.then(|| self.documents.join(below))
            }
            _ => None,
        }
    }
}

/// Reads an entire backup and verifies it against its manifest. `progress` is called with the number of bytes read.
/// Blocks on the disk.
///
/// # Errors
///
/// Fails if the file is not a backup, or is incomplete or damaged.
pub fn verify(path: &Path, mut progress: impl FnMut(u64)) -> Result<VerifiedBackup, BackupReadError> {
    let (mut file_facts, mut last) = (BTreeMap::new(), None);
    for_each_file(path, &mut progress, |name, bytes, content| {
        let mut text = Vec::new();
        let sha256 = if name == MANIFEST_NAME && bytes <= MAX_MANIFEST_BYTES {
            copy_hashed(content, &mut text)?
        } else {
            copy_hashed(content, &mut io::sink())?
        };
        last = Some((name.to_owned(), text, sha256.clone()));
        match file_facts.insert(name.to_owned(), (bytes, sha256)) {
            None => Ok(()),
            Some(_) => Err(BackupReadError::Damaged(format!("it contains {name} twice"))),
        }
    })?;
    let (_, text, sha256) = last.filter(|(name, ..)| name == MANIFEST_NAME).ok_or(BackupReadError::NoManifest)?;
    let manifest = bounded_json::read(&text, MANIFEST).and_then(serde_json::from_value::<ManifestText>);
    let manifest = manifest.map_err(|_| BackupReadError::BadManifest)?;
    if manifest.product != PRODUCT {
        return Err(BackupReadError::BadManifest);
    }
    file_facts.remove(MANIFEST_NAME);
    let bytes = file_facts.values().map(|(bytes, _)| bytes).sum();
    for member in &manifest.members {
        let damaged = |words: &str| Err(BackupReadError::Damaged(format!("{} {words}", member.name)));
        match file_facts.remove(&member.name) {
            None => return damaged("is missing"),
            Some((bytes, sha256)) if bytes != member.bytes || sha256 != member.sha256 => {
                return damaged("differs from the file that was backed up (SHA-256 mismatch)");
            }
            Some(_) => {}
        }
    }
    if let Some(name) = file_facts.keys().next() {
        return Err(BackupReadError::Damaged(format!("it contains {name}, which is not in its manifest")));
    }
    if !manifest.members.iter().any(|member| member.name == manifest.database.member) {
        return Err(BackupReadError::Damaged("it contains no database".to_owned()));
    }
    let files = manifest.members.len() - 1;
    Ok(VerifiedBackup { manifest, sha256, files, bytes })
}

/// Unpacks a verified backup to the given destinations, which must not contain any files yet, and verifies each file
/// against the manifest again. `settle` is called with the name and the path of each file, and may move it. All data is
/// synced to disk before the function returns. Blocks on the disk.
///
/// # Errors
///
/// Fails if a file has no destination, has changed since it was verified, or cannot be written, or `settle` fails.
pub fn unpack(
    path: &Path,
    backup: &VerifiedBackup,
    places: &BackupDestinations,
    mut progress: impl FnMut(u64),
    mut settle: impl FnMut(&str, &Path) -> io::Result<()>,
) -> Result<(), BackupReadError> {
    let members: BTreeMap<&str, &ManifestMember> =
        backup.manifest.members.iter().map(|member| (member.name.as_str(), member)).collect();
    for folder in [&places.files, &places.documents] {
        DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)?;
    }
    for_each_file(path, &mut progress, |name, _, content| {
        if name == MANIFEST_NAME {
            return Ok(());
        }
        let damaged = |words: &str| BackupReadError::Damaged(format!("{name} {words}"));
        let member = members.get(name).ok_or_else(|| damaged("was added while the backup was being read"))?;
        let to = places
            .of(name, &backup.manifest.database.member)
            .ok_or_else(|| damaged("is not a file that belongs in a shop's backup"))?;
        if let Some(folder) = to.parent() {
            DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)?;
        }
        unpack_member(content, member, &to)?;
        Ok(settle(name, &to)?)
    })
}

/// Unpacks the database of a verified backup to a file that does not exist yet, and verifies it against the manifest
/// again. Blocks on the disk.
///
/// # Errors
///
/// Fails if the database has changed since it was verified, or the file cannot be written.
pub fn unpack_database(
    path: &Path,
    backup: &VerifiedBackup,
    to: &Path,
    mut progress: impl FnMut(u64),
) -> Result<(), BackupReadError> {
    let database = &backup.manifest.database.member;
    let member = backup.manifest.members.iter().find(|member| member.name == *database);
    let member = member.ok_or_else(|| BackupReadError::Damaged("it contains no database".to_owned()))?;
    for_each_file(
        path,
        &mut progress,
        |name, _, content| {
            if name == database { unpack_member(content, member, to) } else { Ok(()) }
        },
    )?;
    if to.exists() { Ok(()) } else { Err(BackupReadError::Damaged(format!("{database} is missing"))) }
}

fn unpack_member(content: &mut dyn Read, member: &ManifestMember, to: &Path) -> Result<(), BackupReadError> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(to)?;
    if copy_hashed(content, &mut file)? != member.sha256 {
        let words = format!("{} changed while the backup was being read", member.name);
        return Err(BackupReadError::Damaged(words));
    }
    file.sync_all()?;
    Ok(())
}

/// Calls a function for each file in an archive, with the file's name and size.
fn for_each_file(
    path: &Path,
    progress: &mut impl FnMut(u64),
    mut visit: impl FnMut(&str, u64, &mut dyn Read) -> Result<(), BackupReadError>,
) -> Result<(), BackupReadError> {
    let mut archive = Archive::new(File::open(path)?);
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::StorageFull => error.into(),
        _ => BackupReadError::Damaged(format!("it cannot be read completely ({error})")),
    };
    for entry in archive.entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if entry.header().entry_type() != EntryType::Regular {
            return Err(BackupReadError::Damaged(format!("{name} is not a regular file")));
        }
        let bytes = entry.size();
        visit(&name, bytes, &mut entry)?;
        progress(bytes);
    }
    Ok(())
}

/// Copies all data and returns its SHA-256 hash in hex.
fn copy_hashed(from: &mut dyn Read, to: &mut impl Write) -> io::Result<String> {
    let (mut hash, mut piece) = (Sha256::new(), vec![0; PIECE_BYTES]);
    loop {
        match from.read(&mut piece)? {
            0 => break,
            read => {
                hash.update(&piece[..read]);
                to.write_all(&piece[..read])?;
            }
        }
    }
    Ok(hex::encode(hash.finalize()))
}

/// Syncs a directory and its subdirectories to disk.
///
/// # Errors
///
/// Fails if a directory cannot be read or synced.
pub fn sync_folders(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() && entry.file_name() != LOST_FOUND {
            sync_folders(&entry.path())?;
        }
    }
    File::open(folder)?.sync_all()
}
