//! List of orders, which can be limited to those that need attention.

mod new_order;
mod packing;

use std::sync::Arc;

use api_derive::Request;
use axum::extract::State;
use axum::http::Method;
use axum::response::Response;
use maud::{Markup, html};
use url::form_urlencoded;

use super::board::BoardHandles;
use super::job::JOBS_PATH;
use super::log::LogHandles;
use super::sheet::{ListFilter, list_filters};
use super::shell::{StaffSection, StaffViewer, Tone, clock};
use super::timing::{timing_label, timing_path, timing_state};
use super::{ORDERS_PATH, PRODUCTS_PATH};
use crate::frame::{money, time};
use config::Config;
use domain::order::OrderStatus;
use domain::seller::SELLER_INCOMPLETE;
use domain::timing::Timing;
use http::access::{Caller, RequiredAccess};
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http::routes::{PageBounds, Routes};
use http_api::production::jobs::JobHandles;
use http_api::production::orders::{ListedOrder, OrderHandles, OrderSort, TimingSelection};
use store::queries::{OrderFilter, Page};
use words::Language;

/// Number of orders per page.
const ROWS_PER_PAGE: u64 = 50;
/// Statuses by which the list can be filtered, in the order in which they occur.
const STATUSES: [OrderStatus; 9] = [
    OrderStatus::Draft,
    OrderStatus::Created,
    OrderStatus::PaymentFailed,
    OrderStatus::Paid,
    OrderStatus::Printing,
    OrderStatus::Ready,
    OrderStatus::Shipped,
    OrderStatus::Cancelled,
    OrderStatus::Refunded,
];

handles! {
    /// Dependencies of the order pages.
    pub(crate) struct StaffOrderHandles {
        board: BoardHandles,
        orders: OrderHandles,
        jobs: JobHandles,
        log: LogHandles,
        config: Arc<Config>,
    }
}

/// Adds the routes of the order pages that have their own modules.
pub(super) fn routes(routes: Routes) -> Routes {
    let (get, form) = (Method::GET, PageBounds::Form);
    routes
        .page(get.clone(), RequiredAccess::Session, new_order::PATH, new_order::begin, form)
        .page(Method::POST, RequiredAccess::Session, new_order::PATH, new_order::place, form)
        .page(get, RequiredAccess::Session, "/shop/orders/{id}/shipments/{number}", packing::show, form)
}

/// Query parameters of the order list. Unknown values are ignored.
#[derive(Request, Debug)]
pub(super) struct OrderListQuery {
    /// Only orders with the given status, as spelled in the API.
    status: Option<String>,
    /// Order number, or part of the customer's email address.
    q: Option<String>,
    /// Any value selects only orders that need an operator's attention.
    flagged: Option<String>,
    /// Only orders with the given timing, as spelled in the API, most urgent first.
    timing: Option<String>,
    /// Number of entries to skip.
    #[api(default = 0)]
    from: u32,
}

/// Returns the tone and label for an order's status.
pub(super) fn order_state(status: OrderStatus) -> (Tone, &'static str) {
    match status {
        OrderStatus::Draft => (Tone::Idle, "Draft"),
        OrderStatus::Created => (Tone::Attention, "Unpaid"),
        OrderStatus::PaymentFailed => (Tone::Error, "Payment failed"),
        OrderStatus::Paid => (Tone::Working, "Paid"),
        OrderStatus::Printing => (Tone::Working, "Printing"),
        OrderStatus::Ready => (Tone::Attention, "Ready to ship"),
        OrderStatus::Shipped => (Tone::Idle, "Shipped"),
        OrderStatus::Cancelled => (Tone::Idle, "Cancelled"),
        OrderStatus::Refunded => (Tone::Idle, "Refunded"),
    }
}

impl OrderListQuery {
    fn status(&self) -> Option<OrderStatus> {
        let status_word = self.status.as_deref()?;
        STATUSES.into_iter().find(|status| status.to_string() == status_word)
    }

