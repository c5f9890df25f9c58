//! Thumbnails in comments: `thumbnail begin 32x32 1234`, lines of base64, `thumbnail end`. Formats other than PNG use
//! differently named blocks (`thumbnail_JPG begin`) and are skipped.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::picture_format::fits_a_screen;

/// Maximum size of a thumbnail, in base64 characters.
const MAX_PICTURE_CHARS: usize = 4 << 20;

/// Thumbnail embedded by the slicer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thumbnail {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Contents of the PNG file.
    pub png: Vec<u8>,
}

impl Thumbnail {
    fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

/// Collector for thumbnails that keeps the largest valid one.
#[derive(Debug, Default)]
pub(super) struct Thumbnails {
    best: Option<Thumbnail>,
    open: Option<ThumbnailBlock>,
}

#[derive(Debug)]
struct ThumbnailBlock {
    width: u32,
    height: u32,
    base64: String,
    fits: bool,
}

impl Thumbnails {
    /// Reads a comment line; returns whether the line belonged to a thumbnail.
    pub(super) fn take(&mut self, text: &str) -> bool {
        if let Some(size) = text.strip_prefix("thumbnail begin ") {
            self.open = block(size);
            return true;
        }
        if text.starts_with("thumbnail end") {
            self.close();
            return true;
        }
        let Some(open) = &mut self.open else { return false };
        open.fits &= open.base64.len() + text.len() <= MAX_PICTURE_CHARS;
        if open.fits {
            open.base64.push_str(text);
        }
        true
    }

    fn close(&mut self) {
        let Some(ThumbnailBlock { width, height, base64, fits: true }) = self.open.take() else {
            return;
        };
        let Ok(png) = STANDARD.decode(base64) else { return };
        self.offer(Thumbnail { width, height, png });
    }

    /// Stores the thumbnail if it is a PNG and the largest so far.
    pub(super) fn offer(&mut self, candidate: Thumbnail) {
        let larger = self.best.as_ref().is_none_or(|best| candidate.pixels() > best.pixels());
        // The size that the picture itself tells counts for whoever shows it.
        let side = |at: usize| Some(u64::from(u32::from_be_bytes(candidate.png.get(at..at + 4)?.try_into().ok()?)));
        let is_shown = side(16).zip(side(20)).is_none_or(|(width, height)| fits_a_screen(width, height));
        if larger && is_shown && candidate.png.starts_with(super::content::PNG) {
            self.best = Some(candidate);
        }
    }

    pub(super) fn into_best(self) -> Option<Thumbnail> {
        self.best
    }
}

/// Parses the header of a thumbnail block: `32x32 1234`.
fn block(text: &str) -> Option<ThumbnailBlock> {
    let (width, height) = text.split_whitespace().next()?.split_once('x')?;
    Some(ThumbnailBlock { width: width.parse().ok()?, height: height.parse().ok()?, base64: String::new(), fits: true })
}
