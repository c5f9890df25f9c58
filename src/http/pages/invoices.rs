//! Customer's invoice pages: list, details with PDF and credit notes, and payment.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::brand::{Brand, address_line};
use super::form::PageForm;
use super::frame::{Section, Viewer, lead_to_payment, money, see_other};
use super::orders::{PartQuery, back_to};
use super::times::document_day;
use crate::design::{Icon, Tone, chip, empty_place, icon};
use config::Config;
use domain::id::Id;
use domain::invoice::{DocumentHead, DocumentKind, Invoice, InvoiceStatus, Party};
use domain::limits::LimitKind;
use domain::order::{Order, OrderStatus};
use http::access::Caller;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::handles::handles;
use http::limits::layer::ClientAddress;
use http::limits::{LimitedReply, RateLimiter, WindowKey, within};
use http::page::OpenQuery;
use http::path_id::PathId;
use http_api::billing::invoices::{PdfQuery, begin_checkout, own};
use http_api::production::invoices::InvoiceHandles;
use store::queries::InvoiceFilter;

/// Path of the invoice list.
pub(super) const PATH: &str = "/invoices";
/// Status shown for an invoice with an outstanding amount whose order was cancelled.
pub(super) const CANCELLED_WORDS: &str = "Order cancelled";
/// Notice shown if a payment was made for an order that was cancelled.
pub(super) const GIVEN_BACK_WORDS: &str = "Your payment will be refunded.";

handles! {
    /// Dependencies of the invoice pages.
    pub(crate) struct InvoicePageHandles {
        own: InvoiceHandles,
        limits: Arc<RateLimiter>,
        config: Arc<Config>,
    }
}

/// Returns the invoice status as text for customers.
fn status_words(status: InvoiceStatus) -> &'static str {
    match status {
        InvoiceStatus::Draft => "Draft",
        InvoiceStatus::Open => "To be paid",
        InvoiceStatus::PartiallyPaid => "Partly paid",
        InvoiceStatus::Overdue => "Overdue",
        InvoiceStatus::Paid => "Paid",
        InvoiceStatus::Refunded => "Refunded",
        InvoiceStatus::Void => "Void",
    }
}

/// Renders an invoice's status; `is_cancelled` states whether its order was cancelled.
pub(super) fn status_chip(status: InvoiceStatus, is_cancelled: bool) -> Markup {
    let tone = match status {
        InvoiceStatus::Overdue => Tone::Error,
        InvoiceStatus::Open | InvoiceStatus::PartiallyPaid => Tone::Attention,
        InvoiceStatus::Paid => Tone::Working,
        InvoiceStatus::Draft | InvoiceStatus::Refunded | InvoiceStatus::Void => Tone::Idle,
    };
    if is_cancelled { chip(Tone::Idle, CANCELLED_WORDS) } else { chip(tone, status_words(status)) }
}

/// Returns whether the invoice has an outstanding amount although its order was cancelled. Such an invoice should no
/// longer be paid, and payments for it are refunded; after that, it becomes void.
pub(super) async fn order_is_cancelled(app: &InvoiceHandles, invoice: &Invoice) -> Result<bool, ApiError> {
    let Some(order) = invoice.order_id.filter(|_| invoice.due_cents() > 0) else { return Ok(false) };
    let cancelled = |order: &Order| order.status == OrderStatus::Cancelled;
    Ok(app.orders.read(order).await?.is_some_and(|state| state.state.as_ref().is_some_and(cancelled)))
}

