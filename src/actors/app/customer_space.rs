//! Storage used by customer files that the shop has not processed yet. The limit is enforced during uploads, and old
//! files are deleted.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex as BlockingMutex, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use super::App;
use crate::slicing::CustomerQuota;
use domain::custom_request::{CustomRequestCommand, CustomRequestStatus};
use domain::customer_space::{SpaceLimits, SpaceRefusal, SpaceUse};
use domain::file::{CustomerUpload, File, FileCommand};
use domain::id::Id;
use domain::quote::{QuoteCommand, QuoteStatus};
use domain::time::Timestamp;
use files::blobs::Blobs;
use files::disk::DiskCapacity;
use kernel::envelope::CommandOrigin;
use kernel::handle::AskError;
use store::Unavailable;
use store::queries::{Queries, UnclaimedFile};
use store::rows::LoadError;

/// Time for which a measurement is reused; uploads after it are added to the result.
const MEASURED_FOR: Duration = Duration::from_secs(2);
/// Interval between searches for old files.
const LOOK_INTERVAL: Duration = Duration::from_secs(3600);
/// Number of files per database read during a search.
const FILES_PER_READ: u64 = 1_000;

/// Storage used by customer files, and its limits.
#[derive(Debug)]
pub struct CustomerSpace {
    queries: Queries,
    folder: PathBuf,
    blobs: Arc<Blobs>,
    limits: SpaceLimits,
    /// Time of the last measurement.
    measured_at: Mutex<Option<Instant>>,
    /// Result of the last measurement.
    stored: Arc<BlockingMutex<SpaceUse>>,
    /// Number of bytes in uploads in progress and in uploads completed since the last measurement.
    growth: Arc<AtomicU64>,
    /// Number of bytes in uploads completed since the last measurement.
    arrived: Arc<AtomicU64>,
}

/// Summary of the storage used by customer files.
#[derive(Clone, Copy, Debug)]
pub struct CustomerSpaceSummary {
    /// Storage in use.
    pub stored: SpaceUse,
    /// Storage limits.
    pub limits: SpaceLimits,
    /// Reason that customer uploads are rejected; `None` while they are accepted.
    pub refusal: Option<SpaceRefusal>,
}

/// Storage reserved for a customer's upload in progress.
#[derive(Debug)]
pub struct SpaceShare {
    limits: SpaceLimits,
    stored: Arc<BlockingMutex<SpaceUse>>,
    bytes: u64,
    is_kept: AtomicBool,
    growth: Arc<AtomicU64>,
    arrived: Arc<AtomicU64>,
}

impl SpaceShare {
    /// Reserves storage for the given number of additional bytes.
    ///
    /// # Errors
    ///
    /// Fails if a limit is exceeded.
    pub fn grow(&mut self, bytes: u64) -> Result<(), SpaceRefusal> {
        let growth = self.growth.fetch_add(bytes, Relaxed) + bytes;
        self.bytes += bytes;
        self.limits.refusal(latest(&self.stored), growth).map_or(Ok(()), Err)
    }

    /// Marks the upload as completed, so that its bytes are included until the next measurement.
    pub fn keep(&self) {
        self.is_kept.store(true, Relaxed);
    }
}

impl Drop for SpaceShare {
    fn drop(&mut self) {
        if self.is_kept.load(Relaxed) {
            self.arrived.fetch_add(self.bytes, Relaxed);
        } else {
            self.growth.fetch_sub(self.bytes, Relaxed);
        }
    }
}

impl CustomerSpace {
    /// Creates the limits on the disk with the given folder, which contains the contents or the local copies of them.
    pub(super) fn new(queries: Queries, folder: PathBuf, blobs: Arc<Blobs>, limits: SpaceLimits) -> Self {
        let (measured_at, stored) = (Mutex::default(), Arc::default());
        Self { queries, folder, blobs, limits, measured_at, stored, growth: Arc::default(), arrived: Arc::default() }
    }

    /// Returns the reservation for a new upload, if there is space for at least one byte.
    ///
    /// # Errors
    ///
    /// The inner error is the reason that the upload is rejected; the outer error means that the database does not
    /// respond.
    pub async fn admit(&self) -> Result<Result<SpaceShare, SpaceRefusal>, LoadError> {
        let stored = self.measure().await?;
        if let Some(refusal) = self.limits.refusal(stored, self.growth.load(Relaxed) + 1) {
            return Ok(Err(refusal));
        }
        let (stored, growth, arrived) = (self.stored.clone(), self.growth.clone(), self.arrived.clone());
        Ok(Ok(SpaceShare { limits: self.limits, stored, bytes: 0, is_kept: AtomicBool::new(false), growth, arrived }))
    }

