//! WebP format: RIFF chunks. The file length is stored at the start, so chunks that are not needed to display the
//! picture are overwritten with zeros under a name that readers ignore.

use super::{PictureFault, append_zeros, check_pixels, exif, fill, take};

/// Chunks that affect how the picture is displayed, including animations.
const NEEDED: [&[u8; 4]; 7] = [b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP"];
/// Name given to a chunk whose data has been erased.
const NAMELESS: &[u8; 4] = b"JUNK";

/// Size of `RIFF`, the length and `WEBP` in bytes.
const START_BYTES: usize = 12;
/// Size of a chunk's name and length fields in bytes.
const HEAD_BYTES: usize = 8;
/// Number of leading bytes of a chunk that contain the picture's size.
const SIZE_BYTES: usize = 10;
/// Flag in `VP8X` that indicates XMP data. The flag for EXIF data is kept, because the orientation is EXIF data.
const XMP_FLAG: u8 = 0x04;
/// Minimum size, in bytes, of EXIF data that contains an orientation.
const MIN_EXIF_BYTES: u64 = 26;

/// State of a WebP picture that is being streamed.
#[derive(Debug, Default)]
pub(super) struct Webp {
    state: WebpState,
    head: Vec<u8>,
    /// Number of remaining bytes of the file, according to the length at its start.
    left: u64,
    has_image: bool,
    /// `true` if EXIF data has been received.
    oriented: bool,
}

#[derive(Debug, Default)]
enum WebpState {
    /// Inside the leading bytes.
    #[default]
    Start,
    /// Inside the name and length of a chunk.
    Head,
    /// Inside the first bytes of a chunk that contains the picture size, which are held in memory.
    Size { name: [u8; 4], left: u64, data: Vec<u8> },
    /// Inside EXIF data, which is held in memory, or the padding to an even length after it.
    Exif { left: u64, data: Vec<u8> },
    /// Inside the data of any other chunk, or the padding to an even length after it.
    Chunk { left: u64, needed: bool },
    /// After the last chunk.
    End,
}

impl Webp {
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.state, WebpState::End) && self.has_image
    }

    pub(super) fn push(&mut self, mut piece: &[u8], output: &mut Vec<u8>) -> Result<(), PictureFault> {
        while !piece.is_empty() {
            match &mut self.state {
                WebpState::Start => {
                    if fill(&mut self.head, &mut piece, START_BYTES) {
                        let length = u64::from(number(&self.head[4..8]));
                        self.left = length.checked_sub(4).ok_or(PictureFault::Damaged)?;
                        output.append(&mut self.head);
                        self.state = self.next();
                    }
                }
                WebpState::Head => {
                    if fill(&mut self.head, &mut piece, HEAD_BYTES) {
                        self.state = self.chunk(output)?;
                        self.head.clear();
                    }
                }
                WebpState::Size { name, left, data } => {
                    let held = data.len();
                    let is_full = fill(data, &mut piece, SIZE_BYTES);
                    let part = (data.len() - held) as u64;
                    *left -= part;
                    self.left -= part;
                    if is_full {
                        let (width, height) = size(*name, data);
                        check_pixels(width, height)?;
                        if name == b"VP8X" {
                            data[0] &= !XMP_FLAG;
                        }
                        output.append(data);
                        let left = *left;
                        self.state = if left == 0 { self.next() } else { WebpState::Chunk { left, needed: true } };
                    }
                }
                WebpState::Exif { left, data } => {
                    let part = take(&mut piece, *left);
                    *left -= part.len() as u64;
                    self.left -= part.len() as u64;
                    data.extend_from_slice(part);
                    if *left == 0 {
                        let orientation = exif::orientation_of_chunk(data).unwrap_or(1);
                        let mut only = exif::only_orientation_of_chunk(orientation);
                        only.resize(data.len(), 0);
                        output.extend_from_slice(&only);
                        self.state = self.next();
                    }
                }
                WebpState::Chunk { left, needed } => {
                    let part = take(&mut piece, *left);
                    *left -= part.len() as u64;
                    self.left -= part.len() as u64;
                    if *needed {
                        output.extend_from_slice(part);
                    } else {
                        append_zeros(output, part.len());
                    }
                    if *left == 0 {
                        self.state = self.next();
                    }
                }
                WebpState::End => return Ok(()),
            }
        }
        Ok(())
    }

    /// Returns the state after a chunk.
    fn next(&self) -> WebpState {
        if self.left == 0 { WebpState::End } else { WebpState::Head }
    }

    /// Starts the chunk whose header has been received.
    fn chunk(&mut self, output: &mut Vec<u8>) -> Result<WebpState, PictureFault> {
        self.left = self.left.checked_sub(HEAD_BYTES as u64).ok_or(PictureFault::Damaged)?;
        let (name, length) = self.head.split_at(4);
        let data = u64::from(number(length));
        // Some programs leave the last filling byte out.
        let left = if data == self.left { data } else { data + data % 2 };
        if left > self.left {
            return Err(PictureFault::Damaged);
        }
        let needed = NEEDED.iter().any(|needed| name == needed.as_slice());
        self.has_image |= matches!(name, b"VP8 " | b"VP8L" | b"ANMF");
        let longest = exif::MAX_EXIF_BYTES as u64;
        let oriented = name == b"EXIF" && (MIN_EXIF_BYTES..=longest).contains(&data) && !self.oriented;
        self.oriented |= oriented;
        output.extend_from_slice(if needed || oriented { name } else { NAMELESS });
        output.extend_from_slice(length);
        Ok(match left {
            0 => self.next(),
            left if matches!(name, b"VP8X" | b"VP8L" | b"VP8 ") && left >= SIZE_BYTES as u64 => {
                let name = name.try_into().map_err(|_| PictureFault::Damaged)?;
                WebpState::Size { name, left, data: Vec::new() }
            }
            // Shorter ones tell no size, and are no pictures.
            _ if matches!(name, b"VP8X" | b"VP8L" | b"VP8 ") => return Err(PictureFault::Damaged),
            left if oriented => WebpState::Exif { left, data: Vec::new() },
            left => WebpState::Chunk { left, needed },
        })
    }
}

/// Returns the width and height from the first bytes of a chunk that contains them.
fn size(name: [u8; 4], data: &[u8]) -> (u64, u64) {
    let number = |bytes: &[u8]| u64::from(number(bytes));
    match &name {
        // The canvas, less one, in 24 bits each.
        b"VP8X" => (number(&data[4..7]) + 1, number(&data[7..10]) + 1),
        // Behind a mark of one byte: 14 bits each, less one.
        b"VP8L" => {
            let both = number(&data[1..5]);
            ((both & 0x3fff) + 1, (both >> 14 & 0x3fff) + 1)
        }
        // Behind a frame's head and its mark: 14 bits each, with two that scale.
        _ => (number(&data[6..8]) & 0x3fff, number(&data[8..10]) & 0x3fff),
    }
}

/// Reads four bytes as a little-endian number.
fn number(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}
