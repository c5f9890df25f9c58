//! Day of the shop: everybody does what is due until all is done and the server has come to rest.

use std::time::Duration;

use serde_json::Value;
use tokio::time::sleep;

use crate::error::SimError;
use crate::growth::ServerSize;
use crate::loose_ends;
use crate::oracles;
use crate::people::People;
use crate::plan::Plan;
use crate::sellers::{SaleEnding, read_sales};
use crate::shop::Shop;
use crate::staff::jobs_of;
use crate::weather::HEALED_AT_MS;
use crate::world::World;

/// Interval at which people look after the shop.
const ROUND: Duration = Duration::from_secs(10);
/// Time after healing in which everything must be done, in addition to that of all prints.
const REST_WITHIN_MS: i64 = 90 * 60_000;
/// Prints of a part, with those of rejected and failed ones, that the time is enough for.
const PRINTS_OF_A_PART: u64 = 4;
/// Time for which the server must be quiet in the end.
const QUIET: Duration = Duration::from_secs(120);

/// State of the shop at the end.
pub struct Ending {
    /// Orders as the API shows them, in the order of the customers, with their jobs.
    pub orders: Vec<(Value, Vec<Value>)>,
    /// Orders that other shops sold, in the order of the plan.
    pub sales: Vec<SaleEnding>,
    /// Endpoints as the API shows them, in the order of the plan; null for those that do not exist.
    pub endpoints: Vec<Value>,
    /// Number of events, before and after the server was quiet for a while.
    pub events: (i64, i64),
    /// Size of the server, before and after it was quiet for a while.
    pub sizes: (ServerSize, ServerSize),
}

/// Lets the day go by. Returns the state in which everything rests.
pub async fn live(world: &World, shop: &Shop, plan: &Plan, people: &mut People) -> Result<Ending, SimError> {
    let until = HEALED_AT_MS + REST_WITHIN_MS + print_ms(plan);
    loop {
        people.step(world, shop).await?;
        let now = world.clock.elapsed_ms();
        if now > HEALED_AT_MS && people.are_done() {
            let unrest = unrest(world, shop, people).await?;
            match unrest {
                None => return ending(world, shop, people).await,
                Some(last) if now > until => {
                    let what = "rest after all faults ended".to_owned();
                    return Err(SimError::Late { what, seconds: (until - HEALED_AT_MS).unsigned_abs() / 1000, last });
                }
                Some(_) => {}
            }
        } else if now > until {
            let what = "acknowledgement of all commands".to_owned();
            let seconds = (until - HEALED_AT_MS).unsigned_abs() / 1000;
            return Err(SimError::Late { what, seconds, last: String::new() });
        }
        sleep(ROUND).await;
    }
}

/// Returns the time of all prints of a plan.
fn print_ms(plan: &Plan) -> i64 {
    let sold = plan.shops.iter().flat_map(|shop| &shop.orders).flat_map(|order| &order.lines);
    let sold = sold.map(|(product, quantity, _)| (*product, u64::from(*quantity)));
    let lines = plan.orders.iter().flat_map(|order| order.lines.iter().copied()).chain(sold);
    let seconds = lines.filter_map(|(product, quantity)| Some(plan.products.get(product)?.seconds * quantity));
    i64::try_from(seconds.sum::<u64>() * PRINTS_OF_A_PART * 1000).unwrap_or(i64::MAX)
}

/// Returns something that is not done yet; `None` if all is.
async fn unrest(world: &World, shop: &Shop, people: &People) -> Result<Option<String>, SimError> {
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
    for (order, jobs) in read_orders(world, shop, people).await? {
        let unrest = match order["status"].as_str() {
            Some("ready") => jobs_unrest(&jobs, false),
            Some("cancelled" | "refunded") => jobs_unrest(&jobs, true),
            _ => Some(format!("{order}, with jobs {}", Value::from(jobs))),
        };
        if unrest.is_some() {
            return Ok(unrest);
        }
    }
    if let Some(unrest) = loose_ends::first(world, people)? {
        return Ok(Some(unrest));
    }
    let sales = read_sales(world, shop, people).await?;
    if let Some(unrest) = sales.iter().find_map(SaleEnding::unrest) {
        return Ok(Some(unrest));
    }
    Ok(oracles::unrest_of_deliveries(world, people))
}

/// Returns a job that is not over yet; `None` if there is none. One that failed before its order ended stays as it is:
/// nobody will try it again.
pub fn jobs_unrest(jobs: &[Value], is_order_over: bool) -> Option<String> {
    let ends: &[&str] = if is_order_over { &["COMPLETED", "CANCELLED", "FAILED"] } else { &["COMPLETED", "CANCELLED"] };
    let is_over = |job: &&Value| job["state"].as_str().is_some_and(|state| ends.contains(&state));
    let job = jobs.iter().find(|job| !is_over(job) || job["awaitsSignOff"] == true);
    job.map(Value::to_string)
}

/// Reads the orders of all customers, with their jobs.
pub async fn read_orders(world: &World, shop: &Shop, people: &People) -> Result<Vec<(Value, Vec<Value>)>, SimError> {
    let mut orders = Vec::new();
    for id in people.orders() {
        orders.push(read_order(world, shop, &id).await?);
    }
    Ok(orders)
}

/// Reads an order with its jobs.
pub async fn read_order(world: &World, shop: &Shop, id: &str) -> Result<(Value, Vec<Value>), SimError> {
    let order = shop.get(&format!("/api/orders/{id}")).await?.expect(200)?;
    let mut jobs = Vec::new();
    for job in jobs_of(world, &[id.to_owned()]) {
        jobs.push(shop.get(&format!("/api/jobs/{job}")).await?.expect(200)?);
    }
    Ok((order, jobs))
}

/// Waits while everything should be quiet, and returns the state after that.
pub async fn ending(world: &World, shop: &Shop, people: &People) -> Result<Ending, SimError> {
    sleep(QUIET).await;
    let (seq, size) = (world.disk.tables().last_seq(), ServerSize::now(world, shop));
    sleep(QUIET).await;
    let events = (seq, world.disk.tables().last_seq());
    let sizes = (size, ServerSize::now(world, shop));
    let mut endpoints = Vec::new();
    for subscriber in &people.subscribers {
        endpoints.push(match subscriber.path() {
            Some(path) => shop.get(&path).await?.expect(200)?,
            None => Value::Null,
        });
    }
    let (orders, sales) = (read_orders(world, shop, people).await?, read_sales(world, shop, people).await?);
    Ok(Ending { orders, sales, endpoints, events, sizes })
}
