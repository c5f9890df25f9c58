//! Orders sold by a different shop: created as paid, at that shop's prices. Changes made there are applied here, and
//! the shop is notified of shipments.
//!
//! The selling shop has received the money for such an order. The money is recorded as a payment with the method
//! [`CHANNEL_METHOD`], so that the ledger is complete and our own payment processor is never called to refund it. Like
//! every paid order, the order gets an invoice: the business that prints and ships is the seller of the parts, and the
//! selling shop's own receipt has no number in our series.

use serde::{Deserialize, Serialize};

use super::change::OrderChange;
use super::invoiced::invoice_lines;
use super::place::{blank, check_new, named};
use super::{NewOrder, Order, OrderAnswer, OrderEffect, OrderNewsAnswer, OrderStatus, PrinterRecords};
use crate::aggregate::{Decision, DecisionContext};
use crate::id::Id;
use crate::invoice::Sums;
use crate::ledger::{returned_elsewhere, taken_elsewhere};
use crate::refusal::Refusal;

/// Payment method for payments collected by the shop that sold the order.
pub const CHANNEL_METHOD: &str = "channel";

/// Origin of an order in the shop that sold it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChannelOrigin {
    /// Channel order that records the sale.
    pub channel_order_id: Id,
    /// Sales channel through which the order arrived.
    pub channel_id: Id,
    /// Display number of the order in the selling shop.
    pub number: String,
    /// Number of order lines that exist in the selling shop; they precede the parts of kits and sets.
    pub lines: u32,
    /// Tax rate for shipping, in basis points.
    pub shipping_tax_rate_bps: i64,
    /// Amount paid beyond the other amounts, in minor units. It arises because tax-inclusive prices do not always
    /// convert to whole net amounts.
    #[serde(default)]
    pub rounding_cents: i64,
    /// `true` if the selling shop, rather than this one, notifies the customer of shipments.
    #[serde(default)]
    pub tells_customer: bool,
    /// Number of shipments that the channel order has been notified of.
    #[serde(default)]
    pub told_shipments: u32,
    /// `true` if the channel order has been notified that no further shipment will follow.
    #[serde(default)]
    pub told_last: bool,
}

/// New order sold by a different shop.
#[derive(Clone, Debug)]
pub struct SoldOrder {
    /// Order data. The lines have the selling shop's prices and tax rates; they precede the parts of sets.
    pub new: NewOrder,
    /// Origin of the order in the selling shop.
    pub sold: ChannelOrigin,
    /// Net shipping charge in minor units.
    pub shipping_cents: i64,
    /// Net discount in minor units.
    pub discount_cents: i64,
    /// Total paid, in minor units.
    pub total_cents: i64,
}

/// Changes made to an order in the shop that sold it. Neither value is ever reset or reduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShopOrderChange {
    /// `true` if the order was cancelled.
    pub cancelled: bool,
    /// Total refunded so far, in minor units.
    pub refunded_cents: i64,
}

/// Shipment as counted by the selling shop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelShipment {
    /// Sequence number within the order, starting at 1.
    pub number: u32,
    /// Name of the carrier.
    pub carrier: String,
    /// The carrier's tracking number.
    pub tracking_number: String,
    /// Units that the shipment completes for each of the selling shop's lines, in line order.
    pub units: Vec<u32>,
}

impl Order {
    /// Returns the amount due beyond the other amounts, in minor units; 0 for direct sales.
    pub fn rounding_cents(&self) -> i64 {
        self.sold.as_ref().map_or(0, |sold| sold.rounding_cents)
    }
}

