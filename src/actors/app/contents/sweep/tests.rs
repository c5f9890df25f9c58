#![expect(clippy::unwrap_used, reason = "tests")]

mod of_failing_bucket;

use std::fs::File as DiskFile;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::super::remove_or_undo;
use super::*;
use domain::file::{File, FileMetadata};
use files::blobs::CopyLimits;
use store::rows::samples::{file, id, on_each, write};
use store::rows::{Batch, Snapshot as _};

const DAY_MS: i64 = 24 * 3600 * 1000;
const STORED_AT: Timestamp = Timestamp(10_000 * DAY_MS);

/// Contents in a bucket, which is a directory, and a directory of copies.
struct Rig {
    place: TempDir,
    copies: TempDir,
    blobs: Arc<Blobs>,
    sweep: ContentSweep,
}

impl Rig {
    fn open(queries: &Queries, max_copied_bytes: u64) -> Self {
        let (place, copies) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let storage = ObjectStorage::folder(place.path(), String::new()).unwrap();
        let limits = CopyLimits { max_bytes: max_copied_bytes, min_free_bytes: 0 };
        let blobs = Arc::new(Blobs::in_bucket(storage.below("files"), copies.path(), limits).unwrap());
        let sweep = ContentSweep {
            mark: SweepMark::without_delay(storage),
            ..ContentSweep::new(blobs.clone(), queries.clone(), None)
        };
        Self { place, copies, blobs, sweep }
    }

    /// Stores contents and returns their hash and the file in the bucket.
    async fn store(&self, bytes: &[u8]) -> (String, PathBuf) {
        let sha256 = self.blobs.store(bytes, &self.blobs.recording()).await.unwrap().sha256;
        let object = self.place.path().join("files").join(&sha256[..2]).join(&sha256);
        (sha256, object)
    }

    /// Sweeps the given number of days after [`STORED_AT`].
    async fn run_after(&self, days: i64) -> usize {
        self.sweep.run(&Leadership::default(), STORED_AT.plus_ms(days * DAY_MS)).await.unwrap()
    }
}

/// Sets the time at which a file in the bucket was stored.
fn age(object: &Path) {
    let stored_at = SystemTime::UNIX_EPOCH + Duration::from_millis(STORED_AT.0 as u64);
    DiskFile::open(object).unwrap().set_modified(stored_at).unwrap();
}

fn named(n: u128, sha256: &str) -> Batch {
    let mut batch = Batch::default();
    let file = File { sha256: sha256.to_owned(), ..file(n) };
    batch.push_snapshot(file.snapshot(id(n), 1, true).unwrap());
    batch
}

#[tokio::test]
async fn only_old_contents_that_no_file_names_are_removed_from_a_bucket() {
    on_each(async |db| {
        let rig = Rig::open(&Queries::new(db.clone()), 0);
        let (own, own_object) = rig.store(b"named").await;
        let (_, other_object) = rig.store(b"not named").await;
        age(&own_object);
        age(&other_object);
        write(db, named(1, &own)).await.unwrap();
        assert_eq!(rig.run_after(30).await, 0, "the mark has just been put there");
        assert_eq!(rig.run_after(1).await, 0, "it may be another shop's");
        assert_eq!(rig.run_after(30).await, 1);
        assert!(own_object.exists() && !other_object.exists());
        rig.store(b"not named").await;
        age(&other_object);
        let clone = SweepMark::without_delay(ObjectStorage::folder(rig.place.path(), String::new()).unwrap());
        clone.is_established().await.unwrap();
        assert_eq!(rig.run_after(30).await, 0);
        assert!(other_object.exists() && rig.sweep.is_disputed());
    })
    .await;
}

#[tokio::test]
async fn a_clone_removes_nothing_that_the_original_has_even_if_its_files_are_deleted() {
    on_each(async |db| {
        let rig = Rig::open(&Queries::new(db.clone()), 0);
        let (sha256, object) = rig.store(b"named by the original alone").await;
        let remove = async || rig.sweep.remove(&Leadership::default(), [sha256.clone()]).await.unwrap();
        remove().await;
        assert!(object.exists(), "there is no mark yet");
        assert_eq!(rig.run_after(30).await, 0, "the mark has just been put there");
        assert!(object.exists());
        let original = SweepMark::without_delay(ObjectStorage::folder(rig.place.path(), String::new()).unwrap());
        original.is_established().await.unwrap();
        remove().await;
        assert!(object.exists() && rig.sweep.is_disputed());
        // The original has ended: what is deleted is removed at once.
        remove().await;
        assert!(!object.exists());
    })
    .await;
}

