//! Detects a picture's format from its bytes, and removes metadata about the photo's location, time and author while
//! the picture is being streamed.
//!
//! Only data needed to display the picture is kept: its size, colours, transparency, and orientation. Everything else
//! is cut out (JPEG, PNG) or, where cutting would invalidate offsets, overwritten with zeros (WebP, HEIC): EXIF data
//! with coordinates, XMP, IPTC, comments, embedded previews, and anything after the end of the picture. The picture
//! itself is not decoded, so whether it can be displayed is not checked.
//!
//! At most one segment (JPEG, 64 KiB), EXIF block (PNG, WebP, same size) or description (HEIC, 256 KiB) is held in
//! memory, regardless of the length of the file. The result does not depend on how the file is split into chunks.

mod boxes;
mod exif;
mod heic;
mod heic_items;
mod jpeg;
mod png;
#[cfg(test)]
mod tests;
mod webp;

use self::heic::Heic;
use self::jpeg::Jpeg;
use self::png::Png;
use self::webp::Webp;
use domain::picture_format::{PictureFormat, fits_a_screen};

/// Number of leading bytes from which the format is detected.
const HEAD_BYTES: usize = 12;

/// HEIC picture brands; videos and picture sequences have different brands.
const HEIC_BRANDS: [&[u8; 4]; 5] = [b"heic", b"heix", b"heim", b"heis", b"mif1"];

/// Detects the format from the leading bytes, regardless of the file name; `None` if the format is not supported.
fn format_of(head: &[u8; HEAD_BYTES]) -> Option<PictureFormat> {
    let (start, brand) = (&head[..8], &head[8..]);
    if start.starts_with(jpeg::BEGINNING) {
        Some(PictureFormat::Jpeg)
    } else if start == png::SIGNATURE {
        Some(PictureFormat::Png)
    } else if start.starts_with(b"RIFF") && brand == b"WEBP" {
        Some(PictureFormat::Webp)
    } else if &start[4..] == b"ftyp" && HEIC_BRANDS.iter().any(|candidate| brand == candidate.as_slice()) {
        Some(PictureFormat::Heic)
    } else {
        None
    }
}

/// Reason why a picture is rejected. In error responses, the message follows the picture's path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PictureFault {
    /// The leading bytes match none of the supported formats.
    #[error("is not a JPEG, PNG, WebP or HEIC image")]
    Unknown,
    /// The picture is truncated.
    #[error("is incomplete; upload it again")]
    CutOff,
    /// The parts of the picture contradict each other.
    #[error("is damaged; save it again and upload the new file")]
    Damaged,
    /// Displaying the picture would take more memory than a browser has.
    #[error("has too many pixels; save a smaller version and upload it")]
    TooManyPixels,
    /// The file specifies the location of its metadata only after the metadata itself, which has already been streamed
    /// by then.
    #[error("contains location data that cannot be removed; upload it as JPEG")]
    Unusual,
}

/// Filter that removes the metadata from a picture, chunk by chunk.
#[derive(Debug, Default)]
pub struct PictureCleaner {
    head: Vec<u8>,
    cleaner: Option<Cleaner>,
}

/// State for a picture of a known format.
#[derive(Debug)]
enum Cleaner {
    Jpeg(Jpeg),
    Png(Png),
    Webp(Webp),
    Heic(Heic),
}

impl PictureCleaner {
    /// Creates a cleaner for a new picture.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next bytes, and appends the bytes to keep to `output`, including any held back earlier. After an
    /// error, the picture must be discarded.
    pub fn push(&mut self, mut piece: &[u8], output: &mut Vec<u8>) -> Result<(), PictureFault> {
        if let Some(cleaner) = &mut self.cleaner {
            return cleaner.push(piece, output);
        }
        fill(&mut self.head, &mut piece, HEAD_BYTES);
        let Ok(head) = <&[u8; HEAD_BYTES]>::try_from(self.head.as_slice()) else { return Ok(()) };
        let mut cleaner = match format_of(head).ok_or(PictureFault::Unknown)? {
            PictureFormat::Jpeg => Cleaner::Jpeg(Jpeg::default()),
            PictureFormat::Png => Cleaner::Png(Png::default()),
            PictureFormat::Webp => Cleaner::Webp(Webp::default()),
            PictureFormat::Heic => Cleaner::Heic(Heic::default()),
        };
        cleaner.push(head, output)?;
        cleaner.push(piece, output)?;
        self.cleaner = Some(cleaner);
        Ok(())
    }

    /// Completes the picture; returns its format, or an error if the picture is incomplete.
    pub fn finish(self) -> Result<PictureFormat, PictureFault> {
        let (whole, format) = match self.cleaner.ok_or(PictureFault::Unknown)? {
            Cleaner::Jpeg(jpeg) => (jpeg.is_whole(), PictureFormat::Jpeg),
            Cleaner::Png(png) => (png.is_whole(), PictureFormat::Png),
            Cleaner::Webp(webp) => (webp.is_whole(), PictureFormat::Webp),
            Cleaner::Heic(heic) => (heic.is_whole(), PictureFormat::Heic),
        };
        if whole { Ok(format) } else { Err(PictureFault::CutOff) }
    }
}

impl Cleaner {
    fn push(&mut self, piece: &[u8], output: &mut Vec<u8>) -> Result<(), PictureFault> {
        match self {
            Self::Jpeg(jpeg) => jpeg.push(piece, output),
            Self::Png(png) => png.push(piece, output),
            Self::Webp(webp) => webp.push(piece, output),
            Self::Heic(heic) => heic.push(piece, output),
        }
    }
}

/// Rejects a picture with more pixels than a viewer should have to decode.
const fn check_pixels(width: u64, height: u64) -> Result<(), PictureFault> {
    if fits_a_screen(width, height) { Ok(()) } else { Err(PictureFault::TooManyPixels) }
}

/// Moves bytes from the chunk to `held` until `held` has `length` bytes; returns whether it has that many.
fn fill(held: &mut Vec<u8>, piece: &mut &[u8], length: usize) -> bool {
    let part = take(piece, length.saturating_sub(held.len()) as u64);
    held.extend_from_slice(part);
    held.len() >= length
}

/// Takes at most `most` bytes from the front of the chunk.
fn take<'a>(piece: &mut &'a [u8], most: u64) -> &'a [u8] {
    let count = usize::try_from(most).unwrap_or(usize::MAX).min(piece.len());
    let (part, rest) = piece.split_at(count);
    *piece = rest;
    part
}

/// Appends `count` zeros.
fn append_zeros(output: &mut Vec<u8>, count: usize) {
    output.resize(output.len() + count, 0);
}
