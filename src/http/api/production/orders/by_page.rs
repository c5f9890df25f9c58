//! Actions on orders from page forms; the last segment of the form's path is the name of the API operation to run.

use axum::extract::State;
use serde_json::Value;

use super::{OrderHandles, cancel, confirm, mark_paid, refund, ship, update};
use domain::id::Id;
use domain::refusal::Refusal;
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::path_id::PathId;

/// Runs the operation named by `word`; `body` has the same format as the API request body.
pub async fn act_by_page(
    app: OrderHandles,
    id: Id,
    word: &str,
    call: CommandRequest,
    body: &Value,
) -> Result<(), ApiError> {
    let (shop, at) = (State(app), PathId(id));
    match word {
        "change" => update(shop, at, call.with_body(body)).await.map(|_| ()),
        "confirm" => confirm(shop, at, call.with_body(body)).await.map(|_| ()),
        "cancel" => cancel(shop, at, call.with_body(body)).await.map(|_| ()),
        "mark-paid" => mark_paid(shop, at, call.with_body(body)).await.map(|_| ()),
        "refund" => refund(shop, at, call.with_body(body)).await.map(|_| ()),
        "ship" => ship(shop, at, call.with_body(body)).await.map(|_| ()),
        _ => Err(Refusal::not_found("act").into()),
    }
}