/// Serves the list of invoices.
pub(super) async fn list(
    State(app): State<InvoicePageHandles>,
    who: Caller,
    OpenQuery(part): OpenQuery<PartQuery>,
) -> Result<Response, ApiError> {
    let viewer = Viewer::new(&who, &app.config)?;
    let (_, email) = who.customer()?;
    let now = app.own.environment.now();
    let filter = InvoiceFilter {
        status: None,
        site: None,
        customer_email: Some(email.to_owned()),
        order_id: None,
        issued: true,
        now,
    };
    let (some, total) = app.own.queries.invoices(&filter, part.page()).await?;
    let some: Vec<Invoice> = some.into_iter().filter_map(|one| one.state).collect();
    let cancelled = app.own.queries.open_of_cancelled(&some).await?;
    let issued: Vec<Id> = some.iter().filter_map(|one| one.issued().map(|head| head.id)).collect();
    let numbers = app.own.queries.document_numbers(&issued).await?;
    let number = |invoice: &Invoice| invoice.issued().and_then(|head| numbers.get(&head.id)).map_or("", String::as_str);
    let content = html! {
        h1 { "Your invoices" }
        @if some.is_empty() {
            (empty_place(Icon::ReceiptText, "Your invoices appear here, to be paid and downloaded.", &html! {
                p class="small" { "There are none for " strong { (email) } " yet." }
                a class="btn" href=(super::orders::PATH) { "Your orders" }
            }))
        } @else {
            ul class="panel rows" {
                @for invoice in &some {
                    li class="row" {
                        span class="thumb" { (icon(Icon::ReceiptText)) }
                        div {
                            a class="tall" href={ (PATH) "/" (invoice.id) } { (number(invoice)) } " "
                            (status_chip(invoice.shown_status(now), cancelled.contains(&invoice.id)))
                            div class="small muted" {
                                @if let Some(at) = invoice.issued_at { "Issued " (document_day(at)) }
                                @if let Some(at) = invoice.due_at.filter(|_| invoice.due_cents() > 0) { " · due " (document_day(at)) }
                            }
                        }
                        span class="num" { (money(invoice.content.sums.payable_cents(), &invoice.content.currency)) }
                    }
                }
            }
        }
        (part.links(PATH, total))
    };
    Ok(viewer.page(Section::Invoices, "Your invoices", &content))
}

/// Serves an invoice's page.
pub(super) async fn one(
    State(app): State<InvoicePageHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    let viewer = Viewer::new(&who, &app.config)?;
    let whole = own(&app.own, &who, id, None).await?;
    let (_, state) = find_existing(&app.own.invoices, id).await?;
    let invoice = state_of(&state)?;
    let title = format!("Invoice {}", whole.document.number_text());
    let status = invoice.shown_status(app.own.environment.now());
    let cancelled = order_is_cancelled(&app.own, invoice).await?;
    let due = if cancelled { 0 } else { invoice.due_cents() };
    let notes: Vec<&DocumentHead> =
        invoice.documents.iter().filter(|one| one.kind == DocumentKind::CreditNote).collect();
    let ids: Vec<Id> = notes.iter().map(|note| note.id).collect();
    let numbers = app.own.queries.document_numbers(&ids).await?;
    let content = html! {
        div class="head" { h1 { (title) } (status_chip(status, cancelled)) }
        @if cancelled {
            p {
                "Its order was cancelled; no payment is due."
                @if invoice.ledger.kept_cents > 0 { " " (GIVEN_BACK_WORDS) }
            }
        }
        (summary(invoice, due))
        div class="acts" {
            @if due > 0 {
                form method="post" action={ (PATH) "/" (id) "/pay" } {
                    (viewer.hidden())
                    button type="submit" { "Pay " (money(due, &invoice.content.currency)) }
                }
            }
            @if app.config.pdf.enabled {
                a class="btn" href={ (PATH) "/" (id) "/pdf" } { (icon(Icon::Download)) "Download PDF" }
            }
            @if let Some(order) = invoice.order_id {
                a class="btn" href={ (super::orders::PATH) "/" (order) } { (icon(Icon::Package)) "Order" }
            }
            (viewer.brand.ask(&whole.document.number_text()))
        }
        (lines(invoice))
        (seller(&whole.document.seller))
        @if !notes.is_empty() { (credit_notes(invoice, &notes, &numbers, app.config.pdf.enabled)) }
    };
    Ok(viewer.page(Section::Invoices, &title, &content))
}

/// Renders the seller as shown on the invoice.
fn seller(seller: &Party) -> Markup {
    html! {
        section class="panel pad" aria-labelledby="seller" {
            h2 id="seller" { "Seller" }
            p {
                (seller.name)
                @if let Some(address) = &seller.address { br; (address_line(address)) }
                @if let Some(id) = &seller.vat_id { br; span class="small muted" { "VAT ID " (id) } }
            }
        }
    }
}

