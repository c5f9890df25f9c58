//! Payload of quote events.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::{EventData, EventKind};
use crate::id::Id;
use crate::quote_status::QuoteStatus;
use crate::time::Timestamp;

/// Data for a quote event.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "QuoteEventData", example = json!({
    "quoteId": "01890a5d-ac96-774b-bcce-b302099a8084", "number": "QUO-000123", "status": "accepted", "totalCents": 2500,
    "currency": "usd", "customerEmail": "customer@example.org", "validUntil": "2026-11-16T10:00:00.000Z",
    "orderId": super::ORDER,
}))]
pub struct QuoteData {
    /// Unique identifier of the quote.
    pub(crate) quote_id: Id,
    /// Human-readable quote number, such as `QUO-000123`.
    pub(crate) number: String,
    /// Status of the quote after the event.
    pub(crate) status: QuoteStatus,
    /// Quote total, in minor units of the currency.
    pub(crate) total_cents: i64,
    /// Three-letter ISO 4217 currency code, in lowercase.
    pub(crate) currency: String,
    /// Email address of the customer; null if unknown.
    pub(crate) customer_email: Option<String>,
    /// Time until which the quote can be accepted.
    pub(crate) valid_until: Option<Timestamp>,
    /// Identifier of the order created from the quote; null until the quote is accepted.
    pub(crate) order_id: Option<Id>,
}
carried_by! { QuoteData:
    "quote.sent", "A quote was sent to its customer.";
    "quote.accepted", "A customer accepted a quote; its order is created.";
    "quote.declined", "A customer declined a quote, or the shop withdrew it.";
}
