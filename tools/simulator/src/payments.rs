//! Events in the form in which the payment processor sends them, with their signatures.
//!
//! The signature header is `Stripe-Signature: t=<unix>,v1=<hex>`, where `v1` is the HMAC-SHA256 of `"{t}." + body`,
//! keyed with the entire text of the secret. The caller has to send the event.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

/// API version stated in the processor's events.
const API_VERSION: &str = "2026-06-24.dahlia";

/// Event sent by the payment processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimPaymentEvent {
    /// `checkout.session.completed` with `payment_status: paid`.
    Completed,
    /// `checkout.session.completed` with `payment_status: unpaid`, for a delayed payment method, whose money arrives
    /// later or never.
    CompletedUnpaid,
    /// `checkout.session.async_payment_succeeded`: the money from a delayed payment has arrived.
    AsyncSucceeded,
    /// `checkout.session.async_payment_failed`: the money from a delayed payment will not arrive.
    AsyncFailed,
    /// `checkout.session.expired`: the customer did not pay in time.
    Expired,
    /// `payment_intent.payment_failed`: a card was declined, and the customer may try again.
    PaymentFailed,
    /// `charge.refunded`, whose amount is cumulative.
    Refunded {
        /// Total amount refunded so far, in minor units.
        refunded_cents: i64,
    },
    /// `charge.dispute.created`: the customer's bank claims money of the payment.
    Disputed {
        /// Claimed amount, in minor units.
        cents: i64,
    },
    /// `charge.dispute.closed`: the bank has decided.
    DisputeClosed {
        /// Claimed amount, in minor units.
        cents: i64,
        /// `true` if the shop has lost the amount.
        is_lost: bool,
    },
}

impl SimPaymentEvent {
    /// Returns the event type's name, as used by the processor.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed | Self::CompletedUnpaid => "checkout.session.completed",
            Self::AsyncSucceeded => "checkout.session.async_payment_succeeded",
            Self::AsyncFailed => "checkout.session.async_payment_failed",
            Self::Expired => "checkout.session.expired",
            Self::PaymentFailed => "payment_intent.payment_failed",
            Self::Refunded { .. } => "charge.refunded",
            Self::Disputed { .. } => "charge.dispute.created",
            Self::DisputeClosed { .. } => "charge.dispute.closed",
        }
    }
}

/// Payment described by events.
#[derive(Clone, Debug)]
pub struct SimPayment {
    /// Order ID, sent in `client_reference_id` and `metadata.orderId`.
    pub order_id: String,
    /// Amount in minor units.
    pub amount_cents: i64,
    /// Currency as a lowercase ISO 4217 code.
    pub currency: String,
    /// Checkout session ID, `cs_…`.
    pub session_id: String,
    /// Payment intent ID, `pi_…`.
    pub payment_intent: String,
    /// Payer's email address, if known.
    pub customer_email: Option<String>,
    /// Copies the order's metadata to payment intents and charges, as the processor does if the client has sent
    /// `payment_intent_data[metadata]`.
    pub intent_metadata: bool,
}

impl SimPayment {
    /// Builds a payment for an order; the session and intent IDs are derived from the order's ID.
    pub fn new(order_id: impl Into<String>, amount_cents: i64, currency: impl Into<String>) -> Self {
        let order_id = order_id.into();
        let tail: String = order_id.chars().filter(char::is_ascii_alphanumeric).collect();
        Self {
            session_id: format!("cs_test_{tail}"),
            payment_intent: format!("pi_{tail}"),
            order_id,
            amount_cents,
            currency: currency.into(),
            customer_email: None,
            intent_metadata: true,
        }
    }

    /// Returns an event's exact body. Receivers deduplicate by `event_id`; `created` is in Unix seconds.
    pub fn event(&self, event: SimPaymentEvent, event_id: &str, created: i64) -> String {
        let body = json!({
            "id": event_id,
            "object": "event",
            "type": event.name(),
            "created": created,
            "api_version": API_VERSION,
            "livemode": false,
            "pending_webhooks": 1,
            "request": {"id": null, "idempotency_key": null},
            "data": {"object": self.object(event, created)},
        });
        // The processor sends indented JSON, which reveals receivers that serialize the body again before verifying
        // it.
        format!("{body:#}")
    }

    /// Returns the ID of the dispute over the payment, `dp_…`.
    pub fn dispute_id(&self) -> String {
        self.payment_intent.replacen("pi_", "dp_", 1)
    }

    /// Returns the dispute over the payment. As in the processor's own events, only the payment intent identifies its
    /// subject.
    fn dispute(&self, cents: i64, status: &str, created: i64) -> Value {
        json!({
            "id": self.dispute_id(),
            "object": "dispute",
            "amount": cents,
            "charge": self.payment_intent.replacen("pi_", "ch_", 1),
            "currency": self.currency,
            "created": created,
            "livemode": false,
            "metadata": {},
            "payment_intent": self.payment_intent,
            "reason": "fraudulent",
            "status": status,
        })
    }

