#![expect(clippy::unwrap_used, reason = "tests")]
mod in_bucket;
mod of_failing_bucket;

use tokio::io::AsyncReadExt as _;
use tokio::task::spawn_blocking;

use super::*;

fn files_below(dir: &Path) -> usize {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { files_below(&path) } else { 1 }).sum()
}

/// Returns limits on copies that leave no disk space free.
fn copy_limits(max_bytes: u64) -> CopyLimits {
    CopyLimits { max_bytes, min_free_bytes: 0 }
}

/// Returns the hashes of all contents.
async fn hashes(blobs: &Blobs) -> Vec<String> {
    blobs.contents().await.unwrap().into_iter().map(|content| content.sha256).collect()
}

/// Removes all contents that are not named and not protected, and returns their number.
async fn keep_only(blobs: &Blobs, named: &[&String]) -> usize {
    let mut removed = 0;
    for sha256 in hashes(blobs).await.iter().filter(|sha256| !named.contains(sha256)) {
        if let Some(removal) = blobs.removal(sha256) {
            removal.remove().await.unwrap();
            removal.clear().await.unwrap();
            removed += 1;
        }
    }
    removed
}

/// Visits all contents, and returns their hashes and sizes.
async fn visits(blobs: &Arc<Blobs>) -> Vec<(String, u64)> {
    let blobs = blobs.clone();
    let visit_all = move || {
        let mut visits = Vec::new();
        let visit = |sha256: &str, file: std::fs::File| {
            visits.push((sha256.to_owned(), file.metadata()?.len()));
            Ok::<_, io::Error>(())
        };
        blobs.for_each_content(visit).unwrap();
        visits
    };
    spawn_blocking(visit_all).await.unwrap()
}

#[tokio::test]
async fn the_same_bytes_are_kept_once_under_their_digest() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(dir.path()).unwrap();
    let recording = blobs.recording();
    let whole = blobs.store(b"abc", &recording).await.unwrap();
    assert_eq!(whole.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    let mut pieces = blobs.begin().await.unwrap();
    pieces.write(b"a").await.unwrap();
    pieces.write(b"bc").await.unwrap();
    assert_eq!(pieces.keep(&recording).await.unwrap(), whole);
    let (mut file, size) = blobs.read(&whole.sha256).await.unwrap();
    let mut text = String::new();
    file.read_to_string(&mut text).await.unwrap();
    assert_eq!((text.as_str(), size), ("abc", 3));
    assert_eq!(files_below(dir.path()), 1);
}

#[tokio::test]
async fn what_is_given_up_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(dir.path()).unwrap();
    let mut given_up = blobs.begin().await.unwrap();
    given_up.write(b"abc").await.unwrap();
    drop(given_up);
    assert_eq!(files_below(dir.path()), 0);
    std::fs::write(dir.path().join(INCOMING_FOLDER).join("7"), b"left").unwrap();
    Blobs::open(dir.path()).unwrap();
    assert_eq!(files_below(dir.path()), 0);
}

#[tokio::test]
async fn an_upload_to_a_server_that_was_overtaken_is_never_mistaken_for_another_one() {
    let dir = tempfile::tempdir().unwrap();
    let former = Blobs::open(dir.path()).unwrap();
    let mut late = former.begin().await.unwrap();
    late.write(b"abc").await.unwrap();
    let blobs = Blobs::open(dir.path()).unwrap();
    let mut whole = blobs.begin().await.unwrap();
    whole.write(b"xyz").await.unwrap();
    assert!(late.keep(&former.recording()).await.is_err(), "what it wrote was removed");
    let stored = whole.keep(&blobs.recording()).await.unwrap();
    assert_eq!(std::fs::read(blobs.path(&stored.sha256)).unwrap(), b"xyz");
    assert_eq!(files_below(dir.path()), 1);
}

#[tokio::test]
async fn contents_are_removed_only_while_none_waits_for_its_record() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(dir.path()).unwrap();
    let recording = blobs.recording();
    let contents = blobs.store(b"abc", &recording).await.unwrap();
    assert!(blobs.removal(&contents.sha256).is_none(), "it is not recorded yet");
    drop(recording);
    let removal = blobs.removal(&contents.sha256).unwrap();
    let later = blobs.recording();
    blobs.store(b"xyz", &later).await.unwrap();
    // The same is stored once it is removed.
    let remove = async move {
        removal.remove().await?;
        removal.clear().await
    };
    let (again, removed) = tokio::join!(blobs.store(b"abc", &later), remove);
    let again = again.unwrap();
    removed.unwrap();
    assert!(blobs.read(&again.sha256).await.is_ok());
    drop(later);
    for _ in 0..2 {
        blobs.removal(&again.sha256).unwrap().remove().await.unwrap();
        assert!(blobs.read(&again.sha256).await.is_err());
    }
}

#[tokio::test]
async fn only_what_is_named_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(dir.path()).unwrap();
    let recording = blobs.recording();
    let named = blobs.store(b"named", &recording).await.unwrap().sha256;
    blobs.store(b"not named", &recording).await.unwrap();
    drop(recording);
    std::fs::write(dir.path().join("notes.txt"), b"a person's").unwrap();
    assert_eq!((keep_only(&blobs, &[&named]).await, files_below(dir.path())), (1, 2));
    assert!(blobs.read(&named).await.is_ok());
}

#[tokio::test]
async fn what_is_needed_is_not_removed() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Arc::new(Blobs::open(dir.path()).unwrap());
    let stored = blobs.store(b"abc", &blobs.recording()).await.unwrap();
    let removal = blobs.removal(&stored.sha256).unwrap();
    let mut keeping = std::pin::pin!(blobs.keep_all());
    assert!(futures::poll!(&mut keeping).is_pending(), "a removal is under way");
    drop(removal);
    let guard = keeping.await;
    assert_eq!(keep_only(&blobs, &[]).await, 0);
    assert_eq!(visits(&blobs).await, [(stored.sha256.clone(), 3)]);
    drop(guard);
    assert_eq!(keep_only(&blobs, &[]).await, 1);
    assert!(blobs.read(&stored.sha256).await.is_err());
}

#[tokio::test]
async fn folders_of_others_beside_the_contents_are_not_looked_into() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Arc::new(Blobs::open(dir.path()).unwrap());
    let name = "a".repeat(64);
    for folder in [crate::disk::LOST_FOUND, INCOMING_FOLDER, "zz"] {
        std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        std::fs::write(dir.path().join(folder).join(&name), "").unwrap();
    }
    assert_eq!(visits(&blobs).await, []);
    assert_eq!(keep_only(&blobs, &[]).await, 0);
}

#[tokio::test]
async fn an_address_that_is_no_digest_names_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(dir.path()).unwrap();
    assert!(blobs.read("../../etc/passwd").await.is_err());
    assert!(blobs.read("é").await.is_err());
}
