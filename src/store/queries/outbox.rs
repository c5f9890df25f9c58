//! Queries for events, webhook endpoints and their deliveries.

use sea_orm::sea_query::{Condition, Expr, ExprTrait};
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select};

use super::orders::json;
use super::{Page, Queries};
use crate::event_filter::EventFilter;
use crate::kinds::pending_deliveries;
use crate::rows::{Doc, LoadError, read_event, word};
use domain::aggregate::Versioned;
use domain::endpoint::{Delivery, DeliveryState, Endpoint, ReplayProgress};
use domain::event::{self, NumberedEvent};
use domain::id::Id;
use domain::time::Timestamp;
use entities::{deliveries, endpoints, events};

/// Filter for deliveries; absent fields match all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DeliveryFilter {
    /// State of the delivery.
    pub state: Option<DeliveryState>,
    /// Name of the delivered event.
    pub event: Option<String>,
}

impl Queries {
    /// Returns the events after the given number, oldest first.
    pub async fn events_after(
        &self,
        seq: i64,
        filter: &EventFilter,
        limit: u64,
    ) -> Result<Vec<NumberedEvent>, LoadError> {
        use events::Column as C;
        let kinds = (!filter.events.is_empty()).then_some(&filter.events);
        let select = events::Entity::find()
            .filter(C::Seq.gt(seq))
            .apply_if(kinds, |all, kinds| all.filter(C::Event.is_in(kinds)))
            .apply_if(filter.subject_kind.as_deref(), |all, kind| all.filter(C::SubjectKind.eq(kind)))
            .apply_if(filter.subject_id, |all, id| all.filter(C::SubjectId.eq(id.to_string())));
        let rows = select.order_by_asc(C::Seq).limit(limit).all(&self.db).await?;
        Ok(self.readable_events(rows))
    }

    /// Returns the events with these names since the given time, latest first, at most `limit`. Reads only events since
    /// then, which it finds by their time.
    pub async fn events_since(
        &self,
        names: &[&str],
        from: Timestamp,
        limit: u64,
    ) -> Result<Vec<NumberedEvent>, LoadError> {
        use events::Column as C;
        let first = events::Entity::find().select_only().column(C::Seq).filter(C::CreatedAt.gte(from.0));
        let first: Option<i64> = first.order_by_asc(C::CreatedAt).limit(1).into_tuple().one(&self.db).await?;
        let Some(first) = first else { return Ok(Vec::new()) };
        let select = events::Entity::find()
            .filter(C::Seq.gte(first))
            .filter(C::CreatedAt.gte(from.0))
            .filter(C::Event.is_in(names.iter().copied()));
        let rows = select.order_by_desc(C::Seq).limit(limit).all(&self.db).await?;
        Ok(self.readable_events(rows))
    }

    fn readable_events(&self, rows: Vec<events::Model>) -> Vec<NumberedEvent> {
        let read = |row: events::Model| self.damaged.sort_out("events", &row.seq.to_string(), read_event(row));
        rows.into_iter().filter_map(read).collect()
    }

    /// Returns the events of an order, oldest first.
    pub async fn timeline(
        &self,
        order: Id,
        only: Option<&[&str]>,
        page: Page,
    ) -> Result<(Vec<NumberedEvent>, u64), LoadError> {
        let select = events::Entity::find()
            .filter(events::Column::OrderId.eq(order.to_string()))
            .apply_if(only, |all, only| all.filter(events::Column::Event.is_in(only.iter().copied())));
        let (rows, total) = self.page(select.order_by_asc(events::Column::Seq), page).await?;
        Ok((self.readable_events(rows), total))
    }

    /// Returns the numbers of the oldest stored event and the last event; 0 if none.
    pub async fn event_range(&self) -> Result<(i64, i64), LoadError> {
        // In one query for both numbers SQLite would go through all events.
        Ok((self.event_number(events::Column::Seq.min()).await?, self.last_seq().await?))
    }

    /// Returns the number of the last event; 0 if none.
    pub async fn last_seq(&self) -> Result<i64, LoadError> {
        self.event_number(events::Column::Seq.max()).await
    }

    async fn event_number(&self, which: Expr) -> Result<i64, LoadError> {
        let select = events::Entity::find().select_only().expr(which);
        let number: Option<Option<i64>> = select.into_tuple().one(&self.db).await?;
        Ok(number.flatten().unwrap_or(0))
    }

