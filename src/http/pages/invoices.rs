//! Customer's invoice pages: list, details with PDF and credit notes, and payment.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::brand::{Brand, address_line};
use super::form::PageForm;
use super::frame::{
    PageLanguage, SLOT, Section, Viewer, document_day, lead_to_payment, none_yet, see_other, with_parts,
};
use super::part_query::PartQuery;
use super::paths::{INVOICES, ORDERS, back_to};
use crate::design::{Icon, Tone, chip, empty_place, icon};
use config::Config;
use domain::id::Id;
use domain::invoice::{DocumentHead, DocumentKind, Invoice, InvoiceStatus, Party};
use domain::limits::LimitKind;
use domain::notation::amount;
use domain::order::{Order, OrderStatus};
use domain::time::Timestamp;
use http::access::Caller;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::handles::handles;
use http::limits::layer::ClientAddress;
use http::limits::{LimitedReply, RateLimiter, WindowKey, within};
use http::page::OpenQuery;
use http::path_id::PathId;
use http_api::billing::invoices::{PdfQuery, begin_checkout, own};
use http_api::production::invoices::{InvoiceHandles, invoices_with_numbers};
use store::queries::InvoiceFilter;
use words::{Language, pages};

handles! {
    /// Dependencies of the invoice pages.
    pub(crate) struct InvoicePageHandles {
        own: InvoiceHandles,
        limits: Arc<RateLimiter>,
        config: Arc<Config>,
    }
}

/// Returns the invoice status as text for customers.
fn status_words(language: Language, status: InvoiceStatus) -> String {
    match status {
        InvoiceStatus::Draft => pages::invoice_draft(language),
        InvoiceStatus::Open => pages::invoice_open(language),
        InvoiceStatus::PartiallyPaid => pages::invoice_partly_paid(language),
        InvoiceStatus::Overdue => pages::invoice_overdue(language),
        InvoiceStatus::Paid => pages::invoice_paid(language),
        InvoiceStatus::Refunded => pages::invoice_refunded(language),
        InvoiceStatus::Void => pages::invoice_void(language),
    }
}

/// Describes an invoice whose order was cancelled before it was paid in full.
pub(super) fn cancelled_text(language: Language, invoice: &Invoice) -> String {
    match invoice.ledger.kept_cents {
        1.. => pages::invoice_cancelled_paid_text(language),
        _ => pages::invoice_cancelled_text(language),
    }
}

/// Renders an invoice's status; `is_cancelled` states whether its order was cancelled.
pub(super) fn status_chip(language: Language, status: InvoiceStatus, is_cancelled: bool) -> Markup {
    let tone = match status {
        InvoiceStatus::Overdue => Tone::Error,
        InvoiceStatus::Open | InvoiceStatus::PartiallyPaid => Tone::Attention,
        InvoiceStatus::Paid => Tone::Working,
        InvoiceStatus::Draft | InvoiceStatus::Refunded | InvoiceStatus::Void => Tone::Idle,
    };
    if is_cancelled {
        chip(Tone::Idle, &pages::invoice_cancelled(language))
    } else {
        chip(tone, &status_words(language, status))
    }
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
    PageLanguage(language): PageLanguage,
    OpenQuery(part): OpenQuery<PartQuery>,
) -> Result<Response, ApiError> {
    let viewer = Viewer::new(&who, &app.config, PageLanguage(language))?;
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
    let (some, numbers, total) = invoices_with_numbers(&app.own, &filter, part.page()).await?;
    let cancelled = app.own.queries.open_of_cancelled(&some).await?;
    let number = |invoice: &Invoice| invoice.issued().and_then(|head| numbers.get(&head.id)).map_or("", String::as_str);
    let title = pages::invoices_title(language);
    let content = html! {
        h1 { (title) }
        @if some.is_empty() {
            (empty_place(Icon::ReceiptText, &pages::invoices_empty(language), &html! {
                p class="small" { (none_yet(language, email)) }
                a class="btn" href=(ORDERS) { (pages::orders_title(language)) }
            }))
        } @else {
            ul class="panel rows" {
                @for invoice in &some {
                    (row(language, invoice, number(invoice), &status_chip(
                        language,
                        invoice.shown_status(now),
                        cancelled.contains(&invoice.id),
                    )))
                }
            }
        }
        (part.links(language, INVOICES, total))
    };
    Ok(viewer.page(Section::Invoices, &title, &content))
}

