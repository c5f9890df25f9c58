//! Streaming reader for the tags of a large XML file. Text between tags is ignored; document type definitions are
//! rejected, because entities could expand without limit.

use std::io::Read;

use super::{CHUNK_BYTES, MeasureError, MeshFault, timed_out};

/// Maximum length of a tag, in bytes; the tags of a mesh have a few dozen.
const MAX_TAG_BYTES: usize = 16 * 1024;
/// Maximum nesting depth of elements.
const MAX_DEPTH: u32 = 64;

/// Tag with its unparsed attributes.
pub(super) struct XmlTag<'a> {
    /// Name without the namespace prefix.
    pub(super) name: &'a str,
    /// `true` for an end tag.
    pub(super) ends: bool,
    attributes: &'a str,
}

impl<'a> XmlTag<'a> {
    /// Returns the raw value of an attribute. Escapes are not resolved, because numbers and IDs contain none.
    pub(super) fn get(&self, key: &str) -> Option<&'a str> {
        let mut rest = self.attributes;
        loop {
            let (name, behind) = rest.split_once('=')?;
            let behind = behind.trim_start();
            let quote = behind.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let (value, behind) = behind[1..].split_once(quote)?;
            let name = name.trim();
            if name == key || name.rsplit_once(':').is_some_and(|(_, local)| local == key) {
                return Some(value);
            }
            rest = behind;
        }
    }

    /// Parses an attribute as a number.
    pub(super) fn number(&self, name: &str) -> Result<f64, MeshFault> {
        self.get(name).and_then(|text| text.trim().parse().ok()).ok_or(MeshFault::Damaged)
    }

    /// Parses an attribute as an index.
    pub(super) fn index(&self, name: &str) -> Result<u32, MeshFault> {
        self.get(name).and_then(|text| text.trim().parse().ok()).ok_or(MeshFault::Damaged)
    }
}

/// Calls `tell` for each tag of a file. A self-closing tag (`<vertex/>`) is reported once, as a start tag.
pub(super) fn tags(
    mut file: impl Read,
    may_go_on: &mut dyn FnMut() -> bool,
    mut tell: impl FnMut(&XmlTag<'_>) -> Result<(), MeshFault>,
) -> Result<(), MeasureError> {
    let (mut chunk, mut tag) = (vec![0; CHUNK_BYTES], Vec::with_capacity(256));
    let (mut inside, mut quote, mut depth) = (false, None, 0u32);
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            break;
        }
        for byte in chunk[..read].iter().copied() {
            if !inside {
                inside = byte == b'<';
                continue;
            }
            let comment = tag.starts_with(b"!--");
            let ended = match (byte, quote) {
                (b'>', _) if comment => tag.ends_with(b"--") && tag.len() >= 5,
                (_, _) if comment => false,
                (b'"' | b'\'', None) => {
                    quote = Some(byte);
                    false
                }
                (byte, Some(open)) if byte == open => {
                    quote = None;
                    false
                }
                (byte, None) => byte == b'>',
                _ => false,
            };
            if !ended {
                if tag.len() >= MAX_TAG_BYTES {
                    return Err(MeshFault::Damaged.into());
                }
                tag.push(byte);
                continue;
            }
            if !comment {
                one(&tag, &mut depth, &mut tell)?;
            }
            tag.clear();
            inside = false;
        }
        if !may_go_on() {
            return Err(timed_out());
        }
    }
    if inside || depth != 0 { Err(MeshFault::Damaged.into()) } else { Ok(()) }
}

/// Parses the text between `<` and `>`.
fn one(
    tag: &[u8],
    depth: &mut u32,
    tell: &mut impl FnMut(&XmlTag<'_>) -> Result<(), MeshFault>,
) -> Result<(), MeshFault> {
    let text = std::str::from_utf8(tag).map_err(|_| MeshFault::Damaged)?;
    if text.starts_with('?') {
        return Ok(());
    }
    if text.starts_with('!') {
        return Err(MeshFault::Damaged);
    }
    let (ends, text) = text.strip_prefix('/').map_or((false, text), |rest| (true, rest));
    let (alone, text) = text.strip_suffix('/').map_or((false, text), |rest| (true, rest));
    let text = text.trim();
    let (name, attributes) = text.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((text, ""));
    let name = name.rsplit_once(':').map_or(name, |(_, local)| local);
    if ends {
        *depth = depth.checked_sub(1).ok_or(MeshFault::Damaged)?;
    } else if !alone {
        *depth += 1;
        if *depth > MAX_DEPTH {
            return Err(MeshFault::TooLarge);
        }
    }
    tell(&XmlTag { name, ends, attributes })
}
