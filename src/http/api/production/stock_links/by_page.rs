//! Form actions on a stock link.

use axum::extract::State;
use serde_json::Value;

use super::{LinkHandles, PathSystem, agree};
use crate::domain::id::Id;
use crate::domain::parts_sync::StockSystem;
use crate::http::command_request::CommandRequest;
use crate::http::error::ApiError;
use crate::http::path_id::PathId;

/// Sets the side whose stock is correct, from a body in the format of the API.
pub(crate) async fn agree_by_page(
    app: LinkHandles,
    (material, system): (Id, StockSystem),
    call: CommandRequest,
    body: &Value,
) -> Result<(), ApiError> {
    agree(State(app), PathId(material), PathSystem(system), call.with_body(body)).await.map(|_| ())
}
