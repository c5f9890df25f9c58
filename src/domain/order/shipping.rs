//! Shipping: contents of each shipment, and the point at which the whole order has been shipped.
//!
//! Parts may be shipped as soon as they are good. The order becomes shipped with the shipment that completes it: with
//! all ordered parts or, if the order is ready and the customer accepts it as it is, with all good parts.

use std::collections::BTreeMap;

use super::change::{OrderChange, REJECTED_AFTER_SHIPPING};
use super::{Order, OrderAnswer, OrderLine, OrderStatus, PICKUP, PrinterRecords, SentLine, SentShipment, Shipment};
use crate::aggregate::Decision;
use crate::event::data::{OrderPartShippedData, OrderShippedData};
use crate::refusal::{Faults, Refusal};
use crate::shop_clock::ShopClock;
use crate::time::Timestamp;

/// Maximum number of shipments per order. The limit exists because they are part of the order's snapshot row.
const MAX_SHIPMENTS: usize = 50;

/// Carrier and delivery date that are suggested for a shipment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ShipmentSuggestion {
    /// Name of the carrier; empty if none is suggested.
    pub carrier: String,
    /// Expected delivery date, `YYYY-MM-DD`; empty if none is suggested.
    pub estimated_delivery: String,
}

impl SentShipment {
    /// Suggests the same carrier for another shipment, with as many days until delivery as this one has. Returns
    /// nothing for a pickup.
    pub fn suggest_next(&self, now: Timestamp, clock: &ShopClock) -> Option<ShipmentSuggestion> {
        let Shipment { carrier, estimated_delivery, .. } = &self.shipment;
        if carrier == PICKUP {
            return None;
        }
        let delivery = estimated_delivery.parse::<jiff::civil::Date>().ok();
        let days = delivery.and_then(|day| day.since(clock.day(self.shipped_at)).ok());
        let next = days.filter(|days| !days.is_negative()).and_then(|days| clock.day(now).checked_add(days).ok());
        let estimated_delivery = next.map(|day| day.to_string()).unwrap_or_default();
        Some(ShipmentSuggestion { carrier: carrier.clone(), estimated_delivery })
    }
}

/// Shipping progress of a line.
struct LineShipping {
    /// Number of parts still owed.
    owed: u64,
    /// Number of good parts among the owed ones that have not been shipped.
    there: u64,
}

impl Order {
    /// Returns the number of shipped parts per line, in line order, excluding parts that were rejected afterwards: at
    /// most the ordered quantity. Kits are counted in complete sets.
    pub fn shipped_parts(&self) -> Vec<u64> {
        let mut left = self.departed_parts();
        for job in self.jobs.values() {
            if let Some(left) = left.get_mut(job.line as usize) {
                *left = left.saturating_sub(self.rejected_departures(job));
            }
        }
        self.with_sets(left)
    }

    /// Expands the kits listed in a shipment into their parts.
    fn parts_named(&self, lines: &[SentLine]) -> Vec<SentLine> {
        let mut parts: BTreeMap<u32, u64> = BTreeMap::new();
        for SentLine { line, quantity } in lines {
            let quantity = u64::from(*quantity);
            if self.lines.get(*line as usize).is_some_and(OrderLine::is_kit) {
                for (part, in_one_set) in self.parts_of_kit(*line as usize) {
                    *parts.entry(part as u32).or_default() += quantity * in_one_set;
                }
            } else {
                *parts.entry(*line).or_default() += quantity;
            }
        }
        let sent = |(line, quantity)| SentLine { line, quantity: u32::try_from(quantity).unwrap_or(u32::MAX) };
        parts.into_iter().map(sent).collect()
    }

