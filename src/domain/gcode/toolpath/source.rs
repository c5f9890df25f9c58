//! Reading of moves from a stored file: text, binary G-code, or a plate of a 3MF package.

use std::io::{self, BufReader, Read, Seek};

use super::super::binary::{
    FILE_HEADER_BYTES, GCODE_BLOCK, MAGIC, MAX_BLOCK_BYTES, MAX_BLOCKS, THUMBNAIL_BLOCK, decompress, long, short,
};
use super::super::content::ZIP;
use super::super::package::open_archive;
use super::{Toolpath, ToolpathReader, meatpack};

/// Maximum number of G-code bytes read as text; the rest, the upper layers of a very long print, is not drawn.
const MAX_TEXT_BYTES: u64 = 64 << 20;
/// Number of bytes read at a time.
const CHUNK_BYTES: usize = 64 * 1024;
/// Size of a block's checksum, in bytes.
const CHECKSUM_BYTES: u64 = 4;

/// Reads the moves of a file, whose format is detected from its bytes. If it is a package, reads the moves of the given
/// plate.
///
/// # Errors
///
/// Fails if the file cannot be read, or is a package without such a plate.
pub fn read_toolpath(mut file: impl Read + Seek, plate: u32) -> io::Result<Toolpath> {
    let head = bytes(&mut file, MAGIC.len() as u64)?;
    file.rewind()?;
    let mut reader = ToolpathReader::default();
    if head == MAGIC {
        read_binary(BufReader::with_capacity(CHUNK_BYTES, file), &mut reader)?;
    } else if head == ZIP {
        let mut archive = open_archive(file).map_err(io::Error::other)?;
        let code = archive.by_name(&format!("Metadata/plate_{plate}.gcode")).map_err(io::Error::other)?;
        read_text(code, &mut reader)?;
    } else {
        read_text(file, &mut reader)?;
    }
    Ok(reader.finish())
}

fn read_text(code: impl Read, reader: &mut ToolpathReader) -> io::Result<()> {
    let (mut code, mut chunk) = (code.take(MAX_TEXT_BYTES), vec![0; CHUNK_BYTES]);
    loop {
        match code.read(&mut chunk)? {
            0 => return Ok(()),
            length => reader.push(&chunk[..length]),
        }
    }
}

/// Reads the G-code blocks of a binary file, up to its end or to a damaged block.
fn read_binary(mut file: impl Read, reader: &mut ToolpathReader) -> io::Result<()> {
    let head = bytes(&mut file, FILE_HEADER_BYTES as u64)?;
    let checksum = if short(&head, 8) == 0 { 0 } else { CHECKSUM_BYTES };
    let mut left = MAX_TEXT_BYTES;
    for _ in 0..MAX_BLOCKS {
        let head = bytes(&mut file, 8)?;
        let (kind, compression, size) = (short(&head, 0), short(&head, 2), long(&head, 4));
        if head.len() < 8 || compression > 3 {
            break;
        }
        let stored = if compression == 0 { size } else { long(&bytes(&mut file, 4)?, 0) };
        let parameters = bytes(&mut file, if kind == THUMBNAIL_BLOCK { 6 } else { 2 })?;
        if kind != GCODE_BLOCK {
            io::copy(&mut file.by_ref().take(u64::from(stored) + checksum), &mut io::sink())?;
            continue;
        }
        if size.max(stored) > MAX_BLOCK_BYTES {
            break;
        }
        let data = bytes(&mut file, stored.into())?;
        bytes(&mut file, checksum)?;
        let Some(text) = decompress(&data, compression, size as usize) else { break };
        // The encoding: plain text, or MeatPack without or with comments.
        let text = if short(&parameters, 0) == 0 { text } else { meatpack::unpack(&text) };
        let Some(rest) = left.checked_sub(text.len() as u64) else { break };
        left = rest;
        reader.push(&text);
    }
    Ok(())
}

/// Reads the given number of bytes, or fewer at the end of the file.
fn bytes(file: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.take(length).read_to_end(&mut content)?;
    Ok(content)
}
