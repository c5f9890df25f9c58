//! Archives in the tar format that every system unpacks, written in one pass: files of any size, with the hash of each.
//!
//! It is no reader, and knows plain files alone: folders follow from their names.

use std::fs::File;
use std::io::{self, Read as _, Write};

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::domain::time::Timestamp;

/// What everything in an archive is a multiple of, in bytes.
const BLOCK_BYTES: usize = 512;
/// What is read of a file at a time, in bytes.
const PIECE_BYTES: usize = 64 * 1024;
/// Longest name, and longest folder in front of it, in bytes.
const MAX_NAME_BYTES: usize = 100;
const MAX_PREFIX_BYTES: usize = 155;
/// Sizes from here on, in bytes, have more digits than there is room for, and are written in binary.
const FIRST_BINARY_SIZE: u64 = 8 * 1024 * 1024 * 1024;

/// A file of an archive, as it was written.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ArchiveMember {
    /// Its path when the archive is unpacked.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Hex SHA-256 of its content.
    pub sha256: String,
}

/// An archive that is being written. Only [`Archive::finish`] ends it: one that is dropped before is recognisably
/// broken off.
pub struct Archive<W> {
    to: W,
    made_at: Timestamp,
}

impl<W: Write> Archive<W> {
    /// Begins an archive whose files are all from this moment.
    pub fn new(to: W, made_at: Timestamp) -> Self {
        Self { to, made_at }
    }

    /// Appends a file under this name. One that grows meanwhile is cut off at the size that it had.
    ///
    /// # Errors
    ///
    /// When it cannot be read to its end, its name is too long, or nobody takes the archive any more.
    pub fn add(&mut self, name: &str, mut file: File) -> io::Result<ArchiveMember> {
        let bytes = file.metadata()?.len();
        self.to.write_all(&header(name, bytes, self.made_at)?)?;
        let (mut hash, mut left, mut piece) = (Sha256::new(), bytes, vec![0; PIECE_BYTES]);
        while left > 0 {
            let most = usize::try_from(left).map_or(PIECE_BYTES, |left| left.min(PIECE_BYTES));
            let read = file.read(&mut piece[..most])?;
            if read == 0 {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("{name} became shorter")));
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

    /// Writes the end.
    ///
    /// # Errors
    ///
    /// When nobody takes it.
    pub fn finish(mut self) -> io::Result<()> {
        self.to.write_all(&[0; 2 * BLOCK_BYTES])?;
        self.to.flush()
    }
}

/// A name in its two parts, the folder in front of it and the rest; `None` when it is too long.
fn parted(name: &str) -> Option<(&str, &str)> {
    if name.len() <= MAX_NAME_BYTES {
        return Some(("", name));
    }
    let mut cuts = name.match_indices('/').map(|(at, _)| (&name[..at], &name[at + 1..]));
    let fits = |(prefix, rest): &(&str, &str)| prefix.len() <= MAX_PREFIX_BYTES && rest.len() <= MAX_NAME_BYTES;
    cuts.find(fits)
}

/// What stands before the content of a file: its name, its size, and that its owner alone may read it.
fn header(name: &str, bytes: u64, made_at: Timestamp) -> io::Result<[u8; BLOCK_BYTES]> {
    let too_long = || io::Error::new(io::ErrorKind::InvalidInput, format!("{name} is too long for an archive"));
    let (prefix, rest) = parted(name).ok_or_else(too_long)?;
    let mut block = [0_u8; BLOCK_BYTES];
    let mut put = |at: usize, text: &[u8]| block[at..at + text.len()].copy_from_slice(text);
    put(0, rest.as_bytes());
    put(100, b"0000600\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    if bytes < FIRST_BINARY_SIZE {
        put(124, format!("{bytes:011o}\0").as_bytes());
    } else {
        put(124, &[0x80, 0, 0, 0]);
        put(128, &bytes.to_be_bytes());
    }
    put(136, format!("{:011o}\0", made_at.0.max(0) / 1000).as_bytes());
    // The sum is taken with blanks in its own place.
    put(148, b"        ");
    put(156, b"0");
    put(257, b"ustar\0");
    put(263, b"00");
    put(345, prefix.as_bytes());
    let sum: u32 = block.iter().copied().map(u32::from).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(block)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const AT: Timestamp = Timestamp(1_700_000_000_000);

    fn text(block: &[u8], from: usize, to: usize) -> String {
        String::from_utf8_lossy(&block[from..to]).trim_end_matches(['\0', ' ']).to_owned()
    }

    #[test]
    fn a_file_stands_behind_its_header_and_ends_with_a_block() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, b"abc").unwrap();
        let mut bytes = Vec::new();
        let mut archive = Archive::new(&mut bytes, AT);
        let member = archive.add("files/a.txt", File::open(&path).unwrap()).unwrap();
        archive.finish().unwrap();
        assert_eq!(member.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!((member.name.as_str(), member.bytes, bytes.len()), ("files/a.txt", 3, 4 * BLOCK_BYTES));
        assert_eq!(text(&bytes, 0, 100), "files/a.txt");
        assert_eq!(
            (text(&bytes, 124, 136), text(&bytes, 136, 148)),
            ("00000000003".to_owned(), "14524770400".to_owned())
        );
        assert_eq!(&bytes[512..516], b"abc\0");
        let mut blank = bytes[..BLOCK_BYTES].to_vec();
        blank[148..156].fill(b' ');
        let sum: u32 = blank.iter().copied().map(u32::from).sum();
        assert_eq!(u32::from_str_radix(&text(&bytes, 148, 154), 8), Ok(sum));
    }

    #[test]
    fn long_names_are_parted_at_a_folder_and_large_sizes_are_binary() {
        let (folder, file) = ("f".repeat(120), "n".repeat(90));
        let block = header(&format!("{folder}/{file}"), 1 << 40, AT).unwrap();
        assert_eq!((text(&block, 0, 100), text(&block, 345, 500)), (file, folder));
        assert_eq!(block[124..136], [0x80, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]);
        assert!(header(&"n".repeat(101), 0, AT).is_err());
    }
}
