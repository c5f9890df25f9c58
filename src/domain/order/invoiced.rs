//! Invoice for an order: created with the first payment, in the same commit, and afterwards notified of changes to the
//! order's payment state.

use serde::{Deserialize, Serialize};

use super::change::OrderChange;
use super::{Order, OrderAnswer, OrderEffect, OrderLine, OrderNewsAnswer, OrderStatus};
use crate::aggregate::{Decision, NewAggregate};
use crate::id::Id;
use crate::invoice::{InvoiceLine, NewInvoice, OrderPaymentSummary, OrderToInvoice};
use crate::ledger::{LedgerOwner as _, books};
use crate::mail::Mail;
use crate::party::Party;
use crate::seller::{SELLER_INCOMPLETE, SellerGap, gaps_in_words};
use crate::time::Timestamp;

/// Summary of an order's payment state. The invoice is notified whenever the summary differs from the one it was last
/// notified of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InvoicedMoney {
    /// Number of payments and refunds.
    pub payments: u32,
    /// Payments minus refunds, in minor units.
    pub kept_cents: i64,
    /// Total of failed refunds, in minor units. It may change while the balance stays the same.
    #[serde(default)]
    pub failed_cents: i64,
    /// `true` if the order was ever paid in full.
    pub paid: bool,
    /// `true` if everything was refunded.
    pub refunded: bool,
    /// `true` if the order was cancelled.
    pub cancelled: bool,
}

/// Invoice for an order, and the payment state that it was last notified of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderInvoice {
    /// ID of the invoice.
    pub id: Id,
    /// Payment state that the invoice was last notified of.
    #[serde(rename = "told")]
    pub last_money: InvoicedMoney,
}

/// Aggregate created by an order's commit.
#[derive(Clone, Debug)]
pub enum OrderCreated {
    /// Email to the customer or to staff.
    Mail(Box<Mail>),
    /// The order's invoice, already issued.
    Invoice(Box<NewInvoice>),
}

impl From<Mail> for OrderCreated {
    fn from(mail: Mail) -> Self {
        Self::Mail(Box::new(mail))
    }
}

impl NewAggregate for OrderCreated {
    fn kind(&self) -> &'static str {
        match self {
            Self::Mail(mail) => NewAggregate::kind(&**mail),
            Self::Invoice(new) => new.kind(),
        }
    }
    fn id(&self) -> Id {
        match self {
            Self::Mail(mail) => NewAggregate::id(&**mail),
            Self::Invoice(new) => new.id(),
        }
    }
}

impl Order {
    /// Returns the payment state for the invoice, as of the order commit with the given version.
    pub fn money_at(&self, version: i64) -> OrderPaymentSummary {
        OrderPaymentSummary { version, ..self.money() }
    }

    /// Returns the payment state for a new invoice.
    fn money(&self) -> OrderPaymentSummary {
        OrderPaymentSummary {
            version: 0,
            kept_cents: self.ledger.kept_cents,
            received_cents: books(&self.ledger, &self.terms()).received,
            paid_at: self.paid_at,
            refunded: self.status == OrderStatus::Refunded,
            cancelled: self.status == OrderStatus::Cancelled,
            payments: self.ledger.payments.clone(),
        }
    }

    /// Returns the time at which the order was completely shipped, if it has been.
    fn left_at(&self) -> Option<Timestamp> {
        let shipped = self.status == OrderStatus::Shipped;
        self.shipments.last().filter(|_| shipped).map(|shipment| shipment.shipped_at)
    }

    /// Returns the summary of the payment state used to detect changes relevant to the invoice.
    pub fn money_in_short(&self) -> InvoicedMoney {
        InvoicedMoney {
            payments: u32::try_from(self.ledger.payments.len()).unwrap_or(u32::MAX),
            kept_cents: self.ledger.kept_cents,
            failed_cents: self.ledger.payments.iter().fold(0, |sum, one| sum.saturating_add(one.failed_cents)),
            paid: self.paid_at.is_some(),
            refunded: self.status == OrderStatus::Refunded,
            cancelled: self.status == OrderStatus::Cancelled,
        }
    }

    /// Returns the effect that notifies the invoice; `None` if its payment state is up to date.
    pub(super) fn tell_invoice(&self) -> Option<OrderEffect> {
        let (invoice, now) = (self.invoice.as_ref()?, self.money_in_short());
        (invoice.last_money != now).then_some(OrderEffect::TellInvoice { invoice: invoice.id, money: now })
    }
}

