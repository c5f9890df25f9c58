//! What is under way at the payment processor: the checkout by which something is to be paid, sessions that are to be
//! closed there, and refunds that were asked for.
//!
//! All of it is in the owner's own commit before anything is sent, and each request carries a key that follows from it
//! (`order-{id}-{number}`, `invoice-{id}-{number}`, `refund-{id}`). So whatever ends the process, the request is sent
//! again afterwards, and the processor answers it as the same one.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::domain::id::Id;
use crate::domain::time::Timestamp;

/// Most sessions that wait to be closed, and most refunds that wait or failed. A session that falls off ends by itself
/// within a day.
pub(super) const MAX_UNDER_WAY: usize = 20;

/// What is under way at the payment processor.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AtProcessor {
    /// How many checkouts were begun; the last number is part of the key under which its session is made.
    pub checkouts: u32,
    /// The checkout by which the amount due can be paid; `None` while there is none.
    pub checkout: Option<Checkout>,
    /// Sessions that must not be paid any more, until the processor says that they are closed.
    pub closing: Vec<String>,
    /// Refunds that the processor was asked for: those that it has not answered, those that it refused, and those that
    /// it took while what went back of their payment is being read.
    pub refunds: Vec<RefundAsked>,
    /// Payments of which a refund failed after the processor had taken it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubted: Vec<DoubtedRefunds>,
    /// Payments that the customer's bank takes back, or took.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disputes: Vec<Dispute>,
    /// Tries to pay that brought no money, the latest ones. One of which money came after all does not count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_tries: Vec<FailedTry>,
}

impl AtProcessor {
    /// Whether there is nothing to remember.
    pub fn is_idle(&self) -> bool {
        *self == Self::default()
    }
}

/// A try to pay that brought no money.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedTry {
    /// The processor's payment intent of it, if named.
    pub intent: Option<String>,
    /// The processor's checkout session of it, if named.
    pub session: Option<String>,
}

/// A checkout of the amount that was due when it was begun.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkout {
    /// Counts the checkouts of the owner from 1.
    pub number: u32,
    /// What is to be paid, in minor units of the owner's currency.
    pub amount_cents: i64,
    /// What the customer reads that they pay for; `None` in checkouts of older releases, which were all of orders.
    #[serde(default)]
    pub title: Option<String>,
    /// Where the customer is sent after paying.
    pub success_url: String,
    /// Where the customer is sent who gives up.
    pub cancel_url: String,
    /// How far it is.
    pub state: CheckoutState,
}

/// How far a checkout is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckoutState {
    /// Its session is being made.
    Wanted,
    /// Its session can be paid, as far as is known here.
    #[serde(rename_all = "camelCase")]
    Open {
        /// The processor's id of it.
        session: String,
        /// The page on which it is paid.
        url: String,
        /// When the processor closes it by itself.
        expires_at: Timestamp,
    },
    /// No session came of it, and nothing is tried until somebody asks again.
    #[serde(rename_all = "camelCase")]
    Failed {
        /// Whether the processor said no, or that it could not. Else nobody knows what became of the request, and it is
        /// repeated as it was.
        refused: bool,
        /// Whether it said no because of the amount, which it takes no payments of.
        amount: bool,
        /// Why, in words for the log.
        reason: String,
    },
}

/// A refund that the processor was asked for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefundAsked {
    /// Identifier of the refund here; part of the key under which it is asked for.
    pub id: Id,
    /// The payment that goes back.
    pub payment_id: Id,
    /// The processor's payment intent of it.
    pub intent: String,
    /// How much goes back, in minor units of the payment's currency.
    pub amount_cents: i64,
    /// When an operator asked for it.
    pub asked_at: Timestamp,
    /// Why the processor refused it; `None` while it has not answered.
    pub error: Option<String>,
    /// Whether the processor has taken it. It is in the books once what went back of its payment was read.
    #[serde(default)]
    pub taken: bool,
    /// How much of it is in the books already, in minor units: what went back was read before the answer was heard.
    #[serde(default)]
    pub seen_cents: i64,
}

impl RefundAsked {
    /// How much of it is not in the books, in minor units.
    pub(super) const fn unseen_cents(&self) -> i64 {
        self.amount_cents.saturating_sub(self.seen_cents)
    }
}

/// A payment of which a refund failed after the processor had taken it. What its events say went back in all may rise
/// and fall from then on, and they come in any order: only what is read there counts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DoubtedRefunds {
    /// The processor's payment intent of it.
    pub intent: String,
    /// Counts from 1 how often it had to be read, which each event about its refunds calls for.
    pub number: u32,
    /// Whether that reading is done.
    pub read: bool,
    /// What came back and waits for somebody to give it back otherwise, in minor units; less what went since.
    #[serde(default, alias = "waits", deserialize_with = "cents_or_flag")]
    pub waits_cents: i64,
    /// Failures that events told of and no reading has found yet, in minor units. Below 0: what a reading found, and no
    /// event has told of yet. So that neither counts twice, whichever comes first.
    #[serde(default)]
    pub told_cents: i64,
    /// The processor's ids of the refunds that events told of as failed, the latest ones: each is told of by several.
    #[serde(default)]
    pub failed: Vec<String>,
    /// Whether the processor does not say what went back, because the key may not list refunds or there is none. What
    /// events and answers say counts again then, until another refund fails.
    #[serde(default)]
    pub unlisted: bool,
}

/// Reads what waits. Older documents say only that something does: that counts as the smallest amount, which any refund
/// settles.
fn cents_or_flag<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    struct KeptWaits;
    impl Visitor<'_> for KeptWaits {
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
    from.deserialize_any(KeptWaits)
}

/// A payment that the customer's bank takes back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dispute {
    /// The processor's id of it, `dp_...`.
    pub id: String,
    /// How it stands.
    pub state: DisputeState,
    /// How much it is about, in minor units of the payment's currency; 0 in documents of older releases, which did not
    /// keep it.
    #[serde(default)]
    pub amount_cents: i64,
    /// The processor's payment intent of the payment, if named.
    #[serde(default)]
    pub intent: Option<String>,
}

/// How a dispute stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DisputeState {
    /// The shop can answer it, or the bank decides.
    Open,
    /// The shop keeps the money.
    Won,
    /// The money is gone.
    Lost,
}

/// What came of making the session of a checkout.
#[derive(Clone, PartialEq, Debug)]
pub enum CheckoutNews {
    /// There is a session.
    Made {
        /// The processor's id of it.
        session: String,
        /// The page on which it is paid.
        url: String,
        /// When the processor closes it by itself.
        expires_at: Timestamp,
    },
    /// There is none; the members are those of [`CheckoutState::Failed`].
    #[expect(missing_docs, reason = "they are described where they are kept")]
    Failed { refused: bool, amount: bool, reason: String },
}

/// What the processor says of a refund.
#[derive(Clone, PartialEq, Debug)]
pub enum RefundNews {
    /// It was taken.
    Taken {
        /// All that went back of the payment so far, in minor units.
        refunded_cents: i64,
    },
    /// It was refused, and will be whenever it is asked for.
    Refused {
        /// All that went back of the payment so far, in minor units, where the processor says it.
        refunded_cents: Option<i64>,
        /// Why, in words for people.
        reason: String,
    },
}
