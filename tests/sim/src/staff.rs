//! The staff: they clear beds, look after printers, inspect what the server cannot know, have failed jobs printed
//! again, change spools, and sign off parts, sometimes late or twice. Unacknowledged requests are repeated. They check
//! everything to which something has happened, and everything else from time to time.

use std::collections::{BTreeMap, BTreeSet};

use axum::http::Method;
use serde_json::{Value, json};

use crate::acknowledgements::{Errand, ShopReply};
use crate::agenda::Agenda;
use crate::chance::branch;
use crate::clock::WorldClock;
use crate::error::SimError;
use crate::hands;
use crate::inspections::{Inspections, draw_good, verdict_request};
use crate::machine::FloorMachine;
use crate::office::{Office, Register};
use crate::parcels::ParcelDesk;
use crate::plan::{Plan, SpoolChange};
use crate::prints::{PhysicalPrint, physical_print};
use crate::setup::SetUp;
use crate::shop::Shop;
use crate::size::Size;
use crate::world::World;
use domain::time::Timestamp;

/// Time for which a start stays unconfirmed before someone inspects the printer, in milliseconds; longer than the delay
/// of any start.
const DOUBT_MS: i64 = 300_000;
/// Time after the first sign-off at which parts may be signed off again, in milliseconds.
const SECOND_LOOK_MS: i64 = 240_000;
/// Maximum time until the parts of a print are signed off in the course of a day, in milliseconds.
const MAX_LATE_LOOK_MS: i64 = 3_600_000;
/// Amount of material on a spool, in grams, below which it is replaced; more than any print takes.
const MIN_SPOOL_GRAMS: f64 = 100.0;
/// Material on a replacement spool, in grams.
const FULL_SPOOL_GRAMS: u32 = 1_000;
/// Attention of a printer that the staff attends to. What else it calls for, as while it does not respond, ends by
/// itself or is a part of something else.
const ATTENDED: [&str; 6] =
    ["bed_not_cleared", "print_failed", "needs_home", "start_refused", "firmware_error", "disk_full"];
/// Maximum number of sign-offs for a print.
const MAX_VERDICTS: u32 = 2;

/// Staff of the shop.
pub struct Staff {
    seed: u64,
    size: Size,
    /// IDs of the printers by their machines' URLs.
    printers: BTreeMap<String, String>,
    /// IDs of the materials in the first slots of the printers, in the same order.
    loads: Vec<String>,
    materials: Vec<String>,
    /// Spool changes that are not due yet, the next one last.
    spools: Vec<SpoolChange>,
    /// Sign-offs of parts.
    pub inspections: Inspections,
    /// Office, which performs the tasks that the plan schedules.
    pub office: Office,
    /// Desk for shipments.
    pub parcels: ParcelDesk,
    /// Times at which each attempt was first seen unconfirmed or awaiting a sign-off, in milliseconds.
    since: BTreeMap<String, i64>,
    /// Jobs that need no further attention.
    settled: BTreeSet<String>,
    /// Orders whose jobs all need no further attention, each with the number of the last event about it at that time.
    rests: BTreeMap<String, i64>,
    printer_looks: Agenda,
    job_looks: Agenda,
    /// Number of commands whose keys are derived from this counter alone.
    count: u64,
    /// Number of refusals, used in idempotency keys: the server returns the same refusal for a repeated key.
    refusals: u64,
}

impl Staff {
    /// Creates the staff of a newly set-up shop.
    pub fn new(plan: &Plan, set_up: &SetUp) -> Self {
        let mut spools = plan.spools.clone();
        spools.sort_by_key(|change| -change.at_ms);
        let (inspections, since, settled, rests) = <_>::default();
        let every_ms = plan.size.look_every_ms();
        Self {
            seed: plan.seed,
            size: plan.size,
            printers: set_up.printers.clone(),
            loads: set_up.loads.clone(),
            materials: set_up.materials.clone(),
            spools,
            inspections,
            office: Office::new(&plan.work.tasks),
            parcels: ParcelDesk::new(plan.size, &plan.work.parcels),
            since,
            settled,
            rests,
            printer_looks: Agenda::new(every_ms),
            job_looks: Agenda::new(every_ms),
            count: 0,
            refusals: 0,
        }
    }

    /// Returns the IDs of the printers.
    pub fn printers(&self) -> impl Iterator<Item = &String> {
        self.printers.values()
    }

