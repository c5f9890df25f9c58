//! Refunds that fail after the processor has accepted them. The money has been returned to the shop, so the balance in
//! the ledger must rise. The processor's events carry totals in any order, and once totals may fall, their size no
//! longer shows which is newest. From the first failure on, the refund total of that payment is therefore read from the
//! processor after each event about the payment.
//!
//! The returned money must still be refunded, and is flagged until that amount has been refunded again: by a new
//! refund, directly at the processor, or by other means. If the processor does not report the refund total, the failure
//! is recorded as stated in its event, and totals in events are used again.

use super::at_processor::{MAX_UNDER_WAY, RequestedRefund, UncertainRefunds};
use super::received::{record_refund, refunded_of};
use super::refunds::{REFUND_FAILED, flag_refunds, left_there};
use super::{Ledger, LedgerEdit, Payment};

/// Maximum number of IDs of failed refunds stored per payment.
const MAX_FAILED_IDS: usize = 10;

/// Returns the record of a payment's failed refunds, if any.
pub(super) fn doubts<'a>(of: &'a Ledger, intent: Option<&String>) -> Option<&'a UncertainRefunds> {
    of.at_processor.doubted.iter().find(|one| Some(&one.intent) == intent)
}

/// Modifies the record of a payment's failed refunds, if any.
fn change_doubts(on: &mut LedgerEdit<'_>, intent: &str, change: impl FnOnce(&mut UncertainRefunds)) {
    if let Some(doubt) = on.requests_mut().doubted.iter_mut().find(|one| one.intent == intent) {
        change(doubt);
    }
}

/// Requests a new read of a payment's refund total from the processor, if one of its refunds failed before and the
/// processor reports totals. Returns whether the read was requested.
pub(super) fn reads_again(on: &mut LedgerEdit<'_>, intent: Option<&String>) -> bool {
    let Some(intent) = doubts(on.ledger, intent).filter(|one| !one.unlisted).map(|one| one.intent.clone()) else {
        return false;
    };
    change_doubts(on, &intent, |doubt| {
        doubt.number = doubt.number.saturating_add(1);
        doubt.read = false;
    });
    true
}

/// Records how much of a payment had been refunded according to an event or a read; `whole` is `true` if it was
/// everything. The amount is stored for payments with failed refunds, because a refunded owner stays refunded when the
/// money is returned, whichever is reported first. Returns whether the record changed.
pub(super) fn note_back(on: &mut LedgerEdit<'_>, intent: Option<&String>, cents: i64, whole: bool) -> bool {
    let Some(doubt) = doubts(on.ledger, intent) else { return false };
    let (name, most) = (doubt.intent.clone(), doubt.most_back_cents.max(cents));
    let is_news = most > doubt.most_back_cents || (whole && !doubt.was_all_back);
    if is_news {
        change_doubts(on, &name, |doubt| {
            doubt.most_back_cents = most;
            doubt.was_all_back |= whole;
        });
    }
    is_news
}

/// Records the failure of a refund that the processor had accepted. Several events report the same failure, each with
/// the same `refund`.
pub(super) fn refund_failed(
    on: &mut LedgerEdit<'_>,
    amount_cents: i64,
    reason: &str,
    intent: Option<&String>,
    refund: Option<&String>,
) {
    let amount = on.amount_text(amount_cents, intent);
    let words = format!("a refund of {amount} failed, and the money is back with the shop: {reason}");
    let Some(intent) = intent else {
        return on.raise_flag(REFUND_FAILED, true, &format!("{words}; refund it in another way"));
    };
    match (doubts(on.ledger, Some(intent)), refund) {
        (Some(doubt), Some(refund)) if doubt.failed.contains(refund) => return,
        // What else fails of this payment shows when it is read.
        (Some(_), None) => {
            reads_again(on, Some(intent));
            return;
        }
        (Some(_), Some(_)) => {}
        (None, _) => begin_doubts(on, intent),
    }
    change_doubts(on, intent, |doubt| {
        let offset = doubt.told_cents.min(0).saturating_neg().min(amount_cents);
        doubt.waits_cents = doubt.waits_cents.saturating_add(amount_cents - offset);
        doubt.told_cents = doubt.told_cents.saturating_add(amount_cents);
        doubt.failed.extend(refund.cloned());
        let surplus = doubt.failed.len().saturating_sub(MAX_FAILED_IDS);
        doubt.failed.drain(..surplus);
        doubt.number = doubt.number.saturating_add(1);
        // Whether the processor says it is asked anew with each failure.
        (doubt.read, doubt.unlisted) = (false, false);
    });
    flag_refunds(on, Some(&words));
}

/// Starts the record of a payment's failed refunds. From then on, its refund total is read from the processor.
fn begin_doubts(on: &mut LedgerEdit<'_>, intent: &str) {
    let was_all_back = on.ledger.payments.iter().any(|one| one.is_refund_of(intent) && one.whole);
    let most_back_cents = refunded_of(on.ledger, Some(&intent.to_owned()));
    let under_way = on.requests_mut();
    under_way.doubted.push(UncertainRefunds {
        intent: intent.to_owned(),
        number: 0,
        read: false,
        waits_cents: 0,
        told_cents: 0,
        failed: Vec::new(),
        unlisted: false,
        most_back_cents,
        was_all_back,
    });
    let surplus = under_way.doubted.len().saturating_sub(MAX_UNDER_WAY);
    let dropped: Vec<String> = under_way.doubted.drain(..surplus).map(|one| one.intent).collect();
    // Nothing is read of them any more.
    under_way.refunds.retain(|one| !(one.is_accepted && dropped.contains(&one.intent)));
}

