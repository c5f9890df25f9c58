//! Effects of the ledger on an invoice that does not belong to an order. Its payments are recorded by operators or
//! reported by the payment processor, according to the rules common to all [ledgers](crate::ledger). The payments of an
//! order's invoice belong to the order.

use super::change::InvoiceChange;
use super::{Invoice, InvoiceCommand, InvoiceRow, InvoiceStatus, LedgerCommand, Payment};
use crate::aggregate::Aggregate as _;
use crate::event::data::invoice::{InvoicePaymentData, InvoicePaymentFailedData, InvoiceRefundData};
use crate::id::Id;
use crate::ledger::{
    self, Ledger, LedgerChange, LedgerEdit, LedgerOwner, LedgerStage, LedgerTerms, books, flag_money, left_by_hand,
};
use crate::refusal::Refusal;
use crate::time::Timestamp;

/// Maximum number of payments and refunds per invoice that operators may record. The limit exists because all of them
/// are stored with the invoice.
const MAX_PAYMENTS: usize = 200;

impl LedgerOwner for Invoice {
    type LedgerCarrier = InvoiceCommand;

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }
    fn terms(&self) -> LedgerTerms {
        LedgerTerms {
            owner_id: self.id,
            kind: Self::KIND,
            stage: self.stage(),
            status: self.status.to_string(),
            currency: self.content.currency.clone(),
            total_cents: self.content.sums.payable_cents(),
        }
    }
    fn asking(command: LedgerCommand) -> InvoiceCommand {
        InvoiceCommand::Ledger(command)
    }
    fn metadata(&self) -> Vec<(String, String)> {
        vec![("invoiceId".to_owned(), self.id.to_string())]
    }
    /// Returns a generic title, because only the store knows the invoice number. The code that starts the checkout adds
    /// the number.
    fn title(&self) -> String {
        "Invoice".to_owned()
    }
    fn payer(&self) -> Option<&String> {
        self.customer_email.as_ref()
    }
}

impl Invoice {
    /// Returns the payment stage.
    pub(super) fn stage(&self) -> LedgerStage {
        match self.status {
            InvoiceStatus::Open | InvoiceStatus::PartiallyPaid | InvoiceStatus::Overdue => LedgerStage::Payable,
            InvoiceStatus::Paid => LedgerStage::Paid,
            InvoiceStatus::Draft | InvoiceStatus::Refunded | InvoiceStatus::Void => LedgerStage::Closed,
        }
    }
}