    /// Makes one round through the shop; its orders are given by number and ID, those from other shops by ID.
    pub async fn step(
        &mut self,
        world: &World,
        shop: &Shop,
        orders: &[(usize, String)],
        sold: &[String],
    ) -> Result<(), SimError> {
        world.journal.read(&world.disk.tables());
        self.look_at_printers(world, shop).await?;
        self.change_spool(world, shop).await?;
        let all: Vec<&str> = orders.iter().map(|(_, id)| id).chain(sold).map(String::as_str).collect();
        self.look_at_jobs(world, shop, &all).await?;
        let printers: Vec<String> = self.printers.values().cloned().collect();
        let register =
            Register { printers: &printers, materials: &self.materials, orders, inspections: &self.inspections };
        self.office.step(world, shop, register).await?;
        self.parcels.step(world, shop, orders).await
    }

    async fn look_at_printers(&mut self, world: &World, shop: &Shop) -> Result<(), SimError> {
        for (address, id) in self.printers.clone() {
            let Some(machine) = world.machines.get(&address) else { continue };
            let (now, mark) = (world.clock.elapsed_ms(), world.journal.last_event(&id) + machine.log_length() as i64);
            if !self.printer_looks.is_due(&id, now, mark) {
                continue;
            }
            if let Some(printer) = shop.read(&format!("/api/printers/{id}")).await? {
                self.printer_looks.look(&id, now, mark);
                self.office.check(&id, &printer)?;
                self.look_after(world, shop, machine, &id, &printer).await?;
                if ATTENDED.iter().any(|word| calls_for(&printer, word)) {
                    self.printer_looks.wake(&id, now);
                }
            }
        }
        Ok(())
    }

    async fn look_at_jobs(&mut self, world: &World, shop: &Shop, orders: &[&str]) -> Result<(), SimError> {
        let mut jobs = BTreeSet::new();
        for order in orders.iter().copied() {
            let event = world.journal.last_event(order);
            if self.rests.get(order) == Some(&event) {
                continue;
            }
            let of_order = world.journal.jobs_of(order);
            if of_order.iter().all(|job| self.is_settled(job)) {
                self.rests.insert(order.to_owned(), event);
            }
            jobs.extend(of_order);
        }
        for id in jobs {
            let (now, mark) = (world.clock.elapsed_ms(), world.journal.last_event(&id));
            if !self.is_settled(&id)
                && self.job_looks.is_due(&id, now, mark)
                && let Some(job) = shop.read(&format!("/api/jobs/{id}")).await?
            {
                self.job_looks.look(&id, now, mark);
                self.look_at(world, shop, &job).await?;
            }
        }
        Ok(())
    }

    /// Returns whether a job needs no further attention.
    fn is_settled(&self, job: &str) -> bool {
        self.settled.contains(job) && !self.office.records.is_remade(job)
    }

    async fn look_after(
        &mut self,
        world: &World,
        shop: &Shop,
        machine: &FloorMachine,
        id: &str,
        printer: &Value,
    ) -> Result<(), SimError> {
        let is_idle = machine.with(|machine| machine.job().is_none());
        if is_idle && (calls_for(printer, "bed_not_cleared") || calls_for(printer, "print_failed")) {
            self.clear_bed(world, shop, id, &printer["lastPrint"]).await?;
        }
        for slot in printer["slots"].as_array().into_iter().flatten().filter(|_| is_idle) {
            if slot["remaining"].as_f64().is_some_and(|left| left < MIN_SPOOL_GRAMS) {
                let body = json!({"materialId": slot["materialId"], "remaining": FULL_SPOOL_GRAMS});
                let errand = self.errand(format!("/api/printers/{id}/slots/{}", slot["slot"]), body);
                if let ShopReply::Done(_) = shop.ask(&errand).await? {
                    world.story.tell(format!("staff: a fuller spool for {}", machine.name));
                }
            }
        }
        hands::set_right(world, shop, machine, id, calls_for(printer, "needs_home")).await?;
        let is_full = machine.with(|machine| machine.faults().disk_full);
        if !is_full && ["start_refused", "firmware_error", "disk_full"].iter().any(|word| calls_for(printer, word)) {
            let errand = self.errand(format!("/api/printers/{id}/clear-attention"), json!({}));
            shop.ask(&errand).await?;
        }
        Ok(())
    }

