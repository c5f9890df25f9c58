//! Statements that delete rows whose retention period has ended. Each function returns the number of rows deleted.

use sea_orm::sea_query::{Expr, ExprTrait, Query, SubQueryStatement};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use serde::Serialize;

use crate::rows::{WriteError, word};
use domain::endpoint::DeliveryState;
use domain::export::ExportState;
use domain::mail::MailState;
use domain::time::{DAY_MS, Timestamp};
use entities::{deliveries, events, exports, idempotency, mails, sign_in_links};

/// Time, in milliseconds, for which a sign-in link stays after it has expired: none that is in memory loses its row.
pub(crate) const LINK_RETENTION_MS: i64 = DAY_MS;
/// States of emails that are not to be sent any more.
pub(crate) const ENDED_MAILS: [MailState; 3] = [MailState::Sent, MailState::Failed, MailState::Dismissed];
/// States of exports whose files no longer exist.
pub(crate) const ENDED_EXPORTS: [ExportState; 2] = [ExportState::Expired, ExportState::Failed];
/// Number of rows that a statement deletes where there may be very many.
const ROWS_PER_PORTION: u64 = 500;
/// Maximum number of such statements at a time, because commits wait for them.
const MAX_PORTIONS: usize = 10;

/// Deletes idempotency keys that have expired by `now`.
pub async fn purge_idempotency(tx: &impl ConnectionTrait, now: Timestamp) -> Result<u64, WriteError> {
    let over = idempotency::Column::ExpiresAt.lte(now.0);
    let gone = idempotency::Entity::delete_many().filter(over).exec(tx).await.map_err(WriteError::Db)?;
    Ok(gone.rows_affected)
}

/// Returns states as their columns have them.
pub(crate) fn state_words<S: Serialize>(states: &[S]) -> Result<Vec<String>, serde_json::Error> {
    states.iter().map(word).collect()
}

/// Deletes sign-in links that expired before the given time.
pub async fn purge_sign_in_links(tx: &impl ConnectionTrait, before: Timestamp) -> Result<u64, WriteError> {
    let over = sign_in_links::Column::ExpiresAt.lt(before.0);
    let gone = sign_in_links::Entity::delete_many().filter(over).exec(tx).await.map_err(WriteError::Db)?;
    Ok(gone.rows_affected)
}

/// Deletes emails whose last attempt was before the given time, except those that are still to be sent. After the last
/// attempt, `next_at` is the time at which another one would have been made, hours later at most. There may be very
/// many, so they are deleted in portions, and those beyond `MAX_PORTIONS` stay until the next time.
pub async fn purge_mails(tx: &impl ConnectionTrait, before: Timestamp) -> Result<u64, WriteError> {
    let over = mails::Column::State.is_in(state_words(&ENDED_MAILS)?);
    let old = mails::Column::NextAt.lt(before.0).and(over);
    let some =
        Query::select().column(mails::Column::Id).from(mails::Entity).and_where(old).limit(ROWS_PER_PORTION).to_owned();
    let mut rows = 0;
    for _ in 0..MAX_PORTIONS {
        let which = mails::Column::Id.in_subquery(some.clone());
        let gone = mails::Entity::delete_many().filter(which).exec(tx).await.map_err(WriteError::Db)?.rows_affected;
        rows += gone;
        if gone < ROWS_PER_PORTION {
            break;
        }
    }
    Ok(rows)
}

/// Deletes exports created before the given time whose files no longer exist.
pub async fn purge_exports(tx: &impl ConnectionTrait, before: Timestamp) -> Result<u64, WriteError> {
    let over = exports::Column::State.is_in(state_words(&ENDED_EXPORTS)?);
    let old = exports::Column::CreatedAt.lt(before.0).and(over);
    let gone = exports::Entity::delete_many().filter(old).exec(tx).await.map_err(WriteError::Db)?;
    Ok(gone.rows_affected)
}

/// Deletes events that are older than the given time. The last event is preserved, because numbering continues from it.
pub async fn purge_events(tx: &impl ConnectionTrait, before: Timestamp) -> Result<u64, WriteError> {
    let last = Query::select().expr(events::Column::Seq.max()).from(events::Entity).to_owned();
    let old =
        events::Column::CreatedAt.lt(before.0).and(Expr::col(events::Column::Seq).lt(SubQueryStatement::from(last)));
    let gone = events::Entity::delete_many().filter(old).exec(tx).await.map_err(WriteError::Db)?;
    Ok(gone.rows_affected)
}

/// Deletes deliveries created before the given time, except pending ones.
pub async fn purge_deliveries(tx: &impl ConnectionTrait, before: Timestamp) -> Result<u64, WriteError> {
    let over = deliveries::Column::State.ne(word(&DeliveryState::Pending)?);
    let old = deliveries::Column::CreatedAt.lt(before.0).and(over);
    let gone = deliveries::Entity::delete_many().filter(old).exec(tx).await.map_err(WriteError::Db)?;
    Ok(gone.rows_affected)
}
