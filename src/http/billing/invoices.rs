//! The customer's own invoices: list, details, and the PDF at a public URL.

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::checkout::CheckoutReply;
use super::list::{BillingPagination, ListQuery};
use super::reply::Success;
use super::site::RequestSite;
use crate::actors::checkouts::{OpenSession, ReturnPages};
use crate::actors::kernel::envelope::CommandOrigin;
use crate::app::documents::WholeDocument;
use crate::domain::id::Id;
use crate::domain::invoice::{Invoice, InvoiceStatus};
use crate::domain::limits::LimitKind;
use crate::domain::refusal::Refusal;
use crate::http::access::{Caller, RequiredAccess};
use crate::http::command_request::{CommandRequest, find_existing, state_of};
use crate::http::error::ApiError;
use crate::http::limits::layer::ClientAddress;
use crate::http::limits::{Charge, Limited, Limits, within};
use crate::http::openapi::operation::DescribedOperation;
use crate::http::page::OpenQuery;
use crate::http::path_id::NamedId;
use crate::http::production::invoices::{InvoiceHandles, InvoiceSummary, InvoiceView, shown_to};
use crate::http::production::orders::OrderReader;
use crate::http::reply::Plain;
use crate::http::return_paths::CheckoutBody;
use crate::http::routes::ResourceRoutes;
use crate::http::wire::{EmptyBody, OptionalBody};
use crate::store::queries::{InvoiceFilter, Page};

/// Returns the routes of a customer's invoices.
pub fn routes() -> ResourceRoutes {
    let customer = RequiredAccess::Customer;
    ResourceRoutes::new("Invoices", "What the customer owes or has paid.", "invoice")
        .get(customer, "/api/v1/invoices", list, |op| op.named("listInvoices", "List the own invoices"))
        .get(customer, "/api/v1/invoices/{invoiceId}", one, |op| op.named("getInvoice", "Show an own invoice"))
        .post(customer, "/api/v1/invoices/{invoiceId}/checkout", check_out, |op| {
            foreign(payable(op.named("checkOutInvoice", "Pay an own invoice at the payment processor")))
                .unkeyed()
                .about(
                    "Gives the page on which all that is due is paid, the same to all who ask while it is open. An invoice of an \
                     order shares it with its order.",
                )
        })
        .get(customer, "/api/v1/invoices/{invoiceId}/pdf", pdf, |op| {
            foreign(op.named("getInvoicePdf", "Show where the PDF of an own invoice is"))
                .about("An invoice that changed since counts as not generated. `expectedUrl` is where the PDF will be.")
                .error(404, "document_not_found", "The invoice has no such document.")
        })
        .post(customer, "/api/v1/invoices/{invoiceId}/pdf", make_pdf, |op| {
            foreign(op.named("createInvoicePdf", "Make the PDF of an own invoice"))
                .about("Renders it and stores it at a public address that nobody can guess. One that is there already is not made again.")
                .error(404, "document_not_found", "The invoice has no such document.")
                .error(503, "pdf_not_configured", "PDFs are switched off.")
                .error(503, "storage_unavailable", "Object storage does not answer.")
        })
}

/// Adds the errors that paying an invoice may return to the description of an operation.
pub(super) fn payable(op: DescribedOperation) -> DescribedOperation {
    op.error(
        400,
        "not_payable",
        "It is void or refunded, costs nothing, or the processor takes no payments of its amount.",
    )
    .error(409, "already_paid", "It is paid.")
    .error(409, "payment_pending", "A payment of it is on its way.")
    .error(503, "payments_not_configured", "The server has no key for the payment processor.")
    .error(503, "processor_unavailable", "The payment processor does not answer.")
}

fn foreign(op: DescribedOperation) -> DescribedOperation {
    op.error(403, "forbidden", "It is the invoice of somebody else.")
}

/// Filter of the customer's invoices.
#[derive(Request, Debug)]
pub struct OwnInvoiceQuery {
    /// Only invoices with this displayed status. An overdue invoice is not `open`.
    status: Option<InvoiceStatus>,
    #[api(flatten)]
    page: ListQuery,
}

/// Selection of an invoice's document.
#[derive(Request, Debug)]
pub struct PdfQuery {
    /// ID of one of the invoice's documents, such as a credit note. Defaults to the invoice itself.
    pub(crate) document: Option<Id>,
}

/// Page of the customer's invoices.
#[derive(Response, Serialize)]
#[api(name = "InvoiceListResponse", example = json!({
    "success": true, "invoices": [InvoiceSummary::example()],
    "pagination": {"limit": 20, "offset": 0, "total": 1, "hasMore": false},
}))]
struct InvoiceList {
    success: Success,
    /// Invoices, newest first.
    invoices: Vec<InvoiceSummary>,
    pagination: BillingPagination,
}

/// One of the customer's invoices.
#[derive(Response, Serialize)]
#[api(name = "InvoiceResponse", example = json!({"success": true, "invoice": InvoiceView::example()}))]
struct InvoiceReply {
    success: Success,
    invoice: InvoiceView,
}

/// Location of the PDF of an invoice.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoicePdfResponse", example = json!({
    "success": true, "pdfUrl": "", "cached": false,
    "expectedUrl": "https://shop.example.com/documents/0123456789abcdef0123456789abcdef01234567/INV-2026-000123.pdf",
}))]
struct PdfReply {
    success: Success,
    /// Public URL of the PDF. Empty until the PDF is generated.
    pdf_url: String,
    /// URL that the PDF will have. Only present until the PDF is generated.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_url: Option<String>,
    /// `true` if the PDF is generated.
    cached: bool,
}

