//! Stored form of a payment or refund.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::PROCESSOR;
use crate::id::Id;
use crate::time::Timestamp;

/// Payment, or refund of a payment (negative amount). The amount never changes; a payment initially identified only by
/// its checkout session gets its intent later.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payment {
    /// Identifier of the payment.
    pub id: Id,
    /// Order, or invoice without an order, that the payment belongs to.
    #[serde(alias = "orderId")]
    pub owner_id: Id,
    /// Amount in minor units of `currency`; negative for a refund.
    pub amount_cents: i64,
    /// ISO 4217 code in lowercase, which may differ from the owner's currency because a processor's event is recorded
    /// as received.
    pub currency: String,
    /// Payment method: [`PROCESSOR`] for an event from the payment processor, `dispute` for money reclaimed by the
    /// customer's bank, otherwise the method entered by the operator.
    pub method: String,
    /// The processor's payment intent (or checkout session, if the intent is unknown), the processor's ID for a lost
    /// dispute, or the operator's own reference. A refund by the processor belongs to the payment with the same
    /// reference.
    pub reference: Option<String>,
    /// The processor's checkout session, used to recognise further events about the same payment.
    #[serde(default)]
    pub session: Option<String>,
    /// `true` for a refund if the processor reports that it leaves nothing of the payment.
    #[serde(default)]
    pub whole: bool,
    /// Payment that was refunded, if the money was returned by means other than a processor refund.
    #[serde(default)]
    pub refund_of: Option<Id>,
    /// Part of a processor refund that failed and was returned to the shop, in minor units.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub failed_cents: i64,
    /// Time at which the payment was recorded, which may be later than the time at which the money moved.
    pub created_at: Timestamp,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a reference")]
fn is_nothing(cents: &i64) -> bool {
    *cents == 0
}

impl Payment {
    /// Returns the payment's contribution to the balance, in minor units: its amount, plus any part of a refund that
    /// failed.
    pub fn net_cents(&self) -> i64 {
        self.amount_cents.saturating_add(self.failed_cents)
    }

    /// Returns the part of a refund that reached the customer, in minor units; 0 for a payment.
    pub fn went_cents(&self) -> i64 {
        self.net_cents().saturating_neg().max(0)
    }

    /// Returns whether this is a refund that leaves nothing of its payment.
    pub(crate) fn took_all(&self) -> bool {
        self.whole && self.failed_cents == 0
    }

    /// Returns the amount to list, in minor units, and its status: `succeeded`, `refunded` or, for a refund that
    /// failed, `failed`. The amounts of all entries that did not fail add up to the balance.
    pub fn listed(&self) -> (i64, &'static str) {
        match self.net_cents() {
            0 if self.failed_cents > 0 => (self.amount_cents, "failed"),
            net if self.amount_cents < 0 => (net, "refunded"),
            net => (net, "succeeded"),
        }
    }

    /// Returns the reference that customers may see, which is the reference of a card payment. References entered by
    /// operators are internal.
    pub fn shown_reference(&self) -> Option<&str> {
        self.reference.as_deref().filter(|_| self.method == PROCESSOR)
    }

    /// Returns whether this is a payment, rather than a refund, that the processor reported.
    pub fn of_processor(&self) -> bool {
        self.method == PROCESSOR && self.amount_cents >= 0
    }

    /// Returns whether this is a refund for the given intent that the processor reported.
    pub(crate) fn is_refund_of(&self, intent: &str) -> bool {
        self.method == PROCESSOR && self.amount_cents < 0 && self.reference.as_deref() == Some(intent)
    }

    /// Returns whether this is the processor payment with the given intent or session.
    pub(crate) fn is_named(&self, intent: Option<&String>, session: Option<&String>) -> bool {
        let own = [self.reference.as_ref(), self.session.as_ref()];
        self.of_processor() && [intent, session].into_iter().flatten().any(|name| own.contains(&Some(name)))
    }
}

