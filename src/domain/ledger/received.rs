//! Incoming and outgoing money, as reported by operators and by the payment processor's signed events.
//!
//! An event is never rejected because of the owner's status, because the money has already moved: an unexpected event
//! is recorded and flagged for an operator. Events may arrive late, repeatedly and out of order. Status and flags are
//! derived from the balance.

use super::at_processor::{Dispute, FailedPayment, MAX_UNDER_WAY};
use super::checkout::{forget_session, settle_checkout};
use super::disputes::{book_lost, disputed};
use super::failed::{note_back, reads_again, refund_failed, see_asked, went_again};
use super::{LOST_DISPUTE, Ledger, LedgerEdit, LedgerStage, LedgerTerms, PROCESSOR, Payment, PaymentUpdate, books};
use crate::attention_flag::AttentionFlag;
use crate::notation;
use crate::refusal::Refusal;
use words::Language;

/// Flag for an owner that holds money that must be refunded.
const REFUND_DUE: &str = AttentionFlag::RefundDue.word();
/// Flag for an owner for which the processor collected an amount or currency other than what was due.
const AMOUNT_MISMATCH: &str = AttentionFlag::AmountMismatch.word();

/// Records a payment that an operator received other than through the processor. An amount below the amount due leaves
/// the rest to be paid; an amount above it is rejected.
pub(crate) fn mark_paid(
    on: &mut LedgerEdit<'_>,
    amount_cents: Option<i64>,
    method: &str,
    reference: Option<&String>,
) -> Result<(), Refusal> {
    own_word(method)?;
    let due = on.ledger.to_pay(on.terms);
    let amount = amount_cents.unwrap_or(due);
    if amount > due {
        return Err(Refusal::field("amountCents", format!("must be at most {due}, the amount due")));
    }
    if amount < 0 || (amount == 0 && due > 0) {
        return Err(Refusal::field("amountCents", "must be above 0"));
    }
    if amount > 0 {
        let paid =
            Payment { amount_cents: amount, method: method.to_owned(), reference: reference.cloned(), ..on.blank() };
        on.add_payment(paid);
    }
    on.money_came(amount, true);
    Ok(())
}

/// Rejects payment methods that are empty, or reserved for the processor or for lost disputes.
pub(super) fn own_word(method: &str) -> Result<(), Refusal> {
    if method.trim().is_empty() {
        return Err(Refusal::field("method", "must not be empty"));
    }
    // By these words what the processor reports is told from the rest, and a lost dispute that is booked from others.
    if [PROCESSOR, LOST_DISPUTE].iter().any(|word| method.trim().eq_ignore_ascii_case(word)) {
        return Err(Refusal::field("method", "is reserved for what the payment processor reports; use another name"));
    }
    Ok(())
}

/// Applies a signed event from the payment processor.
pub(super) fn payment(on: &mut LedgerEdit<'_>, news: &PaymentUpdate) {
    match news {
        PaymentUpdate::Paid { amount_cents, currency, session, intent } => {
            paid(on, *amount_cents, currency.as_deref(), session.as_ref(), intent.as_ref());
        }
        PaymentUpdate::Failed { reason, intent, session } => {
            if let Some(session) = session {
                forget_session(on, session); // What was completed and failed afterwards cannot be paid again.
            }
            let (intent, session) = (intent.clone(), session.clone());
            note_failure(on, FailedPayment { intent, session }, reason.as_ref());
        }
        PaymentUpdate::Refunded { amount_cents, whole, currency, intent } => {
            let more = refunded(on, *amount_cents, *whole, currency.as_deref(), intent.as_ref());
            see_asked(on, intent.as_ref(), more);
            went_again(on, intent.as_ref(), more);
        }
        PaymentUpdate::RefundFailed { amount_cents, reason, intent, refund } => {
            refund_failed(on, *amount_cents, reason, intent.as_ref(), refund.as_ref());
        }
        PaymentUpdate::Disputed { id, amount_cents, reason, state, intent } => {
            let (id, intent) = (id.clone(), intent.clone());
            disputed(on, Dispute { id, state: *state, amount_cents: *amount_cents, intent }, reason);
        }
        PaymentUpdate::SessionExpired { session } => {
            if let Some(session) = session {
                forget_session(on, session);
            }
        }
    }
}

fn paid(
    on: &mut LedgerEdit<'_>,
    amount: Option<i64>,
    currency: Option<&str>,
    session: Option<&String>,
    intent: Option<&String>,
) {
    if let Some(index) = on.ledger.payments.iter().position(|one| one.is_named(intent, session)) {
        apply_repeated_event(on, index, session, intent);
        return; // `checkout.session.completed` and `….async_payment_succeeded` both report the same payment.
    }
    let payable = on.terms.stage == LedgerStage::Payable;
    let amount = amount.unwrap_or(on.terms.total_cents);
    let currency = currency.map_or_else(|| on.terms.currency.clone(), str::to_lowercase);
    let own = currency == on.terms.currency;
    if let (true, Some(session)) = (payable, session) {
        on.know_session(Some(session.clone()));
    }
    let payment = Payment {
        amount_cents: amount,
        currency,
        method: PROCESSOR.to_owned(),
        reference: intent.or(session).cloned(),
        session: session.cloned(),
        ..on.blank()
    };
    on.add_payment(payment);
    name_currency(on, intent);
    book_lost(on); // Its bank took it back before anybody heard that it came.
    on.money_came(amount, own);
}

