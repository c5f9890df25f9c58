//! Money that a different shop collects and refunds, without our own processor.

use super::refunds::given_back;
use super::{LedgerEdit, Payment};

/// Records a payment collected by a different shop.
pub(crate) fn taken_elsewhere(on: &mut LedgerEdit<'_>, amount_cents: i64, method: &str, reference: &str) {
    let (method, reference) = (method.to_owned(), Some(reference.to_owned()));
    let paid = Payment { amount_cents, method, reference, ..on.blank() };
    on.add_payment(paid);
    on.money_came(amount_cents, true);
}

/// Records refunds made by a different shop for the payment with the given method; `sum` is the total refunded so far.
/// Idempotent: a duplicate or late report changes nothing. Refunds that an operator made by other means are not part of
/// the total.
pub(crate) fn returned_elsewhere(on: &mut LedgerEdit<'_>, method: &str, sum: i64) {
    let is_payment = |one: &&Payment| one.method == method && one.amount_cents > 0;
    let Some(paid) = on.ledger.payments.iter().find(is_payment).cloned() else { return };
    let refunds = on.ledger.payments.iter().filter(|one| one.refund_of == Some(paid.id));
    let same_method = refunds.filter(|one| one.method == paid.method);
    let before = same_method.fold(0, |sum: i64, one| sum.saturating_add(one.went_cents()));
    let more = sum.min(paid.amount_cents).saturating_sub(before);
    if more <= 0 {
        return;
    }
    given_back(on, &paid, more, &paid.method, paid.reference.as_ref());
}
