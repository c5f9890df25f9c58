//! The customer's own invoices: list, details, and the PDF at a public URL.

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::checkout::CheckoutReply;
use super::list::{ListQuery, OwnList, OwnListItem};
use super::reply::Success;
use super::site::RequestSite;
use crate::production::invoices::{InvoiceHandles, InvoiceSummary, InvoiceView, invoices_with_numbers, shown_to};
use crate::production::orders::OrderReader;
use actors::app::documents::WholeDocument;
use actors::checkouts::{OpenSession, ReturnPages};
use domain::id::Id;
use domain::invoice::{Invoice, InvoiceStatus};
use domain::limits::LimitKind;
use domain::refusal::Refusal;
use http::access::{Caller, RequiredAccess};
use http::command_request::{CommandRequest, find_existing, state_of};
use http::error::ApiError;
use http::limits::layer::ClientAddress;
use http::limits::{LimitedReply, RateLimiter, WindowKey, within};
use http::operation::DescribedOperation;
use http::page::OpenQuery;
use http::path_id::NamedId;
use http::reply::Plain;
use http::return_paths::CheckoutBody;
use http::routes::ResourceRoutes;
use http::wire::{EmptyBody, OptionalBody};
use kernel::envelope::CommandOrigin;
use store::queries::{InvoiceFilter, Page};

/// Returns the customer invoice routes.
pub fn routes() -> ResourceRoutes {
    let customer = RequiredAccess::Customer;
    ResourceRoutes::new("Invoices", "The customer's invoices, paid and unpaid.", "invoice")
        .get(customer, "/api/v1/invoices", list, |op| op.named("listInvoices", "List your invoices"))
        .get(customer, "/api/v1/invoices/{invoiceId}", one, |op| {
            op.named("getInvoice", "Retrieve one of your invoices")
        })
        .post(customer, "/api/v1/invoices/{invoiceId}/checkout", check_out, |op| {
            foreign(payable(op.named("checkOutInvoice", "Create a checkout for one of your invoices"))).unkeyed().about(
                "Returns the payment page for the full amount due; while it is open, all callers receive the same \
                 page. An order and its invoice share one page.",
            )
        })
        .get(customer, "/api/v1/invoices/{invoiceId}/pdf", pdf, |op| {
            foreign(op.named("getInvoicePdf", "Retrieve the PDF status of one of your invoices"))
                .about(
                    "A PDF that is older than the invoice's last change counts as not generated. `expectedUrl` is the \
                     URL that the PDF will have.",
                )
                .error(404, "document_not_found", "The invoice has no such document.")
        })
        .post(customer, "/api/v1/invoices/{invoiceId}/pdf", make_pdf, |op| {
            foreign(op.named("createInvoicePdf", "Generate the PDF of one of your invoices"))
                .about("Stores the PDF at a public URL that cannot be guessed. An existing PDF is reused.")
                .error(404, "document_not_found", "The invoice has no such document.")
                .error(503, "pdf_not_configured", "PDF generation is disabled.")
                .error(503, "storage_unavailable", "Object storage does not respond.")
        })
}

/// Adds the errors that can occur when paying an invoice to the description of an operation.
pub(super) fn payable(op: DescribedOperation) -> DescribedOperation {
    op.error(
        400,
        "not_payable",
        "The invoice is void or refunded, costs nothing, or has an amount that the processor does not accept.",
    )
    .error(409, "already_paid", "The invoice is already paid.")
    .error(409, "payment_pending", "A payment is in progress.")
    .error(503, "payments_not_configured", "No API key for the payment processor is configured.")
    .error(503, "processor_unavailable", "The payment processor does not respond.")
}

fn foreign(op: DescribedOperation) -> DescribedOperation {
    op.error(403, "forbidden", "The invoice belongs to another customer.")
}

/// Filter for the customer's invoices.
#[derive(Request, Debug)]
pub struct OwnInvoiceQuery {
    /// Return only invoices with the given displayed status. Overdue invoices have the status `overdue`, not `open`.
    status: Option<InvoiceStatus>,
    #[api(flatten)]
    page: ListQuery,
}

/// Selection of an invoice's document.
#[derive(Request, Debug)]
pub struct PdfQuery {
    /// ID of an issued document, such as a credit note. Defaults to the invoice itself.
    pub document: Option<Id>,
}

