//! Actions on quotes from page forms, which use the API's operations.

use axum::extract::{self, State};
use serde_json::Value;

use super::models::upload;
use super::{QuoteHandles, answer, create, decline, remove, send, update};
use crate::production::orders::site::SiteHeader;
use domain::id::Id;
use domain::refusal::Refusal;
use http::access::Caller;
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::path_id::PathId;

/// Runs the operation named by `word`, the last segment of the form's path; `body` has the same format as the API
/// request body.
pub async fn act_by_page(
    app: QuoteHandles,
    id: Id,
    word: &str,
    call: CommandRequest,
    body: &Value,
) -> Result<(), ApiError> {
    let (shop, at) = (State(app), PathId(id));
    match word {
        "change" => update(shop, at, call.with_body(body)).await.map(|_| ()),
        "send" => send(shop, at, call.with_body(body)).await.map(|_| ()),
        "withdraw" => decline(shop, at, call.with_body(body)).await.map(|_| ()),
        "delete" => remove(shop, at, call).await.map(|_| ()),
        _ => Err(Refusal::not_found("act").into()),
    }
}

/// Drafts a quote and returns its ID.
pub async fn create_by_page(app: QuoteHandles, call: CommandRequest, body: &Value) -> Result<Id, ApiError> {
    let created = create(State(app), SiteHeader(None), call.with_body(body)).await?;
    created.made_id().ok_or_else(|| ApiError::internal("a new quote without its ID"))
}

/// Drafts a quote for a custom request, at its estimated price, and returns the quote's ID.
pub async fn answer_by_page(
    app: QuoteHandles,
    request: Id,
    call: CommandRequest,
    body: &Value,
) -> Result<Id, ApiError> {
    let created = answer(State(app), PathId(request), call.with_body(body)).await?;
    created.made_id().ok_or_else(|| ApiError::internal("a new quote without its ID"))
}

/// Drafts a quote from a streamed form that contains a model, and returns the quote's ID.
pub async fn upload_by_page(app: QuoteHandles, who: Caller, request: extract::Request) -> Result<Id, ApiError> {
    let created = upload(State(app), who, SiteHeader(None), request).await?;
    created.made_id().ok_or_else(|| ApiError::internal("a new quote without its ID"))
}
