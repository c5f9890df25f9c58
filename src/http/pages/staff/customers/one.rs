//! Customer page for the staff: profile, revenue, and the latest orders, invoices, quotes, requests and payments.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use url::form_urlencoded;

use super::StaffCustomerHandles;
use crate::frame::{money, time};
use crate::staff::invoices::invoice_row;
use crate::staff::orders::order_state;
use crate::staff::quotes::{quote_row, request_row};
use crate::staff::sheet::{FEW_ROWS, address_line, few, page_of};
use crate::staff::shell::{StaffSection, StaffViewer};
use crate::staff::{CUSTOMERS_PATH, INVOICES_PATH, ORDERS_PATH, QUOTES_PATH, REQUESTS_PATH};
use domain::currency::format_amount;
use domain::customer::{AddressKind, Customer};
use domain::id::Id;
use domain::invoice::Invoice;
use domain::ledger::{Payment, kept_by_currency};
use domain::order::Order;
use http::access::Caller;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::path_id::PathId;
use store::queries::{
    CustomRequestFilter, InvoiceFilter, ListedPayment, OrderFilter, Page, PaymentFilter, QuoteFilter,
};

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
    let (_, state) = find_existing(&app.customers.customers, id).await?;
    let customer = state_of(&state)?;
    let (payments, paid_in_all) = payments(&app, &customer.email).await?;
    let all = belongings(&app, &customer.email).await?;
    let rows: Vec<Markup> = payments.iter().take(FEW_ROWS.limit as usize).map(payment_row).collect();
    let title = customer.name.as_deref().unwrap_or(&customer.email);
    let content = html! {
        p { a href=(CUSTOMERS_PATH) { "All customers" } }
        div id="customer" data-fresh="" {
            h1 { (title) }
            (profile(customer))
            (spend(payments.iter().map(|one| &one.payment), paid_in_all))
            (few("orders", "Orders", &all.orders, "None yet."))
            (more("View all orders", ORDERS_PATH, "q", customer))
            (few("invoices", "Invoices", &all.invoices, "None yet."))
            (more("View all invoices", INVOICES_PATH, "email", customer))
            (few("quotes", "Quotes", &all.quotes, "None yet."))
            (more("View all quotes", QUOTES_PATH, "email", customer))
            (few("requests", "Custom requests", &all.requests, "None yet."))
            (more("View all custom requests", REQUESTS_PATH, "q", customer))
            (few("payments", "Payments and refunds", &rows, "None yet."))
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

async fn belongings(app: &StaffCustomerHandles, email: &str) -> Result<CustomerRecords, ApiError> {
    let (queries, now) = (&app.customers.queries, app.invoices.environment.now());
    let theirs = || Some(email.to_owned());
    let filter = OrderFilter { customer_email: theirs(), ..OrderFilter::default() };
    let (orders, _) = queries.orders(&filter, FEW_ROWS).await?;
    let filter = InvoiceFilter { customer_email: theirs(), now, ..InvoiceFilter::default() };
    let (invoices, _) = queries.invoices(&filter, FEW_ROWS).await?;
    let invoices: Vec<Invoice> = invoices.into_iter().filter_map(|one| one.state).collect();
    let cancelled = queries.open_of_cancelled(&invoices).await?;
    let issued: Vec<Id> = invoices.iter().filter_map(|one| one.issued().map(|head| head.id)).collect();
    let numbers = app.invoices.documents.numbers(&issued).await?;
    let filter = QuoteFilter { customer_email: theirs(), now, ..QuoteFilter::default() };
    let (quotes, _) = queries.quotes(&filter, FEW_ROWS).await?;
    let filter = CustomRequestFilter { customer_email: theirs(), ..CustomRequestFilter::default() };
    let (requests, _) = queries.custom_requests(&filter, FEW_ROWS).await?;
    Ok(CustomerRecords {
        orders: orders.iter().filter_map(|one| one.state.as_ref()).map(order_row).collect(),
        invoices: invoices.iter().map(|one| invoice_row(one, now, cancelled.contains(&one.id), &numbers)).collect(),
        quotes: quotes.iter().filter_map(|one| one.state.as_ref()).map(|one| quote_row(one, now)).collect(),
        requests: requests.iter().filter_map(|one| one.state.as_ref()).map(request_row).collect(),
    })
}

fn profile(customer: &Customer) -> Markup {
    let kind = |of: AddressKind| match of {
        AddressKind::Billing => "Billing address",
        AddressKind::Shipping => "Shipping address",
    };
    html! {
        section class="card" aria-labelledby="profile" {
            h2 id="profile" { "Profile" }
            dl class="left" {
                dt { "Email address" } dd { a href={ "mailto:" (customer.email) } { (customer.email) } }
                @if let Some(phone) = &customer.phone { dt { "Phone" } dd { (phone) } }
                @if let Some(company) = &customer.company { dt { "Company" } dd { (company) } }
                @if let Some(tax_id) = &customer.tax_id { dt { "VAT ID" } dd { (tax_id) } }
                @if let Some(locale) = &customer.locale { dt { "Language" } dd { (locale) } }
                @for one in &customer.addresses {
                    dt { (kind(one.kind)) @if !one.is_default { ", additional" } }
                    dd { (address_line(words::Language::English, &one.address)) }
                }
                dt { "Since" } dd { (time(customer.created_at)) }
            }
            p class="soft" { "Only the customer can change this profile." }
        }
    }
}

fn spend<'a>(payments: impl Iterator<Item = &'a Payment>, in_all: u64) -> Markup {
    let totals = kept_by_currency(payments);
    html! {
        section class="card" aria-labelledby="spend" {
            h2 id="spend" { "Total spent, less refunds" }
            @if totals.is_empty() { p class="soft" { "Nothing yet." } }
            @for (currency, cents) in &totals { p class="figure" { (format_amount(*cents, currency)) } }
            @if in_all > MAX_PAYMENTS_SUMMED {
                p class="soft" { "Based on the latest " (MAX_PAYMENTS_SUMMED) " of " (in_all) " payments and refunds." }
            }
        }
    }
}

fn order_row(order: &Order) -> Markup {
    let (tone, words) = order_state(order.status);
    html! {
        a href=(page_of(ORDERS_PATH, order.id)) { (order.number_text()) }
        span class=(tone.class()) { (words) }
        span class="soft" { (time(order.created_at)) }
        span { (money(order.total_cents, &order.currency)) }
    }
}

fn payment_row(listed: &ListedPayment) -> Markup {
    let (cents, status) = listed.payment.listed();
    html! {
        span {
            (listed.payment.method.replace('_', " "))
            @match (listed.order_id, listed.invoice_id) {
                (Some(order), _) => { " for " a href=(page_of(ORDERS_PATH, order)) { "an order" } },
                (None, Some(invoice)) => { " for " a href=(page_of(INVOICES_PATH, invoice)) { "an invoice" } },
                (None, None) => {},
            }
        }
        span class="soft" {
            @if status == "refunded" { "refunded, " } @else if status == "failed" { "refund failed, " }
            (time(listed.payment.created_at))
        }
        span { (money(cents, &listed.payment.currency)) }
    }
}

/// Renders a link to a list that is filtered by the customer's email address.
fn more(words: &str, path: &str, name: &str, customer: &Customer) -> Markup {
    let query = form_urlencoded::Serializer::new(String::new()).append_pair(name, &customer.email).finish();
    html! { p { a href={ (path) "?" (query) } { (words) } } }
}
