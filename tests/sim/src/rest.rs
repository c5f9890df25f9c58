//! Idle state of the shop: everything that customers and staff wait for is done. An order that was idle is read again
//! only if something has happened to it since.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::SimError;
use crate::loose_ends;
use crate::oracles;
use crate::people::People;
use crate::sellers::{SaleEnding, read_sales};
use crate::shop::Shop;
use crate::world::World;

/// Idle orders, each with the number of the last event about it at that time.
#[derive(Default)]
pub struct RestCheck(BTreeMap<String, i64>);

impl RestCheck {
    /// Returns a description of something unfinished; `None` if everything is done.
    pub async fn unrest(&mut self, world: &World, shop: &Shop, people: &People) -> Result<Option<String>, SimError> {
        if !people.staff.office.is_done() {
            return Ok(Some("the staff has tasks left".to_owned()));
        }
        for machine in world.machines.values() {
            if machine.with(|machine| machine.job().is_some()) {
                return Ok(Some(format!("{} prints", machine.name)));
            }
        }
        for printer in people.staff.printers() {
            let printer = shop.get(&format!("/api/printers/{printer}")).await?.expect(200)?;
            if !printer["jobId"].is_null() {
                return Ok(Some(printer.to_string()));
            }
        }
        world.journal.read(&world.disk.tables());
        for (number, id) in people.orders() {
            let event = world.journal.last_event(&id);
            if self.0.get(&id) == Some(&event) {
                continue;
            }
            let unrest = of_order(world, shop, &id, people.staff.parcels.ships(number)).await?;
            if unrest.is_some() {
                return Ok(unrest);
            }
            self.0.insert(id, event);
        }
        if let Some(unrest) = loose_ends::first(world, people)? {
            return Ok(Some(unrest));
        }
        let sales = read_sales(world, shop, people).await?;
        if let Some(unrest) = sales.iter().find_map(SaleEnding::unrest) {
            return Ok(Some(unrest));
        }
        Ok(oracles::unrest_of_deliveries(world, people).or_else(|| oracles::unrest_of_spools(world, people)))
    }
}

/// Returns a description of something unfinished in an order; `None` if everything is done.
async fn of_order(world: &World, shop: &Shop, id: &str, is_to_ship: bool) -> Result<Option<String>, SimError> {
    let (order, jobs) = read_order(world, shop, id).await?;
    Ok(match order["status"].as_str() {
        Some("ready") if !is_to_ship => jobs_unrest(&jobs, false),
        Some("shipped" | "cancelled" | "refunded") => jobs_unrest(&jobs, true),
        _ => Some(format!("{order}, with jobs {}", Value::from(jobs))),
    })
}

/// Returns a job that has not ended; `None` if there is none. A job that failed before its order ended stays as it is,
/// because no one will retry it.
pub fn jobs_unrest(jobs: &[Value], is_order_over: bool) -> Option<String> {
    let ends: &[&str] = if is_order_over { &["COMPLETED", "CANCELLED", "FAILED"] } else { &["COMPLETED", "CANCELLED"] };
    let is_over = |job: &&Value| job["state"].as_str().is_some_and(|state| ends.contains(&state));
    let job = jobs.iter().find(|job| !is_over(job) || job["awaitsSignOff"] == true);
    job.map(Value::to_string)
}

/// Reads an order and those of its jobs that the journal contains.
pub async fn read_order(world: &World, shop: &Shop, id: &str) -> Result<(Value, Vec<Value>), SimError> {
    let order = shop.get(&format!("/api/orders/{id}")).await?.expect(200)?;
    let mut jobs = Vec::new();
    for job in world.journal.jobs_of(id) {
        jobs.push(shop.get(&format!("/api/jobs/{job}")).await?.expect(200)?);
    }
    Ok((order, jobs))
}

/// Reads the orders of all customers, with their jobs.
pub async fn read_orders(world: &World, shop: &Shop, people: &People) -> Result<Vec<(Value, Vec<Value>)>, SimError> {
    world.journal.read(&world.disk.tables());
    let mut orders = Vec::new();
    for (_, id) in people.orders() {
        orders.push(read_order(world, shop, &id).await?);
    }
    Ok(orders)
}
