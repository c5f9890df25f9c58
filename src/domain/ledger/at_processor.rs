//! Pending requests to the payment processor: the current checkout, sessions to be closed, and requested refunds.
//!
//! All of them are recorded in the owner's own commit before anything is sent, and each request carries an idempotency
//! key derived from the recorded data (`order-{id}-{number}`, `invoice-{id}-{number}`, `refund-{id}`). The request can
//! therefore be sent again after a crash, and the processor recognises it as the same request.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::id::Id;
use crate::time::Timestamp;

/// Maximum number of sessions waiting to be closed, and of pending or failed refunds. Sessions dropped from the list
/// expire within a day.
pub(super) const MAX_UNDER_WAY: usize = 20;

/// Pending requests to the payment processor.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProcessorRequests {
    /// Number of checkouts started; the latest number is part of the idempotency key of the checkout's session.
    pub checkouts: u32,
    /// Checkout for the amount due, if any.
    pub checkout: Option<Checkout>,
    /// Sessions that must no longer be paid. They stay in the list until the processor confirms that they are closed.
    pub closing: Vec<String>,
    /// Requested refunds: those without a response, those rejected by the processor, and those accepted while the
    /// refund total of their payment is still being read.
    pub refunds: Vec<RequestedRefund>,
    /// Payments with a refund that failed after the processor had accepted it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubted: Vec<UncertainRefunds>,
    /// Payments that the customer's bank disputes or has reclaimed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disputes: Vec<Dispute>,
    /// Latest failed payment attempts. An attempt whose payment succeeded in the end is ignored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_tries: Vec<FailedPayment>,
}

impl ProcessorRequests {
    /// Returns whether nothing is pending and nothing has to be remembered.
    pub fn is_idle(&self) -> bool {
        *self == Self::default()
    }
}

/// Payment attempt that failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedPayment {
    /// The processor's payment intent for the attempt, if specified.
    pub intent: Option<String>,
    /// The processor's checkout session for the attempt, if specified.
    pub session: Option<String>,
}

/// Checkout for the amount due when it was started.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkout {
    /// Sequence number among the owner's checkouts, starting at 1.
    pub number: u32,
    /// Amount to pay, in minor units of the owner's currency.
    pub amount_cents: i64,
    /// Description shown to the customer on the payment page; `None` in checkouts from older releases, all of which
    /// were for orders.
    #[serde(default)]
    pub title: Option<String>,
    /// URL that the customer is redirected to after paying.
    pub success_url: String,
    /// URL that the customer is redirected to after cancelling.
    pub cancel_url: String,
    /// State of the checkout.
    pub state: CheckoutState,
}

/// State of a checkout session at the payment processor.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckoutState {
    /// The session is being created.
    Wanted,
    /// The session can be paid, to the server's knowledge.
    #[serde(rename_all = "camelCase")]
    Open {
        /// The processor's ID for the session.
        session: String,
        /// Payment page of the session.
        url: String,
        /// Time at which the processor closes the session automatically.
        expires_at: Timestamp,
    },
    /// No session was created, and nothing is retried until the next checkout request.
    #[serde(rename_all = "camelCase")]
    Failed {
        /// `true` if the processor rejected the request or reported an error. Otherwise the outcome is unknown, and the
        /// request is sent again unchanged.
        refused: bool,
        /// `true` if the processor rejected the request because it does not accept payments of this amount.
        amount: bool,
        /// Reason for the failure, to be logged.
        reason: String,
    },
}

/// Refund requested from the processor.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestedRefund {
    /// Internal ID of the refund, part of its idempotency key.
    pub id: Id,
    /// Payment to refund.
    pub payment_id: Id,
    /// The processor's payment intent for the payment.
    pub intent: String,
    /// Amount to refund, in minor units of the payment's currency.
    pub amount_cents: i64,
    /// Time at which an operator requested the refund.
    pub asked_at: Timestamp,
    /// Reason why the processor rejected the refund; `None` if it did not, or has not responded yet.
    pub error: Option<String>,
    /// `true` once the processor has accepted the refund, which is recorded after the refund total of its payment has
    /// been read.
    #[serde(default, rename = "taken")]
    pub is_accepted: bool,
    /// Part of the refund that is already in the ledger, in minor units, because the refund total was read before the
    /// response arrived.
    #[serde(default)]
    pub seen_cents: i64,
}

impl RequestedRefund {
    /// Returns the part of the refund that is not in the ledger, in minor units.
    pub(super) const fn unseen_cents(&self) -> i64 {
        self.amount_cents.saturating_sub(self.seen_cents)
    }
}