/// Records a failed payment attempt: the processor received no money. It is remembered while a payment is expected,
/// because the attempt may still succeed.
fn note_failure(on: &mut LedgerEdit<'_>, failed: FailedPayment, reason: Option<&String>) {
    if on.terms.stage != LedgerStage::Payable {
        return;
    }
    let came = failed.came(on.ledger);
    if !on.ledger.at_processor.failed_tries.contains(&failed) {
        let tries = &mut on.requests_mut().failed_tries;
        tries.push(failed);
        let surplus = tries.len().saturating_sub(MAX_UNDER_WAY);
        tries.drain(..surplus);
    }
    if !came {
        on.payment_failed(reason);
    }
}

impl FailedPayment {
    /// Returns whether the failed attempt was paid in the end.
    fn came(&self, of: &Ledger) -> bool {
        of.payments.iter().any(|one| one.is_named(self.intent.as_ref(), self.session.as_ref()))
    }
}

/// Returns whether all recorded failed attempts were paid in the end; `None` if there were none.
pub(crate) fn all_tries_came(of: &Ledger) -> Option<bool> {
    let tries = &of.at_processor.failed_tries;
    (!tries.is_empty()).then(|| tries.iter().all(|one| one.came(of)))
}

/// Sets the currency of refunds that were reported before their payment to the payment's currency.
fn name_currency(on: &mut LedgerEdit<'_>, intent: Option<&String>) {
    let Some(intent) = intent else { return };
    let payments = &on.ledger.payments;
    let Some(paid) = payments.iter().find(|one| one.is_named(Some(intent), None)) else { return };
    let currency = paid.currency.clone();
    let unlike = |one: &Payment| one.is_refund_of(intent) && one.currency != currency;
    let refunds: Vec<(usize, Payment)> = payments.iter().cloned().enumerate().filter(|(_, one)| unlike(one)).collect();
    for (at, refund) in refunds {
        on.replace_payment(at, Payment { currency: currency.clone(), ..refund });
    }
}

/// Applies a further event about a known payment. The first event that contains the payment's intent links the refunds
/// to the payment.
fn apply_repeated_event(on: &mut LedgerEdit<'_>, index: usize, session: Option<&String>, intent: Option<&String>) {
    let Some(payment) = on.ledger.payments.get(index) else { return };
    let unknown = payment.reference == payment.session;
    let (Some(intent), true) = (intent.filter(|one| payment.reference.as_ref() != Some(*one)), unknown) else {
        return;
    };
    let learnt = Payment {
        reference: Some(intent.clone()),
        session: payment.session.clone().or(session.cloned()),
        ..payment.clone()
    };
    on.replace_payment(index, learnt);
    name_currency(on, Some(intent));
    book_lost(on);
    on.money_went();
}

/// Records `amount` as the refund total of one payment. Returns the part that was not in the ledger.
pub(super) fn refunded(
    on: &mut LedgerEdit<'_>,
    amount: i64,
    whole: bool,
    currency: Option<&str>,
    intent: Option<&String>,
) -> i64 {
    let is_news = note_back(on, intent, amount, whole);
    if reads_again(on, intent) {
        if is_news {
            on.money_went();
        }
        return 0; // The sum may be one of before a refund failed.
    }
    let more = amount.saturating_sub(refunded_of(on.ledger, intent));
    if more <= 0 {
        return 0; // Told late or twice.
    }
    record_refund(on, more, whole, currency, intent);
    more
}

/// Returns the total refunded so far from the processor's payment with the given intent, in minor units.
pub(super) fn refunded_of(of: &Ledger, intent: Option<&String>) -> i64 {
    let refunds = of.payments.iter().filter(|one| one.method == PROCESSOR && one.amount_cents < 0);
    let of_it = refunds.filter(|one| one.reference.as_ref() == intent);
    of_it.fold(0, |sum: i64, one| sum.saturating_add(one.went_cents()))
}

/// Records an additional refund of the given amount from a payment.
pub(super) fn record_refund(
    on: &mut LedgerEdit<'_>,
    more_cents: i64,
    whole: bool,
    currency: Option<&str>,
    intent: Option<&String>,
) {
    let paid = on.ledger.payments.iter().find(|one| one.is_named(intent, None));
    let currency = paid.map(|paid| paid.currency.clone()).or(currency.map(str::to_lowercase));
    let refund = Payment {
        amount_cents: -more_cents,
        currency: currency.unwrap_or_else(|| on.terms.currency.clone()),
        method: PROCESSOR.to_owned(),
        reference: intent.cloned(),
        whole,
        ..on.blank()
    };
    on.add_refund(refund);
}

/// Sets and clears the flags for money that needs an operator's attention, and ends a checkout that no longer matches.
/// The result depends on the owner's stage, so the owner calls this after each change of the stage or the balance.
pub(crate) fn flag_money(on: &mut LedgerEdit<'_>) {
    let books = books(on.ledger, on.terms);
    let LedgerTerms { kind, stage, status, currency, total_cents: total, .. } = on.terms;
    let kept_cents = books.kept_cents;
    let owed = if *stage == LedgerStage::Closed { 0 } else { *total };
    let refund_due = *stage != LedgerStage::Payable && (kept_cents > owed || books.foreign);
    let [balance, total_price] = [kept_cents, *total].map(|cents| notation::amount(Language::English, cents, currency));
    let due = format!(
        "the payments amount to {balance}, but the status of the {kind} is {status} and its total {total_price}"
    );
    let mismatch = format!("the processor charged another amount or currency than was due: {due}");
    on.raise_flag(REFUND_DUE, refund_due, &format!("money must be refunded: {due}"));
    on.raise_flag(AMOUNT_MISMATCH, books.mismatch, &mismatch);
    settle_checkout(on);
}
