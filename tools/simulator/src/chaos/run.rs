//! A run from the first fault to the verdict: people work while faults occur, all faults end, the shop becomes idle,
//! and is checked.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use tokio::task::{JoinError, JoinHandle, JoinSet};
use tokio::time::{Instant, sleep_until};

use crate::arguments::ChaosArguments;
use crate::client::{ApiFault, ChaosClient};
use crate::customers::{CUSTOMER_COUNT, ChaosCustomer, Sales};
use crate::events::{EventLine, follow};
use crate::judge::{Testimony, judge};
use crate::rest::until_at_rest;
use crate::server::watch_readiness;
use crate::staff::{ChaosStaff, StaffRecords};
use crate::story::ChaosStory;
use crate::verdict::ChaosVerdict;
use crate::world::ChaosWorld;
use crate::{fault_plan, faults};

/// Maximum time until the shop is idle after the last fault.
const REST_TIMEOUT: Duration = Duration::from_secs(180);
/// Maximum duration of the checks.
const JUDGE_TIMEOUT: Duration = Duration::from_secs(60);

/// Everyone who works while faults occur.
struct ChaosPeople {
    customers: JoinSet<Result<(), ApiFault>>,
    staff: JoinHandle<Result<StaffRecords, ApiFault>>,
    follower: JoinHandle<Result<Vec<EventLine>, ApiFault>>,
    /// Task that reports when the server is ready again.
    watch: JoinHandle<()>,
    sales: Sales,
    /// `true` once nothing new is started.
    quiet: Arc<AtomicBool>,
    /// `true` once all activity has ceased.
    closed: Arc<AtomicBool>,
}

impl ChaosPeople {
    /// Starts everyone's work.
    fn begin(world: &ChaosWorld, api: &ChaosClient, seed: u64, story: ChaosStory) -> Self {
        let (sales, quiet, closed) = (Sales::default(), Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let customer = ChaosCustomer {
            api: api.clone(),
            processor: world.processor.clone(),
            catalogue: world.catalogue.clone(),
            seed,
            sales: sales.clone(),
        };
        let mut customers = JoinSet::new();
        for place in 0..CUSTOMER_COUNT {
            customers.spawn(customer.clone().buy_until(place, quiet.clone()));
        }
        let material = world.catalogue.material.clone();
        let staff = ChaosStaff::new(api.clone(), world.hall.clone(), material, seed, quiet.clone());
        Self {
            customers,
            staff: tokio::spawn(staff.work_until(closed.clone())),
            follower: tokio::spawn(follow(api.clone(), closed.clone())),
            watch: tokio::spawn(watch_readiness(api.clone(), story)),
            sales,
            quiet,
            closed,
        }
    }

    /// Waits until the customers have completed their plans. Records what they could not complete.
    async fn finish_plans(&mut self, testimony: &mut Testimony) {
        self.quiet.store(true, Relaxed);
        while let Some(ended) = self.customers.join_next().await {
            note_fault(ended, &mut testimony.faults);
        }
        let sales = self.sales.lock().unwrap_or_else(PoisonError::into_inner);
        testimony.sales.clone_from(&sales);
    }

    /// Ends the work of the others. Adds their records and the events that they read.
    async fn close(self, testimony: &mut Testimony) {
        self.closed.store(true, Relaxed);
        testimony.records = note_fault(self.staff.await, &mut testimony.faults).unwrap_or_default();
        testimony.events = note_fault(self.follower.await, &mut testimony.faults).unwrap_or_default();
        self.watch.abort();
    }
}

/// Returns the result of a task, or records its error and returns `None`.
fn note_fault<T, E: Display>(ended: Result<Result<T, E>, JoinError>, faults: &mut Vec<String>) -> Option<T> {
    match ended {
        Ok(Ok(outcome)) => Some(outcome),
        Ok(Err(fault)) => {
            faults.push(fault.to_string());
            None
        }
        Err(crash) => {
            faults.push(format!("this program crashed: {crash}"));
            None
        }
    }
}

/// Runs the story and its checks.
pub async fn run(
    world: &Arc<ChaosWorld>,
    arguments: &ChaosArguments,
    story: ChaosStory,
) -> Result<ChaosVerdict, ApiFault> {
    let length = arguments.length();
    let faults = fault_plan::draw(&mut Rng::with_seed(arguments.seed), length, faults::targets(world));
    let quiet_at = Instant::now() + length;
    let api = world.api.with_deadline(quiet_at + REST_TIMEOUT);
    let mut people = ChaosPeople::begin(world, &api, arguments.seed, story);
    story.tell(&format!("{CUSTOMER_COUNT} customers begin to buy; {} faults are drawn", faults.len()));
    faults::happen(world.clone(), faults, story).await;
    sleep_until(quiet_at).await;

    story.tell("everything is healed; customers carry out their plans");
    let mut testimony = Testimony::default();
    people.finish_plans(&mut testimony).await;
    story.tell(&format!("{} orders are under way or done; the shop comes to rest", testimony.sales.len()));
    let rest = until_at_rest(&api, &world.processor, &testimony.sales, &world.catalogue.material).await;
    match rest {
        Ok(()) => story.tell("the shop is at rest"),
        Err(ApiFault(reason)) => {
            story.tell("the shop did not come to rest");
            testimony.unrest.push(reason);
        }
    }
    people.close(&mut testimony).await;
    judge(world, &api.with_deadline(Instant::now() + JUDGE_TIMEOUT), testimony).await
}