impl InvoiceChange<'_> {
    /// Runs an operation on the ledger, and applies the resulting changes to the invoice.
    pub(super) fn edit_ledger<R>(&mut self, operation: impl FnOnce(&mut LedgerEdit<'_>) -> R) -> R {
        let terms = self.invoice.terms();
        let (outcome, changes) = self.invoice.ledger.edit(self.cx, &terms, operation);
        changes.into_iter().for_each(|change| self.follow_change(change));
        outcome
    }

    fn follow_change(&mut self, change: LedgerChange) {
        match change {
            LedgerChange::Requests | LedgerChange::SessionMade => {}
            LedgerChange::Payment(payment) => self.row(InvoiceRow::Payment(payment)),
            LedgerChange::Flag { flag, holds: true, words } => self.flag(flag, &words),
            LedgerChange::Flag { flag, holds: false, .. } => self.invoice.flags.retain(|one| one != flag),
            LedgerChange::PaymentFailed { reason: error } => {
                if self.invoice.stage() == LedgerStage::Payable {
                    self.tell("invoice.payment_failed", |invoice| InvoicePaymentFailedData { invoice, error });
                }
            }
            LedgerChange::RefundRecorded { refunded_cents } => {
                self.tell("invoice.refund_recorded", |invoice| InvoiceRefundData { invoice, refunded_cents });
            }
            LedgerChange::MoneyCame { amount_cents, own } => self.money_came(amount_cents, own),
            LedgerChange::MoneyWent => self.follow_ledger(None),
        }
    }

    fn money_came(&mut self, amount_cents: i64, own: bool) {
        let terms = self.invoice.terms();
        let sums = books(&self.invoice.ledger, &terms);
        let (kept_cents, payable) = (sums.kept_cents, terms.stage == LedgerStage::Payable);
        let paid = payable && own && sums.received >= terms.total_cents;
        self.follow_ledger(paid.then_some(self.cx.now));
        if payable && !paid {
            self.tell("invoice.payment_recorded", |invoice| InvoicePaymentData { invoice, amount_cents, kept_cents });
        }
    }

    /// Updates the status, credit notes and flags to match the payment balance. Sets `paid_at` if the invoice is now
    /// paid in full.
    pub(super) fn follow_ledger(&mut self, paid_at: Option<Timestamp>) {
        let terms = self.invoice.terms();
        let sums = books(&self.invoice.ledger, &terms);
        if matches!(self.invoice.status, InvoiceStatus::Draft | InvoiceStatus::Void) {
            self.invoice.ledger.kept_cents = sums.kept_cents;
        } else {
            let paid_at = self.invoice.paid_at.or(paid_at);
            let refunded = paid_at.is_some() && sums.all_went && terms.total_cents > 0;
            let settled = self.invoice.settle(self.cx, sums.kept_cents, paid_at, refunded, false);
            self.settled(settled);
        }
        self.edit_ledger(flag_money);
    }

    /// Records a received payment. A smaller amount than is due leaves the invoice partially paid; a larger amount is
    /// rejected.
    pub(super) fn mark_paid(
        &mut self,
        amount_cents: Option<i64>,
        method: &str,
        reference: Option<&String>,
    ) -> Result<(), Refusal> {
        self.own_money()?;
        self.has_room()?;
        if self.invoice.stage() != LedgerStage::Payable {
            return Err(Refusal::transition("the invoice cannot be marked as paid", self.invoice.status));
        }
        self.edit_ledger(|on| ledger::mark_paid(on, amount_cents, method, reference))
    }

    /// Refunds a payment. If no payment is named and none was made through the processor, the newest payment that is
    /// not fully refunded is used.
    pub(super) fn refund(
        &mut self,
        payment: Option<Id>,
        amount_cents: Option<i64>,
        at_processor: bool,
    ) -> Result<(), Refusal> {
        self.own_money()?;
        self.has_room()?;
        let own = &self.invoice.ledger;
        let mut paid = own.payments.iter().filter(|one| one.amount_cents > 0);
        if payment.is_some() || paid.clone().any(Payment::of_processor) {
            return self.edit_ledger(|on| ledger::refund(on, payment, amount_cents, at_processor));
        }
        let newest = paid.rfind(|one| left_by_hand(own, one) > 0).map(|one| one.id);
        if newest.is_none() {
            return Err(Refusal::conflict("nothing_to_refund", "nothing is left to refund"));
        }
        self.edit_ledger(|on| ledger::refund(on, newest, amount_cents, at_processor))
    }

    /// Records a refund made by means other than the original payment.
    pub(super) fn refund_otherwise(
        &mut self,
        payment: Option<Id>,
        amount_cents: Option<i64>,
        method: &str,
    ) -> Result<(), Refusal> {
        self.own_money()?;
        self.has_room()?;
        self.edit_ledger(|on| ledger::refund_otherwise(on, payment, amount_cents, method))
    }

    /// Rejects the operation for an order's invoice, because its payments are recorded on the order.
    pub(super) fn own_money(&self) -> Result<(), Refusal> {
        if self.invoice.order_id.is_some() {
            return Err(Refusal::conflict(
                "belongs_to_order",
                "the payments of this invoice are recorded on its order",
            ));
        }
        Ok(())
    }

    /// Rejects payments beyond [`MAX_PAYMENTS`]. Payments collected by the processor are recorded even beyond this
    /// limit, because the money has already moved.
    fn has_room(&self) -> Result<(), Refusal> {
        if self.invoice.ledger.payments.len() >= MAX_PAYMENTS {
            let words = format!("the maximum of {MAX_PAYMENTS} payments and refunds is reached");
            return Err(Refusal::conflict("too_many_payments", words));
        }
        Ok(())
    }
}
