//! Customer's order pages: list, details with live progress, and payment.

mod live;
mod progress;
mod stages;

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use self::progress::{LivePart, is_open, status_words, tone};
use super::brand::Brand;
use super::form::PageForm;
use super::frame::{PageLanguage, SLOT, Section, Viewer, day_in, lead_to_payment, none_yet, time, with_parts};
use super::pictures;
use crate::design::{Icon, chip, empty_place};
use actors::checkouts::ReturnPages;
use config::Config;
use domain::id::Id;
use domain::limits::LimitKind;
use domain::notation;
use domain::order::Order;
use domain::time::Timestamp;
use http::access::Caller;
use http::command_request::state_of;
use http::error::ApiError;
use http::handles::handles;
use http::limits::layer::ClientAddress;
use http::limits::{LimitedReply, WindowKey, within};
use http::page::OpenQuery;
use http::path_id::PathId;
use http_api::billing::orders::{FollowHandles, OwnOrderHandles, own, steps};
use http_api::production::orders::to_pay::before_checkout;
use kernel::environment::Environment;
use store::queries::{OrderFilter, Page};
use words::{Language, pages};

pub(super) use live::live;

/// Path of the order list.
pub(super) const PATH: &str = "/orders";
/// Number of entries on each page of a list.
pub(super) const ROWS_PER_PAGE: u64 = 20;

handles! {
    /// Dependencies of the order pages.
    pub(crate) struct OrderPageHandles {
        own: OwnOrderHandles,
        follow: FollowHandles,
        environment: Arc<Environment>,
        config: Arc<Config>,
    }
}

/// Query parameter that selects a page of a list.
#[derive(api_derive::Request, Clone, Copy, Debug)]
pub(super) struct PartQuery {
    /// Number of entries to skip.
    #[api(default = 0)]
    from: u32,
}

impl PartQuery {
    /// Returns the limit and offset of the selected page.
    pub(super) fn page(self) -> Page {
        Page { limit: ROWS_PER_PAGE, offset: self.from.into() }
    }

    /// Renders links to the previous and next page of a list.
    pub(super) fn links(self, language: Language, path: &str, total: u64) -> Markup {
        let (from, next) = (u64::from(self.from), u64::from(self.from).saturating_add(ROWS_PER_PAGE));
        html! {
            @if from > 0 || next < total {
                p class="acts" {
                    @if from > 0 { a class="button second" href={ (path) "?from=" (from.saturating_sub(ROWS_PER_PAGE)) } { (pages::newer(language)) } }
                    @if next < total { a class="button second" href={ (path) "?from=" (next) } { (pages::older(language)) } }
                }
            }
        }
    }
}

/// Serves the list of orders.
pub(super) async fn list(
    State(app): State<OrderPageHandles>,
    who: Caller,
    PageLanguage(language): PageLanguage,
    OpenQuery(part): OpenQuery<PartQuery>,
) -> Result<Response, ApiError> {
    let viewer = Viewer::new(&who, &app.config, PageLanguage(language))?;
    let (_, email) = who.customer()?;
    let filter = OrderFilter { customer_email: Some(email.to_owned()), ..OrderFilter::default() };
    let (orders, total) = app.own.orders.queries.orders(&filter, part.page()).await?;
    let orders: Vec<&Order> = orders.iter().filter_map(|order| order.state.as_ref()).collect();
    let forecast = app.own.orders.forecaster.latest();
    let title = pages::orders_title(language);
    let content = html! {
        h1 { (title) }
        @if orders.is_empty() {
            (empty_place(Icon::Package, &pages::orders_empty(language), &html! {
                p class="small" { (none_yet(language, email)) }
                a class="btn" href=(super::models::PATH) { (pages::models_title(language)) }
            }))
        } @else {
            ul class="panel rows" {
                @for order in &orders { (row(language, order, forecast.orders.get(&order.id).copied())) }
            }
        }
        (part.links(language, PATH, total))
    };
    Ok(viewer.page(Section::Orders, &title, &content))
}

