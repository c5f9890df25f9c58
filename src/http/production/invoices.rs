//! Invoices and credit notes: drafting, sending, payment, voiding, and the issued documents. PDF and XML are in
//! `documents`.

mod by_page;
mod documents;
mod pay_links;
mod requests;
mod view;

use std::sync::Arc;

use axum::extract::State;

use super::orders::site::SiteHeader;
use super::orders::{ManualPayment, ManualRefund, OrderReader};
use crate::actors::checkouts::Checkouts;
use crate::actors::kernel::directory::Directory;
use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::kernel::environment::Environment;
use crate::app::documents::InvoiceDocuments;
use crate::config::Config;
use crate::domain::id::Id;
use crate::domain::invoice::{Invoice, InvoiceCommand, InvoiceStatus};
use crate::domain::order::{Order, OrderCommand};
use crate::domain::principal::Role;
use crate::domain::refusal::Refusal;
use crate::http::access::RequiredAccess;
use crate::http::command_request::{CommandRequest, CommandTarget, find_existing, state_of};
use crate::http::error::ApiError;
use crate::http::handles::handles;
use crate::http::page::Query;
use crate::http::path_id::PathId;
use crate::http::reply::{Created, ListPage, Plain, Resource};
use crate::http::routes::ResourceRoutes;
use crate::http::wire::{EmptyBody, OptionalBody};
use crate::store::queries::{InvoiceFilter, Queries};
use requests::{InvoicePatch, InvoiceQuery, InvoiceRequest};
use view::Numbering;

pub(crate) use by_page::{act_by_page, create_by_page};
pub(crate) use pay_links::pay_url;
pub use view::{InvoiceSummary, InvoiceView, LineView};

const PATH: &str = "/api/invoices";
/// Example id of an invoice.
const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8080";
const STATE: &str = "invalid_transition";

handles! {
    /// Dependencies of the invoice routes.
    pub(crate) struct InvoiceHandles {
        invoices: Directory<Invoice>,
        orders: Directory<Order>,
        queries: Queries,
        environment: Arc<Environment>,
        documents: Arc<InvoiceDocuments>,
        checkouts: Checkouts,
        config: Arc<Config>,
    }
}

