//! JPEG format: segments with markers, and scans between them. Application and comment segments are cut out, except for
//! data needed for colours and orientation. Data after the end of the picture, such as a video or a second picture, is
//! dropped.

use super::{PictureFault, check_pixels, exif, fill, take};

/// Leading bytes of every JPEG.
pub(super) const BEGINNING: &[u8] = b"\xff\xd8\xff";

const SOI_MARKER: u8 = 0xd8;
const EOI_MARKER: u8 = 0xd9;
const SOS_MARKER: u8 = 0xda;
const APP0_MARKER: u8 = 0xe0;
const APP1_MARKER: u8 = 0xe1;
const APP2_MARKER: u8 = 0xe2;
const APP14_MARKER: u8 = 0xee;
const APP15_MARKER: u8 = 0xef;
const COM_MARKER: u8 = 0xfe;

/// Size of JFIF data without a preview, in bytes.
const JFIF_BYTES: usize = 14;

/// State of a JPEG picture that is being streamed.
#[derive(Debug, Default)]
pub(super) struct Jpeg {
    state: JpegState,
    /// `true` if the orientation has already been found.
    oriented: bool,
}

#[derive(Debug, Default)]
enum JpegState {
    /// Inside the two leading bytes.
    #[default]
    Start,
    /// At the second leading byte.
    Started,
    /// Before a segment's marker.
    Marker,
    /// After the `FF` of a marker, between segments.
    Code,
    /// Inside the length of a segment.
    Length { marker: u8, bytes: Vec<u8> },
    /// Inside a segment that is parsed as a whole, and therefore held in memory.
    Held { marker: u8, length: usize, data: Vec<u8> },
    /// Inside a segment that is kept; a scan may follow.
    Kept { marker: u8, left: u64 },
    /// Inside the data of a scan.
    Scan,
    /// After an `FF` in the data of a scan.
    ScanCode,
    /// After the end of the picture.
    End,
}

impl Jpeg {
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.state, JpegState::End)
    }

    pub(super) fn push(&mut self, mut piece: &[u8], output: &mut Vec<u8>) -> Result<(), PictureFault> {
        while let Some(&byte) = piece.first() {
            match &mut self.state {
                JpegState::Start | JpegState::Started => {
                    self.state = match (&self.state, byte) {
                        (JpegState::Start, 0xff) => JpegState::Started,
                        (JpegState::Started, SOI_MARKER) => JpegState::Marker,
                        _ => return Err(PictureFault::Damaged),
                    };
                    output.push(byte);
                    piece = &piece[1..];
                }
                JpegState::Marker => {
                    if byte != 0xff {
                        return Err(PictureFault::Damaged);
                    }
                    self.state = JpegState::Code;
                    piece = &piece[1..];
                }
                JpegState::Code => {
                    piece = &piece[1..];
                    self.code(byte, output)?;
                }
                JpegState::Length { marker, bytes } => {
                    if fill(bytes, &mut piece, 2) {
                        self.state = begin_segment(*marker, bytes, output)?;
                        self.settle(output)?;
                    }
                }
                JpegState::Held { length, data, .. } => {
                    let length = *length;
                    fill(data, &mut piece, length);
                    self.settle(output)?;
                }
                JpegState::Kept { left, .. } => {
                    let part = take(&mut piece, *left);
                    *left -= part.len() as u64;
                    output.extend_from_slice(part);
                    self.settle(output)?;
                }
                JpegState::Scan => {
                    let end = piece.iter().position(|byte| *byte == 0xff);
                    output.extend_from_slice(take(&mut piece, end.map_or(u64::MAX, |at| at as u64)));
                    if end.is_some() {
                        piece = &piece[1..];
                        self.state = JpegState::ScanCode;
                    }
                }
                JpegState::ScanCode => {
                    piece = &piece[1..];
                    match byte {
                        // A byte of the scan that looks like a marker, or a restart within the scan.
                        0x00 | 0xd0..=0xd7 => {
                            output.extend_from_slice(&[0xff, byte]);
                            self.state = JpegState::Scan;
                        }
                        marker => self.code(marker, output)?,
                    }
                }
                JpegState::End => return Ok(()),
            }
        }
        Ok(())
    }

    /// Handles the byte after the `FF` of a marker.
    fn code(&mut self, marker: u8, output: &mut Vec<u8>) -> Result<(), PictureFault> {
        self.state = match marker {
            // Any number of these may stand in front.
            0xff => return Ok(()),
            0x00 | SOI_MARKER => return Err(PictureFault::Damaged),
            EOI_MARKER => {
                output.extend_from_slice(&[0xff, EOI_MARKER]);
                JpegState::End
            }
            // Markers without data.
            0x01 | 0xd0..=0xd7 => {
                output.extend_from_slice(&[0xff, marker]);
                JpegState::Marker
            }
            marker => JpegState::Length { marker, bytes: Vec::with_capacity(2) },
        };
        Ok(())
    }

    /// Processes a segment whose data has been received completely.
    fn settle(&mut self, output: &mut Vec<u8>) -> Result<(), PictureFault> {
        match &self.state {
            JpegState::Held { marker, length, data } if data.len() == *length => {
                if is_frame(*marker) {
                    check_frame(data)?;
                }
                if let Some(data) = needed(*marker, data, &mut self.oriented) {
                    let length = u16::try_from(data.len() + 2).unwrap_or(u16::MAX);
                    output.extend_from_slice(&[0xff, *marker]);
                    output.extend_from_slice(&length.to_be_bytes());
                    output.extend_from_slice(&data);
                }
                self.state = JpegState::Marker;
            }
            JpegState::Kept { marker, left: 0 } => {
                self.state = if *marker == SOS_MARKER { JpegState::Scan } else { JpegState::Marker };
            }
            _ => {}
        }
        Ok(())
    }
}

