//! Invoices and credit notes: drafting, sending, paying and voiding them, and the issued documents. The PDF and XML
//! documents are in `documents`.

mod documents;
pub mod operations;
mod pay_links;
mod requests;
mod view;

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;

use super::orders::site::SiteHeader;
use super::orders::{ManualPayment, ManualRefund, OrderReader, REFUND_ERRORS};
use actors::app::documents::InvoiceDocuments;
use actors::checkouts::Checkouts;
use config::Config;
use domain::customer::Customer;
use domain::id::Id;
use domain::invoice::Invoice;
use domain::order::Order;
use domain::principal::Role;
use domain::refusal::Refusal;
use http::access::RequiredAccess;
use http::command_request::{CommandRequest, find_existing, state_of};
use http::error::ApiError;
use http::handles::handles;
use http::page::Query;
use http::path_id::PathId;
use http::reply::{Created, ListPage, Plain, Resource};
use http::routes::ResourceRoutes;
use http::wire::{EmptyBody, OptionalBody};
use kernel::directory::Directory;
use kernel::environment::Environment;
use operations::InvoiceOutcome;
use requests::{InvoicePatch, InvoiceQuery, InvoiceRequest};
use store::queries::{InvoiceFilter, Page, Queries};
use view::Numbering;

pub use pay_links::pay_url;
pub use requests::NewInvoiceLine;
pub use view::{InvoiceAmounts, InvoiceLineView, InvoiceSummary, InvoiceView};

const PATH: &str = "/api/invoices";
/// Example ID of an invoice.
const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8080";
const STATE: &str = "invalid_transition";

handles! {
    /// Dependencies of the invoice routes.
    pub struct InvoiceHandles {
        invoices: Directory<Invoice>,
        orders: Directory<Order>,
        customers: Directory<Customer>,
        queries: Queries,
        environment: Arc<Environment>,
        documents: Arc<InvoiceDocuments>,
        checkouts: Checkouts,
        config: Arc<Config>,
    }
}

/// Returns the invoice routes.
pub fn routes() -> ResourceRoutes {
    let about = "An order's invoice is created with its first payment and then follows the order's payments. Other \
                 invoices are created by operators. Issued documents are numbered without gaps and never change; \
                 refunds create credit notes.";
    let routes = ResourceRoutes::new("Invoices", about, "invoice");
    add_document_routes(add_payment_routes(add_draft_routes(routes)))
}

/// Adds the routes that read invoices and edit drafts.
fn add_draft_routes(routes: ResourceRoutes) -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    routes
        .get(operator, PATH, list, |op| op.named("listInvoices", "List invoices"))
        .post(operator, PATH, create, |op| {
            op.named("createInvoice", "Create a draft invoice").about(
                "The tax rate of a line defaults to that of the billing address. The invoice is numbered when it is \
                 sent.",
            )
        })
        .get(operator, "/api/invoices/numbering", numbering, |op| {
            op.named("getInvoiceNumbering", "Check invoice numbering").about(
                "Checks the stored documents: each series starts at 1 and has no missing numbers, except those skipped \
                 after a restore from a backup (`gaps`).",
            )
        })
        .get(operator, "/api/invoices/{id}", one, |op| op.named("getInvoice", "Retrieve an invoice"))
        .patch(operator, "/api/invoices/{id}", update, |op| {
            op.named("updateInvoice", "Update a draft invoice").error(
                409,
                STATE,
                "The invoice was sent and can no longer be changed.",
            )
        })
}

