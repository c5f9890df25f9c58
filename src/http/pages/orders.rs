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
use super::part_query::PartQuery;
use super::paths::{MODELS, ORDERS, back_to};
use super::pictures;
use crate::design::{Icon, chip, empty_place};
use config::Config;
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
use store::queries::OrderFilter;
use words::{Language, pages};

pub(super) use live::live;

handles! {
    /// Dependencies of the order pages.
    pub(crate) struct OrderPageHandles {
        own: OwnOrderHandles,
        follow: FollowHandles,
        environment: Arc<Environment>,
        config: Arc<Config>,
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
                a class="btn" href=(MODELS) { (pages::models_title(language)) }
            }))
        } @else {
            ul class="panel rows" {
                @for order in &orders { (row(language, order, forecast.orders.get(&order.id).copied())) }
            }
        }
        (part.links(language, ORDERS, total))
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
                a class="tall" href={ (ORDERS) "/" (order.id) } { (order.number_text()) } " "
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
    let reload = html! { a href={ (ORDERS) "/" (id) } { (reload_text) } };
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
        div id="live" class="stack" data-stream={ (ORDERS) "/" (id) "/live" } data-closed=(closed) { (part.html()) }
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
        let open = orders.checkouts.of_order(id, &sent.call.origin(), &back_to(&app.config, ORDERS, id)).await?;
        Ok(lead_to_payment(&Brand::new(&app.config, language), &open.url))
    };
    within(&app.own.limits, app.own.environment.now(), &[charge], open).await
}
