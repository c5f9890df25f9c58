//! Totals of a ledger, calculated from its payments and refunds.
//!
//! A refund reduces only the payment that it refers to, and has no effect until that payment is known, because events
//! arrive in any order. The totals depend only on the set of the processor's entries, never on the order in which they
//! arrive. Only manual payments and refunds are recorded as they happen, so their balance has a history.

use std::collections::{BTreeMap, BTreeSet};

use super::failed::doubts;
use super::{LOST_DISPUTE, Ledger, LedgerTerms, PROCESSOR, Payment};
use crate::id::Id;

/// Totals of a ledger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LedgerSums {
    /// Payments minus refunds in the owner's currency, in minor units.
    pub(crate) kept_cents: i64,
    /// Amount received in the owner's currency, in minor units: all payments through the processor, regardless of later
    /// refunds, plus the balance of manual payments, which are recorded as they are made. The operator who recorded a
    /// manual payment saw the refunds made until then, so money refunded earlier is not treated as received: if less
    /// was paid than was due, the rest remains to be paid.
    pub(crate) received: i64,
    /// `true` if the shop holds money in a currency other than the owner's, which is never treated as payment.
    pub(crate) foreign: bool,
    /// `true` if the processor collected an amount or currency other than what was due and the shop still holds it:
    /// neither the balance nor the total of the payments that are not fully refunded equals the amount due.
    pub(crate) mismatch: bool,
    /// `true` if nothing is left of the money received. A payment that had been refunded in full is treated as gone
    /// even if one of its refunds failed later, because the failure may be reported first. If more than the total was
    /// received, only the balance is considered, because a payment refunded in full may then be the surplus.
    pub(crate) all_went: bool,
}

/// Adds up the payments and refunds.
pub(crate) fn books(of: &Ledger, terms: &LedgerTerms) -> LedgerSums {
    let payments = &of.payments;
    // By the reference that the refunds name: what went back in minor units, and whether it was all.
    let mut back: BTreeMap<Option<&str>, (i64, bool)> = BTreeMap::new();
    for refund in payments.iter().filter(|one| one.method == PROCESSOR && one.amount_cents < 0) {
        let sum = back.entry(refund.reference.as_deref()).or_default();
        *sum = (sum.0.saturating_add(refund.went_cents()), sum.1 || refund.took_all());
    }
    // By the payment of which it went: what was given back otherwise or lost to the customer's bank, and the latter.
    let mut by_hand: BTreeMap<Id, (i64, i64)> = BTreeMap::new();
    for refund in payments.iter().filter(|one| one.amount_cents < 0) {
        if let Some(of) = refund.refund_of {
            let (sum, lost) = by_hand.entry(of).or_default();
            *sum = sum.saturating_add(refund.went_cents());
            *lost = lost.saturating_add(if refund.method == LOST_DISPUTE { refund.went_cents() } else { 0 });
        }
    }
    let balances = balances_by_hand(of, terms);
    // What was recorded before the last money by hand.
    let is_by_hand = |one: &Payment| one.amount_cents > 0 && !one.of_processor() && one.currency == terms.currency;
    let earlier = &payments[..payments.iter().rposition(is_by_hand).unwrap_or_default()];
    let mut books = LedgerSums { kept_cents: 0, received: 0, foreign: false, mismatch: false, all_went: false };
    // Of the processor's payments what is kept, the amounts of those that did not go back whole, and what is kept of
    // those that never did.
    let (mut by_processor, mut standing, mut never_back) = (0i64, 0i64, 0i64);
    // What a checkout can have asked for: all, or what money by hand left to pay.
    let may_be_asked: BTreeSet<i64> =
        balances.iter().map(|balance| terms.total_cents.saturating_sub(*balance)).collect();
    for (at, payment) in payments.iter().enumerate().filter(|(_, one)| one.amount_cents >= 0) {
        let own = payment.currency == terms.currency;
        let named = payment.reference.as_deref().filter(|_| payment.of_processor());
        let (went, whole) = named.and_then(|name| back.get(&Some(name)).copied()).unwrap_or_default();
        let (otherwise, lost) = by_hand.get(&payment.id).copied().unwrap_or_default();
        let went = went.saturating_add(otherwise);
        let kept_cents = if whole { 0 } else { payment.amount_cents.saturating_sub(went).max(0) };
        match (own, payment.of_processor()) {
            (true, true) => {
                by_processor = by_processor.saturating_add(kept_cents);
                let doubted = doubts(of, payment.reference.as_ref());
                let was_back = doubted.is_some_and(|one| one.had_all_back(payment.amount_cents.saturating_sub(lost)));
                never_back = never_back.saturating_add(if was_back { 0 } else { kept_cents });
                let came = if at < earlier.len() { left_of(payment, earlier) } else { payment.amount_cents };
                books.received = books.received.saturating_add(came);
                standing = standing.saturating_add(if kept_cents > 0 { payment.amount_cents } else { 0 });
            }
            (true, false) => books.kept_cents = books.kept_cents.saturating_add(kept_cents),
            (false, _) => books.foreign |= kept_cents > 0,
        }
        let as_due = own && may_be_asked.contains(&payment.amount_cents);
        books.mismatch |= kept_cents > 0 && payment.of_processor() && !as_due;
    }
    // So far only money by hand is in what is kept.
    never_back = never_back.saturating_add(books.kept_cents);
    let unnamed = earlier.iter().filter(|one| one.method == PROCESSOR && one.reference.is_none());
    let unnamed = unnamed.fold(0, |sum: i64, one| sum.saturating_add(one.went_cents()));
    books.received = books.received.saturating_sub(unnamed).max(0).saturating_add(books.kept_cents);
    standing = standing.saturating_add(books.kept_cents);
    // A refund that names no payment can only be of one of the processor's.
    let unnamed = back.get(&None).map_or(0, |(went, _)| *went);
    books.kept_cents = books.kept_cents.saturating_add(by_processor.saturating_sub(unnamed).max(0));
    // Once exactly the total is there, or came, and nothing else, it does not matter in which parts. A part that went
    // back whole is none: it may have gone back before the others came, and a person looks at what they leave.
    let total = terms.total_cents;
    books.all_went = books.kept_cents <= 0 || (never_back <= 0 && books.received <= total);
    books.mismatch &= books.foreign || (books.kept_cents != total && standing != total);
    books
}

