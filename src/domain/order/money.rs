//! Effects of the ledger on its order: operators mark it paid, and the payment processor's signed events report
//! payments and refunds, which are recorded by the rules of every [ledger](crate::ledger). Status and flags
//! follow from what is kept:
//!
//! - what was received reaches the total: the order is paid, and its jobs are made, also when a part of it has gone
//!   back already; what is kept above the total is due back. What had gone back before an operator recorded money is
//!   not received: the operator was asked for it
//! - nothing is kept once it was paid: the order is refunded, whichever payments went back, and stays so when a refund
//!   fails afterwards
//! - the order is cancelled or refunded: all that is kept is due back
//!
//! So the order in which events are heard does not matter, with these exceptions:
//!
//! - A refunded order takes no further payment. What comes for it afterwards is due back and makes no jobs; heard
//!   before the refund, the same payment would have kept the order going.
//! - What was issued is never changed. Where more than the total came, a refund that is heard between the payments is
//!   credited; heard after them, it was of the surplus. A refund that is heard before it fails is credited, too; one
//!   whose failure is heard first is not.
//! - Where more than the total came and everything went back at some time, the order is refunded if that was heard
//!   before a refund of it failed, and stays paid if the failure was heard first, as it may have been a surplus that
//!   went back.

use super::change::OrderChange;
use super::{Order, OrderCommand, OrderRow, OrderStatus, Payment, PrinterRecords, ProcessorRequests};
use crate::aggregate::{Decision, DecisionContext};
use crate::event::data::{OrderPaymentData, OrderPaymentFailedData, OrderRefundData};
use crate::id::Id;
use crate::ledger::{
    self, LedgerChange, LedgerCommand, LedgerOwner, LedgerStage, Payable, all_tries_came, books, flag_money,
    refunded_cents,
};
use crate::refusal::Refusal;

impl Payable for Order {
    const WORD: &'static str = "order";

    fn owner_id(&self) -> Id {
        self.id
    }
    fn stage(&self) -> LedgerStage {
        match self.status {
            OrderStatus::Cancelled | OrderStatus::Refunded => LedgerStage::Closed,
            status if status.payable() => LedgerStage::Payable,
            _ => LedgerStage::Paid,
        }
    }
    fn status_in_words(&self) -> String {
        self.status.to_string()
    }
    fn ledger_currency(&self) -> &str {
        &self.currency
    }
    fn owed_cents(&self) -> i64 {
        self.total_cents
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

impl LedgerOwner for Order {
    fn asking(command: LedgerCommand) -> OrderCommand {
        OrderCommand::Ledger(command)
    }
    fn metadata(&self) -> Vec<(String, String)> {
        vec![("orderId".to_owned(), self.id.to_string()), ("orderNumber".to_owned(), self.number_text())]
    }
    fn title(&self) -> String {
        format!("Order {}", self.number_text())
    }
    fn payer(&self) -> Option<&String> {
        self.customer_email.as_ref()
    }
}

impl Order {
    /// Recomputes `kept_cents` from the payments. Documents of older releases do not have it, and the rules for the
    /// next payment depend on it.
    pub fn count_kept(&mut self) {
        self.kept_cents = books(self).kept_cents;
    }
}

impl LedgerChange for OrderChange<'_> {
    type Of = Order;

    fn context(&self) -> &DecisionContext<'_> {
        self.cx
    }
    fn owner(&self) -> &Order {
        &self.order
    }
    fn under_way_mut(&mut self) -> &mut ProcessorRequests {
        &mut self.head().at_processor
    }
    fn know_session(&mut self, session: Option<String>) {
        self.head().payment_session = session;
    }
    fn add_payment(&mut self, payment: Payment) {
        self.row(OrderRow::Payment(payment.clone()));
        self.head().payments.push(payment);
    }
    fn replace_payment(&mut self, at: usize, payment: Payment) {
        self.row(OrderRow::Payment(payment.clone()));
        if let Some(existing) = self.head().payments.get_mut(at) {
            *existing = payment;
        }
    }
    fn raise_flag(&mut self, flag: &str, holds: bool, words: &str) {
        self.flag_while(flag, holds, words);
    }