    async fn clear_bed(&mut self, world: &World, shop: &Shop, id: &str, print: &Value) -> Result<(), SimError> {
        let path = format!("/api/printers/{id}/bed-cleared");
        let Some(attempt) = print["attemptId"].as_str() else {
            let errand = self.errand(path, json!({}));
            return shop.ask(&errand).await.map(drop);
        };
        let job = print["jobId"].as_str().unwrap_or_default();
        let Some(job) = shop.read(&format!("/api/jobs/{job}")).await? else { return Ok(()) };
        let plate = job["plateParts"].as_u64().unwrap_or_default();
        let verdict = self.inspections.of(attempt);
        let good = verdict.map_or_else(|| self.look(world, &job, attempt, 0), |verdict| verdict.good);
        let errand = match verdict {
            Some(_) => self.errand(path, verdict_request(good, plate)),
            None => Errand { path, key: self.key("clear", attempt), body: verdict_request(good, plate) },
        };
        self.inspections.look(attempt, world.clock.elapsed_ms());
        match shop.ask(&errand).await? {
            ShopReply::Done(_) if verdict.is_none() => {
                world.story.tell(format!("staff: {good} of {plate} parts of {} are good", job["number"]));
                self.inspections.add(attempt, good);
            }
            ShopReply::Refused(_) => self.refusals += 1,
            ShopReply::Done(_) | ShopReply::Unanswered => {}
        }
        Ok(())
    }

    async fn change_spool(&mut self, world: &World, shop: &Shop) -> Result<(), SimError> {
        let Some(change) = self.spools.last().copied() else { return Ok(()) };
        if world.clock.elapsed_ms() < change.at_ms {
            return Ok(());
        }
        let printer = self.printers.values().nth(change.printer).zip(self.loads.get(change.printer));
        let Some((printer, material)) = printer else { return Ok(()) };
        let errand = Errand {
            path: format!("/api/printers/{printer}/slots/0"),
            key: format!("spool-{}", self.spools.len()),
            body: json!({"materialId": material, "remaining": change.grams}),
        };
        if !matches!(shop.ask(&errand).await?, ShopReply::Unanswered) {
            world.story.tell(format!("staff: a spool of {} g", change.grams));
            self.spools.pop();
        }
        Ok(())
    }

