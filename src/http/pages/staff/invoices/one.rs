//! Invoice page for the staff: recipient and lines, payments, issued documents, and available actions.

use std::collections::HashMap;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::{StaffInvoiceHandles, draft, number_of, settle, shown_state};
use crate::frame::{money, time};
use crate::invoices::order_is_cancelled;
use crate::staff::form::Form;
use crate::staff::orders::flag_words;
use crate::staff::sheet::{address_line, astray, customer_link, few, page_of};
use crate::staff::shell::{StaffSection, StaffViewer, Tone};
use crate::staff::{INVOICES_PATH, ORDERS_PATH};
use crate::times::document_day;
use domain::id::Id;
use domain::invoice::{DocumentHead, DocumentKind, Invoice, InvoiceStatus, Payment};
use domain::tax::percent_text;
use domain::time::Timestamp;
use http::access::Caller;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::path_id::PathId;
use http_api::production::invoices::pay_url;

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
    let (_, state) = find_existing(&app.invoices.invoices, id).await?;
    let invoice = state_of(&state)?;
    let issued: Vec<Id> = invoice.documents.iter().map(|one| one.id).collect();
    let numbers = app.invoices.documents.numbers(&issued).await?;
    let link = pay_url(&app.invoices, invoice);
    let pdf = app.invoices.documents.known_url(invoice).await?;
    let unprintable = unprintable(app, invoice).await?;
    let cancelled = order_is_cancelled(&app.invoices, invoice).await?;
    let due = if cancelled { 0 } else { invoice.due_cents() };
    let forms = html! {
        @if invoice.status == InvoiceStatus::Draft { (draft::forms(invoice, refused)) }
        (settle::acts(invoice, number_of(invoice, &numbers), link.as_deref(), cancelled, &app.config.shop.time_zone, refused))
    };
    let title = match invoice.issued() {
        Some(_) => format!("Invoice {}", number_of(invoice, &numbers)),
        None => "Invoice without a number".to_owned(),
    };
    let content = html! {
        p { a href=(INVOICES_PATH) { "All invoices" } }
        (astray(refused, &forms))
        div id="invoice" data-fresh="" {
            (head(invoice, &title, app.invoices.environment.now(), cancelled))
            @if !unprintable.is_empty() {
                p class="bad" role="status" {
                    "The PDF shows ? for these characters because no installed font contains them: " (unprintable) ". "
                    "Install a Noto font for them, or set a font in pdf.fonts, then restart the server."
                }
            }
            (lines(invoice, due))
            (payments(invoice))
            (documents(invoice, &numbers, pdf.as_deref()))
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

fn head(invoice: &Invoice, title: &str, now: Timestamp, cancelled: bool) -> Markup {
    let (tone, words) = shown_state(invoice, now, cancelled);
    let buyer = &invoice.content.buyer;
    html! {
        h1 { (title) " " span class=(tone.class()) { (words) } }
        section class="card" aria-labelledby="glance" {
            h2 id="glance" { "At a glance" }
            @for flag in &invoice.flags { p { span class=(Tone::Attention.class()) { (flag_words(flag)) } } }
            dl class="left" {
                dt { "Customer" }
                dd { (buyer.name) @if let Some(email) = &invoice.customer_email { ", " (customer_link(email)) } }
                @if let Some(address) = &buyer.address { dt { "Billing address" } dd { (address_line(words::Language::English, address)) } }
                @if let Some(vat_id) = &buyer.vat_id { dt { "VAT ID" } dd { (vat_id) } }
                @if let Some(order) = invoice.order_id {
                    dt { "Order" }
                    dd { a href=(page_of(ORDERS_PATH, order)) { (invoice.order_number.as_deref().unwrap_or("View order")) } }
                }
                dt { "Created" } dd { (time(invoice.created_at)) }
                @if let Some(at) = invoice.issued_at { dt { "Issued" } dd { (document_day(at)) } }
                @if let Some(at) = invoice.due_at { dt { "Due" } dd { (document_day(at)) } }
                @if let Some(at) = invoice.paid_at { dt { "Paid" } dd { (time(at)) } }
                @if let Some(notes) = &invoice.content.notes { dt { "Notes" } dd class="as-written" { (notes) } }
            }
        }
    }
}

/// Renders an invoice's lines and totals; `due` is the amount still to be paid.
fn lines(invoice: &Invoice, due: i64) -> Markup {
    let (content, sums) = (&invoice.content, &invoice.content.sums);
    let currency = &content.currency;
    let sum = |words: &str, cents: i64| html! { @if cents != 0 { dt { (words) } dd { (money(cents, currency)) } } };
    html! {
        section class="card" aria-labelledby="lines" {
            h2 id="lines" { "Lines" }
            div class="table" tabindex="0" role="region" aria-label="Invoice lines" {
                table {
                    thead {
                        tr {
                            th scope="col" { "Description" } th scope="col" class="number" { "Quantity" }
                            th scope="col" class="number" { "Price" } th scope="col" class="number" { "Tax" }
                            th scope="col" class="number" { "Amount" }
                        }
                    }
                    tbody {
                        @for line in &content.lines {
                            tr {
                                th scope="row" { (line.description) }
                                td class="number" { (line.quantity) }
                                td class="number" { (money(line.unit_price_cents, currency)) }
                                td class="number" { (percent_text(line.tax_rate_bps)) " %" }
                                td class="number" { (money(line.amount_cents().unwrap_or(i64::MAX), currency)) }
                            }
                        }
                    }
                }
            }
            dl class="sums" {
                dt { "Subtotal" } dd { (money(sums.subtotal_cents, currency)) }
                (sum("Shipping", sums.shipping_cents))
                (sum("Discount", -sums.discount_cents))
                (sum("Tax", sums.tax_cents))
                (sum("Rounding", sums.rounding_cents))
                dt class="sum" { "Total" } dd class="sum" { (money(sums.payable_cents(), currency)) }
                dt { "Paid" } dd { (money(invoice.ledger.kept_cents, currency)) }
                dt class="sum" { "Amount due" } dd class="sum" { (money(due, currency)) }
            }
        }
    }
}

/// Renders a payment or refund as a table row.
fn payment_row(payment: &Payment) -> Markup {
    let (cents, status) = payment.listed();
    let words = match status {
        "refunded" => "refunded",
        "failed" => "refund failed",
        _ => "received",
    };
    html! {
        span { (payment.method.replace('_', " ")) @if let Some(reference) = &payment.reference { ", " (reference) } }
        span class="soft" { (words) ", " (time(payment.created_at)) }
        span { (money(cents, &payment.currency)) }
    }
}

fn payments(invoice: &Invoice) -> Markup {
    let requested_refunds = invoice.ledger.at_processor.refunds.iter().map(|refund| {
        let currency = invoice.ledger.payments.iter().find(|payment| payment.id == refund.payment_id);
        let currency = currency.map_or(&invoice.content.currency, |payment| &payment.currency);
        html! {
            span {
                @match &refund.error {
                    Some(error) => { span class=(Tone::Error.class()) { "Refund rejected" } " " (error) },
                    None => { span class=(Tone::Working.class()) { "Refund requested from the payment processor" } },
                }
            }
            span class="soft" { (time(refund.asked_at)) }
            span { (money(refund.amount_cents, currency)) }
        }
    });
    let rows: Vec<Markup> = invoice.ledger.payments.iter().map(payment_row).chain(requested_refunds).collect();
    let none = if invoice.order_id.is_some() { "None yet. Payments for the order appear here." } else { "None yet." };
    few("payments", "Payments and refunds", &rows, none)
}

/// Renders the issued documents, with links to their PDF and XML files in the API.
fn documents(invoice: &Invoice, numbers: &HashMap<Id, String>, stored: Option<&str>) -> Markup {
    let row = |one: &DocumentHead| {
        let path = format!("/api/invoices/{}/documents/{}", invoice.id, one.id);
        let kind = match one.kind {
            DocumentKind::Invoice => "Invoice",
            DocumentKind::CreditNote => "Credit note",
        };
        let number = numbers.get(&one.id).map(String::as_str).unwrap_or_default();
        html! {
            span { (kind) " " (number) }
            span class="soft" { (document_day(one.issued_at)) }
            span { (money(one.payable_cents, &invoice.content.currency)) }
            span {
                a href={ (path) "/pdf" } { "PDF" span class="hidden-words" { " of " (number) } } " "
                a href={ (path) "/xml" } { "XML" span class="hidden-words" { " of " (number) } }
            }
        }
    };
    let rows: Vec<Markup> = invoice.documents.iter().map(row).collect();
    html! {
        (few("documents", "Invoice and credit notes", &rows, "No documents issued yet."))
        @if let Some(url) = stored { p { a href=(url) rel="noreferrer" { "Stored PDF (public URL)" } } }
    }
}
