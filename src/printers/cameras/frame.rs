//! Recognises camera images by their bytes: a JPEG, a PNG, or a stream of JPEGs in the format that web pages display
//! (MJPEG). Pure.

use std::ops::Range;

/// Maximum number of bytes before the first image of a stream.
const MAX_HEAD_BYTES: usize = 4096;
/// Start of the boundary line between two images.
const DELIMITER: &[u8] = b"\r\n--";

/// Image format that may be passed on, because it contains nothing that a browser would execute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PictureKind {
    /// Format used by nearly every camera.
    Jpeg,
    /// Format used by Prusa printers.
    Png,
}

impl PictureKind {
    /// Determines the image format from the first bytes, regardless of the media type that the camera declares.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(&[0xFF, 0xD8, 0xFF]) {
            Some(Self::Jpeg)
        } else if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
            Some(Self::Png)
        } else {
            None
        }
    }

    /// Returns the media type of the format.
    pub const fn media(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
        }
    }

    /// Returns the usual file name extension of the format.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Jpeg => "jpg",
            Self::Png => "png",
        }
    }
}

/// Result of searching the data received so far for the first image of a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum FirstFrame {
    /// More bytes must be read.
    More,
    /// Byte range of the first complete image.
    At(Range<usize>),
    /// The data is not an image stream.
    Nothing,
}

/// Finds the first complete image of a stream (`multipart/x-mixed-replace`). The boundary is taken from the stream
/// itself, because the one in the camera's headers often differs. The first `scanned_bytes` bytes have already been
/// examined by an earlier call.
pub(super) fn first_frame(stream: &[u8], scanned_bytes: usize) -> FirstFrame {
    let Some(end) = find(stream, b"\r\n\r\n") else {
        return if stream.len() > MAX_HEAD_BYTES { FirstFrame::Nothing } else { FirstFrame::More };
    };
    if end > MAX_HEAD_BYTES {
        return FirstFrame::Nothing;
    }
    let (head, from) = (&stream[..end], end + 4);
    let rest = &stream[from..];
    let length = match content_length(head) {
        Some(length) if rest.len() < length => return FirstFrame::More,
        Some(length) => length,
        None => {
            let again = scanned_bytes.saturating_sub(from + DELIMITER.len()).min(rest.len());
            match find(&rest[again..], DELIMITER) {
                Some(length) => again + length,
                None => return FirstFrame::More,
            }
        }
    };
    FirstFrame::At(from..from + length)
}

/// Returns the content length declared in a part's header.
fn content_length(head: &[u8]) -> Option<usize> {
    let head = String::from_utf8_lossy(head);
    let mut members = head.lines().filter_map(|line| line.split_once(':'));
    let (_, length) = members.find(|(name, _)| name.trim().eq_ignore_ascii_case("content-length"))?;
    length.trim().parse().ok().filter(|length| *length > 0)
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_pictures_are_pictures() {
        assert_eq!(PictureKind::of(&[0xFF, 0xD8, 0xFF, 0xE0]), Some(PictureKind::Jpeg));
        assert_eq!(PictureKind::of(b"\x89PNG\r\n\x1a\n...."), Some(PictureKind::Png));
        for other in [b"<html>".as_slice(), b"<svg xmlns", b"GIF89a", b"\xFF\xD8", b"", b"RIFF....WEBP"] {
            assert_eq!(PictureKind::of(other), None);
        }
    }

    #[test]
    fn the_first_picture_of_a_stream_is_cut_out_with_and_without_a_length() {
        let with_length = b"--x\r\nContent-Type: image/jpeg\r\ncontent-length: 5\r\n\r\n\xFF\xD8\xFF..\r\n--x";
        let FirstFrame::At(range) = first_frame(with_length, 0) else { panic!("found") };
        assert_eq!(&with_length[range], b"\xFF\xD8\xFF..");
        let untold = b"\r\n--x\r\nContent-Type: image/jpeg\r\n\r\n\xFF\xD8\xFF\r\n-.\r\n--x\r\n";
        let FirstFrame::At(range) = first_frame(untold, 0) else { panic!("found") };
        assert_eq!(&untold[range], b"\xFF\xD8\xFF\r\n-.");
        for end in 0..untold.len() - 5 {
            assert_eq!(first_frame(&untold[..end], 0), FirstFrame::More, "{end}");
        }
        assert_eq!(first_frame(&[b'a'; 5000], 0), FirstFrame::Nothing);
        let boast = b"--x\r\nContent-Length: 99999999999999999999999\r\n\r\n\xFF";
        assert_eq!(first_frame(boast, 0), FirstFrame::More);
    }

    proptest! {
        #[test]
        fn a_stream_in_pieces_has_the_same_first_picture(
            picture in prop::collection::vec(prop_oneof![Just(b'\r'), Just(b'\n'), Just(b'-'), any::<u8>()], 1..60),
            has_length in any::<bool>(), piece in 1_usize..20,
        ) {
            let length = if has_length { format!("Content-Length: {}\r\n", picture.len()) } else { String::new() };
            let head = format!("--x\r\n{length}\r\n");
            // Without a line before the empty one there is no head.
            let head = if has_length { head } else { "--x\r\nA: b\r\n\r\n".to_owned() };
            let stream = [head.as_bytes(), &picture, b"\r\n--x\r\n"].concat();
            let whole = first_frame(&stream, 0);
            let (mut scanned_bytes, mut outcome) = (0, FirstFrame::More);
            while outcome == FirstFrame::More && scanned_bytes < stream.len() {
                let end = (scanned_bytes + piece).min(stream.len());
                outcome = first_frame(&stream[..end], scanned_bytes);
                scanned_bytes = end;
            }
            prop_assert_eq!(outcome, whole);
        }
    }
}
