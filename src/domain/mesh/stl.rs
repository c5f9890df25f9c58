//! STL: a list of facets with three corners each, in binary or text form.

use std::io::Read;

use super::{CHUNK_BYTES, Corner, MeasureError, MeshFacts, MeshFault, Solid, timed_out};

/// Bytes before the first facet in binary form: a comment and the number of facets.
const HEADER_BYTES: usize = 84;
/// Bytes per facet in binary form: its normal, three corners, and two unused bytes.
const FACET_BYTES: usize = 50;
/// Maximum length, in bytes, of a significant word in text form; longer words are names.
const MAX_WORD_BYTES: usize = 64;

/// Fills the buffer as far as the file allows, and returns the number of bytes read.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

/// Reads the corner that begins at the given byte of a binary facet.
fn corner(facet: &[u8], at: usize) -> Corner {
    let coordinate = |axis: usize| {
        let from = at + 4 * axis;
        let bytes = facet.get(from..from + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(f64::NAN, |bytes| f64::from(f32::from_le_bytes(bytes)))
    };
    [coordinate(0), coordinate(1), coordinate(2)]
}

/// Measures the binary form. Its header must state the number of facets.
pub(super) fn binary(mut file: impl Read, may_go_on: &mut dyn FnMut() -> bool) -> Result<MeshFacts, MeasureError> {
    let mut header = [0; HEADER_BYTES];
    if fill(&mut file, &mut header)? < HEADER_BYTES {
        return Err(MeshFault::Damaged.into());
    }
    let stated_count = header.last_chunk().map_or(0, |count| u64::from(u32::from_le_bytes(*count)));
    let (mut solid, mut chunk) = (Solid::new(), vec![0; CHUNK_BYTES / FACET_BYTES * FACET_BYTES]);
    loop {
        let filled = fill(&mut file, &mut chunk)?;
        let facets = chunk[..filled].chunks_exact(FACET_BYTES);
        if !facets.remainder().is_empty() {
            return Err(MeshFault::Damaged.into());
        }
        for facet in facets {
            solid.facet([corner(facet, 12), corner(facet, 24), corner(facet, 36)])?;
        }
        if filled < chunk.len() {
            break;
        }
        if !may_go_on() {
            return Err(timed_out());
        }
    }
    if solid.facets != stated_count {
        return Err(MeshFault::Damaged.into());
    }
    Ok(solid.facts()?)
}

/// Parser state of the text form.
struct AsciiStlParser {
    solid: Solid,
    /// Coordinates of the current facet.
    numbers: Vec<f64>,
    /// Number of coordinates still expected for a corner.
    expected: usize,
}

impl AsciiStlParser {
    fn word(&mut self, word: &[u8]) -> Result<(), MeshFault> {
        if self.expected > 0 {
            let text = std::str::from_utf8(word).map_err(|_| MeshFault::Damaged)?;
            self.numbers.push(text.parse().map_err(|_| MeshFault::Damaged)?);
            self.expected -= 1;
            return Ok(());
        }
        if word.eq_ignore_ascii_case(b"vertex") {
            if self.numbers.len() >= 9 {
                return Err(MeshFault::Damaged);
            }
            self.expected = 3;
        } else if word.eq_ignore_ascii_case(b"endfacet") {
            let Ok(all) = <[f64; 9]>::try_from(self.numbers.as_slice()) else { return Err(MeshFault::Damaged) };
            let corner = |at: usize| [all[at], all[at + 1], all[at + 2]];
            self.solid.facet([corner(0), corner(3), corner(6)])?;
            self.numbers.clear();
        }
        Ok(())
    }
}

/// Measures the text form.
pub(super) fn text(mut file: impl Read, may_go_on: &mut dyn FnMut() -> bool) -> Result<MeshFacts, MeasureError> {
    let mut words = AsciiStlParser { solid: Solid::new(), numbers: Vec::with_capacity(9), expected: 0 };
    let (mut chunk, mut word) = (vec![0; CHUNK_BYTES], Vec::with_capacity(MAX_WORD_BYTES));
    loop {
        let filled = fill(&mut file, &mut chunk)?;
        for byte in &chunk[..filled] {
            if !byte.is_ascii_whitespace() {
                // One byte more than counts, so that a word that is cut is not mistaken for a whole one.
                if word.len() <= MAX_WORD_BYTES {
                    word.push(*byte);
                }
            } else if !word.is_empty() {
                words.word(&word)?;
                word.clear();
            }
        }
        if filled < chunk.len() {
            break;
        }
        if !may_go_on() {
            return Err(timed_out());
        }
    }
    if !word.is_empty() {
        words.word(&word)?;
    }
    if words.expected > 0 || !words.numbers.is_empty() {
        return Err(MeshFault::Damaged.into());
    }
    Ok(words.solid.facts()?)
}
