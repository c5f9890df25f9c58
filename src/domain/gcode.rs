//! Detection of an uploaded file's type and slicer metadata while the file is streamed.
//!
//! Only one line, a thumbnail and the first and last bytes of the file are held in memory, so even a file of a gigabyte
//! needs little memory. The result does not depend on how the file is divided into chunks. Nothing is sliced here, and
//! the G-code commands are not validated.

mod binary;
mod comment;
mod content;
mod extents;
mod file_kind;
mod heatshrink;
mod notes;
mod others;
mod package;
mod project;
mod tags;
mod thumbnail;
mod toolpath;
mod tools;

pub use content::ContentType;
pub use extents::Extents;
pub use file_kind::decide_kind;
pub use package::{open_archive, read_package};
pub use thumbnail::Thumbnail;
pub use toolpath::{PathSegment, Toolpath, ToolpathReader, read_toolpath};

use crate::amount::Amount;
use crate::file::Plate;
use crate::sku::Dimensions;
use content::FileEnds;
use notes::CommentStatements;

/// Maximum length of a comment line that is parsed, in bytes; longer lines (embedded macros) contain nothing useful.
const MAX_COMMENT_BYTES: usize = 4096;

/// Metadata that a slicer wrote about a print. `None` means unknown, because nothing is guessed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    /// Name and version of the slicer, such as `PrusaSlicer 2.5.0`.
    pub slicer: Option<String>,
    /// Estimated print time in seconds.
    pub seconds: Option<i64>,
    /// Weight of the filament for all extruders, in grams.
    pub grams: Option<Amount>,
    /// Length of the filament for all extruders, in millimetres.
    pub filament_mm: Option<f64>,
    /// Largest PNG thumbnail in the file.
    pub thumbnail: Option<Thumbnail>,
    /// Number of layers; `None` if the slicer does not state it.
    pub layers: Option<u32>,
    /// Size of the print in millimetres.
    pub size: Option<Dimensions>,
}

/// Detected plate, with a thumbnail that is not stored yet.
#[derive(Clone, Debug, PartialEq)]
pub struct DetectedPlate {
    /// Metadata that the slicer wrote about the plate, without the thumbnail's hash.
    pub plate: Plate,
    /// Thumbnail of the plate. The only plate of plain G-code has no thumbnail other than the file's.
    pub thumbnail: Option<Thumbnail>,
}

/// Result of [`GcodeReader::finish`].
#[derive(Clone, Debug, PartialEq)]
pub struct GcodeContents {
    /// Content type detected from the bytes, regardless of the file name; `None` if unknown.
    pub content: Option<ContentType>,
    /// Slicer metadata; empty unless the content is text or binary G-code.
    pub metadata: Metadata,
    /// Plates: one for text or binary G-code; for a package, all of its plates once [`read_package`] has read them.
    pub plates: Vec<DetectedPlate>,
    /// Damage to the file, if any; detected only in formats with checksums.
    pub damage: Option<Damage>,
}

/// Reason why a file cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The file is truncated.
    #[error("the file is incomplete; upload it again")]
    CutOff,
    /// The bytes do not match their checksum.
    #[error("the file is damaged (checksum mismatch); upload it again")]
    Checksum,
    /// The file has more parts than plausible for its type, so reading it would take too long.
    #[error("the file has too many parts; export it again")]
    TooManyParts,
    /// The image has so many pixels that displaying it would need more memory than a browser can use.
    #[error("the image has too many pixels; upload a smaller one")]
    TooManyPixels,
    /// The format version is unknown.
    #[error("this version of binary G-code is not supported; export the file as text")]
    Unknown,
}

/// Streaming reader for a file that arrives in chunks.
#[derive(Debug, Default)]
pub struct GcodeReader {
    position: LinePosition,
    comment: Vec<u8>,
    ends: FileEnds,
    notes: CommentStatements,
    binary: binary::Binary,
    commands: bool,
}

/// State of the reader within a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LinePosition {
    /// Before the first character of the line.
    #[default]
    Start,
    /// After a letter that starts a command.
    Letter,
    /// After the `;` that starts a comment line.
    Comment,
    /// In the rest of a line that is ignored.
    Rest,
}

impl GcodeReader {
    /// Creates a reader at the beginning of a file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next bytes of the file.
    pub fn push(&mut self, chunk: &[u8]) {
        self.ends.push(chunk);
        self.binary.push(chunk, &mut self.notes);
        if self.ends.is_binary() {
            return;
        }
        let mut left = chunk;
        while let Some(&byte) = left.first() {
            left = match self.position {
                LinePosition::Start => {
                    self.position = match byte {
                        b';' => LinePosition::Comment,
                        b'G' | b'M' | b'T' => LinePosition::Letter,
                        b' ' | b'\t' | b'\r' | b'\n' => LinePosition::Start,
                        _ => LinePosition::Rest,
                    };
                    &left[1..]
                }
                LinePosition::Letter => {
                    self.commands |= byte.is_ascii_digit();
                    self.position = LinePosition::Rest;
                    left
                }
                LinePosition::Comment => self.take_comment(left),
                LinePosition::Rest => self.skip_line(left),
            };
        }
    }

    /// Reads a comment up to the end of its line or of the chunk, and returns the bytes after it.
    fn take_comment<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let end = end_of_line(bytes);
        let text = &bytes[..end.unwrap_or(bytes.len())];
        // One byte more than the limit shows that the line was too long.
        let room = MAX_COMMENT_BYTES + 1 - self.comment.len();
        self.comment.extend_from_slice(&text[..text.len().min(room)]);
        let Some(end) = end else { return &[] };
        self.end_comment();
        self.position = LinePosition::Start;
        &bytes[end + 1..]
    }

    fn end_comment(&mut self) {
        if self.comment.len() <= MAX_COMMENT_BYTES
            && let Ok(text) = std::str::from_utf8(&self.comment)
        {
            self.notes.comment(text.trim());
        }
        self.comment.clear();
    }

    fn skip_line<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(end) = end_of_line(bytes) else { return &[] };
        self.position = LinePosition::Start;
        &bytes[end + 1..]
    }

    /// Finishes reading and returns the result.
    pub fn finish(mut self) -> GcodeContents {
        if self.position == LinePosition::Comment {
            self.end_comment();
        }
        let content = self.ends.content(self.commands);
        let damage = self.binary.damage().filter(|_| content == Some(ContentType::BinaryGcode));
        let (metadata, plates) = match content {
            Some(ContentType::Gcode | ContentType::BinaryGcode) => {
                let (metadata, plate) = self.notes.into_parts();
                (metadata, vec![plate])
            }
            _ => Default::default(),
        };
        GcodeContents { content, metadata, plates, damage }
    }

    /// Finishes reading the text of a plate inside a package. Returns its metadata, the plate, and the maximum height
    /// of the print in millimetres.
    fn finish_plate(mut self) -> (Metadata, DetectedPlate, Option<f64>) {
        if self.position == LinePosition::Comment {
            self.end_comment();
        }
        let height = self.notes.height();
        let (metadata, plate) = self.notes.into_parts();
        (metadata, plate, height)
    }
}

fn end_of_line(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'))
}

#[cfg(test)]
mod tests;
