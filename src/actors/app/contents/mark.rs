//! Mark of the server that removes unnamed contents from a bucket.
//!
//! Two shops may use the same place in a bucket by mistake, for example because a machine was cloned with its settings.
//! Each of them would remove contents that only the other one's database refers to. Each server therefore leaves a
//! random mark in the place, and removes nothing before its mark has stood there for a while, not even what a person
//! deletes; whoever finds another mark puts its own in its place, so that both find out.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use platform::secrets::random::secret_bytes;
use services::object_storage::large::SINGLE_TIME;
use services::object_storage::mark::{MarkOwner, PlaceMark};
use services::object_storage::{ObjectStorage, StorageError};

/// Key of the mark. It is alongside the contents, so that it does not count as one of them.
const MARK_KEY: &str = "sweeper#mark";
/// Time for which the mark must have been in place. Longer than the interval at which other servers check it.
const STANDING_TIME: Duration = Duration::from_secs(6 * 3600);
/// Time for which no one waits for the mark again after the bucket failed to respond.
const SILENT_PAUSE: Duration = Duration::from_secs(60);

/// Mark of the server that removes unnamed contents.
#[derive(Debug)]
pub(super) struct SweepMark {
    /// Mark in a bucket; `None` if contents are on a disk, which the lock on the data directory protects.
    mark: Option<PlaceMark>,
    text: String,
    standing_time: Duration,
    /// Time since which the mark has been in place, as far as this server knows.
    since: Mutex<Option<Instant>>,
    silent_until: Mutex<Option<Instant>>,
    is_disputed: AtomicBool,
}

impl SweepMark {
    pub(super) fn new(storage: Option<ObjectStorage>) -> Self {
        let text = hex::encode(secret_bytes::<16>());
        Self {
            mark: storage.map(|storage| PlaceMark::new(storage, MARK_KEY)),
            text,
            standing_time: STANDING_TIME,
            since: Mutex::default(),
            silent_until: Mutex::default(),
            is_disputed: AtomicBool::new(false),
        }
    }

    /// Returns whether another server has put its mark into the place lately.
    pub(super) fn is_disputed(&self) -> bool {
        self.is_disputed.load(Relaxed)
    }

    /// Reads the mark, and writes it if it is missing. Returns whether it has existed for long enough.
    pub(super) async fn is_established(&self) -> Result<bool, StorageError> {
        let Some(mark) = &self.mark else { return Ok(true) };
        let owner = mark.owner(&self.text).await?;
        let since = *lock(&self.since);
        if let Some(since) = since.filter(|_| owner == MarkOwner::Own) {
            let is_established = since.elapsed() >= self.standing_time;
            if is_established {
                self.is_disputed.store(false, Relaxed);
            }
            return Ok(is_established);
        }
        // The first mark that a server finds is that of its own last run.
        if since.is_some() && owner != MarkOwner::Nobody {
            tracing::error!("another server uses the same place in the bucket for files; nothing is removed from it");
            self.is_disputed.store(true, Relaxed);
        }
        // If the mark is put there late, or nobody waits for it, its time has not begun.
        *lock(&self.since) = None;
        mark.write(&self.text).await?;
        *lock(&self.since) = Some(Instant::now());
        Ok(false)
    }

    /// Returns whether the mark has existed for long enough, like [`Self::is_established`], but sends no request while
    /// that is impossible, and answers quickly because the person deleting a file is waiting.
    pub(super) async fn is_established_at_once(&self) -> Result<bool, StorageError> {
        if self.mark.is_none() {
            return Ok(true);
        }
        let since = *lock(&self.since);
        if since.is_none_or(|since| since.elapsed() < self.standing_time) {
            return Ok(false);
        }
        let silent_until = *lock(&self.silent_until);
        if silent_until.is_some_and(|until| Instant::now() < until) {
            return Err(StorageError::Silent("no response a moment ago".to_owned()));
        }
        let in_time = timeout(SINGLE_TIME, self.is_established()).await;
        let outcome = in_time.unwrap_or_else(|_| Err(StorageError::Silent("no response in time".to_owned())));
        if matches!(outcome, Err(StorageError::Silent(_))) {
            *lock(&self.silent_until) = Some(Instant::now() + SILENT_PAUSE);
        }
        outcome
    }

    /// Returns the mark of a server that waits for no time.
    #[cfg(test)]
    pub(super) fn without_delay(storage: ObjectStorage) -> Self {
        Self { standing_time: Duration::ZERO, ..Self::new(Some(storage)) }
    }
}

fn lock(time: &Mutex<Option<Instant>>) -> MutexGuard<'_, Option<Instant>> {
    time.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[tokio::test]
    async fn nothing_is_removed_before_the_mark_has_stood_for_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let storage = ObjectStorage::folder(folder.path(), String::new()).unwrap();
        let mark = SweepMark::new(Some(storage.clone()));
        assert!(!mark.is_established().await.unwrap() && !mark.is_established().await.unwrap());
        let mark = SweepMark::without_delay(storage);
        assert!(!mark.is_established().await.unwrap(), "it has just been put there");
        assert!(mark.is_established().await.unwrap() && !mark.is_disputed());
        assert!(SweepMark::new(None).is_established().await.unwrap(), "a disk");
    }

    #[tokio::test]
    async fn a_deletion_asks_for_no_mark_that_cannot_have_stood_for_long() {
        let folder = tempfile::tempdir().unwrap();
        let storage = ObjectStorage::folder(folder.path(), String::new()).unwrap();
        let mark = SweepMark::new(Some(storage.clone()));
        assert!(!mark.is_established_at_once().await.unwrap());
        assert!(matches!(storage.get(MARK_KEY).await, Err(StorageError::Missing)), "the next sweep puts it there");
        assert!(!mark.is_established().await.unwrap());
        storage.remove(MARK_KEY).await.unwrap();
        assert!(!mark.is_established_at_once().await.unwrap());
        assert!(matches!(storage.get(MARK_KEY).await, Err(StorageError::Missing)), "nothing is asked");
        let mark = SweepMark::without_delay(storage);
        assert!(!mark.is_established().await.unwrap() && mark.is_established_at_once().await.unwrap());
        *lock(&mark.silent_until) = Some(Instant::now() + SILENT_PAUSE);
        assert!(matches!(mark.is_established_at_once().await, Err(StorageError::Silent(_))), "nobody waits again");
        assert!(SweepMark::new(None).is_established_at_once().await.unwrap(), "a disk");
    }

    #[tokio::test]
    async fn two_servers_with_the_same_place_find_out() {
        let folder = tempfile::tempdir().unwrap();
        let storage = ObjectStorage::folder(folder.path(), String::new()).unwrap();
        let (shop, clone) = (SweepMark::without_delay(storage.clone()), SweepMark::without_delay(storage.clone()));
        assert!(!shop.is_established().await.unwrap() && shop.is_established().await.unwrap());
        assert!(!clone.is_established().await.unwrap() && !clone.is_disputed(), "it may have been started again");
        for _ in 0..3 {
            for mark in [&shop, &clone] {
                assert!(!mark.is_established().await.unwrap() && mark.is_disputed());
            }
        }
        assert!(!shop.is_established().await.unwrap());
        assert!(shop.is_established().await.unwrap() && !shop.is_disputed(), "the other one has ended");
        storage.remove(MARK_KEY).await.unwrap();
        assert!(!shop.is_established().await.unwrap() && !shop.is_disputed(), "somebody has removed it");
    }
}
