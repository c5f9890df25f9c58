//! The money of an order: operators mark it paid, and the payment processor's signed events report payments and
//! refunds.
//!
//! An event is never refused because of the order's status, since the money has moved already: one that does not fit
//! is recorded and flagged for a person. Events arrive late, twice and out of order. The rows of payments and refunds
//! are kept as they come, `books` adds them up, and status and flags follow from what is kept:
//!
//! - kept reaches the total: the order is paid, and its jobs are made; what is kept above it is due back
//! - kept falls to zero after it was paid: the order is refunded, whichever payments went back
//! - the order is cancelled or refunded: all that is kept is due back
//!
//! Nothing here talks to the processor.

use super::change::OrderChange;
use super::{Order, OrderRow, OrderStatus, PROCESSOR, Payment, PaymentNews, SeenPrints};
use crate::domain::aggregate::Decision;
use crate::domain::event::data::{OrderPaymentData, OrderPaymentFailedData, OrderRefundData};
use crate::domain::id::Id;
use crate::domain::refusal::Refusal;

/// Flag of an order that holds money which has to go back.
const REFUND_DUE: &str = "refund_due";
/// Flag of an order for which the processor took another amount or currency than was due.
const AMOUNT_MISMATCH: &str = "amount_mismatch";

impl OrderChange<'_> {
    /// An operator records money that was received by other means than the processor. Less than is due leaves the
    /// order unpaid; more is refused.
    pub(super) fn mark_paid(
        mut self,
        amount_cents: Option<i64>,
        method: &str,
        reference: Option<&String>,
    ) -> Result<Decision<Order>, Refusal> {
        if matches!(self.order.status, OrderStatus::Cancelled | OrderStatus::Refunded) {
            return Err(Refusal::conflict(
                "not_payable",
                format!("the order is {} and takes no payment", self.order.status),
            ));
        }
        if !self.order.status.payable() {
            return Err(Refusal::transition("marking an order paid", self.order.status));
        }
        if method.trim().is_empty() {
            return Err(Refusal::field("method", "must not be empty"));
        }
        if method.trim().eq_ignore_ascii_case(PROCESSOR) {
            return Err(Refusal::field("method", "is the word for what the payment processor reports; use another"));
        }
        let due = self.order.due_cents();
        let amount = amount_cents.unwrap_or(due);
        if amount > due {
            return Err(Refusal::field("amountCents", format!("is more than the {due} due; give at most that")));
        }
        if amount < 0 || (amount == 0 && due > 0) {
            return Err(Refusal::field("amountCents", "must be above 0"));
        }
        if amount > 0 {
            self.record(Payment {
                amount_cents: amount,
                method: method.to_owned(),
                reference: reference.cloned(),
                ..self.blank()
            });
        }
        self.money_came(amount, true);
        Ok(self.order_done())
    }

    /// An operator has given back money that did not come through the processor: of the payment that is named, all that
    /// is left of it or a part. What came through the processor is refunded there, and its event records it.
    pub(super) fn refund(mut self, payment: Option<Id>, amount_cents: Option<i64>) -> Result<Decision<Order>, Refusal> {
        let paid = |one: &&Payment| one.amount_cents > 0 && payment.is_none_or(|id| one.id == id);
        let Some(paid) = self.order.payments.iter().rev().find(paid).cloned() else {
            return Err(match payment {
                Some(_) => Refusal::field("paymentId", "is no payment of this order"),
                None => Refusal::conflict("nothing_to_refund", "nothing was paid for this order"),
            });
        };
        if paid.of_processor() {
            let words = "it was paid through the payment processor: refund it there, and its event records it here";
            return Err(Refusal::conflict("refund_at_processor", words));
        }
        if payment.is_none() {
            return Err(Refusal::field("paymentId", "is required for what was not paid through the processor"));
        }
        let left = self.order.left_of(&paid);
        if left == 0 {
            return Err(Refusal::conflict("nothing_to_refund", "this payment went back already"));
        }
        let amount = amount_cents.unwrap_or(left);
        if !(1..=left).contains(&amount) {
            return Err(Refusal::field(
                "amountCents",
                format!("must be from 1 to {left}, which is left of this payment"),
            ));
        }
        let refund = Payment {
            amount_cents: -amount,
            currency: paid.currency.clone(),
            method: paid.method.clone(),
            reference: paid.reference.clone(),
            refund_of: Some(paid.id),
            ..self.blank()
        };
        self.record(refund);
        let refunded_cents = self.order.refunded_cents();
        self.event_with("order.refund_recorded", |order| OrderRefundData { order, refunded_cents });
        self.money_went();
        Ok(self.order_done())
    }

    /// Applies a signed event of the payment processor.
    pub(super) fn payment(mut self, news: &PaymentNews) -> Decision<Order> {
        match news {
            PaymentNews::Paid { amount_cents, currency, session, intent } => {
                self.paid(*amount_cents, currency.as_deref(), session.as_ref(), intent.as_ref());
            }
            PaymentNews::Failed { reason, intent } => {
                let paid_since = self.order.payments.iter().any(|one| one.is_named(intent.as_ref(), None));
                if self.order.status == OrderStatus::Created && !paid_since {
                    self.status(OrderStatus::PaymentFailed, None);
                    let error = reason.clone();
                    self.event_with("order.payment_failed", |order| OrderPaymentFailedData { order, error });
                }
            }
            PaymentNews::Refunded { amount_cents, whole, currency, intent } => {
                self.refunded(*amount_cents, *whole, currency.as_deref(), intent.as_ref());
            }
            PaymentNews::SessionExpired { session } => {
                if session.is_some() && *session == self.order.payment_session {
                    self.head().payment_session = None;
                }
            }
        }
        self.order_done()
    }

    /// The order is paid: its jobs are made in this commit.
    pub(super) fn become_paid(&mut self) {
        let now = self.cx.now;
        self.head().paid_at = Some(now);
        self.status(OrderStatus::Paid, Some("order.paid"));
        self.make_jobs();
    }

    fn paid(&mut self, amount: Option<i64>, currency: Option<&str>, session: Option<&String>, intent: Option<&String>) {
        if let Some(known) = self.order.payments.iter().position(|one| one.is_named(intent, session)) {
            self.told_again(known, session, intent);
            return; // `checkout.session.completed` and `….async_payment_succeeded` both report the same payment.
        }
        let payable = self.order.status.payable();
        let due = payable.then(|| self.order.due_cents());
        let amount = amount.unwrap_or(self.order.total_cents);
        let currency = currency.map_or_else(|| self.order.currency.clone(), str::to_lowercase);
        let own = currency == self.order.currency;
        if let (true, Some(session)) = (payable, session) {
            self.head().payment_session = Some(session.clone());
        }
        self.record(Payment {
            amount_cents: amount,
            currency,
            method: PROCESSOR.to_owned(),
            reference: intent.or(session).cloned(),
            session: session.cloned(),
            due_cents: due,
            ..self.blank()
        });
        self.money_came(amount, own);
    }

    /// A payment that is known already. An event that names its intent for the first time makes its refunds known.
    fn told_again(&mut self, known: usize, session: Option<&String>, intent: Option<&String>) {
        let payment = &self.order.payments[known];
        let unknown = payment.reference == payment.session;
        let (Some(intent), true) = (intent.filter(|one| payment.reference.as_ref() != Some(*one)), unknown) else {
            return;
        };
        let learnt = Payment {
            reference: Some(intent.clone()),
            session: payment.session.clone().or(session.cloned()),
            ..payment.clone()
        };
        self.row(OrderRow::Payment(learnt.clone()));
        self.head().payments[known] = learnt;
        self.money_went();
    }

    /// Money was paid back of one payment; `amount` is all that went back of it so far.
    fn refunded(&mut self, amount: i64, whole: bool, currency: Option<&str>, intent: Option<&String>) {
        let refunds = self.order.payments.iter().filter(|one| one.method == PROCESSOR && one.amount_cents < 0);
        let of_it = refunds.filter(|one| one.reference.as_ref() == intent);
        let before = of_it.fold(0, |sum: i64, one| sum.saturating_sub(one.amount_cents));
        if amount <= before {
            return; // Told late or twice.
        }
        let paid = self.order.payments.iter().find(|one| one.is_named(intent, None));
        let currency = paid.map(|paid| paid.currency.clone()).or(currency.map(str::to_lowercase));
        let refund = Payment {
            amount_cents: before - amount,
            currency: currency.unwrap_or_else(|| self.order.currency.clone()),
            method: PROCESSOR.to_owned(),
            reference: intent.cloned(),
            whole,
            ..self.blank()
        };
        self.record(refund);
        let refunded_cents = self.order.refunded_cents();
        self.event_with("order.refund_recorded", |order| OrderRefundData { order, refunded_cents });
        self.money_went();
    }

    /// Follows up on a payment that was just recorded; `own` says whether it is in the order's currency.
    fn money_came(&mut self, amount: i64, own: bool) {
        let (before, total) = (self.order.kept_cents, self.order.total_cents);
        let kept = self.order.books().kept;
        // It was paid at the processor, also when its refund was heard of first.
        let was_paid = own && before.saturating_add(amount) >= total;
        match self.order.status {
            status if status.payable() && kept >= total && was_paid => {
                self.head().kept_cents = kept;
                self.become_paid();
            }
            status if status.payable() && was_paid && kept == 0 && total > 0 => self.had_been_paid(),
            status if status.payable() => {
                self.head().kept_cents = kept;
                let recorded = |order| OrderPaymentData { order, amount_cents: amount, kept_cents: kept };
                self.event_with("order.payment_recorded", recorded);
            }
            OrderStatus::Cancelled if was_paid && total > 0 && self.order.paid_at.is_none() => self.had_been_paid(),
            _ => {}
        }
        self.money_went();
    }

    fn had_been_paid(&mut self) {
        let now = self.cx.now;
        self.head().paid_at = Some(now);
        if self.order.status.payable() {
            self.status(OrderStatus::Refunded, Some("order.refunded"));
        }
    }

    /// Brings the status and the flags in line with what is kept. An order whose last money went back is refunded.
    fn money_went(&mut self) {
        let kept = self.order.books().kept;
        if kept != self.order.kept_cents {
            self.head().kept_cents = kept;
        }
        let ends = !self.order.status.payable() && self.order.status != OrderStatus::Refunded;
        if ends && kept == 0 && self.order.total_cents > 0 && self.order.paid_at.is_some() {
            self.status(OrderStatus::Refunded, Some("order.refunded"));
            self.cancel_jobs(false, &SeenPrints::new());
        }
        self.flag_money();
    }

    /// Raises and lowers the flags that say that money needs a person.
    pub(super) fn flag_money(&mut self) {
        let (books, order) = (self.order.books(), &self.order);
        let (kept, total, currency, status) = (books.kept, order.total_cents, &order.currency, order.status);
        let owed = if matches!(status, OrderStatus::Cancelled | OrderStatus::Refunded) { 0 } else { total };
        let refund_due = !status.payable() && (kept > owed || books.foreign);
        let due = format!("{kept} {currency} is kept while the order is {status} and its total is {total} {currency}");
        let mismatch = format!("the processor took another amount or currency than was due: {due}");
        self.flag_while(REFUND_DUE, refund_due, &format!("money has to go back: {due}"));
        self.flag_while(AMOUNT_MISMATCH, books.mismatch, &mismatch);
    }

    /// An empty payment of this order, made now.
    fn blank(&self) -> Payment {
        Payment {
            id: self.cx.ids.id(),
            order_id: self.order.id,
            amount_cents: 0,
            currency: self.order.currency.clone(),
            method: String::new(),
            reference: None,
            session: None,
            due_cents: None,
            whole: false,
            refund_of: None,
            created_at: self.cx.now,
        }
    }

    fn record(&mut self, payment: Payment) {
        self.row(OrderRow::Payment(payment.clone()));
        self.head().payments.push(payment);
    }
}
