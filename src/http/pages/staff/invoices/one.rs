//! Invoice page for the staff: recipient and lines, payments, issued documents, and available actions.

use std::collections::HashMap;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::settle::InvoiceActions;
use super::{StaffInvoiceHandles, draft, number_of, shown_state};
use crate::form::Form;
use crate::frame::{SLOT, document_day, time, with_parts};
use crate::invoices::order_is_cancelled;
use crate::staff::orders::flag_words;
use crate::staff::sheet::{address_line, astray, customer_link, few, method_name, number_class, page_of};
use crate::staff::shell::{StaffSection, StaffViewer, Tone};
use crate::staff::undelivered::undelivered_about;
use crate::staff::{INVOICES_PATH, ORDERS_PATH};
use crate::times::message_in;
use domain::id::Id;
use domain::invoice::{DocumentHead, DocumentKind, Invoice, InvoiceStatus, Payment};
use domain::notation::{amount, percent};
use domain::time::Timestamp;
use http::access::Caller;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::path_id::PathId;
use http_api::production::invoices::pay_url;
use words::Language;
use words::staff::invoices as texts;

/// Serves an invoice's page.
pub(super) async fn show(
    State(app): State<StaffInvoiceHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    page(&app, &viewer, id, &Form::default()).await
}

/// Renders an invoice's page. `refused` is a rejected form, if any.
pub(super) async fn page(
    app: &StaffInvoiceHandles,
    viewer: &StaffViewer,
    id: Id,
    refused: &Form,
) -> Result<Response, ApiError> {
    let language = viewer.language();
    let (_, state) = find_existing(&app.invoices.invoices, id).await?;
    let invoice = state_of(&state)?;
    let issued: Vec<Id> = invoice.documents.iter().map(|one| one.id).collect();
    let numbers = app.invoices.documents.numbers(&issued).await?;
    let link = pay_url(&app.invoices, invoice);
    let pdf = app.invoices.documents.known_url(invoice).await?;
    let unprintable = unprintable(app, invoice).await?;
    let cancelled = order_is_cancelled(&app.invoices, invoice).await?;
    let due = if cancelled { 0 } else { invoice.due_cents() };
    let number = number_of(language, invoice, &numbers);
    let actions = InvoiceActions {
        language,
        invoice,
        number: &number,
        link: link.as_deref(),
        is_cancelled: cancelled,
        clock: &app.config.shop.time_zone,
        refused,
    };
    let forms = html! {
        @if invoice.status == InvoiceStatus::Draft { (draft::forms(language, invoice, refused)) }
        (actions.html())
    };
    let (now, own_page) = (app.invoices.environment.now(), page_of(INVOICES_PATH, id));
    let undelivered = undelivered_about(language, &app.invoices.queries, (id, now), &own_page).await?;
    let title = match invoice.issued() {
        Some(_) => texts::invoice_title(language, &number),
        None => texts::unnumbered_title(language),
    };
    let content = html! {
        p { a href=(INVOICES_PATH) { (texts::all_invoices(language)) } }
        (astray(refused, &forms))
        div id="invoice" data-fresh="" {
            (head(language, invoice, &title, now, cancelled))
            (undelivered)
            @if !unprintable.is_empty() {
                p class="bad" role="status" { (texts::unprintable(language, &unprintable)) }
            }
            (lines(language, invoice, due))
            (payments(language, invoice))
            (documents(language, invoice, &numbers, pdf.as_deref()))
        }
        div id="invoice-acts" data-fresh="" { (forms) }
    };
    Ok(viewer.page(StaffSection::Invoices, &title, &app.board.view(), &content))
}

/// Returns the characters in an invoice that cannot be shown in its PDF.
async fn unprintable(app: &StaffInvoiceHandles, invoice: &Invoice) -> Result<String, ApiError> {
    let documents = &app.invoices.documents;
    let Some(issued) = invoice.issued() else { return Ok(String::new()) };
    let Some(whole) = documents.whole(invoice, issued.id).await? else { return Ok(String::new()) };
    documents.unprintable(&whole).await.map_err(ApiError::internal)
}

fn head(language: Language, invoice: &Invoice, title: &str, now: Timestamp, cancelled: bool) -> Markup {
    let (tone, words) = shown_state(language, invoice, now, cancelled);
    let buyer = &invoice.content.buyer;
    html! {
        h1 { (title) " " span class=(tone.class()) { (words) } }
        section class="card" aria-labelledby="glance" {
            h2 id="glance" { (texts::glance(language)) }
            @for flag in &invoice.flags { p { span class=(Tone::Attention.class()) { (flag_words(language, flag)) } } }
            dl class="left" {
                dt { (texts::customer(language)) }
                dd { (buyer.name) @if let Some(email) = &invoice.customer_email { ", " (customer_link(email)) } }
                @if let Some(address) = &buyer.address { dt { (texts::billing_address(language)) } dd { (address_line(language, address)) } }
                @if let Some(vat_id) = &buyer.vat_id { dt { (texts::vat_id(language)) } dd { (vat_id) } }
                @if let Some(order) = invoice.order_id {
                    dt { (texts::order(language)) }
                    dd {
                        a href=(page_of(ORDERS_PATH, order)) {
                            @if let Some(number) = &invoice.order_number { (number) } @else { (texts::view_order(language)) }
                        }
                    }
                }
                dt { (texts::created(language)) } dd { (time(language, invoice.created_at)) }
                @if let Some(at) = invoice.issued_at { dt { (texts::issued(language)) } dd { (document_day(language, at)) } }
                @if let Some(at) = invoice.due_at { dt { (texts::due(language)) } dd { (document_day(language, at)) } }
                @if let Some(at) = invoice.paid_at { dt { (texts::paid_at(language)) } dd { (time(language, at)) } }
                @if let Some(notes) = &invoice.content.notes { dt { (texts::notes(language)) } dd class="as-written" { (notes) } }
            }
        }
    }
}

