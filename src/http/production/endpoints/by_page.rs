//! What a page has done to an endpoint, by the operations of the API, with the secret that an answer shows once.

use axum::extract::State;
use serde_json::Value;

use super::{EndpointHandles, EndpointWithSecret, create, disable, enable, remove, rotate, update};
use crate::domain::id::Id;
use crate::domain::refusal::Refusal;
use crate::http::command_request::CommandRequest;
use crate::http::error::ApiError;
use crate::http::path_id::PathId;

/// What an answer tells once of an endpoint.
pub(crate) struct TellingEndpoint {
    /// Which endpoint.
    pub(crate) id: Id,
    /// Where it is sent to.
    pub(crate) url: String,
    /// Signs what it is sent; `None` where the person chose it, who knows it.
    pub(crate) secret: Option<String>,
    /// What is allowed and not advised.
    pub(crate) warnings: Vec<String>,
}

impl From<EndpointWithSecret> for TellingEndpoint {
    fn from(told: EndpointWithSecret) -> Self {
        let EndpointWithSecret { endpoint, secret, warnings } = told;
        Self { id: endpoint.id, url: endpoint.url, secret, warnings: warnings.unwrap_or_default() }
    }
}

/// Registers an endpoint, with the body that the API takes for it.
pub(crate) async fn create_by_page(
    app: EndpointHandles,
    call: &CommandRequest,
    said: &Value,
) -> Result<TellingEndpoint, ApiError> {
    Ok(create(State(app), call.of_form(said)).await?.into_body().into())
}

/// Changes where an endpoint is, or what it is sent.
pub(crate) async fn change_by_page(
    app: EndpointHandles,
    id: Id,
    call: &CommandRequest,
    said: &Value,
) -> Result<(), ApiError> {
    update(State(app), PathId(id), call.of_form(said)).await.map(|_| ())
}

/// Gives an endpoint a secret that the server makes.
pub(crate) async fn rotate_by_page(
    app: EndpointHandles,
    id: Id,
    call: &CommandRequest,
) -> Result<TellingEndpoint, ApiError> {
    let none = Value::Object(serde_json::Map::new());
    Ok(rotate(State(app), PathId(id), call.of_form(&none)).await?.into_body().into())
}

/// Does what the last word of the form's path names.
pub(crate) async fn act_by_page(
    app: EndpointHandles,
    id: Id,
    word: &str,
    call: &CommandRequest,
) -> Result<(), ApiError> {
    let (shop, at, none) = (State(app), PathId(id), Value::Object(serde_json::Map::new()));
    match word {
        "enable" => enable(shop, at, call.of_form(&none)).await.map(|_| ()),
        "disable" => disable(shop, at, call.of_form(&none)).await.map(|_| ()),
        "delete" => remove(shop, at, call.of_form(&none)).await.map(|_| ()),
        _ => Err(Refusal::not_found("act").into()),
    }
}
