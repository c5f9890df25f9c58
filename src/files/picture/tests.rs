#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use simulator::pictures::{self, SECRET};

use super::*;

/// Cleans a picture that arrives in chunks of the given length.
fn cleaned(picture: &[u8], piece: usize) -> Result<(PictureFormat, Vec<u8>), PictureFault> {
    let (mut cleaner, mut output) = (PictureCleaner::new(), Vec::new());
    for piece in picture.chunks(piece.max(1)) {
        let before = output.len();
        cleaner.push(piece, &mut output)?;
        // Never more than one segment, or the description, at once.
        assert!(output.len() - before <= piece.len() + 300 * 1024);
    }
    Ok((cleaner.finish()?, output))
}

fn all() -> [(PictureFormat, Vec<u8>); 4] {
    [
        (PictureFormat::Jpeg, pictures::jpeg(500)),
        (PictureFormat::Png, pictures::png()),
        (PictureFormat::Webp, pictures::webp()),
        (PictureFormat::Heic, pictures::heic()),
    ]
}

/// Returns the picture with `numbers` in place of the size in its first part with the given name.
fn sized(picture: &[u8], name: &[u8], skip: usize, numbers: &[u8]) -> Vec<u8> {
    let mut picture = picture.to_vec();
    let at = picture.windows(name.len()).position(|window| window == name).unwrap() + name.len() + skip;
    picture[at..at + numbers.len()].copy_from_slice(numbers);
    picture
}