    /// Places a customer's draft, once it has a checkout session.
    fn session_made(&mut self) {
        if self.order.status == OrderStatus::Draft {
            self.status(OrderStatus::Created, Some("order.created"));
            if all_tries_came(&self.order) == Some(false) {
                self.payment_failed(None);
            }
        }
    }

    fn payment_failed(&mut self, reason: Option<&String>) {
        if self.order.status == OrderStatus::Created {
            self.status(OrderStatus::PaymentFailed, None);
            let error = reason.cloned();
            self.event_with("order.payment_failed", |order| OrderPaymentFailedData { order, error });
        }
    }

    fn refund_recorded(&mut self) {
        let refunded_cents = refunded_cents(&self.order);
        self.event_with("order.refund_recorded", |order| OrderRefundData { order, refunded_cents });
    }

    fn money_came(&mut self, amount: i64, own: bool) {
        let (books, total) = (books(&self.order), self.order.total_cents);
        let (kept_cents, payable) = (books.kept_cents, self.order.status.payable());
        let was_paid = own && books.received >= total;
        if payable && was_paid {
            self.head().kept_cents = kept_cents;
            self.become_paid();
        } else if payable {
            self.head().kept_cents = kept_cents;
            let recorded = |order| OrderPaymentData { order, amount_cents: amount, kept_cents };
            self.event_with("order.payment_recorded", recorded);
        } else if self.order.status == OrderStatus::Cancelled && was_paid && total > 0 && self.order.paid_at.is_none() {
            let now = self.cx.now;
            self.head().paid_at = Some(now);
        }
        self.money_went();
        if own && amount > 0 && payable {
            self.make_invoice();
        }
    }

    /// Marks an order as refunded once its whole balance was refunded.
    fn money_went(&mut self) {
        let books = books(&self.order);
        let kept_cents = books.kept_cents;
        if kept_cents != self.order.kept_cents {
            self.head().kept_cents = kept_cents;
        }
        if self.order.status == OrderStatus::PaymentFailed && all_tries_came(&self.order) == Some(true) {
            self.status(OrderStatus::Created, None);
        }
        let ends = !self.order.status.payable() && self.order.status != OrderStatus::Refunded;
        if ends && books.all_went && self.order.total_cents > 0 && self.order.paid_at.is_some() {
            self.status(OrderStatus::Refunded, Some("order.refunded"));
            self.cancel_jobs(false, &PrinterRecords::new());
        }
        flag_money(self);
    }
}

impl OrderChange<'_> {
    /// Runs an operation on the ledger, and completes the decision.
    pub(super) fn on_ledger(
        mut self,
        act: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<Decision<Order>, Refusal> {
        act(&mut self)?;
        Ok(self.order_done())
    }

    /// Records a payment that an operator received by other means than the processor. An amount below what is due
    /// leaves the order unpaid; a higher one is refused.
    pub(super) fn mark_paid(
        self,
        amount_cents: Option<i64>,
        method: &str,
        reference: Option<&String>,
    ) -> Result<Decision<Order>, Refusal> {
        if matches!(self.order.status, OrderStatus::Cancelled | OrderStatus::Refunded) {
            let words = format!("the order cannot be paid because its status is {}", self.order.status);
            return Err(Refusal::conflict("not_payable", words));
        }
        if !self.order.status.payable() {
            return Err(Refusal::transition("the order cannot be marked as paid", self.order.status));
        }
        self.on_ledger(|change| ledger::mark_paid(change, amount_cents, method, reference))
    }

    /// Marks the order as paid and creates its jobs in this commit. The invoice is created with the payment, so a free
    /// order has none.
    pub(super) fn become_paid(&mut self) {
        let now = self.cx.now;
        self.head().paid_at = Some(now);
        self.status(OrderStatus::Paid, Some("order.paid"));
        self.make_jobs();
    }
}
