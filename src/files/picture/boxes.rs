//! Boxes of the ISO base media format: nested records with a length, a type and a body.

use std::ops::Range;

use super::PictureFault;

/// Size of a box's length and type in bytes; for a box with a 64-bit length, it is [`LONG_HEAD_BYTES`].
pub(super) const HEAD_BYTES: usize = 8;
/// Size of a box's length, type and 64-bit length in bytes.
pub(super) const LONG_HEAD_BYTES: usize = 16;
/// Size, in bytes, of the version and flags at the start of some boxes' bodies.
pub(super) const VERSION_BYTES: usize = 4;

/// Location and type of a box in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct BoxPart {
    /// Four-character box type.
    pub(super) kind: [u8; 4],
    /// Box header offset.
    pub(super) start: usize,
    /// Box body range.
    pub(super) body: Range<usize>,
}

/// Parses the boxes that together fill the given range of the bytes.
pub(super) fn parts(bytes: &[u8], within: Range<usize>) -> Result<Vec<BoxPart>, PictureFault> {
    let mut boxes = Vec::new();
    let mut start = within.start;
    while start < within.end {
        let rest = bytes.get(start..within.end).ok_or(PictureFault::Damaged)?;
        let mut head = BigEndian(rest);
        let short = head.next(4)?;
        let kind = head.kind()?;
        let (head_bytes, length) = match short {
            0 => (HEAD_BYTES, rest.len() as u64),
            1 => (LONG_HEAD_BYTES, head.next(8)?),
            length => (HEAD_BYTES, length),
        };
        let length = usize::try_from(length).map_err(|_| PictureFault::Damaged)?;
        if length < head_bytes || length > rest.len() {
            return Err(PictureFault::Damaged);
        }
        boxes.push(BoxPart { kind, start, body: start + head_bytes..start + length });
        start += length;
    }
    Ok(boxes)
}

/// Reader for consecutive big-endian numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct BigEndian<'a>(pub(super) &'a [u8]);

impl BigEndian<'_> {
    /// Returns the next number, of at most eight bytes; 0 for a size of zero bytes.
    pub(super) fn next(&mut self, bytes: usize) -> Result<u64, PictureFault> {
        let (number, rest) = self.0.split_at_checked(bytes).ok_or(PictureFault::Damaged)?;
        self.0 = rest;
        Ok(number.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Returns the next four bytes as a type code.
    pub(super) fn kind(&mut self) -> Result<[u8; 4], PictureFault> {
        let (word, rest) = self.0.split_first_chunk().ok_or(PictureFault::Damaged)?;
        self.0 = rest;
        Ok(*word)
    }
}
