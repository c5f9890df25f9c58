//! Work that runs in commit order without being a commit, such as loading aggregates and deleting old rows.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use sea_orm::{ConnectionTrait, DatabaseBackend, DatabaseConnection};
use tokio::sync::oneshot;

use crate::reader::Reader;
use crate::rows::{
    DamagedRow, LINK_RETENTION_MS, LoadError, MAX_PURGED_ROWS, WriteError, purge_deliveries, purge_events,
    purge_exports, purge_idempotency, purge_mails, purge_sign_in_links,
};
use crate::{AggregateKey, CommitOwner, StoredAggregate, Submission};
use domain::aggregate::Versioned;
use domain::event;
use domain::id::Id;
use domain::time::{DAY_MS, Timestamp};

/// Function that runs the work and returns whether the store can continue to use its connection.
type WorkFn = Box<dyn for<'a> FnOnce(&'a Reader) -> BoxFuture<'a, bool> + Send>;

/// Entry in a store's queue.
pub enum QueueEntry {
    /// A commit with its owner, which receives the settlement.
    Commit(Box<Submission>, CommitOwner),
    /// Ordered work, which runs after the commits queued before it.
    Work(OrderedWork),
}

/// Queued load or deletion of old rows, with the aggregate type erased.
pub struct OrderedWork {
    pub(super) key: AggregateKey,
    pub(super) generation: u64,
    run: WorkFn,
}

impl OrderedWork {
    /// Creates work that loads a `T`. The result is reported to `back`, even if the work is dropped before it runs.
    pub fn load<T: StoredAggregate>(
        key: AggregateKey,
        generation: u64,
        back: impl FnOnce(LoadAnswer<T>) + Send + 'static,
    ) -> Self {
        let back = LoadCallback(Some(Box::new(back)));
        let run: WorkFn = Box::new(move |reader| {
            async move {
                match reader.load::<T>(key.1).await {
                    Ok(loaded) => {
                        back.call(LoadAnswer::Found(Arc::new(loaded)));
                        true
                    }
                    Err(LoadError::Damaged(damaged)) => {
                        back.call(LoadAnswer::Damaged(damaged));
                        true
                    }
                    Err(LoadError::Db(error)) => {
                        tracing::error!(kind = key.0, id = %key.1, %error, "cannot load an aggregate");
                        false
                    }
                }
            }
            .boxed()
        });
        Self { key, generation, run }
    }

    /// Creates work that deletes rows whose retention period has ended as of `now`; idempotency keys have their own
    /// expiry time. With SQLite, the write-ahead log is also checkpointed and truncated, so that it does not stay at
    /// its maximum size. Reports to `back` whether there is more to delete; drops it if the rows cannot be deleted.
    pub(super) fn retention(now: Timestamp, back: oneshot::Sender<bool>) -> Self {
        let run: WorkFn = Box::new(move |reader| {
            async move {
                let before = now.plus_ms(-event::RETENTION_DAYS * DAY_MS);
                let deleted = match reader {
                    Reader::Database(db) => {
                        // First, so that the log is truncated even if there is more to delete than time to do it.
                        let truncated = truncate_log(db).await;
                        delete_old_rows(db, now, before).await.and_then(|deletion| truncated.map(|()| deletion))
                    }
                    Reader::Memory(store) => {
                        store.delete_old_rows(now, before).map(|rows| Deletion { rows, has_more: false })
                    }
                };
                match deleted {
                    Ok(Deletion { rows, has_more }) => {
                        tracing::debug!(rows, has_more, "deleted expired rows");
                        // Nobody may be waiting any more.
                        let _ = back.send(has_more);
                    }
                    Err(error) => {
                        tracing::warn!(%error, "cannot delete expired rows; retrying later");
                    }
                }
                true
            }
            .boxed()
        });
        Self { key: AggregateKey("retention", Id::ONLY), generation: 0, run }
    }

    /// Runs the work. Returns `false` if the connection of `reader` failed and must no longer be used.
    pub(super) async fn run(self, reader: &Reader) -> bool {
        (self.run)(reader).await
    }
}

/// Outcome of a deletion of old rows.
struct Deletion {
    rows: u64,
    /// `true` if it has left some, because commits wait meanwhile.
    has_more: bool,
}

/// Deletes old rows, up to the first kind of which there are very many.
async fn delete_old_rows(db: &DatabaseConnection, now: Timestamp, before: Timestamp) -> Result<Deletion, WriteError> {
    let links_before = now.plus_ms(-LINK_RETENTION_MS);
    let purges: [BoxFuture<'_, Result<u64, WriteError>>; 6] = [
        purge_idempotency(db, now).boxed(),
        purge_deliveries(db, before).boxed(),
        purge_events(db, before).boxed(),
        purge_sign_in_links(db, links_before).boxed(),
        purge_exports(db, before).boxed(),
        purge_mails(db, before).boxed(),
    ];
    let mut rows = 0;
    for purge in purges {
        let purged = purge.await?;
        rows += purged;
        if purged >= MAX_PURGED_ROWS {
            return Ok(Deletion { rows, has_more: true });
        }
    }
    Ok(Deletion { rows, has_more: false })
}

/// Copies the write-ahead log of an SQLite database into the database, and truncates it.
async fn truncate_log(db: &DatabaseConnection) -> Result<(), WriteError> {
    if db.get_database_backend() == DatabaseBackend::Sqlite {
        db.execute_unprepared("PRAGMA wal_checkpoint(TRUNCATE)").await.map_err(WriteError::Db)?;
    }
    Ok(())
}

/// Result of a load.
pub enum LoadAnswer<T> {
    /// Last committed state; [`Versioned::nothing`] if the aggregate does not exist.
    Found(Arc<Versioned<T>>),
    /// A row cannot be read. Retrying does not help until the row is repaired.
    Damaged(DamagedRow),
    /// The store is unavailable. The load should be retried later.
    Unavailable,
}

impl<T> LoadAnswer<T> {
    /// Returns the loaded state, if any.
    pub fn into_state(self) -> Option<Arc<Versioned<T>>> {
        match self {
            Self::Found(state) => Some(state),
            Self::Damaged(_) | Self::Unavailable => None,
        }
    }
}

type LoadedFn<T> = Box<dyn FnOnce(LoadAnswer<T>) + Send>;

/// Callback that is called exactly once. If it is dropped, it is called with [`LoadAnswer::Unavailable`], so that the
/// actor knows to retry.
struct LoadCallback<T>(Option<LoadedFn<T>>);

impl<T> LoadCallback<T> {
    fn call(mut self, answer: LoadAnswer<T>) {
        if let Some(back) = self.0.take() {
            back(answer);
        }
    }
}

impl<T> Drop for LoadCallback<T> {
    fn drop(&mut self) {
        if let Some(back) = self.0.take() {
            back(LoadAnswer::Unavailable);
        }
    }
}