#[tokio::test]
async fn contents_that_a_successor_recorded_before_their_removal_are_stored_again() {
    on_each(async |db| {
        let queries = Queries::new(db.clone());
        let rig = Rig::open(&queries, u64::MAX);
        let (sha256, object) = rig.store(b"recorded late").await;
        let removal = rig.blobs.removal(&sha256).unwrap();
        write(db, named(1, &sha256)).await.unwrap();
        assert!(!remove_or_undo(removal, &queries, &sha256).await.unwrap());
        assert_eq!(std::fs::read(object).unwrap(), b"recorded late");
    })
    .await;
}

#[tokio::test]
async fn contents_are_held_after_the_answer_to_their_removal_was_lost() {
    on_each(async |db| {
        let queries = Queries::new(db.clone());
        let rig = Rig::open(&queries, u64::MAX);
        let (sha256, object) = rig.store(b"removed or not").await;
        // A folder in its place, which cannot be removed.
        std::fs::remove_file(&object).unwrap();
        std::fs::create_dir(&object).unwrap();
        let removal = rig.blobs.removal(&sha256).unwrap();
        assert!(remove_or_undo(removal, &queries, &sha256).await.is_err());
        assert!(rig.blobs.removal(&sha256).is_none(), "it may take effect late");
    })
    .await;
}

#[tokio::test]
async fn contents_that_are_missing_in_the_bucket_are_stored_again_or_told() {
    on_each(async |db| {
        let rig = Rig::open(&Queries::new(db.clone()), 5);
        let (first, first_object) = rig.store(b"first").await;
        // Its copy takes the place of the other one.
        let (second, second_object) = rig.store(b"secon").await;
        for (n, sha256) in [(1, &first), (2, &second)] {
            write(db, named(n, sha256)).await.unwrap();
        }
        for object in [&first_object, &second_object] {
            std::fs::remove_file(object).unwrap();
        }
        rig.run_after(1).await;
        assert!(second_object.exists() && !first_object.exists());
        assert_eq!(rig.sweep.missing_count(), 1);
        rig.store(b"first").await;
        rig.run_after(1).await;
        assert_eq!(rig.sweep.missing_count(), 0);
    })
    .await;
}

