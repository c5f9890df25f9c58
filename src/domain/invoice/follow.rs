//! Invoice for an order: created with the order's first payment, in the order's own commit, and updated as the order's
//! payments change. Applying the order's state always brings the invoice up to date, whatever happened to the order;
//! applying the same state twice has no effect.

use super::{DocumentKind, Invoice, InvoiceContent, InvoiceLine, InvoiceRow, InvoiceStatus, Party, Payment, Sums};
use crate::address::Address;
use crate::aggregate::{DecisionContext, NewAggregate};
use crate::event::Event;
use crate::id::Id;
use crate::time::Timestamp;

/// Payment state of an order, as tracked by its invoice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OrderPaymentSummary {
    /// Number of the order commit with this state, or 0 when the invoice is created. States older than the one applied
    /// most recently are ignored.
    pub version: i64,
    /// Payments in the order's currency minus refunds, in minor units.
    pub kept_cents: i64,
    /// Payments in the order's currency, regardless of refunds, in minor units: the amount shown as paid when the
    /// invoice is issued.
    pub received_cents: i64,
    /// Time at which the order was paid in full; a later refund does not clear it.
    pub paid_at: Option<Timestamp>,
    /// `true` if all payments were refunded.
    pub refunded: bool,
    /// `true` if the order was cancelled.
    pub cancelled: bool,
    /// Payments and refunds, oldest first.
    pub payments: Vec<Payment>,
}

/// Order to be invoiced.
#[derive(Clone, Debug)]
pub struct OrderToInvoice {
    /// Order being paid.
    pub order_id: Id,
    /// Human-readable number of the invoiced order.
    pub order_number: String,
    /// Site that the order belongs to.
    pub site: String,
    /// The customer's email address.
    pub customer_email: Option<String>,
    /// Party named on the invoice.
    pub buyer: Party,
    /// Ordered items, with their prices and tax rates at the time of invoicing.
    pub lines: Vec<InvoiceLine>,
    /// Shipping charge in minor units.
    pub shipping_cents: i64,
    /// Tax rate for shipping, in basis points.
    pub shipping_tax_rate_bps: i64,
    /// Discount in minor units.
    pub discount_cents: i64,
    /// Amount payable beyond the total, in minor units; used only for channel orders.
    pub rounding_cents: i64,
    /// Currency of all amounts.
    pub currency: String,
    /// Payments of the order.
    pub money: OrderPaymentSummary,
    /// Time at which everything had been shipped; `None` if parts are still to be shipped.
    pub supplied_at: Option<Timestamp>,
    /// Delivery address, if known.
    pub ship_to: Option<Address>,
}

/// Invoice created in an order's commit, with its documents.
#[derive(Clone, Debug)]
pub struct NewInvoice {
    /// State of the new invoice.
    pub invoice: Invoice,
    /// Invoice document, and a credit note if the payment has already been refunded.
    pub rows: Vec<InvoiceRow>,
    /// Events about the invoice, published by the order's commit.
    pub events: Vec<Event>,
}

impl NewAggregate for NewInvoice {
    fn kind(&self) -> &'static str {
        "invoice"
    }
    fn id(&self) -> Id {
        self.invoice.id
    }
}

impl NewInvoice {
    /// Creates the invoice for an order. Returns `None` if its totals overflow.
    pub fn of(cx: &DecisionContext<'_>, order: OrderToInvoice) -> Option<Self> {
        let shipping = (order.shipping_cents, order.shipping_tax_rate_bps);
        let sums = Sums::of(&order.lines, shipping, order.discount_cents)?;
        let sums = Sums { rounding_cents: order.rounding_cents, ..sums };
        let content = InvoiceContent {
            lines: order.lines,
            shipping_cents: order.shipping_cents,
            shipping_tax_rate_bps: order.shipping_tax_rate_bps,
            discount_cents: order.discount_cents,
            sums,
            currency: order.currency,
            buyer: order.buyer,
            notes: None,
        };
        let mut invoice = Invoice {
            order_id: Some(order.order_id),
            order_number: Some(order.order_number),
            customer_email: order.customer_email,
            supplied_at: order.supplied_at,
            ship_to: order.ship_to,
            ..Invoice::blank(cx, cx.ids.id(), order.site, content)
        };
        let mut rows = vec![invoice.issue(cx, order.money.received_cents)];
        let mut events = vec![invoice.event(cx, "invoice.issued")];
        let (more, more_events) = invoice.follow(cx, &order.money);
        rows.extend(more);
        events.extend(more_events);
        Some(Self { invoice, rows, events })
    }
}

impl Invoice {
    /// Applies the payments of the invoice's order. Returns the documents to issue and the events. Changes nothing if
    /// the payments were already applied.
    pub(super) fn follow(
        &mut self,
        cx: &DecisionContext<'_>,
        money: &OrderPaymentSummary,
    ) -> (Vec<InvoiceRow>, Vec<Event>) {
        // Two tell of the order's money, and the later one may have read it earlier: what was issued for that would be
        // wrong for ever.
        if money.version < self.followed {
            return Default::default();
        }
        self.followed = money.version;
        self.ledger.payments.clone_from(&money.payments);
        if self.status == InvoiceStatus::Void {
            return Default::default();
        }
        self.settle(cx, money.kept_cents, money.paid_at, money.refunded, money.cancelled)
    }

    /// Updates the status and the credit notes to match the payment balance.
    pub(super) fn settle(
        &mut self,
        cx: &DecisionContext<'_>,
        kept_cents: i64,
        paid_at: Option<Timestamp>,
        refunded: bool,
        cancelled: bool,
    ) -> (Vec<InvoiceRow>, Vec<Event>) {
        let (mut rows, mut events) = (Vec::new(), Vec::new());
        self.ledger.kept_cents = kept_cents;
        let total = self.content.sums.payable_cents();
        if self.paid_at.is_none() && paid_at.is_some() {
            self.paid_at = paid_at;
            self.status = InvoiceStatus::Paid;
            events.push(self.event(cx, "invoice.paid"));
        }
        if self.paid_at.is_some() {
            // What comes after everything went back has to go back too, and pays for nothing.
            let over = refunded || self.status == InvoiceStatus::Refunded;
            let uncovered = if over { total } else { total - kept_cents.clamp(0, total) };
            rows.extend(self.credit(cx, uncovered - self.credited_cents(), true));
            if refunded && self.status != InvoiceStatus::Refunded {
                self.status = InvoiceStatus::Refunded;
                events.push(self.event(cx, "invoice.refunded"));
            }
        } else if cancelled && kept_cents <= 0 {
            let (row, event) = self.take_back(cx);
            rows.extend(row);
            events.push(event);
        } else {
            self.status = if kept_cents > 0 { InvoiceStatus::PartiallyPaid } else { InvoiceStatus::Open };
        }
        let note = |row: &InvoiceRow| matches!(row, InvoiceRow::Issued(one) if one.kind == DocumentKind::CreditNote);
        let noted = rows.iter().any(note);
        if noted {
            events.push(self.event(cx, "credit_note.issued"));
        }
        (rows, events)
    }

    /// Reverses an issued invoice that was never paid.
    pub(super) fn take_back(&mut self, cx: &DecisionContext<'_>) -> (Option<InvoiceRow>, Event) {
        let row = self.credit(cx, self.content.sums.payable_cents(), false);
        self.status = InvoiceStatus::Void;
        (row, self.event(cx, "invoice.voided"))
    }
}