    /// Returns the shipping progress of each line; a kit's line is counted in complete sets.
    fn leaving(&self) -> Vec<LineShipping> {
        let lines = self.lines.iter().zip(self.parts()).zip(self.shipped_parts());
        let left = lines.map(|((line, parts), left)| {
            let owed = u64::from(line.quantity).saturating_sub(left);
            LineShipping { owed, there: parts.good.saturating_sub(left).min(owed) }
        });
        let mut left: Vec<LineShipping> = left.collect();
        // A set can leave only with parts that are still here.
        for (n, _) in self.lines.iter().enumerate().filter(|(_, line)| line.is_kit()) {
            let sets = self.parts_of_kit(n).map(|(part, in_one_set)| left[part].there / in_one_set);
            left[n].there = sets.min().unwrap_or(0).min(left[n].owed);
        }
        left
    }

    /// Returns the number of good parts per line that are owed and have not been shipped, in line order. Kits are
    /// counted in complete sets.
    pub fn parts_there(&self) -> Vec<u64> {
        self.leaving().into_iter().map(|line| line.there).collect()
    }

    /// Returns all good parts that have not been shipped; kits are listed as their parts.
    fn all_there(&self, leaving: &[LineShipping]) -> Vec<SentLine> {
        let lines = self.lines.iter().zip(leaving).enumerate();
        let there = lines.filter(|(_, (line, leaving))| !line.is_kit() && leaving.there > 0);
        let sent = |there: u64| u32::try_from(there).unwrap_or(u32::MAX);
        there.map(|(n, (_, leaving))| SentLine { line: n as u32, quantity: sent(leaving.there) }).collect()
    }

    /// Returns whether fewer parts are good and unshipped than are still owed.
    pub fn lacks_parts(&self) -> bool {
        self.is_short(&self.leaving())
    }

    /// Returns whether any owed parts are unavailable. A kit is judged by its parts.
    fn is_short(&self, leaving: &[LineShipping]) -> bool {
        let mut lines = self.lines.iter().zip(leaving).filter(|(line, _)| !line.is_kit());
        lines.any(|(_, leaving)| leaving.there < leaving.owed)
    }

    /// Returns whether any printed part is good, regardless of whether it has been shipped.
    fn has_good_parts(&self) -> bool {
        let mut lines = self.lines.iter().zip(self.parts()).filter(|(line, _)| line.make.is_some());
        lines.any(|(_, parts)| parts.good > 0)
    }

    /// Returns whether nothing more will be shipped: all ordered parts have been shipped or, if a short order is
    /// accepted, all good parts.
    fn has_left(&self, short: bool) -> bool {
        let lines = self.lines.iter().zip(self.leaving()).filter(|(line, _)| !line.is_kit());
        lines.into_iter().all(|(_, leaving)| leaving.owed == 0 || (short && leaving.there == 0))
    }
}

