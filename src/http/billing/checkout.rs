//! What every checkout of the billing API answers: the page at the payment processor on which something is paid.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::reply::Success;
use crate::actors::checkouts::OpenSession;
use crate::domain::time::Timestamp;

/// A page on which something can be paid.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CheckoutResponse", example = json!({
    "success": true, "checkoutUrl": "https://pay.example/c/cs_1", "sessionId": "cs_1",
    "expiresAt": "2026-11-03T10:00:00.000Z",
}))]
pub struct CheckoutReply {
    success: Success,
    /// The page, for the customer's browser.
    checkout_url: String,
    /// The processor's id of the session.
    session_id: String,
    /// When the page closes by itself; another one can be asked for then.
    expires_at: Timestamp,
}

impl From<OpenSession> for CheckoutReply {
    fn from(OpenSession { id, url, expires_at }: OpenSession) -> Self {
        Self { success: Success, checkout_url: url, session_id: id, expires_at }
    }
}
