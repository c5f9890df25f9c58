//! One run of a seed: its world, its servers and its judgement.

use std::io;

use fastrand::Rng;
use tokio::runtime::{Builder, Runtime};

use crate::day::{self, Plan};
use crate::error::SimError;
use crate::oracles;
use crate::shop::Shop;
use crate::world::World;

/// Outcome of a seed.
pub struct SeedReport {
    /// Story in plain sentences, one a line.
    pub story: String,
    /// Virtual time that passed, in milliseconds.
    pub virtual_ms: i64,
    /// Reason that the seed failed; `None` if everything held.
    pub fault: Option<SimError>,
}

/// Runs a seed.
///
/// # Errors
///
/// Fails if no world can be made for it. A fault of the server is part of the report.
pub fn run(seed: u64) -> Result<SeedReport, SimError> {
    let mut chance = Rng::with_seed(seed);
    let plan = Plan::draw(&mut chance);
    let world = World::new(&mut chance, 1)?;
    let fault = tell(&world, &plan).err();
    match &fault {
        Some(fault) => world.story.tell(format!("FAILED: {fault}")),
        None => world.story.tell("everything holds"),
    }
    let tables = world.disk.tables();
    world.story.tell(format!("{} events; head of the audit log {}", tables.last_seq(), tables.audit_head()));
    Ok(SeedReport { story: world.story.text(), virtual_ms: world.clock.elapsed_ms(), fault })
}

/// Lets the story of a plan happen, and judges it.
fn tell(world: &World, plan: &Plan) -> Result<(), SimError> {
    let order = on_server(world, async |shop| {
        let sku = day::set_up(world, shop, plan).await?;
        day::one_order(world, shop, &sku, plan).await
    })?;
    let tables = world.disk.tables();
    oracles::no_attempt_starts_twice(world)?;
    oracles::exactly_the_ordered_parts_are_printed(world, plan.quantity)?;
    oracles::the_outbox_has_no_hole(&tables)?;
    oracles::the_order_is_paid_and_announced(&tables, &order)
}

/// Starts a server, lets something happen with it, and ends it as a crash does: its runtime is dropped in the middle of
/// whatever it does, and what it had committed is on the disk.
fn on_server<T>(world: &World, act: impl AsyncFnOnce(&Shop) -> Result<T, SimError>) -> Result<T, SimError> {
    runtime()?.block_on(async {
        world.clock.start();
        let result = match Shop::open(world).await {
            Ok(shop) => {
                world.story.tell("a server starts");
                let result = act(&shop).await;
                world.disk.keep(&shop.disk);
                result
            }
            Err(error) => Err(error),
        };
        world.clock.stop();
        result
    })
}

/// Creates a runtime on this thread with a paused clock and without sockets.
fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_time().start_paused(true).max_blocking_threads(1).build()
}
