//! Test events, redeliveries and replays from page forms, which use the API's operations.

use axum::extract::State;
use serde_json::{Map, Value};

use super::{EndpointHandles, redeliver, replay, test};
use domain::id::Id;
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::path_id::PathId;

/// Sends a test event to an endpoint.
pub async fn test_by_page(app: EndpointHandles, id: Id, call: &CommandRequest) -> Result<(), ApiError> {
    test(State(app), PathId(id), call.of_form(&Value::Object(Map::new()))).await.map(|_| ())
}

/// Sends a delivery again and returns its endpoint's ID.
pub async fn redeliver_by_page(app: EndpointHandles, id: Id, call: &CommandRequest) -> Result<Id, ApiError> {
    let created = redeliver(State(app), PathId(id), call.of_form(&Value::Object(Map::new()))).await?;
    Ok(created.into_body().endpoint_id)
}

/// Starts a replay; `body` has the same format as the API request body.
pub async fn replay_by_page(
    app: EndpointHandles,
    id: Id,
    call: &CommandRequest,
    body: &Value,
) -> Result<u32, ApiError> {
    Ok(replay(State(app), PathId(id), call.of_form(body)).await?.into_body().replayed)
}
