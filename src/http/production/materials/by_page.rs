//! What a page has done to a material: the operation of the API that the last word of the form's path names.

use axum::extract::State;
use serde_json::Value;

use super::{Adjustment, MaterialHandles, add, adjust, remove, update};
use crate::domain::id::Id;
use crate::domain::material::MaterialCommand;
use crate::domain::refusal::Refusal;
use crate::http::command_request::{CommandRequest, CommandTarget};
use crate::http::error::ApiError;
use crate::http::path_id::PathId;
use crate::http::wire::read_body;

/// Does it, with the body that the API takes for it.
pub(crate) async fn act_by_page(
    app: MaterialHandles,
    id: Id,
    word: &str,
    call: CommandRequest,
    said: &Value,
) -> Result<(), ApiError> {
    let (shop, at) = (State(app), PathId(id));
    match word {
        "adjust" => adjust(shop, at, call.with_body(said)).await.map(|_| ()),
        "change" => update(shop, at, call.with_body(said)).await.map(|_| ()),
        "remove" => remove(shop, at, call).await.map(|_| ()),
        _ => Err(Refusal::not_found("act").into()),
    }
}

/// Adds a material with the body that the API takes for it. Gives its id.
pub(crate) async fn create_by_page(app: &MaterialHandles, call: CommandRequest, said: &Value) -> Result<Id, ApiError> {
    Ok(add(app, &call.with_body(said)).await?.id)
}

/// Receives or writes off with the body that the API takes for it, for a page that does more in the same request.
pub(crate) async fn adjust_by_page(
    app: &MaterialHandles,
    call: &CommandRequest,
    id: Id,
    said: &Value,
) -> Result<(), ApiError> {
    let Adjustment { delta, reason } = read_body::<Adjustment>(said.to_string().as_bytes())?;
    call.ask(&app.materials, CommandTarget::Id(id), MaterialCommand::Adjust { delta, reason }).await.map(|_| ())
}
