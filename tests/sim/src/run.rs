//! A run of a plan: its world, its servers and its checks.

use std::io;

use tokio::runtime::{Builder, Runtime};

use crate::courier::while_events_come;
use crate::cut::Cut;
use crate::day::{self, Ending};
use crate::error::SimError;
use crate::faults::FaultKind;
use crate::oracles;
use crate::people::People;
use crate::plan::Plan;
use crate::plants::Plant;
use crate::setup::set_up;
use crate::shop::Shop;
use crate::size::Size;
use crate::world::World;

/// Maximum number of failed starts before the run fails.
const MAX_FAILED_STARTS: u32 = 20;
/// Time between a failed start and the next one, in milliseconds.
const RESTARTED_AFTER_MS: i64 = 5_000;

/// Outcome of a seed.
pub struct SeedReport {
    /// Story in plain sentences, one per line.
    pub story: String,
    /// Elapsed virtual time, in milliseconds.
    pub virtual_ms: i64,
    /// Reason why the seed failed; `None` if all checks passed.
    pub fault: Option<SimError>,
}

/// Runs a seed.
///
/// # Errors
///
/// Fails if its world cannot be created. A fault in the server is part of the report.
pub fn run(seed: u64) -> Result<SeedReport, SimError> {
    run_cut(seed, &Cut::default(), None)
}

/// Runs a seed without the given parts of its plan, and with a planted fault if given.
///
/// # Errors
///
/// Fails as [`run`] does.
pub fn run_cut(seed: u64, cut: &Cut, plant: Option<Plant>) -> Result<SeedReport, SimError> {
    run_sized(Size::Story, seed, cut, plant)
}

/// Runs a seed in the given size, without the given parts of its plan, and with a planted fault if given.
///
/// # Errors
///
/// Fails as [`run`] does.
pub fn run_sized(size: Size, seed: u64, cut: &Cut, plant: Option<Plant>) -> Result<SeedReport, SimError> {
    let plan = Plan::draw_sized(size, seed, cut);
    let world = World::new(&plan, plant)?;
    tell_plan(&world, &plan);
    let fault = live(&world, &plan).err();
    match &fault {
        Some(fault) => world.story.tell(format!("FAILED: {fault}")),
        None => world.story.tell("everything holds"),
    }
    let tables = world.disk.tables();
    world.story.tell(format!("{} events; head of the audit log {}", tables.last_seq(), tables.audit_head()));
    Ok(SeedReport { story: world.story.text(), virtual_ms: world.clock.elapsed_ms(), fault })
}

/// Returns how many seeds, counted from `first` on, are needed until one fails with a planted fault; `None` if none of
/// `most` seeds fails.
///
/// # Errors
///
/// Fails as [`run`] does.
pub fn seeds_to_catch(plant: Plant, first: u64, most: u64) -> Result<Option<u64>, SimError> {
    for count in 1..=most {
        if run_cut(first + count - 1, &Cut::default(), Some(plant))?.fault.is_some() {
            return Ok(Some(count));
        }
    }
    Ok(None)
}

/// Writes the contents of the plan to the story.
fn tell_plan(world: &World, plan: &Plan) {
    let kinds: Vec<&str> = plan.faults.kinds().map(FaultKind::word).collect();
    let kinds = if kinds.is_empty() { "none".to_owned() } else { kinds.join(", ") };
    let sign_off = if plan.sign_off_required { "once they are signed off" } else { "by themselves" };
    world.story.tell(format!(
        "seed {}: {} printers, {} products, {} kits, {} materials, {} orders, parts count {sign_off}; faults: {kinds}",
        plan.seed,
        plan.printers,
        plan.products.len(),
        plan.work.kits.len(),
        plan.work.materials.len(),
        plan.orders.len(),
    ));
    for endpoint in &plan.endpoints {
        world.story.tell(format!("endpoint {}: {:?}; {:?}", endpoint.number, endpoint.steps, endpoint.spells));
    }
    if plan.spool_manager.is_some() {
        world.story.tell("a spool manager counts the first material as well");
    }
    for shop in &plan.shops {
        let letters = shop.letters.len();
        world.story.tell(format!("another shop: {} orders, {letters} messages; {:?}", shop.orders.len(), shop.spells));
    }
}

/// Runs the story of a plan, and checks it.
fn live(world: &World, plan: &Plan) -> Result<(), SimError> {
    let Some(shop) = on_server(world, None, async |shop| set_up(world, shop, plan).await)? else { return Ok(()) };
    let mut people = People::new(plan, shop);
    world.set_rates(&plan.faults);
    let ending = live_day(world, plan, &mut people)?;
    let read_back = on_server(world, None, async |shop| {
        let ending = day::ending(world, shop, &people).await?;
        oracles::acknowledged_is_done(world, shop).await?;
        Ok(ending)
    })?;
    read_back.map_or(Ok(()), |read_back| oracles::judge(world, &plan.faults, &people, &ending, &read_back))
}

/// Runs the day, on one server more than the number of crashes.
fn live_day(world: &World, plan: &Plan, people: &mut People) -> Result<Ending, SimError> {
    let mut crashes = plan.crashes.iter();
    let mut failed_starts = 0;
    loop {
        let crash = crashes.next();
        let step = crash.map(|crash| crash.step);
        let result = on_server(world, step, async |shop| {
            while_events_come(world, shop, day::live(world, shop, plan, people)).await
        });
        let ending = match result {
            // Whoever supervises the server starts it again.
            Err(SimError::Start(error)) if failed_starts < MAX_FAILED_STARTS => {
                failed_starts += 1;
                world.story.tell(format!("the server does not start: {error}"));
                None
            }
            result => result?,
        };
        oracles::no_attempt_starts_twice(world)?;
        if let Some(ending) = ending {
            // Before another server looks for leftovers at its start.
            oracles::nothing_stays_on_printers(world)?;
            return Ok(ending);
        }
        // No two servers share a moment, so the time of an event says which of them did it.
        let down_ms = crash.map_or(RESTARTED_AFTER_MS, |crash| crash.down_ms).max(1);
        world.story.tell(format!("no server runs for {down_ms} ms"));
        world.clock.pass(down_ms);
    }
}

/// Starts a server, runs `act` with it, and ends it as a crash does: its runtime is dropped in the middle of its work,
/// and what it had committed is on the disk. Returns `None` if it crashed at the given step before `act` completed.
pub fn on_server<T>(
    world: &World,
    crash_at: Option<u64>,
    act: impl AsyncFnOnce(&Shop) -> Result<T, SimError>,
) -> Result<Option<T>, SimError> {
    let runtime = runtime()?;
    let result = runtime.block_on(async {
        world.clock.start();
        world.power.switch_on(crash_at);
        let served = async {
            let shop = Shop::open(world).await?;
            world.story.tell("a server starts");
            act(&shop).await
        };
        let result = tokio::select! {
            biased; // nothing happens without power, and the weather does not wait for people
            () = world.power.lost() => Ok(None),
            () = world.weather.pass(world) => Ok(None),
            result = served => result.map(Some),
        };
        world.power.switch_off();
        world.clock.stop();
        result
    });
    drop(runtime);
    result
}

/// Creates a single-threaded runtime with a paused clock and without sockets.
fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_time().start_paused(true).max_blocking_threads(1).build()
}
