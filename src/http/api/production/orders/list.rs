//! List of orders, each with its forecast and timing.

use std::cmp::Reverse;
use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;

use super::requests::OrderQuery;
use super::site::SiteHeader;
use super::{OrderFor, OrderHandles, OrderOutlook, OrderReader};
use domain::aggregate::Versioned;
use domain::id::Id;
use domain::order::{Order, OrderStatus};
use domain::time::Timestamp;
use domain::timing::Timing;
use http::access::Caller;
use http::error::ApiError;
use http::page::{Query, cut};
use http::reply::ListPage;
use http::wire::{AsView, enumeration};
use store::queries::{OrderFilter, Page};

/// Sort order of a list of orders, if not newest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderSort {
    /// Most urgent first.
    Timing,
}

enumeration! {
    /// Sort order of a list of orders. `timing`: most urgent first.
    OrderSort
}

/// Selection and sorting of a list of orders by their timing. By default, all orders are listed, newest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TimingSelection {
    /// Timing of the orders to list; `None` for all orders.
    pub timing: Option<Timing>,
    /// Sort order of the list; `None` for newest first.
    pub sort: Option<OrderSort>,
}

/// Listed order, without its jobs and payments, and its outlook.
pub type ListedOrder = (Versioned<Order>, OrderOutlook);

/// Orders with a timing, and how many match the filter with any timing.
struct TimedOrders {
    orders: Vec<TimedOrder>,
    promised: u64,
}

/// Order with its timing, not yet read for the list.
struct TimedOrder {
    id: Id,
    timing: Timing,
    deadline: Timestamp,
}

impl OrderHandles {
    /// Returns a page of the orders that match the filter and the selection, and their total number. The timing is kept
    /// in memory: only orders with an outstanding promise are examined, no matter how many orders there are in total.
    pub async fn list(
        &self,
        filter: &OrderFilter,
        selection: TimingSelection,
        page: Page,
    ) -> Result<(Vec<ListedOrder>, u64), ApiError> {
        if selection == TimingSelection::default() {
            let (orders, total) = self.queries.orders(filter, page).await?;
            return Ok((self.add_outlooks(orders), total));
        }
        let TimedOrders { orders: mut orders_by_timing, promised } =
            self.read_timings(filter, selection.timing).await?;
        if selection.sort == Some(OrderSort::Timing) {
            orders_by_timing.sort_by_key(|order| (Reverse(order.timing), order.deadline, order.id));
        }
        let (ids, total) = cut(page, orders_by_timing.iter().map(|order| order.id).collect());
        let mut orders = self.queries.orders_of(&ids).await?;
        if selection.timing.is_some() {
            return Ok((self.add_outlooks(orders), total));
        }
        let rest =
            Page { limit: page.limit.saturating_sub(ids.len() as u64), offset: page.offset.saturating_sub(total) };
        let (others, count) = self.queries.unpromised_orders(filter, rest, promised).await?;
        orders.extend(others);
        Ok((self.add_outlooks(orders), total.saturating_add(count)))
    }

    /// Returns at most `limit` orders that match the filter, newest first, without counting them.
    pub async fn newest(&self, filter: &OrderFilter, limit: u64) -> Result<Vec<ListedOrder>, ApiError> {
        Ok(self.add_outlooks(self.queries.newest_orders(filter, limit).await?))
    }

    /// Returns the orders that match the filter and have the given timing (or any timing, if none is given), newest
    /// first. A filter that has a status at most needs no query: orders with an outstanding promise are in memory.
    async fn read_timings(&self, filter: &OrderFilter, timing: Option<Timing>) -> Result<TimedOrders, ApiError> {
        let states = if filter.has_status_at_most() {
            self.resident_promised(filter.status)
        } else {
            let mut states = Vec::new();
            for id in self.queries.promised_orders(filter).await? {
                states.extend(self.orders.read(id).await?);
            }
            states
        };
        let (forecast, now) = (self.forecaster.latest(), self.environment.now());
        let timed = states.iter().filter_map(|state| {
            let order = state.state.as_ref()?;
            // Nothing if the order was made since its row was read.
            let current = order.timing(forecast.orders.get(&order.id).copied(), now)?;
            Some(TimedOrder { id: order.id, timing: current, deadline: order.deadline()? })
        });
        let orders = timed.filter(|order| timing.is_none_or(|one| one == order.timing)).collect();
        Ok(TimedOrders { orders, promised: states.len() as u64 })
    }

    /// Returns the orders with an outstanding promise from memory, of a status if one is given, newest first.
    fn resident_promised(&self, status: Option<OrderStatus>) -> Vec<Arc<Versioned<Order>>> {
        let is_listed = |order: &Order| order.is_promised() && status.is_none_or(|one| one == order.status);
        let all = self.orders.all_resident().into_iter().map(|(_, state)| state);
        let mut listed: Vec<_> = all.filter(|state| state.state.as_ref().is_some_and(is_listed)).collect();
        listed.sort_by_key(|state| Reverse(state.state.as_ref().map(|order| (order.created_at, order.id))));
        listed
    }

    fn add_outlooks(&self, orders: Vec<Versioned<Order>>) -> Vec<ListedOrder> {
        let with_outlook = |order: Versioned<Order>| {
            let outlook = self.outlook(order.state.as_ref()?);
            Some((order, outlook))
        };
        orders.into_iter().filter_map(with_outlook).collect()
    }
}

/// Responds with the orders that the caller may see and that match the query.
pub(super) async fn show(
    State(app): State<OrderHandles>,
    who: Caller,
    Query(query): Query<OrderQuery>,
    SiteHeader(site): SiteHeader,
) -> Result<ListPage<AsView<OrderFor<Versioned<Order>>>>, ApiError> {
    let page = query.page.into();
    let filter = OrderFilter {
        status: query.status,
        kind: query.kind,
        site: query.site.or(site).map(|site| site.0),
        customer_email: query.customer_email.or(query.email).map(|email| email.trim().to_lowercase()),
        flag: query.flag.filter(|_| !who.is_customer()),
        flagged: query.flagged.filter(|_| !who.is_customer()),
        made_by: None,
        own: who.own(),
        q: query.q,
        number: None,
        promised: None,
    };
    let selection = TimingSelection { timing: query.timing, sort: query.sort };
    let (orders, total) = app.list(&filter, selection, page).await?;
    let reader = OrderReader::from(&who);
    let items = orders.into_iter().map(|(order, outlook)| AsView(OrderFor(order, reader, outlook)));
    Ok(ListPage::new(page, items, total))
}