    fn timing(&self) -> Option<Timing> {
        let timing_word = self.timing.as_deref()?;
        Timing::ALL.into_iter().find(|timing| timing.word() == timing_word)
    }

    fn selection(&self) -> TimingSelection {
        let timing = self.timing();
        TimingSelection { timing, sort: timing.map(|_| OrderSort::Timing) }
    }

    /// Returns whether the list is unfiltered and starts at its first entry.
    fn is_open(&self) -> bool {
        let searched = self.q.as_deref().is_some_and(|q| !q.trim().is_empty());
        let filtered = self.status().is_some() || self.flagged.is_some() || self.timing().is_some();
        !filtered && !searched && self.from == 0
    }

    fn filter(&self) -> OrderFilter {
        let q = self.q.as_deref().map(str::trim).filter(|q| !q.is_empty());
        OrderFilter {
            status: self.status(),
            q: q.map(str::to_owned),
            flagged: self.flagged.as_ref().map(|_| true),
            ..OrderFilter::default()
        }
    }

    /// Returns the URL of the same list, starting at entry `from`.
    fn part(&self, from: u64) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let filters = [("status", &self.status), ("q", &self.q), ("flagged", &self.flagged), ("timing", &self.timing)];
        for (name, value) in filters {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        query.append_pair("from", &from.to_string());
        format!("{ORDERS_PATH}?{}", query.finish())
    }
}

/// Serves the order list.
pub(super) async fn list(
    State(app): State<StaffOrderHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<OrderListQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let view = app.board.view();
    let page = Page { limit: ROWS_PER_PAGE, offset: query.from.into() };
    let (orders, total) = app.orders.list(&query.filter(), query.selection(), page).await?;
    let (from, next) = (u64::from(query.from), u64::from(query.from) + ROWS_PER_PAGE);
    let content = html! {
        div class="head" {
            h1 { "Orders" }
            span class="push" {}
            a class="btn" href=(JOBS_PATH) { "Jobs" }
            a class="btn primary" href=(new_order::PATH) { "New order" }
        }
        (timings(&app, query.timing()))
        (tools(&query))
        div id="orders" data-fresh="" {
            @if total == 0 && query.is_open() { (nothing()) } @else if orders.is_empty() {
                p { "No orders match. " a href=(ORDERS_PATH) { "Show all" } }
            } @else { (table(&orders)) }
            p class="soft" { (total) " total" }
            @if from > 0 || next < total {
                p class="acts" {
                    @if from > 0 { a class="button second" href=(query.part(from.saturating_sub(ROWS_PER_PAGE))) { "Newer" } }
                    @if next < total { a class="button second" href=(query.part(next)) { "Older" } }
                }
            }
        }
    };
    Ok(viewer.page(StaffSection::Orders, "Orders", &view, &content))
}

/// Renders the message for a shop without orders.
fn nothing() -> Markup {
    html! {
        section class="card" aria-labelledby="begin" {
            h2 id="begin" { "No orders yet" }
            p { "Orders come from customers, your web shop (through the API), sales channels and staff." }
            p { "When an order is paid, its jobs are created and sent to compatible printers." }
            p class="acts" {
                a class="button" href=(new_order::PATH) { "Create first order" }
                a class="button second" href=(PRODUCTS_PATH) { "View products" }
            }
        }
    }
}