/// PDF that was generated.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CreateInvoicePdfResponse", example = json!({
    "success": true,
    "pdfUrl": "https://shop.example.com/documents/0123456789abcdef0123456789abcdef01234567/INV-2026-000123.pdf",
}))]
struct MadePdfReply {
    success: Success,
    /// Public URL of the PDF.
    pdf_url: String,
}

async fn list(
    State(app): State<InvoiceHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<OwnInvoiceQuery>,
    RequestSite(site): RequestSite,
) -> Result<Plain<InvoiceList>, ApiError> {
    let (_, email) = who.customer()?;
    let (page, now): (Page, _) = (query.page.into(), app.environment.now());
    let filter = InvoiceFilter {
        status: query.status,
        site: site.map(|site| site.0),
        customer_email: Some(email.to_owned()),
        order_id: None,
        issued: true,
        now,
    };
    let (some, total) = app.queries.invoices(&filter, page).await?;
    let some: Vec<Invoice> = some.into_iter().filter_map(|one| one.state).collect();
    let issued: Vec<Id> = some.iter().filter_map(|one| one.issued().map(|head| head.id)).collect();
    let numbers = app.documents.numbers(&issued).await?;
    let invoices: Vec<InvoiceSummary> = some.iter().map(|one| InvoiceSummary::new(one, now, &numbers)).collect();
    let pagination = BillingPagination::of(page, invoices.len(), total);
    Ok(Plain(InvoiceList { success: Success, invoices, pagination }))
}

async fn one(
    State(app): State<InvoiceHandles>,
    NamedId(id): NamedId,
    who: Caller,
) -> Result<Plain<InvoiceReply>, ApiError> {
    let (_, email) = who.customer()?;
    let (_, state) = find_existing(&app.invoices, id).await?;
    let invoice = state_of(&state)?;
    if !invoice.shown_to(email) {
        return Err(Refusal::not_found("invoice").into());
    }
    Ok(Plain(InvoiceReply { success: Success, invoice: shown_to(&app, invoice, OrderReader::Customer).await? }))
}

/// Returns the customer's invoice, or another of its documents: 404 for a draft, 403 if it belongs to another customer.
pub(crate) async fn own(
    app: &InvoiceHandles,
    who: &Caller,
    id: Id,
    document: Option<Id>,
) -> Result<WholeDocument, ApiError> {
    let (_, email) = who.customer()?;
    let (_, state) = find_existing(&app.invoices, id).await?;
    let invoice = state_of(&state)?;
    let issued = invoice.issued().ok_or_else(|| Refusal::not_found("invoice"))?.id;
    if !invoice.shown_to(email) {
        return Err(ApiError::forbidden("forbidden", "this invoice belongs to somebody else"));
    }
    let whole = app.documents.whole(invoice, document.unwrap_or(issued)).await?;
    Ok(whole.ok_or_else(|| Refusal::not_found("document"))?)
}

/// Starts the checkout of the customer's own invoice. While a payment page is open, every call returns the same one.
async fn check_out(
    State(app): State<InvoiceHandles>,
    NamedId(id): NamedId,
    ClientAddress(client): ClientAddress,
    State(limits): State<Arc<Limits>>,
    call: CommandRequest<OptionalBody<CheckoutBody>>,
) -> Result<Limited<Plain<CheckoutReply>>, ApiError> {
    let charge = Charge::of_address(LimitKind::OrderCheckout, client);
    let open = async {
        let (_, email) = call.who.customer()?;
        let (_, state) = find_existing(&app.invoices, id).await?;
        let invoice = state_of(&state)?;
        if invoice.issued().is_none() {
            return Err(Refusal::not_found("invoice").into());
        }
        if !invoice.shown_to(email) {
            return Err(ApiError::forbidden("forbidden", "this invoice belongs to somebody else"));
        }
        let pages = call.read_body()?.pages(&call.headers, &app.config);
        let open = begin_checkout(&app, invoice, &call.origin(), &pages).await?;
        Ok(Plain(open.into()))
    };
    within(&limits, app.environment.now(), &[charge], open).await
}

/// Opens the payment page of an issued invoice.
pub(crate) async fn begin_checkout(
    app: &InvoiceHandles,
    invoice: &Invoice,
    origin: &CommandOrigin,
    pages: &ReturnPages,
) -> Result<OpenSession, ApiError> {
    let issued: Vec<Id> = invoice.issued().map(|one| one.id).into_iter().collect();
    let number = app.documents.numbers(&issued).await?.into_values().next();
    Ok(app.checkouts.of_invoice(invoice.id, number.as_deref(), origin, pages).await?)
}

async fn pdf(
    State(app): State<InvoiceHandles>,
    NamedId(id): NamedId,
    who: Caller,
    OpenQuery(query): OpenQuery<PdfQuery>,
) -> Result<Plain<PdfReply>, ApiError> {
    let whole = own(&app, &who, id, query.document).await?;
    let url = app.documents.url(&whole);
    // Storage that does not answer is no fault here: the PDF can be made again.
    let cached = app.documents.is_stored(&whole).await.unwrap_or(false);
    let (pdf_url, expected_url) = if cached { (url, None) } else { (String::new(), Some(url)) };
    Ok(Plain(PdfReply { success: Success, pdf_url, expected_url, cached }))
}

async fn make_pdf(
    State(app): State<InvoiceHandles>,
    NamedId(id): NamedId,
    OpenQuery(query): OpenQuery<PdfQuery>,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Plain<MadePdfReply>, ApiError> {
    let whole = own(&app, &call.who, id, query.document).await?;
    let EmptyBody {} = call.read_body()?;
    Ok(Plain(MadePdfReply { success: Success, pdf_url: app.documents.store(&whole).await? }))
}
