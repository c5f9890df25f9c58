//! Actions on invoices from page forms, which use the API's operations.

use axum::extract::State;
use serde_json::Value;

use super::{InvoiceHandles, create, documents, mark_paid, pay_links, refund, send, update, void};
use crate::production::orders::site::SiteHeader;
use domain::id::Id;
use domain::refusal::Refusal;
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::path_id::PathId;

/// Runs the action named by `word`, the last segment of the form's path; `body` has the same format as the API request
/// body.
pub async fn act_by_page(
    app: InvoiceHandles,
    id: Id,
    word: &str,
    call: CommandRequest,
    body: &Value,
) -> Result<(), ApiError> {
    let (shop, at) = (State(app), PathId(id));
    match word {
        "change" => update(shop, at, call.with_body(body)).await.map(|_| ()),
        "send" => send(shop, at, call.with_body(body)).await.map(|_| ()),
        "void" => void(shop, at, call.with_body(body)).await.map(|_| ()),
        "mark-paid" => mark_paid(shop, at, call.with_body(body)).await.map(|_| ()),
        "refund" => refund(shop, at, call.with_body(body)).await.map(|_| ()),
        "store-pdf" => documents::store(shop, at, call.with_body(body)).await.map(|_| ()),
        "pay-link" => pay_links::open(shop, at, call.with_body(body)).await.map(|_| ()),
        "revoke-link" => pay_links::close(shop, at, call).await.map(|_| ()),
        _ => Err(Refusal::not_found("act").into()),
    }
}

/// Drafts an invoice and returns its ID.
pub async fn create_by_page(app: InvoiceHandles, call: CommandRequest, body: &Value) -> Result<Id, ApiError> {
    let created = create(State(app), SiteHeader(None), call.with_body(body)).await?;
    created.made_id().ok_or_else(|| ApiError::internal("a new invoice without its ID"))
}
