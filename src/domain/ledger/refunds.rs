//! Refunds started by an operator: recorded immediately for manual payments, and requested from the processor for its
//! own payments. If a refund by the processor failed, a refund by other means is recorded. `received` applies the
//! refunds that were made.

use super::at_processor::{MAX_UNDER_WAY, RefundResult, RequestedRefund};
use super::failed::{doubts, reads_again, waiting, went_again};
use super::received::{own_word, refunded};
use super::{Ledger, LedgerEdit, PROCESSOR, Payment, left_by_hand};
use crate::attention_flag::AttentionFlag;
use crate::id::Id;
use crate::refusal::Refusal;

/// Flag for an owner with a refund that the processor rejected or that failed later.
pub(super) const REFUND_FAILED: &str = AttentionFlag::RefundFailed.word();

/// Returns the amount of a processor payment that remains in the ledger, in minor units: minus refunds by the
/// processor, refunds made by other means, and money reclaimed by the customer's bank.
pub(super) fn left_there(of: &Ledger, payment: &Payment) -> i64 {
    let of_it = |one: &&Payment| one.method == PROCESSOR && one.amount_cents < 0 && one.reference == payment.reference;
    let (mut left, mut whole) = (left_by_hand(of, payment), false);
    for refund in of.payments.iter().filter(of_it) {
        left = left.saturating_sub(refund.went_cents());
        whole |= refund.took_all();
    }
    if whole { 0 } else { left.max(0) }
}

/// Returns the amount of a processor payment that can still be refunded, in minor units.
fn left_at_processor(of: &Ledger, payment: &Payment) -> i64 {
    let open_refunds = of.at_processor.refunds.iter().filter(|one| one.payment_id == payment.id && one.error.is_none());
    let open_cents = open_refunds.fold(0, |sum: i64, one| sum.saturating_add(one.unseen_cents()));
    left_there(of, payment).saturating_sub(open_cents).max(0)
}

/// Rejects the operation while the refund total of any of the given payments is being read, because the remaining
/// amount is unknown until then.
fn all_read<'a>(of: &Ledger, mut payments: impl Iterator<Item = &'a Payment>) -> Result<(), Refusal> {
    if payments.any(|one| doubts(of, one.reference.as_ref()).is_some_and(|doubt| !doubt.read)) {
        let words = "a refund failed, and the refunded amount is being checked; try again in a minute";
        return Err(Refusal::conflict("refunds_under_way", words));
    }
    Ok(())
}

/// Refunds money on behalf of an operator: the entire rest of the given payment, or part of it. If no payment is given,
/// the processor payments are refunded, newest first. `at_processor` is `true` if the processor can be called.
pub(crate) fn refund(
    on: &mut LedgerEdit<'_>,
    payment: Option<Id>,
    amount_cents: Option<i64>,
    at_processor: bool,
) -> Result<(), Refusal> {
    let payments = &on.ledger.payments;
    let of_processor = |one: &&Payment| one.of_processor() && one.amount_cents > 0;
    let Some(id) = payment else {
        if payments.iter().any(|one| of_processor(&one)) {
            return refund_there(on, None, amount_cents, at_processor);
        }
        return Err(if payments.iter().any(|one| one.amount_cents > 0) {
            Refusal::field("paymentId", "is required for payments made outside the payment processor")
        } else {
            let words = format!("this {} has no payments", on.terms.kind);
            Refusal::conflict("nothing_to_refund", words)
        });
    };
    match payments.iter().find(|one| one.id == id && one.amount_cents > 0).cloned() {
        None => Err(Refusal::field("paymentId", format!("is not a payment of this {}", on.terms.kind))),
        Some(paid) if paid.of_processor() => refund_there(on, Some(id), amount_cents, at_processor),
        Some(paid) => {
            let amount = within(amount_cents, left_by_hand(on.ledger, &paid))?;
            given_back(on, &paid, amount, &paid.method, paid.reference.as_ref());
            Ok(())
        }
    }
}

