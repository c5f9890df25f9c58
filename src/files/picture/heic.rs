//! HEIC format: a description of items, followed by their data. A file in which the data comes first would have to be
//! read twice, so it is rejected; phones write the description first.

use std::ops::Range;

use super::boxes::{BigEndian, HEAD_BYTES, LONG_HEAD_BYTES};
use super::{PictureFault, append_zeros, fill, heic_items, take};

/// Maximum size of the description in bytes; phones write a few thousand.
const MAX_META_BYTES: u64 = 256 * 1024;
/// Maximum size, in bytes, of the brand list at the start of the file.
const MAX_BRANDS_BYTES: u64 = 1024;

/// State of a HEIC picture that is being streamed.
#[derive(Debug, Default)]
pub(super) struct Heic {
    state: HeicState,
    head: Vec<u8>,
    /// Number of bytes of the file received so far.
    at: u64,
    /// `true` if the brand list, the description and the data have been received.
    branded: bool,
    described: bool,
    filled: bool,
    /// Ranges of the file that contain metadata.
    ranges: Vec<Range<u64>>,
}

#[derive(Debug, Default)]
enum HeicState {
    /// Inside the header of a box.
    #[default]
    Head,
    /// Inside the description.
    Meta { length: usize, body: Vec<u8> },
    /// Inside a box that is kept except for metadata, or dropped entirely. If `left` is `None`, the box extends to the
    /// end of the file.
    Body { left: Option<u64>, is_kept: bool },
}

impl Heic {
    pub(super) fn is_whole(&self) -> bool {
        let complete = match &self.state {
            HeicState::Head => self.head.is_empty(),
            HeicState::Meta { .. } => false,
            HeicState::Body { left, .. } => left.is_none(),
        };
        complete && self.described && self.filled
    }

    pub(super) fn push(&mut self, mut piece: &[u8], output: &mut Vec<u8>) -> Result<(), PictureFault> {
        while !piece.is_empty() {
            let before = piece.len();
            match &mut self.state {
                HeicState::Head => {
                    let long = |head: &[u8]| head.starts_with(&[0, 0, 0, 1]);
                    let whole = fill(&mut self.head, &mut piece, HEAD_BYTES)
                        && (!long(&self.head) || fill(&mut self.head, &mut piece, LONG_HEAD_BYTES));
                    self.at += (before - piece.len()) as u64;
                    if whole {
                        self.state = self.begin(output)?;
                        self.head.clear();
                        self.settle(output)?;
                    }
                }
                HeicState::Meta { length, body } => {
                    let length = *length;
                    fill(body, &mut piece, length);
                    self.at += (before - piece.len()) as u64;
                    self.settle(output)?;
                }
                HeicState::Body { left, is_kept } => {
                    let part = take(&mut piece, left.unwrap_or(u64::MAX));
                    *left = left.map(|left| left - part.len() as u64);
                    if *is_kept {
                        let begin = output.len();
                        output.extend_from_slice(part);
                        heic_items::overwrite(&mut output[begin..], self.at, &self.ranges);
                    } else {
                        append_zeros(output, part.len());
                    }
                    self.at += part.len() as u64;
                    self.settle(output)?;
                }
            }
        }
        Ok(())
    }

    /// Starts processing the box whose header has been read.
    fn begin(&mut self, output: &mut Vec<u8>) -> Result<HeicState, PictureFault> {
        let mut numbers = BigEndian(&self.head);
        let short = numbers.next(4)?;
        let kind = numbers.kind()?;
        let length = if short == 1 { numbers.next(8)? } else { short };
        let left = match short {
            0 => None,
            _ => Some(length.checked_sub(self.head.len() as u64).ok_or(PictureFault::Damaged)?),
        };
        if self.branded == (&kind == b"ftyp") {
            // The brands stand at the beginning, and nowhere else.
            return Err(PictureFault::Damaged);
        }
        self.branded = true;
        let bounded = |most: u64| left.filter(|left| *left <= most).ok_or(PictureFault::Unusual);
        let state = match &kind {
            b"ftyp" => HeicState::Body { left: Some(bounded(MAX_BRANDS_BYTES)?), is_kept: true },
            b"meta" if self.described => return Err(PictureFault::Damaged),
            b"meta" => {
                let length = usize::try_from(bounded(MAX_META_BYTES)?).map_err(|_| PictureFault::Unusual)?;
                HeicState::Meta { length, body: Vec::new() }
            }
            b"mdat" if !self.described => return Err(PictureFault::Unusual),
            b"mdat" => {
                self.filled = true;
                HeicState::Body { left, is_kept: true }
            }
            _ => HeicState::Body { left, is_kept: false },
        };
        if matches!(state, HeicState::Body { is_kept: false, .. }) {
            self.head[4..8].copy_from_slice(b"free");
        }
        output.extend_from_slice(&self.head);
        Ok(state)
    }

    /// Processes a box that has been received completely.
    fn settle(&mut self, output: &mut Vec<u8>) -> Result<(), PictureFault> {
        match &mut self.state {
            HeicState::Meta { length, body } if body.len() == *length => {
                self.ranges = heic_items::clean(body, self.at - *length as u64)?;
                self.described = true;
                output.append(body);
                self.state = HeicState::Head;
            }
            HeicState::Body { left: Some(0), .. } => self.state = HeicState::Head,
            _ => {}
        }
        Ok(())
    }
}
