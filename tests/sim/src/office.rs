//! The office: the staff's tasks at the times in the plan. Stock is received and counted, order priorities are changed,
//! printers are taken out of service and paused, good prints are repeated, and the owner changes the house rules.

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;

use axum::http::Method;
use serde_json::{Value, json};

use crate::acknowledgements::{Errand, ShopReply};
use crate::error::SimError;
use crate::inspections::Inspections;
use crate::shop::Shop;
use crate::workload::{Act, Task};
use crate::world::World;

/// Thousandths of a gram in a gram.
const THOUSANDTHS: f64 = 1000.0;

/// Office of the shop.
pub struct Office {
    /// Tasks not yet due, the next one last.
    upcoming: Vec<Task>,
    /// Due tasks not yet done, oldest first.
    open: Vec<OpenTask>,
    /// Number of tasks that have become due.
    count: u64,
    /// Printers whose service state is unknown, because a request received no response.
    in_doubt: BTreeSet<String>,
    /// Acknowledged acts.
    pub records: OfficeRecords,
}

/// Due task not yet done.
struct OpenTask {
    /// Number that identifies the task's requests.
    number: u64,
    act: Act,
    /// Print to repeat, once it has been chosen: the job and its last attempt.
    print: Option<(String, String)>,
}

/// Acknowledged acts of the office.
#[derive(Default)]
pub struct OfficeRecords {
    /// Printers by ID: `true` if taken out of service, `false` if returned to service.
    pub out_of_service: BTreeMap<String, bool>,
    /// Delivered amounts, in thousandths of a gram, by index of the material.
    pub deliveries: BTreeMap<usize, i64>,
    /// Priorities by order number.
    pub ranks: BTreeMap<usize, u8>,
    /// Attempts whose prints were repeated, with the numbers of their orders.
    pub remakes: BTreeMap<String, usize>,
    /// Repeated jobs.
    remade_jobs: BTreeSet<String>,
    /// Times until which prints are paused, in milliseconds since the start of the simulation, by job.
    pauses: BTreeMap<String, i64>,
}

impl OfficeRecords {
    /// Returns whether a job was repeated.
    pub fn is_remade(&self, job: &str) -> bool {
        self.remade_jobs.contains(job)
    }

    /// Returns the time at which the pause in a job's print ends, in milliseconds since the start of the simulation; 0
    /// if it was never paused.
    pub fn paused_until(&self, job: &str) -> i64 {
        self.pauses.get(job).copied().unwrap_or_default()
    }
}

/// Maps the indices and numbers used in the plan to the IDs of the corresponding resources on the server.
#[derive(Clone, Copy)]
pub struct Register<'a> {
    /// IDs of the printers.
    pub printers: &'a [String],
    /// IDs of the materials.
    pub materials: &'a [String],
    /// Numbers of the orders, with their IDs.
    pub orders: &'a [(usize, String)],
    /// Sign-offs of parts.
    pub inspections: &'a Inspections,
}

impl Register<'_> {
    fn order(&self, number: usize) -> Option<&str> {
        self.orders.iter().find(|(one, _)| *one == number).map(|(_, id)| id.as_str())
    }
}

impl Office {
    /// Creates the office of a shop in which nothing was done yet.
    pub fn new(tasks: &[Task]) -> Self {
        let mut upcoming = tasks.to_vec();
        upcoming.sort_by_key(|task| task.at_ms);
        upcoming.reverse();
        let (open, in_doubt, records) = <_>::default();
        Self { upcoming, open, count: 0, in_doubt, records }
    }

    /// Returns whether all tasks are done.
    pub fn is_done(&self) -> bool {
        self.upcoming.is_empty() && self.open.is_empty()
    }

    /// Performs the due tasks. An unacknowledged task blocks later ones about the same thing.
    pub async fn step(&mut self, world: &World, shop: &Shop, register: Register<'_>) -> Result<(), SimError> {
        let now = world.clock.elapsed_ms();
        while let Some(task) = self.upcoming.pop_if(|task| task.at_ms <= now) {
            if let Act::SignOff(is_required) = task.act {
                return restart(world, is_required).await;
            }
            self.count += 1;
            self.open.push(OpenTask { number: self.count, act: task.act, print: None });
        }
        let (mut at, mut held) = (0, BTreeSet::new());
        while let Some(task) = self.open.get(at) {
            let subject = subject_of(task.act);
            if !held.contains(&subject) && self.carry_out(world, shop, register, at).await? {
                self.open.remove(at);
            } else {
                held.insert(subject);
                at += 1;
            }
        }
        Ok(())
    }

