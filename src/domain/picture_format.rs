//! The formats of pictures that people send.

use serde::{Deserialize, Serialize};

/// How a picture is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PictureFormat {
    /// JPEG, as most cameras write it.
    Jpeg,
    /// PNG, as screenshots are.
    Png,
    /// WebP, lossy or not.
    Webp,
    /// HEIC, as phones of one maker take it.
    Heic,
}

impl PictureFormat {
    /// Its media type.
    pub const fn media(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::Webp => "image/webp",
            Self::Heic => "image/heic",
        }
    }

    /// How names of such files end, without the dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Jpeg => "jpg",
            Self::Png => "png",
            Self::Webp => "webp",
            Self::Heic => "heic",
        }
    }
}

/// Longest side of a picture, in pixels.
const MAX_SIDE_PIXELS: u64 = 30_000;
/// Most pixels of a picture. Phones take 50 million, some of them 108; whoever shows more needs gigabytes of memory.
const MAX_PIXELS: u64 = 120_000_000;

/// Whether a picture of this width and height, in pixels, may be shown to people.
pub const fn fits_a_screen(width: u64, height: u64) -> bool {
    width <= MAX_SIDE_PIXELS && height <= MAX_SIDE_PIXELS && width * height <= MAX_PIXELS
}
