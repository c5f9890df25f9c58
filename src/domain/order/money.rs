//! The money of an order: operators mark it paid, and the payment processor's signed events report payments and
//! refunds.
//!
//! An event is never refused because of the order's status, since the money has moved already: one that does not fit
//! is recorded and flagged for a person. Events arrive late, twice and out of order, and every rule here must give
//! the same result then. Nothing here talks to the processor.

use super::change::OrderChange;
use super::{Order, OrderRow, OrderStatus, Payment, PaymentNews};
use crate::domain::aggregate::Decision;
use crate::domain::event::data::{OrderPaymentFailedData, OrderRefundData};
use crate::domain::refusal::Refusal;

impl OrderChange<'_> {
    /// An operator records that the full amount was received. Part payments and surplus are refused.
    pub(super) fn mark_paid(
        mut self,
        amount_cents: Option<i64>,
        method: &str,
        reference: Option<&String>,
    ) -> Result<Decision<Order>, Refusal> {
        let total = self.order.total_cents;
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
        let amount = amount_cents.unwrap_or(total);
        if amount > total {
            return Err(Refusal::field("amountCents", format!("is more than the {total} due; give exactly that")));
        }
        if amount < total {
            return Err(Refusal::field(
                "amountCents",
                format!("is less than the {total} due; part payments are not taken, give exactly that"),
            ));
        }
        let currency = self.order.currency.clone();
        self.record(amount, currency, method, reference.cloned());
        self.become_paid();
        Ok(self.order_done())
    }

    /// Applies a signed event of the payment processor.
    pub(super) fn payment(mut self, news: &PaymentNews) -> Decision<Order> {
        match news {
            PaymentNews::Paid { amount_cents, currency, session, intent } => {
                self.paid(*amount_cents, currency.as_deref(), session.as_ref(), intent.as_ref());
            }
            PaymentNews::Failed { reason, .. } => {
                if self.order.status == OrderStatus::Created {
                    self.status(OrderStatus::PaymentFailed, None);
                    let error = reason.clone();
                    self.event_with("order.payment_failed", |order| OrderPaymentFailedData { order, error });
                }
            }
            PaymentNews::Refunded { amount_cents, whole, intent } => {
                self.refunded(*amount_cents, *whole, intent.as_ref());
            }
            PaymentNews::SessionExpired { session } => {
                if session.is_some() && *session == self.order.payment_session {
                    self.head().payment_session = None;
                }
            }
        }
        self.order_done()
    }

    /// The order is paid: its jobs are made in this commit. A refund of the whole that was seen earlier makes the
    /// order refunded at once, without jobs.
    pub(super) fn become_paid(&mut self) {
        let now = self.cx.now;
        self.head().paid_at = Some(now);
        if self.order.refunded_whole {
            self.status(OrderStatus::Refunded, Some("order.refunded"));
        } else {
            self.status(OrderStatus::Paid, Some("order.paid"));
            self.make_jobs();
        }
    }

    fn paid(&mut self, amount: Option<i64>, currency: Option<&str>, session: Option<&String>, intent: Option<&String>) {
        let reference = intent.or(session);
        let known = |payment: &Payment| {
            payment.amount_cents >= 0
                && payment.reference.is_some()
                && [intent, session].into_iter().flatten().any(|one| payment.reference.as_ref() == Some(one))
        };
        let same_session =
            session.is_some() && self.order.paid_at.is_some() && self.order.payment_session.as_ref() == session;
        if self.order.payments.iter().any(known) || same_session {
            return; // `checkout.session.completed` and `payment_intent.succeeded` both report the same payment.
        }
        let currency = currency.map_or_else(|| self.order.currency.clone(), str::to_lowercase);
        let amount = amount.unwrap_or(self.order.total_cents);
        let matches = amount == self.order.total_cents && currency == self.order.currency;
        let words = format!("a payment of {amount} {currency} came while the order was {}", self.order.status);
        self.record(amount, currency, "processor", reference.cloned());
        if !self.order.status.payable() {
            self.not_wanted(reference, &words);
        } else if matches {
            let head = self.head();
            head.payment_session = session.cloned().or(head.payment_session.take());
            head.payment_intent = intent.cloned().or(head.payment_intent.take());
            self.become_paid();
        } else {
            let due = format!("{} {}", self.order.total_cents, self.order.currency);
            self.flag("amount_mismatch", &format!("{words}; {due} is due"));
        }
    }

    /// Money arrived for an order that no longer takes any: it is flagged to be given back, unless it was refunded
    /// already.
    fn not_wanted(&mut self, reference: Option<&String>, words: &str) {
        let went_back = self.order.refunded_whole && self.order.paid_at.is_none();
        if self.order.status == OrderStatus::Cancelled && went_back {
            let now = self.cx.now;
            self.head().paid_at = Some(now);
            self.status(OrderStatus::Refunded, Some("order.refunded"));
        } else if reference.is_none() || self.net(reference) > 0 {
            self.flag("refund_due", words);
        }
    }

    fn refunded(&mut self, amount: Option<i64>, whole: bool, intent: Option<&String>) {
        if let (Some(intent), Some(own)) = (intent, &self.order.payment_intent)
            && intent != own
        {
            self.other_refunded(amount, whole, intent.clone());
            return;
        }
        let (before, total) = (self.order.refunded_cents, self.order.total_cents);
        let amount = amount.unwrap_or(if whole { total } else { before }).max(before);
        // The processor's word that the whole was refunded counts even if the amount is below the order's total, as
        // it is after a mismatched payment.
        let whole = whole || (total > 0 && amount >= total);
        if amount > before {
            self.head().refunded_cents = amount;
            let (currency, reference) =
                (self.order.currency.clone(), intent.or(self.order.payment_intent.as_ref()).cloned());
            self.record(before - amount, currency, "processor", reference);
            self.event_with("order.refund_recorded", |order| OrderRefundData { order, refunded_cents: amount });
        }
        if whole && !self.order.refunded_whole {
            self.head().refunded_whole = true;
        }
        let paid = self.order.paid_at.is_some() || self.order.payments.iter().any(|payment| payment.amount_cents > 0);
        if whole && paid && !self.order.status.payable() && self.order.status != OrderStatus::Refunded {
            self.head().flags.retain(|flag| flag != "refund_due");
            self.status(OrderStatus::Refunded, Some("order.refunded"));
            self.cancel_jobs(false);
        }
    }

    /// A refund of a payment other than the one that paid this order, such as a second payment. It is recorded and
    /// leaves the order's status.
    fn other_refunded(&mut self, amount: Option<i64>, whole: bool, intent: String) {
        let of_it = |payment: &&Payment| payment.reference.as_ref() == Some(&intent);
        let taken: i64 = self.order.payments.iter().filter(of_it).map(|one| one.amount_cents.max(0)).sum();
        let back: i64 = -self.order.payments.iter().filter(of_it).map(|one| one.amount_cents.min(0)).sum::<i64>();
        let amount = amount.unwrap_or(if whole { taken } else { back });
        if amount > back {
            let currency = self.order.currency.clone();
            self.record(back - amount, currency, "processor", Some(intent));
            self.event_with("order.refund_recorded", |order| OrderRefundData { order, refunded_cents: amount });
        }
        if whole && self.order.flags.iter().any(|flag| flag == "refund_due") {
            self.head().flags.retain(|flag| flag != "refund_due");
        }
    }

    fn net(&self, reference: Option<&String>) -> i64 {
        self.order.payments.iter().filter(|one| one.reference.as_ref() == reference).map(|one| one.amount_cents).sum()
    }

    fn record(&mut self, amount_cents: i64, currency: String, method: &str, reference: Option<String>) {
        let payment = Payment {
            id: self.cx.ids.id(),
            order_id: self.order.id,
            amount_cents,
            currency,
            method: method.to_owned(),
            reference,
            created_at: self.cx.now,
        };
        self.row(OrderRow::Payment(payment.clone()));
        self.head().payments.push(payment);
    }
}
