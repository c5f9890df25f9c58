//! Statements that delete rows whose retention period has ended. There may be very many after the server was off for
//! weeks, so each function deletes them in portions, as long as there is time and up to a maximum number. The rest
//! stays until the next time.

use sea_orm::sea_query::{Expr, ExprTrait, Order, Query, SubQueryStatement};
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
/// States of emails that will no longer be sent.
pub(crate) const ENDED_MAILS: [MailState; 3] = [MailState::Sent, MailState::Failed, MailState::Dismissed];
/// States of exports whose files no longer exist.
pub(crate) const ENDED_EXPORTS: [ExportState; 2] = [ExportState::Expired, ExportState::Failed];
/// Number of rows that a statement deletes.
const ROWS_PER_PORTION: u64 = 500;
/// Maximum number of portions that a function deletes at a time, because commits wait for it.
const MAX_PORTIONS: u64 = 10;

/// Function that returns whether there is time for another portion.
pub(crate) type HasTime<'a> = dyn Fn() -> bool + Send + Sync + 'a;

/// Outcome of a deletion of old rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Deletion {
    /// Number of rows deleted.
    pub(crate) rows: u64,
    /// `true` if some rows may be left, because commits must not wait any longer.
    pub(crate) has_more: bool,
}

/// Returns states as their columns have them.
pub(crate) fn state_words<S: Serialize>(states: &[S]) -> Result<Vec<String>, serde_json::Error> {
    states.iter().map(word).collect()
}

/// Deletes rows of the table `E` for which a condition holds; `key` is the column that identifies a row. The columns of
/// `order` are those of an index: without an order, PostgreSQL may read the whole table for each portion, including the
/// rows that it has just deleted.
async fn delete_in_portions<E: EntityTrait>(
    tx: &impl ConnectionTrait,
    key: E::Column,
    is_old: Expr,
    order: &[E::Column],
    has_time: &HasTime<'_>,
) -> Result<Deletion, WriteError> {
    let mut some = Query::select();
    some.column(key).from(E::default()).and_where(is_old).limit(ROWS_PER_PORTION);
    for column in order {
        some.order_by(*column, Order::Asc);
    }
    let mut rows = 0;
    for _ in 0..MAX_PORTIONS {
        let which = ColumnTrait::in_subquery(&key, some.clone());
        let gone = E::delete_many().filter(which).exec(tx).await.map_err(WriteError::Db)?.rows_affected;
        rows += gone;
        if gone < ROWS_PER_PORTION {
            return Ok(Deletion { rows, has_more: false });
        }
        if !has_time() {
            break;
        }
    }
    Ok(Deletion { rows, has_more: true })
}

/// Deletes idempotency keys that have expired by `now`.
pub(crate) async fn purge_idempotency(
    tx: &impl ConnectionTrait,
    now: Timestamp,
    has_time: &HasTime<'_>,
) -> Result<Deletion, WriteError> {
    let over = idempotency::Column::ExpiresAt.lte(now.0);
    let order = [idempotency::Column::ExpiresAt];
    delete_in_portions::<idempotency::Entity>(tx, idempotency::Column::Key, over, &order, has_time).await
}

/// Deletes sign-in links that expired before the given time.
pub(crate) async fn purge_sign_in_links(
    tx: &impl ConnectionTrait,
    before: Timestamp,
    has_time: &HasTime<'_>,
) -> Result<Deletion, WriteError> {
    let over = sign_in_links::Column::ExpiresAt.lt(before.0);
    let order = [sign_in_links::Column::ExpiresAt];
    delete_in_portions::<sign_in_links::Entity>(tx, sign_in_links::Column::Id, over, &order, has_time).await
}

/// Deletes emails whose last attempt was before the given time, except those that are still to be sent. After the last
/// attempt, `next_at` is the time at which another one would have been made, hours later at most.
pub(crate) async fn purge_mails(
    tx: &impl ConnectionTrait,
    before: Timestamp,
    has_time: &HasTime<'_>,
) -> Result<Deletion, WriteError> {
    let over = mails::Column::State.is_in(state_words(&ENDED_MAILS)?);
    let old = mails::Column::NextAt.lt(before.0).and(over);
    let order = [mails::Column::State, mails::Column::NextAt];
    delete_in_portions::<mails::Entity>(tx, mails::Column::Id, old, &order, has_time).await
}

/// Deletes exports created before the given time whose files no longer exist.
pub(crate) async fn purge_exports(
    tx: &impl ConnectionTrait,
    before: Timestamp,
    has_time: &HasTime<'_>,
) -> Result<Deletion, WriteError> {
    let over = exports::Column::State.is_in(state_words(&ENDED_EXPORTS)?);
    let old = exports::Column::CreatedAt.lt(before.0).and(over);
    let order = [exports::Column::CreatedAt];
    delete_in_portions::<exports::Entity>(tx, exports::Column::Id, old, &order, has_time).await
}

/// Deletes events that are older than the given time. The last event is preserved, because numbering continues from it.
pub(crate) async fn purge_events(
    tx: &impl ConnectionTrait,
    before: Timestamp,
    has_time: &HasTime<'_>,
) -> Result<Deletion, WriteError> {
    let last = Query::select().expr(events::Column::Seq.max()).from(events::Entity).to_owned();
    let old =
        events::Column::CreatedAt.lt(before.0).and(Expr::col(events::Column::Seq).lt(SubQueryStatement::from(last)));
    let order = [events::Column::CreatedAt];
    delete_in_portions::<events::Entity>(tx, events::Column::Seq, old, &order, has_time).await
}

/// Deletes deliveries created before the given time, except pending ones.
pub(crate) async fn purge_deliveries(
    tx: &impl ConnectionTrait,
    before: Timestamp,
    has_time: &HasTime<'_>,
) -> Result<Deletion, WriteError> {
    let over = deliveries::Column::State.ne(word(&DeliveryState::Pending)?);
    let old = deliveries::Column::CreatedAt.lt(before.0).and(over);
    let order = [deliveries::Column::CreatedAt];
    delete_in_portions::<deliveries::Entity>(tx, deliveries::Column::Id, old, &order, has_time).await
}
