//! Shipments: the staff ships some of the good parts of an order early, and the rest once it is ready. Unacknowledged
//! requests are repeated; after a refusal, the shipment is packed again.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::acknowledgements::{Errand, ShopReply};
use crate::agenda::Agenda;
use crate::error::SimError;
use crate::shop::Shop;
use crate::size::Size;
use crate::workload::ParcelPlan;
use crate::world::World;

/// Carrier of parcels.
const CARRIER: &str = "DHL";
/// Carrier value for customers who pick up their parts.
const PICKUP: &str = "pickup";
/// Estimated delivery date of all shipments.
const DELIVERY: &str = "2026-11-09";
/// Minimum interval between two checks of an unchanged order, in milliseconds.
const MIN_LOOK_MS: i64 = 60_000;
/// Number of unshipped good parts of a line from which one of them is shipped early, so that something is left for
/// another shipment.
const MIN_THERE: u64 = 2;

/// Desk at which shipments are packed.
pub struct ParcelDesk {
    plans: BTreeMap<usize, ParcelPlan>,
    /// Acknowledged parcels by the numbers of the orders, oldest first.
    parcels: BTreeMap<usize, Vec<Parcel>>,
    /// Unacknowledged shipments by order number.
    open: BTreeMap<usize, Parcel>,
    agenda: Agenda,
    /// Number of packed shipments.
    count: u64,
}

/// Parcel of an order.
#[derive(Clone, Debug)]
pub struct Parcel {
    key: String,
    /// Carrier.
    pub carrier: &'static str,
    /// Tracking number; empty if the customer picks up the parts.
    pub tracking: String,
    /// Lines with the number of parts or sets; `None` for everything available.
    pub lines: Option<Vec<(usize, u64)>>,
    /// `true` if everything was already shipped, so that the order ends without a further shipment.
    is_empty: bool,
}

impl Parcel {
    fn body(&self) -> Value {
        let mut body = json!({"carrier": self.carrier});
        if self.carrier != PICKUP {
            body["trackingNumber"] = json!(self.tracking);
            body["estimatedDelivery"] = json!(DELIVERY);
        }
        if let Some(lines) = &self.lines {
            let lines = lines.iter().map(|(line, quantity)| json!({"line": line, "quantity": quantity}));
            body["lines"] = lines.collect();
        }
        body
    }
}

impl ParcelDesk {
    /// Creates the desk of a shop that has shipped nothing yet.
    pub fn new(size: Size, plans: &BTreeMap<usize, ParcelPlan>) -> Self {
        let agenda = Agenda::new(size.look_every_ms().max(MIN_LOOK_MS));
        Self { plans: plans.clone(), parcels: BTreeMap::new(), open: BTreeMap::new(), agenda, count: 0 }
    }

    /// Returns whether the order with this number is to be shipped.
    pub fn ships(&self, number: usize) -> bool {
        self.plans.contains_key(&number)
    }

    /// Returns the acknowledged parcels of an order, oldest first.
    pub fn parcels_of(&self, number: usize) -> &[Parcel] {
        self.parcels.get(&number).map(Vec::as_slice).unwrap_or_default()
    }

    /// Packs and ships the available parts of the orders, which are given by number and ID.
    pub async fn step(&mut self, world: &World, shop: &Shop, orders: &[(usize, String)]) -> Result<(), SimError> {
        for (number, id) in orders {
            let Some(plan) = self.plans.get(number).copied() else { continue };
            if !self.open.contains_key(number) {
                let (now, mark) = (world.clock.elapsed_ms(), world.journal.last_event(id));
                if !self.agenda.is_due(id, now, mark) {
                    continue;
                }
                let Some(order) = shop.read(&format!("/api/orders/{id}")).await? else { continue };
                self.agenda.look(id, now, mark);
                let Some(parcel) = self.pack(*number, plan, &order) else { continue };
                self.open.insert(*number, parcel);
            }
            self.ship(world, shop, *number, id).await?;
        }
        Ok(())
    }

    /// Sends the open parcel of an order.
    async fn ship(&mut self, world: &World, shop: &Shop, number: usize, id: &str) -> Result<(), SimError> {
        let Some(parcel) = self.open.get(&number).cloned() else { return Ok(()) };
        let errand = Errand { path: format!("/api/orders/{id}/ship"), key: parcel.key.clone(), body: parcel.body() };
        match shop.ask(&errand).await? {
            ShopReply::Unanswered => return Ok(()),
            ShopReply::Refused(code) => {
                world.story.tell(format!("staff: a parcel of order {number} is refused: {code}"));
            }
            ShopReply::Done(_) if parcel.is_empty => {
                world.story.tell(format!("staff: order {number} is shipped already"));
            }
            ShopReply::Done(_) => {
                world.story.tell(format!("staff: a parcel of order {number}: {:?}", parcel.lines));
                self.parcels.entry(number).or_default().push(parcel);
            }
        }
        self.open.remove(&number);
        // What is left, or has changed meanwhile, is seen at the next round.
        self.agenda.wake(id, world.clock.elapsed_ms());
        Ok(())
    }

    /// Packs the next parcel of an order; `None` if nothing can be shipped yet.
    fn pack(&mut self, number: usize, plan: ParcelPlan, order: &Value) -> Option<Parcel> {
        let early = self.parcels_of(number).iter().filter(|parcel| parcel.lines.is_some()).count();
        let may_be_early =
            (early as u64) < u64::from(plan.early) && matches!(order["status"].as_str()?, "printing" | "ready");
        let lines = order["lines"].as_array().map(Vec::as_slice).unwrap_or_default();
        let line = lines.iter().position(|line| there(line) >= MIN_THERE).filter(|_| may_be_early);
        if line.is_none() && order["status"] != "ready" {
            return None;
        }
        self.count += 1;
        let carrier = if line.is_none() && plan.is_pickup { PICKUP } else { CARRIER };
        let tracking = if carrier == PICKUP { String::new() } else { format!("SIM-{number}-{}", self.count) };
        Some(Parcel {
            key: format!("parcel-{}", self.count),
            carrier,
            tracking,
            lines: line.map(|line| vec![(line, 1)]),
            is_empty: lines.iter().all(is_shipped),
        })
    }
}

/// Returns the number of unshipped good parts of a line, or of unshipped complete sets of a kit.
fn there(line: &Value) -> u64 {
    let number = |member: &str| line[member].as_u64().unwrap_or_default();
    number("good").min(number("quantity")).saturating_sub(number("shipped"))
}

/// Returns whether all parts or sets of a line that are not cancelled have been shipped.
fn is_shipped(line: &Value) -> bool {
    let count = |member: &str| line[member].as_u64().unwrap_or_default();
    count("shipped") + count("cancelled") >= count("quantity")
}
