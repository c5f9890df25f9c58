use std::pin::pin;

use super::*;
use crate::blobs::bucket::{OTHER_RECEIPTS, OTHER_SENDS};

/// Size, in bytes, of contents that are sent in several parts, and passed on to clients.
const LARGE_BYTES: usize = 9 * 1024 * 1024;

/// Storage in a directory, with a directory of copies.
struct Place {
    bucket: tempfile::TempDir,
    copies: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { bucket: tempfile::tempdir().unwrap(), copies: tempfile::tempdir().unwrap() }
    }

    fn open(&self, max_copied_bytes: u64) -> Arc<Blobs> {
        let storage = ObjectStorage::folder(self.bucket.path(), String::new()).unwrap();
        Arc::new(Blobs::in_bucket(storage, self.copies.path(), copy_limits(max_copied_bytes)).unwrap())
    }

    /// Opens the storage as another server does, which has no copies.
    fn without_copies(self) -> Self {
        Self { copies: tempfile::tempdir().unwrap(), ..self }
    }

    fn object(&self, sha256: &str) -> PathBuf {
        self.bucket.path().join(&sha256[..2]).join(sha256)
    }
}

async fn store(blobs: &Blobs, bytes: &[u8]) -> String {
    blobs.store(bytes, &blobs.recording()).await.unwrap().sha256
}

async fn read(blobs: &Blobs, sha256: &str) -> io::Result<Vec<u8>> {
    let (mut content, size) = blobs.read(sha256).await?;
    let mut bytes = Vec::new();
    content.read_to_end(&mut bytes).await?;
    assert_eq!(bytes.len() as u64, size);
    Ok(bytes)
}

#[tokio::test]
async fn contents_are_in_the_bucket_and_another_server_reads_them() {
    let place = Place::new();
    let blobs = place.open(u64::MAX);
    let large: Vec<u8> = (0..LARGE_BYTES).map(|n| (n % 251) as u8).collect();
    for bytes in [b"abc".as_slice(), &large] {
        let sha256 = store(&blobs, bytes).await;
        assert_eq!(std::fs::read(place.object(&sha256)).unwrap(), bytes);
        assert_eq!(std::fs::read(blobs.local(&sha256).await.unwrap().path()).unwrap(), bytes);
    }
    assert_eq!((files_below(place.bucket.path()), files_below(place.copies.path())), (2, 2));
    let place = place.without_copies();
    let other = place.open(u64::MAX);
    let mut hashes = hashes(&other).await;
    hashes.sort_by_key(|sha256| std::fs::metadata(place.object(sha256)).unwrap().len());
    assert_eq!(read(&other, &hashes[0]).await.unwrap(), b"abc");
    assert_eq!(read(&other, &hashes[1]).await.unwrap(), large);
    assert_eq!(files_below(place.copies.path()), 1, "a large download leaves no copy");
    let copy = other.local(&hashes[1]).await.unwrap();
    assert_eq!(std::fs::read(copy.path()).unwrap(), large);
    assert!(is_lost(&read(&other, &"0".repeat(64)).await.unwrap_err()));
    assert!(is_lost(&other.local("../../etc/passwd").await.unwrap_err()));
}

#[tokio::test]
async fn copies_have_their_bound_and_those_in_use_stay() {
    let place = Place::new();
    let blobs = place.open(3);
    let (first, second) = (store(&blobs, b"abc").await, store(&blobs, b"xyz").await);
    assert_eq!(files_below(place.copies.path()), 1);
    let one = blobs.local(&first).await.unwrap();
    let other = blobs.local(&second).await.unwrap();
    assert!(one.path().exists() && other.path().exists());
    drop(one);
    // It is removed in the background.
    while files_below(place.copies.path()) > 1 {
        tokio::task::yield_now().await;
    }
    assert_eq!(read(&blobs, &first).await.unwrap(), b"abc");
}