/// Records a refund that an operator made by other means: for a manual payment, or to replace processor refunds that
/// failed or were rejected.
pub(crate) fn refund_otherwise(
    on: &mut LedgerEdit<'_>,
    payment: Option<Id>,
    amount_cents: Option<i64>,
    method: &str,
) -> Result<(), Refusal> {
    own_word(method)?;
    let Some(id) = payment else {
        return Err(Refusal::field("paymentId", "is required for refunds made outside the payment processor"));
    };
    let paid = on.ledger.payments.iter().find(|one| one.id == id && one.amount_cents > 0).cloned();
    let Some(paid) = paid else {
        return Err(Refusal::field("paymentId", format!("is not a payment of this {}", on.terms.kind)));
    };
    if !paid.of_processor() {
        let amount = within(amount_cents, left_by_hand(on.ledger, &paid))?;
        given_back(on, &paid, amount, method, None);
        return Ok(());
    }
    let ledger = &*on.ledger;
    all_read(ledger, std::iter::once(&paid))?;
    let waits = doubts(ledger, paid.reference.as_ref()).map_or(0, |doubt| waiting(ledger, doubt));
    let refused = ledger.at_processor.refunds.iter().filter(|one| one.payment_id == id && one.error.is_some());
    let refused = refused.fold(0, |sum: i64, one| sum.saturating_add(one.amount_cents));
    // A refund that fails at once is both.
    let most = waits.max(refused).min(left_at_processor(ledger, &paid));
    if most == 0 {
        let words = "no refund of this payment failed; omit the method to refund it through the payment processor";
        return Err(Refusal::conflict("nothing_to_refund", words));
    }
    let amount = within(amount_cents, most)?;
    if refused > 0 {
        let mut rest = amount;
        let refunds = &mut on.requests_mut().refunds;
        for one in refunds.iter_mut().filter(|one| one.payment_id == id && one.error.is_some()) {
            let part = one.amount_cents.min(rest);
            one.amount_cents -= part;
            rest -= part;
        }
        refunds.retain(|one| one.amount_cents > 0);
    }
    given_back(on, &paid, amount, method, None);
    went_again(on, paid.reference.as_ref(), amount);
    flag_refunds(on, None);
    Ok(())
}

/// Records a refund made by means other than a processor refund.
pub(super) fn given_back(
    on: &mut LedgerEdit<'_>,
    paid: &Payment,
    cents: i64,
    method: &str,
    reference: Option<&String>,
) {
    let refund = Payment {
        amount_cents: -cents,
        currency: paid.currency.clone(),
        method: method.to_owned(),
        reference: reference.cloned(),
        refund_of: Some(paid.id),
        ..on.blank()
    };
    on.add_refund(refund);
}

/// Requests refunds from the processor through effects.
fn refund_there(
    on: &mut LedgerEdit<'_>,
    payment: Option<Id>,
    amount_cents: Option<i64>,
    at_processor: bool,
) -> Result<(), Refusal> {
    if !at_processor {
        let words = "the payment was made through the payment processor; refund it there, and the refund is recorded \
                     here automatically";
        return Err(Refusal::conflict("refund_at_processor", words));
    }
    let (ledger, terms) = (&*on.ledger, on.terms);
    // A sum over several payments is one of the owner's currency.
    let counts = |one: &&Payment| match payment {
        Some(id) => one.id == id,
        None => amount_cents.is_none() || one.currency == terms.currency,
    };
    let paid = ledger.payments.iter().rev().filter(|one| one.of_processor() && one.amount_cents > 0);
    // One that is known by its session alone cannot be asked back before its intent is known.
    let (named, unnamed): (Vec<&Payment>, Vec<&Payment>) =
        paid.filter(counts).partition(|one| one.reference.is_some() && one.reference != one.session);
    if named.is_empty() && !unnamed.is_empty() {
        let words = "the payment processor has not reported the ID of this payment yet; try again in a minute";
        return Err(Refusal::conflict("payment_unnamed", words));
    }
    all_read(ledger, named.iter().copied())?;
    let left: Vec<(Payment, i64)> = named
        .into_iter()
        .map(|one| (one.clone(), left_at_processor(ledger, one)))
        .filter(|(_, left)| *left > 0)
        .collect();
    let most = left.iter().fold(0, |sum: i64, (_, left)| sum.saturating_add(*left));
    let mut amount = within(amount_cents, most)?;
    let under_way = ledger.at_processor.refunds.iter().filter(|one| one.error.is_none()).count();
    if under_way + left.len() > MAX_UNDER_WAY {
        return Err(Refusal::conflict("refunds_under_way", "wait until the pending refunds are complete"));
    }
    // Those that were refused are done with once somebody asks again.
    on.requests_mut().refunds.retain(|one| one.error.is_none());
    for (paid, left) in left {
        let of_it = left.min(amount);
        if of_it == 0 {
            break;
        }
        amount -= of_it;
        let Some(intent) = paid.reference else { continue };
        let request = RequestedRefund {
            id: on.cx.ids.id(),
            payment_id: paid.id,
            intent,
            amount_cents: of_it,
            asked_at: on.cx.now,
            error: None,
            is_accepted: false,
            seen_cents: 0,
        };
        on.requests_mut().refunds.push(request);
    }
    // What came back of an earlier refund is given back by these, as far as they go.
    flag_refunds(on, None);
    Ok(())
}

