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
use super::outage::live_order_state;
use super::remedy::recovery_words;
use super::sheet::{ListFilter, list_filters};
use super::shell::{StaffSection, StaffViewer, Tone};
use super::timing::{timing_label, timing_path, timing_state};
use super::{ORDERS_PATH, PRODUCTS_PATH};
use crate::frame::time;
use config::Config;
use domain::attention_flag::AttentionFlag;
use domain::notation;
use domain::order::{OrderStatus, PICKUP, SentShipment};
use domain::timing::Timing;
use http::access::{Caller, RequiredAccess};
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http::routes::{PageBounds, Routes};
use http_api::production::jobs::JobHandles;
use http_api::production::orders::{ListedOrder, OrderHandles, OrderSort, TimingSelection};
use http_api::production::printers::PrinterHandles;
use store::queries::{OrderFilter, Page};
use words::Language;
use words::staff::{common, orders as texts};

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
pub(super) fn order_state(language: Language, status: OrderStatus) -> (Tone, String) {
    match status {
        OrderStatus::Draft => (Tone::Idle, texts::status_draft(language)),
        OrderStatus::Created => (Tone::Attention, texts::status_created(language)),
        OrderStatus::PaymentFailed => (Tone::Error, texts::status_payment_failed(language)),
        OrderStatus::Paid => (Tone::Working, texts::status_paid(language)),
        OrderStatus::Printing => (Tone::Running, texts::status_printing(language)),
        OrderStatus::Ready => (Tone::Attention, texts::status_ready(language)),
        OrderStatus::Shipped => (Tone::Idle, texts::status_shipped(language)),
        OrderStatus::Cancelled => (Tone::Idle, texts::status_cancelled(language)),
        OrderStatus::Refunded => (Tone::Idle, texts::status_refunded(language)),
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
    let language = viewer.language();
    let view = app.board.view();
    let page = Page { limit: ROWS_PER_PAGE, offset: query.from.into() };
    let (orders, total) = app.orders.list(&query.filter(), query.selection(), page).await?;
    let (from, next) = (u64::from(query.from), u64::from(query.from) + ROWS_PER_PAGE);
    let title = texts::list_title(language);
    let content = html! {
        div class="head" {
            h1 { (title) }
            span class="push" {}
            a class="btn" href=(JOBS_PATH) { (texts::jobs(language)) }
            a class="btn primary" href=(new_order::PATH) { (texts::new_order(language)) }
        }
        (timings(language, &app, query.timing()))
        (tools(language, &query))
        div id="orders" data-fresh="" {
            @if total == 0 && query.is_open() { (nothing(language)) } @else if orders.is_empty() {
                p { (texts::no_match(language)) " " a href=(ORDERS_PATH) { (texts::show_all(language)) } }
            } @else { (table(language, &app.board.shop, &orders, query.timing())) }
            p class="soft" { (common::total(language, total)) }
            @if from > 0 || next < total {
                p class="acts" {
                    @if from > 0 {
                        a class="button second" href=(query.part(from.saturating_sub(ROWS_PER_PAGE))) { (common::newer(language)) }
                    }
                    @if next < total { a class="button second" href=(query.part(next)) { (common::older(language)) } }
                }
            }
        }
    };
    Ok(viewer.page(StaffSection::Orders, &title, &view, &content))
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

/// Renders the links that filter the list by timing, with the number of orders for each.
fn timings(language: Language, app: &StaffOrderHandles, chosen: Option<Timing>) -> Markup {
    let (all, forecast) = (app.board.orders.all_resident(), app.board.forecaster.latest());
    let now = app.orders.environment.now();
    let orders = all.iter().filter_map(|(_, versioned)| versioned.state.as_ref());
    let timings: Vec<Timing> =
        orders.filter_map(|order| order.timing(forecast.orders.get(&order.id).copied(), now)).collect();
    let all_label = texts::all_filter(language);
    let labels = Timing::ALL.map(|timing| timing_state(language, timing).1);
    let every =
        ListFilter { label: &all_label, path: ORDERS_PATH.to_owned(), count: None, is_current: chosen.is_none() };
    let filters = Timing::ALL.into_iter().zip(&labels).map(|(timing, label)| ListFilter {
        label,
        path: timing_path(timing),
        count: Some(timings.iter().filter(|one| **one == timing).count()),
        is_current: chosen == Some(timing),
    });
    list_filters(&texts::timing_filters(language), &[every].into_iter().chain(filters).collect::<Vec<_>>())
}

fn tools(language: Language, query: &OrderListQuery) -> Markup {
    let chosen = query.status();
    html! {
        form class="tools" method="get" action=(ORDERS_PATH) role="search" {
            div class="field" {
                label for="q" { (texts::search_field(language)) }
                input id="q" name="q" type="search" maxlength="200" value=[query.q.as_deref()];
            }
            div class="field" {
                label for="status" { (texts::status_field(language)) }
                select id="status" name="status" {
                    option value="" { (texts::all_filter(language)) }
                    @for status in STATUSES {
                        option value=(status) selected[chosen == Some(status)] { (order_state(language, status).1) }
                    }
                }
            }
            div class="field" {
                label for="flagged" { (texts::flagged_field(language)) }
                input id="flagged" name="flagged" type="checkbox" value="true" checked[query.flagged.is_some()];
            }
            @if let Some(timing) = query.timing() { input type="hidden" name="timing" value=(timing.word()); }
            button class="second" type="submit" { (texts::show(language)) }
        }
    }
}

/// Renders the list. In a list of late orders or of those at risk, a line below each says what would have it ready in
/// time.
fn table(language: Language, shop: &PrinterHandles, orders: &[ListedOrder], chosen: Option<Timing>) -> Markup {
    let rows = orders.iter().filter_map(|(order, outlook)| Some((order.state.as_ref()?, outlook)));
    let has_remedies = chosen.is_some_and(|timing| timing != Timing::OnTime);
    let (placed, promised) = (texts::placed_column(language), texts::promised_column(language));
    let (expected, total) = (texts::expected_column(language), texts::total_column(language));
    html! {
        div class="table list" tabindex="0" role="region" aria-label=(texts::list_title(language)) {
            table {
                thead {
                    tr {
                        th scope="col" { (texts::order_column(language)) }
                        th scope="col" { (texts::status_column(language)) }
                        th scope="col" { (texts::customer_column(language)) }
                        th scope="col" { (placed) } th scope="col" { (promised) } th scope="col" { (expected) }
                        th scope="col" class="number" { (total) }
                    }
                }
                tbody {
                    @for (order, outlook) in rows {
                        tr {
                            th scope="row" { a href={ (ORDERS_PATH) "/" (order.id) } { (order.number_text()) } }
                            td class="states" {
                                (live_order_state(language, shop, order))
                                (timing_label(language, outlook))
                                @for flag in &order.flags {
                                    " " span class=(Tone::Attention.class()) { (flag_words(language, flag)) }
                                }
                            }
                            td class="wide" { @if let Some(email) = &order.customer_email { span class="ellipsis" title=(email) { (email) } } }
                            td class="spare" data-label=(placed) { (time(language, order.created_at)) }
                            td data-label=(promised) {
                                @if let Some(promise) = &order.promise { (time(language, promise.promised_at)) }
                            }
                            td class=[order.promise.is_some().then_some("spare")] data-label=(expected) {
                                @if let Some(at) = outlook.expected_at { (time(language, at)) }
                            }
                            td class="number" data-label=(total) {
                                (notation::amount(language, order.total_cents, &order.currency))
                            }
                        }
                        @if let Some(recovery) = outlook.recovery.as_deref().filter(|_| has_remedies) {
                            tr { td class="unfolds remedy" colspan="7" { (recovery_words(language, recovery)) } }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the carrier of a shipment, or that it was picked up.
pub(super) fn carrier_name(language: Language, sent: &SentShipment) -> String {
    let carrier = &sent.shipment.carrier;
    if carrier == PICKUP { texts::pickup(language) } else { carrier.clone() }
}

/// Returns the reason an order or invoice needs attention, as text.
pub(super) fn flag_words(language: Language, flag: &str) -> String {
    let Some(flag) = AttentionFlag::parse(flag) else { return texts::flag_unknown(language) };
    let text = match flag {
        AttentionFlag::RefundDue => texts::flag_refund_due,
        AttentionFlag::AmountMismatch => texts::flag_amount_mismatch,
        AttentionFlag::JobFailed => texts::flag_job_failed,
        AttentionFlag::AllJobsCancelled => texts::flag_all_jobs_cancelled,
        AttentionFlag::Short => texts::flag_short,
        AttentionFlag::NeedsAttention => texts::flag_needs_attention,
        AttentionFlag::SellerIncomplete => texts::flag_seller_incomplete,
        AttentionFlag::RejectedAfterShipping => texts::flag_rejected_after_shipping,
        AttentionFlag::Surplus => texts::flag_surplus,
        AttentionFlag::RefundFailed => texts::flag_refund_failed,
        AttentionFlag::Disputed => texts::flag_disputed,
        AttentionFlag::DisputeLost => texts::flag_dispute_lost,
    };
    text(language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flag_has_words_of_its_own_in_each_language() {
        for language in Language::ALL {
            let unknown = flag_words(language, "unheard_of");
            let mut all = AttentionFlag::ALL.map(|flag| flag_words(language, flag.word())).to_vec();
            assert!(all.iter().all(|words| *words != unknown && !words.contains('_')), "{all:?}");
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), AttentionFlag::ALL.len(), "{all:?}");
        }
    }
}