#[tokio::test]
async fn damaged_contents_are_not_used() {
    let place = Place::new();
    let large = vec![7_u8; LARGE_BYTES];
    let blobs = place.open(0);
    for bytes in [b"abc".as_slice(), &large] {
        let sha256 = store(&blobs, bytes).await;
        let mut damaged = bytes.to_vec();
        damaged[0] += 1;
        std::fs::write(place.object(&sha256), damaged).unwrap();
        assert!(is_lost(&blobs.local(&sha256).await.unwrap_err()));
        assert!(is_lost(&read(&blobs, &sha256).await.unwrap_err()));
    }
    assert_eq!(files_below(place.copies.path()), 0);
}

#[tokio::test]
async fn contents_are_received_once_for_all_who_wait() {
    let place = Place::new();
    let sha256 = store(&place.open(0), b"abc").await;
    let place = place.without_copies();
    let blobs = place.open(u64::MAX);
    let (one, other) = tokio::join!(blobs.local(&sha256), blobs.local(&sha256));
    assert_eq!(one.unwrap().path(), other.unwrap().path());
    std::fs::remove_file(place.object(&sha256)).unwrap();
    assert_eq!(read(&blobs, &sha256).await.unwrap(), b"abc", "by the copy");
}

#[tokio::test]
async fn what_is_not_named_is_removed_from_the_bucket_and_backups_visit_the_rest() {
    let place = Place::new();
    let blobs = place.open(0);
    let (named, other) = (store(&blobs, b"named").await, store(&blobs, b"not named").await);
    let guard = blobs.keep_all().await;
    assert_eq!(keep_only(&blobs, &[&named]).await, 0);
    drop(guard);
    assert_eq!(keep_only(&blobs, &[&named]).await, 1);
    assert!(!place.object(&other).exists());
    blobs.removal(&other).unwrap().remove().await.unwrap();
    assert_eq!(visits(&blobs).await, [(named, 5)]);
    assert_eq!(files_below(place.copies.path()), 0, "a visit leaves nothing behind");
}

#[tokio::test]
async fn a_removal_is_undone_with_the_copy_which_goes_last() {
    let place = Place::new();
    let blobs = place.open(u64::MAX);
    let sha256 = store(&blobs, b"abc").await;
    let removal = blobs.removal(&sha256).unwrap();
    removal.remove().await.unwrap();
    assert!(!place.object(&sha256).exists());
    assert!(removal.undo().await.unwrap());
    assert_eq!(std::fs::read(place.object(&sha256)).unwrap(), b"abc");
    removal.remove().await.unwrap();
    removal.clear().await.unwrap();
    assert_eq!((files_below(place.bucket.path()), files_below(place.copies.path())), (0, 0));
    assert!(!blobs.removal(&sha256).unwrap().undo().await.unwrap(), "there is no copy");
}

#[tokio::test]
async fn what_a_print_waits_for_does_not_wait_for_pictures_and_uploads() {
    let place = Place::new();
    let sha256 = store(&place.open(0), b"abc").await;
    let place = place.without_copies();
    let blobs = place.open(u64::MAX);
    let (bucket, mut slots) = (blobs.bucket.clone().unwrap(), Vec::new());
    for _ in 0..OTHER_RECEIPTS {
        slots.push(bucket.receipts.acquire(TransferClass::Other).await.unwrap());
    }
    for _ in 0..OTHER_SENDS {
        slots.push(bucket.sends.acquire(TransferClass::Other).await.unwrap());
    }
    // Of the same contents, too.
    let mut picture = pin!(blobs.read(&sha256));
    tokio::select! {
        biased; // the picture first
        _ = &mut picture => panic!("no slot is free"),
        content = blobs.local(&sha256) => assert!(content.unwrap().path().exists()),
    }
    let (others, own) = (blobs.recording(), blobs.production_recording());
    let mut upload = pin!(blobs.store(b"uploaded", &others));
    tokio::select! {
        biased; // the upload first
        _ = &mut upload => panic!("no slot is free"),
        sliced = blobs.store(b"sliced", &own) => assert!(place.object(&sliced.unwrap().sha256).exists()),
    }
    drop(slots);
    assert!(picture.await.is_ok() && upload.await.is_ok());
}