    /// Checks that a printer is in service or out of service, as last acknowledged.
    pub fn check(&self, id: &str, printer: &Value) -> Result<(), SimError> {
        let is_out = !printer["maintenance"].is_null();
        match self.records.out_of_service.get(id) {
            Some(expected) if *expected != is_out && !self.in_doubt.contains(id) => {
                Err(SimError::Broken(format!("out of service: {expected} was acknowledged, but {printer}")))
            }
            _ => Ok(()),
        }
    }

    /// Performs the open task at this index. Returns whether it is done.
    async fn carry_out(
        &mut self,
        world: &World,
        shop: &Shop,
        register: Register<'_>,
        at: usize,
    ) -> Result<bool, SimError> {
        let Some(OpenTask { number, act, .. }) = self.open.get(at) else { return Ok(true) };
        let (number, act) = (*number, *act);
        let is_done = match act {
            Act::Maintenance { printer, is_on } => match register.printers.get(printer) {
                Some(printer) => self.set_service(shop, number, printer, is_on).await?,
                None => true,
            },
            Act::Pause { printer, for_ms } => match register.printers.get(printer) {
                Some(printer) => self.pause(world, shop, printer, for_ms).await?,
                None => true,
            },
            Act::Receive { material, grams } => match register.materials.get(material) {
                Some(id) => self.receive(shop, number, (material, id.as_str()), grams).await?,
                None => true,
            },
            Act::Count { material, difference } => match register.materials.get(material) {
                Some(id) => count_stock(shop, id, difference).await?,
                None => true,
            },
            Act::Rank { order, priority } => self.rank(shop, register, order, priority).await?,
            Act::Remake { order } => self.make_again(world, shop, register, (at, number), order).await?,
            Act::SignOff(_) => true,
        };
        if is_done {
            world.story.tell(format!("staff: {act:?}"));
        }
        Ok(is_done)
    }

    async fn set_service(&mut self, shop: &Shop, number: u64, printer: &str, is_on: bool) -> Result<bool, SimError> {
        let body = json!({"on": is_on, "note": "new nozzle"});
        let errand = errand(number, format!("/api/printers/{printer}/maintenance"), body);
        self.in_doubt.insert(printer.to_owned());
        match shop.ask(&errand).await? {
            ShopReply::Unanswered => return Ok(false),
            ShopReply::Refused(code) => return Err(SimError::Broken(format!("{} was refused: {code}", errand.path))),
            ShopReply::Done(_) => self.records.out_of_service.insert(printer.to_owned(), is_on),
        };
        self.in_doubt.remove(printer);
        Ok(true)
    }

    /// Pauses a printer's print, if the shop shows one.
    async fn pause(&mut self, world: &World, shop: &Shop, printer: &str, for_ms: i64) -> Result<bool, SimError> {
        let Some(printer) = shop.read(&format!("/api/printers/{printer}")).await? else { return Ok(false) };
        let Some(job) = printer["jobId"].as_str() else { return Ok(true) };
        let Some(state) = shop.read(&format!("/api/jobs/{job}")).await? else { return Ok(false) };
        if state["state"] == "PRINTING" {
            self.records.pauses.insert(job.to_owned(), world.clock.elapsed_ms() + for_ms);
            shop.request(Method::POST, &format!("/api/jobs/{job}/pause"), &json!({})).await?;
        }
        Ok(true)
    }

    async fn receive(
        &mut self,
        shop: &Shop,
        number: u64,
        (material, id): (usize, &str),
        grams: u32,
    ) -> Result<bool, SimError> {
        let body = json!({"delta": grams, "reason": "new spools"});
        let errand = errand(number, format!("/api/inventory/materials/{id}/adjustments"), body);
        match shop.ask(&errand).await? {
            ShopReply::Unanswered => return Ok(false),
            ShopReply::Refused(code) => return Err(SimError::Broken(format!("a delivery was refused: {code}"))),
            ShopReply::Done(_) => {}
        }
        *self.records.deliveries.entry(material).or_default() += i64::from(grams) * 1000;
        Ok(true)
    }

