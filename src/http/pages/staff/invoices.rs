//! Invoice pages for the staff: list, details with payments and issued documents, forms for drafting and settling
//! invoices, and a page that shows that the numbering has no gaps.

mod act;
mod draft;
mod numbering;
mod one;
mod settle;

pub(super) use self::settle::{method_of, usual_method};

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use api_derive::Request;
use axum::extract::State;
use axum::http::Method;
use axum::response::Response;
use maud::{Markup, html};

use super::INVOICES_PATH;
use super::board::BoardHandles;
use super::filled_form::address;
use super::sheet::{ListPart, customer_link, non_empty, page_of, status_filters};
use super::shell::{StaffSection, StaffViewer, Tone};
use crate::design::{Icon, empty_place};
use crate::frame::{document_day, time};
use config::Config;
use domain::id::Id;
use domain::invoice::{Invoice, InvoiceStatus};
use domain::notation::amount;
use domain::time::Timestamp;
use http::access::{Caller, RequiredAccess};
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http::routes::{PageBounds, Routes};
use http_api::production::invoices::{InvoiceHandles, invoices_with_numbers};
use store::queries::InvoiceFilter;
use words::Language;
use words::staff::invoices as texts;

/// Path of the form for a new invoice.
const NEW_PATH: &str = "/shop/invoices/new";
/// Path of the page that lists the issued document numbers.
const NUMBERING_PATH: &str = "/shop/invoices/numbering";
/// Statuses by which the list can be filtered.
const STATUSES: [InvoiceStatus; 7] = [
    InvoiceStatus::Overdue,
    InvoiceStatus::Open,
    InvoiceStatus::PartiallyPaid,
    InvoiceStatus::Draft,
    InvoiceStatus::Paid,
    InvoiceStatus::Refunded,
    InvoiceStatus::Void,
];

handles! {
    /// Dependencies of the invoice pages.
    pub(crate) struct StaffInvoiceHandles {
        board: BoardHandles,
        invoices: InvoiceHandles,
        config: Arc<Config>,
    }
}

/// Adds the invoice pages to the routes.
pub(super) fn routes(routes: Routes) -> Routes {
    let session = RequiredAccess::Session;
    let (get, post, form) = (Method::GET, Method::POST, PageBounds::Form);
    routes
        .page(get.clone(), session, INVOICES_PATH, list, form)
        .page(get.clone(), session, NUMBERING_PATH, numbering::show, form)
        .page(get.clone(), session, NEW_PATH, act::show_new, form)
        .page(post.clone(), session, NEW_PATH, act::create, form)
        .page(get, session, "/shop/invoices/{id}", one::show, form)
        // What is stored in object storage takes as long as that takes.
        .page(post, session, "/shop/invoices/{id}/{act}", act::on_invoice, PageBounds::Long)
}

/// Filter for the invoice list. Unknown values are ignored.
#[derive(Request, Debug)]
struct InvoiceListQuery {
    /// Only invoices with the given status, as spelled in the API.
    status: Option<String>,
    /// Only invoices for the customer with the given email address.
    email: Option<String>,
    /// Number of entries to skip.
    #[api(default = 0)]
    from: u32,
}

/// Returns an invoice status as a tone and text.
fn invoice_state(language: Language, status: InvoiceStatus) -> (Tone, String) {
    match status {
        InvoiceStatus::Draft => (Tone::Attention, texts::status_draft(language)),
        InvoiceStatus::Open => (Tone::Working, texts::status_open(language)),
        InvoiceStatus::PartiallyPaid => (Tone::Working, texts::status_partly_paid(language)),
        InvoiceStatus::Paid => (Tone::Working, texts::status_paid(language)),
        InvoiceStatus::Overdue => (Tone::Error, texts::status_overdue(language)),
        InvoiceStatus::Refunded => (Tone::Idle, texts::status_refunded(language)),
        InvoiceStatus::Void => (Tone::Idle, texts::status_void(language)),
    }
}

/// Returns an invoice's state at the given time, as a tone and text. `cancelled` means that the invoice has an
/// outstanding amount and its order was cancelled.
fn shown_state(language: Language, invoice: &Invoice, now: Timestamp, cancelled: bool) -> (Tone, String) {
    if cancelled {
        (Tone::Attention, texts::status_order_cancelled(language))
    } else {
        invoice_state(language, invoice.shown_status(now))
    }
}

/// Returns an invoice's number, or a replacement text if it was never issued.
fn number_of(language: Language, invoice: &Invoice, numbers: &HashMap<Id, String>) -> String {
    let number = invoice.issued().and_then(|head| numbers.get(&head.id));
    number.cloned().unwrap_or_else(|| texts::no_number(language))
}

/// Renders an invoice as a table row for use on other pages. `cancelled` means that the invoice has an outstanding
/// amount and its order was cancelled.
pub(super) fn invoice_row(
    language: Language,
    invoice: &Invoice,
    now: Timestamp,
    cancelled: bool,
    numbers: &HashMap<Id, String>,
) -> Markup {
    let (tone, words) = shown_state(language, invoice, now, cancelled);
    let issued = invoice.issued_at.map(|at| document_day(language, at));
    html! {
        a href=(page_of(INVOICES_PATH, invoice.id)) { (number_of(language, invoice, numbers)) }
        span class=(tone.class()) { (words) }
        span class="soft" { (issued.unwrap_or_else(|| time(language, invoice.created_at))) }
        span { (amount(language, invoice.content.sums.payable_cents(), &invoice.content.currency)) }
    }
}

