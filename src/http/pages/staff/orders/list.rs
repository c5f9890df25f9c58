//! List of orders, the most urgent first. Each has its picture, the progress of its parts and, if it is late or at
//! risk, the reason or a remedy.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::filters::{OrderListQuery, sorts, statuses, timings, tools};
use super::{StaffOrderHandles, flag_words, new_order};
use crate::frame::time;
use crate::staff::delay_reasons::PresentReasons;
use crate::staff::job::JOBS_PATH;
use crate::staff::order::order_file;
use crate::staff::outage::live_order_state;
use crate::staff::products::mini_picture;
use crate::staff::remedy::recovery_words;
use crate::staff::shell::{StaffSection, StaffViewer, Tone};
use crate::staff::timing::timing_label;
use crate::staff::{ORDERS_PATH, PRODUCTS_PATH};
use domain::notation;
use domain::order::Order;
use domain::timing::Timing;
use http::access::Caller;
use http::error::ApiError;
use http::page::OpenQuery;
use http_api::production::orders::{ListedOrder, OrderOutlook};
use words::Language;
use words::staff::orders as texts;

/// Number of columns of the list.
const COLUMN_COUNT: usize = 8;

/// Serves the order list.
pub(in crate::staff) async fn show(
    State(app): State<StaffOrderHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<OrderListQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let (language, title) = (viewer.language(), texts::list_title(viewer.language()));
    let part = query.part();
    let (orders, total) = app.orders.list(&query.filter(), query.selection(), part.page()).await?;
    let counts = app.orders.queries.orders_by_status().await?;
    let content = html! {
        div class="head" {
            h1 { (title) }
            span class="push" {}
            a class="btn" href=(JOBS_PATH) { (texts::jobs(language)) }
            a class="btn primary" href=(new_order::PATH) { (texts::new_order(language)) }
        }
        div id="order-filters" data-fresh="" {
            (statuses(language, &query, &counts))
            (timings(language, &app, &query))
            (sorts(language, &query))
        }
        (tools(language, &query))
        div id="orders" data-fresh="" {
            @if total == 0 && query.is_open() { (nothing(language)) } @else if orders.is_empty() {
                p { (texts::no_match(language)) " " a href=(ORDERS_PATH) { (texts::show_all(language)) } }
            } @else { (table(language, &app, &orders, query.timing())) }
            (part.links(language, total))
        }
    };
    Ok(viewer.page(StaffSection::Orders, &title, &app.board.view(), &content))
}

/// Renders the message for a shop without orders.
fn nothing(language: Language) -> Markup {
    html! {
        section class="card" aria-labelledby="begin" {
            h2 id="begin" { (texts::none_heading(language)) }
            p { (texts::none_origin(language)) }
            p { (texts::none_jobs(language)) }
            p class="acts" {
                a class="button" href=(new_order::PATH) { (texts::create_first(language)) }
                a class="button second" href=(PRODUCTS_PATH) { (texts::view_products(language)) }
            }
        }
    }
}

/// Renders the list. Below each order that is late or at risk, a line states its remedy if the list is filtered to such
/// orders, and otherwise the reason.
fn table(language: Language, app: &StaffOrderHandles, orders: &[ListedOrder], chosen: Option<Timing>) -> Markup {
    let rows = orders.iter().filter_map(|(order, outlook)| Some((order.state.as_ref()?, outlook)));
    let reasons = app.delays.at_present();
    let has_remedies = chosen.is_some_and(|timing| timing != Timing::OnTime);
    let columns: [String; COLUMN_COUNT] = [
        texts::picture_column(language),
        texts::order_column(language),
        texts::status_column(language),
        texts::customer_column(language),
        texts::promised_column(language),
        texts::expected_column(language),
        texts::progress(language),
        texts::total_column(language),
    ];
    html! {
        div class="table list pictured" tabindex="0" role="region" aria-label=(texts::list_title(language)) {
            table {
                thead {
                    tr {
                        @for (n, column) in columns.iter().enumerate() {
                            th scope="col" class=[(n + 1 == COLUMN_COUNT).then_some("number")] { (column) }
                        }
                    }
                }
                tbody {
                    @for (listed, outlook) in rows {
                        // An order that is not finished is in memory, with its jobs.
                        @let resident = app.board.orders.resident(listed.id).map(|handle| handle.read());
                        @let order = resident.as_ref().and_then(|versioned| versioned.state.as_ref()).unwrap_or(listed);
                        (row(language, app, order, outlook))
                        @if let Some(line) = urgent_line(language, &reasons, order, outlook, has_remedies) {
                            tr { td class="unfolds remedy" colspan=(COLUMN_COUNT) { (line) } }
                        }
                    }
                }
            }
        }
    }
}

fn row(language: Language, app: &StaffOrderHandles, order: &Order, outlook: &OrderOutlook) -> Markup {
    html! {
        tr {
            td class="picture" { (mini_picture(order_file(order))) }
            th scope="row" {
                a href={ (ORDERS_PATH) "/" (order.id) } { (order.number_text()) }
                span class="below" { (time(language, order.created_at)) }
            }
            // The urgent part comes first, because a phone has no room for more.
            td class="states" {
                (timing_label(language, outlook)) " "
                (live_order_state(language, &app.board.shop, order))
                @for flag in &order.flags {
                    " " span class=(Tone::Attention.class()) { (flag_words(language, flag)) }
                }
            }
            td class="wide" { @if let Some(email) = &order.customer_email { span class="ellipsis" title=(email) { (email) } } }
            td data-label=(texts::promised_column(language)) {
                @if let Some(promise) = &order.promise { (time(language, promise.promised_at)) }
            }
            td class=[order.promise.is_some().then_some("spare")] data-label=(texts::expected_column(language)) {
                @if let Some(at) = outlook.expected_at { (time(language, at)) }
            }
            td class="progress" { (progress(language, order)) }
            td class="number" { (notation::amount(language, order.total_cents, &order.currency)) }
        }
    }
}

/// Renders how many of an order's parts are good, as a bar and in words; nothing if it has no jobs.
fn progress(language: Language, order: &Order) -> Markup {
    let Some((good, ordered)) = order.part_progress() else { return Markup::default() };
    let words = texts::parts_good(language, good, ordered);
    html! {
        progress class="in-row" max=(ordered) value=(good) aria-label=(texts::progress_of(language, &order.number_text())) {
            (words)
        }
        span class="soft" { (words) }
    }
}

/// Renders the remedy for an order that is late or at risk, or else the reason; `None` for other orders, and if nothing
/// is known.
fn urgent_line(
    language: Language,
    reasons: &PresentReasons<'_>,
    order: &Order,
    outlook: &OrderOutlook,
    has_remedies: bool,
) -> Option<Markup> {
    outlook.timing.filter(|timing| *timing != Timing::OnTime)?;
    let recovery = outlook.recovery.as_deref().filter(|_| has_remedies);
    recovery.map(|recovery| recovery_words(language, recovery)).or_else(|| {
        let reason = reasons.of(language, order)?;
        Some(html! { div class="clamp" { (reason) } })
    })
}
