#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use axum::body::{Body, Bytes};
use proptest::prelude::*;
use simulator::pictures;

use super::*;

const SMALL: FormBounds = FormBounds { photo: 1200, all: 3000, passed: 500 };

const MAX_PHOTOS: usize = 10;

const TEXTS: [(&str, &str); 8] = [
    ("customerName", "Ann"),
    ("email", "ann@example.org"),
    ("productType", "figurine"),
    ("subjectType", "pet"),
    ("styleId", "cartoon"),
    ("sizeId", "m"),
    ("baseOptionId", "oak"),
    ("colorCount", "1"),
];

/// Part of a form: its name and its bytes.
type GivenPart = (String, Vec<u8>);

/// Encodes the parts as the body of a form.
fn written(parts: &[GivenPart]) -> Vec<u8> {
    let mut form = Vec::new();
    for (name, bytes) in parts {
        let head = format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"a\"\r\n\r\n");
        form.extend_from_slice(head.as_bytes());
        form.extend_from_slice(bytes);
        form.extend_from_slice(b"\r\n");
    }
    form.extend_from_slice(b"--b--\r\n");
    form
}

/// Builds a request whose body arrives in chunks of the given length.
fn request(form: &[u8], piece: usize) -> Request {
    let pieces: Vec<_> =
        form.chunks(piece).map(|piece| Ok::<_, std::io::Error>(Bytes::copy_from_slice(piece))).collect();
    let body = Body::from_stream(futures::stream::iter(pieces));
    Request::builder().method("POST").header("content-type", "multipart/form-data; boundary=b").body(body).unwrap()
}

fn files_below(dir: &Path) -> usize {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { files_below(&path) } else { 1 }).sum()
}

fn texts() -> Vec<GivenPart> {
    TEXTS.into_iter().map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())).collect()
}

/// Reads a form and returns its texts and its number of photos, or the error. Checks that nothing is left on disk.
fn received(form: &[u8], piece: usize) -> Result<(Vec<GivenPart>, usize), ApiError> {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(dir.path()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let form = runtime.block_on(receive_within(&blobs, request(form, piece), MAX_PHOTOS, SMALL, None));
    let content = form.and_then(|PhotoForm { texts, photos, faults }| {
        faults.refuse()?;
        assert_eq!(files_below(dir.path()), photos.len());
        Ok((texts, photos.len()))
    });
    assert_eq!(files_below(dir.path()), 0);
    content
}

#[test]
fn a_form_is_the_same_in_any_pieces() {
    let mut parts = texts();
    parts.push(("photos".to_owned(), pictures::jpeg(100)));
    parts.push(("photos[]".to_owned(), pictures::png()));
    let form = written(&parts);
    for piece in [1, 2, 3, 7, 64, 1000, form.len()] {
        assert_eq!(received(&form, piece).unwrap(), (texts(), 2), "{piece}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Checks that the result depends on the lengths alone, regardless of the chunks in which the form arrives.
    #[test]
    fn bounds_hold_for_any_form(
        photos in prop::collection::vec(0_usize..1500, 0..5),
        unknown in prop::collection::vec(0_usize..1500, 0..2),
        piece in 1_usize..2000,
    ) {
        let mut parts = texts();
        parts.extend(photos.iter().map(|length| ("photos".to_owned(), vec![7; *length])));
        parts.extend(unknown.iter().map(|length| ("x".to_owned(), vec![b'x'; *length])));
        let all: usize = parts.iter().map(|(_, bytes)| bytes.len()).sum();
        let too_large = all as u64 > SMALL.all || photos.iter().any(|length| *length as u64 > SMALL.photo);
        let status = received(&written(&parts), piece).unwrap_err().status().as_u16();
        // Nothing of this is a picture.
        prop_assert_eq!(status, if too_large { 413 } else { 400 });
    }

    /// Checks that a truncated or corrupted form is read or rejected and leaves no files behind.
    #[test]
    fn hostile_forms_are_borne(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut in prop::option::of(any::<prop::sample::Index>()),
        piece in 1_usize..500,
    ) {
        let mut parts = texts();
        parts.push(("photos".to_owned(), pictures::jpeg(100)));
        parts.push(("photos".to_owned(), pictures::heic()));
        let mut form = written(&parts);
        for (at, byte) in changes {
            let at = at.index(form.len());
            form[at] = byte;
        }
        if let Some(cut) = cut {
            form.truncate(cut.index(form.len()));
        }
        if let Err(error) = received(&form, piece) {
            prop_assert!(matches!(error.status().as_u16(), 400 | 413), "{}", error.message());
        }
    }
}
