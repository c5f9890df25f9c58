//! Looks up stored responses for idempotency keys in batches: all keys requested while a query is running are looked up
//! by the next query.
//!
//! Every request with a key requires a lookup before it is admitted. A separate query for each would cost more than the
//! commit, which many requests share.

use std::collections::BTreeMap;

use sea_orm::{ColumnTrait, DatabaseConnection, EntityTrait, QueryFilter};
use tokio::sync::{mpsc, oneshot};

use crate::rows::{IdempotentAnswer, LoadError, read_idempotency};
use entities::idempotency;

/// Maximum number of keys per query.
const MAX_KEYS_PER_QUERY: usize = 256;

/// Key to look up, with the channel for the response.
type KeyLookup = (String, oneshot::Sender<Option<IdempotentAnswer>>);

/// Sender to the task that looks up keys. The task ends when the last clone is dropped.
#[derive(Clone, Debug)]
pub(super) struct IdempotentAnswers(mpsc::UnboundedSender<KeyLookup>);

impl IdempotentAnswers {
    /// Starts the lookup task on the given pool. Must be called within a runtime.
    pub(super) fn new(db: DatabaseConnection) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        tokio::spawn(look_up_in_batches(db, receiver));
        Self(sender)
    }

    /// Returns the response stored for the given key. The outer `None` means that the batched lookup failed; the caller
    /// can then run its own query.
    pub(super) async fn get(&self, key: &str) -> Option<Option<IdempotentAnswer>> {
        let (sender, answer) = oneshot::channel();
        self.0.send((key.to_owned(), sender)).ok()?;
        answer.await.ok()
    }
}

async fn look_up_in_batches(db: DatabaseConnection, mut receiver: mpsc::UnboundedReceiver<KeyLookup>) {
    let mut batch = Vec::new();
    while receiver.recv_many(&mut batch, MAX_KEYS_PER_QUERY).await > 0 {
        let keys = batch.iter().map(|(key, _)| key.clone()).collect();
        match find(&db, keys).await {
            Ok(answers) => batch.drain(..).for_each(|(key, sender)| {
                let _ = sender.send(answers.get(&key).cloned());
            }),
            // Dropping the senders tells the callers.
            Err(error) => {
                tracing::debug!(%error, "looking up idempotency keys one by one");
                batch.clear();
            }
        }
    }
}

async fn find(db: &DatabaseConnection, keys: Vec<String>) -> Result<BTreeMap<String, IdempotentAnswer>, LoadError> {
    let rows = idempotency::Entity::find().filter(idempotency::Column::Key.is_in(keys)).all(db).await?;
    let read = |row| read_idempotency(row).map(|answered| (answered.key.clone(), answered));
    Ok(rows.into_iter().map(read).collect::<Result<_, _>>()?)
}