/// Returns the balance of the given payments and refunds per currency, in minor units.
pub fn kept_by_currency<'a>(payments: impl IntoIterator<Item = &'a Payment>) -> BTreeMap<&'a str, i64> {
    let mut totals = BTreeMap::new();
    for payment in payments {
        let sum: &mut i64 = totals.entry(payment.currency.as_str()).or_default();
        *sum = sum.saturating_add(payment.net_cents());
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_back_is_taken_off_in_its_own_currency() {
        let payment = |amount_cents: i64, currency: &str, failed_cents: i64| Payment {
            id: Id::ONLY,
            owner_id: Id::ONLY,
            amount_cents,
            currency: currency.to_owned(),
            method: "cash".to_owned(),
            reference: None,
            session: None,
            whole: false,
            refund_of: None,
            failed_cents,
            created_at: Timestamp(0),
        };
        let all = [payment(500, "usd", 0), payment(700, "eur", 0), payment(-200, "usd", 0), payment(-100, "eur", 100)];
        assert_eq!(kept_by_currency(&all), BTreeMap::from([("eur", 700), ("usd", 300)]));
    }

    fn of_processor(amount_cents: i64, failed_cents: i64) -> Payment {
        Payment {
            id: Id::ONLY,
            owner_id: Id::ONLY,
            amount_cents,
            currency: "usd".to_owned(),
            method: PROCESSOR.to_owned(),
            reference: Some("pi_1".to_owned()),
            session: Some("cs_1".to_owned()),
            whole: true,
            refund_of: None,
            failed_cents,
            created_at: Timestamp(0),
        }
    }

    #[test]
    fn a_refund_that_failed_went_nowhere() {
        for (amount, failed, net, went, took_all, listed) in [
            (500, 0, 500, 0, true, (500, "succeeded")),
            (0, 0, 0, 0, true, (0, "succeeded")),
            (-500, 0, -500, 500, true, (-500, "refunded")),
            (-500, 200, -300, 300, false, (-300, "refunded")),
            (-500, 500, 0, 0, false, (-500, "failed")),
        ] {
            let one = of_processor(amount, failed);
            assert_eq!((one.net_cents(), one.went_cents(), one.took_all()), (net, went, took_all), "{amount} {failed}");
            assert_eq!(one.listed(), listed, "{amount} {failed}");
            assert_eq!(serde_json::to_value(&one).ok().map(|one| one.get("failedCents").is_some()), Some(failed != 0));
        }
        assert!(!Payment { whole: false, ..of_processor(-500, 0) }.took_all());
    }

    #[test]
    fn payments_of_the_processor_are_known_by_their_intent_or_session() {
        let [paid, refund, nothing] = [500, -500, 0].map(|amount| of_processor(amount, 0));
        let by_hand = Payment { method: "cash".to_owned(), ..paid.clone() };
        let back_by_hand = Payment { method: "cash".to_owned(), ..refund.clone() };
        let all = [&paid, &refund, &by_hand, &back_by_hand, &nothing];
        assert_eq!(all.map(Payment::of_processor), [true, false, false, false, true]);
        assert_eq!(all.map(|one| one.is_refund_of("pi_1")), [false, true, false, false, false]);
        assert!(!refund.is_refund_of("pi_2"));
        assert_eq!(all.map(Payment::shown_reference), [Some("pi_1"), Some("pi_1"), None, None, Some("pi_1")]);
        let [intent, session, other] = ["pi_1", "cs_1", "pi_2"].map(str::to_owned);
        for (intent, session, is_named) in [
            (Some(&intent), None, true),
            (None, Some(&session), true),
            (Some(&other), Some(&session), true),
            (Some(&session), None, true),
            (Some(&other), None, false),
            (None, None, false),
        ] {
            assert_eq!(paid.is_named(intent, session), is_named, "{intent:?} {session:?}");
            assert!(!refund.is_named(intent, session) && !by_hand.is_named(intent, session));
        }
    }
}
