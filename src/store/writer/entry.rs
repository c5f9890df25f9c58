//! What waits in the writer's queue: commits, loads, housekeeping.

use crate::domain::aggregate::{Aggregate, Versioned};
use crate::domain::id::Id;
use crate::domain::time::Timestamp;
use crate::store::load::Load;
use crate::store::rows::{LoadError, WriteError, purge_deliveries, purge_events, purge_idempotency};
use crate::store::{Key, Owner, Submission};
use futures::FutureExt;
use futures::future::BoxFuture;
use sea_orm::{ConnectionTrait, DatabaseBackend, DatabaseConnection};
use std::sync::Arc;

type Run = Box<dyn for<'a> FnOnce(&'a DatabaseConnection) -> BoxFuture<'a, bool> + Send>;

/// A queued load, its type erased.
pub struct LoadEntry {
    pub(super) key: Key,
    pub(super) generation: u64,
    pub(super) run: Option<Run>,
}

impl LoadEntry {
    /// Loads a `T` and gives it back; `None` when the database is away or the writer falls.
    pub fn of<T: Aggregate + Load>(
        key: Key,
        generation: u64,
        back: impl FnOnce(Option<Arc<Versioned<T>>>) + Send + 'static,
    ) -> Self {
        let back = Back(Some(Box::new(back)));
        let run: Run = Box::new(move |db| {
            async move {
                match T::load(db, key.1).await {
                    Ok(loaded) => {
                        back.give(Arc::new(loaded));
                        true
                    }
                    Err(error) => {
                        tracing::error!(kind = key.0, id = %key.1, %error, "load failed");
                        matches!(error, LoadError::Damaged(_))
                    }
                }
            }
            .boxed()
        });
        Self { key, generation, run: Some(run) }
    }

    /// Forgets what is kept for a time only (decisions §1), and on SQLite folds the log back into the file.
    pub fn run_retention(now: Timestamp) -> Self {
        let run: Run = Box::new(move |db| {
            async move {
                match run_retention(db, now).await {
                    Ok(gone) => tracing::debug!(gone, "house kept"),
                    Err(error) => tracing::warn!(%error, "house not kept, is tried again later"),
                }
                true
            }
            .boxed()
        });
        Self { key: Key("housekeeping", Id::ONLY), generation: 0, run: Some(run) }
    }
}

/// Events and the delivery log are kept this long (decisions §1).
const KEPT_MS: i64 = 30 * 24 * 3_600_000;

async fn run_retention(db: &DatabaseConnection, now: Timestamp) -> Result<u64, WriteError> {
    let before = now.plus_ms(-KEPT_MS);
    let gone =
        purge_idempotency(db, now).await? + purge_deliveries(db, before).await? + purge_events(db, before).await?;
    if db.get_database_backend() == DatabaseBackend::Sqlite {
        db.execute_unprepared("PRAGMA wal_checkpoint(TRUNCATE)").await.map_err(WriteError::Db)?;
    }
    Ok(gone)
}

type GiveBack<T> = Box<dyn FnOnce(Option<Arc<Versioned<T>>>) + Send>;
/// Dropped unanswered it says so, and the owner asks again.
struct Back<T>(Option<GiveBack<T>>);
impl<T> Back<T> {
    fn give(mut self, loaded: Arc<Versioned<T>>) {
        if let Some(back) = self.0.take() {
            back(Some(loaded));
        }
    }
}
impl<T> Drop for Back<T> {
    fn drop(&mut self) {
        if let Some(back) = self.0.take() {
            back(None);
        }
    }
}

/// An entry of the writer's one queue.
pub enum Entry {
    /// A commit and whom to tell.
    Commit(Box<Submission>, Owner),
    /// A load.
    Load(LoadEntry),
}