impl OrderChange<'_> {
    /// Ships parts: the given parts or, if none are given, all good parts that have not been shipped. The delivery date
    /// must be a real date. A pickup needs neither tracking number nor date; it is recorded as shipped today.
    pub(super) fn ship(
        mut self,
        shipment: &Shipment,
        lines: Option<&[SentLine]>,
        accept_short: bool,
    ) -> Result<Decision<Order, OrderAnswer>, Refusal> {
        let shipment = self.checked(shipment)?;
        let status = self.order.status;
        match status {
            OrderStatus::Ready => {}
            // Before everything is made, somebody must say what leaves.
            OrderStatus::Printing if lines.is_some() => {}
            _ => return Err(Refusal::transition("the order cannot be shipped", status)),
        }
        let leaving = self.order.leaving();
        if lines.is_none() && !self.order.has_good_parts() {
            let words = "the order has no good parts; reprint parts, or cancel it";
            return Err(Refusal::conflict("nothing_good", words));
        }
        let lines = match lines {
            Some(lines) => {
                named(lines, leaving.len())?;
                let parts = self.order.parts_named(lines);
                are_there(&parts, &leaving)?;
                parts
            }
            None if !accept_short && self.order.is_short(&leaving) => {
                let words = "good parts are missing; send acceptShort: true if the customer accepts fewer";
                return Err(Refusal::conflict("order_short", words));
            }
            None => self.order.all_there(&leaving),
        };
        if self.order.shipments.len() >= MAX_SHIPMENTS {
            let words = format!("an order can have at most {MAX_SHIPMENTS} shipments; ship the rest together");
            return Err(Refusal::conflict("too_many_shipments", words));
        }
        let short = accept_short && status == OrderStatus::Ready;
        let leaves = (!lines.is_empty()).then(|| {
            let number = self.order.shipments.last().map_or(1, |last| last.number + 1);
            SentShipment { number, shipment: shipment.clone(), lines, shipped_at: self.cx.now }
        });
        self.head().shipments.extend(leaves.clone());
        if let Some(sent) = &leaves {
            self.note_departures(sent.number, &sent.lines);
        }
        if self.order.has_left(short) {
            self.head().shipment = Some(shipment.clone());
            self.status(OrderStatus::Shipped, None);
            // The customer takes it without those that are still owed, if any are.
            self.flag_while(REJECTED_AFTER_SHIPPING, false, "");
            self.event_with("order.shipped", |order| OrderShippedData::new(order, &shipment));
            // Everything has left, so what is still being made is too much.
            self.mark_surplus();
            self.cancel_jobs(false, &PrinterRecords::new());
        } else if let Some(sent) = self.order.shipments.last().cloned() {
            self.event_with("order.part_shipped", |order| OrderPartShippedData::new(order, &sent));
        }
        if let Some(sent) = leaves {
            self.tell_shipment(&sent);
        }
        Ok(self.order_done())
    }

    /// Validates and normalizes a shipment for recording; reports all errors together if it is rejected.
    fn checked(&self, shipment: &Shipment) -> Result<Shipment, Refusal> {
        let mut shipment = shipment.clone();
        if shipment.carrier.trim().eq_ignore_ascii_case(PICKUP) {
            let today = self.cx.rules.clock.field_date(self.cx.now);
            shipment =
                Shipment { carrier: PICKUP.to_owned(), tracking_number: String::new(), estimated_delivery: today };
        }
        let picked_up = shipment.carrier == PICKUP;
        let mut faults = Faults::default();
        faults.check(!shipment.carrier.trim().is_empty(), "carrier", "must not be empty");
        let tracked = picked_up || !shipment.tracking_number.trim().is_empty();
        faults.check(tracked, "trackingNumber", "is required, unless the carrier is pickup");
        let date = &shipment.estimated_delivery;
        let is_date = date.len() == 10 && date.parse::<jiff::civil::Date>().is_ok();
        faults.check(is_date, "estimatedDelivery", "must be a date such as 2026-07-31; it is optional only for pickup");
        faults.refuse()?;
        Ok(shipment)
    }
}

/// Rejects a shipment that contains lines that are not in the order, or the same line twice.
fn named(lines: &[SentLine], of_order: usize) -> Result<(), Refusal> {
    let mut faults = Faults::default();
    for (at, SentLine { line, quantity }) in lines.iter().enumerate() {
        faults.check((*line as usize) < of_order, &format!("lines.{at}.line"), "the order has no such line");
        let again = lines[..at].iter().any(|earlier| earlier.line == *line);
        faults.check(!again, &format!("lines.{at}.line"), "is listed twice");
        faults.check(*quantity > 0, &format!("lines.{at}.quantity"), "must be at least 1");
    }
    faults.check(!lines.is_empty(), "lines", "must have at least one line");
    faults.refuse()
}

/// Rejects a shipment that contains more parts than are good and not yet shipped.
fn are_there(lines: &[SentLine], leaving: &[LineShipping]) -> Result<(), Refusal> {
    for SentLine { line, quantity } in lines {
        let there = leaving.get(*line as usize).map_or(0, |line| line.there);
        if u64::from(*quantity) > there {
            let words = format!("line {line} has too few unshipped good parts ({there})");
            return Err(Refusal::conflict("parts_not_there", words));
        }
    }
    Ok(())
}
