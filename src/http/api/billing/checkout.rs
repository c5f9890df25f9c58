//! Response to every checkout in the billing API: the payment page at the payment processor.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::reply::Success;
use actors::checkouts::OpenSession;
use domain::time::Timestamp;

/// Checkout session at the payment processor.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CheckoutResponse", example = json!({
    "success": true, "checkoutUrl": "https://pay.example/c/cs_1", "sessionId": "cs_1",
    "expiresAt": "2026-11-03T10:00:00.000Z",
}))]
pub struct CheckoutReply {
    success: Success,
    /// URL of the payment page, for the customer's browser.
    checkout_url: String,
    /// ID of the session at the payment processor.
    session_id: String,
    /// Time at which the payment page expires. After that, create another checkout.
    expires_at: Timestamp,
}

impl From<OpenSession> for CheckoutReply {
    fn from(OpenSession { id, url, expires_at }: OpenSession) -> Self {
        Self { success: Success, checkout_url: url, session_id: id, expires_at }
    }
}