#[test]
fn a_picture_of_more_pixels_than_anybody_shows_is_refused_in_any_pieces() {
    // 30,001 wide and one high; 20,000 by 20,000.
    let [jpeg, png, webp, heic] = all().map(|(_, picture)| picture);
    let too_large = [
        sized(&jpeg, b"\xff\xc0", 3, &[0x4e, 0x20, 0x4e, 0x20]),
        sized(&jpeg, b"\xff\xc0", 3, &[0, 1, 0x75, 0x31]),
        sized(&jpeg, b"\xff\xc0", 3, &[0, 0, 0x4e, 0x20]),
        sized(&png, b"IHDR", 0, &[0, 0, 0x4e, 0x20, 0, 0, 0x4e, 0x20]),
        sized(&png, b"IHDR", 0, &[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]),
        sized(&webp, b"VP8X", 8, &[0x1f, 0x4e, 0, 0x1f, 0x4e, 0]),
        sized(&webp, b"VP8L", 5, &[0xff, 0xff, 0xff, 0x0f]),
        sized(&heic, b"ispe", 4, &[0, 0, 0x4e, 0x20, 0, 0, 0x4e, 0x20]),
    ];
    for (n, picture) in too_large.iter().enumerate() {
        for piece in [1, 7, usize::MAX] {
            assert_eq!(cleaned(picture, piece).unwrap_err(), PictureFault::TooManyPixels, "{n} by {piece}");
        }
    }
    let phone = sized(&jpeg, b"\xff\xc0", 3, &[0x23, 0x28, 0x2e, 0xe0]);
    assert!(cleaned(&phone, 7).is_ok(), "108 million, as phones take");
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn nothing_of_the_place_is_left_and_the_picture_stays() {
    for (format, picture) in all() {
        assert!(holds(&picture, SECRET));
        let (actual_format, output) = cleaned(&picture, usize::MAX).unwrap();
        assert_eq!(actual_format, format);
        for telling in [SECRET, b"N48".as_slice(), b"Location", b"xmpmeta", b"8BIM", b"MPF", b"caBX", b"tIME"] {
            assert!(!holds(&output, telling), "{format:?}: {}", String::from_utf8_lossy(telling));
        }
        if format != PictureFormat::Png {
            assert!(holds(&output, b"shown"), "{format:?}");
        }
        assert_eq!(cleaned(&output, 7), Ok((format, output.clone())), "{format:?}: nothing more to take out");
    }
}

#[test]
fn what_shows_the_picture_right_stays() {
    let (_, jpeg) = cleaned(&pictures::jpeg(100), 64).unwrap();
    for needed in [b"JFIF\0".as_slice(), b"ICC_PROFILE\0\x01\x01profile", b"Adobe", &exif::only_orientation(6)] {
        assert!(holds(&jpeg, needed), "{}", String::from_utf8_lossy(needed));
    }
    assert!(jpeg.ends_with(b"\xff\xd9"));
    let (_, png) = cleaned(&pictures::png(), 64).unwrap();
    assert!(holds(&png, b"pHYs") && png[..png.len() - 4].ends_with(b"\0\0\0\0IEND"));
    let webp = pictures::webp();
    let (_, output) = cleaned(&webp, 64).unwrap();
    // The length at its beginning is right, and the flag of XMP is gone; EXIF tells the side that is up.
    assert_eq!(output.len(), webp.len() - SECRET.len());
    assert_eq!((&output[12..16], output[20]), (b"VP8X".as_slice(), 0x28));
    assert!(holds(&output, b"EXIF") && holds(&output, &exif::only_orientation_of_chunk(3)));
    let heic = pictures::heic();
    let (_, output) = cleaned(&heic, 64).unwrap();
    assert_eq!(output.len(), heic.len(), "offsets stay right");
    assert!(holds(&output, b"ispe") && !holds(&output, b"udes") && !holds(&output, b"uuid"));
}

/// Verifies that a rotated PNG, such as a screenshot from some phones, keeps its orientation.
#[test]
fn the_side_of_a_png_that_is_up_stays() {
    let plain = pictures::png();
    let exif_of_sample = plain.windows(4).position(|window| window == b"eXIf").unwrap();
    // The sample says that it stands upright; its orientation is the first entry of its directory.
    let orientation = exif_of_sample + 4 + 18;
    assert_eq!(plain[orientation], 1);
    let mut turned = plain.clone();
    turned[orientation] = 6;
    for piece in [1, 7, usize::MAX] {
        let (_, output) = cleaned(&turned, piece).unwrap();
        assert!(holds(&output, &exif::only_orientation_of_chunk(6)) && !holds(&output, SECRET));
        assert_eq!(cleaned(&output, piece), Ok((PictureFormat::Png, output.clone())), "nothing more to take out");
        assert!(!holds(&cleaned(&plain, piece).unwrap().1, b"eXIf"), "upright is how it is shown anyhow");
    }
}

#[test]
fn a_whole_picture_only() {
    for (format, picture) in all() {
        let output = cleaned(&picture, 1000).unwrap().1;
        for cut in [0, 5, 11] {
            assert_eq!(cleaned(&picture[..cut], 3), Err(PictureFault::Unknown), "{format:?}");
        }
        for cut in [12, output.len() / 2, output.len() - 1] {
            assert_eq!(
                cleaned(&output[..cut], 3),
                Err(PictureFault::CutOff),
                "{format:?} at {cut} of {}",
                output.len()
            );
        }
    }
    assert_eq!(cleaned(b"<svg xmlns='http://www.w3.org/2000/svg'/>", 9), Err(PictureFault::Unknown));
    assert_eq!(cleaned(b"GIF89a\x01\0\x01\0\0\0\0", 9), Err(PictureFault::Unknown));
    assert_eq!(cleaned(b"\0\0\0\x14ftypisom\0\0\0\0isom", 9), Err(PictureFault::Unknown), "a film");
}

#[test]
fn a_heic_with_its_data_first_is_refused_with_a_way_out() {
    let late = [b"\0\0\0\x14ftypheic\0\0\0\0heic".as_slice(), b"\0\0\0\x0cmdatdata"].concat();
    assert_eq!(cleaned(&late, 100), Err(PictureFault::Unusual));
    let long = [b"\0\0\0\x14ftypheic\0\0\0\0heic".as_slice(), b"\0\x10\0\0meta"].concat();
    assert_eq!(cleaned(&long, 100), Err(PictureFault::Unusual), "a description without end is not held");
}

/// Verifies that a list with the maximum number of empty extents is processed quickly.
#[test]
fn a_list_of_places_is_read_within_its_own_length() {
    let items = b"\0\0\0\x0eiinf\0\0\0\0\0\0".as_slice();
    let mut places = b"\x02\0\0\0\0\0\xff\xff\xff\xff".to_vec();
    for id in 0..10_000u32 {
        places.extend_from_slice(&id.to_be_bytes());
        places.extend_from_slice(&[0, 0, 0, 0, 0xff, 0xff]);
    }
    let iloc = [&u32::try_from(places.len() + 8).unwrap().to_be_bytes(), b"iloc".as_slice(), &places].concat();
    let meta = [b"\0\0\0\0".as_slice(), items, &iloc].concat();
    let meta = [&u32::try_from(meta.len() + 8).unwrap().to_be_bytes(), b"meta".as_slice(), &meta].concat();
    let heic = [b"\0\0\0\x14ftypheic\0\0\0\0heic".as_slice(), &meta, b"\0\0\0\x0cmdatdata"].concat();
    assert_eq!(cleaned(&heic, 4096), Err(PictureFault::Damaged));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn pieces_make_no_difference(which in 0_usize..4, piece in 1_usize..90) {
        let (_, picture) = &all()[which];
        prop_assert_eq!(cleaned(picture, piece), cleaned(picture, usize::MAX));
    }

    /// Verifies that any damaged picture is either rejected or cleaned, that it grows by at most the size of an
    /// orientation, and that cleaning the result again changes nothing.
    #[test]
    fn hostile_bytes_neither_break_nor_swell(
        which in 0_usize..4,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in prop::option::of(any::<prop::sample::Index>()),
        piece in 1_usize..400,
    ) {
        let (_, mut picture) = all()[which].clone();
        for (at, byte) in changes {
            let at = at.index(picture.len());
            picture[at] = byte;
        }
        if let Some(cut) = cut {
            picture.truncate(cut.index(picture.len()));
        }
        let once = cleaned(&picture, piece);
        prop_assert_eq!(&once, &cleaned(&picture, usize::MAX));
        if let Ok((format, output)) = once {
            prop_assert!(output.len() <= picture.len() + 40);
            prop_assert_eq!(cleaned(&output, piece).map(|(format, _)| format), Ok(format));
        }
    }

    #[test]
    fn any_bytes_behind_a_beginning_are_borne(which in 0_usize..4, rest in prop::collection::vec(any::<u8>(), 0..2000)) {
        let (_, picture) = &all()[which];
        let _ = cleaned(&[&picture[..12], &rest].concat(), 100);
    }
}
