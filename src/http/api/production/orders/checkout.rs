//! Checkout of an order on the payment processor's page.

use api_derive::Response;
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::to_pay::before_checkout;
use super::{OrderHandles, visible};
use actors::checkouts::OpenSession;
use domain::time::Timestamp;
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::path_id::PathId;
use http::reply::Plain;
use http::return_paths::CheckoutBody;
use http::wire::OptionalBody;

/// Payment page for an order.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CheckoutSession", example = json!({
    "checkoutUrl": "https://pay.example/c/cs_1", "sessionId": "cs_1", "expiresAt": "2026-11-03T10:00:00.000Z",
}))]
pub(super) struct CheckoutView {
    /// URL of the payment page, for the customer's browser.
    checkout_url: String,
    /// ID of the checkout session at the payment processor.
    session_id: String,
    /// Time at which the page expires. After that, a new page can be requested.
    expires_at: Timestamp,
}

impl From<OpenSession> for CheckoutView {
    fn from(open: OpenSession) -> Self {
        Self { checkout_url: open.url, session_id: open.id, expires_at: open.expires_at }
    }
}

/// Returns the payment page for an order. While the page is open, every request returns the same one.
pub(super) async fn check_out(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<CheckoutBody>>,
) -> Result<Plain<CheckoutView>, ApiError> {
    visible(&app.orders, &call.who, id).await?;
    let pages = call.read_body()?.pages(&call.headers, &app.config);
    before_checkout(&app, id).await?;
    let open = app.checkouts.of_order(id, &call.origin(), &pages).await?;
    Ok(Plain(open.into()))
}
