//! Actions on printers from page forms; the last segment of the form's path is the name of the API operation to run.

use axum::extract::State;
use serde_json::{Value, json};

use super::{
    PrinterHandles, bed_cleared, cancel, clear_attention, connect, disconnect, home, maintenance, pause, resume,
};
use crate::production::printers::{care, print, remove, update};
use domain::id::Id;
use domain::refusal::Refusal;
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::path_id::PathId;

/// Runs the operation named by `word`; `body` has the same format as the API request body.
pub async fn act_by_page(
    app: PrinterHandles,
    id: Id,
    word: &str,
    call: CommandRequest,
    body: &Value,
) -> Result<(), ApiError> {
    let (shop, at) = (State(app.clone()), PathId(id));
    match word {
        "pause" => pause(shop, at, call.with_body(body)).await.map(|_| ()),
        "resume" => resume(shop, at, call.with_body(body)).await.map(|_| ()),
        "cancel" => cancel(shop, at, call.with_body(body)).await.map(|_| ()),
        "home" => home(shop, at, call.with_body(body)).await.map(|_| ()),
        "connect" => connect(shop, at, call.with_body(body)).await.map(|_| ()),
        "disconnect" => disconnect(shop, at, call.with_body(body)).await.map(|_| ()),
        "bed-cleared" => bed_cleared(shop, at, call.with_body(body)).await.map(|_| ()),
        "clear-attention" => clear_attention(shop, at, call.with_body(body)).await.map(|_| ()),
        "maintenance" => maintenance(shop, at, call.with_body(body)).await.map(|_| ()),
        "back" => back_into_service(app, id, call, body).await,
        "note" => care::log_by_page(&app, id, &call, body).await,
        "print" => print::print_by_page(&app, id, &call, body).await,
        "change" => update(shop, at, call.with_body(body)).await.map(|_| ()),
        "remove" => remove(shop, at, call).await.map(|_| ()),
        _ => Err(Refusal::not_found("act").into()),
    }
}

/// Returns a printer to service. If the form describes the work done, the work is first added to the maintenance log.
async fn back_into_service(app: PrinterHandles, id: Id, call: CommandRequest, body: &Value) -> Result<(), ApiError> {
    if body.get("done").is_some() {
        care::log_by_page(&app, id, &call, body).await?;
    }
    maintenance(State(app), PathId(id), call.with_body(&json!({"on": false}))).await.map(|_| ())
}
