//! File formats of uploaded images.

use serde::{Deserialize, Serialize};

/// Encoding of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PictureFormat {
    /// JPEG, the format used by most cameras.
    Jpeg,
    /// PNG, the format used for screenshots.
    Png,
    /// WebP, lossy or lossless.
    Webp,
    /// HEIC, the format used by some phones.
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

/// Maximum width and height of an image, in pixels.
const MAX_SIDE_PIXELS: u64 = 30_000;
/// Maximum number of pixels per image. Most phones take images of up to 50 million pixels, some of 108 million;
/// displaying larger images requires gigabytes of memory.
const MAX_PIXELS: u64 = 120_000_000;

/// Returns whether an image of the given width and height, in pixels, is small enough to be displayed.
pub const fn fits_a_screen(width: u64, height: u64) -> bool {
    width <= MAX_SIDE_PIXELS && height <= MAX_SIDE_PIXELS && width * height <= MAX_PIXELS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_has_its_media_type_and_ending() {
        use PictureFormat as P;
        for (format, media, extension) in [
            (P::Jpeg, "image/jpeg", "jpg"),
            (P::Png, "image/png", "png"),
            (P::Webp, "image/webp", "webp"),
            (P::Heic, "image/heic", "heic"),
        ] {
            assert_eq!((format.media(), format.extension()), (media, extension));
        }
    }

    #[test]
    fn a_picture_is_bounded_in_its_sides_and_its_area() {
        for (width, height, fits) in [
            (0, 0, true),
            (30_000, 4_000, true),
            (4_000, 30_000, true),
            (30_000, 4_001, false),
            (30_001, 1, false),
            (1, 30_001, false),
            (11_000, 11_000, false),
        ] {
            assert_eq!(fits_a_screen(width, height), fits, "{width} × {height}");
        }
    }
}
