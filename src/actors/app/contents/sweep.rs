//! Sweep through all contents: deletes those to which no file refers, which a process that ended in the middle left
//! behind, and finds those that are missing. Contents of a file that was just deleted are removed at once, by the same
//! rules.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use super::mark::SweepMark;
use super::{RemoveError, remove_unnamed};
use domain::time::Timestamp;
use files::blobs::{Blobs, ContentEntry};
use services::object_storage::ObjectStorage;
use store::lease::Leadership;
use store::queries::Queries;

/// Minimum age of contents that are removed from a bucket, in milliseconds: until then, somebody has noticed that two
/// shops use the same place.
const MIN_AGE_MS: i64 = 7 * 24 * 3600 * 1000;

/// Sweep through all contents, and what the last one found.
#[derive(Debug)]
pub struct ContentSweep {
    blobs: Arc<Blobs>,
    queries: Queries,
    mark: SweepMark,
    missing_count: AtomicUsize,
}

impl ContentSweep {
    /// Creates the sweep. `storage` is the place in a bucket; `None` if contents are on a disk.
    pub(in crate::app) fn new(blobs: Arc<Blobs>, queries: Queries, storage: Option<ObjectStorage>) -> Self {
        Self { blobs, queries, mark: SweepMark::new(storage), missing_count: AtomicUsize::new(0) }
    }

    /// Returns whether nothing is removed because another server uses the same place in the bucket.
    pub fn is_disputed(&self) -> bool {
        self.mark.is_disputed()
    }

    /// Returns the number of contents that files refer to and that the bucket lacks.
    pub fn missing_count(&self) -> usize {
        self.missing_count.load(Relaxed)
    }

    /// Deletes the given contents, except those that a file still refers to, and those that are being recorded. Contents
    /// in a bucket stay as long as another shop may use the same place, and all stay if another server may lead for
    /// longer than a moment; a later sweep deletes them.
    ///
    /// # Errors
    ///
    /// Returns an error if the database, the disk or the bucket does not respond.
    pub async fn remove(
        &self,
        leadership: &Leadership,
        contents: impl IntoIterator<Item = String>,
    ) -> Result<(), RemoveError> {
        if !self.mark.stands().await? {
            return Ok(());
        }
        for sha256 in contents {
            remove_unnamed(&self.blobs, &self.queries, leadership, &sha256).await?;
        }
        Ok(())
    }

    /// Deletes all contents that no file refers to and returns how many were deleted. Contents that are missing in a
    /// bucket are stored again, as far as there are copies.
    pub(in crate::app) async fn run(&self, leadership: &Leadership, now: Timestamp) -> Result<usize, RemoveError> {
        let named_before =
            if self.blobs.is_in_bucket() { self.queries.named_contents().await? } else { HashSet::new() };
        // Listed before the second query: what is stored and recorded meanwhile is named then.
        let stored = self.blobs.contents().await?;
        let named = self.queries.named_contents().await?;
        self.store_missing_again(named_before, &stored, &named).await?;
        if !self.mark.stands().await? {
            return Ok(0);
        }
        let (mut removed, before) = (0, now.plus_ms(-MIN_AGE_MS));
        let is_old = |content: &&ContentEntry| content.stored_at.is_none_or(|stored_at| stored_at < before);
        for ContentEntry { sha256, .. } in stored.iter().filter(is_old) {
            if !named.contains(sha256) {
                removed += usize::from(remove_unnamed(&self.blobs, &self.queries, leadership, sha256).await?);
            }
        }
        self.blobs.keep_only_drawings(&named).await?;
        Ok(removed)
    }

