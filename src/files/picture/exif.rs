//! Picture orientation, the only EXIF value that is kept. Without it, most phone photos would be displayed sideways.

/// Prefix of the data in an EXIF segment.
pub(super) const PREFIX: &[u8] = b"Exif\0\0";

/// Maximum size, in bytes, of EXIF data that is parsed; a JPEG never contains more.
pub(super) const MAX_EXIF_BYTES: usize = 64 * 1024;

/// TIFF tag for the orientation.
const ORIENTATION_TAG: u16 = 0x0112;
/// TIFF type of the orientation's value: a 16-bit number.
const SHORT_TYPE: u16 = 3;
/// Directory entry size in bytes.
const ENTRY_BYTES: usize = 12;

/// Returns the orientation in a JPEG's EXIF segment, from 2 to 8; `None` if it is missing, invalid, or 1, which is the
/// default.
pub(super) fn orientation(segment: &[u8]) -> Option<u8> {
    orientation_of_tiff(segment.strip_prefix(PREFIX)?)
}

/// Returns the orientation in the EXIF data of a PNG or WebP. Such data should not have the prefix of a JPEG segment,
/// but some programs write the prefix anyway.
pub(super) fn orientation_of_chunk(data: &[u8]) -> Option<u8> {
    orientation_of_tiff(data.strip_prefix(PREFIX).unwrap_or(data))
}

fn orientation_of_tiff(tiff: &[u8]) -> Option<u8> {
    let little = match tiff.get(..4)? {
        b"II*\0" => true,
        b"MM\0*" => false,
        _ => return None,
    };
    let short = |at: usize| {
        let bytes: [u8; 2] = tiff.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    };
    let first: [u8; 4] = tiff.get(4..8)?.try_into().ok()?;
    let first = if little { u32::from_le_bytes(first) } else { u32::from_be_bytes(first) };
    let first = usize::try_from(first).ok()?;
    let entries = usize::from(short(first)?);
    // A segment has at most 64 KiB, so there are at most some thousand entries.
    let mut places = (0..entries).map_while(|n| first.checked_add(2 + n * ENTRY_BYTES).filter(|at| *at < tiff.len()));
    let place = places.find(|at| short(*at) == Some(ORIENTATION_TAG))?;
    let value = short(place + 8).filter(|_| short(place + 2) == Some(SHORT_TYPE))?;
    u8::try_from(value).ok().filter(|value| (2..=8).contains(value))
}

/// Builds the data of an EXIF segment that contains only the given orientation.
pub(super) fn only_orientation(orientation: u8) -> [u8; 32] {
    let mut data = *b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0";
    data[25] = orientation;
    data
}

/// Builds the EXIF data of a PNG or WebP that contains only the given orientation.
pub(super) fn only_orientation_of_chunk(orientation: u8) -> Vec<u8> {
    only_orientation(orientation).iter().skip(PREFIX.len()).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_orientation_is_written_as_it_is_read() {
        for value in 2..=8 {
            assert_eq!(orientation(&only_orientation(value)), Some(value));
        }
        assert_eq!((orientation(&only_orientation(1)), orientation(&only_orientation(9))), (None, None));
    }

    #[test]
    fn both_orders_of_bytes_are_read() {
        let little =
            b"Exif\0\0II*\0\x08\0\0\0\x02\0\x0f\x01\x02\0\x01\0\0\0\0\0\0\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
        assert_eq!(orientation(little), Some(6));
        for cut in 0..little.len() - 6 {
            let _ = orientation(&little[..cut]);
        }
    }
}
