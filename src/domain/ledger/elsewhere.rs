//! Money that another shop took and pays back: our own processor has nothing to do with it.

use super::{LedgerChange, Payable as _, Payment, blank, left_by_hand};

/// Records what another shop took.
pub(crate) fn taken_elsewhere<L: LedgerChange>(on: &mut L, amount_cents: i64, method: &str, reference: &str) {
    let (method, reference) = (method.to_owned(), Some(reference.to_owned()));
    let paid = Payment { amount_cents, method, reference, ..blank(on) };
    on.add_payment(paid);
    on.money_came(amount_cents, true);
}

/// Records what another shop paid back of the payment of this method; `sum` is all that it paid back so far. Told
/// twice or late it changes nothing.
pub(crate) fn returned_elsewhere<L: LedgerChange>(on: &mut L, method: &str, sum: i64) {
    let taken = |one: &&Payment| one.method == method && one.amount_cents > 0;
    let Some(paid) = on.owner().ledger_payments().iter().find(taken).cloned() else { return };
    let before = paid.amount_cents - left_by_hand(on.owner(), &paid);
    let more = sum.min(paid.amount_cents) - before;
    if more <= 0 {
        return;
    }
    let refund = Payment {
        amount_cents: -more,
        currency: paid.currency,
        method: paid.method,
        reference: paid.reference,
        refund_of: Some(paid.id),
        ..blank(on)
    };
    on.add_payment(refund);
    on.refund_recorded();
    on.money_went();
}