impl OwnListItem for InvoiceSummary {
    const LIST_NAME: &'static str = "InvoiceListResponse";
    const ENTRIES: &'static str = "Invoices, newest first.";
}

/// One of the customer's invoices.
#[derive(Response, Serialize)]
#[api(name = "InvoiceResponse", example = json!({"success": true, "invoice": InvoiceView::example()}))]
struct InvoiceReply {
    success: Success,
    invoice: InvoiceView,
}

/// Location of an invoice PDF.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoicePdfResponse", example = json!({
    "success": true, "pdfUrl": "", "cached": false,
    "expectedUrl": "https://shop.example.com/documents/0123456789abcdef0123456789abcdef01234567/INV-2026-000123.pdf",
}))]
struct PdfReply {
    success: Success,
    /// Public URL of the PDF; empty until the PDF is generated.
    pdf_url: String,
    /// URL that the PDF will have. Only present until the PDF is generated.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_url: Option<String>,
    /// `true` if the PDF has been generated.
    cached: bool,
}

/// PDF that was generated.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CreateInvoicePdfResponse", example = json!({
    "success": true,
    "pdfUrl": "https://shop.example.com/documents/0123456789abcdef0123456789abcdef01234567/INV-2026-000123.pdf",
}))]
struct RenderedPdfReply {
    success: Success,
    /// Public URL of the PDF.
    pdf_url: String,
}

async fn list(
    State(app): State<InvoiceHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<OwnInvoiceQuery>,
    RequestSite(site): RequestSite,
) -> Result<Plain<OwnList<InvoiceSummary>>, ApiError> {
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
    let (some, numbers, total) = invoices_with_numbers(&app, &filter, page).await?;
    Ok(OwnList::reply(page, some.iter().map(|one| InvoiceSummary::new(one, now, &numbers)), total))
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

/// Returns the customer's invoice, or one of its other documents. Fails with 404 for a draft, and with 403 if the
/// invoice belongs to a different customer.
pub async fn own(app: &InvoiceHandles, who: &Caller, id: Id, document: Option<Id>) -> Result<WholeDocument, ApiError> {
    let (_, email) = who.customer()?;
    let (_, state) = find_existing(&app.invoices, id).await?;
    let invoice = state_of(&state)?;
    let issued = invoice.issued().ok_or_else(|| Refusal::not_found("invoice"))?.id;
    if !invoice.shown_to(email) {
        return Err(ApiError::forbidden("forbidden", "this invoice belongs to another customer"));
    }
    let whole = app.documents.whole(invoice, document.unwrap_or(issued)).await?;
    Ok(whole.ok_or_else(|| Refusal::not_found("document"))?)
}

/// Starts the checkout of the customer's own invoice. While a payment page is open, every call returns the same one.
async fn check_out(
    State(app): State<InvoiceHandles>,
    NamedId(id): NamedId,
    ClientAddress(client): ClientAddress,
    State(limits): State<Arc<RateLimiter>>,
    call: CommandRequest<OptionalBody<CheckoutBody>>,
) -> Result<LimitedReply<Plain<CheckoutReply>>, ApiError> {
    let charge = WindowKey::of_address(LimitKind::OrderCheckout, client);
    let open = async {
        let (_, email) = call.who.customer()?;
        let (_, state) = find_existing(&app.invoices, id).await?;
        let invoice = state_of(&state)?;
        if invoice.issued().is_none() {
            return Err(Refusal::not_found("invoice").into());
        }
        if !invoice.shown_to(email) {
            return Err(ApiError::forbidden("forbidden", "this invoice belongs to another customer"));
        }
        let pages = call.read_body()?.pages(&call.headers, &app.config);
        let open = begin_checkout(&app, invoice, &call.origin(), &pages).await?;
        Ok(Plain(open.into()))
    };
    within(&limits, app.environment.now(), &[charge], open).await
}

/// Opens the payment page for an issued invoice.
pub async fn begin_checkout(
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
) -> Result<Plain<RenderedPdfReply>, ApiError> {
    let whole = own(&app, &call.who, id, query.document).await?;
    let EmptyBody {} = call.read_body()?;
    Ok(Plain(RenderedPdfReply { success: Success, pdf_url: app.documents.store(&whole).await? }))
}
