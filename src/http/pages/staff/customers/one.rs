//! Customer page for the staff: profile, revenue, and the latest orders, invoices, quotes, requests and payments.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use url::form_urlencoded;

use super::StaffCustomerHandles;
use crate::frame::{SLOT, time, with_parts};
use crate::staff::invoices::invoice_row;
use crate::staff::outage::live_order_state;
use crate::staff::quotes::{quote_row, request_row};
use crate::staff::sheet::{FEW_ROWS, address_line, few, method_name, page_of};
use crate::staff::shell::{StaffSection, StaffViewer};
use crate::staff::{CUSTOMERS_PATH, INVOICES_PATH, ORDERS_PATH, QUOTES_PATH, REQUESTS_PATH};
use domain::customer::{AddressKind, Customer};
use domain::id::Id;
use domain::invoice::Invoice;
use domain::ledger::{Payment, kept_by_currency};
use domain::notation::amount;
use domain::order::Order;
use http::access::Caller;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::path_id::PathId;
use http_api::production::invoices::invoices_with_numbers;
use http_api::production::printers::PrinterHandles;
use store::queries::{
    CustomRequestFilter, InvoiceFilter, ListedPayment, OrderFilter, Page, PaymentFilter, QuoteFilter,
};
use words::Language;
use words::staff::customers as texts;

/// Number of payments read per query.
const PAYMENTS_PER_READ: u64 = 200;
/// Maximum number of payments that are added up, starting with the newest.
const MAX_PAYMENTS_SUMMED: u64 = 2000;

/// Rendered table rows for a customer's latest records.
struct CustomerRecords {
    orders: Vec<Markup>,
    invoices: Vec<Markup>,
    quotes: Vec<Markup>,
    requests: Vec<Markup>,
}

/// Serves a customer's page.
pub(super) async fn show(
    State(app): State<StaffCustomerHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let language = viewer.language();
    let (_, state) = find_existing(&app.customers.customers, id).await?;
    let customer = state_of(&state)?;
    let (payments, paid_in_all) = payments(&app, &customer.email).await?;
    let all = belongings(&app, language, &customer.email).await?;
    let latest = payments.iter().take(FEW_ROWS.limit as usize);
    let rows: Vec<Markup> = latest.map(|listed| payment_row(language, listed)).collect();
    let none = texts::none_of_these(language);
    let title = customer.name.as_deref().unwrap_or(&customer.email);
    let content = html! {
        p { a href=(CUSTOMERS_PATH) { (texts::all_customers(language)) } }
        div id="customer" data-fresh="" {
            h1 { (title) }
            (profile(language, customer))
            (spend(language, payments.iter().map(|one| &one.payment), paid_in_all))
            (few("orders", &texts::orders(language), &all.orders, &none))
            (more(&texts::all_orders(language), ORDERS_PATH, "q", customer))
            (few("invoices", &texts::invoices(language), &all.invoices, &none))
            (more(&texts::all_invoices(language), INVOICES_PATH, "email", customer))
            (few("quotes", &texts::quotes(language), &all.quotes, &none))
            (more(&texts::all_quotes(language), QUOTES_PATH, "email", customer))
            (few("requests", &texts::requests(language), &all.requests, &none))
            (more(&texts::all_requests(language), REQUESTS_PATH, "q", customer))
            (few("payments", &texts::payments(language), &rows, &none))
        }
    };
    Ok(viewer.page(StaffSection::Customers, title, &app.board.view(), &content))
}

/// Returns a customer's latest payments and refunds, and their total number.
async fn payments(app: &StaffCustomerHandles, email: &str) -> Result<(Vec<ListedPayment>, u64), ApiError> {
    let filter = PaymentFilter { customer_email: Some(email.to_owned()), ..PaymentFilter::default() };
    let (mut all, mut offset) = (Vec::new(), 0);
    loop {
        let page = Page { limit: PAYMENTS_PER_READ, offset };
        let (some, total) = app.customers.queries.payments(&filter, page).await?;
        let read = some.len() as u64;
        all.extend(some);
        offset += PAYMENTS_PER_READ;
        if read < PAYMENTS_PER_READ || offset >= total.min(MAX_PAYMENTS_SUMMED) {
            return Ok((all, total));
        }
    }
}

