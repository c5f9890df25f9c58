//! Payload of events about payments that do not belong to any order.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::{EventData, EventKind};

/// Data for an event about a payment that does not belong to any order.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "PaymentUnmatchedEventData", example = json!({
    "eventId": "evt_1", "amountCents": 2500, "currency": "usd", "paymentIntent": "pi_1",
}))]
pub struct PaymentUnmatchedData {
    /// The payment processor's ID for the event.
    pub(crate) event_id: String,
    /// Amount paid, or total refunded so far, in minor units of the currency.
    pub(crate) amount_cents: Option<i64>,
    /// Three-letter ISO 4217 currency code, in lowercase.
    pub(crate) currency: Option<String>,
    /// The payment processor's identifier for the payment, such as `pi_...`.
    pub(crate) payment_intent: Option<String>,
}
carried_by! { PaymentUnmatchedData:
    "payment.unmatched", "The payment processor reports a payment or refund that matches no order; matching is \
                          retried for 30 days.";
    "payment.given_up", "A payment or refund matched no order for 30 days and is no longer retried; an operator must \
                         investigate it.";
}
