//! Effects of the ledger on its order: operators mark the order as paid, and the payment processor's signed events
//! report payments and refunds, which are recorded by the rules common to all [ledgers](crate::ledger). Status and
//! flags follow from the balance, which is the money received minus the money refunded:
//!
//! - Once the money received reaches the total, the order is paid and its jobs are created, even if part of the money
//!   has already been refunded. Any balance above the total must be refunded. Money refunded before an operator
//!   recorded a payment is not treated as received, because the operator was asked for it.
//! - If the balance of a paid order is zero, the order is refunded, whichever payments were refunded, and stays
//!   refunded if a refund fails afterwards.
//! - If the order is cancelled or refunded, the whole balance must be refunded.
//!
//! The order in which events arrive therefore does not matter, with these exceptions:
//!
//! - A refunded order accepts no further payment. A payment that arrives afterwards must be refunded and creates no
//!   jobs; had it arrived before the refund, the order would have continued.
//! - Issued documents are never changed. If more than the total is received, a refund reported between the payments
//!   is credited, whereas a refund reported after them is treated as a refund of the surplus. A refund reported before
//!   it fails is credited, too, whereas a refund whose failure is reported first is not.
//! - If more than the total was received and everything was refunded at some point, the order is refunded if this was
//!   reported before one of the refunds failed. It stays paid if the failure was reported first, because the refunded
//!   money may have been the surplus.

use serde::{Deserialize, Serialize};

use super::change::OrderChange;
use super::{Order, OrderAnswer, OrderCommand, OrderRow, OrderStatus, Payment, PrinterRecords, ProcessorRequests};
use crate::aggregate::{Aggregate as _, Decision};
use crate::event::data::{OrderPaymentData, OrderPaymentFailedData, OrderRefundData};
use crate::ledger::{
    self, Ledger, LedgerChange, LedgerCommand, LedgerEdit, LedgerOwner, LedgerStage, LedgerTerms, all_tries_came,
    books, flag_money,
};
use crate::refusal::Refusal;

/// Stored form of an order's ledger. Its fields are part of the order's document; the payments are separate rows.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Ledger", rename_all = "camelCase")]
pub(super) struct OrderLedger {
    payment_session: Option<String>,
    #[serde(default, skip_serializing_if = "ProcessorRequests::is_idle")]
    at_processor: ProcessorRequests,
    /// Balance in minor units. Absent in documents from older releases; [`Order::count_kept`] calculates it when the
    /// order is loaded.
    #[serde(default)]
    kept_cents: i64,
    #[serde(skip)]
    payments: Vec<Payment>,
}

impl LedgerOwner for Order {
    type LedgerCarrier = OrderCommand;

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }
    fn terms(&self) -> LedgerTerms {
        LedgerTerms {
            owner_id: self.id,
            kind: Self::KIND,
            stage: match self.status {
                OrderStatus::Cancelled | OrderStatus::Refunded => LedgerStage::Closed,
                status if status.payable() => LedgerStage::Payable,
                _ => LedgerStage::Paid,
            },
            status: self.status.to_string(),
            currency: self.currency.clone(),
            total_cents: self.total_cents,
        }
    }
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
    /// Recalculates `kept_cents` from the payments. Documents from older releases lack it, and the rules for the next
    /// payment depend on it.
    pub fn count_kept(&mut self) {
        self.ledger.kept_cents = books(&self.ledger, &self.terms()).kept_cents;
    }
}

