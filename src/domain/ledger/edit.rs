//! Operation on a ledger, and the list of changes that its owner applies afterwards, in order.
//!
//! An operation uses the terms from before it started. Money received or refunded may change the owner's stage, which
//! the owner decides when it applies [`LedgerChange::MoneyCame`] or [`LedgerChange::MoneyWent`]. No later step of the
//! same operation considers the stage: everything that depends on the new stage is done by the operation
//! [`flag_money`](super::flag_money), which the owner runs after it has applied those changes.

use super::books::refunded_cents;
use super::{Ledger, LedgerTerms, Payment, ProcessorRequests};
use crate::aggregate::DecisionContext;
use crate::notation;
use words::Language;

/// Ledger change that its owner reacts to.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum LedgerChange {
    /// Change to the pending processor requests or to the known session. It is stored with the ledger, and the owner
    /// need not do anything else.
    Requests,
    /// New or corrected payment or refund, which is also stored as a row.
    Payment(Payment),
    /// Flag on the owner, set while `holds` is `true` and cleared otherwise.
    Flag {
        /// Name of the flag.
        flag: &'static str,
        /// `true` if there is a reason for the flag.
        holds: bool,
        /// Reason for the flag, shown to staff.
        words: String,
    },
    /// New session for paying the owner.
    SessionMade,
    /// Failed payment attempt: the processor received no money.
    PaymentFailed {
        /// The processor's reason, if any.
        reason: Option<String>,
    },
    /// Refund that was just recorded and must be reported.
    RefundRecorded {
        /// Total refunded so far in the owner's currency, in minor units.
        refunded_cents: i64,
    },
    /// Payment that was just recorded. The amount received, regardless of refunds, determines whether the owner is
    /// fully paid.
    MoneyCame {
        /// Amount in minor units; 0 if the ledger is merely evaluated again.
        amount_cents: i64,
        /// `true` if the payment is in the owner's currency.
        own: bool,
    },
    /// Decrease of the balance, which determines the status and flags.
    MoneyWent,
}

/// Ledger that an operation is changing, with the changes made so far.
pub(crate) struct LedgerEdit<'a> {
    /// Context of the decision.
    pub(super) cx: &'a DecisionContext<'a>,
    /// Terms of the owner before the operation.
    pub(super) terms: &'a LedgerTerms,
    /// Ledger with the changes made so far. Change anything that its owner depends on only through the methods below.
    pub(super) ledger: &'a mut Ledger,
    changes: Vec<LedgerChange>,
}

impl Ledger {
    /// Runs an operation under the owner's terms. Returns its outcome and the changes that the owner must apply in
    /// order; a rejected operation has no changes.
    pub(crate) fn edit<R>(
        &mut self,
        cx: &DecisionContext<'_>,
        terms: &LedgerTerms,
        operation: impl FnOnce(&mut LedgerEdit<'_>) -> R,
    ) -> (R, Vec<LedgerChange>) {
        let mut edit = LedgerEdit { cx, terms, ledger: self, changes: Vec::new() };
        let outcome = operation(&mut edit);
        (outcome, edit.changes)
    }
}

impl LedgerEdit<'_> {
    /// Returns the pending processor requests, for modification.
    pub(super) fn requests_mut(&mut self) -> &mut ProcessorRequests {
        self.changes.push(LedgerChange::Requests);
        &mut self.ledger.at_processor
    }

    /// Sets the known checkout session.
    pub(super) fn know_session(&mut self, session: Option<String>) {
        self.changes.push(LedgerChange::Requests);
        self.ledger.payment_session = session;
    }

    /// Adds a payment or refund.
    pub(crate) fn add_payment(&mut self, payment: Payment) {
        self.changes.push(LedgerChange::Payment(payment.clone()));
        self.ledger.payments.push(payment);
    }

    /// Adds a refund that lowers the balance, and reports it.
    pub(super) fn add_refund(&mut self, refund: Payment) {
        self.add_payment(refund);
        self.refund_recorded();
        self.money_went();
    }

    /// Replaces the payment at the given index with an updated version.
    pub(super) fn replace_payment(&mut self, at: usize, payment: Payment) {
        self.changes.push(LedgerChange::Payment(payment.clone()));
        if let Some(existing) = self.ledger.payments.get_mut(at) {
            *existing = payment;
        }
    }

    /// Formats an amount for the reason for a flag, in English: in the currency of the payment with this payment
    /// intent, or in the owner's if there is no such payment.
    pub(super) fn amount_text(&self, cents: i64, intent: Option<&String>) -> String {
        let payment = self.ledger.payments.iter().find(|payment| payment.is_named(intent, None));
        let currency = payment.map_or(&self.terms.currency, |payment| &payment.currency);
        notation::amount(Language::English, cents, currency)
    }

    /// Sets a flag on the owner while `holds` is `true`, and clears it otherwise.
    pub(super) fn raise_flag(&mut self, flag: &'static str, holds: bool, words: &str) {
        self.changes.push(LedgerChange::Flag { flag, holds, words: words.to_owned() });
    }

    /// Reports a new session for paying the owner.
    pub(super) fn session_made(&mut self) {
        self.changes.push(LedgerChange::SessionMade);
    }

    /// Reports a failed payment attempt.
    pub(super) fn payment_failed(&mut self, reason: Option<&String>) {
        self.changes.push(LedgerChange::PaymentFailed { reason: reason.cloned() });
    }

    /// Reports a refund that was just recorded.
    pub(super) fn refund_recorded(&mut self) {
        let refunded_cents = refunded_cents(self.ledger, &self.terms.currency);
        self.changes.push(LedgerChange::RefundRecorded { refunded_cents });
    }

    /// Reports a payment that was just recorded; `own` is `true` if it is in the owner's currency.
    pub(crate) fn money_came(&mut self, amount_cents: i64, own: bool) {
        self.changes.push(LedgerChange::MoneyCame { amount_cents, own });
    }

    /// Reports that the balance has decreased.
    pub(super) fn money_went(&mut self) {
        self.changes.push(LedgerChange::MoneyWent);
    }

    /// Builds a zero payment for the owner, with the current time.
    pub(super) fn blank(&self) -> Payment {
        Payment {
            id: self.cx.ids.id(),
            owner_id: self.terms.owner_id,
            amount_cents: 0,
            currency: self.terms.currency.clone(),
            method: String::new(),
            reference: None,
            session: None,
            whole: false,
            refund_of: None,
            failed_cents: 0,
            created_at: self.cx.now,
        }
    }
}
