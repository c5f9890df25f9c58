//! Actions on stock links from page forms.

use axum::extract::State;
use serde_json::Value;

use super::{LinkHandles, PathSystem, agree};
use domain::id::Id;
use domain::parts_sync::StockSystem;
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::path_id::PathId;

/// Sets the side whose stock is correct; `body` has the same format as the API request body.
pub async fn agree_by_page(
    app: LinkHandles,
    (material, system): (Id, StockSystem),
    call: CommandRequest,
    body: &Value,
) -> Result<(), ApiError> {
    agree(State(app), PathId(material), PathSystem(system), call.with_body(body)).await.map(|_| ())
}
