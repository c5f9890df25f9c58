//! Events from the payment processor, received on the path that is configured at the processor for the billing API.
//! They are handled exactly like those received on `/webhooks/payments`.

use api_derive::Response;
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use crate::billing::reply::Success;
use crate::production::payments::{PaymentHandles, SignedEvent, describe_event, take};
use http::access::RequiredAccess;
use http::error::ApiError;
use http::reply::Plain;
use http::routes::ResourceRoutes;

/// Returns the webhook routes.
pub fn routes() -> ResourceRoutes {
    ResourceRoutes::new("Webhooks", "Signed events from the payment processor.", "event").post(
        RequiredAccess::Open,
        "/api/v1/webhooks/payments",
        receive,
        describe_event,
    )
}

/// Acknowledgement of an event from the payment processor.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PaymentEventReceipt", example = json!({"success": true, "received": true}))]
struct Receipt {
    /// Always `true`.
    success: Success,
    /// Always `true`: the event has been stored and does not need to be sent again.
    received: bool,
}

/// Receives an event. Responds with 200 to every signed event; a 5xx response makes the processor send the event again.
async fn receive(State(app): State<PaymentHandles>, event: SignedEvent) -> Result<Plain<Receipt>, ApiError> {
    take(&app, event).await?;
    Ok(Plain(Receipt { success: Success, received: true }))
}