/// Creates the order: placed, paid and invoiced in one commit.
pub(super) fn create(
    id: Id,
    cx: &DecisionContext<'_>,
    order: &SoldOrder,
) -> Result<Decision<Order, OrderAnswer>, Refusal> {
    let SoldOrder { new, sold, .. } = order;
    check_new(new, cx.rules, cx.now)?;
    let priced = invoice_lines(&new.lines);
    let shipping = (order.shipping_cents, sold.shipping_tax_rate_bps);
    let sums = Sums::of(&priced, shipping, order.discount_cents)
        .ok_or_else(|| Refusal::field("lines", "the total is too large"))?;
    if sums.total_cents.saturating_add(sold.rounding_cents) != order.total_cents {
        return Err(Refusal::field("totalCents", "must equal the sum of lines, shipping, discount and tax"));
    }
    let new_order = Order {
        status: OrderStatus::Created,
        customer_email: new.customer_email.as_ref().map(|email| email.trim().to_lowercase()),
        lines: new.lines.clone(),
        subtotal_cents: sums.subtotal_cents,
        shipping_cents: order.shipping_cents,
        tax_cents: sums.tax_cents,
        discount_cents: order.discount_cents,
        total_cents: order.total_cents,
        sold: Some(sold.clone()),
        ..blank(id, cx, new)
    };
    let mut change = OrderChange::of(cx, new_order);
    change.event("order.created");
    change.paid_there(order.total_cents, &sold.number);
    Ok(change.order_done().requires(new.lines.iter().enumerate().flat_map(|(n, line)| named(n, line))))
}

impl Order {
    /// Returns the shipments as counted by the selling shop: a set is shipped once its last part is.
    pub fn left_there(&self) -> Vec<ChannelShipment> {
        let lines = self.sold.as_ref().map_or(0, |sold| sold.lines as usize).min(self.lines.len());
        let mut before = vec![0u64; lines];
        let mut upto = self.clone();
        upto.shipments.clear();
        let shipment = |sent: &super::SentShipment| {
            upto.shipments.push(sent.clone());
            // What the customer got in place of rejected parts completes nothing there.
            let now = upto.with_sets(upto.departed_parts());
            let units = before.iter_mut().zip(&now).map(|(before, now)| {
                let units = u32::try_from(now.saturating_sub(*before)).unwrap_or(u32::MAX);
                *before = *now;
                units
            });
            ChannelShipment {
                number: sent.number,
                carrier: sent.shipment.carrier.clone(),
                tracking_number: sent.shipment.tracking_number.clone(),
                units: units.collect(),
            }
        };
        self.shipments.iter().map(shipment).collect()
    }

    /// Returns the effect that notifies the channel order of shipments; `None` if it has been notified of all of them.
    pub(super) fn tell_shop(&self) -> Option<OrderEffect> {
        let sold = self.sold.as_ref()?;
        let shipments = u32::try_from(self.shipments.len()).unwrap_or(u32::MAX);
        let last = self.status == OrderStatus::Shipped;
        let is_current = shipments <= sold.told_shipments && (sold.told_last || !last);
        let channel_order = sold.channel_order_id;
        (shipments > 0 && !is_current).then_some(OrderEffect::TellShop { channel_order, shipments, last })
    }
}

impl OrderChange<'_> {
    /// Records the payment collected by the selling shop, which pays the order in full.
    fn paid_there(&mut self, total_cents: i64, number: &str) {
        if total_cents == 0 {
            return self.become_paid();
        }
        self.edit_ledger(|on| taken_elsewhere(on, total_cents, CHANNEL_METHOD, number));
    }

    /// Applies changes made in the shop that sold the order. Idempotent: duplicate or late changes have no effect. A
    /// shipped order can no longer be cancelled.
    pub(super) fn there(mut self, news: ShopOrderChange) -> Result<Decision<Order, OrderAnswer>, Refusal> {
        self.edit_ledger(|on| returned_elsewhere(on, CHANNEL_METHOD, news.refunded_cents));
        let over = matches!(self.order.status, OrderStatus::Shipped | OrderStatus::Cancelled | OrderStatus::Refunded);
        if news.cancelled && !over { self.cancel(false, &PrinterRecords::new()) } else { Ok(self.order_done()) }
    }

    /// Records that the channel order has been notified of the given shipments.
    pub(super) fn shop_told(mut self, shipments: u32, last: bool) -> Decision<Order, OrderNewsAnswer> {
        let previous = self.order.sold.as_ref().map(|sold| (sold.told_shipments, sold.told_last));
        if let Some((told_shipments, was_last)) = previous
            && (shipments > told_shipments || (last && !was_last))
            && let Some(sold) = self.head().sold.as_mut()
        {
            (sold.told_shipments, sold.told_last) = (told_shipments.max(shipments), was_last || last);
        }
        self.acknowledge(true)
    }
}
