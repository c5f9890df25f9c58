//! Reader for binary G-code (`.bgcode`, the format of Prusa's libbgcode, described in its `doc/specifications.md`),
//! which reads the metadata blocks and thumbnails and checks that the file is complete. The commands are covered by
//! checksums and not decoded here; `toolpath` decodes them to draw an image.
//!
//! All numbers are little-endian. File header: `GCDE`, version (u32), type of checksum (u16). Each block: type (u16),
//! compression (u16), size (u32), compressed size (u32, if compressed), parameters, data, checksum (u32, if present).

use std::io::Read as _;

use flate2::Crc;
use flate2::read::ZlibDecoder;

use super::Damage;
use super::heatshrink::unpack;
use super::notes::CommentStatements;
use super::thumbnail::Thumbnail;

pub(super) const MAGIC: &[u8] = b"GCDE";
pub(super) const FILE_HEADER_BYTES: usize = 10;
const FORMAT_VERSION: u32 = 1;
/// Maximum size of a block to read, in bytes, both compressed and uncompressed; larger blocks are skipped.
pub(super) const MAX_BLOCK_BYTES: u32 = 4 << 20;

/// Maximum number of blocks in a file. A file of one gigabyte has about 16,000 blocks of 64 KiB each.
pub(super) const MAX_BLOCKS: u32 = 100_000;
/// Maximum total uncompressed size of a file's blocks, in bytes; later blocks are skipped. The settings and thumbnails
/// of a real file take less than one megabyte.
const MAX_UNPACKED_BYTES: usize = 16 << 20;

pub(super) const GCODE_BLOCK: u16 = 1;
pub(super) const THUMBNAIL_BLOCK: u16 = 5;
const PNG_FORMAT: u16 = 0;

