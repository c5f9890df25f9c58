//! Refunds that fail after the processor took them: the money is with the shop again, so the books must rise. The
//! processor's events tell sums that come in any order, and sums that may fall cannot be told apart by their size. So
//! from the first failure on what went back of that payment is read at the processor, after each event about it.
//!
//! What came back waits for somebody to give it back otherwise, and is flagged until so much went again: by another
//! refund, at the processor itself, or by other means. Where the processor does not say what went back, the failure is
//! booked as its event told of it, and sums count again.

use super::at_processor::{DoubtedRefunds, MAX_UNDER_WAY, RefundAsked};
use super::received::{record_refund, refunded_of};
use super::refunds::{REFUND_FAILED, flag_refunds, left_there};
use super::{LedgerChange, Payable, Payment};

/// Most ids of failed refunds that are remembered of one payment.
const MAX_FAILED_IDS: usize = 10;

/// What is known of the failed refunds of a payment.
pub(super) fn doubts<'a>(of: &'a impl Payable, intent: Option<&String>) -> Option<&'a DoubtedRefunds> {
    of.under_way().doubted.iter().find(|one| Some(&one.intent) == intent)
}

/// Changes what is known of them.
fn change_doubts<L: LedgerChange>(on: &mut L, intent: &str, change: impl FnOnce(&mut DoubtedRefunds)) {
    if let Some(known) = on.under_way_mut().doubted.iter_mut().find(|one| one.intent == intent) {
        change(known);
    }
}

/// Has what went back of a payment read at the processor, if one of its refunds failed before and the processor says
/// it; says whether it did.
pub(super) fn reads_again<L: LedgerChange>(on: &mut L, intent: Option<&String>) -> bool {
    let Some(intent) = doubts(on.owner(), intent).filter(|one| !one.unlisted).map(|one| one.intent.clone()) else {
        return false;
    };
    change_doubts(on, &intent, |known| {
        known.number = known.number.saturating_add(1);
        known.read = false;
    });
    true
}

/// A refund failed that the processor had taken. It is told by several events, which name the same `refund`.
pub(super) fn refund_failed<L: LedgerChange>(
    on: &mut L,
    amount_cents: i64,
    reason: &str,
    intent: Option<&String>,
    refund: Option<&String>,
) {
    let words = format!("a refund of {amount_cents} did not arrive and is with the shop again: {reason}");
    let Some(intent) = intent else {
        return on.raise_flag(REFUND_FAILED, true, &format!("{words}; give it back otherwise"));
    };
    match (doubts(on.owner(), Some(intent)), refund) {
        (Some(known), Some(refund)) if known.failed.contains(refund) => return,
        // What else fails of this payment shows when it is read.
        (Some(_), None) => {
            reads_again(on, Some(intent));
            return;
        }
        (Some(_), Some(_)) => {}
        (None, _) => begin_doubts(on, intent),
    }
    change_doubts(on, intent, |known| {
        let found = known.told_cents.min(0).saturating_neg().min(amount_cents);
        known.waits_cents = known.waits_cents.saturating_add(amount_cents - found);
        known.told_cents = known.told_cents.saturating_add(amount_cents);
        known.failed.extend(refund.cloned());
        let surplus = known.failed.len().saturating_sub(MAX_FAILED_IDS);
        known.failed.drain(..surplus);
        known.number = known.number.saturating_add(1);
        // Whether the processor says it is asked anew with each failure.
        (known.read, known.unlisted) = (false, false);
    });
    flag_refunds(on, Some(&words));
}

/// Begins to doubt what is told of the refunds of a payment.
fn begin_doubts<L: LedgerChange>(on: &mut L, intent: &str) {
    let under_way = on.under_way_mut();
    under_way.doubted.push(DoubtedRefunds {
        intent: intent.to_owned(),
        number: 0,
        read: false,
        waits_cents: 0,
        told_cents: 0,
        failed: Vec::new(),
        unlisted: false,
    });
    let surplus = under_way.doubted.len().saturating_sub(MAX_UNDER_WAY);
    let dropped: Vec<String> = under_way.doubted.drain(..surplus).map(|one| one.intent).collect();
    // Nothing is read of them any more.
    under_way.refunds.retain(|one| !(one.taken && dropped.contains(&one.intent)));
}

