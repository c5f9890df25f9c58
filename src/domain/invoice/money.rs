//! Effects of the ledger on an invoice without an order: payments that operators record, and those that the payment
//! processor's events report, by the rules of every [ledger](crate::ledger). The payments of an order's invoice
//! belong to the order.

use super::change::InvoiceChange;
use super::{
    Invoice, InvoiceAnswer, InvoiceCommand, InvoiceRow, InvoiceStatus, LedgerCommand, Payment, ProcessorRequests,
};
use crate::aggregate::{DecisionContext, answer_variants};
use crate::event::data::invoice::{InvoicePaymentData, InvoicePaymentFailedData, InvoiceRefundData};
use crate::id::Id;
use crate::ledger::{
    self, LedgerChange, LedgerOwner, LedgerStage, Payable, books, flag_money, left_by_hand, refunded_cents,
};
use crate::refusal::Refusal;
use crate::time::Timestamp;

/// Maximum number of payments and refunds to which operators may add on one invoice: they are stored with it.
const MAX_PAYMENTS: usize = 200;

impl Payable for Invoice {
    const WORD: &'static str = "invoice";

    fn owner_id(&self) -> Id {
        self.id
    }
    fn stage(&self) -> LedgerStage {
        match self.status {
            InvoiceStatus::Open | InvoiceStatus::PartiallyPaid | InvoiceStatus::Overdue => LedgerStage::Payable,
            InvoiceStatus::Paid => LedgerStage::Paid,
            InvoiceStatus::Draft | InvoiceStatus::Refunded | InvoiceStatus::Void => LedgerStage::Closed,
        }
    }
    fn status_in_words(&self) -> String {
        self.status.to_string()
    }
    fn ledger_currency(&self) -> &str {
        &self.content.currency
    }
    fn owed_cents(&self) -> i64 {
        self.content.sums.payable_cents()
    }
    fn kept_cents(&self) -> i64 {
        self.kept_cents
    }
    fn ledger_payments(&self) -> &[Payment] {
        &self.payments
    }
    fn under_way(&self) -> &ProcessorRequests {
        &self.at_processor
    }
    fn known_session(&self) -> Option<&str> {
        self.payment_session.as_deref()
    }
}

answer_variants!(InvoiceAnswer: Invoice(Invoice));

impl LedgerOwner for Invoice {
    fn asking(command: LedgerCommand) -> InvoiceCommand {
        InvoiceCommand::Ledger(command)
    }
    fn metadata(&self) -> Vec<(String, String)> {
        vec![("invoiceId".to_owned(), self.id.to_string())]
    }
    /// Returns a generic title: only the store knows the invoice number, and the code that starts the checkout adds it.
    fn title(&self) -> String {
        "Invoice".to_owned()
    }
    fn payer(&self) -> Option<&String> {
        self.customer_email.as_ref()
    }
}

impl LedgerChange for InvoiceChange<'_> {
    type Of = Invoice;

    fn context(&self) -> &DecisionContext<'_> {
        self.cx
    }
    fn owner(&self) -> &Invoice {
        &self.invoice
    }
    fn under_way_mut(&mut self) -> &mut ProcessorRequests {
        &mut self.invoice.at_processor
    }
    fn know_session(&mut self, session: Option<String>) {
        self.invoice.payment_session = session;
    }
    fn add_payment(&mut self, payment: Payment) {
        self.row(InvoiceRow::Payment(payment.clone()));
        self.invoice.payments.push(payment);
    }
    fn replace_payment(&mut self, at: usize, payment: Payment) {
        self.row(InvoiceRow::Payment(payment.clone()));
        if let Some(existing) = self.invoice.payments.get_mut(at) {
            *existing = payment;
        }
    }
    fn raise_flag(&mut self, flag: &str, holds: bool, words: &str) {
        if holds {
            self.flag(flag, words);
        } else {
            self.invoice.flags.retain(|one| one != flag);
        }
    }

    fn session_made(&mut self) {}

    fn payment_failed(&mut self, reason: Option<&String>) {
        if self.invoice.stage() == LedgerStage::Payable {
            let error = reason.cloned();
            self.tell("invoice.payment_failed", |invoice| InvoicePaymentFailedData { invoice, error });
        }
    }

    fn refund_recorded(&mut self) {
        let refunded_cents = refunded_cents(&self.invoice);
        self.tell("invoice.refund_recorded", |invoice| InvoiceRefundData { invoice, refunded_cents });
    }

    fn money_came(&mut self, amount_cents: i64, own: bool) {
        let books = books(&self.invoice);
        let (kept_cents, payable) = (books.kept_cents, self.invoice.stage() == LedgerStage::Payable);
        let paid = payable && own && books.received >= self.invoice.owed_cents();
        self.follow_ledger(paid.then_some(self.cx.now));
        if payable && !paid {
            self.tell("invoice.payment_recorded", |invoice| InvoicePaymentData { invoice, amount_cents, kept_cents });
        }
    }

    fn money_went(&mut self) {
        self.follow_ledger(None);
    }
}

