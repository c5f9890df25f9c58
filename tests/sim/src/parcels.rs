//! Parcels: the staff ships some of the good parts of an order early, and the rest once it is ready. What was not
//! acknowledged is repeated, and what was refused is packed anew.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::acknowledgements::{Errand, Reply};
use crate::agenda::Agenda;
use crate::error::SimError;
use crate::shop::Shop;
use crate::size::Size;
use crate::workload::ParcelPlan;
use crate::world::World;

/// Carrier of parcels.
const CARRIER: &str = "DHL";
/// Carrier by which customers fetch their parts.
const PICKUP: &str = "pickup";
/// Day on which parcels arrive.
const DELIVERY: &str = "2026-11-09";
/// Least time between two looks at an order to which nothing happens, in milliseconds.
const MIN_LOOK_MS: i64 = 60_000;
/// Good parts of a line that are there before one of them is shipped early, so that something is left for another
/// parcel.
const MIN_THERE: u64 = 2;

/// Desk at which parcels are packed.
pub struct ParcelDesk {
    plans: BTreeMap<usize, ParcelPlan>,
    /// Acknowledged parcels by the numbers of the orders, oldest first.
    parcels: BTreeMap<usize, Vec<Parcel>>,
    /// Parcels that were not acknowledged yet, by the numbers of the orders.
    open: BTreeMap<usize, Parcel>,
    agenda: Agenda,
    /// Number of parcels that were packed.
    count: u64,
}

/// Parcel of an order.
#[derive(Clone, Debug)]
pub struct Parcel {
    key: String,
    /// Carrier.
    pub carrier: &'static str,
    /// Tracking number; empty if the customer fetches the parts.
    pub tracking: String,
    /// Lines with the number of parts or sets; `None` for all that is there.
    pub lines: Option<Vec<(usize, u64)>>,
    /// Everything was shipped before, so that the order ends without a further shipment.
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

    /// Packs and ships what is there of the orders, given with their numbers.
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
            Reply::Unanswered => return Ok(()),
            Reply::Refused(code) => world.story.tell(format!("staff: a parcel of order {number} is refused: {code}")),
            Reply::Done(_) if parcel.is_empty => {
                world.story.tell(format!("staff: order {number} is shipped already"));
            }
            Reply::Done(_) => {
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

/// Returns the number of good parts of a line that were not shipped; of a kit, that of complete sets.
fn there(line: &Value) -> u64 {
    let number = |member: &str| line[member].as_u64().unwrap_or_default();
    number("good").min(number("quantity")).saturating_sub(number("shipped"))
}

/// Returns whether all parts or sets of a line that are not cancelled were shipped.
fn is_shipped(line: &Value) -> bool {
    let count = |member: &str| line[member].as_u64().unwrap_or_default();
    count("shipped") + count("cancelled") >= count("quantity")
}