    async fn rank(
        &mut self,
        shop: &Shop,
        register: Register<'_>,
        order: usize,
        priority: u8,
    ) -> Result<bool, SimError> {
        let Some(id) = register.order(order) else { return Ok(false) };
        let answer = shop.request(Method::PATCH, &format!("/api/orders/{id}"), &json!({"priority": priority})).await?;
        if answer.is_failure() {
            return Ok(false);
        }
        answer.expect(200)?;
        self.records.ranks.insert(order, priority);
        Ok(true)
    }

    /// Orders a good print of an order to be repeated. Does nothing if there is none until the end of the day, or if
    /// the order has ended.
    async fn make_again(
        &mut self,
        world: &World,
        shop: &Shop,
        register: Register<'_>,
        (at, number): (usize, u64),
        order: usize,
    ) -> Result<bool, SimError> {
        let chosen = self.open.get(at).and_then(|task| task.print.clone());
        let (job, attempt) = match chosen {
            Some(print) => print,
            None => match choose_print(world, shop, register, order).await? {
                Some(print) => print,
                None => return Ok(world.clock.elapsed_ms() >= world.size.healed_at_ms()),
            },
        };
        if let Some(task) = self.open.get_mut(at) {
            task.print = Some((job.clone(), attempt.clone()));
        }
        match shop.ask(&errand(number, format!("/api/jobs/{job}/retry"), json!({}))).await? {
            ShopReply::Unanswered => return Ok(false),
            ShopReply::Refused(_) => {}
            ShopReply::Done(_) => {
                self.records.remakes.insert(attempt, order);
                self.records.remade_jobs.insert(job);
            }
        }
        Ok(true)
    }
}

/// Returns the command of a task, which is always repeated with the same key.
fn errand(number: u64, path: String, body: Value) -> Errand {
    Errand { path, key: format!("task-{number}"), body }
}

/// Returns the subject of an act, as a kind and the index or number of the thing.
fn subject_of(act: Act) -> (&'static str, usize) {
    match act {
        Act::Maintenance { printer, .. } => ("service", printer),
        Act::Pause { printer, .. } => ("pause", printer),
        Act::Receive { material, .. } | Act::Count { material, .. } => ("stock", material),
        Act::Rank { order, .. } => ("rank", order),
        Act::Remake { order } => ("remake", order),
        Act::SignOff(_) => ("rules", 0),
    }
}

/// Changes the house rules and restarts the server. Never returns, because the server is switched off.
async fn restart(world: &World, is_sign_off_required: bool) -> Result<(), SimError> {
    let parts = if is_sign_off_required { "once they are signed off" } else { "by themselves" };
    world.story.tell(format!("the owner restarts the server, so that parts count {parts}"));
    world.house_rules.require_sign_off(is_sign_off_required);
    world.power.switch_off();
    pending().await
}

/// Performs a stock-take of a material whose actual amount differs from the server's. Returns whether the server has
/// accepted it.
async fn count_stock(shop: &Shop, id: &str, difference: i32) -> Result<bool, SimError> {
    let path = format!("/api/inventory/materials/{id}");
    let Some(material) = shop.read(&path).await? else { return Ok(false) };
    let counted = (material["quantity"].as_f64().unwrap_or_default() + f64::from(difference)).max(0.0);
    let counted = (counted * THOUSANDTHS).round() / THOUSANDTHS;
    let answer = shop.request(Method::PATCH, &path, &json!({"quantity": counted})).await?;
    if answer.is_failure() {
        return Ok(false);
    }
    answer.expect(200).map(|_| true)
}

/// Returns a signed-off print that counts for an order, as its job and attempt; `None` if there is none.
async fn choose_print(
    world: &World,
    shop: &Shop,
    register: Register<'_>,
    order: usize,
) -> Result<Option<(String, String)>, SimError> {
    let Some(order) = register.order(order) else { return Ok(None) };
    for id in world.journal.jobs_of(order) {
        let Some(job) = shop.read(&format!("/api/jobs/{id}")).await? else { return Ok(None) };
        let last = job["attempts"].as_array().and_then(|attempts| attempts.last()?["id"].as_str());
        let judged = last.filter(|attempt| register.inspections.of(attempt).is_some());
        if let Some(attempt) = judged.filter(|_| job["state"] == "COMPLETED" && job["awaitsSignOff"] != true) {
            return Ok(Some((id, attempt.to_owned())));
        }
    }
    Ok(None)
}
