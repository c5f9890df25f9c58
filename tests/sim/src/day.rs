//! A day of the shop: everyone does what is due until everything is done and the server is idle.

use std::time::Duration;

use serde_json::Value;
use tokio::time::sleep;

use crate::error::SimError;
use crate::growth::ServerSize;
use crate::loose_ends;
use crate::people::People;
use crate::plan::Plan;
use crate::rest::{RestCheck, read_orders};
use crate::sellers::{SaleEnding, read_sales};
use crate::shop::Shop;
use crate::world::World;

/// Number of prints per part, including those for rejected and failed ones, that must fit into the time after all
/// faults have ended.
const PRINTS_OF_A_PART: i64 = 4;
/// Period for which the server must be idle at the end.
const QUIET: Duration = Duration::from_secs(120);

/// Maximum wait for alerts held back, in multiples of [`QUIET`].
const MAX_WAITS_FOR_ALERTS: u32 = 5;

/// State of the shop at the end.
pub struct Ending {
    /// Orders as the API shows them, in the order of the customers, with their jobs.
    pub orders: Vec<(Value, Vec<Value>)>,
    /// Materials as the API shows them, in the order of the plan.
    pub materials: Vec<Value>,
    /// Orders from sales channels, in the order of the plan.
    pub sales: Vec<SaleEnding>,
    /// Endpoints as the API shows them, in the order of the plan; null for those that do not exist.
    pub endpoints: Vec<Value>,
    /// Number of events before and after the server was idle for a while.
    pub events: (i64, i64),
    /// Size of the server before and after it was idle for a while.
    pub sizes: (ServerSize, ServerSize),
}

/// Runs the day. Returns the final state.
pub async fn live(world: &World, shop: &Shop, plan: &Plan, people: &mut People) -> Result<Ending, SimError> {
    let healed_at = world.size.healed_at_ms();
    let until = healed_at + world.size.rest_within_ms() + prints_ms(plan);
    let mut rest = RestCheck::default();
    loop {
        people.step(world, shop).await?;
        let now = world.clock.elapsed_ms();
        if now > healed_at && people.are_done() {
            let unrest = rest.unrest(world, shop, people).await?;
            match unrest {
                None => return ending(world, shop, people).await,
                Some(last) if now > until => {
                    let what = "rest after all faults ended".to_owned();
                    return Err(SimError::Late { what, seconds: (until - healed_at).unsigned_abs() / 1000, last });
                }
                Some(_) => {}
            }
        } else if now > until {
            let what = "acknowledgement of all commands".to_owned();
            let seconds = (until - healed_at).unsigned_abs() / 1000;
            return Err(SimError::Late { what, seconds, last: String::new() });
        }
        sleep(world.size.round()).await;
    }
}

/// Returns the time of all prints of a plan, in milliseconds, divided among the printers.
fn prints_ms(plan: &Plan) -> i64 {
    let printers = plan.size.printers().map_or(1, |printers| printers as i64);
    plan.print_ms().saturating_mul(PRINTS_OF_A_PART) / printers
}

/// Waits while the server should be idle, and returns the state after that.
pub async fn ending(world: &World, shop: &Shop, people: &People) -> Result<Ending, SimError> {
    sleep(QUIET).await;
    // An alert may be held back for others for longer than that.
    for _ in 0..MAX_WAITS_FOR_ALERTS {
        if loose_ends::first(world, people)?.is_none() {
            break;
        }
        sleep(QUIET).await;
    }
    let (seq, size) = (world.disk.tables().last_seq(), ServerSize::now(world, shop));
    sleep(QUIET).await;
    let events = (seq, world.disk.tables().last_seq());
    let sizes = (size, ServerSize::now(world, shop));
    let (mut materials, mut endpoints) = (Vec::new(), Vec::new());
    for material in &people.catalogue.materials {
        materials.push(shop.get(&format!("/api/inventory/materials/{material}")).await?.expect(200)?);
    }
    for subscriber in &people.subscribers {
        endpoints.push(match subscriber.path() {
            Some(path) => shop.get(&path).await?.expect(200)?,
            None => Value::Null,
        });
    }
    let (orders, sales) = (read_orders(world, shop, people).await?, read_sales(world, shop, people).await?);
    Ok(Ending { orders, materials, sales, endpoints, events, sizes })
}
