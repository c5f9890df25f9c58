//! What an order has received and kept, added up from its payments and refunds.
//!
//! A refund takes away from the payment that it names and from no other, and from nothing before that payment is heard
//! of: events arrive in any order. The sums follow from the set of rows alone, never from the order of their arrival.

use std::collections::BTreeMap;

use super::{Order, PROCESSOR, Payment};
use crate::domain::id::Id;

/// The sums of an order's payments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Books {
    /// Kept in the order's currency: payments less their refunds, in minor units.
    pub(super) kept: i64,
    /// Whether money of another currency is kept, which never counts as paid.
    pub(super) foreign: bool,
    /// Whether the processor took another amount or currency than was due, and that is still kept.
    pub(super) mismatch: bool,
}

impl Payment {
    /// Whether it is a payment that the processor reported, and no refund.
    pub(super) fn of_processor(&self) -> bool {
        self.method == PROCESSOR && self.amount_cents >= 0
    }

    /// Whether this is the processor's payment of that intent or session.
    pub(super) fn is_named(&self, intent: Option<&String>, session: Option<&String>) -> bool {
        let own = [self.reference.as_ref(), self.session.as_ref()];
        self.of_processor() && [intent, session].into_iter().flatten().any(|name| own.contains(&Some(name)))
    }
}

impl Order {
    /// Brings `kept_cents` in line with the payments. Documents of older releases do not have it, and rules that judge
    /// the next payment start from it.
    pub fn count_kept(&mut self) {
        self.kept_cents = self.books().kept;
    }

    /// Adds up the payments and refunds.
    pub(super) fn books(&self) -> Books {
        // By the reference that the refunds name: what went back in minor units, and whether it was all.
        let mut back: BTreeMap<Option<&str>, (i64, bool)> = BTreeMap::new();
        for refund in self.payments.iter().filter(|one| one.method == PROCESSOR && one.amount_cents < 0) {
            let sum = back.entry(refund.reference.as_deref()).or_default();
            *sum = (sum.0.saturating_sub(refund.amount_cents), sum.1 || refund.whole);
        }
        let mut by_hand: BTreeMap<Id, i64> = BTreeMap::new();
        for refund in self.payments.iter().filter(|one| one.amount_cents < 0) {
            if let Some(of) = refund.refund_of {
                let sum = by_hand.entry(of).or_default();
                *sum = sum.saturating_sub(refund.amount_cents);
            }
        }
        let mut books = Books { kept: 0, foreign: false, mismatch: false };
        let mut by_processor = 0i64;
        for payment in self.payments.iter().filter(|one| one.amount_cents >= 0) {
            let own = payment.currency == self.currency;
            let named = payment.reference.as_deref().filter(|_| payment.of_processor());
            let (went, whole) = named.and_then(|name| back.get(&Some(name)).copied()).unwrap_or_default();
            let went = went.saturating_add(by_hand.get(&payment.id).copied().unwrap_or_default());
            let kept = if whole { 0 } else { payment.amount_cents.saturating_sub(went).max(0) };
            match (own, payment.of_processor()) {
                (true, true) => by_processor = by_processor.saturating_add(kept),
                (true, false) => books.kept = books.kept.saturating_add(kept),
                (false, _) => books.foreign |= kept > 0,
            }
            let as_due = payment.due_cents.is_none_or(|due| own && due == payment.amount_cents);
            books.mismatch |= kept > 0 && payment.of_processor() && !as_due;
        }
        // A refund that names no payment can only be of one of the processor's.
        let unnamed = back.get(&None).map_or(0, |(went, _)| *went);
        books.kept = books.kept.saturating_add(by_processor.saturating_sub(unnamed).max(0));
        // Once exactly the total is there and nothing else, it does not matter in which parts it came.
        books.mismatch &= books.foreign || books.kept != self.total_cents;
        books
    }

    /// What is left of a payment that was not made through the processor, in minor units.
    pub(super) fn left_of(&self, payment: &Payment) -> i64 {
        let refunds = self.payments.iter().filter(|one| one.refund_of == Some(payment.id));
        refunds.fold(payment.amount_cents, |left, refund| left.saturating_add(refund.amount_cents)).max(0)
    }

    /// What went back so far in the order's currency, in minor units.
    pub(super) fn refunded_cents(&self) -> i64 {
        let refunds = self.payments.iter().filter(|one| one.amount_cents < 0 && one.currency == self.currency);
        refunds.fold(0, |sum: i64, refund| sum.saturating_sub(refund.amount_cents))
    }
}
