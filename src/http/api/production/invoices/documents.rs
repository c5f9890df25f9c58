//! Issued documents in PDF and XML format.

use api_derive::Response;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::header;
use axum::http::request::Parts;
use serde::Serialize;
use serde_json::json;

use super::{InvoiceHandles, issued, operations};
use actors::app::documents::WholeDocument;
use domain::id::Id;
use domain::refusal::Refusal;
use http::command_request::{CommandRequest, find_existing, state_of};
use http::error::ApiError;
use http::handler::Argument;
use http::operation::DescribedOperation;
use http::path_id::PathId;
use http::reply::{Media, MediaType, Plain};
use http::wire::{EmptyBody, OptionalBody};

/// Media type of a PDF.
pub(super) struct PdfMedia;

impl MediaType for PdfMedia {
    const MEDIA: &'static str = "application/pdf";
    const EXAMPLE: Option<&'static str> = None;
}

/// Media type of an XML document.
pub(super) struct XmlMedia;

impl MediaType for XmlMedia {
    const MEDIA: &'static str = "application/xml";
    const EXAMPLE: Option<&'static str> =
        Some("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rsm:CrossIndustryInvoice/>\n");
}

/// Adds a PDF response to an operation's description.
pub(super) fn describe_pdf(op: DescribedOperation, name: &'static str, summary: &'static str) -> DescribedOperation {
    op.named(name, summary)
        .about("Tagged PDF/A-3 with the EN 16931 XML embedded as `factur-x.xml`.")
        .error(404, "document_not_found", "The invoice has no such document.")
        .error(409, "not_issued", "The invoice is a draft.")
        .error(503, "pdf_not_configured", "PDF generation is disabled.")
}

/// Adds an XML response to an operation's description.
pub(super) fn describe_xml(op: DescribedOperation, name: &'static str, summary: &'static str) -> DescribedOperation {
    op.named(name, summary)
        .about("EN 16931 Cross Industry Invoice, as issued; it does not reflect later changes.")
        .error(404, "document_not_found", "The invoice has no such document.")
        .error(409, "not_issued", "The invoice is a draft.")
}

/// Returns one of an invoice's documents with everything that its PDF shows: the given document or, by default, the
/// invoice itself.
pub(super) async fn whole(app: &InvoiceHandles, id: Id, document: Option<Id>) -> Result<WholeDocument, ApiError> {
    let (_, state) = find_existing(&app.invoices, id).await?;
    let invoice = state_of(&state)?;
    let document = document.map_or_else(|| issued(invoice), Ok)?;
    Ok(app.documents.whole(invoice, document).await?.ok_or_else(|| Refusal::not_found("document"))?)
}

async fn send_pdf(app: &InvoiceHandles, whole: WholeDocument) -> Result<Media<PdfMedia>, ApiError> {
    let pdf = app.documents.pdf(&whole).await?;
    let name = format!("inline; filename=\"{}.pdf\"", whole.document.number_text());
    Ok(Media::new(([(header::CONTENT_TYPE, PdfMedia::MEDIA.to_owned()), (header::CONTENT_DISPOSITION, name)], pdf)))
}

fn send_xml(whole: &WholeDocument) -> Media<XmlMedia> {
    let name = format!("attachment; filename=\"{}.xml\"", whole.document.number_text());
    let headers = [(header::CONTENT_TYPE, XmlMedia::MEDIA.to_owned()), (header::CONTENT_DISPOSITION, name)];
    Media::new((headers, whole.xml()))
}

pub(super) async fn pdf(State(app): State<InvoiceHandles>, PathId(id): PathId) -> Result<Media<PdfMedia>, ApiError> {
    let whole = whole(&app, id, None).await?;
    send_pdf(&app, whole).await
}

/// Location of an invoice PDF.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoicePdf", example = json!({
    "pdfUrl": "https://shop.example.com/documents/0123456789abcdef0123456789abcdef01234567/INV-2026-000123.pdf",
}))]
pub(super) struct StoredPdf {
    /// Public URL of the PDF.
    pdf_url: String,
}

pub(super) async fn store(
    State(app): State<InvoiceHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Plain<StoredPdf>, ApiError> {
    Ok(Plain(StoredPdf { pdf_url: operations::store_pdf(&app, id, &call).await? }))
}

pub(super) async fn xml(State(app): State<InvoiceHandles>, PathId(id): PathId) -> Result<Media<XmlMedia>, ApiError> {
    Ok(send_xml(&whole(&app, id, None).await?))
}

pub(super) async fn one_pdf(
    State(app): State<InvoiceHandles>,
    PathId(id): PathId,
    DocumentId(document): DocumentId,
) -> Result<Media<PdfMedia>, ApiError> {
    let whole = whole(&app, id, Some(document)).await?;
    send_pdf(&app, whole).await
}

pub(super) async fn one_xml(
    State(app): State<InvoiceHandles>,
    PathId(id): PathId,
    DocumentId(document): DocumentId,
) -> Result<Media<XmlMedia>, ApiError> {
    Ok(send_xml(&whole(&app, id, Some(document)).await?))
}

/// The `{document}` path parameter. A value that is not a document ID results in a 404 error.
pub(super) struct DocumentId(Id);

impl<S: Send + Sync> FromRequestParts<S> for DocumentId {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let ids = Path::<(String, String)>::from_request_parts(parts, state).await;
        let document = ids.ok().and_then(|Path((_, document))| document.parse().ok());
        Ok(Self(document.ok_or_else(|| Refusal::not_found("document"))?))
    }
}

impl Argument for DocumentId {}

/// The two path segments in a stored document's public URL.
pub(super) struct PublicName(String, String);

impl<S: Send + Sync> FromRequestParts<S> for PublicName {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let names = Path::<(String, String)>::from_request_parts(parts, state).await;
        let Path((address, name)) = names.map_err(|_| Refusal::not_found("document"))?;
        Ok(Self(address, name))
    }
}

impl Argument for PublicName {}

/// Serves a document from the server's local directory. Documents never change, so clients may cache them.
pub(super) async fn stored(
    State(app): State<InvoiceHandles>,
    PublicName(address, name): PublicName,
) -> Result<Media<PdfMedia>, ApiError> {
    let pdf = app.documents.stored(&address, &name).await?;
    let headers = [
        (header::CONTENT_TYPE, PdfMedia::MEDIA),
        (header::CACHE_CONTROL, "private, max-age=31536000, immutable"),
        (header::CONTENT_DISPOSITION, "inline"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok(Media::new((headers, pdf)))
}