impl InvoiceChange<'_> {
    /// Brings status, credit notes and flags in line with the payments retained; `paid_at` if this paid it in full.
    pub(super) fn follow_ledger(&mut self, paid_at: Option<Timestamp>) {
        let books = books(&self.invoice);
        let kept_cents = books.kept_cents;
        if matches!(self.invoice.status, InvoiceStatus::Draft | InvoiceStatus::Void) {
            self.invoice.kept_cents = kept_cents;
        } else {
            let paid_at = self.invoice.paid_at.or(paid_at);
            let refunded = paid_at.is_some() && books.all_went && self.invoice.owed_cents() > 0;
            let settled = self.invoice.settle(self.cx, kept_cents, paid_at, refunded, false);
            self.settled(settled);
        }
        flag_money(self);
    }

    /// Records a received payment. Less than the amount due leaves the invoice partially paid; more is refused.
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
        ledger::mark_paid(self, amount_cents, method, reference)
    }

    /// Refunds a payment. If nothing was paid through the processor, the newest payment that is not fully refunded is
    /// used unless another one is named.
    pub(super) fn refund(
        &mut self,
        payment: Option<Id>,
        amount_cents: Option<i64>,
        at_processor: bool,
    ) -> Result<(), Refusal> {
        self.own_money()?;
        self.has_room()?;
        let invoice = &self.invoice;
        let mut paid = invoice.payments.iter().filter(|one| one.amount_cents > 0);
        if payment.is_some() || paid.clone().any(Payment::of_processor) {
            return ledger::refund(self, payment, amount_cents, at_processor);
        }
        let newest = paid.rfind(|one| left_by_hand(invoice, one) > 0).map(|one| one.id);
        if newest.is_none() {
            return Err(Refusal::conflict("nothing_to_refund", "nothing is left to refund"));
        }
        ledger::refund(self, newest, amount_cents, at_processor)
    }

    /// Records a refund made by other means than the payment.
    pub(super) fn refund_otherwise(
        &mut self,
        payment: Option<Id>,
        amount_cents: Option<i64>,
        method: &str,
    ) -> Result<(), Refusal> {
        self.own_money()?;
        self.has_room()?;
        ledger::refund_otherwise(self, payment, amount_cents, method)
    }

    /// Refuses an invoice of an order, because its payments are recorded on the order.
    pub(super) fn own_money(&self) -> Result<(), Refusal> {
        if self.invoice.order_id.is_some() {
            return Err(Refusal::conflict(
                "belongs_to_order",
                "the payments of this invoice are recorded on its order",
            ));
        }
        Ok(())
    }

    /// Refuses a further payment beyond [`MAX_PAYMENTS`]. Payments taken by the processor are recorded even beyond this
    /// limit, because the money has already moved.
    fn has_room(&self) -> Result<(), Refusal> {
        if self.invoice.payments.len() >= MAX_PAYMENTS {
            let words = format!("the maximum of {MAX_PAYMENTS} payments and refunds is reached");
            return Err(Refusal::conflict("too_many_payments", words));
        }
        Ok(())
    }
}