/// Part of the file that the next byte belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum BinaryPosition {
    /// Before or in the file header.
    #[default]
    File,
    /// In the part of a block header that is common to all blocks.
    BinaryBlock,
    /// In the rest of the header and the parameters.
    Parameters(Head),
    /// Inside the content of a block, with `left` bytes remaining.
    Data { block: BinaryBlock, left: u64 },
    /// Inside the four checksum bytes at the end of a block.
    Checksum(BinaryBlock),
    /// Reading has stopped, because the file is not binary G-code or is damaged.
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Head {
    kind: u16,
    compression: u16,
    size: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BinaryBlock {
    head: Head,
    /// Format, width and height of the thumbnail, if the block is one.
    picture: [u16; 3],
    keep: bool,
}

/// Streaming reader for a binary file.
#[derive(Debug, Default)]
pub(super) struct Binary {
    step: BinaryPosition,
    /// Bytes collected for the current step, at most [`MAX_BLOCK_BYTES`].
    bytes: Vec<u8>,
    crc: Option<Crc>,
    checksums: bool,
    commands: bool,
    damage: Option<Damage>,
    /// Number of blocks started so far; limited so that reading a file of tiny blocks does not take too long.
    blocks: u32,
    /// Total uncompressed size of the blocks so far, in bytes.
    unpacked: usize,
}

impl Binary {
    pub(super) fn push(&mut self, mut chunk: &[u8], notes: &mut CommentStatements) {
        while !chunk.is_empty() && self.step != BinaryPosition::Done {
            chunk = match self.step {
                BinaryPosition::Data { block, left } => {
                    let length = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
                    let (data, rest) = chunk.split_at(length);
                    self.count(data);
                    if block.keep {
                        self.bytes.extend_from_slice(data);
                    }
                    self.step = BinaryPosition::Data { block, left: left - data.len() as u64 };
                    self.end_of_data(notes);
                    rest
                }
                _ => {
                    let needed_bytes = self.needed_bytes();
                    let (part, rest) = chunk.split_at((needed_bytes - self.bytes.len()).min(chunk.len()));
                    self.bytes.extend_from_slice(part);
                    if self.bytes.len() == needed_bytes {
                        let bytes = std::mem::take(&mut self.bytes);
                        self.take(&bytes, notes);
                    }
                    rest
                }
            };
        }
    }

    /// Returns the number of bytes that the current step needs.
    fn needed_bytes(&self) -> usize {
        match self.step {
            BinaryPosition::File => FILE_HEADER_BYTES,
            BinaryPosition::BinaryBlock => 8,
            BinaryPosition::Parameters(head) => packed(head) * 4 + if head.kind == THUMBNAIL_BLOCK { 6 } else { 2 },
            BinaryPosition::Checksum(_) => 4,
            BinaryPosition::Data { .. } | BinaryPosition::Done => 0,
        }
    }

    fn take(&mut self, bytes: &[u8], notes: &mut CommentStatements) {
        match self.step {
            BinaryPosition::File => self.file(bytes),
            BinaryPosition::BinaryBlock => {
                self.blocks += 1;
                if self.blocks > MAX_BLOCKS {
                    return self.breaks(Damage::TooManyParts);
                }
                self.crc = Some(Crc::new());
                self.count(bytes);
                let head = Head { kind: short(bytes, 0), compression: short(bytes, 2), size: long(bytes, 4) };
                if head.kind > THUMBNAIL_BLOCK || head.compression > 3 {
                    return self.breaks(Damage::Unknown);
                }
                self.step = BinaryPosition::Parameters(head);
            }
            BinaryPosition::Parameters(head) => {
                self.count(bytes);
                let size = if packed(head) == 1 { long(bytes, 0) } else { head.size };
                let at = packed(head) * 4;
                let picture =
                    if head.kind == THUMBNAIL_BLOCK { [0, 2, 4].map(|n| short(bytes, at + n)) } else { [0; 3] };
                let fits = size <= MAX_BLOCK_BYTES && head.size <= MAX_BLOCK_BYTES;
                let keep = head.kind != GCODE_BLOCK && fits && self.unpacked + head.size as usize <= MAX_UNPACKED_BYTES;
                if keep {
                    self.unpacked += head.size as usize;
                }
                self.commands |= head.kind == GCODE_BLOCK;
                self.step = BinaryPosition::Data { block: BinaryBlock { head, picture, keep }, left: size.into() };
                self.end_of_data(notes);
            }
            BinaryPosition::Checksum(_) => {
                let right = self.crc.take().is_none_or(|crc| crc.sum() == long(bytes, 0));
                if right { self.step = BinaryPosition::BinaryBlock } else { self.breaks(Damage::Checksum) }
            }
            BinaryPosition::Data { .. } | BinaryPosition::Done => {}
        }
    }

    fn file(&mut self, bytes: &[u8]) {
        if !bytes.starts_with(MAGIC) {
            self.step = BinaryPosition::Done; // Something else.
            return;
        }
        let checksum = short(bytes, 8);
        if long(bytes, 4) != FORMAT_VERSION || checksum > 1 {
            return self.breaks(Damage::Unknown);
        }
        self.checksums = checksum == 1;
        self.step = BinaryPosition::BinaryBlock;
    }

    fn end_of_data(&mut self, notes: &mut CommentStatements) {
        let BinaryPosition::Data { block, left: 0 } = self.step else { return };
        let data = std::mem::take(&mut self.bytes);
        if block.keep {
            read(&block, &data, notes);
        }
        self.step = if self.checksums { BinaryPosition::Checksum(block) } else { BinaryPosition::BinaryBlock };
    }

    fn count(&mut self, bytes: &[u8]) {
        if let Some(crc) = &mut self.crc {
            crc.update(bytes);
        }
    }

    fn breaks(&mut self, damage: Damage) {
        self.damage = Some(damage);
        self.step = BinaryPosition::Done;
    }

    /// Returns the damage to a file that starts as binary G-code, if any.
    pub(super) fn damage(&self) -> Option<Damage> {
        let whole = self.commands && self.step == BinaryPosition::BinaryBlock && self.bytes.is_empty();
        self.damage.or((!whole).then_some(Damage::CutOff))
    }
}

/// Reads the contents of a block; a block that cannot be decompressed is skipped.
fn read(block: &BinaryBlock, data: &[u8], notes: &mut CommentStatements) {
    let unpacked = decompress(data, block.head.compression, block.head.size as usize);
    let Some(bytes) = unpacked else { return };
    if block.head.kind == THUMBNAIL_BLOCK {
        let [format, width, height] = block.picture;
        if format == PNG_FORMAT {
            notes.picture(Thumbnail { width: width.into(), height: height.into(), png: bytes });
        }
        return;
    }
    for line in String::from_utf8_lossy(&bytes).lines() {
        match line.split_once('=') {
            Some(("Producer", name)) => notes.comment(&format!("generated by {}", name.trim())),
            Some((key, value)) => notes.comment(&format!("{} = {}", key.trim(), value.trim())),
            None => {}
        }
    }
}

/// Returns the `size` bytes of a block before compression. Returns `None` if it cannot be decompressed.
pub(super) fn decompress(data: &[u8], compression: u16, size: usize) -> Option<Vec<u8>> {
    match compression {
        0 => Some(data.to_vec()),
        1 => {
            let mut out = Vec::new();
            ZlibDecoder::new(data).take(size as u64).read_to_end(&mut out).ok().map(|_| out)
        }
        2 => unpack(data, 11, 4, size),
        _ => unpack(data, 12, 4, size),
    }
}

fn packed(head: Head) -> usize {
    usize::from(head.compression != 0)
}

pub(super) fn short(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|bytes| bytes.try_into().ok()).map_or(0, u16::from_le_bytes)
}

pub(super) fn long(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
}

#[cfg(test)]
mod tests;
