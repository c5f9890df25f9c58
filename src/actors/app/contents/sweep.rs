//! Sweep through all contents: deletes those to which no file refers, which a process that ended in the middle left
//! behind, and finds those that are missing. Contents of a file that was just deleted are removed at once, by the same
//! rules.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use super::mark::SweepMark;
use super::{RemoveError, remove_unnamed};
use domain::time::Timestamp;
use files::blobs::{Blobs, ContentEntry, is_outcome_unknown};
use services::object_storage::ObjectStorage;
use store::lease::Leadership;
use store::queries::Queries;

/// Minimum age of contents that are removed from a bucket, in milliseconds: by then, someone will have noticed that two
/// shops use the same place.
const MIN_AGE_MS: i64 = 7 * 24 * 3600 * 1000;

/// Maximum number of files whose contents are swept at once. If there are more, they are swept in parts, each of which
/// lists the bucket once, so that memory use is bounded.
const MAX_FILES_AT_ONCE: u64 = 20_000;
/// Number of files whose pictures are read at a time.
const FILES_PER_READ: u64 = 1_000;

/// SHA-256 in binary form, which takes less memory for large numbers of hashes.
type ContentHash = [u8; 32];

/// Result of a sweep so far.
#[derive(Default)]
struct SweepTally {
    removed: usize,
    restored: usize,
    missing: usize,
    /// Hash of missing contents; `None` if none are.
    example: Option<String>,
    /// Number of missing contents that could not be stored again.
    unrestored: usize,
    /// First error while storing contents again.
    restore_error: Option<io::Error>,
    /// First error that prevented the removal of contents.
    removal_error: Option<RemoveError>,
}

impl SweepTally {
    /// Records an error that prevented the removal of contents. A later sweep tries again.
    fn skip(&mut self, error: RemoveError) {
        self.removal_error.get_or_insert(error);
    }
}