    /// Returns a page of endpoints, without their deliveries, newest first, and their total number; omits archived
    /// endpoints.
    pub async fn endpoints(&self, page: Page) -> Result<(Vec<Versioned<Endpoint>>, u64), LoadError> {
        use endpoints::Column as C;
        let select = endpoints::Entity::find().filter(C::Archived.eq(false));
        self.snapshots(select.order_by_desc(C::CreatedAt).order_by_desc(C::Id), page).await
    }

    /// Returns a page of an endpoint's deliveries, newest first, and their total number.
    pub async fn deliveries(
        &self,
        endpoint: Id,
        filter: &DeliveryFilter,
        page: Page,
    ) -> Result<(Vec<Delivery>, u64), LoadError> {
        use deliveries::Column as C;
        let state = filter.state.as_ref().map(word).transpose().map_err(json)?;
        let select = deliveries::Entity::find()
            .filter(C::EndpointId.eq(endpoint.to_string()))
            .apply_if(state, |all, state| all.filter(C::State.eq(state)))
            .apply_if(filter.event.as_deref(), |all, event| all.filter(C::Event.eq(event)));
        self.rows(select.order_by_desc(C::CreatedAt).order_by_desc(C::Id), page).await
    }

    /// Returns the number of deliveries that a replay from the given time would send again.
    pub async fn count_past_deliveries(&self, endpoint: Id, since: Timestamp) -> Result<u64, LoadError> {
        Ok(past(endpoint, since)?.count(&self.db).await?)
    }

    /// Returns the next deliveries that a replay must send again, oldest first.
    pub async fn past_deliveries(
        &self,
        endpoint: Id,
        replaying: &ReplayProgress,
        limit: u64,
    ) -> Result<Vec<Delivery>, LoadError> {
        use deliveries::Column as C;
        let select = past(endpoint, replaying.since)?.filter(C::CreatedAt.lte(replaying.upto.0)).apply_if(
            replaying.after,
            |all, (at, id)| {
                let tie = C::CreatedAt.eq(at.0).and(C::Id.gt(id.to_string()));
                all.filter(Condition::any().add(C::CreatedAt.gt(at.0)).add(tie))
            },
        );
        let rows = select.order_by_asc(C::CreatedAt).order_by_asc(C::Id).limit(limit).all(&self.db).await?;
        Ok(self.readable(&rows, Doc::read))
    }

    /// Returns the delivery with the given ID, including the endpoint ID.
    pub async fn delivery(&self, id: Id) -> Result<Option<Delivery>, LoadError> {
        let row = deliveries::Entity::find_by_id(id.to_string()).one(&self.db).await?;
        Ok(row.map(|row| row.read()).transpose()?)
    }

    /// Returns an endpoint's pending deliveries that come after the given time and ID, earliest first.
    pub async fn pending_deliveries(
        &self,
        endpoint: Id,
        after: Option<(Timestamp, Id)>,
        limit: u64,
    ) -> Result<Vec<Delivery>, LoadError> {
        pending_deliveries(&self.db, endpoint, after, limit).await
    }

    /// Returns the highest replay number of an event at an endpoint; `None` if the event was never delivered to the
    /// endpoint.
    pub async fn last_replay(&self, endpoint: Id, event: Id) -> Result<Option<u32>, LoadError> {
        use deliveries::Column as C;
        let select = deliveries::Entity::find().select_only().expr(C::Replay.max());
        let select = select.filter(C::EndpointId.eq(endpoint.to_string())).filter(C::EventId.eq(event.to_string()));
        let last: Option<Option<i64>> = select.into_tuple().one(&self.db).await?;
        Ok(last.flatten().and_then(|last| u32::try_from(last).ok()))
    }

    /// Counts the deliveries of all endpoints by state, except `delivered`, the state of nearly all of them.
    pub async fn undelivered_by_state(&self) -> Result<Vec<(DeliveryState, u64)>, LoadError> {
        // Written exactly as in the partial index, or SQLite does not use the index.
        let undelivered = deliveries::Entity::find().filter(Expr::cust("state <> 'delivered'"));
        self.counts(undelivered, deliveries::Column::State).await
    }
}

/// Selects the first delivery of each event since the given time, except test events and deliveries that are still
/// pending.
fn past(endpoint: Id, since: Timestamp) -> Result<Select<deliveries::Entity>, LoadError> {
    use deliveries::Column as C;
    let pending = word(&DeliveryState::Pending).map_err(json)?;
    Ok(deliveries::Entity::find()
        .filter(C::EndpointId.eq(endpoint.to_string()))
        .filter(C::Replay.eq(0))
        .filter(C::State.ne(pending))
        .filter(C::Event.ne(event::TEST))
        .filter(C::CreatedAt.gte(since.0)))
}
