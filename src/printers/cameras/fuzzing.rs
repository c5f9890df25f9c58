//! Entry of the fuzz target for streams of pictures.

use super::frame::{FirstFrame, PictureKind, first_frame};

/// Looks for the first picture in a stream. The outcome must not depend on how the stream was received.
pub(crate) fn parse(stream: &[u8]) {
    let whole = first_frame(stream, 0);
    let half = stream.len() / 2;
    if first_frame(&stream[..half], 0) == FirstFrame::More {
        assert_eq!(first_frame(stream, half), whole);
    }
    if let FirstFrame::At(range) = whole {
        let _ = PictureKind::of(&stream[range]);
    }
}
