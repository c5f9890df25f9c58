//! File formats of uploaded pictures.

use serde::{Deserialize, Serialize};

/// Encoding of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PictureFormat {
    /// JPEG, the format of most cameras.
    Jpeg,
    /// PNG, the format of screenshots.
    Png,
    /// WebP, lossy or lossless.
    Webp,
    /// HEIC, the format of one manufacturer's phones.
    Heic,
}

impl PictureFormat {
    /// Returns the media type.
    pub const fn media(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::Webp => "image/webp",
            Self::Heic => "image/heic",
        }
    }

    /// Returns the file name extension, without the dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Jpeg => "jpg",
            Self::Png => "png",
            Self::Webp => "webp",
            Self::Heic => "heic",
        }
    }
}

/// Maximum length of a picture's side, in pixels.
const MAX_SIDE_PIXELS: u64 = 30_000;
/// Maximum number of pixels in a picture. Most phones take pictures of up to 50 million pixels, some of 108 million;
/// displaying larger pictures needs gigabytes of memory.
const MAX_PIXELS: u64 = 120_000_000;

/// Returns whether a picture of the given width and height, in pixels, is small enough to be displayed.
pub const fn fits_a_screen(width: u64, height: u64) -> bool {
    width <= MAX_SIDE_PIXELS && height <= MAX_SIDE_PIXELS && width * height <= MAX_PIXELS
}