    async fn look_at(&mut self, world: &World, shop: &Shop, job: &Value) -> Result<(), SimError> {
        let id = job["id"].as_str().unwrap_or_default().to_owned();
        let attempts = job["attempts"].as_array().map(Vec::as_slice).unwrap_or_default();
        let Some(attempt) = attempts.last() else { return Ok(()) };
        let attempt_id = attempt["id"].as_str().unwrap_or_default();
        match job["state"].as_str().unwrap_or_default() {
            "DISPATCHING" | "PRINTING" if attempt["unverified"] == true => {
                self.go_and_see(world, shop, &id, attempt_id).await
            }
            "PAUSED" => {
                if attempt["unverified"] == true {
                    self.go_and_see(world, shop, &id, attempt_id).await?;
                }
                self.resume(world, shop, &id).await
            }
            "FAILED" => {
                let errand = self.errand(format!("/api/jobs/{id}/retry"), json!({}));
                self.job_looks.wake(&id, world.clock.elapsed_ms());
                shop.ask(&errand).await.map(drop)
            }
            "COMPLETED" => self.judge(world, shop, job, attempt_id).await,
            "CANCELLED" => {
                self.settled.insert(id);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Resolves an attempt that has been unconfirmed for [`DOUBT_MS`], according to what the printer physically did.
    async fn go_and_see(&mut self, world: &World, shop: &Shop, job: &str, attempt: &str) -> Result<(), SimError> {
        let now = world.clock.elapsed_ms();
        let since = *self.since.entry(attempt.to_owned()).or_insert(now);
        self.job_looks.wake(job, since.max(now - DOUBT_MS) + DOUBT_MS);
        let Some(outcome) = physical_print(world, attempt).outcome().filter(|_| now - since >= DOUBT_MS) else {
            return Ok(());
        };
        let errand = self.errand(format!("/api/jobs/{job}/resolve"), json!({"outcome": outcome}));
        if let ShopReply::Done(_) = shop.ask(&errand).await? {
            world.story.tell(format!("staff: a print of {} is resolved as {outcome}", errand.path));
        }
        Ok(())
    }

    /// Resumes a print paused by the office once its time is over.
    async fn resume(&mut self, world: &World, shop: &Shop, job: &str) -> Result<(), SimError> {
        let (now, until) = (world.clock.elapsed_ms(), self.office.records.paused_until(job));
        self.job_looks.wake(job, until.max(now));
        if now >= until {
            shop.request(Method::POST, &format!("/api/jobs/{job}/resume"), &json!({})).await?;
        }
        Ok(())
    }

    /// Signs off the parts of a finished print. If no sign-off is required, only some prints get one.
    async fn judge(&mut self, world: &World, shop: &Shop, job: &Value, attempt: &str) -> Result<(), SimError> {
        let id = job["id"].as_str().unwrap_or_default();
        let now = world.clock.elapsed_ms();
        let since = *self.since.entry(format!("judged {attempt}")).or_insert(now);
        let count = self.inspections.of(attempt).map_or(0, |verdict| verdict.count);
        let must = job["awaitsSignOff"] == true;
        if let Some(ended) = ended_at(job).filter(|_| self.inspections.first_look(attempt).is_none()) {
            world.house_rules.check(WorldClock::ms_of(ended), job)?;
        }
        let is_late = now >= world.size.healed_at_ms();
        let (delay_ms, most) = self.draw_looks(job);
        if count >= most || (is_late && !must) {
            self.settled.insert(id.to_owned());
            return Ok(());
        }
        let look_ms = since + if count > 0 { SECOND_LOOK_MS.max(delay_ms) } else { delay_ms };
        if now < look_ms && !(is_late && count == 0) {
            self.job_looks.wake(id, look_ms);
            return Ok(());
        }
        self.job_looks.wake(id, now);
        let plate = job["plateParts"].as_u64().unwrap_or_default();
        let good = self.look(world, job, attempt, count);
        let key = self.key(&format!("sign-{count}"), attempt);
        let errand = Errand { path: format!("/api/jobs/{id}/sign-off"), key, body: verdict_request(good, plate) };
        self.inspections.look(attempt, now);
        match shop.ask(&errand).await? {
            ShopReply::Done(_) => {
                world.story.tell(format!("staff: {good} of {plate} parts of {} are good", job["number"]));
                self.inspections.add(attempt, good);
            }
            ShopReply::Refused(_) => self.refusals += 1,
            ShopReply::Unanswered => {}
        }
        Ok(())
    }

    /// Returns the time after which the parts of a job's last print are first signed off, in milliseconds, and the
    /// number of sign-offs. Over the course of a day, no one is at every printer immediately.
    fn draw_looks(&self, job: &Value) -> (i64, u32) {
        if self.size == Size::Story {
            return (0, MAX_VERDICTS);
        }
        let mut chance = branch(self.seed, &format!("looks at {}", of_attempt(job)));
        let is_late = chance.u8(..3) == 0;
        (if is_late { chance.i64(0..MAX_LATE_LOOK_MS) } else { 0 }, if chance.u8(..3) == 0 { MAX_VERDICTS } else { 1 })
    }

    /// Returns the number of good parts that an inspection of an attempt's print finds.
    fn look(&self, world: &World, job: &Value, attempt: &str, verdict: u32) -> u64 {
        let plate = job["plateParts"].as_u64().unwrap_or_default();
        let is_whole = physical_print(world, attempt) == PhysicalPrint::Finished;
        if is_whole { draw_good(self.seed, &of_attempt(job), verdict, plate) } else { 0 }
    }

    /// Returns the key of a command that is repeated until it is answered.
    fn key(&self, act: &str, attempt: &str) -> String {
        format!("{act}-{attempt}-{}", self.refusals)
    }

    /// Returns a command that is not repeated with the same key, because the next round shows whether it is still
    /// needed.
    fn errand(&mut self, path: String, body: Value) -> Errand {
        self.count += 1;
        Errand { path, key: format!("errand-{}", self.count), body }
    }
}

/// Returns an identifier of a job's last attempt that does not depend on IDs.
fn of_attempt(job: &Value) -> String {
    let count = job["attempts"].as_array().map_or(0, Vec::len);
    format!("{} {count}", job["number"])
}

/// Returns the time at which the last print of a job ended; `None` if it has not ended.
fn ended_at(job: &Value) -> Option<Timestamp> {
    job["attempts"].as_array()?.last()?["endedAt"].as_str()?.parse().ok()
}

/// Returns whether a printer calls for this attention.
fn calls_for(printer: &Value, word: &str) -> bool {
    printer["status"]["attention"].as_array().is_some_and(|all| all.iter().any(|one| one == word))
}