    /// Returns the current usage, the limits and whether uploads are rejected.
    ///
    /// # Errors
    ///
    /// Fails if the database does not respond.
    pub async fn summary(&self) -> Result<CustomerSpaceSummary, LoadError> {
        let stored = self.measure().await?;
        let refusal = self.limits.refusal(stored, self.growth.load(Relaxed) + 1);
        Ok(CustomerSpaceSummary { stored, limits: self.limits, refusal })
    }

    async fn measure(&self) -> Result<SpaceUse, LoadError> {
        let mut measured_at = self.measured_at.lock().await;
        if measured_at.is_some_and(|at| at.elapsed() < MEASURED_FOR) {
            return Ok(latest(&self.stored));
        }
        // What arrives while it is counted may be counted twice until the next time, and never not at all. Nothing is
        // taken off before the end: whoever asks may go away in between.
        let arrived = self.arrived.load(Relaxed);
        let unclaimed_bytes = self.queries.unclaimed_bytes().await?;
        let folder = self.folder.clone();
        let room = spawn_blocking(move || DiskCapacity::of(&folder)).await.ok().and_then(Result::ok);
        let free_bytes = room.map(|room| room.free_bytes.saturating_add(self.blobs.spare_bytes()));
        let stored = SpaceUse { unclaimed_bytes, free_bytes };
        *self.stored.lock().unwrap_or_else(PoisonError::into_inner) = stored;
        self.arrived.fetch_sub(arrived, Relaxed);
        self.growth.fetch_sub(arrived, Relaxed);
        *measured_at = Some(Instant::now());
        Ok(stored)
    }
}

#[async_trait]
impl CustomerQuota for CustomerSpace {
    async fn refusal(&self) -> Result<Option<SpaceRefusal>, LoadError> {
        Ok(self.summary().await?.refusal)
    }

    fn note_stored(&self, bytes: u64) {
        self.growth.fetch_add(bytes, Relaxed);
        self.arrived.fetch_add(bytes, Relaxed);
    }
}