/// Returns the invoice lines of an order. Parts of kits are not invoiced, because the kit's line has the price.
pub(super) fn invoice_lines(lines: &[OrderLine]) -> Vec<InvoiceLine> {
    let sold = lines.iter().filter(|line| line.kit_line.is_none());
    sold.map(|line| InvoiceLine {
        description: line.description.clone(),
        quantity: line.quantity,
        unit_price_cents: line.unit_price_cents,
        tax_rate_bps: line.tax_rate_bps,
    })
    .collect()
}

impl OrderChange<'_> {
    /// Creates the invoice, unless there is one. If the seller's name or address is missing, the order continues, and
    /// its invoice is put on hold without a number.
    pub(super) fn make_invoice(&mut self) {
        if self.order.invoice.is_some() {
            return;
        }
        let order = &self.order;
        let lines = invoice_lines(&order.lines);
        let shipping_tax_rate_bps = {
            let own_bps = || lines.first().map_or(0, |line| line.tax_rate_bps);
            order.sold.as_ref().map_or_else(own_bps, |sold| sold.shipping_tax_rate_bps)
        };
        let taxed = lines.iter().any(|line| line.tax_rate_bps > 0) || shipping_tax_rate_bps > 0;
        let gaps = self.cx.rules.invoices.seller_gaps(taxed);
        if !gaps.is_empty() {
            return self.wait_with_invoice(&gaps);
        }
        let buyer = order.buyer.clone().unwrap_or_else(|| Party {
            name: order.customer_email.clone().unwrap_or_default(),
            email: order.customer_email.clone(),
            ..Party::default()
        });
        let address = buyer.address.clone().or_else(|| order.shipping_address.clone());
        let new = OrderToInvoice {
            order_id: order.id,
            order_number: order.number_text(),
            site: order.site.clone(),
            customer_email: order.customer_email.clone(),
            buyer: Party { address, ..buyer },
            shipping_tax_rate_bps,
            lines,
            shipping_cents: order.shipping_cents,
            discount_cents: order.discount_cents,
            rounding_cents: order.rounding_cents(),
            currency: order.currency.clone(),
            money: order.money(),
            supplied_at: order.left_at(),
            ship_to: order.shipping_address.clone(),
        };
        let money = order.money_in_short();
        if self.order.invoice_waits {
            self.head().invoice_waits = false;
            self.flag_while(SELLER_INCOMPLETE, false, "");
        }
        if let Some(new) = NewInvoice::of(self.cx, new) {
            self.head().invoice = Some(OrderInvoice { id: new.invoice.id, last_money: money });
            let receipt = new.invoice.receipt(self.cx);
            self.make(new);
            receipt.into_iter().for_each(|mail| self.mail(mail));
        }
    }

    /// Marks the invoice as due, and alerts staff to the missing seller data.
    fn wait_with_invoice(&mut self, gaps: &[SellerGap]) {
        if !self.order.invoice_waits {
            self.head().invoice_waits = true;
        }
        let words = format!("its invoice is on hold: {}", gaps_in_words(gaps));
        self.flag_while(SELLER_INCOMPLETE, true, &words);
    }

    /// Issues the invoice on hold if the seller is now configured. The response states whether it is still on hold.
    pub(super) fn issue_invoice(mut self) -> Decision<Order, OrderNewsAnswer> {
        if self.order.invoice_waits {
            self.make_invoice();
        }
        let waits = self.order.invoice_waits;
        self.acknowledge(waits)
    }

    /// Sets the buyer on the invoice from the customer's profile. An issued invoice is never changed.
    pub(super) fn name_buyer(mut self, buyer: &Party) -> Decision<Order, OrderAnswer> {
        let open = self.order.status.payable() && self.order.invoice.is_none();
        if open && self.order.buyer.as_ref() != Some(buyer) {
            self.head().buyer = Some(buyer.clone());
        }
        self.order_done()
    }

    /// Records that the invoice was notified of the payment state. A void invoice is not reopened; a remaining balance
    /// requires a new invoice.
    pub(super) fn invoice_told(
        mut self,
        invoice: Id,
        money: InvoicedMoney,
        void: bool,
    ) -> Decision<Order, OrderNewsAnswer> {
        if self.order.invoice.is_none_or(|own| own.id != invoice) {
            return self.acknowledge(true);
        }
        let over = matches!(self.order.status, OrderStatus::Cancelled | OrderStatus::Refunded);
        let keeps_money = self.order.ledger.kept_cents > 0 && !over;
        if void && keeps_money {
            self.head().invoice = None;
            self.make_invoice();
        } else {
            self.head().invoice = Some(OrderInvoice { id: invoice, last_money: money });
        }
        self.acknowledge(true)
    }
}
