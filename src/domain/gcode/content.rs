//! Detection of a file's type from its bytes, because names may be wrong. Requires the beginning of the file and, for a
//! zip archive, the end.

use crate::file::FileKind;

/// Number of bytes kept from the beginning of the file.
const HEAD_BYTES: usize = 4096;
/// Number of bytes kept from the end of the file: enough for the central directory of a 3MF archive.
const TAIL_BYTES: usize = 64 * 1024;

/// First bytes of every PNG file.
pub(super) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
/// First bytes of every zip archive.
pub(super) const ZIP: &[u8] = b"PK\x03\x04";

/// Type of a file's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentType {
    /// G-code as text, from any slicer.
    Gcode,
    /// G-code in Prusa's binary format.
    BinaryGcode,
    /// 3MF package with sliced G-code, as written by Bambu Studio and OrcaSlicer.
    SlicedThreeMf,
    /// Mesh as text STL.
    AsciiStl,
    /// Mesh as binary STL.
    BinaryStl,
    /// 3MF package with a model.
    ThreeMf,
    /// PNG image, recognised by its signature.
    Png,
    /// JPEG image, recognised by its signature.
    Jpeg,
    /// WebP image, recognised by its signature.
    WebP,
    /// HEIC image, as taken by phones.
    Heic,
}

impl ContentType {
    /// Returns the kind of a file with the given content type.
    pub fn kind(self) -> FileKind {
        match self {
            Self::Gcode | Self::BinaryGcode | Self::SlicedThreeMf => FileKind::Gcode,
            Self::AsciiStl | Self::BinaryStl | Self::ThreeMf => FileKind::Model,
            Self::Png | Self::Jpeg | Self::WebP | Self::Heic => FileKind::Image,
        }
    }
}

/// Beginning, end and size of a streamed file.
#[derive(Debug, Default)]
pub(super) struct FileEnds {
    head: Vec<u8>,
    tail: Vec<u8>,
    size: u64,
}

impl FileEnds {
    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.size += chunk.len() as u64;
        let room = HEAD_BYTES - self.head.len();
        self.head.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() >= TAIL_BYTES {
            self.tail.clear();
            self.tail.extend_from_slice(&chunk[chunk.len() - TAIL_BYTES..]);
            return;
        }
        // The buffer is moved only once it has doubled, so that small chunks stay cheap.
        if self.tail.len() + chunk.len() > 2 * TAIL_BYTES {
            let keep = TAIL_BYTES - chunk.len();
            self.tail.drain(..self.tail.len() - keep);
        }
        self.tail.extend_from_slice(chunk);
    }

    /// Returns whether the file definitely contains no lines of text.
    pub(super) fn is_binary(&self) -> bool {
        self.head.contains(&0)
    }

    /// Returns the content type of the file; `commands` is `true` if any of its lines starts like a G-code command.
    pub(super) fn content(&self, commands: bool) -> Option<ContentType> {
        let head = self.head.as_slice();
        let brand = head.get(8..12).unwrap_or_default();
        if head.starts_with(PNG) {
            Some(ContentType::Png)
        } else if head.starts_with(b"\xff\xd8\xff") {
            Some(ContentType::Jpeg)
        } else if head.starts_with(b"RIFF") && brand == b"WEBP" {
            Some(ContentType::WebP)
        } else if head.get(4..8) == Some(b"ftyp")
            && [b"heic", b"heix", b"hevc", b"mif1", b"msf1"].iter().any(|b| brand == *b)
        {
            Some(ContentType::Heic)
        } else if head.starts_with(b"GCDE") {
            Some(ContentType::BinaryGcode)
        } else if head.starts_with(ZIP) {
            self.package()
        } else if self.is_binary_stl() {
            // Checked before the text form, because many binary files begin with "solid" too.
            Some(ContentType::BinaryStl)
        } else if !is_text(head) {
            None
        } else if is_ascii_stl(head) {
            Some(ContentType::AsciiStl)
        } else {
            (commands && begins_like_gcode(head)).then_some(ContentType::Gcode)
        }
    }

    /// Detects a 3MF package, with sliced plates or with a model part, from the central directory at the end of the
    /// archive.
    fn package(&self) -> Option<ContentType> {
        let end = &self.tail[self.tail.len().saturating_sub(TAIL_BYTES)..];
        let names = end.windows(4).enumerate().filter(|(_, bytes)| *bytes == b"PK\x01\x02").filter_map(|(at, _)| {
            let length = u16::from_le_bytes(end.get(at + 28..at + 30)?.try_into().ok()?);
            end.get(at + 46..at + 46 + usize::from(length))
        });
        let mut content = None;
        for name in names {
            let name = name.strip_prefix(b"/").unwrap_or(name).to_ascii_lowercase();
            if name.starts_with(b"metadata/plate_") && name.ends_with(b".gcode") {
                return Some(ContentType::SlicedThreeMf);
            }
            if name.starts_with(b"3d/") && name.ends_with(b".model") {
                content = Some(ContentType::ThreeMf);
            }
        }
        content
    }

    /// Returns whether the file has exactly the size implied by the number of facets in its header.
    fn is_binary_stl(&self) -> bool {
        let count = self.head.get(80..84).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes);
        count > 0 && self.size == 84 + 50 * u64::from(count)
    }
}

/// Returns whether the bytes are text; the final character may be truncated.
fn is_text(head: &[u8]) -> bool {
    let valid = match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    valid && !head.iter().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace())
}

fn is_ascii_stl(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    head.starts_with(b"solid") && [b"facet".as_slice(), b"endsolid"].iter().any(|word| contains(head, word))
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

/// Returns whether the first line is a comment, a command (`G28`, `N10 G1 X1`) or a macro (`START_PRINT BED=60`).
fn begins_like_gcode(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let word = head.split(|byte| byte.is_ascii_whitespace() || *byte == b';').next().unwrap_or_default();
    let upper = word.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"_.-*".contains(byte));
    head.starts_with(b";") || head.starts_with(b"%") || head.starts_with(b"(") || (upper && !word.is_empty())
}