/// Sweep through all contents, with the findings of the last one.
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

    /// Deletes the given contents, except those that a file still refers to, and those being recorded. Contents in a
    /// bucket stay as long as another shop may use the same place, and all stay if another server may lead for longer
    /// than a moment; a later sweep deletes them.
    ///
    /// # Errors
    ///
    /// Returns an error if the database, the disk or the bucket does not respond.
    pub async fn remove(
        &self,
        leadership: &Leadership,
        contents: impl IntoIterator<Item = String>,
    ) -> Result<(), RemoveError> {
        if !self.mark.is_established_at_once().await? {
            return Ok(());
        }
        for sha256 in contents {
            remove_unnamed(&self.blobs, &self.queries, leadership, &sha256).await?;
        }
        Ok(())
    }

    /// Deletes all contents that no file refers to and returns how many were deleted. Contents missing from a bucket
    /// are stored again, as far as there are copies. Failures for individual contents are skipped, but a bucket that
    /// does not respond, or fails, receives no further removals.
    ///
    /// # Errors
    ///
    /// Returns the first error that prevented the deletion of contents, after all others were swept. Ends at once only
    /// if the contents cannot be listed or the database does not respond.
    pub(in crate::app) async fn run(&self, leadership: &Leadership, now: Timestamp) -> Result<usize, RemoveError> {
        let parts = parts(self.queries.present_files().await?);
        self.run_in(&parts, leadership, now).await
    }

    /// Sweeps the contents whose hashes begin with each of the given digits, one part after the other.
    async fn run_in(&self, parts: &[String], leadership: &Leadership, now: Timestamp) -> Result<usize, RemoveError> {
        let (pictures, drawn) = (self.pictures().await?, self.blobs.drawn_contents().await?);
        let mark_check = self.mark.is_established().await;
        let (mut may_remove, before) = (matches!(mark_check, Ok(true)), now.plus_ms(-MIN_AGE_MS));
        let mut tally = SweepTally { removal_error: mark_check.err().map(RemoveError::from), ..SweepTally::default() };
        for part in parts {
            // Named before they are listed: what is stored and recorded meanwhile is asked for once more, one by one.
            let mut named = self.queries.named_contents(part).await?;
            named.extend(pictures_in(&pictures, part));
            let mut stored = self.blobs.contents_in(part).await?;
            self.store_missing_again(&named, &stored, &mut tally).await?;
            // What cannot be removed does not keep those that are missing from being found.
            if !may_remove {
                continue;
            }
            stored.retain(|content| content.stored_at.is_none_or(|stored_at| stored_at < before));
            stored.retain(|content| !named.contains(&content.sha256));
            let of_part = |sha256: &&String| sha256.starts_with(part.as_str()) && !named.contains(*sha256);
            let drawn: Vec<&String> = drawn.iter().filter(of_part).collect();
            if let Err(error) = self.remove_all(leadership, &stored, &drawn, &mut tally).await {
                // The mark is looked at again for the next part.
                may_remove = matches!(error, RemoveError::Mark(_));
                tally.skip(error);
            }
        }
        self.report(&tally);
        match tally.removal_error {
            Some(error) => Err(error),
            None => Ok(tally.removed),
        }
    }

    /// Deletes contents that were not referred to a moment ago, as long as the mark is established, and the drawings of
    /// such contents.
    ///
    /// # Errors
    ///
    /// Returns any error that prevents further deletion. This includes the first error from a bucket that does not
    /// report what it has done, because contents that it may have removed are held and looked for. Other contents that
    /// the disk or the bucket fails to delete are skipped.
    async fn remove_all(
        &self,
        leadership: &Leadership,
        unnamed: &[ContentEntry],
        drawn: &[&String],
        tally: &mut SweepTally,
    ) -> Result<(), RemoveError> {
        if !unnamed.is_empty() && self.mark.is_established().await? {
            for ContentEntry { sha256, .. } in unnamed {
                match remove_unnamed(&self.blobs, &self.queries, leadership, sha256).await {
                    Ok(is_removed) => tally.removed += usize::from(is_removed),
                    Err(RemoveError::Disk(error)) if !is_outcome_unknown(&error) => tally.skip(error.into()),
                    Err(error) => return Err(error),
                }
            }
        }
        for sha256 in drawn {
            // Another server that used the same bucket may have removed the contents.
            if let Err(error) = self.blobs.remove_drawings(sha256).await {
                tally.skip(error.into());
            }
        }
        Ok(())
    }

    /// Stores contents in a bucket again that are named and not among the stored ones.
    async fn store_missing_again(
        &self,
        named: &HashSet<String>,
        stored: &[ContentEntry],
        tally: &mut SweepTally,
    ) -> Result<(), RemoveError> {
        if !self.blobs.is_in_bucket() {
            return Ok(());
        }
        let stored: HashSet<&str> = stored.iter().map(|content| content.sha256.as_str()).collect();
        for sha256 in named.iter().filter(|sha256| !stored.contains(sha256.as_str())) {
            // Their file may have been deleted meanwhile.
            if !self.queries.is_content_named(sha256).await? {
                continue;
            }
            match self.blobs.store_copy_again(sha256).await {
                Ok(true) => tally.restored += 1,
                Ok(false) => {
                    tally.missing += 1;
                    tally.example.get_or_insert_with(|| sha256.clone());
                }
                Err(error) => {
                    tally.unrestored += 1;
                    tally.restore_error.get_or_insert(error);
                }
            }
        }
        Ok(())
    }

    /// Records the findings of a sweep through all parts.
    fn report(&self, tally: &SweepTally) {
        let SweepTally { restored, missing, unrestored, .. } = *tally;
        self.missing_count.store(missing + unrestored, Relaxed);
        if restored > 0 {
            tracing::warn!(restored, "restored files that were missing in the bucket from local copies");
        }
        if let Some(error) = &tally.restore_error {
            tracing::warn!(unrestored, %error, "files that are missing in the bucket cannot be stored again; retrying");
        }
        if let Some(sha256) = &tally.example {
            tracing::error!(missing, sha256, "the contents of files are missing in the bucket");
        }
    }

    /// Reads the hashes of the pictures of all files. They are inside the files' documents, so that reading only the
    /// hashes of one part would take as long.
    async fn pictures(&self) -> Result<BTreeSet<ContentHash>, RemoveError> {
        let (mut after, mut pictures) = (None, BTreeSet::new());
        while let Some((last, hashes)) = self.queries.pictures_after(after, FILES_PER_READ).await? {
            pictures.extend(hashes.iter().filter_map(|sha256| decode(sha256)));
            after = Some(last);
        }
        Ok(pictures)
    }
}

/// Returns the first digits of the hashes of each part in which contents are swept.
fn parts(files: u64) -> Vec<String> {
    if files <= MAX_FILES_AT_ONCE {
        return vec![String::new()];
    }
    (0..=u8::MAX).map(|first| format!("{first:02x}")).collect()
}

/// Returns the hash in binary form; `None` if it is none.
fn decode(sha256: &str) -> Option<ContentHash> {
    let mut hash = [0; 32];
    hex::decode_to_slice(sha256, &mut hash).ok().map(|()| hash)
}

/// Returns the hashes of pictures that belong to a part.
fn pictures_in(pictures: &BTreeSet<ContentHash>, part: &str) -> impl Iterator<Item = String> {
    let (mut first, mut last) = ([u8::MIN; 32], [u8::MAX; 32]);
    if let Ok(digits) = u8::from_str_radix(part, 16) {
        (first[0], last[0]) = (digits, digits);
    }
    pictures.range(first..=last).map(hex::encode)
}

#[cfg(test)]
mod tests;