#[tokio::test]
async fn contents_that_cannot_be_stored_again_do_not_keep_others_from_it() {
    on_each(async |db| {
        let rig = Rig::open(&Queries::new(db.clone()), u64::MAX);
        let mut objects = Vec::new();
        for n in 1..=5_u8 {
            let (sha256, object) = rig.store(&[n]).await;
            write(db, named(n.into(), &sha256)).await.unwrap();
            std::fs::remove_file(&object).unwrap();
            objects.push(object);
        }
        // A folder in its place, which no file replaces.
        std::fs::create_dir(&objects[0]).unwrap();
        let (_, unnamed) = rig.store(b"not named").await;
        age(&unnamed);
        assert_eq!(rig.run_after(30).await, 0, "the mark has just been put there");
        assert!(objects[1..].iter().all(|object| object.is_file()));
        assert_eq!(rig.sweep.missing_count(), 1);
        assert_eq!(rig.run_after(30).await, 1, "and the rest is removed");
        std::fs::remove_dir(&objects[0]).unwrap();
        rig.run_after(30).await;
        assert!(objects[0].is_file());
        assert_eq!(rig.sweep.missing_count(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_mark_that_cannot_be_read_keeps_no_missing_contents_from_being_stored_again() {
    on_each(async |db| {
        let rig = Rig::open(&Queries::new(db.clone()), u64::MAX);
        let (sha256, object) = rig.store(b"named").await;
        let (_, unnamed) = rig.store(b"not named").await;
        age(&unnamed);
        write(db, named(1, &sha256)).await.unwrap();
        assert_eq!(rig.run_after(30).await, 0, "the mark has just been put there");
        std::fs::remove_file(&object).unwrap();
        let mut entries = std::fs::read_dir(rig.place.path()).unwrap().map(|entry| entry.unwrap().path());
        let mark = entries.find(|path| path.is_file()).unwrap();
        // A link to itself, which cannot be opened.
        std::fs::remove_file(&mark).unwrap();
        symlink(&mark, &mark).unwrap();
        let swept = rig.sweep.run(&Leadership::default(), STORED_AT.plus_ms(30 * DAY_MS)).await;
        assert!(matches!(swept, Err(RemoveError::Mark(_))), "{swept:?}");
        assert!(object.exists() && unnamed.exists());
        std::fs::remove_file(&mark).unwrap();
        assert_eq!(rig.run_after(30).await, 0, "the mark has just been put there again");
        assert_eq!(rig.run_after(30).await, 1);
    })
    .await;
}

#[tokio::test]
async fn contents_that_cannot_be_removed_do_not_keep_others_from_it() {
    on_each(async |db| {
        let rig = Rig::open(&Queries::new(db.clone()), 0);
        let mut contents = Vec::new();
        for n in 0..5_u8 {
            contents.push(rig.store(&[n]).await);
        }
        contents.iter().for_each(|(_, object)| age(object));
        // They are listed in their order. A file in the place of the folder with the drawings of the first.
        contents.sort();
        let drawings = rig.copies.path().join("drawings-1");
        std::fs::create_dir_all(&drawings).unwrap();
        std::fs::write(drawings.join(&contents[0].0), b"").unwrap();
        assert_eq!(rig.run_after(30).await, 0, "the mark has just been put there");
        let swept = rig.sweep.run(&Leadership::default(), STORED_AT.plus_ms(30 * DAY_MS)).await;
        assert!(matches!(swept, Err(RemoveError::Disk(_))), "{swept:?}");
        assert!(contents.iter().all(|(_, object)| !object.exists()));
    })
    .await;
}

#[test]
fn a_large_shop_is_swept_in_parts() {
    assert_eq!(parts(MAX_FILES_AT_ONCE), [String::new()]);
    let parts = parts(MAX_FILES_AT_ONCE + 1);
    assert_eq!((parts.len(), &*parts[0], &*parts[0x9f], &*parts[255]), (256, "00", "9f", "ff"));
}

#[tokio::test]
async fn each_content_is_swept_with_its_part() {
    on_each(async |db| {
        let queries = Queries::new(db.clone());
        let rig = Rig::open(&queries, u64::MAX);
        let (mut own, mut others, mut batch) = (Vec::new(), Vec::new(), Batch::default());
        for n in 0..20_u8 {
            let (sha256, object) = rig.store(&[n]).await;
            let picture = rig.store(&[n, n]).await;
            let metadata = FileMetadata { thumbnail: Some(picture.0), ..FileMetadata::default() };
            let file = File { sha256, metadata, ..file(u128::from(n) + 1) };
            batch.push_snapshot(file.snapshot(file.id, 1, true).unwrap());
            own.extend([object, picture.1]);
            others.push(rig.store(&[n, n, n]).await.1);
        }
        write(db, batch).await.unwrap();
        for object in own.iter().chain(&others) {
            age(object);
        }
        // One of each that is named is missing.
        for object in &own[..2] {
            std::fs::remove_file(object).unwrap();
        }
        let (parts, now) = (parts(u64::MAX), STORED_AT.plus_ms(30 * DAY_MS));
        let sweep = async || rig.sweep.run_in(&parts, &Leadership::default(), now).await.unwrap();
        assert_eq!(sweep().await, 0, "the mark has just been put there");
        assert!(own.iter().all(|object| object.exists()), "from the copies");
        assert_eq!(sweep().await, 20);
        assert!(own.iter().all(|object| object.exists()) && !others.iter().any(|object| object.exists()));
        assert_eq!(sweep().await, 0);
    })
    .await;
}

#[tokio::test]
async fn contents_that_cannot_be_removed_do_not_keep_missing_ones_from_being_found() {
    on_each(async |db| {
        let rig = Rig::open(&Queries::new(db.clone()), 0);
        let mut contents = Vec::new();
        for n in 0..20_u8 {
            contents.push(rig.store(&[n]).await);
        }
        contents.sort();
        let ((unnamed, unnamed_object), (missing, missing_object)) = (&contents[0], &contents[19]);
        age(unnamed_object);
        write(db, named(1, missing)).await.unwrap();
        std::fs::remove_file(missing_object).unwrap();
        // A file in the place of the folder with its drawings, which therefore cannot be removed.
        let drawings = rig.copies.path().join("drawings-1");
        std::fs::create_dir_all(&drawings).unwrap();
        std::fs::write(drawings.join(unnamed), b"").unwrap();
        let (parts, now) = (parts(u64::MAX), STORED_AT.plus_ms(30 * DAY_MS));
        let sweep = async || rig.sweep.run_in(&parts, &Leadership::default(), now).await;
        assert_eq!(sweep().await.unwrap(), 0, "the mark has just been put there");
        rig.sweep.missing_count.store(0, Relaxed);
        assert!(sweep().await.is_err());
        assert_eq!(rig.sweep.missing_count(), 1);
    })
    .await;
}