/// Renders an invoice in the list, with its number and status.
fn row(language: Language, invoice: &Invoice, number: &str, status: &Markup) -> Markup {
    let day = |at: Timestamp| document_day(language, at);
    let content = &invoice.content;
    html! {
        li class="row" {
            span class="thumb" { (icon(Icon::ReceiptText)) }
            div {
                a class="tall" href={ (INVOICES) "/" (invoice.id) } { (number) } " "
                (status)
                div class="small muted" {
                    @if let Some(at) = invoice.issued_at { (with_parts(&pages::issued_on(language, SLOT), &[&day(at)])) }
                    @if let Some(at) = invoice.due_at.filter(|_| invoice.due_cents() > 0) {
                        " · " (with_parts(&pages::due_on(language, SLOT), &[&day(at)]))
                    }
                }
            }
            span class="num" { (amount(language, content.sums.payable_cents(), &content.currency)) }
        }
    }
}

/// Serves an invoice's page.
pub(super) async fn one(
    State(app): State<InvoicePageHandles>,
    PathId(id): PathId,
    who: Caller,
    PageLanguage(language): PageLanguage,
) -> Result<Response, ApiError> {
    let viewer = Viewer::new(&who, &app.config, PageLanguage(language))?;
    let whole = own(&app.own, &who, id, None).await?;
    let (_, state) = find_existing(&app.own.invoices, id).await?;
    let invoice = state_of(&state)?;
    let title = pages::invoice_title(language, &whole.document.number_text());
    let status = invoice.shown_status(app.own.environment.now());
    let cancelled = order_is_cancelled(&app.own, invoice).await?;
    let due = if cancelled { 0 } else { invoice.due_cents() };
    let notes: Vec<&DocumentHead> =
        invoice.documents.iter().filter(|one| one.kind == DocumentKind::CreditNote).collect();
    let ids: Vec<Id> = notes.iter().map(|note| note.id).collect();
    let numbers = app.own.queries.document_numbers(&ids).await?;
    let content = html! {
        div class="head" { h1 { (title) } (status_chip(language, status, cancelled)) }
        @if cancelled { p { (cancelled_text(language, invoice)) } }
        (summary(language, invoice, due))
        div class="acts" {
            @if due > 0 {
                form method="post" action={ (INVOICES) "/" (id) "/pay" } {
                    (viewer.hidden())
                    button type="submit" { (pages::pay_amount(language, &amount(language, due, &invoice.content.currency))) }
                }
            }
            @if app.config.pdf.enabled {
                a class="btn" href={ (INVOICES) "/" (id) "/pdf" } { (icon(Icon::Download)) (pages::download_pdf(language)) }
            }
            @if let Some(order) = invoice.order_id {
                a class="btn" href={ (ORDERS) "/" (order) } { (icon(Icon::Package)) (pages::order_link(language)) }
            }
            (viewer.brand.ask(&whole.document.number_text()))
        }
        (lines(language, invoice))
        (seller(language, &whole.document.seller))
        @if !notes.is_empty() { (credit_notes(language, invoice, &notes, &numbers, app.config.pdf.enabled)) }
    };
    Ok(viewer.page(Section::Invoices, &title, &content))
}