/// Starts a segment whose length has been received. If the segment has to be parsed, it is held in memory; otherwise
/// its header is written.
fn begin_segment(marker: u8, bytes: &[u8], output: &mut Vec<u8>) -> Result<JpegState, PictureFault> {
    let length = bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
    let length = length.checked_sub(2).ok_or(PictureFault::Damaged)?;
    if is_frame(marker) || matches!(marker, APP0_MARKER..=APP15_MARKER | COM_MARKER) {
        return Ok(JpegState::Held { marker, length, data: Vec::new() });
    }
    output.extend_from_slice(&[0xff, marker]);
    output.extend_from_slice(bytes);
    Ok(JpegState::Kept { marker, left: length as u64 })
}

/// Returns whether a segment starts a frame, and therefore contains the picture's size.
const fn is_frame(marker: u8) -> bool {
    matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc)
}

/// Rejects a frame with too many pixels. A height of 0 is accepted, because it means that the height is defined only
/// after the first scan.
fn check_frame(data: &[u8]) -> Result<(), PictureFault> {
    let side = |at: usize| {
        let bytes = data.get(at..at + 2).ok_or(PictureFault::Damaged)?;
        Ok(u64::from(bytes[0]) << 8 | u64::from(bytes[1]))
    };
    let (height, width) = (side(1)?, side(3)?);
    check_pixels(width, if height == 0 { u64::from(u16::MAX) } else { height })
}

/// Returns the part of an application or comment segment to keep, if any.
fn needed(marker: u8, data: &[u8], oriented: &mut bool) -> Option<Vec<u8>> {
    match marker {
        APP0_MARKER if data.starts_with(b"JFIF\0") && data.len() >= JFIF_BYTES => {
            // Without its preview.
            let mut jfif = data[..JFIF_BYTES].to_vec();
            jfif[JFIF_BYTES - 2..].fill(0);
            Some(jfif)
        }
        APP1_MARKER if !*oriented => {
            let orientation = exif::orientation(data)?;
            *oriented = true;
            Some(exif::only_orientation(orientation).to_vec())
        }
        marker if is_frame(marker) => Some(data.to_vec()),
        APP2_MARKER if data.starts_with(b"ICC_PROFILE\0") => Some(data.to_vec()),
        APP14_MARKER if data.starts_with(b"Adobe") => Some(data.get(..12)?.to_vec()),
        _ => None,
    }
}
