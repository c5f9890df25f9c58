//! Looks up what idempotency keys were answered: all that are asked for while a look-up is under way share the next one.
//!
//! Every keyed request asks before it is let through: one query for each, beside commits that many of them share, is what
//! this spares.

use crate::entities::idempotency;
use crate::store::rows::{Idempotency, LoadError, read_idempotency};
use sea_orm::{ColumnTrait, DatabaseConnection, EntityTrait, QueryFilter};
use std::collections::HashMap;
use tokio::sync::{mpsc, oneshot};

/// Most keys in one query.
const MOST: usize = 256;

type Asked = (String, oneshot::Sender<Option<Idempotency>>);

/// Speaks to the task that looks up; the task ends with the last of these.
#[derive(Clone, Debug)]
pub(super) struct Kept(mpsc::UnboundedSender<Asked>);

impl Kept {
    /// Over this pool.
    pub(super) fn new(db: DatabaseConnection) -> Self {
        let (sender, asked) = mpsc::unbounded_channel();
        tokio::spawn(look_up(db, asked));
        Self(sender)
    }

    /// What this key was answered; an outer `None`: the look-up failed, and the caller may try for itself.
    pub(super) async fn answer(&self, key: &str) -> Option<Option<Idempotency>> {
        let (sender, answer) = oneshot::channel();
        self.0.send((key.to_owned(), sender)).ok()?;
        answer.await.ok()
    }
}

async fn look_up(db: DatabaseConnection, mut asked: mpsc::UnboundedReceiver<Asked>) {
    let mut some = Vec::new();
    while asked.recv_many(&mut some, MOST).await > 0 {
        let keys = some.iter().map(|(key, _)| key.clone()).collect();
        match find(&db, keys).await {
            Ok(found) => some.drain(..).for_each(|(key, sender)| {
                let _ = sender.send(found.get(&key).cloned());
            }),
            // Dropping the senders tells the callers.
            Err(error) => {
                tracing::debug!(%error, "idempotency keys are looked up one by one");
                some.clear();
            }
        }
    }
}

async fn find(db: &DatabaseConnection, keys: Vec<String>) -> Result<HashMap<String, Idempotency>, LoadError> {
    let rows = idempotency::Entity::find().filter(idempotency::Column::Key.is_in(keys)).all(db).await?;
    let read = |row| read_idempotency(row).map(|answered| (answered.key.clone(), answered));
    Ok(rows.into_iter().map(read).collect::<Result<_, _>>()?)
}
