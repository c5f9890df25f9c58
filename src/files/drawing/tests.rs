#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::HashSet;
use std::pin::pin;

use simulator::gcode::shapes::{PartShape, PlateLayout, shaped_gcode};

use super::*;
use crate::blobs::CopyLimits;
use services::object_storage::ObjectStorage;

const SQUARE: &str = "M83\nG1 X0 Y0 Z0.2\nG1 X10 E1\nG1 Y10 E1\nG1 X0 E1\nG1 Y0 E1\n";

/// Stores contents and returns their hash.
async fn store(blobs: &Blobs, bytes: &[u8]) -> String {
    blobs.store(bytes, &blobs.recording()).await.unwrap().sha256
}

#[tokio::test]
async fn a_picture_is_drawn_once_for_each_content_and_removed_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(dir.path()).unwrap();
    let sha256 = store(&blobs, SQUARE.as_bytes()).await;
    let png = blobs.drawn_picture(&sha256, 1, None).await.unwrap().unwrap();
    assert!(png.starts_with(PNG) && png.ends_with(PNG_END));
    let stored = blobs.drawings(&sha256).join("1.png");
    assert_eq!(std::fs::read(&stored).unwrap(), png);
    // What is stored is returned as it is, unless it was not written to its end.
    let other = [PNG, b"another picture", PNG_END].concat();
    std::fs::write(&stored, &other).unwrap();
    assert_eq!(blobs.drawn_picture(&sha256, 1, None).await.unwrap(), Some(other));
    std::fs::write(&stored, &png[..png.len() - 1]).unwrap();
    assert_eq!(blobs.drawn_picture(&sha256, 1, None).await.unwrap(), Some(png));
    let removal = blobs.removal(&sha256).unwrap();
    removal.remove().await.unwrap();
    removal.clear().await.unwrap();
    assert!(!blobs.drawings(&sha256).exists());
    assert_eq!(blobs.drawn_picture(&sha256, 1, None).await.unwrap(), None, "the content is gone");
    assert!(!blobs.drawings(&sha256).exists(), "nothing is stored for contents that are gone");
}

#[tokio::test]
async fn nothing_is_received_for_a_picture_before_its_turn() {
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [bucket, first_copies, copies] = dirs.each_ref().map(tempfile::TempDir::path);
    let limits = CopyLimits { max_bytes: u64::MAX, min_free_bytes: 0 };
    let open = |copies: &Path| {
        let storage = ObjectStorage::folder(bucket, String::new()).unwrap();
        Blobs::in_bucket(storage, copies, limits).unwrap()
    };
    let first = open(first_copies);
    let (lost, other) = (store(&first, SQUARE.as_bytes()).await, store(&first, b"other").await);
    // Whoever asks the bucket for it learns that at once.
    std::fs::remove_file(bucket.join(&lost[..2]).join(&lost)).unwrap();
    let blobs = open(copies);
    let turn = blobs.turns.drawing_turn().await.unwrap();
    let mut picture = pin!(blobs.drawn_picture(&lost, 1, None));
    tokio::select! {
        biased; // the picture first
        _ = &mut picture => panic!("another picture is being drawn"),
        content = blobs.local(&other) => drop(content.unwrap()),
    }
    drop(turn);
    assert_eq!(picture.await.unwrap(), None);
}

#[tokio::test]
async fn drawings_of_contents_that_another_server_removed_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(dir.path()).unwrap();
    let [named, other] = ["named", "other"].map(|name| format!("{SQUARE}; {name}\n"));
    let (named, other) = (store(&blobs, named.as_bytes()).await, store(&blobs, other.as_bytes()).await);
    for sha256 in [&named, &other] {
        blobs.drawn_picture(sha256, 1, None).await.unwrap().unwrap();
    }
    std::fs::remove_file(blobs.path(&other)).unwrap();
    let mut drawn = blobs.drawn_contents().await.unwrap();
    drawn.retain(|sha256| *sha256 != named);
    assert_eq!(drawn, std::slice::from_ref(&other));
    for _ in 0..2 {
        blobs.remove_drawings(&other).await.unwrap();
    }
    assert!(blobs.drawings(&named).exists() && !blobs.drawings(&other).exists());
}

#[tokio::test]
async fn what_cannot_be_drawn_is_remembered() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(dir.path()).unwrap();
    for garbage in [b"G28\n".as_slice(), b"PK\x03\x04 no archive", b"GCDE\x01\0\0\0\x07", &[0xff; 5000]] {
        let sha256 = store(&blobs, garbage).await;
        assert_eq!(blobs.drawn_picture(&sha256, 1, None).await.unwrap(), None);
        assert_eq!(std::fs::read(blobs.drawings(&sha256).join("1.png")).unwrap(), UNDRAWABLE);
        assert_eq!(blobs.drawn_picture(&sha256, 1, None).await.unwrap(), None);
    }
}

#[test]
fn a_drawing_that_takes_too_long_ends_and_is_not_remembered() {
    let dir = tempfile::tempdir().unwrap();
    let (content, picture) = (dir.path().join("content"), dir.path().join("1.png"));
    std::fs::write(&content, SQUARE).unwrap();
    let content = LocalContent::on_disk(content);
    let sha256 = "a".repeat(64);
    let (request, uses) = (DrawingRequest { sha256, content, picture, plate: 1, color: NEUTRAL }, Arc::default());
    let over = request.draw(&uses, &mut || false).unwrap_err();
    assert_eq!(over.kind(), io::ErrorKind::TimedOut);
    assert!(!request.picture.exists());
    assert!(request.draw(&uses, &mut || true).unwrap().is_some());
    assert!(request.picture.exists());
}

#[test]
fn each_simulated_part_has_a_picture_of_its_own() {
    let draw = |shape: PartShape| {
        let plate = PlateLayout { shape, copies: 1, area: (300.0, 240.0) };
        let text = shaped_gcode("part", 60, &[(10.0, "#1b1b22")], &plate);
        let path = read_toolpath(io::Cursor::new(text), 1).unwrap();
        assert!(path.has_area() && path.segments().len() > 100, "{shape:?}: {}", path.segments().len());
        raster::draw(&path, NEUTRAL, &mut || true).unwrap()
    };
    let pictures: HashSet<Vec<u8>> = PartShape::ALL.map(draw).into_iter().collect();
    assert_eq!(pictures.len(), PartShape::ALL.len());
}

#[test]
fn colors_are_read() {
    assert_eq!(rgb("#2e6f40"), Some([0x2e, 0x6f, 0x40]));
    assert_eq!([rgb("2e6f40"), rgb("#2e6f4"), rgb("#gg0000"), rgb("#é€0")], [None; 4]);
}