    fn object(&self, event: SimPaymentEvent, created: i64) -> Value {
        let metadata = json!({"orderId": self.order_id});
        let intent_metadata = if self.intent_metadata { metadata.clone() } else { json!({}) };
        match event {
            SimPaymentEvent::PaymentFailed => json!({
                "id": self.payment_intent,
                "object": "payment_intent",
                "amount": self.amount_cents,
                "amount_received": 0,
                "currency": self.currency,
                "created": created,
                "livemode": false,
                "metadata": intent_metadata,
                "status": "requires_payment_method",
                "last_payment_error": {"type": "card_error", "code": "card_declined", "decline_code": "generic_decline", "message": "Your card was declined."},
            }),
            SimPaymentEvent::Refunded { refunded_cents } => json!({
                "id": self.payment_intent.replacen("pi_", "ch_", 1),
                "object": "charge",
                "amount": self.amount_cents,
                "amount_captured": self.amount_cents,
                "amount_refunded": refunded_cents,
                "currency": self.currency,
                "created": created,
                "livemode": false,
                "metadata": intent_metadata,
                "paid": true,
                "payment_intent": self.payment_intent,
                "refunded": refunded_cents >= self.amount_cents,
                "status": "succeeded",
            }),
            SimPaymentEvent::Disputed { cents } => self.dispute(cents, "needs_response", created),
            SimPaymentEvent::DisputeClosed { cents, is_lost } => {
                self.dispute(cents, if is_lost { "lost" } else { "won" }, created)
            }
            session => {
                let (status, paid) = match session {
                    SimPaymentEvent::Completed | SimPaymentEvent::AsyncSucceeded => ("complete", "paid"),
                    SimPaymentEvent::Expired => ("expired", "unpaid"),
                    _ => ("complete", "unpaid"),
                };
                json!({
                    "id": self.session_id,
                    "object": "checkout.session",
                    "mode": "payment",
                    "amount_subtotal": self.amount_cents,
                    "amount_total": self.amount_cents,
                    "currency": self.currency,
                    "client_reference_id": self.order_id,
                    "created": created,
                    "customer": null,
                    "customer_email": self.customer_email,
                    "customer_details": self.customer_email.as_ref().map(|email| json!({"email": email, "name": null})),
                    "livemode": false,
                    "metadata": metadata,
                    "payment_intent": if status == "expired" { Value::Null } else { json!(self.payment_intent) },
                    "payment_status": paid,
                    "status": status,
                    "subscription": null,
                    "url": null,
                })
            }
        }
    }
}

/// Returns the `Stripe-Signature` header for a body sent at `unix_seconds`.
pub fn signature(secret: &str, unix_seconds: i64, body: &[u8]) -> String {
    let mut message = format!("{unix_seconds}.").into_bytes();
    message.extend_from_slice(body);
    format!("t={unix_seconds},v1={}", hex::encode(hmac_sha256(secret.as_bytes(), &message)))
}

/// Computes the HMAC-SHA256 with a key of any length.
pub(crate) fn hmac_sha256(key: &[u8], message: &[u8]) -> Vec<u8> {
    match Hmac::<Sha256>::new_from_slice(key) {
        Ok(mut mac) => {
            mac.update(message);
            mac.finalize().into_bytes().to_vec()
        }
        // Does not happen, because HMAC accepts keys of any length; an empty digest matches nothing.
        Err(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn hmac_agrees_with_rfc_4231_case_2() {
        let digest = hex::encode(hmac_sha256(b"Jefe", b"what do ya want for nothing?"));
        assert_eq!(digest, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn signature_covers_time_and_body() {
        let header = signature("whsec_x", 1_700_000_000, b"{}");
        assert_eq!(header, format!("t=1700000000,v1={}", hex::encode(hmac_sha256(b"whsec_x", b"1700000000.{}"))));
        assert_ne!(header, signature("whsec_x", 1_700_000_001, b"{}"));
    }

    #[test]
    fn sessions_link_to_the_order_in_both_ways() {
        let payment = SimPayment::new("0190-ab", 1250, "usd");
        let event: Value = serde_json::from_str(&payment.event(SimPaymentEvent::Completed, "evt_1", 5)).unwrap();
        assert_eq!(event["type"], "checkout.session.completed");
        assert_eq!(event["data"]["object"]["client_reference_id"], "0190-ab");
        assert_eq!(event["data"]["object"]["metadata"]["orderId"], "0190-ab");
        assert_eq!(event["data"]["object"]["payment_status"], "paid");
        assert_eq!(event["data"]["object"]["amount_total"], 1250);
    }

    #[test]
    fn a_dispute_names_its_payment_intent_and_no_order() {
        let payment = SimPayment::new("0190-ab", 1250, "usd");
        let event = |event| -> Value { serde_json::from_str(&payment.event(event, "evt_4", 5)).unwrap() };
        let opened = event(SimPaymentEvent::Disputed { cents: 400 });
        let object = &opened["data"]["object"];
        assert_eq!((&opened["type"], &object["status"]), (&json!("charge.dispute.created"), &json!("needs_response")));
        assert_eq!((&object["id"], &object["payment_intent"]), (&json!("dp_0190ab"), &json!("pi_0190ab")));
        assert_eq!((&object["amount"], &object["metadata"]), (&json!(400), &json!({})));
        for (is_lost, status) in [(true, "lost"), (false, "won")] {
            let closed = event(SimPaymentEvent::DisputeClosed { cents: 400, is_lost });
            assert_eq!(
                (&closed["type"], &closed["data"]["object"]["status"]),
                (&json!("charge.dispute.closed"), &json!(status))
            );
        }
    }

    #[test]
    fn only_a_whole_refund_says_refunded() {
        let payment = SimPayment::new("o", 1000, "usd");
        let part: Value =
            serde_json::from_str(&payment.event(SimPaymentEvent::Refunded { refunded_cents: 400 }, "evt_2", 5))
                .unwrap();
        let whole: Value =
            serde_json::from_str(&payment.event(SimPaymentEvent::Refunded { refunded_cents: 1000 }, "evt_3", 5))
                .unwrap();
        assert_eq!(part["data"]["object"]["refunded"], false);
        assert_eq!(whole["data"]["object"]["refunded"], true);
    }
}
