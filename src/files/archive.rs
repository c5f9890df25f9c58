//! Writer for tar archives, a format that every system can unpack. It works in a single pass, supports files of any
//! size, and hashes each file.
//!
//! There is no reader, and only regular files are supported; directories are implied by the file names.

use std::fs::File;
use std::io::{self, Read as _, Write};

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use tar::{EntryType, Header};

use domain::time::Timestamp;

/// Block size of an archive in bytes; all data is padded to a multiple of it.
const BLOCK_BYTES: usize = 512;
/// Number of bytes read from a file at a time.
const PIECE_BYTES: usize = 64 * 1024;

/// File written to an archive.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ArchiveMember {
    /// Path within the archive.
    pub name: String,
    /// File size in bytes.
    pub bytes: u64,
    /// Hexadecimal SHA-256 of the content.
    pub sha256: String,
}

/// Archive being written. Only [`Archive::finish`] completes it; an archive that is dropped before that is recognisably
/// truncated.
pub struct Archive<W> {
    to: W,
    made_at: Timestamp,
}

impl<W: Write> Archive<W> {
    /// Starts an archive whose files all have the given modification time.
    pub fn new(to: W, made_at: Timestamp) -> Self {
        Self { to, made_at }
    }

    /// Appends a file under the given name. A file that grows in the meantime is truncated to its initial size.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read completely, its name is too long, or the archive cannot be written.
    pub fn add(&mut self, name: &str, mut file: File) -> io::Result<ArchiveMember> {
        let bytes = file.metadata()?.len();
        self.to.write_all(header(name, bytes, self.made_at)?.as_bytes())?;
        let (mut hash, mut left, mut piece) = (Sha256::new(), bytes, vec![0; PIECE_BYTES]);
        while left > 0 {
            let most = usize::try_from(left).map_or(PIECE_BYTES, |left| left.min(PIECE_BYTES));
            let read = file.read(&mut piece[..most])?;
            if read == 0 {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    format!("{name} became shorter while it was being read"),
                ));
            }
            hash.update(&piece[..read]);
            self.to.write_all(&piece[..read])?;
            left -= read as u64;
        }
        let beyond = (bytes % BLOCK_BYTES as u64) as usize;
        if beyond > 0 {
            self.to.write_all(&[0; BLOCK_BYTES][beyond..])?;
        }
        Ok(ArchiveMember { name: name.to_owned(), bytes, sha256: hex::encode(hash.finalize()) })
    }

    /// Writes the end of the archive.
    ///
    /// # Errors
    ///
    /// Returns an error if the archive cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.to.write_all(&[0; 2 * BLOCK_BYTES])?;
        self.to.flush()
    }
}

/// Builds the header for a file: its name, its size, and read permission only for its owner.
fn header(name: &str, bytes: u64, made_at: Timestamp) -> io::Result<Header> {
    let mut header = Header::new_ustar();
    header.set_path(name)?;
    header.set_size(bytes);
    header.set_mode(0o600);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(made_at.0.max(0).unsigned_abs() / 1000);
    header.set_entry_type(EntryType::Regular);
    header.set_cksum();
    Ok(header)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const AT: Timestamp = Timestamp(1_700_000_000_000);

    #[test]
    fn what_was_archived_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, b"abc").unwrap();
        let mut bytes = Vec::new();
        let mut archive = Archive::new(&mut bytes, AT);
        let member = archive.add("files/a.txt", File::open(&path).unwrap()).unwrap();
        archive.finish().unwrap();
        assert_eq!(member.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!((member.name.as_str(), member.bytes, bytes.len()), ("files/a.txt", 3, 4 * BLOCK_BYTES));
        let mut read = tar::Archive::new(&bytes[..]);
        let mut all = read.entries().unwrap();
        let mut one = all.next().unwrap().unwrap();
        assert_eq!(one.path().unwrap().to_str(), Some("files/a.txt"));
        assert_eq!((one.header().mode().unwrap(), one.header().mtime().unwrap()), (0o600, 1_700_000_000));
        let mut content = String::new();
        one.read_to_string(&mut content).unwrap();
        assert_eq!(content, "abc");
        assert!(all.next().is_none());
    }

    #[test]
    fn long_names_are_parted_at_a_folder_and_sizes_have_no_bound() {
        let name = format!("{}/{}", "f".repeat(120), "n".repeat(90));
        let header = header(&name, 1 << 40, AT).unwrap();
        assert_eq!((header.path().unwrap().to_str(), header.size().unwrap()), (Some(name.as_str()), 1 << 40));
        assert!(super::header(&"n".repeat(101), 0, AT).is_err());
    }
}