/// Applies the processor's response to a refund. The refund total in the response is authoritative; the events report
/// the same total, earlier or later.
pub(super) fn refund_news(on: &mut LedgerEdit<'_>, refund: Id, news: &RefundResult) {
    let refunds = &on.ledger.at_processor.refunds;
    let Some((at, request)) = refunds.iter().enumerate().find(|(_, one)| one.id == refund) else { return };
    if request.is_accepted {
        return; // Told again.
    }
    let request = request.clone();
    if matches!(news, RefundResult::Taken { .. }) && reads_again(on, Some(&request.intent)) {
        // It is in the books once what went back of the payment was read, and shown as under way until then.
        on.requests_mut().refunds[at].is_accepted = true;
        return;
    }
    let sum = match news {
        RefundResult::Taken { refunded_cents } => {
            on.requests_mut().refunds.remove(at);
            Some(*refunded_cents)
        }
        RefundResult::Refused { refunded_cents, reason } => {
            on.requests_mut().refunds[at].error = Some(reason.clone());
            *refunded_cents
        }
    };
    if let Some(sum) = sum {
        let paid = on.ledger.payments.iter().find(|one| one.id == request.payment_id);
        let whole = paid.is_some_and(|paid| sum >= paid.amount_cents);
        let more = refunded(on, sum, whole, None, Some(&request.intent));
        went_again(on, Some(&request.intent), more);
    }
    flag_refunds(on, None);
}

/// Sets and clears the flag for refunds that need an operator's attention; `failed` describes a refund that has just
/// failed after it was accepted.
pub(super) fn flag_refunds(on: &mut LedgerEdit<'_>, failed: Option<&str>) {
    let ledger = &*on.ledger;
    let error = ledger.at_processor.refunds.iter().find_map(|one| one.error.clone());
    let waits = ledger.at_processor.doubted.iter().any(|one| waiting(ledger, one) > 0);
    let text = match (failed, &error) {
        (Some(words), _) => format!("{words}; refund it in another way"),
        (None, Some(error)) => format!("the payment processor refused a refund: {error}"),
        (None, None) => "the money of a failed refund is back with the shop; refund it in another way".to_owned(),
    };
    on.raise_flag(REFUND_FAILED, waits || error.is_some(), &text);
}

/// Returns the requested amount, or the whole remainder if no amount is requested; rejected if the amount exceeds the
/// remainder.
fn within(amount_cents: Option<i64>, left: i64) -> Result<i64, Refusal> {
    if left == 0 {
        return Err(Refusal::conflict("nothing_to_refund", "this payment is already fully refunded"));
    }
    let amount = amount_cents.unwrap_or(left);
    if (1..=left).contains(&amount) {
        return Ok(amount);
    }
    Err(Refusal::field("amountCents", format!("must be from 1 to {left}, the amount not yet refunded")))
}