/// Renders an invoice's lines and totals; `due` is the amount still to be paid.
fn lines(language: Language, invoice: &Invoice, due: i64) -> Markup {
    let (content, sums) = (&invoice.content, &invoice.content.sums);
    let currency = &content.currency;
    let money = |cents: i64| amount(language, cents, currency);
    let sum = |label: &str, cents: i64| html! { @if cents != 0 { dt { (label) } dd { (money(cents)) } } };
    let [quantity, price, tax, line_amount] = [
        texts::quantity_column(language),
        texts::price_column(language),
        texts::tax_column(language),
        texts::amount_column(language),
    ];
    html! {
        section class="card" aria-labelledby="lines" {
            h2 id="lines" { (texts::lines(language)) }
            div class="table list" tabindex="0" role="region" aria-label=(texts::lines_label(language)) {
                table {
                    thead {
                        tr {
                            th scope="col" { (texts::description_column(language)) }
                            @for column in [&quantity, &price, &tax, &line_amount] {
                                th scope="col" class="number" { (column) }
                            }
                        }
                    }
                    tbody {
                        @for line in &content.lines {
                            tr {
                                th scope="row" class="wide unfolds" { (line.description) }
                                td class="number start" data-label=(quantity) { (line.quantity) }
                                td class=(number_class(line.quantity == 1)) data-label=(price) {
                                    (money(line.unit_price_cents))
                                }
                                td class=(number_class(line.tax_rate_bps == 0)) data-label=(tax) {
                                    (percent(language, line.tax_rate_bps))
                                }
                                td class="number start" data-label=(line_amount) {
                                    (money(line.amount_cents().unwrap_or(i64::MAX)))
                                }
                            }
                        }
                    }
                }
            }
            dl class="sums" {
                dt { (texts::subtotal(language)) } dd { (money(sums.subtotal_cents)) }
                (sum(&texts::shipping(language), sums.shipping_cents))
                (sum(&texts::discount(language), -sums.discount_cents))
                (sum(&texts::tax(language), sums.tax_cents))
                (sum(&texts::rounding(language), sums.rounding_cents))
                dt class="sum" { (texts::total(language)) } dd class="sum" { (money(sums.payable_cents())) }
                dt { (texts::paid(language)) } dd { (money(invoice.ledger.kept_cents)) }
                dt class="sum" { (texts::due_amount(language)) } dd class="sum" { (money(due)) }
            }
        }
    }
}

/// Renders a payment or refund as a table row.
fn payment_row(language: Language, payment: &Payment) -> Markup {
    let (cents, status) = payment.listed();
    let event = match status {
        "refunded" => texts::payment_refunded(language, SLOT),
        "failed" => texts::refund_failed(language, SLOT),
        _ => texts::payment_received(language, SLOT),
    };
    html! {
        span { (method_name(language, &payment.method)) @if let Some(reference) = &payment.reference { ", " (reference) } }
        span class="soft" { (with_parts(&event, &[&time(language, payment.created_at)])) }
        span { (amount(language, cents, &payment.currency)) }
    }
}

fn payments(language: Language, invoice: &Invoice) -> Markup {
    let requested_refunds = invoice.ledger.at_processor.refunds.iter().map(|refund| {
        let currency = invoice.ledger.payments.iter().find(|payment| payment.id == refund.payment_id);
        let currency = currency.map_or(&invoice.content.currency, |payment| &payment.currency);
        html! {
            span {
                @match &refund.error {
                    Some(error) => { span class=(Tone::Error.class()) { (texts::refund_rejected(language)) } " " (message_in(language, error)) },
                    None => { span class=(Tone::Working.class()) { (texts::refund_requested(language)) } },
                }
            }
            span class="soft" { (time(language, refund.asked_at)) }
            span { (amount(language, refund.amount_cents, currency)) }
        }
    });
    let payments = invoice.ledger.payments.iter().map(|payment| payment_row(language, payment));
    let rows: Vec<Markup> = payments.chain(requested_refunds).collect();
    let of_order = invoice.order_id.is_some();
    let none = if of_order { texts::no_payments_of_order(language) } else { texts::no_payments(language) };
    few("payments", &texts::payments(language), &rows, &none)
}

/// Renders the issued documents, with links to their PDF and XML files in the API.
fn documents(language: Language, invoice: &Invoice, numbers: &HashMap<Id, String>, stored: Option<&str>) -> Markup {
    let row = |one: &DocumentHead| {
        let path = format!("/api/invoices/{}/documents/{}", invoice.id, one.id);
        let number = numbers.get(&one.id).map(String::as_str).unwrap_or_default();
        let title = match one.kind {
            DocumentKind::Invoice => texts::document_invoice(language, number),
            DocumentKind::CreditNote => texts::document_credit_note(language, number),
        };
        let of_document = html! { span class="hidden-words" { " " (texts::of_document(language, number)) } };
        html! {
            span { (title) }
            span class="soft" { (document_day(language, one.issued_at)) }
            span { (amount(language, one.payable_cents, &invoice.content.currency)) }
            span {
                a href={ (path) "/pdf" } { "PDF" (of_document) } " "
                a href={ (path) "/xml" } { "XML" (of_document) }
            }
        }
    };
    let rows: Vec<Markup> = invoice.documents.iter().map(row).collect();
    html! {
        (few("documents", &texts::documents(language), &rows, &texts::no_documents(language)))
        @if let Some(url) = stored { p { a href=(url) rel="noreferrer" { (texts::stored_pdf(language)) } } }
    }
}