/// Adds the routes for sending, paying, reversing and refunding invoices.
fn add_payment_routes(routes: ResourceRoutes) -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    routes
        .post(operator, "/api/invoices/{id}/send", send, |op| {
            op.named("sendInvoice", "Send an invoice")
                .about("Issues the draft with the next number; payment is due from now on.")
                .error(409, STATE, "The invoice is not a draft.")
        })
        .post(operator, "/api/invoices/{id}/void", void, |op| {
            op.named("voidInvoice", "Void an invoice")
                .about("Discards a draft. An issued invoice without payments is reversed by a credit note.")
                .error(409, "invoice_has_payments", "The invoice is partially paid.")
                .error(409, STATE, "The invoice is paid, refunded or void.")
        })
        .post(operator, "/api/invoices/{id}/mark-paid", mark_paid, |op| {
            op.named("markInvoicePaid", "Record a payment")
                .about(
                    "The amount defaults to the full amount due. A payment of an order's invoice is recorded on the \
                     order.",
                )
                .error(409, STATE, "The invoice is a draft, void, or already paid.")
                .error(409, "not_payable", "The order of the invoice is cancelled or refunded.")
                .error(409, "too_many_payments", "The invoice has the maximum number of payments.")
        })
        .post(operator, "/api/invoices/{id}/refund", refund, |op| {
            op.named("refundInvoice", "Issue a refund")
                .about(
                    "Refunds the payment `paymentId`. If omitted, refunds payments made through the payment processor, \
                     newest first or, if there are none, the newest payment that was recorded manually. The processor \
                     refunds its own payments; until it responds, the refund is listed under `pendingRefunds`. If the \
                     invoice was paid, a credit note is issued for the refunded amount. A refund of an order's invoice \
                     is recorded on the order. `method` records that the amount of a failed refund was returned in \
                     another way.",
                )
                .error(409, STATE, "The invoice is void, and its order has another invoice.")
                .errors(&REFUND_ERRORS)
                .error(409, "too_many_payments", "The invoice has the maximum number of payments.")
        })
        .post(operator, "/api/invoices/{id}/pay-link", pay_links::open, |op| {
            op.named("openPayLink", "Create a payment link")
                .about(
                    "Anyone who has the link can see and pay the invoice; it is returned as `payUrl`. Revokes any \
                     earlier link. Paying through the link of an order's invoice pays the order.",
                )
                .error(409, "not_issued", "The invoice is a draft.")
                .error(409, STATE, "The invoice is paid, refunded or void.")
        })
        .delete(operator, "/api/invoices/{id}/pay-link", pay_links::close, |op| {
            op.named("closePayLink", "Revoke a payment link").about("Does nothing if there is no link.")
        })
}

/// Adds the routes for PDF and XML documents.
fn add_document_routes(routes: ResourceRoutes) -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    routes
        .get_long(operator, "/api/invoices/{id}/pdf", documents::pdf, |op| {
            documents::describe_pdf(op, "getInvoicePdf", "Download an invoice as PDF")
        })
        .post(operator, "/api/invoices/{id}/pdf", documents::store, |op| {
            op.named("storeInvoicePdf", "Publish an invoice as PDF")
                .about(
                    "Stores the PDF at a public URL that is derived from its content and cannot be guessed. An \
                     existing PDF is reused.",
                )
                .error(409, "not_issued", "The invoice is a draft.")
                .error(503, "pdf_not_configured", "PDF generation is disabled.")
                .error(503, "storage_unavailable", "Object storage does not respond.")
        })
        .get(operator, "/api/invoices/{id}/xml", documents::xml, |op| {
            documents::describe_xml(op, "getInvoiceXml", "Download an invoice as XML")
        })
        .get_long(operator, "/api/invoices/{id}/documents/{document}/pdf", documents::one_pdf, |op| {
            documents::describe_pdf(
                op,
                "getInvoiceDocumentPdf",
                "Download an issued document, such as a credit note, as PDF",
            )
        })
        .get(operator, "/api/invoices/{id}/documents/{document}/xml", documents::one_xml, |op| {
            documents::describe_xml(
                op,
                "getInvoiceDocumentXml",
                "Download an issued document, such as a credit note, as XML",
            )
        })
        .get(RequiredAccess::Open, "/documents/{address}/{name}", documents::stored, |op| {
            op.named("downloadDocument", "Download a published PDF")
                .about("Anyone who has the URL can read the PDF; it cannot be guessed.")
                .error(404, "document_not_found", "There is no document at this URL.")
        })
}

async fn list(
    State(app): State<InvoiceHandles>,
    Query(query): Query<InvoiceQuery>,
    SiteHeader(site): SiteHeader,
) -> Result<ListPage<InvoiceSummary>, ApiError> {
    let page = query.page.into();
    let now = app.environment.now();
    let filter = InvoiceFilter {
        status: query.status,
        site: query.site.or(site).map(|site| site.0),
        customer_email: query.customer_email.map(|email| email.trim().to_lowercase()),
        order_id: query.order_id,
        issued: false,
        now,
    };
    let (invoices, numbers, total) = invoices_with_numbers(&app, &filter, page).await?;
    let items = invoices.iter().map(|one| InvoiceSummary::new(one, now, &numbers));
    Ok(ListPage::new(page, items, total))
}