/// Renders the seller as shown on the invoice.
fn seller(language: Language, seller: &Party) -> Markup {
    html! {
        section class="panel pad" aria-labelledby="seller" {
            h2 id="seller" { (pages::seller(language)) }
            p {
                (seller.name)
                @if let Some(address) = &seller.address { br; (address_line(language, address)) }
                @if let Some(id) = &seller.vat_id { br; span class="small muted" { (pages::vat_id(language, id)) } }
            }
        }
    }
}

/// Renders an invoice's credit notes, each with its PDF if PDFs are enabled.
fn credit_notes(
    language: Language,
    invoice: &Invoice,
    notes: &[&DocumentHead],
    numbers: &HashMap<Id, String>,
    with_pdf: bool,
) -> Markup {
    let name = |note: &DocumentHead| pages::credit_note(language, numbers.get(&note.id).map_or("", String::as_str));
    html! {
        section class="panel pad" aria-labelledby="credited" {
            h2 id="credited" { (pages::credit_notes(language)) }
            ul class="rows" {
                @for note in notes {
                    li {
                        @if with_pdf {
                            a href={ (INVOICES) "/" (invoice.id) "/pdf?document=" (note.id) } { (name(note)) }
                        } @else {
                            span { (name(note)) }
                        }
                        span class="soft" { (document_day(language, note.issued_at)) }
                        span { (amount(language, note.payable_cents, &invoice.content.currency)) }
                    }
                }
            }
        }
    }
}

/// Renders the summary of an invoice; `due` is the amount still to be paid.
fn summary(language: Language, invoice: &Invoice, due: i64) -> Markup {
    let money = |cents: i64| amount(language, cents, &invoice.content.currency);
    let day = |at: Timestamp| document_day(language, at);
    html! {
        section class="panel pad" aria-labelledby="sums" {
            h2 id="sums" { (pages::summary(language)) }
            dl {
                @if let Some(at) = invoice.issued_at { dt { (pages::issued(language)) } dd { (day(at)) } }
                @if let Some(at) = invoice.due_at { dt { (pages::due(language)) } dd { (day(at)) } }
                dt { (pages::total(language)) } dd { (money(invoice.content.sums.payable_cents())) }
                dt { (pages::paid(language)) } dd { (money(invoice.ledger.kept_cents)) }
                dt class="sum" { (pages::to_pay(language)) } dd class="sum" { (money(due)) }
            }
        }
    }
}

/// Renders an invoice's lines and totals.
pub(super) fn lines(language: Language, invoice: &Invoice) -> Markup {
    let content = &invoice.content;
    let money = |cents: i64| amount(language, cents, &content.currency);
    let sum = |words: String, cents: i64| {
        html! { @if cents != 0 { dt { (words) } dd { (money(cents)) } } }
    };
    html! {
        section class="panel pad" aria-labelledby="lines" {
            h2 id="lines" { (pages::items(language)) }
            ul class="rows" {
                @for line in &content.lines {
                    li {
                        span { (line.quantity) " × " (line.description) }
                        @if let Some(cents) = line.amount_cents() { span { (money(cents)) } }
                    }
                }
            }
            dl {
                (sum(pages::shipping(language), content.sums.shipping_cents))
                (sum(pages::discount(language), -content.sums.discount_cents))
                (sum(pages::tax(language), content.sums.tax_cents))
                dt class="sum" { (pages::total(language)) } dd class="sum" { (money(content.sums.payable_cents())) }
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
    PageLanguage(language): PageLanguage,
    sent: PageForm,
) -> Result<LimitedReply<Response>, ApiError> {
    own(&app.own, &sent.call.who, id, None).await?;
    let (_, state) = find_existing(&app.own.invoices, id).await?;
    let charge = WindowKey::of_address(LimitKind::OrderCheckout, client);
    let open = async {
        let pages = back_to(&app.config, INVOICES, id);
        let open = begin_checkout(&app.own, state_of(&state)?, &sent.call.origin(), &pages).await?;
        Ok(lead_to_payment(&Brand::new(&app.config, language), &open.url))
    };
    within(&app.limits, app.own.environment.now(), &[charge], open).await
}
