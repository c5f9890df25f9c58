//! Finds what an uploaded file is and what a slicer wrote into it, while the file streams by.
//!
//! Of the file only one line, a thumbnail and its first and last bytes are held, so that a file of a gigabyte costs
//! no memory. The result does not depend on how the file was cut into chunks. Nothing is sliced here, and the
//! commands of the G-code are not checked.

mod binary;
mod comment;
mod content;
mod extents;
mod heatshrink;
mod notes;
mod others;
mod package;
mod project;
mod tags;
mod thumbnail;
mod tools;

pub use content::Content;
pub use extents::Extents;
pub use package::{open_archive, read_package};
pub use thumbnail::Thumbnail;

use crate::domain::amount::Amount;
use crate::domain::file::Plate;
use crate::domain::sku::Dimensions;
use content::FileEnds;
use notes::Notes;

/// Length limit of a comment line that is read, in bytes; longer ones (embedded macros) contain nothing of use.
const MAX_COMMENT_BYTES: usize = 4096;

/// What a slicer wrote about a print. `None` is unknown: nothing is guessed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    /// Name and version of the slicer, as in `PrusaSlicer 2.5.0`.
    pub slicer: Option<String>,
    /// Estimated print time in seconds.
    pub seconds: Option<i64>,
    /// Weight of the filament of all extruders in grams.
    pub grams: Option<Amount>,
    /// Length of the filament of all extruders in millimetres.
    pub filament_mm: Option<f64>,
    /// The largest PNG picture in the file.
    pub thumbnail: Option<Thumbnail>,
    /// Number of layers; `None` where the slicer does not state it.
    pub layers: Option<u32>,
    /// Size of the print in millimetres.
    pub size: Option<Dimensions>,
}

/// A plate that was found, with the picture of it that is not stored yet.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundPlate {
    /// What the slicer wrote about it; without the hash of its picture.
    pub plate: Plate,
    /// Its own picture. The one plate of plain G-code has none besides that of the file.
    pub thumbnail: Option<Thumbnail>,
}

/// The result of [`GcodeReader::finish`].
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// What the file is by its bytes, whatever its name says; `None` if unknown.
    pub content: Option<Content>,
    /// What the slicer wrote; empty unless the content is G-code, as text or binary.
    pub metadata: Metadata,
    /// The plates: one of G-code as text or binary, those of a package once [`read_package`] has read it.
    pub plates: Vec<FoundPlate>,
    /// What is wrong with the file; only formats with checksums tell.
    pub damage: Option<Damage>,
}

/// Why a file cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The file ends in the middle.
    #[error("the file is cut off: upload it again")]
    CutOff,
    /// The bytes do not fit their checksum.
    #[error("a checksum in the file is wrong: it was damaged, upload it again")]
    Checksum,
    /// It has more parts than files of its kind have; reading it would take too long.
    #[error("the file has more parts than any print needs: export it again")]
    TooManyParts,
    /// Whoever shows the picture would need more memory than a browser has.
    #[error("the picture has too many pixels: save it smaller and upload that")]
    TooManyPixels,
    /// The version of the format is not known.
    #[error("this version of binary G-code is not supported: export it as text")]
    Unknown,
}

/// Reads a file that is handed over chunk by chunk.
#[derive(Debug, Default)]
pub struct GcodeReader {
    position: LinePosition,
    comment: Vec<u8>,
    ends: FileEnds,
    notes: Notes,
    binary: binary::Binary,
    commands: bool,
}

/// Where in a line the reader is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LinePosition {
    /// Before the first character of the line.
    #[default]
    Start,
    /// After a letter with which commands begin.
    Letter,
    /// After the `;` with which a comment line begins.
    Comment,
    /// In the rest of a line that is not read.
    Rest,
}

impl GcodeReader {
    /// A reader at the beginning of a file.
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

    /// Reads a comment up to the end of its line or of the chunk; returns the bytes after it.
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

    /// Ends the file and returns what was found.
    pub fn finish(mut self) -> Found {
        if self.position == LinePosition::Comment {
            self.end_comment();
        }
        let content = self.ends.content(self.commands);
        let damage = self.binary.damage().filter(|_| content == Some(Content::BinaryGcode));
        let (metadata, plates) = match content {
            Some(Content::Gcode | Content::BinaryGcode) => {
                let (metadata, plate) = self.notes.found();
                (metadata, vec![plate])
            }
            _ => Default::default(),
        };
        Found { content, metadata, plates, damage }
    }

    /// Ends the text of a plate inside a package: what it says, and the greatest height of the print in millimetres.
    fn finish_plate(mut self) -> (Metadata, FoundPlate, Option<f64>) {
        if self.position == LinePosition::Comment {
            self.end_comment();
        }
        let height = self.notes.height();
        let (metadata, plate) = self.notes.found();
        (metadata, plate, height)
    }
}

fn end_of_line(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'))
}

#[cfg(test)]
mod tests;