/// What went back of a payment in all, as the processor says now; `None` where it does not say it.
pub(super) fn refunds_read<L: LedgerChange>(on: &mut L, intent: &str, number: u32, refunded_cents: Option<i64>) {
    let wanted = |one: &&DoubtedRefunds| one.intent == intent && one.number == number && !one.read;
    let Some(known) = on.owner().under_way().doubted.iter().find(wanted) else { return };
    let (told, name) = (known.told_cents, known.intent.clone());
    let before = refunded_of(on.owner(), Some(&name));
    let taken = end_taken(on, intent);
    let expected = before.saturating_add(taken);
    // What is there, if nothing happened but what was told of.
    let covered = told.clamp(0, expected);
    let base = expected - covered;
    let sum = refunded_cents.unwrap_or(base);
    let (more, found) = (sum.saturating_sub(base).max(0), base.saturating_sub(sum).max(0));
    see_asked(on, Some(&name), more);
    change_doubts(on, intent, |known| {
        (known.read, known.unlisted) = (true, refunded_cents.is_none());
        let left = known.waits_cents.saturating_sub(taken).saturating_sub(more);
        known.waits_cents = left.max(0).saturating_add(found);
        known.told_cents = told.saturating_sub(covered).saturating_sub(found);
    });
    if sum > before {
        let paid = on.owner().ledger_payments().iter().find(|one| one.is_named(Some(&name), None));
        let whole = paid.is_some_and(|paid| sum >= paid.amount_cents);
        record_refund(on, sum - before, whole, None, Some(&name));
    }
    let back = before.saturating_sub(sum);
    if back > 0 {
        came_back(on, intent, back);
        let words = format!("{back} of what was paid back did not arrive and is with the shop again");
        flag_refunds(on, Some(&words));
        let owner = on.owner();
        let paid = owner.ledger_payments().iter().find(|one| one.is_named(Some(&name), None));
        match paid.map(|paid| paid.currency == owner.ledger_currency()) {
            // It may be what was still to be paid.
            Some(own) => on.money_came(back, own),
            None => on.money_went(),
        }
    }
    flag_refunds(on, None);
}

/// So much more went back than was known of: that may be refunds that were asked for here and not answered yet.
pub(super) fn see_asked<L: LedgerChange>(on: &mut L, intent: Option<&String>, cents: i64) {
    let waits = |one: &RefundAsked| one.error.is_none() && !one.taken && Some(&one.intent) == intent;
    if cents <= 0 || !on.owner().under_way().refunds.iter().any(waits) {
        return;
    }
    let mut rest = cents;
    for one in on.under_way_mut().refunds.iter_mut().filter(|one| waits(one)) {
        let part = one.unseen_cents().min(rest);
        one.seen_cents = one.seen_cents.saturating_add(part);
        rest -= part;
    }
}

/// Ends the refunds of a payment that the processor has taken: they are booked now. Gives what was not in the books of
/// them, in minor units.
fn end_taken<L: LedgerChange>(on: &mut L, intent: &str) -> i64 {
    let of_it = |one: &RefundAsked| one.taken && one.intent == intent;
    let taken = on.owner().under_way().refunds.iter().filter(|one| of_it(one));
    let (count, sum) = taken.fold((0, 0), |(count, sum): (u32, i64), one| {
        (count.saturating_add(1), sum.saturating_add(one.unseen_cents()))
    });
    if count > 0 {
        on.under_way_mut().refunds.retain(|one| !of_it(one));
    }
    sum
}

/// So much more of a payment went back: less of what came back of it waits.
pub(super) fn went_again<L: LedgerChange>(on: &mut L, intent: Option<&String>, cents: i64) {
    let Some(intent) = doubts(on.owner(), intent).filter(|_| cents > 0).map(|one| one.intent.clone()) else { return };
    change_doubts(on, &intent, |known| known.waits_cents = known.waits_cents.saturating_sub(cents).max(0));
    flag_refunds(on, None);
}

/// What came back of the refunds of a payment and nobody is giving back, in minor units.
pub(super) fn waiting(of: &impl Payable, known: &DoubtedRefunds) -> i64 {
    let asked = of.under_way().refunds.iter().filter(|one| one.error.is_none() && one.intent == known.intent);
    let asked = asked.fold(0, |sum: i64, one| sum.saturating_add(one.unseen_cents()));
    let paid = of.ledger_payments().iter().find(|one| one.is_named(Some(&known.intent), None));
    // Before it was read the books count what failed as gone.
    let most = paid.filter(|_| known.read).map_or(i64::MAX, |paid| left_there(of, paid));
    known.waits_cents.min(most).saturating_sub(asked).max(0)
}

/// Notes on the refunds of a payment, the newest first, that so much of them did not arrive.
fn came_back<L: LedgerChange>(on: &mut L, intent: &str, cents: i64) {
    let mut left = cents;
    for at in (0..on.owner().ledger_payments().len()).rev() {
        let Some(refund) = on.owner().ledger_payments().get(at).filter(|one| one.is_refund_of(intent)) else {
            continue;
        };
        let failed = refund.went_cents().min(left);
        if failed > 0 {
            left -= failed;
            let known = Payment { failed_cents: refund.failed_cents.saturating_add(failed), ..refund.clone() };
            on.replace_payment(at, known);
        }
    }
}