/// Returns the invoice routes.
pub fn routes() -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    let about = "An order gets its invoice with its first payment, and the invoice follows the order. Operators make others. \
                 What was issued has a number without gaps and never changes; money that goes back makes a credit note.";
    ResourceRoutes::new("Invoices", about, "invoice")
        .get(operator, PATH, list, |op| op.named("listInvoices", "List invoices"))
        .post(operator, PATH, create, |op| {
            op.named("createInvoice", "Draft an invoice")
                .about("A line without a tax rate has that of the billing address. It gets its number when it is sent.")
        })
        .get(operator, "/api/invoices/numbering", numbering, |op| {
            op.named("getInvoiceNumbering", "Show that the numbers have no gap")
                .about("Counted from what is stored: each series begins with 1 and has as many documents as its highest number, but for \
                        numbers that were left out when the shop was restored from a backup (`gaps`).")
        })
        .get(operator, "/api/invoices/{id}", one, |op| op.named("getInvoice", "Show an invoice"))
        .patch(operator, "/api/invoices/{id}", update, |op| {
            op.named("updateInvoice", "Change a draft").error(409, STATE, "It was sent, and never changes.")
        })
        .post(operator, "/api/invoices/{id}/send", send, |op| {
            op.named("sendInvoice", "Issue a draft")
                .about("It takes the next number, and is due from now on.")
                .error(409, STATE, "It is no draft.")
        })
        .post(operator, "/api/invoices/{id}/void", void, |op| {
            op.named("voidInvoice", "Void an invoice")
                .about("A draft is given up. One that was issued, and of which nothing is paid, is taken back by a credit note.")
                .error(409, "invoice_has_payments", "A part of it is paid.")
                .error(409, STATE, "It is paid, refunded or void.")
        })
        .post(operator, "/api/invoices/{id}/mark-paid", mark_paid, |op| {
            op.named("markInvoicePaid", "Record a payment by hand")
                .about("Without an amount, all that is due. That of an order is recorded on its order.")
                .error(409, STATE, "It is a draft, void, or paid already.")
                .error(409, "not_payable", "Its order is cancelled or refunded.")
                .error(409, "too_many_payments", "It has as many payments as an invoice can have.")
        })
        .post(operator, "/api/invoices/{id}/refund", refund, |op| {
            op.named("refundInvoice", "Give money back")
                .about(
                    "Of the payment that `paymentId` names; without it, of what came through the payment processor, the newest \
                     first, else of the newest payment that was recorded by hand. The processor is asked to pay back what it \
                     took: until it has answered, the refund is shown under `pendingRefunds`. Once it was paid, a credit note is \
                     issued over what went back. That of an order is recorded on its order. With `method` it is recorded that \
                     what came back of a refund that failed was given back otherwise.",
                )
                .error(409, STATE, "It is void, and its order has another one.")
                .error(409, "payment_unnamed", "The payment processor has not named the payment yet.")
                .error(409, "nothing_to_refund", "Nothing is left of the payment, or nothing was paid.")
                .error(409, "refund_at_processor", "It was paid through the payment processor, and the server has no key to ask it for the refund: its refund there is recorded by its event.")
                .error(409, "refunds_under_way", "Too many refunds wait for the payment processor, or one failed and what went back is being read.")
                .error(409, "too_many_payments", "It has as many payments as an invoice can have.")
        })
        .post(operator, "/api/invoices/{id}/pay-link", pay_links::open, |op| {
            op.named("openPayLink", "Make a link by which an invoice can be paid")
                .about(
                    "Whoever has the link sees the invoice and can pay it; it is shown as `payUrl`. A link that there was is \
                     revoked. That of an order's invoice pays the order.",
                )
                .error(409, "not_issued", "It is a draft.")
                .error(409, STATE, "It is paid, refunded or void.")
        })
        .delete(operator, "/api/invoices/{id}/pay-link", pay_links::close, |op| {
            op.named("closePayLink", "Revoke the link by which an invoice can be paid").about("Without one nothing changes.")
        })
        .get_long(operator, "/api/invoices/{id}/pdf", documents::pdf, |op| documents::told_pdf(op, "getInvoicePdf", "Download an invoice as PDF"))
        .post(operator, "/api/invoices/{id}/pdf", documents::store, |op| {
            op.named("storeInvoicePdf", "Store an invoice as PDF at a public address")
                .about("The address follows from what the PDF shows, and nobody can guess it. One that is stored already is not made again.")
                .error(409, "not_issued", "It is a draft.")
                .error(503, "pdf_not_configured", "PDFs are switched off.")
                .error(503, "storage_unavailable", "Object storage does not answer.")
        })
        .get(operator, "/api/invoices/{id}/xml", documents::xml, |op| documents::told_xml(op, "getInvoiceXml", "Download an invoice as XML"))
        .get_long(operator, "/api/invoices/{id}/documents/{document}/pdf", documents::one_pdf, |op| {
            documents::told_pdf(op, "getInvoiceDocumentPdf", "Download what was issued, such as a credit note, as PDF")
        })
        .get(operator, "/api/invoices/{id}/documents/{document}/xml", documents::one_xml, |op| {
            documents::told_xml(op, "getInvoiceDocumentXml", "Download what was issued, such as a credit note, as XML")
        })
        .get(RequiredAccess::Open, "/documents/{address}/{name}", documents::stored, |op| {
            op.named("downloadDocument", "Download a PDF from its public address")
                .about("Nobody can guess the address; who has it may read.")
                .error(404, "document_not_found", "There is nothing at this address.")
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
    let (some, total) = app.queries.invoices(&filter, page).await?;
    let some: Vec<Invoice> = some.into_iter().filter_map(|one| one.state).collect();
    let issued: Vec<Id> = some.iter().filter_map(|one| one.issued().map(|head| head.id)).collect();
    let numbers = app.documents.numbers(&issued).await?;
    let items = some.iter().map(|one| InvoiceSummary::new(one, now, &numbers));
    Ok(ListPage::new(page, items, total))
}

async fn numbering(State(app): State<InvoiceHandles>) -> Result<Plain<Numbering>, ApiError> {
    Ok(Plain(Numbering::from(app.queries.numbering().await?)))
}

/// Builds the staff's view of an invoice, with the numbers of its issued documents.
async fn staff_view(app: &InvoiceHandles, invoice: &Invoice) -> Result<InvoiceView, ApiError> {
    shown_to(app, invoice, OrderReader::Staff).await
}

/// Builds a reader's view of an invoice, with the numbers of its issued documents.
pub(crate) async fn shown_to(
    app: &InvoiceHandles,
    invoice: &Invoice,
    reader: OrderReader,
) -> Result<InvoiceView, ApiError> {
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
    let command = async {
        let mut draft = call.read_body()?.draft();
        draft.site = draft.site.or(site.map(|site| site.0));
        Ok(InvoiceCommand::Create(Box::new(draft)))
    };
    let done = call.ask_with(&app.invoices, CommandTarget::New, command).await?;
    let (_, state) = find_existing(&app.invoices, done.id).await?;
    Ok(Created::under(PATH, &done, staff_view(&app, state_of(&state)?).await?))
}

async fn update(
    State(app): State<InvoiceHandles>,
    PathId(id): PathId,
    call: CommandRequest<InvoicePatch>,
) -> Result<Resource<InvoiceView>, ApiError> {
    let patch = call.read_body()?;
    let merge = |invoice: &Invoice, version: i64| {
        let draft = Box::new(patch.clone().merged(invoice));
        Ok(InvoiceCommand::Update { if_version: Some(version), draft })
    };
    let done = call.merge(&app.invoices, id, merge).await?;
    let (_, state) = find_existing(&app.invoices, id).await?;
    Ok(Resource::after(&done, staff_view(&app, state_of(&state)?).await?))
}

/// Sends a command to an invoice and returns the invoice's view afterwards.
async fn finish<B>(
    app: &InvoiceHandles,
    call: &CommandRequest<B>,
    id: Id,
    command: impl Future<Output = Result<InvoiceCommand, ApiError>>,
) -> Result<Resource<InvoiceView>, ApiError> {
    let done = call.ask_with(&app.invoices, CommandTarget::Id(id), command).await?;
    let (_, state) = find_existing(&app.invoices, id).await?;
    Ok(Resource::after(&done, staff_view(app, state_of(&state)?).await?))
}

async fn send(
    State(app): State<InvoiceHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Resource<InvoiceView>, ApiError> {
    let command = async { call.read_body().map(|EmptyBody {}| InvoiceCommand::Send) };
    finish(&app, &call, id, command).await
}

async fn void(
    State(app): State<InvoiceHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Resource<InvoiceView>, ApiError> {
    let command = async { call.read_body().map(|EmptyBody {}| InvoiceCommand::Void) };
    finish(&app, &call, id, command).await
}

/// Returns the order that settles the invoice, if it has one. Refused for a void invoice of an order, which no longer
/// follows it; `what` names the action in the refusal.
async fn order_of(app: &InvoiceHandles, id: Id, what: &str) -> Result<Option<Id>, ApiError> {
    let (_, state) = find_existing(&app.invoices, id).await?;
    let invoice = state_of(&state)?;
    if invoice.order_id.is_some() && invoice.status == InvoiceStatus::Void {
        return Err(Refusal::transition(what, invoice.status).into());
    }
    Ok(invoice.order_id)
}

/// Sends a command to an invoice's order, and updates the invoice from the order at once.
async fn finish_at_order<B>(
    app: &InvoiceHandles,
    call: &CommandRequest<B>,
    (id, order): (Id, Id),
    command: impl Future<Output = Result<OrderCommand, ApiError>>,
) -> Result<Resource<InvoiceView>, ApiError> {
    let done = call.ask_with(&app.orders, CommandTarget::Id(order), command).await?;
    let (_, state) = find_existing(&app.orders, order).await?;
    let follow = InvoiceCommand::Follow(Box::new(state_of(&state)?.money_at(state.version)));
    app.invoices.ask(id, CommandOrigin::system(), follow).await?;
    let (version, state) = find_existing(&app.invoices, id).await?;
    let view = staff_view(app, state_of(&state)?).await?;
    Ok(if done.replayed { Resource::after(&done, view) } else { Resource::new(version, view) })
}

async fn mark_paid(
    State(app): State<InvoiceHandles>,
    PathId(id): PathId,
    call: CommandRequest<ManualPayment>,
) -> Result<Resource<InvoiceView>, ApiError> {
    if let Some(order) = order_of(&app, id, "marking an invoice paid").await? {
        let command = async { call.read_body().map(ManualPayment::order_command) };
        return finish_at_order(&app, &call, (id, order), command).await;
    }
    let command = async {
        let (amount_cents, method, reference) = call.read_body()?.parts();
        Ok(InvoiceCommand::MarkPaid { amount_cents, method, reference })
    };
    finish(&app, &call, id, command).await
}

async fn refund(
    State(app): State<InvoiceHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<ManualRefund>>,
) -> Result<Resource<InvoiceView>, ApiError> {
    if let Some(order) = order_of(&app, id, "refunding an invoice").await? {
        let at_processor = app.checkouts.has_processor();
        let command = async { call.read_body().map(|refund: ManualRefund| refund.order_command(at_processor)) };
        return finish_at_order(&app, &call, (id, order), command).await;
    }
    let at_processor = app.checkouts.has_processor();
    let command = async { call.read_body().map(|refund: ManualRefund| refund.invoice_command(at_processor)) };
    finish(&app, &call, id, command).await
}

/// Returns the issued document of an invoice; 409 for a draft.
fn issued(invoice: &Invoice) -> Result<Id, ApiError> {
    let words = "it is a draft, and has no document yet; send it";
    Ok(invoice.issued().ok_or_else(|| Refusal::conflict("not_issued", words))?.id)
}
