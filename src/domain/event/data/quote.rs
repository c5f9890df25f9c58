//! What is told of a quote.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::{EventData, EventKind};
use crate::domain::id::Id;
use crate::domain::quote_status::QuoteStatus;
use crate::domain::time::Timestamp;

/// What is told of a quote.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "QuoteEventData", example = json!({
    "quoteId": "01890a5d-ac96-774b-bcce-b302099a8084", "number": "QUO-000123", "status": "accepted", "totalCents": 2500,
    "currency": "usd", "customerEmail": "customer@example.org", "validUntil": "2026-11-16T10:00:00.000Z",
    "orderId": super::ORDER,
}))]
pub struct QuoteData {
    /// Id of the quote.
    pub(crate) quote_id: Id,
    /// The number that people see: `QUO-000123`.
    pub(crate) number: String,
    /// The status after the event.
    pub(crate) status: QuoteStatus,
    /// In minor units of the currency.
    pub(crate) total_cents: i64,
    /// ISO 4217, in lower case.
    pub(crate) currency: String,
    /// Address of the customer; null where none was given.
    pub(crate) customer_email: Option<String>,
    /// Until when it can be accepted.
    pub(crate) valid_until: Option<Timestamp>,
    /// Id of the order that it has become; null before it was accepted.
    pub(crate) order_id: Option<Id>,
}
carried_by! { QuoteData:
    "quote.sent", "A quote was sent to its customer.";
    "quote.accepted", "A customer accepted a quote; its order is made.";
    "quote.declined", "A customer declined a quote, or the shop withdrew it.";
}
