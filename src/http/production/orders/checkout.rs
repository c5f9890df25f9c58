//! Checkout of an order: the page at the payment processor on which it is paid.

use api_derive::Response;
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::to_pay::before_checkout;
use super::{OrderHandles, visible};
use crate::actors::checkouts::OpenSession;
use crate::domain::time::Timestamp;
use crate::http::command_request::CommandRequest;
use crate::http::error::ApiError;
use crate::http::path_id::PathId;
use crate::http::reply::Plain;
use crate::http::return_paths::CheckoutBody;
use crate::http::wire::OptionalBody;

/// A page on which an order can be paid.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CheckoutSession", example = json!({
    "checkoutUrl": "https://pay.example/c/cs_1", "sessionId": "cs_1", "expiresAt": "2026-11-03T10:00:00.000Z",
}))]
pub(super) struct CheckoutView {
    /// The page, for the customer's browser.
    checkout_url: String,
    /// The processor's id of the session.
    session_id: String,
    /// When the page closes by itself; another one can be asked for then.
    expires_at: Timestamp,
}

impl From<OpenSession> for CheckoutView {
    fn from(open: OpenSession) -> Self {
        Self { checkout_url: open.url, session_id: open.id, expires_at: open.expires_at }
    }
}

/// The page on which an order is paid, the same for all who ask while it is open.
pub(super) async fn check_out(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<CheckoutBody>>,
) -> Result<Plain<CheckoutView>, ApiError> {
    visible(&app, &call.who, id).await?;
    let pages = call.read_body()?.pages(&call.headers, &app.config);
    before_checkout(&app, id).await?;
    let open = app.checkouts.of_order(id, &call.origin(), &pages).await?;
    Ok(Plain(open.into()))
}
