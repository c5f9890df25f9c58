//! Actions on materials from page forms; the last segment of the form's path is the name of the API operation to run.

use axum::extract::State;
use serde_json::Value;

use super::{Adjustment, MaterialHandles, add, adjust, remove, update};
use domain::id::Id;
use domain::material::MaterialCommand;
use domain::refusal::Refusal;
use http::command_request::{CommandRequest, CommandTarget};
use http::error::ApiError;
use http::path_id::PathId;
use http::wire::read_body;

/// Runs the operation named by `word`; `body` has the same format as the API request body.
pub async fn act_by_page(
    app: MaterialHandles,
    id: Id,
    word: &str,
    call: CommandRequest,
    body: &Value,
) -> Result<(), ApiError> {
    let (shop, at) = (State(app), PathId(id));
    match word {
        "adjust" => adjust(shop, at, call.with_body(body)).await.map(|_| ()),
        "change" => update(shop, at, call.with_body(body)).await.map(|_| ()),
        "remove" => remove(shop, at, call).await.map(|_| ()),
        _ => Err(Refusal::not_found("act").into()),
    }
}

/// Adds a material and returns its ID; `body` has the same format as the API request body.
pub async fn create_by_page(app: &MaterialHandles, call: CommandRequest, body: &Value) -> Result<Id, ApiError> {
    Ok(add(app, &call.with_body(body)).await?.id)
}

/// Receives or writes off stock, for pages that do more in the same request; `body` has the same format as the API
/// request body.
pub async fn adjust_by_page(
    app: &MaterialHandles,
    call: &CommandRequest,
    id: Id,
    body: &Value,
) -> Result<(), ApiError> {
    let Adjustment { delta, reason } = read_body::<Adjustment>(body.to_string().as_bytes())?;
    call.ask(&app.materials, CommandTarget::Id(id), MaterialCommand::Adjust { delta, reason }).await.map(|_| ())
}
