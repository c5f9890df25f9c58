//! Contents being recorded or removed. The same contents are never both at the same time; others do not wait for each
//! other, however long a bucket takes.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::transfers::TransferClass;

/// Contents being recorded or removed.
#[derive(Debug, Default)]
pub(crate) struct ContentUses {
    index: Mutex<UseIndex>,
    /// Notified when a removal has ended.
    ends: Notify,
}

#[derive(Debug, Default)]
struct UseIndex {
    /// Number of recordings of each content.
    recordings: HashMap<String, usize>,
    removals: HashSet<String>,
    /// Number of [`RetentionGuard`]s, which protect all contents.
    guards: usize,
}

/// Recording of a file that refers to contents, which are not removed until this is dropped. Hold it from the time the
/// contents are stored until their file is recorded.
#[derive(Debug)]
pub struct Recording {
    uses: Arc<ContentUses>,
    hashes: Mutex<Vec<String>>,
    class: TransferClass,
}

/// Removal of contents, which are not stored until this is dropped.
#[derive(Debug)]
pub(super) struct Removal {
    uses: Arc<ContentUses>,
    sha256: String,
}

/// Guard that prevents stored contents from being removed until it is dropped. Removals do not wait for the guard; they
/// remove nothing, and a later removal finds the contents to which no file refers.
#[derive(Debug)]
pub struct RetentionGuard(Arc<ContentUses>);

impl ContentUses {
    fn lock(&self) -> MutexGuard<'_, UseIndex> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins the removal of contents; `None` if they are being recorded or removed, or protected.
    pub(super) fn begin_removal(self: &Arc<Self>, sha256: &str) -> Option<Removal> {
        let mut index = self.lock();
        let is_free = index.guards == 0 && !index.recordings.contains_key(sha256);
        (is_free && index.removals.insert(sha256.to_owned()))
            .then(|| Removal { uses: self.clone(), sha256: sha256.to_owned() })
    }

    /// Protects all contents. Waits for the removals in progress.
    pub(super) async fn keep_all(self: &Arc<Self>) -> RetentionGuard {
        self.lock().guards += 1;
        let guard = RetentionGuard(self.clone());
        loop {
            let end = self.ends.notified();
            if self.lock().removals.is_empty() {
                return guard;
            }
            end.await;
        }
    }
}

impl Recording {
    pub(crate) fn new(uses: Arc<ContentUses>, class: TransferClass) -> Self {
        Self { uses, hashes: Mutex::default(), class }
    }

    /// Returns the class in which the contents are sent to a bucket.
    pub(super) fn class(&self) -> TransferClass {
        self.class
    }

    /// Adds contents that are about to be stored. Waits while the same contents are being removed.
    pub(super) async fn add(&self, sha256: &str) {
        loop {
            let end = self.uses.ends.notified();
            if self.try_add(sha256) {
                return;
            }
            end.await;
        }
    }

    /// Adds contents, unless they are being removed; returns whether they were added.
    pub(crate) fn try_add(&self, sha256: &str) -> bool {
        let mut index = self.uses.lock();
        if index.removals.contains(sha256) {
            return false;
        }
        *index.recordings.entry(sha256.to_owned()).or_default() += 1;
        self.hashes.lock().unwrap_or_else(PoisonError::into_inner).push(sha256.to_owned());
        true
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let hashes = mem::take(self.hashes.get_mut().unwrap_or_else(PoisonError::into_inner));
        let mut index = self.uses.lock();
        for sha256 in hashes {
            let Some(count) = index.recordings.get_mut(&sha256) else { continue };
            *count -= 1;
            if *count == 0 {
                index.recordings.remove(&sha256);
            }
        }
    }
}

impl Drop for Removal {
    fn drop(&mut self) {
        self.uses.lock().removals.remove(&self.sha256);
        self.uses.ends.notify_waiters();
    }
}

impl Drop for RetentionGuard {
    fn drop(&mut self) {
        self.0.lock().guards -= 1;
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[tokio::test]
    async fn only_the_same_contents_wait_for_each_other() {
        let uses = Arc::<ContentUses>::default();
        let [first, second] = [(); 2].map(|()| Recording::new(uses.clone(), TransferClass::Other));
        first.add("a").await;
        first.add("a").await;
        second.add("a").await;
        drop(first);
        assert!(uses.begin_removal("a").is_none(), "another one records it");
        let other = uses.begin_removal("b").unwrap();
        assert!(uses.begin_removal("b").is_none(), "it is being removed");
        assert!(!second.try_add("b") && second.try_add("c"));
        {
            let mut adding = std::pin::pin!(second.add("b"));
            assert!(futures::poll!(&mut adding).is_pending());
            drop(other);
            adding.await;
        }
        drop(second);
        drop(uses.begin_removal("a").unwrap());
        assert!(uses.lock().recordings.is_empty() && uses.lock().removals.is_empty());
    }

    #[tokio::test]
    async fn a_guard_waits_for_removals_and_allows_no_others() {
        let uses = Arc::<ContentUses>::default();
        let removal = uses.begin_removal("a").unwrap();
        let mut keeping = std::pin::pin!(uses.keep_all());
        assert!(futures::poll!(&mut keeping).is_pending());
        assert!(uses.begin_removal("b").is_none());
        drop(removal);
        let guard = keeping.await;
        assert!(uses.begin_removal("a").is_none());
        drop(guard);
        assert!(uses.begin_removal("a").is_some());
    }
}