impl OrderChange<'_> {
    /// Runs an operation on the ledger, and completes the decision.
    pub(super) fn on_ledger(
        mut self,
        operation: impl FnOnce(&mut LedgerEdit<'_>) -> Result<(), Refusal>,
    ) -> Result<Decision<Order, OrderAnswer>, Refusal> {
        self.edit_ledger(operation)?;
        Ok(self.order_done())
    }

    /// Runs an operation on the ledger, and applies the resulting changes to the order.
    pub(super) fn edit_ledger<R>(&mut self, operation: impl FnOnce(&mut LedgerEdit<'_>) -> R) -> R {
        let terms = self.order.terms();
        let (outcome, changes) = self.order.ledger.edit(self.cx, &terms, operation);
        changes.into_iter().for_each(|change| self.follow_change(change));
        outcome
    }

    fn follow_change(&mut self, change: LedgerChange) {
        match change {
            LedgerChange::Requests => self.mark_changed(),
            LedgerChange::Payment(payment) => self.row(OrderRow::Payment(payment)),
            LedgerChange::Flag { flag, holds, words } => self.flag_while(flag, holds, &words),
            LedgerChange::SessionMade => self.session_made(),
            LedgerChange::PaymentFailed { reason } => self.payment_failed(reason),
            LedgerChange::RefundRecorded { refunded_cents } => {
                self.event_with("order.refund_recorded", |order| OrderRefundData { order, refunded_cents });
            }
            LedgerChange::MoneyCame { amount_cents, own } => self.money_came(amount_cents, own),
            LedgerChange::MoneyWent => self.money_went(),
        }
    }

    /// Places a customer's draft, once it has a checkout session.
    fn session_made(&mut self) {
        if self.order.status == OrderStatus::Draft {
            self.status(OrderStatus::Created, Some("order.created"));
            if all_tries_came(&self.order.ledger) == Some(false) {
                self.payment_failed(None);
            }
        }
    }

    fn payment_failed(&mut self, error: Option<String>) {
        if self.order.status == OrderStatus::Created {
            self.status(OrderStatus::PaymentFailed, None);
            self.event_with("order.payment_failed", |order| OrderPaymentFailedData { order, error });
        }
    }

    fn money_came(&mut self, amount_cents: i64, own: bool) {
        let (sums, total) = (books(&self.order.ledger, &self.order.terms()), self.order.total_cents);
        let (kept_cents, payable) = (sums.kept_cents, self.order.status.payable());
        let was_paid = own && sums.received >= total;
        if payable && was_paid {
            self.head().ledger.kept_cents = kept_cents;
            self.become_paid();
        } else if payable {
            self.head().ledger.kept_cents = kept_cents;
            let recorded = |order| OrderPaymentData { order, amount_cents, kept_cents };
            self.event_with("order.payment_recorded", recorded);
        } else if self.order.status == OrderStatus::Cancelled && was_paid && total > 0 && self.order.paid_at.is_none() {
            let now = self.cx.now;
            self.head().paid_at = Some(now);
        }
        self.money_went();
        if own && amount_cents > 0 && payable {
            self.make_invoice();
        }
    }

    /// Marks the order as refunded once its whole balance has been refunded.
    fn money_went(&mut self) {
        let sums = books(&self.order.ledger, &self.order.terms());
        if sums.kept_cents != self.order.ledger.kept_cents {
            self.head().ledger.kept_cents = sums.kept_cents;
        }
        if self.order.status == OrderStatus::PaymentFailed && all_tries_came(&self.order.ledger) == Some(true) {
            self.status(OrderStatus::Created, None);
        }
        let ends = !self.order.status.payable() && self.order.status != OrderStatus::Refunded;
        if ends && sums.all_went && self.order.total_cents > 0 && self.order.paid_at.is_some() {
            self.status(OrderStatus::Refunded, Some("order.refunded"));
            self.cancel_jobs(false, &PrinterRecords::new());
        }
        self.edit_ledger(flag_money);
    }

    /// Records a payment that an operator received by means other than the processor. A smaller amount than is due
    /// leaves the order unpaid; a larger amount is rejected.
    pub(super) fn mark_paid(
        self,
        amount_cents: Option<i64>,
        method: &str,
        reference: Option<&String>,
    ) -> Result<Decision<Order, OrderAnswer>, Refusal> {
        if matches!(self.order.status, OrderStatus::Cancelled | OrderStatus::Refunded) {
            let words = format!("the order cannot be paid because its status is {}", self.order.status);
            return Err(Refusal::conflict("not_payable", words));
        }
        if !self.order.status.payable() {
            return Err(Refusal::transition("the order cannot be marked as paid", self.order.status));
        }
        self.on_ledger(|on| ledger::mark_paid(on, amount_cents, method, reference))
    }

    /// Marks the order as paid and creates its jobs in the same commit. The invoice is created with the payment, so an
    /// order that is free of charge has none.
    pub(super) fn become_paid(&mut self) {
        let now = self.cx.now;
        self.head().paid_at = Some(now);
        self.status(OrderStatus::Paid, Some("order.paid"));
        self.make_jobs();
    }
}