/// Renders the links that filter the list by timing, with the number of orders for each.
fn timings(app: &StaffOrderHandles, chosen: Option<Timing>) -> Markup {
    let (all, forecast) = (app.board.orders.all_resident(), app.board.forecaster.latest());
    let now = app.orders.environment.now();
    let orders = all.iter().filter_map(|(_, versioned)| versioned.state.as_ref());
    let timings: Vec<Timing> =
        orders.filter_map(|order| order.timing(forecast.orders.get(&order.id).copied(), now)).collect();
    let every = ListFilter { label: "All", path: ORDERS_PATH.to_owned(), count: None, is_current: chosen.is_none() };
    let labels = Timing::ALL.map(|timing| (timing, timing_state(Language::English, timing).1));
    let filters = labels.iter().map(|(timing, label)| ListFilter {
        label,
        path: timing_path(*timing),
        count: Some(timings.iter().filter(|one| *one == timing).count()),
        is_current: chosen == Some(*timing),
    });
    list_filters("Timing", &[every].into_iter().chain(filters).collect::<Vec<_>>())
}

fn tools(query: &OrderListQuery) -> Markup {
    let chosen = query.status();
    html! {
        form class="tools" method="get" action=(ORDERS_PATH) role="search" {
            div class="field" {
                label for="q" { "Number or email" }
                input id="q" name="q" type="search" maxlength="200" value=[query.q.as_deref()];
            }
            div class="field" {
                label for="status" { "Status" }
                select id="status" name="status" {
                    option value="" { "All" }
                    @for status in STATUSES {
                        option value=(status) selected[chosen == Some(status)] { (order_state(status).1) }
                    }
                }
            }
            div class="field" {
                label for="flagged" { "Needs attention" }
                input id="flagged" name="flagged" type="checkbox" value="true" checked[query.flagged.is_some()];
            }
            @if let Some(timing) = query.timing() { input type="hidden" name="timing" value=(timing.word()); }
            button class="second" type="submit" { "Show" }
        }
    }
}

fn table(orders: &[ListedOrder]) -> Markup {
    let rows = orders.iter().filter_map(|(order, outlook)| Some((order.state.as_ref()?, *outlook)));
    html! {
        div class="table list" tabindex="0" role="region" aria-label="Orders" {
            table {
                thead {
                    tr {
                        th scope="col" { "Order" } th scope="col" { "Status" } th scope="col" { "Customer" }
                        th scope="col" { "Placed" } th scope="col" { "Promised" } th scope="col" { "Expected" } th scope="col" class="number" { "Total" }
                    }
                }
                tbody {
                    @for (order, outlook) in rows {
                        tr {
                            th scope="row" { a href={ (ORDERS_PATH) "/" (order.id) } { (order.number_text()) } }
                            td class="states" {
                                @let (tone, words) = order_state(order.status);
                                span class=(tone.class()) { (words) }
                                (timing_label(Language::English, outlook))
                                @for flag in &order.flags { " " span class=(Tone::Attention.class()) { (flag_words(flag)) } }
                            }
                            td class="wide" { @if let Some(email) = &order.customer_email { span class="ellipsis" title=(email) { (email) } } }
                            td class="spare" data-label="Placed" { (time(order.created_at)) }
                            td data-label="Promised" { @if let Some(promise) = &order.promise { (clock(promise.promised_at)) } }
                            td class=[order.promise.is_some().then_some("spare")] data-label="Expected" {
                                @if let Some(at) = outlook.expected_at { (clock(at)) }
                            }
                            td class="number" data-label="Total" { (money(order.total_cents, &order.currency)) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the reason an order needs attention, as text.
pub(super) fn flag_words(flag: &str) -> String {
    match flag {
        "refund_due" => "refund due".to_owned(),
        "amount_mismatch" => "payment amount differs".to_owned(),
        "job_failed" => "job failed".to_owned(),
        "all_jobs_cancelled" => "all jobs cancelled".to_owned(),
        "short" => "fewer good parts than ordered".to_owned(),
        "needs_attention" => "rejected parts not reprinted".to_owned(),
        SELLER_INCOMPLETE => "invoice needs the shop's name and address".to_owned(),
        "rejected_after_shipping" => "shipped parts rejected: send replacements".to_owned(),
        "surplus" => "reprint no longer needed".to_owned(),
        "refund_failed" => "refund failed".to_owned(),
        other => other.replace('_', " "),
    }
}
