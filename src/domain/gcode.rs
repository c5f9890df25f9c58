//! What an uploaded file is and what a slicer wrote into it, found while the file streams by: nothing of it is kept but
//! one line, a thumbnail and two small windows, so a file of a gigabyte costs no memory. How the file was cut into
//! chunks never changes the result.
//!
//! Not for slicing, and not for checking what the commands do.

mod binary;
mod comment;
mod content;
mod heatshrink;
mod notes;
mod package;
mod thumbnail;

pub use content::Content;
pub use package::read_package;
pub use thumbnail::Thumbnail;

use crate::domain::amount::Amount;
use crate::domain::sku::Dimensions;

use content::Windows;
use notes::Notes;

/// Longest comment line that is looked at, in bytes; longer ones (a slicer's embedded macros) hold nothing for us.
const LONGEST_COMMENT: usize = 4096;

/// What a slicer wrote about a print. Absent is unknown: nothing here is guessed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    /// Name and version of the slicer, as in `PrusaSlicer 2.5.0`.
    pub slicer: Option<String>,
    /// Estimated time of the print.
    pub seconds: Option<i64>,
    /// Weight of the filament in grams, over all extruders.
    pub grams: Option<Amount>,
    /// Length of the filament, in millimetres, over all extruders.
    pub filament_mm: Option<f64>,
    /// The largest picture in PNG.
    pub thumbnail: Option<Thumbnail>,
    /// Layers of the print.
    pub layers: Option<u32>,
    /// What the print takes of the build volume, in millimetres.
    pub size: Option<Dimensions>,
}

/// What [`Reader::finish`] tells of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// What the bytes are, whatever the file's name says; None: nothing that we know.
    pub content: Option<Content>,
    /// What the slicer wrote; empty unless the content is G-code, as text or binary.
    pub metadata: Metadata,
    /// What is wrong with it, where its form tells.
    pub damage: Option<Damage>,
}

/// What is wrong with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// It ends in the middle.
    #[error("the file is cut off: upload it again")]
    CutOff,
    /// Its bytes are not those that were written.
    #[error("a checksum in the file is wrong: it was damaged on its way")]
    Checksum,
    /// A version of its form that nobody knew when this was written.
    #[error("this version of binary G-code is not known")]
    Unknown,
}

/// Reads one file, handed over chunk by chunk.
#[derive(Debug, Default)]
pub struct Reader {
    place: Place,
    comment: Vec<u8>,
    windows: Windows,
    notes: Notes,
    binary: binary::Binary,
    commands: bool,
}

/// Where in a line the reader is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Before the first character of the line.
    #[default]
    Start,
    /// After a letter that begins commands.
    Letter,
    /// After the `;` that begins a comment line.
    Comment,
    /// In what does not matter.
    Rest,
}

impl Reader {
    /// A reader at the beginning of a file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes of the file.
    pub fn push(&mut self, chunk: &[u8]) {
        self.windows.push(chunk);
        self.binary.push(chunk, &mut self.notes);
        if self.windows.is_binary() {
            return;
        }
        let mut left = chunk;
        while let Some(&byte) = left.first() {
            left = match self.place {
                Place::Start => {
                    self.place = match byte {
                        b';' => Place::Comment,
                        b'G' | b'M' | b'T' => Place::Letter,
                        b' ' | b'\t' | b'\r' | b'\n' => Place::Start,
                        _ => Place::Rest,
                    };
                    &left[1..]
                }
                Place::Letter => {
                    self.commands |= byte.is_ascii_digit();
                    self.place = Place::Rest;
                    left
                }
                Place::Comment => self.take_comment(left),
                Place::Rest => self.skip_line(left),
            };
        }
    }

    /// Takes a comment up to the end of its line or of the chunk; answers what follows.
    fn take_comment<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let end = end_of_line(bytes);
        let text = &bytes[..end.unwrap_or(bytes.len())];
        // One byte more than the longest tells that the line was too long.
        let room = LONGEST_COMMENT + 1 - self.comment.len();
        self.comment.extend_from_slice(&text[..text.len().min(room)]);
        let Some(end) = end else { return &[] };
        self.end_comment();
        self.place = Place::Start;
        &bytes[end + 1..]
    }

    fn end_comment(&mut self) {
        if self.comment.len() <= LONGEST_COMMENT
            && let Ok(text) = std::str::from_utf8(&self.comment)
        {
            self.notes.comment(text.trim());
        }
        self.comment.clear();
    }

    fn skip_line<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(end) = end_of_line(bytes) else { return &[] };
        self.place = Place::Start;
        &bytes[end + 1..]
    }

    /// What the file was.
    pub fn finish(mut self) -> Found {
        if self.place == Place::Comment {
            self.end_comment();
        }
        let content = self.windows.content(self.commands);
        let damage = self.binary.damage().filter(|_| content == Some(Content::BinaryGcode));
        let metadata = match content {
            Some(Content::Gcode | Content::BinaryGcode) => self.notes.metadata(),
            _ => Metadata::default(),
        };
        Found { content, metadata, damage }
    }
}

fn end_of_line(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'))
}

#[cfg(test)]
mod tests;