/// Applies a payment's refund total as read from the processor; the total is `None` if the processor does not report
/// it.
pub(super) fn refunds_read(on: &mut LedgerEdit<'_>, intent: &str, number: u32, refunded_cents: Option<i64>) {
    let is_pending = |one: &&UncertainRefunds| one.intent == intent && one.number == number && !one.read;
    let Some(doubt) = on.ledger.at_processor.doubted.iter().find(is_pending) else { return };
    let (told_cents, name) = (doubt.told_cents, doubt.intent.clone());
    let before = refunded_of(on.ledger, Some(&name));
    note_back(on, Some(&name), refunded_cents.unwrap_or_default(), false);
    let taken_cents = end_taken(on, intent);
    let expected = before.saturating_add(taken_cents);
    // What is there, if nothing happened but what was told of.
    let covered = told_cents.clamp(0, expected);
    let base = expected - covered;
    let sum = refunded_cents.unwrap_or(base);
    let (more, missing) = (sum.saturating_sub(base).max(0), base.saturating_sub(sum).max(0));
    see_asked(on, Some(&name), more);
    change_doubts(on, intent, |doubt| {
        (doubt.read, doubt.unlisted) = (true, refunded_cents.is_none());
        let left = doubt.waits_cents.saturating_sub(taken_cents).saturating_sub(more);
        doubt.waits_cents = left.max(0).saturating_add(missing);
        doubt.told_cents = told_cents.saturating_sub(covered).saturating_sub(missing);
    });
    if sum > before {
        let paid = on.ledger.payments.iter().find(|one| one.is_named(Some(&name), None));
        let whole = paid.is_some_and(|paid| sum >= paid.amount_cents);
        record_refund(on, sum - before, whole, None, Some(&name));
    }
    let back = before.saturating_sub(sum);
    if back > 0 {
        came_back(on, intent, back);
        let amount = on.amount_text(back, Some(&name));
        let words = format!("{amount} of the refunds failed, and the money is back with the shop");
        flag_refunds(on, Some(&words));
        let paid = on.ledger.payments.iter().find(|one| one.is_named(Some(&name), None));
        match paid.map(|paid| paid.currency == on.terms.currency) {
            // It may be what was still to be paid.
            Some(own) => on.money_came(back, own),
            None => on.money_went(),
        }
    }
    flag_refunds(on, None);
}

/// Attributes newly observed refunds of the given amount to requested refunds without a response.
pub(super) fn see_asked(on: &mut LedgerEdit<'_>, intent: Option<&String>, cents: i64) {
    let waits = |one: &RequestedRefund| one.error.is_none() && !one.is_accepted && Some(&one.intent) == intent;
    if cents <= 0 || !on.ledger.at_processor.refunds.iter().any(waits) {
        return;
    }
    let mut rest = cents;
    for one in on.requests_mut().refunds.iter_mut().filter(|one| waits(one)) {
        let part = one.unseen_cents().min(rest);
        one.seen_cents = one.seen_cents.saturating_add(part);
        rest -= part;
    }
}

/// Closes the payment's refunds that the processor has accepted, now that they are recorded. Returns the total that was
/// not yet in the ledger, in minor units.
fn end_taken(on: &mut LedgerEdit<'_>, intent: &str) -> i64 {
    let of_it = |one: &RequestedRefund| one.is_accepted && one.intent == intent;
    let refunds = on.ledger.at_processor.refunds.iter().filter(|one| of_it(one));
    let (count, sum) = refunds.fold((0, 0), |(count, sum): (u32, i64), one| {
        (count.saturating_add(1), sum.saturating_add(one.unseen_cents()))
    });
    if count > 0 {
        on.requests_mut().refunds.retain(|one| !of_it(one));
    }
    sum
}

/// Reduces the returned money that still has to be refunded by a new refund of the given amount.
pub(super) fn went_again(on: &mut LedgerEdit<'_>, intent: Option<&String>, cents: i64) {
    let Some(intent) = doubts(on.ledger, intent).filter(|_| cents > 0).map(|one| one.intent.clone()) else { return };
    change_doubts(on, &intent, |doubt| doubt.waits_cents = doubt.waits_cents.saturating_sub(cents).max(0));
    flag_refunds(on, None);
}

/// Returns the amount of a payment's returned money that is not covered by a pending refund, in minor units.
pub(super) fn waiting(of: &Ledger, doubt: &UncertainRefunds) -> i64 {
    let open_refunds = of.at_processor.refunds.iter().filter(|one| one.error.is_none() && one.intent == doubt.intent);
    let open_cents = open_refunds.fold(0, |sum: i64, one| sum.saturating_add(one.unseen_cents()));
    let paid = of.payments.iter().find(|one| one.is_named(Some(&doubt.intent), None));
    // Before it was read the books count what failed as gone.
    let most = paid.filter(|_| doubt.read).map_or(i64::MAX, |paid| left_there(of, paid));
    doubt.waits_cents.min(most).saturating_sub(open_cents).max(0)
}

/// Marks refunds of a payment as failed, newest first, up to the given amount.
fn came_back(on: &mut LedgerEdit<'_>, intent: &str, cents: i64) {
    let mut left = cents;
    for at in (0..on.ledger.payments.len()).rev() {
        let Some(refund) = on.ledger.payments.get(at).filter(|one| one.is_refund_of(intent)) else {
            continue;
        };
        let failed = refund.went_cents().min(left);
        if failed > 0 {
            left -= failed;
            let corrected = Payment { failed_cents: refund.failed_cents.saturating_add(failed), ..refund.clone() };
            on.replace_payment(at, corrected);
        }
    }
}