/// Returns a page of invoices, the numbers of their issued documents, and the total number of invoices.
pub async fn invoices_with_numbers(
    app: &InvoiceHandles,
    filter: &InvoiceFilter,
    page: Page,
) -> Result<(Vec<Invoice>, HashMap<Id, String>, u64), ApiError> {
    let (some, total) = app.queries.invoices(filter, page).await?;
    let invoices: Vec<Invoice> = some.into_iter().filter_map(|one| one.state).collect();
    let issued: Vec<Id> = invoices.iter().filter_map(|one| one.issued().map(|head| head.id)).collect();
    let numbers = app.documents.numbers(&issued).await?;
    Ok((invoices, numbers, total))
}

async fn numbering(State(app): State<InvoiceHandles>) -> Result<Plain<Numbering>, ApiError> {
    Ok(Plain(Numbering::from(app.queries.numbering().await?)))
}

/// Builds the staff view of an invoice, with the numbers of its issued documents.
async fn staff_view(app: &InvoiceHandles, invoice: &Invoice) -> Result<InvoiceView, ApiError> {
    shown_to(app, invoice, OrderReader::Staff).await
}

/// Builds the view of an invoice for the given reader, with the numbers of its issued documents.
pub async fn shown_to(app: &InvoiceHandles, invoice: &Invoice, reader: OrderReader) -> Result<InvoiceView, ApiError> {
    let issued: Vec<Id> = invoice.documents.iter().map(|one| one.id).collect();
    let numbers = app.documents.numbers(&issued).await?;
    let urls = (app.documents.known_url(invoice).await?, pay_url(app, invoice));
    Ok(InvoiceView::new(invoice, app.environment.now(), &numbers, urls, reader))
}

async fn one(State(app): State<InvoiceHandles>, PathId(id): PathId) -> Result<Resource<InvoiceView>, ApiError> {
    let (version, state) = find_existing(&app.invoices, id).await?;
    Ok(Resource::new(version, staff_view(&app, state_of(&state)?).await?))
}

async fn create(
    State(app): State<InvoiceHandles>,
    SiteHeader(site): SiteHeader,
    call: CommandRequest<InvoiceRequest>,
) -> Result<Created<InvoiceView>, ApiError> {
    let done = operations::create(&app, site, &call).await?;
    Ok(Created::under(PATH, &done, staff_view(&app, state_of(&done.answer)?).await?))
}

/// Builds the response to a command.
async fn show(app: &InvoiceHandles, done: &InvoiceOutcome) -> Result<Resource<InvoiceView>, ApiError> {
    Ok(Resource::after(done, staff_view(app, state_of(&done.answer)?).await?))
}

async fn update(
    State(app): State<InvoiceHandles>,
    PathId(id): PathId,
    call: CommandRequest<InvoicePatch>,
) -> Result<Resource<InvoiceView>, ApiError> {
    let done = operations::update(&app, id, &call).await?;
    show(&app, &done).await
}

async fn send(
    State(app): State<InvoiceHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Resource<InvoiceView>, ApiError> {
    let done = operations::send(&app, id, &call).await?;
    show(&app, &done).await
}

async fn void(
    State(app): State<InvoiceHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Resource<InvoiceView>, ApiError> {
    let done = operations::void(&app, id, &call).await?;
    show(&app, &done).await
}

async fn mark_paid(
    State(app): State<InvoiceHandles>,
    PathId(id): PathId,
    call: CommandRequest<ManualPayment>,
) -> Result<Resource<InvoiceView>, ApiError> {
    let done = operations::mark_paid(&app, id, &call).await?;
    show(&app, &done).await
}

async fn refund(
    State(app): State<InvoiceHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<ManualRefund>>,
) -> Result<Resource<InvoiceView>, ApiError> {
    let done = operations::refund(&app, id, &call).await?;
    show(&app, &done).await
}

/// Returns the ID of an invoice's issued document; fails with 409 for a draft.
fn issued(invoice: &Invoice) -> Result<Id, ApiError> {
    let words = "the invoice is a draft and has no document yet; issue it first";
    Ok(invoice.issued().ok_or_else(|| Refusal::conflict("not_issued", words))?.id)
}