/// Returns the amount of a processor payment that remains after the given entries, in minor units.
fn left_of(payment: &Payment, entries: &[Payment]) -> i64 {
    let mut left = payment.amount_cents;
    for refund in entries.iter().filter(|one| one.amount_cents < 0) {
        let is_named = payment.reference.as_deref().is_some_and(|intent| refund.is_refund_of(intent));
        if is_named && refund.took_all() {
            return 0;
        }
        if is_named || refund.refund_of == Some(payment.id) {
            left = left.saturating_sub(refund.went_cents());
        }
    }
    left.max(0)
}

/// Returns all balances that the manual payments in the owner's currency have had over time, in minor units; 0 is
/// always included.
fn balances_by_hand(of: &Ledger, terms: &LedgerTerms) -> BTreeSet<i64> {
    let payments = &of.payments;
    let by_hand = |one: &&Payment| one.amount_cents >= 0 && !one.of_processor() && one.currency == terms.currency;
    let of_hand: BTreeSet<Id> = payments.iter().filter(by_hand).map(|one| one.id).collect();
    let moves = payments.iter().filter_map(|one| match one.refund_of {
        None if of_hand.contains(&one.id) => Some(one.amount_cents),
        Some(payment) if of_hand.contains(&payment) => Some(one.net_cents()),
        _ => None,
    });
    let mut balance = 0i64;
    std::iter::once(0)
        .chain(moves.map(|cents| {
            balance = balance.saturating_add(cents);
            balance
        }))
        .collect()
}

/// Returns the amount of a payment that remains after the refunds made outside of the processor, in minor units.
pub(crate) fn left_by_hand(of: &Ledger, payment: &Payment) -> i64 {
    let refunds = of.payments.iter().filter(|one| one.refund_of == Some(payment.id));
    refunds.fold(payment.amount_cents, |left, refund| left.saturating_sub(refund.went_cents())).max(0)
}

/// Returns the total refunded so far in the given currency, in minor units.
pub(super) fn refunded_cents(of: &Ledger, currency: &str) -> i64 {
    let refunds = of.payments.iter().filter(|one| one.amount_cents < 0);
    let own = refunds.filter(|one| one.currency == currency);
    own.fold(0, |sum: i64, refund| sum.saturating_add(refund.went_cents()))
}