    /// Stores contents again that were named all the time and are not among the stored ones.
    async fn store_missing_again(
        &self,
        named_before: HashSet<String>,
        stored: &[ContentEntry],
        named: &HashSet<String>,
    ) -> Result<(), RemoveError> {
        let mut missing = named_before;
        missing.retain(|sha256| named.contains(sha256));
        for content in stored {
            missing.remove(&content.sha256);
        }
        let (mut restored, mut lost) = (0_usize, Vec::new());
        for sha256 in missing {
            if self.blobs.store_copy_again(&sha256).await? {
                restored += 1;
            } else {
                lost.push(sha256);
            }
        }
        self.missing_count.store(lost.len(), Relaxed);
        if restored > 0 {
            tracing::warn!(restored, "files that were missing in the bucket were stored again from local copies");
        }
        if let Some(sha256) = lost.first() {
            tracing::error!(missing = lost.len(), sha256, "the contents of files are missing in the bucket");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::fs::File as DiskFile;
    use std::path::{Path, PathBuf};
    use std::time::{Duration, SystemTime};

    use tempfile::TempDir;

    use super::super::remove_or_undo;
    use super::*;
    use domain::file::File;
    use files::blobs::CopyLimits;
    use store::rows::samples::{file, id, on_each, write};
    use store::rows::{Batch, Snapshot as _};

    const DAY_MS: i64 = 24 * 3600 * 1000;
    const STORED_AT: Timestamp = Timestamp(10_000 * DAY_MS);

    /// Contents in a bucket, which is a directory, and a directory of copies.
    struct Rig {
        place: TempDir,
        _copies: TempDir,
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
            Self { place, _copies: copies, blobs, sweep }
        }

        /// Stores contents and returns their hash and the file in the bucket.
        async fn put(&self, bytes: &[u8]) -> (String, PathBuf) {
            let sha256 = self.blobs.put(bytes, &self.blobs.recording()).await.unwrap().sha256;
            let object = self.place.path().join("files").join(&sha256[..2]).join(&sha256);
            (sha256, object)
        }

        /// Sweeps so many days after [`STORED_AT`].
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
            let (own, own_object) = rig.put(b"named").await;
            let (_, other_object) = rig.put(b"not named").await;
            age(&own_object);
            age(&other_object);
            write(db, named(1, &own)).await.unwrap();
            assert_eq!(rig.run_after(30).await, 0, "the mark has just been put there");
            assert_eq!(rig.run_after(1).await, 0, "it may be another shop's");
            assert_eq!(rig.run_after(30).await, 1);
            assert!(own_object.exists() && !other_object.exists());
            rig.put(b"not named").await;
            age(&other_object);
            let clone = SweepMark::without_delay(ObjectStorage::folder(rig.place.path(), String::new()).unwrap());
            clone.stands().await.unwrap();
            assert_eq!(rig.run_after(30).await, 0);
            assert!(other_object.exists() && rig.sweep.is_disputed());
        })
        .await;
    }

    #[tokio::test]
    async fn a_clone_removes_nothing_that_the_original_has_even_if_its_files_are_deleted() {
        on_each(async |db| {
            let rig = Rig::open(&Queries::new(db.clone()), 0);
            let (sha256, object) = rig.put(b"named by the original alone").await;
            let remove = async || rig.sweep.remove(&Leadership::default(), [sha256.clone()]).await.unwrap();
            remove().await;
            assert!(object.exists(), "the mark has just been put there");
            let original = SweepMark::without_delay(ObjectStorage::folder(rig.place.path(), String::new()).unwrap());
            original.stands().await.unwrap();
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
            let (sha256, object) = rig.put(b"recorded late").await;
            let removal = rig.blobs.removal(&sha256).unwrap();
            write(db, named(1, &sha256)).await.unwrap();
            assert!(!remove_or_undo(removal, &queries, &sha256).await.unwrap());
            assert_eq!(std::fs::read(object).unwrap(), b"recorded late");
        })
        .await;
    }

    #[tokio::test]
    async fn contents_that_are_missing_in_the_bucket_are_stored_again_or_told() {
        on_each(async |db| {
            let rig = Rig::open(&Queries::new(db.clone()), 5);
            let (first, first_object) = rig.put(b"first").await;
            // Its copy takes the place of the other one.
            let (second, second_object) = rig.put(b"secon").await;
            for (n, sha256) in [(1, &first), (2, &second)] {
                write(db, named(n, sha256)).await.unwrap();
            }
            for object in [&first_object, &second_object] {
                std::fs::remove_file(object).unwrap();
            }
            rig.run_after(1).await;
            assert!(second_object.exists() && !first_object.exists());
            assert_eq!(rig.sweep.missing_count(), 1);
            rig.put(b"first").await;
            rig.run_after(1).await;
            assert_eq!(rig.sweep.missing_count(), 0);
        })
        .await;
    }
}
