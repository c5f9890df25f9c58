//! PNG format: chunks. Those that are not needed to display the picture are cut out; of the EXIF data, only the
//! orientation is kept.

use flate2::Crc;

use super::{PictureFault, check_pixels, exif, fill, take};

/// Leading bytes of every PNG.
pub(super) const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Chunks that affect how the picture is displayed, including animations. All others are cut out, such as text,
/// timestamps, and private chunks.
const NEEDED: [&[u8; 4]; 18] = [
    b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"sBIT", b"bKGD", b"pHYs",
    b"cICP", b"mDCV", b"cLLI", b"acTL", b"fcTL", b"fdAT",
];

/// Size of a chunk's length and type fields in bytes.
const HEAD_BYTES: usize = 8;
/// Size of the first chunk's data in bytes.
const SIZE_BYTES: usize = 13;
/// Size of the checksum after a chunk's data in bytes.
const CHECKSUM_BYTES: usize = 4;
/// Maximum size of a chunk's data in bytes.
const MAX_CHUNK_BYTES: u32 = 0x7fff_ffff;

/// State of a PNG picture that is being streamed.
#[derive(Debug, Default)]
pub(super) struct Png {
    state: PngState,
    begun: bool,
    head: Vec<u8>,
    /// `true` if the EXIF data contained the orientation.
    oriented: bool,
}

#[derive(Debug, Default)]
enum PngState {
    /// Inside the eight leading bytes.
    #[default]
    Signature,
    /// Inside the length and type of a chunk.
    Head,
    /// Inside the data and checksum of the first chunk, which contains the picture's size.
    Size { data_length: usize, data: Vec<u8> },
    /// Inside the data and checksum of an EXIF chunk, which are held in memory.
    Exif { data_length: usize, data: Vec<u8> },
    /// Inside the data and checksum of any other chunk.
    Chunk { left: u64, needed: bool, last: bool },
    /// After the last chunk.
    End,
}

impl Png {
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.state, PngState::End)
    }

    pub(super) fn push(&mut self, mut piece: &[u8], output: &mut Vec<u8>) -> Result<(), PictureFault> {
        while !piece.is_empty() {
            match &mut self.state {
                PngState::Signature => {
                    if fill(&mut self.head, &mut piece, SIGNATURE.len()) {
                        if self.head != SIGNATURE {
                            return Err(PictureFault::Damaged);
                        }
                        output.append(&mut self.head);
                        self.state = PngState::Head;
                    }
                }
                PngState::Head => {
                    if fill(&mut self.head, &mut piece, HEAD_BYTES) {
                        self.state = self.chunk()?;
                        if matches!(self.state, PngState::Size { .. } | PngState::Chunk { needed: true, .. }) {
                            output.extend_from_slice(&self.head);
                        }
                        self.head.clear();
                    }
                }
                PngState::Size { data_length, data } => {
                    if fill(data, &mut piece, *data_length) {
                        let side =
                            |at: usize| data[at..at + 4].iter().fold(0, |side, byte| side << 8 | u64::from(*byte));
                        check_pixels(side(0), side(4))?;
                        output.append(data);
                        self.state = PngState::Head;
                    }
                }
                PngState::Exif { data_length, data } => {
                    if fill(data, &mut piece, *data_length) {
                        let tiff = data.get(..data.len() - CHECKSUM_BYTES).unwrap_or_default();
                        if let Some(orientation) = exif::orientation_of_chunk(tiff) {
                            append_exif(output, orientation);
                            self.oriented = true;
                        }
                        self.state = PngState::Head;
                    }
                }
                PngState::Chunk { left, needed, last } => {
                    let part = take(&mut piece, *left);
                    *left -= part.len() as u64;
                    if *needed {
                        output.extend_from_slice(part);
                    }
                    if *left == 0 {
                        self.state = if *last { PngState::End } else { PngState::Head };
                    }
                }
                PngState::End => return Ok(()),
            }
        }
        Ok(())
    }

    /// Starts the chunk whose header has been received.
    fn chunk(&mut self) -> Result<PngState, PictureFault> {
        let (length, kind) = self.head.split_at(4);
        let length = length.iter().fold(0, |length: u32, byte| length << 8 | u32::from(*byte));
        let first = !std::mem::replace(&mut self.begun, true);
        if length > MAX_CHUNK_BYTES || !kind.iter().all(u8::is_ascii_alphabetic) || first != (kind == b"IHDR") {
            return Err(PictureFault::Damaged);
        }
        let bytes = usize::try_from(length).unwrap_or(usize::MAX);
        if first {
            return match bytes {
                SIZE_BYTES => Ok(PngState::Size { data_length: bytes + CHECKSUM_BYTES, data: Vec::new() }),
                _ => Err(PictureFault::Damaged),
            };
        }
        if kind == b"eXIf" && !self.oriented && bytes <= exif::MAX_EXIF_BYTES {
            return Ok(PngState::Exif { data_length: bytes + CHECKSUM_BYTES, data: Vec::new() });
        }
        Ok(PngState::Chunk {
            left: u64::from(length) + CHECKSUM_BYTES as u64,
            needed: NEEDED.iter().any(|needed| kind == needed.as_slice()),
            last: kind == b"IEND",
        })
    }
}

/// Appends an EXIF chunk that contains only the given orientation.
fn append_exif(output: &mut Vec<u8>, orientation: u8) {
    let data = exif::only_orientation_of_chunk(orientation);
    let body = [b"eXIf".as_slice(), &data].concat();
    let mut sum = Crc::new();
    sum.update(&body);
    output.extend_from_slice(&u32::try_from(data.len()).unwrap_or_default().to_be_bytes());
    output.extend_from_slice(&body);
    output.extend_from_slice(&sum.sum().to_be_bytes());
}
