//! Storage for webhook endpoints, with separate rows for deliveries. Only the earliest pending deliveries are loaded.

use std::collections::HashMap;

use sea_orm::sea_query::{Condition, ExprTrait};
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};

use crate::load::{Load, LoadedAggregate, RowSource, SnapshotsToLoad};
use crate::rows::{Doc, LoadError, RowSink, StoredRow, WriteError, part_row, snapshot_row, word};
use domain::endpoint::{DELIVERY_WINDOW, Delivery, DeliveryState, Endpoint};
use domain::id::Id;
use domain::time::Timestamp;
use entities::{deliveries, endpoints};

snapshot_row!(Endpoint in endpoints, |this, at_rest| {
    url: this.url.clone(),
    state: word(&this.state)?,
    active: !at_rest,
    archived: this.archived,
    cursor: this.cursor,
    created_at: this.created_at.0,
});
part_row!(Delivery in deliveries of endpoint_id unique [endpoint_id event_id replay], |this| {
    event_id: this.event_id.to_string(),
    event_seq: this.event_seq,
    event: this.event.clone(),
    replay: i64::from(this.replay),
    state: word(&this.state)?,
    next_at: this.next_at.0,
    attempts: i64::from(this.attempts),
    created_at: this.created_at.0,
});

impl StoredRow for Delivery {
    fn write(&self, to: &mut RowSink<'_>) -> Result<(), WriteError> {
        to.replace(self)
    }
}

impl Load for Endpoint {
    fn resident() -> Option<Condition> {
        Some(Condition::all().add(endpoints::Column::Active.eq(true)))
    }

    /// Loads the deliveries with one query per endpoint, because there are few endpoints with many deliveries each.
    async fn hydrate(loading: SnapshotsToLoad<'_, Self>) -> Result<Vec<LoadedAggregate<Self>>, DbErr> {
        let mut earliest = HashMap::new();
        for id in loading.ids() {
            let rows = match loading.source() {
                // One more than fits tells whether there is a backlog.
                RowSource::Database(db) => match pending_deliveries(*db, id, None, DELIVERY_WINDOW as u64 + 1).await {
                    Ok(rows) => Ok(rows),
                    Err(LoadError::Damaged(damaged)) => Err(damaged),
                    Err(LoadError::Db(error)) => return Err(error),
                },
                RowSource::Memory(tables) => Ok(tables.pending_deliveries(id)),
            };
            earliest.insert(id, rows);
        }
        Ok(loading.complete(|id, endpoint| {
            let mut rows: Vec<Delivery> = earliest.remove(&id).unwrap_or_else(|| Ok(Vec::new()))?;
            let more = rows.len() > DELIVERY_WINDOW;
            rows.truncate(DELIVERY_WINDOW);
            Ok(endpoint.hydrate(rows, more))
        }))
    }
}

/// Returns an endpoint's pending deliveries that come after the given time and ID, earliest first.
pub(crate) async fn pending_deliveries<C: ConnectionTrait>(
    db: &C,
    endpoint: Id,
    after: Option<(Timestamp, Id)>,
    limit: u64,
) -> Result<Vec<Delivery>, LoadError> {
    use deliveries::Column as D;
    let select = deliveries::Entity::find()
        .filter(D::EndpointId.eq(endpoint.to_string()))
        .filter(D::State.eq(word(&DeliveryState::Pending).map_err(|error| DbErr::Json(error.to_string()))?))
        .apply_if(after, |all, (at, id)| {
            let tie = D::NextAt.eq(at.0).and(D::Id.gt(id.to_string()));
            all.filter(Condition::any().add(D::NextAt.gt(at.0)).add(tie))
        });
    let rows = select.order_by_asc(D::NextAt).order_by_asc(D::Id).limit(limit).all(db).await?;
    rows.iter().map(|row| row.read().map_err(LoadError::from)).collect()
}
