//! Actions on webhook endpoints from page forms, by the API's operations, with the secret that a response shows once.

use axum::extract::State;
use serde_json::Value;

use super::{EndpointHandles, EndpointWithSecret, create, disable, enable, remove, rotate, update};
use domain::id::Id;
use domain::refusal::Refusal;
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::path_id::PathId;

/// Facts about an endpoint that a response shows only once.
pub struct EndpointDisclosure {
    /// ID of the endpoint.
    pub id: Id,
    /// URL of the endpoint.
    pub url: String,
    /// Secret that signs payloads; `None` if the user chose it and so knows it.
    pub secret: Option<String>,
    /// Warnings about permitted but discouraged values.
    pub warnings: Vec<String>,
}

impl From<EndpointWithSecret> for EndpointDisclosure {
    fn from(answer: EndpointWithSecret) -> Self {
        let EndpointWithSecret { endpoint, secret, warnings } = answer;
        Self { id: endpoint.id, url: endpoint.url, secret, warnings: warnings.unwrap_or_default() }
    }
}

/// Registers an endpoint with the API's request body for it.
pub async fn create_by_page(
    app: EndpointHandles,
    call: &CommandRequest,
    body: &Value,
) -> Result<EndpointDisclosure, ApiError> {
    Ok(create(State(app), call.of_form(body)).await?.into_body().into())
}

/// Changes an endpoint's URL or its events.
pub async fn change_by_page(app: EndpointHandles, id: Id, call: &CommandRequest, body: &Value) -> Result<(), ApiError> {
    update(State(app), PathId(id), call.of_form(body)).await.map(|_| ())
}

/// Rotates an endpoint's secret to one that the server generates.
pub async fn rotate_by_page(
    app: EndpointHandles,
    id: Id,
    call: &CommandRequest,
) -> Result<EndpointDisclosure, ApiError> {
    let none = Value::Object(serde_json::Map::new());
    Ok(rotate(State(app), PathId(id), call.of_form(&none)).await?.into_body().into())
}

/// Runs the action named by the last segment of the form's path.
pub async fn act_by_page(app: EndpointHandles, id: Id, word: &str, call: &CommandRequest) -> Result<(), ApiError> {
    let (shop, at, none) = (State(app), PathId(id), Value::Object(serde_json::Map::new()));
    match word {
        "enable" => enable(shop, at, call.of_form(&none)).await.map(|_| ()),
        "disable" => disable(shop, at, call.of_form(&none)).await.map(|_| ()),
        "delete" => remove(shop, at, call.of_form(&none)).await.map(|_| ()),
        _ => Err(Refusal::not_found("act").into()),
    }
}
