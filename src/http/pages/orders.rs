//! The customer's orders: the list, one of them with its progress, which stays up to date, and paying it.

mod live;
mod progress;

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use self::progress::{LivePart, status_words};
use super::form::PageForm;
use super::frame::{Section, Viewer, lead_on, money, time};
use crate::actors::checkouts::ReturnPages;
use crate::config::Config;
use crate::domain::id::Id;
use crate::domain::limits::LimitKind;
use crate::domain::order::Order;
use crate::http::access::Caller;
use crate::http::billing::orders::{FollowHandles, OwnOrderHandles, own, steps};
use crate::http::command_request::state_of;
use crate::http::error::ApiError;
use crate::http::handles::handles;
use crate::http::limits::layer::ClientAddress;
use crate::http::limits::{Charge, Limited, within};
use crate::http::page::OpenQuery;
use crate::http::path_id::PathId;
use crate::http::production::orders::to_pay::before_checkout;
use crate::store::queries::{OrderFilter, Page};

pub(super) use live::live;

/// The list of the own orders.
pub(super) const PATH: &str = "/orders";
/// Entries of one page of a list.
pub(super) const ROWS_PER_PAGE: u64 = 20;

handles! {
    /// What the pages of orders use.
    pub(crate) struct OrderPageHandles {
        own: OwnOrderHandles,
        follow: FollowHandles,
        config: Arc<Config>,
    }
}

/// Which part of a list a page shows.
#[derive(api_derive::Request, Clone, Copy, Debug)]
pub(super) struct PartQuery {
    /// Entries that are passed over before the first.
    #[api(default = 0)]
    from: u32,
}

impl PartQuery {
    /// The part of the list.
    pub(super) fn page(self) -> Page {
        Page { limit: ROWS_PER_PAGE, offset: self.from.into() }
    }

    /// Links to the parts before and after.
    pub(super) fn links(self, path: &str, total: u64) -> Markup {
        let (from, next) = (u64::from(self.from), u64::from(self.from).saturating_add(ROWS_PER_PAGE));
        html! {
            @if from > 0 || next < total {
                p class="acts" {
                    @if from > 0 { a class="button second" href={ (path) "?from=" (from.saturating_sub(ROWS_PER_PAGE)) } { "Newer" } }
                    @if next < total { a class="button second" href={ (path) "?from=" (next) } { "Older" } }
                }
            }
        }
    }
}

/// Answers GET of the list.
pub(super) async fn list(
    State(app): State<OrderPageHandles>,
    who: Caller,
    OpenQuery(part): OpenQuery<PartQuery>,
) -> Result<Response, ApiError> {
    let viewer = Viewer::new(&who, &app.config)?;
    let (_, email) = who.customer()?;
    let filter = OrderFilter { customer_email: Some(email.to_owned()), ..OrderFilter::default() };
    let (orders, total) = app.own.orders.queries.orders(&filter, part.page()).await?;
    let orders: Vec<&Order> = orders.iter().filter_map(|order| order.state.as_ref()).collect();
    let content = html! {
        h1 { "Your orders" }
        @if orders.is_empty() {
            p { "There is no order of " strong { (email) } " here." }
        } @else {
            ul class="card rows" {
                @for order in &orders {
                    li {
                        a href={ (PATH) "/" (order.id) } { (order.number_text()) }
                        span class="state" { (status_words(order.status)) }
                        span class="soft" { (time(order.created_at)) }
                        span { (money(order.total_cents, &order.currency)) }
                    }
                }
            }
        }
        (part.links(PATH, total))
    };
    Ok(viewer.page(Section::Orders, "Your orders", &content))
}

/// Answers GET of one order.
pub(super) async fn one(
    State(app): State<OrderPageHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    let viewer = Viewer::new(&who, &app.config)?;
    let state = own(&app.own.orders, &who, id).await?;
    let order = state_of(&state)?;
    let steps = steps(&app.own.orders.queries, id).await?;
    let expected = app.own.orders.forecaster.latest().orders.get(&id).copied();
    let tracking = app.config.shipping.tracking_pages();
    let part = LivePart { order, expected, steps: &steps, tracking: &tracking, viewer: &viewer };
    let content = html! {
        h1 { "Order " (order.number_text()) }
        p id="said" role="status" { (part.said()) }
        div id="live" data-stream={ (PATH) "/" (id) "/live" } { (part.html()) }
        noscript { p { a href={ (PATH) "/" (id) } { "Load the page again" } " to see how things stand." } }
    };
    Ok(viewer.live_page(Section::Orders, &order.number_text(), &content))
}

/// Leads to the page at the payment processor on which an own order is paid.
pub(super) async fn pay(
    State(app): State<OrderPageHandles>,
    PathId(id): PathId,
    ClientAddress(client): ClientAddress,
    sent: PageForm,
) -> Result<Limited<Response>, ApiError> {
    let orders = &app.own.orders;
    own(orders, &sent.call.who, id).await?;
    let charge = Charge::of_address(LimitKind::OrderCheckout, client);
    let open = async {
        before_checkout(orders, id).await?;
        let open = orders.checkouts.of_order(id, &sent.call.origin(), &back_to(&app.config, PATH, id)).await?;
        Ok(lead_on(&open.url, "On to the payment"))
    };
    within(&app.own.limits, app.own.environment.now(), &[charge], open).await
}

/// The page of this record, to which the payment processor leads back in any case.
pub(super) fn back_to(config: &Config, path: &str, id: Id) -> ReturnPages {
    let page = format!("{}{path}/{id}", config.public_url().trim_end_matches('/'));
    ReturnPages { success_url: page.clone(), cancel_url: page }
}