/// Serves the list of invoices.
async fn list(
    State(app): State<StaffInvoiceHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<InvoiceListQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let language = viewer.language();
    let now = app.invoices.environment.now();
    let status = STATUSES.into_iter().find(|status| query.status.as_deref() == Some(status.to_string().as_str()));
    let email = non_empty(query.email.as_ref());
    let narrowed = vec![("status", query.status.as_deref()), ("email", email)];
    let part = ListPart { path: INVOICES_PATH, narrowed, from: query.from };
    let filter =
        InvoiceFilter { status, customer_email: email.map(str::to_lowercase), now, ..InvoiceFilter::default() };
    let (some, numbers, total) = invoices_with_numbers(&app.invoices, &filter, part.page()).await?;
    let cancelled = app.invoices.queries.open_of_cancelled(&some).await?;
    let title = texts::title(language);
    let content = html! {
        div class="head" {
            h1 { (title) }
            span class="push" {}
            a class="btn" href=(NUMBERING_PATH) { (texts::numbers(language)) }
            a class="btn primary" href=(NEW_PATH) { (texts::new_invoice(language)) }
        }
        (statuses(language, status, email))
        (tools(language, status, email))
        div id="invoices" data-fresh="" {
            @if !some.is_empty() {
                (table(language, &some, &numbers, &cancelled, now))
            } @else if status.is_some() || email.is_some() {
                p { (texts::none_match(language)) " " a href=(INVOICES_PATH) { (texts::show_all(language)) } }
            } @else {
                @let begin = html! { a class="btn" href=(NEW_PATH) { (texts::new_invoice(language)) } };
                (empty_place(Icon::ReceiptText, &texts::none_yet(language), &begin))
            }
            (part.links(language, total))
        }
    };
    Ok(viewer.page(StaffSection::Invoices, &title, &app.board.view(), &content))
}

/// Renders the links that filter the list by status.
fn statuses(language: Language, chosen: Option<InvoiceStatus>, email: Option<&str>) -> Markup {
    let path = |status: &str| address(INVOICES_PATH, &[("status", status), ("email", email.unwrap_or_default())]);
    let labels = STATUSES.map(|status| (status, invoice_state(language, status).1));
    status_filters(&texts::filter_label(language), &texts::all(language), &labels, chosen, path)
}

fn tools(language: Language, chosen: Option<InvoiceStatus>, email: Option<&str>) -> Markup {
    html! {
        form class="tools" method="get" action=(INVOICES_PATH) role="search" {
            @if let Some(status) = chosen { input type="hidden" name="status" value=(status); }
            div class="field" {
                label for="email" { (texts::email_field(language)) }
                input id="email" name="email" type="search" maxlength="254" value=[email];
            }
            button class="second" type="submit" { (texts::search(language)) }
        }
    }
}

/// Renders the table of invoices. `cancelled` contains the invoices with an outstanding amount whose order was
/// cancelled.
fn table(
    language: Language,
    invoices: &[Invoice],
    numbers: &HashMap<Id, String>,
    cancelled: &HashSet<Id>,
    now: Timestamp,
) -> Markup {
    let (issued, due) = (texts::issued_column(language), texts::due_column(language));
    let (total, due_amount) = (texts::total_column(language), texts::due_amount_column(language));
    html! {
        div class="table list" tabindex="0" role="region" aria-label=(texts::title(language)) {
            table {
                thead {
                    tr {
                        th scope="col" { (texts::invoice_column(language)) } th scope="col" { (texts::status_column(language)) }
                        th scope="col" { (texts::customer_column(language)) }
                        th scope="col" { (issued) } th scope="col" { (due) } th scope="col" class="number" { (total) }
                        th scope="col" class="number" { (due_amount) }
                    }
                }
                tbody {
                    @for invoice in invoices {
                        @let cancelled = cancelled.contains(&invoice.id);
                        @let due_cents = if cancelled { 0 } else { invoice.due_cents() };
                        tr {
                            th scope="row" { a href=(page_of(INVOICES_PATH, invoice.id)) { (number_of(language, invoice, numbers)) } }
                            td class="states" {
                                @let (tone, words) = shown_state(language, invoice, now, cancelled);
                                span class=(tone.class()) { (words) }
                                @if !invoice.flags.is_empty() { " " span class=(Tone::Attention.class()) { (texts::needs_attention(language)) } }
                            }
                            td class="wide" {
                                (invoice.content.buyer.name) " "
                                @if let Some(email) = &invoice.customer_email { (customer_link(email)) }
                            }
                            td class="spare" data-label=(issued) { @if let Some(at) = invoice.issued_at { (document_day(language, at)) } }
                            td data-label=(due) { @if let Some(at) = invoice.due_at { (document_day(language, at)) } }
                            td class=(if due_cents > 0 { "number spare" } else { "number" }) data-label=(total) { (amount(language, invoice.content.sums.payable_cents(), &invoice.content.currency)) }
                            td class=(if due_cents == 0 { "number spare" } else { "number" }) data-label=(due_amount) { (amount(language, due_cents, &invoice.content.currency)) }
                        }
                    }
                }
            }
        }
    }
}