/// Payment with a refund that failed after the processor had accepted it. From then on, the refund totals in the
/// payment's events may rise and fall and arrive in any order, so only a total read from the processor is used.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UncertainRefunds {
    /// The processor's payment intent for the payment.
    pub intent: String,
    /// Sequence number of the required read, starting at 1; each event about the payment's refunds requires a new read.
    pub number: u32,
    /// `true` once the required read is done.
    pub read: bool,
    /// Returned money that still has to be refunded by other means, in minor units, minus refunds made since.
    #[serde(default, alias = "waits", deserialize_with = "cents_or_flag")]
    pub waits_cents: i64,
    /// Failed refunds reported by events but not yet confirmed by a read, in minor units. Negative for failures
    /// discovered by a read that no event has reported yet. This balance prevents a failure from being counted twice,
    /// regardless of whether the event or the read comes first.
    #[serde(default)]
    pub told_cents: i64,
    /// The processor's IDs of the most recent refunds that events reported as failed; several events report each
    /// failure.
    #[serde(default)]
    pub failed: Vec<String>,
    /// `true` if the processor does not report the refund total, because the API key may not list refunds or no key is
    /// configured. The totals in events and responses are then used again, until the next refund fails.
    #[serde(default)]
    pub unlisted: bool,
    /// Largest amount that was refunded from the payment at any one time according to events and reads, in minor units,
    /// including refunds that failed later.
    #[serde(default)]
    pub most_back_cents: i64,
    /// `true` if an event reported that the payment was refunded in full.
    #[serde(default)]
    pub was_all_back: bool,
}

impl UncertainRefunds {
    /// Returns whether the given amount of the payment had been refunded in full at some time, regardless of what has
    /// been returned to the shop since.
    pub(super) const fn had_all_back(&self, amount_cents: i64) -> bool {
        self.was_all_back || self.most_back_cents >= amount_cents
    }
}

/// Deserializes the amount that still has to be refunded. Older documents contain only a flag; `true` is read as the
/// smallest amount, which any refund settles.
fn cents_or_flag<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    struct AmountOrFlag;
    impl Visitor<'_> for AmountOrFlag {
        type Value = i64;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an amount in minor units, or whether there is one")
        }
        fn visit_bool<E: Error>(self, waits: bool) -> Result<i64, E> {
            Ok(i64::from(waits))
        }
        fn visit_i64<E: Error>(self, cents: i64) -> Result<i64, E> {
            Ok(cents)
        }
        fn visit_u64<E: Error>(self, cents: u64) -> Result<i64, E> {
            i64::try_from(cents).map_err(E::custom)
        }
    }
    from.deserialize_any(AmountOrFlag)
}

/// Dispute over a payment that the customer's bank is reclaiming (chargeback).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dispute {
    /// The processor's ID for the dispute, such as `dp_...`.
    pub id: String,
    /// State of the dispute.
    pub state: DisputeState,
    /// Disputed amount in minor units of the payment's currency; 0 in documents from older releases, which did not
    /// store it.
    #[serde(default)]
    pub amount_cents: i64,
    /// The processor's payment intent for the payment, if specified.
    #[serde(default)]
    pub intent: Option<String>,
}

/// State of a dispute at the payment processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DisputeState {
    /// The shop can still respond, or the bank has not decided yet.
    Open,
    /// The shop won the dispute and keeps the money.
    Won,
    /// The shop lost the dispute and the money.
    Lost,
}

/// Outcome of creating a session for a checkout.
#[derive(Clone, PartialEq, Debug)]
pub enum CheckoutResult {
    /// The session was created.
    Made {
        /// The processor's ID for the session.
        session: String,
        /// Payment page of the session.
        url: String,
        /// Time at which the processor closes the session automatically.
        expires_at: Timestamp,
    },
    /// No session was created; the fields have the same meaning as in [`CheckoutState::Failed`].
    #[expect(missing_docs, reason = "they are documented on `CheckoutState::Failed`")]
    Failed { refused: bool, amount: bool, reason: String },
}

/// The processor's response to a refund request.
#[derive(Clone, PartialEq, Debug)]
pub enum RefundResult {
    /// The refund was accepted.
    Taken {
        /// Total refunded from the payment so far, in minor units.
        refunded_cents: i64,
    },
    /// The refund was rejected permanently.
    Refused {
        /// Total refunded from the payment so far, in minor units, if the processor reports it.
        refunded_cents: Option<i64>,
        /// Human-readable reason for the rejection.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn doubt(waits: Value) -> Result<UncertainRefunds, String> {
        let stored = json!({"intent": "pi_1", "number": 1, "read": false, "waits": waits});
        serde_json::from_value(stored).map_err(|error| error.to_string())
    }

    #[test]
    fn an_older_release_stored_whether_money_waits() {
        for (waits, cents) in [(json!(true), 1), (json!(false), 0), (json!(-5), -5), (json!(700), 700)] {
            assert_eq!(doubt(waits.clone()).map(|one| one.waits_cents), Ok(cents), "{waits}");
        }
        assert!(doubt(json!(u64::MAX)).is_err());
        let error = doubt(json!("much")).err().unwrap_or_default();
        assert!(error.contains("expected an amount in minor units, or whether there is one"), "{error}");
    }

    #[test]
    fn all_of_a_payment_was_back_once_the_sum_or_the_processor_said_so() {
        let doubt = |most_back_cents, was_all_back| {
            doubt(json!(0)).map(|one| UncertainRefunds { most_back_cents, was_all_back, ..one }.had_all_back(500))
        };
        assert_eq!([doubt(499, false), doubt(500, false), doubt(0, true)], [Ok(false), Ok(true), Ok(true)]);
    }

    #[test]
    fn nothing_is_idle_while_anything_is_asked_of_the_processor() {
        assert!(ProcessorRequests::default().is_idle());
        let closing = ProcessorRequests { closing: vec!["cs_1".to_owned()], ..ProcessorRequests::default() };
        assert!(!closing.is_idle());
    }
}
