//! Staff: they clear beds, look after printers, go and see what the server cannot know, have failed jobs printed again,
//! change spools, and judge parts, also late and twice. What was not acknowledged they repeat.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::acknowledgements::{Errand, Reply};
use crate::error::SimError;
use crate::inspections::{Inspections, PhysicalPrint, draw_good, physical_print, verdict_request};
use crate::machine::FloorMachine;
use crate::plan::SpoolChange;
use crate::shop::Shop;
use crate::weather::HEALED_AT_MS;
use crate::world::World;

/// Time for which something is in doubt before somebody goes and sees, longer than any start is delayed.
const DOUBT_MS: i64 = 300_000;
/// Time after the first verdict at which parts are perhaps judged again.
const SECOND_LOOK_MS: i64 = 240_000;
/// Material left on a spool, in grams, at which it is replaced by a fuller one: more than any print takes.
const MIN_SPOOL_GRAMS: f64 = 100.0;
/// Material on a fuller spool, in grams.
const FULL_SPOOL_GRAMS: u32 = 1_000;
/// Most verdicts on a print.
const MAX_VERDICTS: u32 = 2;

/// Staff of the shop.
pub struct Staff {
    seed: u64,
    material: String,
    /// IDs of the printers by the addresses of their machines.
    printers: BTreeMap<String, String>,
    /// Changes of spools that are still to be made, the next one last.
    spools: Vec<SpoolChange>,
    /// Verdicts on parts.
    pub inspections: Inspections,
    /// Times at which each attempt was first seen in doubt, or judged.
    since: BTreeMap<String, i64>,
    /// Jobs that nobody has to look at any more.
    settled: BTreeSet<String>,
    /// Number of errands whose keys depend on nothing else.
    count: u64,
    /// Number of refusals. The server repeats a refusal to whoever repeats the key.
    refusals: u64,
}

impl Staff {
    /// Creates the staff of a shop that was just set up.
    pub fn new(seed: u64, material: String, printers: BTreeMap<String, String>, spools: &[SpoolChange]) -> Self {
        let mut spools = spools.to_vec();
        spools.sort_by_key(|change| -change.at_ms);
        let (inspections, since, settled) = <_>::default();
        Self { seed, material, printers, spools, inspections, since, settled, count: 0, refusals: 0 }
    }

    /// Returns the IDs of the printers.
    pub fn printers(&self) -> impl Iterator<Item = &String> {
        self.printers.values()
    }