fn latest(stored: &BlockingMutex<SpaceUse>) -> SpaceUse {
    *stored.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Deletes files that the shop has not processed within `keep`, at startup and then hourly for as long as the app
/// exists.
pub(super) async fn run(app: Weak<App>, keep: Duration) {
    let keep_ms = i64::try_from(keep.as_millis()).unwrap_or(i64::MAX);
    loop {
        {
            let Some(app) = app.upgrade() else { return };
            match app.delete_unclaimed(app.environment.now().plus_ms(-keep_ms)).await {
                Ok(0) => {}
                Ok(deleted) => tracing::info!(deleted, "deleted customers' files that were never handled"),
                Err(error) => tracing::warn!(%error, "cannot search for customers' unhandled files"),
            }
        }
        sleep(LOOK_INTERVAL).await;
    }
}

impl App {
    /// Deletes files that customers sent before the given time and that nobody has processed; returns the number of
    /// files deleted. Skips files that cannot be deleted now and files that a staff member is working on.
    async fn delete_unclaimed(&self, before: Timestamp) -> Result<usize, LoadError> {
        let (mut deleted, mut after, mut requests) = (0, None, HashSet::new());
        loop {
            let some = self.queries.unclaimed_before(before, after, FILES_PER_READ).await?;
            let Some(last) = some.last() else { return Ok(deleted) };
            after = Some((last.file.created_at, last.file.id));
            for UnclaimedFile { file, custom_request_id } in some {
                let result = match custom_request_id {
                    Some(request) if !requests.insert(request) => continue,
                    Some(request) => self.close_unanswered(request).await,
                    None => self.discard_untouched_draft(&file).await,
                };
                match result {
                    Ok(count) => deleted += count,
                    Err(error) => {
                        tracing::debug!(file = %file.id, %error, "cannot delete a customer's old file; retrying later");
                    }
                }
            }
        }
    }

    /// Closes a request if it is still new and deletes its photos, including any left by an earlier search. Returns the
    /// number of photos deleted.
    async fn close_unanswered(&self, id: Id) -> Result<usize, AskError> {
        let read = self.custom_requests.read(id).await.map_err(unavailable)?;
        let Some(request) = read.and_then(|request| request.state.clone()) else { return Ok(0) };
        if request.status == CustomRequestStatus::New {
            let close = CustomRequestCommand::CloseUnanswered { if_version: Some(request.revision) };
            self.custom_requests.ask(id, CommandOrigin::system(), close).await?;
        } else if !request.unanswered {
            return Ok(0);
        }
        let (mut deleted, mut failure) = (0, None);
        for photo in &request.photos {
            match self.delete_request_photo(photo.file_id).await {
                Ok(count) => deleted += count,
                Err(error) => failure = Some(error),
            }
        }
        if let Some(error) = failure {
            tracing::debug!(request = %id, %error, "cannot delete a photo of an unanswered request; retrying later");
        }
        Ok(deleted)
    }

    /// Deletes a photo, unless it is already gone; returns the number of files deleted.
    async fn delete_request_photo(&self, id: Id) -> Result<usize, AskError> {
        let read = self.files.read(id).await.map_err(unavailable)?;
        let Some(file) = read.and_then(|file| file.state.clone()).filter(|file| !file.archived) else { return Ok(0) };
        self.delete_upload(&file).await?;
        Ok(1)
    }

    /// Deletes a model, or a model's G-code, together with the draft quote and all G-code sliced for it, unless a staff
    /// member has changed the draft. Returns the number of files deleted. A later search finds the files that cannot be
    /// deleted now.
    async fn discard_untouched_draft(&self, file: &File) -> Result<usize, AskError> {
        let model = match file.customer_upload {
            Some(CustomerUpload::GcodeOf(model)) => model,
            _ => file.id,
        };
        if let Some(quote) = self.queries.quote_of_model(model).await.map_err(unavailable)? {
            if quote.status != QuoteStatus::Draft || quote.revision > 1 {
                return Ok(0);
            }
            self.quotes.ask(quote.id, CommandOrigin::system(), QuoteCommand::Archive).await?;
        }
        let mut deleted = 0;
        for gcode in self.queries.gcode_of_model(model).await.map_err(unavailable)? {
            match self.delete_upload(&gcode).await {
                Ok(()) => deleted += 1,
                Err(error) => {
                    tracing::debug!(file = %gcode.id, %error, "cannot delete the G-code of an old draft; retrying later");
                }
            }
        }
        if file.id == model {
            self.delete_upload(file).await?;
            deleted += 1;
        }
        Ok(deleted)
    }

    async fn delete_upload(&self, file: &File) -> Result<(), AskError> {
        self.files.ask(file.id, CommandOrigin::system(), FileCommand::Archive).await?;
        let contents: Vec<String> = std::iter::once(&file.sha256).chain(file.metadata.pictures()).cloned().collect();
        let leadership = self.environment.leadership();
        if let Err(error) = self.content_sweep.remove(leadership, contents).await {
            tracing::warn!(file = %file.id, %error, "cannot remove the content of a customer's old file from disk");
        }
        Ok(())
    }
}

fn unavailable(error: LoadError) -> AskError {
    tracing::debug!(%error, "cannot read a customer's files");
    AskError::Unavailable(Unavailable::Database)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::path::Path;

    use futures::FutureExt as _;

    use super::*;
    use store::rows::samples::{on_each, take_all_connections};

    fn space(queries: Queries, folder: &Path, limits: SpaceLimits) -> CustomerSpace {
        let blobs = Arc::new(Blobs::open(folder).unwrap());
        CustomerSpace::new(queries, folder.to_owned(), blobs, limits)
    }

    #[tokio::test]
    async fn what_the_server_made_of_a_customers_file_counts_at_once() {
        on_each(async |db| {
            let folder = tempfile::tempdir().unwrap();
            let limits = SpaceLimits { unclaimed_max_bytes: 100, reserved_bytes: 0 };
            let space = space(Queries::new(db.clone()), folder.path(), limits);
            assert_eq!(space.refusal().await.unwrap(), None);
            space.note_stored(100);
            assert_eq!(space.refusal().await.unwrap(), Some(SpaceRefusal::Unclaimed), "before it is measured again");
            *space.measured_at.lock().await = None;
            assert_eq!(space.refusal().await.unwrap(), None, "it is in the database, if anywhere");
        })
        .await;
    }

    #[tokio::test]
    async fn a_measurement_that_is_cancelled_takes_no_room_for_ever() {
        on_each(async |db| {
            let folder = tempfile::tempdir().unwrap();
            let limits = SpaceLimits { unclaimed_max_bytes: 100, reserved_bytes: 0 };
            let space = space(Queries::new(db.clone()), folder.path(), limits);
            for round in 0..5 {
                let share = space.admit().await.unwrap();
                let mut share = share.unwrap_or_else(|refusal| panic!("round {round}: {refusal}"));
                share.grow(60).unwrap();
                share.keep();
                drop(share);
                assert_eq!(space.growth.load(Relaxed), 60, "it counts until it is measured");
                let connections = take_all_connections(db).await;
                for _ in 0..3 {
                    *space.measured_at.lock().await = None;
                    assert!(space.summary().now_or_never().is_none(), "the database does not answer");
                }
                assert_eq!(space.growth.load(Relaxed), 60, "nothing was measured");
                drop(connections);
                // The shop has answered the file meanwhile: the database has none.
                let summary = space.summary().await.unwrap();
                let left = (space.growth.load(Relaxed), space.arrived.load(Relaxed));
                assert_eq!((summary.refusal, left), (None, (0, 0)), "round {round}");
            }
        })
        .await;
    }
}
