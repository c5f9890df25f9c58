//! Work that runs in commit order without being a commit, such as loading aggregates and deleting old rows.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use sea_orm::{ConnectionTrait, DatabaseBackend, DatabaseConnection};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::reader::Reader;
use crate::rows::{
    DamagedRow, Deletion, HasTime, LINK_RETENTION_MS, LoadError, WriteError, purge_deliveries, purge_events,
    purge_exports, purge_idempotency, purge_mails, purge_sign_in_links,
};
use crate::{AggregateKey, CommitOwner, StoredAggregate, Submission};
use domain::aggregate::Versioned;
use domain::event;
use domain::id::Id;
use domain::time::{DAY_MS, Timestamp};

/// Time after which a deletion of old rows starts no further portion, because commits wait for it.
const DELETION_TIME: Duration = Duration::from_secs(2);

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
    /// expiry time. `turn` is the number of runs since the last one that left nothing, and `clock`, which nobody can
    /// set back, limits the time for which commits wait. With SQLite, the first of these runs also checkpoints and
    /// truncates the write-ahead log, so that it does not stay at its maximum size; not each of them, because it waits
    /// for readers of an older state, such as a backup. Reports to `back` whether there is more to delete; drops it if
    /// the rows cannot be deleted.
    pub(super) fn retention(
        now: Timestamp,
        turn: usize,
        clock: impl Fn() -> Instant + Send + Sync + 'static,
        back: oneshot::Sender<bool>,
    ) -> Self {
        let run: WorkFn = Box::new(move |reader| {
            async move {
                let deleted = match reader {
                    Reader::Database(db) => {
                        // First, so that the log is truncated even if there is more to delete than time to do it.
                        let truncated = if turn == 0 { truncate_log(db).await } else { Ok(()) };
                        let until = clock() + DELETION_TIME;
                        let deleted = delete_old_rows(db, now, turn, &|| clock() < until).await;
                        deleted.and_then(|deletion| truncated.map(|()| deletion))
                    }
                    Reader::Memory(store) => {
                        let before = now.plus_ms(-event::RETENTION_DAYS * DAY_MS);
                        store.delete_old_rows(now, before).map(|rows| Deletion { rows, has_more: false })
                    }
                };
                match deleted {
                    Ok(Deletion { rows, has_more }) => {
                        tracing::debug!(rows, has_more, "deleted expired rows");
                        // The receiver may be gone.
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

/// Deletes old rows as of `now`, as long as there is time. Each turn begins with a different kind of row, and deletes
/// some of these in any case, so that a kind with very many rows does not hold up the others. It does not end before
/// something is deleted or every kind has been looked at, so that a slow database has no turns without end.
async fn delete_old_rows(
    db: &DatabaseConnection,
    now: Timestamp,
    turn: usize,
    has_time: &HasTime<'_>,
) -> Result<Deletion, WriteError> {
    let before = now.plus_ms(-event::RETENTION_DAYS * DAY_MS);
    let links_before = now.plus_ms(-LINK_RETENTION_MS);
    let mut purges: [BoxFuture<'_, Result<Deletion, WriteError>>; 6] = [
        purge_idempotency(db, now, has_time).boxed(),
        purge_deliveries(db, before, has_time).boxed(),
        purge_events(db, before, has_time).boxed(),
        purge_sign_in_links(db, links_before, has_time).boxed(),
        purge_exports(db, before, has_time).boxed(),
        purge_mails(db, before, has_time).boxed(),
    ];
    let first = turn % purges.len();
    purges.rotate_left(first);
    let mut total = Deletion::default();
    for purge in purges {
        if total.rows > 0 && !has_time() {
            return Ok(Deletion { has_more: true, ..total });
        }
        let deletion = purge.await?;
        total.rows += deletion.rows;
        total.has_more |= deletion.has_more;
    }
    Ok(total)
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

#[cfg(test)]
mod tests;