/// Renders an invoice's credit notes, each with its PDF if PDFs are enabled.
fn credit_notes(invoice: &Invoice, notes: &[&DocumentHead], numbers: &HashMap<Id, String>, with_pdf: bool) -> Markup {
    let number = |note: &DocumentHead| numbers.get(&note.id).map_or("", String::as_str);
    html! {
        section class="panel pad" aria-labelledby="credited" {
            h2 id="credited" { "Credit notes" }
            ul class="rows" {
                @for note in notes {
                    li {
                        @if with_pdf {
                            a href={ (PATH) "/" (invoice.id) "/pdf?document=" (note.id) } { "Credit note " (number(note)) }
                        } @else {
                            span { "Credit note " (number(note)) }
                        }
                        span class="soft" { (document_day(note.issued_at)) }
                        span { (money(note.payable_cents, &invoice.content.currency)) }
                    }
                }
            }
        }
    }
}

/// Renders the summary of an invoice; `due` is the amount still to be paid.
fn summary(invoice: &Invoice, due: i64) -> Markup {
    let currency = &invoice.content.currency;
    html! {
        section class="panel pad" aria-labelledby="sums" {
            h2 id="sums" { "Summary" }
            dl {
                @if let Some(at) = invoice.issued_at { dt { "Issued" } dd { (document_day(at)) } }
                @if let Some(at) = invoice.due_at { dt { "Due" } dd { (document_day(at)) } }
                dt { "Total" } dd { (money(invoice.content.sums.payable_cents(), currency)) }
                dt { "Paid" } dd { (money(invoice.ledger.kept_cents, currency)) }
                dt class="sum" { "To be paid" } dd class="sum" { (money(due, currency)) }
            }
        }
    }
}

/// Renders an invoice's lines and totals.
pub(super) fn lines(invoice: &Invoice) -> Markup {
    let (content, currency) = (&invoice.content, &invoice.content.currency);
    let sum = |words: &'static str, cents: i64| {
        html! { @if cents != 0 { dt { (words) } dd { (money(cents, currency)) } } }
    };
    html! {
        section class="panel pad" aria-labelledby="lines" {
            h2 id="lines" { "Items" }
            ul class="rows" {
                @for line in &content.lines {
                    li {
                        span { (line.quantity) " × " (line.description) }
                        @if let Some(cents) = line.amount_cents() { span { (money(cents, currency)) } }
                    }
                }
            }
            dl {
                (sum("Shipping", content.sums.shipping_cents))
                (sum("Discount", -content.sums.discount_cents))
                (sum("Tax", content.sums.tax_cents))
                dt class="sum" { "Total" } dd class="sum" { (money(content.sums.payable_cents(), currency)) }
            }
            @if let Some(notes) = &content.notes { p class="small muted" { (notes) } }
        }
    }
}

/// Redirects to the PDF of the invoice or of one of its credit notes, generating and storing the PDF if it does not
/// exist yet.
pub(super) async fn pdf(
    State(app): State<InvoicePageHandles>,
    PathId(id): PathId,
    who: Caller,
    OpenQuery(query): OpenQuery<PdfQuery>,
) -> Result<Response, ApiError> {
    let whole = own(&app.own, &who, id, query.document).await?;
    Ok(see_other(&app.own.documents.store(&whole).await?))
}

/// Forwards to the payment processor's payment page for one of the customer's own invoices.
pub(super) async fn pay(
    State(app): State<InvoicePageHandles>,
    PathId(id): PathId,
    ClientAddress(client): ClientAddress,
    sent: PageForm,
) -> Result<LimitedReply<Response>, ApiError> {
    own(&app.own, &sent.call.who, id, None).await?;
    let (_, state) = find_existing(&app.own.invoices, id).await?;
    let charge = WindowKey::of_address(LimitKind::OrderCheckout, client);
    let open = async {
        let pages = back_to(&app.config, PATH, id);
        let open = begin_checkout(&app.own, state_of(&state)?, &sent.call.origin(), &pages).await?;
        Ok(lead_to_payment(&Brand::new(&app.config), &open.url))
    };
    within(&app.limits, app.own.environment.now(), &[charge], open).await
}