async fn belongings(app: &StaffCustomerHandles, language: Language, email: &str) -> Result<CustomerRecords, ApiError> {
    let (queries, now) = (&app.customers.queries, app.invoices.environment.now());
    let theirs = || Some(email.to_owned());
    let filter = OrderFilter { customer_email: theirs(), ..OrderFilter::default() };
    let (orders, _) = queries.orders(&filter, FEW_ROWS).await?;
    let filter = InvoiceFilter { customer_email: theirs(), now, ..InvoiceFilter::default() };
    let (invoices, numbers, _) = invoices_with_numbers(&app.invoices, &filter, FEW_ROWS).await?;
    let cancelled = queries.open_of_cancelled(&invoices).await?;
    let filter = QuoteFilter { customer_email: theirs(), now, ..QuoteFilter::default() };
    let (quotes, _) = queries.quotes(&filter, FEW_ROWS).await?;
    let filter = CustomRequestFilter { customer_email: theirs(), ..CustomRequestFilter::default() };
    let (requests, _) = queries.custom_requests(&filter, FEW_ROWS).await?;
    let orders = orders.iter().filter_map(|one| one.state.as_ref());
    let quotes = quotes.iter().filter_map(|one| one.state.as_ref());
    let requests = requests.iter().filter_map(|one| one.state.as_ref());
    let invoice_row = |one: &Invoice| invoice_row(language, one, now, cancelled.contains(&one.id), &numbers);
    Ok(CustomerRecords {
        orders: orders.map(|order| order_row(language, &app.board.shop, order)).collect(),
        invoices: invoices.iter().map(invoice_row).collect(),
        quotes: quotes.map(|quote| quote_row(language, quote, now)).collect(),
        requests: requests.map(|request| request_row(language, request)).collect(),
    })
}

fn profile(language: Language, customer: &Customer) -> Markup {
    let kind = |of: AddressKind, is_default: bool| match (of, is_default) {
        (AddressKind::Billing, true) => texts::billing_address(language),
        (AddressKind::Billing, false) => texts::billing_address_additional(language),
        (AddressKind::Shipping, true) => texts::shipping_address(language),
        (AddressKind::Shipping, false) => texts::shipping_address_additional(language),
    };
    html! {
        section class="card" aria-labelledby="profile" {
            h2 id="profile" { (texts::profile(language)) }
            dl class="left" {
                dt { (texts::email(language)) } dd { a href={ "mailto:" (customer.email) } { (customer.email) } }
                @if let Some(phone) = &customer.phone { dt { (texts::phone(language)) } dd { (phone) } }
                @if let Some(company) = &customer.company { dt { (texts::company(language)) } dd { (company) } }
                @if let Some(tax_id) = &customer.tax_id { dt { (texts::vat_id(language)) } dd { (tax_id) } }
                @if let Some(locale) = &customer.locale { dt { (texts::language(language)) } dd { (locale) } }
                @for one in &customer.addresses {
                    dt { (kind(one.kind, one.is_default)) }
                    dd { (address_line(language, &one.address)) }
                }
                dt { (texts::since(language)) } dd { (time(language, customer.created_at)) }
            }
            p class="soft" { (texts::profile_note(language)) }
        }
    }
}

fn spend<'a>(language: Language, payments: impl Iterator<Item = &'a Payment>, in_all: u64) -> Markup {
    let totals = kept_by_currency(payments);
    html! {
        section class="card" aria-labelledby="spend" {
            h2 id="spend" { (texts::spent(language)) }
            @if totals.is_empty() { p class="soft" { (texts::nothing_spent(language)) } }
            @for (currency, cents) in &totals { p class="figure" { (amount(language, *cents, currency)) } }
            @if in_all > MAX_PAYMENTS_SUMMED {
                p class="soft" { (texts::spent_of_latest(language, MAX_PAYMENTS_SUMMED, in_all)) }
            }
        }
    }
}

fn order_row(language: Language, shop: &PrinterHandles, order: &Order) -> Markup {
    html! {
        a href=(page_of(ORDERS_PATH, order.id)) { (order.number_text()) }
        (live_order_state(language, shop, order))
        span class="soft" { (time(language, order.created_at)) }
        span { (amount(language, order.total_cents, &order.currency)) }
    }
}

fn payment_row(language: Language, listed: &ListedPayment) -> Markup {
    let (cents, status) = listed.payment.listed();
    let (method, at) = (method_name(language, &listed.payment.method), time(language, listed.payment.created_at));
    let link = |path: &str, id: Id, text: &str| html! { a href=(page_of(path, id)) { (text) } };
    let record = match (listed.order_id, listed.invoice_id) {
        (Some(order), _) => Some(link(ORDERS_PATH, order, &texts::an_order(language))),
        (None, Some(invoice)) => Some(link(INVOICES_PATH, invoice, &texts::an_invoice(language))),
        (None, None) => None,
    };
    html! {
        span {
            @match &record {
                Some(record) => { (with_parts(&texts::payment_for(language, &method, SLOT), &[record])) },
                None => { (method) },
            }
        }
        span class="soft" {
            @match status {
                "refunded" => { (with_parts(&texts::refunded_at(language, SLOT), &[&at])) },
                "failed" => { (with_parts(&texts::refund_failed_at(language, SLOT), &[&at])) },
                _ => { (at) },
            }
        }
        span { (amount(language, cents, &listed.payment.currency)) }
    }
}

/// Renders a link to a list that is filtered by the customer's email address.
fn more(words: &str, path: &str, name: &str, customer: &Customer) -> Markup {
    let query = form_urlencoded::Serializer::new(String::new()).append_pair(name, &customer.email).finish();
    html! { p { a href={ (path) "?" (query) } { (words) } } }
}
