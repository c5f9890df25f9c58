//! Payload of custom request events.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::{EventData, EventKind};
use crate::custom_request_status::CustomRequestStatus;
use crate::id::Id;

/// Data for a custom request event.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "CustomRequestEventData", example = json!({
    "customRequestId": "01890a5d-ac96-774b-bcce-b302099a8090", "status": "new", "customerEmail": "customer@example.org",
    "productType": "figurine", "estimatedTotalCents": 12345, "currency": "usd", "quoteId": null,
}))]
pub struct CustomRequestData {
    /// Unique identifier of the custom request.
    pub(crate) custom_request_id: Id,
    /// Status of the custom request after the event.
    pub(crate) status: CustomRequestStatus,
    /// Email address of the customer.
    pub(crate) customer_email: String,
    /// Type of product requested.
    pub(crate) product_type: String,
    /// Estimated total, in minor units of the currency.
    pub(crate) estimated_total_cents: i64,
    /// Three-letter ISO 4217 currency code, in lowercase.
    pub(crate) currency: String,
    /// Identifier of the latest quote for the request, if any; otherwise null.
    pub(crate) quote_id: Option<Id>,
}
carried_by! { CustomRequestData:
    "custom_request.created", "A customer submitted a custom request.";
    "custom_request.quoted", "A custom request was answered with a quote.";
    "custom_request.accepted", "The quote that answers a custom request was accepted.";
    "custom_request.declined", "A custom request, or the quote that answers it, was declined.";
    "custom_request.closed", "A custom request was closed.";
}
