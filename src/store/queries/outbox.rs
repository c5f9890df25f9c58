//! Events, webhook endpoints and their deliveries.

use super::orders::json;
use super::{Page, Queries};
use crate::domain::durable::Versioned;
use crate::domain::endpoint::{Delivery, DeliveryState, Endpoint};
use crate::domain::event::Numbered;
use crate::domain::id::Id;
use crate::domain::time::Timestamp;
use crate::entities::{deliveries, endpoints, events};
use crate::store::rows::{Doc, LoadError, read_event, word};
use sea_orm::sea_query::{Condition, ExprTrait};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};

/// Which events; absent members take all.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EventFilter {
    /// Of these kinds; empty takes all.
    pub events: Vec<String>,
    /// Of this kind of thing.
    pub subject_kind: Option<String>,
    /// Of this thing.
    pub subject_id: Option<Id>,
}

impl Queries {
    /// Events after a number, oldest first.
    pub async fn events_after(&self, seq: i64, filter: &EventFilter, limit: u64) -> Result<Vec<Numbered>, LoadError> {
        use events::Column as C;
        let kinds = (!filter.events.is_empty()).then_some(&filter.events);
        let select = events::Entity::find()
            .filter(C::Seq.gt(seq))
            .apply_if(kinds, |all, kinds| all.filter(C::Event.is_in(kinds)))
            .apply_if(filter.subject_kind.as_deref(), |all, kind| all.filter(C::SubjectKind.eq(kind)))
            .apply_if(filter.subject_id, |all, id| all.filter(C::SubjectId.eq(id.to_string())));
        let rows = select.order_by_asc(C::Seq).limit(limit).all(&self.db).await?;
        Ok(rows.into_iter().map(read_event).collect::<Result<_, _>>()?)
    }

    /// What happened to an order, oldest first.
    pub async fn timeline(&self, order: Id) -> Result<Vec<Numbered>, LoadError> {
        let select = events::Entity::find().filter(events::Column::OrderId.eq(order.to_string()));
        let rows = select.order_by_asc(events::Column::Seq).all(&self.db).await?;
        Ok(rows.into_iter().map(read_event).collect::<Result<_, _>>()?)
    }

    /// The numbers of the oldest event that is kept and of the last one; 0 when there is none.
    pub async fn event_range(&self) -> Result<(i64, i64), LoadError> {
        let select =
            events::Entity::find().select_only().expr(events::Column::Seq.min()).expr(events::Column::Seq.max());
        let range: Option<(Option<i64>, Option<i64>)> = select.into_tuple().one(&self.db).await?;
        let (first, last) = range.unwrap_or_default();
        Ok((first.unwrap_or(0), last.unwrap_or(0)))
    }

    /// The number of the last event; 0 before the first.
    pub async fn last_seq(&self) -> Result<i64, LoadError> {
        Ok(self.event_range().await?.1)
    }

    /// Endpoints without deliveries, newest first, and how many there are; archived ones are never listed.
    pub async fn endpoints(&self, page: Page) -> Result<(Vec<Versioned<Endpoint>>, u64), LoadError> {
        use endpoints::Column as C;
        let select = endpoints::Entity::find().filter(C::Archived.eq(false));
        self.heads(select.order_by_desc(C::CreatedAt).order_by_desc(C::Id), page).await
    }

    /// An endpoint's deliveries, newest first, and how many there are.
    pub async fn deliveries(
        &self,
        endpoint: Id,
        state: Option<DeliveryState>,
        page: Page,
    ) -> Result<(Vec<Delivery>, u64), LoadError> {
        use deliveries::Column as C;
        let state = state.as_ref().map(word).transpose().map_err(json)?;
        let select = deliveries::Entity::find()
            .filter(C::EndpointId.eq(endpoint.to_string()))
            .apply_if(state, |all, state| all.filter(C::State.eq(state)));
        self.rows(select.order_by_desc(C::CreatedAt).order_by_desc(C::Id), page).await
    }

    /// One delivery.
    pub async fn delivery(&self, id: Id) -> Result<Option<Delivery>, LoadError> {
        let row = deliveries::Entity::find_by_id(id.to_string()).one(&self.db).await?;
        Ok(row.map(|row| row.read()).transpose()?)
    }

    /// An endpoint's pending deliveries, earliest first, after this one.
    pub async fn pending_deliveries(
        &self,
        endpoint: Id,
        after: Option<(Timestamp, Id)>,
        limit: u64,
    ) -> Result<Vec<Delivery>, LoadError> {
        pending_deliveries(&self.db, endpoint, after, limit).await
    }

    /// The highest replay number of an event at an endpoint; `None` when it was never delivered there.
    pub async fn last_replay(&self, endpoint: Id, event: Id) -> Result<Option<u32>, LoadError> {
        use deliveries::Column as C;
        let select = deliveries::Entity::find().select_only().expr(C::Replay.max());
        let select = select.filter(C::EndpointId.eq(endpoint.to_string())).filter(C::EventId.eq(event.to_string()));
        let last: Option<Option<i64>> = select.into_tuple().one(&self.db).await?;
        Ok(last.flatten().and_then(|last| u32::try_from(last).ok()))
    }

    /// Deliveries of all endpoints by where they stand.
    pub async fn deliveries_by_state(&self) -> Result<Vec<(DeliveryState, u64)>, LoadError> {
        self.counts(deliveries::Entity::find(), deliveries::Column::State).await
    }
}

/// An endpoint's pending deliveries, earliest first, after this one.
pub async fn pending_deliveries<C: ConnectionTrait>(
    db: &C,
    endpoint: Id,
    after: Option<(Timestamp, Id)>,
    limit: u64,
) -> Result<Vec<Delivery>, LoadError> {
    use deliveries::Column as D;
    let select = deliveries::Entity::find()
        .filter(D::EndpointId.eq(endpoint.to_string()))
        .filter(D::State.eq(word(&DeliveryState::Pending).map_err(json)?))
        .apply_if(after, |all, (at, id)| {
            let tie = D::NextAt.eq(at.0).and(D::Id.gt(id.to_string()));
            all.filter(Condition::any().add(D::NextAt.gt(at.0)).add(tie))
        });
    let rows = select.order_by_asc(D::NextAt).order_by_asc(D::Id).limit(limit).all(db).await?;
    rows.iter().map(|row| row.read().map_err(LoadError::from)).collect()
}