    /// Makes a round through the shop.
    pub async fn step(&mut self, world: &World, shop: &Shop, orders: &[String]) -> Result<(), SimError> {
        for (address, id) in self.printers.clone() {
            let Some(machine) = world.machines.get(&address) else { continue };
            if let Some(printer) = shop.read(&format!("/api/printers/{id}")).await? {
                self.look_after(world, shop, machine, &id, &printer).await?;
            }
        }
        self.change_spool(world, shop).await?;
        for job in jobs_of(world, orders) {
            if !self.settled.contains(&job)
                && let Some(job) = shop.read(&format!("/api/jobs/{job}")).await?
            {
                self.look_at(world, shop, &job).await?;
            }
        }
        Ok(())
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
        if is_idle && printer["slots"][0]["remaining"].as_f64().is_some_and(|left| left < MIN_SPOOL_GRAMS) {
            let body = json!({"materialId": self.material, "remaining": FULL_SPOOL_GRAMS});
            let errand = self.errand(format!("/api/printers/{id}/slots/0"), body);
            if let Reply::Done(_) = shop.ask(&errand).await? {
                world.story.tell(format!("staff: a fuller spool for {}", machine.name));
            }
        }
        if calls_for(printer, "start_refused") || calls_for(printer, "firmware_error") {
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
        match shop.ask(&errand).await? {
            Reply::Done(_) if verdict.is_none() => {
                world.story.tell(format!("staff: {good} of {plate} parts of {} are good", job["number"]));
                self.inspections.add(attempt, good);
            }
            Reply::Refused(_) => self.refusals += 1,
            Reply::Done(_) | Reply::Unanswered => {}
        }
        Ok(())
    }

    async fn change_spool(&mut self, world: &World, shop: &Shop) -> Result<(), SimError> {
        let Some(change) = self.spools.last().copied() else { return Ok(()) };
        if world.clock.elapsed_ms() < change.at_ms {
            return Ok(());
        }
        let Some(printer) = self.printers.values().nth(change.printer) else { return Ok(()) };
        let errand = Errand {
            path: format!("/api/printers/{printer}/slots/0"),
            key: format!("spool-{}", self.spools.len()),
            body: json!({"materialId": self.material, "remaining": change.grams}),
        };
        if !matches!(shop.ask(&errand).await?, Reply::Unanswered) {
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
            "DISPATCHING" | "PRINTING" | "PAUSED" if attempt["unverified"] == true => {
                self.go_and_see(world, shop, &id, attempt_id).await
            }
            "FAILED" => {
                let errand = self.errand(format!("/api/jobs/{id}/retry"), json!({}));
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

    /// Resolves an attempt that has been in doubt for a while by what the printer physically did.
    async fn go_and_see(&mut self, world: &World, shop: &Shop, job: &str, attempt: &str) -> Result<(), SimError> {
        let now = world.clock.elapsed_ms();
        let since = *self.since.entry(attempt.to_owned()).or_insert(now);
        let Some(outcome) = physical_print(world, attempt).outcome().filter(|_| now - since >= DOUBT_MS) else {
            return Ok(());
        };
        let errand = self.errand(format!("/api/jobs/{job}/resolve"), json!({"outcome": outcome}));
        if let Reply::Done(_) = shop.ask(&errand).await? {
            world.story.tell(format!("staff: a print of {} is resolved as {outcome}", errand.path));
        }
        Ok(())
    }

    /// Judges the parts of a finished print. Where parts count by themselves, only some are judged.
    async fn judge(&mut self, world: &World, shop: &Shop, job: &Value, attempt: &str) -> Result<(), SimError> {
        let id = job["id"].as_str().unwrap_or_default();
        let now = world.clock.elapsed_ms();
        let since = *self.since.entry(format!("judged {attempt}")).or_insert(now);
        let count = self.inspections.of(attempt).map_or(0, |verdict| verdict.count);
        let must = job["awaitsSignOff"] == true;
        let is_late = now >= HEALED_AT_MS;
        if count >= MAX_VERDICTS || (is_late && !must) {
            self.settled.insert(id.to_owned());
            return Ok(());
        }
        if count > 0 && now - since < SECOND_LOOK_MS {
            return Ok(());
        }
        let plate = job["plateParts"].as_u64().unwrap_or_default();
        let good = self.look(world, job, attempt, count);
        let key = self.key(&format!("sign-{count}"), attempt);
        let errand = Errand { path: format!("/api/jobs/{id}/sign-off"), key, body: verdict_request(good, plate) };
        match shop.ask(&errand).await? {
            Reply::Done(_) => {
                world.story.tell(format!("staff: {good} of {plate} parts of {} are good", job["number"]));
                self.inspections.add(attempt, good);
            }
            Reply::Refused(_) => self.refusals += 1,
            Reply::Unanswered => {}
        }
        Ok(())
    }

    /// Returns the number of good parts that somebody finds who looks at the print of an attempt.
    fn look(&self, world: &World, job: &Value, attempt: &str, verdict: u32) -> u64 {
        let plate = job["plateParts"].as_u64().unwrap_or_default();
        let is_whole = physical_print(world, attempt) == PhysicalPrint::Finished;
        if is_whole { draw_good(self.seed, &of_attempt(job), verdict, plate) } else { 0 }
    }

    /// Returns the key of an errand that is repeated until it is answered.
    fn key(&self, act: &str, attempt: &str) -> String {
        format!("{act}-{attempt}-{}", self.refusals)
    }

    /// Returns an errand that is not repeated with the same key: whether it is still due shows at the next round.
    fn errand(&mut self, path: String, body: Value) -> Errand {
        self.count += 1;
        Errand { path, key: format!("errand-{}", self.count), body }
    }
}

/// Returns the IDs of the jobs of orders, by the events on the disk.
pub fn jobs_of(world: &World, orders: &[String]) -> BTreeSet<String> {
    let tables = world.disk.tables();
    let jobs = tables.events_after(0).filter(|numbered| {
        let event = &numbered.event;
        event.subject_kind == "job" && event.order_id.is_some_and(|order| orders.contains(&order.to_string()))
    });
    jobs.map(|numbered| numbered.event.subject_id.to_string()).collect()
}

/// Returns a name for the last attempt of a job, which does not depend on IDs.
fn of_attempt(job: &Value) -> String {
    let count = job["attempts"].as_array().map_or(0, Vec::len);
    format!("{} {count}", job["number"])
}

/// Returns whether a printer calls for this attention.
fn calls_for(printer: &Value, word: &str) -> bool {
    printer["status"]["attention"].as_array().is_some_and(|all| all.iter().any(|one| one == word))
}
