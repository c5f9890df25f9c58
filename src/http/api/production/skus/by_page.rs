//! Actions on products from page forms, which use the API's operations.

use axum::extract::State;
use serde_json::Value;

use super::{SkuHandles, create, remove, update};
use domain::id::Id;
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::path_id::PathId;

/// Adds a product and returns its ID.
pub async fn add_by_page(app: SkuHandles, call: CommandRequest, body: &Value) -> Result<Id, ApiError> {
    let created = create(State(app), call.with_body(body)).await?;
    created.made_id().ok_or_else(|| ApiError::internal("a product without an ID"))
}

/// Changes the fields that the form contains.
pub async fn change_by_page(app: SkuHandles, id: Id, call: CommandRequest, body: &Value) -> Result<(), ApiError> {
    update(State(app), PathId(id), call.with_body(body)).await.map(|_| ())
}

/// Removes a product.
pub async fn remove_by_page(app: SkuHandles, id: Id, call: CommandRequest) -> Result<(), ApiError> {
    remove(State(app), PathId(id), call).await.map(|_| ())
}