/// Renders an order in the list.
fn row(language: Language, order: &Order, expected: Option<Timestamp>) -> Markup {
    let items = order.lines.iter().filter(|line| line.kit_line.is_none());
    let items: u64 = items.map(|line| u64::from(line.quantity)).sum();
    html! {
        li class="row" {
            (pictures::order("thumb", order))
            div {
                a class="tall" href={ (PATH) "/" (order.id) } { (order.number_text()) } " "
                (chip(tone(order.status), &status_words(language, order.status)))
                div class="small muted" {
                    (pages::order_count(language, items)) " · "
                    (with_parts(&pages::ordered_on(language, SLOT), &[&day_in(language, order.created_at)]))
                    @if let Some(at) = expected.filter(|_| is_open(order.status)) {
                        " · " (with_parts(&pages::expected_on(language, SLOT), &[&day_in(language, at)]))
                    }
                }
            }
            span class="num" { (notation::amount(language, order.total_cents, &order.currency)) }
        }
    }
}

/// Serves an order's page.
pub(super) async fn one(
    State(app): State<OrderPageHandles>,
    PathId(id): PathId,
    who: Caller,
    PageLanguage(language): PageLanguage,
) -> Result<Response, ApiError> {
    let viewer = Viewer::new(&who, &app.config, PageLanguage(language))?;
    let state = own(&app.own.orders, &who, id).await?;
    let order = state_of(&state)?;
    let steps = steps(&app.own.orders.queries, id).await?;
    let expected = app.own.orders.forecaster.latest().orders.get(&id).copied();
    let tracking = app.config.shipping.tracking_pages();
    let part = LivePart { order, expected, steps: &steps, tracking: &tracking, viewer: &viewer };
    let reload_text = pages::reload_order_link(language);
    let reload = html! { a href={ (PATH) "/" (id) } { (reload_text) } };
    let closed = pages::reload_order(language, &reload_text);
    let content = html! {
        section class="panel hero" {
            (pictures::order("view", order))
            div {
                h1 { (pages::order_title(language, &order.number_text())) }
                p id="said" role="status" { (part.status_text()) }
                p class="small muted" {
                    (with_parts(&pages::ordered_at(language, SLOT), &[&time(language, order.created_at)]))
                }
            }
        }
        div id="live" class="stack" data-stream={ (PATH) "/" (id) "/live" } data-closed=(closed) { (part.html()) }
        noscript { p { (with_parts(&pages::reload_order(language, SLOT), &[&reload])) } }
    };
    Ok(viewer.live_page(Section::Orders, &order.number_text(), &content))
}

/// Forwards to the payment processor's payment page for one of the customer's own orders.
pub(super) async fn pay(
    State(app): State<OrderPageHandles>,
    PathId(id): PathId,
    ClientAddress(client): ClientAddress,
    PageLanguage(language): PageLanguage,
    sent: PageForm,
) -> Result<LimitedReply<Response>, ApiError> {
    let orders = &app.own.orders;
    own(orders, &sent.call.who, id).await?;
    let charge = WindowKey::of_address(LimitKind::OrderCheckout, client);
    let open = async {
        before_checkout(orders, id).await?;
        let open = orders.checkouts.of_order(id, &sent.call.origin(), &back_to(&app.config, PATH, id)).await?;
        Ok(lead_to_payment(&Brand::new(&app.config, language), &open.url))
    };
    within(&app.own.limits, app.own.environment.now(), &[charge], open).await
}

/// Returns the URLs to return to after a checkout: the record's own page, whether or not the payment succeeds.
pub(super) fn back_to(config: &Config, path: &str, id: Id) -> ReturnPages {
    let page = format!("{}{path}/{id}", config.public_url().trim_end_matches('/'));
    ReturnPages { success_url: page.clone(), cancel_url: page }
}
