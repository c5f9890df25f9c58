//! Operations on invoices, which the API's handlers and the staff's pages call.

use std::sync::Arc;

use super::InvoiceHandles;
use super::documents::whole;
use super::pay_links::PayLinkBody;
use super::requests::{InvoicePatch, InvoiceRequest};
use crate::production::customers::language_of;
use crate::production::orders::site::Site;
use crate::production::orders::{ManualPayment, ManualRefund};
use domain::aggregate::Versioned;
use domain::id::Id;
use domain::invoice::{Invoice, InvoiceAnswer, InvoiceCommand, InvoiceStatus};
use domain::order::OrderCommand;
use domain::refusal::Refusal;
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget, find_existing, state_of};
use http::error::ApiError;
use http::wire::{EmptyBody, OptionalBody};
use kernel::envelope::CommandOrigin;

/// Outcome of a command to an invoice or to its order, with the invoice as last committed.
pub type InvoiceOutcome = CommandOutcome<Arc<Versioned<Invoice>>>;

/// Reads the invoice after a command.
async fn read_after(app: &InvoiceHandles, done: CommandOutcome<InvoiceAnswer>) -> Result<InvoiceOutcome, ApiError> {
    let CommandOutcome { id, version, replayed, .. } = done;
    let (_, state) = find_existing(&app.invoices, id).await?;
    Ok(CommandOutcome { id, version, answer: state, replayed })
}

/// Sends a command to an invoice.
async fn ask<B>(
    app: &InvoiceHandles,
    id: Id,
    call: &CommandRequest<B>,
    command: impl Future<Output = Result<InvoiceCommand, ApiError>>,
) -> Result<InvoiceOutcome, ApiError> {
    let done = call.ask_with(&app.invoices, CommandTarget::Id(id), command).await?;
    read_after(app, done).await
}

/// Sends a command to an invoice's order, then immediately updates the invoice to match the order.
async fn ask_order<B>(
    app: &InvoiceHandles,
    (id, order): (Id, Id),
    call: &CommandRequest<B>,
    command: impl Future<Output = Result<OrderCommand, ApiError>>,
) -> Result<InvoiceOutcome, ApiError> {
    let done = call.ask_with(&app.orders, CommandTarget::Id(order), command).await?;
    let (_, state) = find_existing(&app.orders, order).await?;
    let follow = InvoiceCommand::Follow(Box::new(state_of(&state)?.money_at(state.version)));
    app.invoices.ask(id, CommandOrigin::system(), follow).await?;
    let (version, state) = find_existing(&app.invoices, id).await?;
    let version = if done.replayed { done.version } else { version };
    Ok(CommandOutcome { id, version, answer: state, replayed: done.replayed })
}

/// Returns the ID of the invoice's order, if any. Fails for an order's invoice that has been voided, because it no
/// longer follows the order; the error describes the rejected action as `what`.
async fn order_of(app: &InvoiceHandles, id: Id, what: &str) -> Result<Option<Id>, ApiError> {
    let (_, state) = find_existing(&app.invoices, id).await?;
    let invoice = state_of(&state)?;
    if invoice.order_id.is_some() && invoice.status == InvoiceStatus::Void {
        return Err(Refusal::transition(what, invoice.status).into());
    }
    Ok(invoice.order_id)
}

/// Drafts an invoice. `site` is the site to which it belongs if the request does not name another one.
pub async fn create(
    app: &InvoiceHandles,
    site: Option<Site>,
    call: &CommandRequest<InvoiceRequest>,
) -> Result<InvoiceOutcome, ApiError> {
    let command = async {
        let mut draft = call.read_body()?.draft();
        draft.site = draft.site.or(site.map(|site| site.0));
        let email = draft.customer_email.as_deref();
        draft.buyer.language = language_of(&app.queries, &app.customers, email).await?;
        Ok(InvoiceCommand::Create(Box::new(draft)))
    };
    let done = call.ask_with(&app.invoices, CommandTarget::New, command).await?;
    read_after(app, done).await
}

/// Changes a draft.
pub async fn update(
    app: &InvoiceHandles,
    id: Id,
    call: &CommandRequest<InvoicePatch>,
) -> Result<InvoiceOutcome, ApiError> {
    let patch = call.read_body()?;
    let language = match patch.email() {
        Some(email) => Some(language_of(&app.queries, &app.customers, email.as_deref()).await?),
        None => None,
    };
    let merge = |invoice: &Invoice, version: i64| {
        let mut draft = Box::new(patch.clone().merged(invoice));
        draft.buyer.language = language.unwrap_or(draft.buyer.language);
        Ok(InvoiceCommand::Update { if_version: Some(version), draft })
    };
    let done = call.merge(&app.invoices, id, merge).await?;
    read_after(app, done).await
}

/// Issues a draft with the next number.
pub async fn send(
    app: &InvoiceHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<InvoiceOutcome, ApiError> {
    let command = async { call.read_body().map(|EmptyBody {}| InvoiceCommand::Send) };
    ask(app, id, call, command).await
}

/// Discards a draft, or reverses an issued invoice without payments.
pub async fn void(
    app: &InvoiceHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<InvoiceOutcome, ApiError> {
    let command = async { call.read_body().map(|EmptyBody {}| InvoiceCommand::Void) };
    ask(app, id, call, command).await
}

/// Records a payment. A payment for an order's invoice is recorded on the order.
pub async fn mark_paid(
    app: &InvoiceHandles,
    id: Id,
    call: &CommandRequest<ManualPayment>,
) -> Result<InvoiceOutcome, ApiError> {
    if let Some(order) = order_of(app, id, "the invoice cannot be marked as paid").await? {
        let command = async { call.read_body().map(ManualPayment::order_command) };
        return ask_order(app, (id, order), call, command).await;
    }
    let command = async {
        let (amount_cents, method, reference) = call.read_body()?.parts();
        Ok(InvoiceCommand::MarkPaid { amount_cents, method, reference })
    };
    ask(app, id, call, command).await
}

/// Refunds a payment. A refund of an order's invoice is recorded on the order.
pub async fn refund(
    app: &InvoiceHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<ManualRefund>>,
) -> Result<InvoiceOutcome, ApiError> {
    let at_processor = app.checkouts.has_processor();
    if let Some(order) = order_of(app, id, "the invoice cannot be refunded").await? {
        let command = async { call.read_body().map(|refund: ManualRefund| refund.order_command(at_processor)) };
        return ask_order(app, (id, order), call, command).await;
    }
    let command = async { call.read_body().map(|refund: ManualRefund| refund.invoice_command(at_processor)) };
    ask(app, id, call, command).await
}

/// Creates a payment link, with which anyone who has it can pay the invoice. Revokes any earlier link.
pub async fn open_pay_link(
    app: &InvoiceHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<PayLinkBody>>,
) -> Result<InvoiceOutcome, ApiError> {
    let command = async {
        let PayLinkBody { expires_at } = call.read_body()?;
        Ok(InvoiceCommand::OpenPayLink { expires_at })
    };
    ask(app, id, call, command).await
}

/// Revokes the payment link, if any.
pub async fn close_pay_link(app: &InvoiceHandles, id: Id, call: &CommandRequest) -> Result<(), ApiError> {
    call.ask(&app.invoices, CommandTarget::Id(id), InvoiceCommand::ClosePayLink).await.map(drop)
}

/// Stores the PDF of an issued invoice at a public URL, and returns the URL.
pub async fn store_pdf(
    app: &InvoiceHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<String, ApiError> {
    let EmptyBody {} = call.read_body()?;
    let whole = whole(app, id, None).await?;
    Ok(app.documents.store(&whole).await?)
}
