//! Staff of the hall: they clear beds, sign off parts, change spools, receive deliveries, and inspect what the server
//! cannot know. Their requests are repeated until they are acknowledged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use fastrand::Rng;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::client::{ApiFault, ChaosClient};
use crate::hall::{ChaosHall, ChaosMachine, Deeds};
use crate::json::{items, number, text};

/// Pause between two rounds.
const ROUND_PAUSE: Duration = Duration::from_millis(250);
/// Time for which a start has been unconfirmed, and the network to the printer has worked, before someone inspects the
/// printer.
const DOUBT_PATIENCE: Duration = Duration::from_secs(3);
/// Amount on a new spool and in a delivery, in grams.
const SPOOL_GRAMS: u32 = 5_000;
const DELIVERY_GRAMS: u32 = 100;
/// One in this many rounds changes a spool, and one in this many receives a delivery.
const ROUNDS_PER_SPOOL: u32 = 12;
const ROUNDS_PER_DELIVERY: u32 = 9;
/// One in this many plates has a bad part.
const PLATES_PER_REJECT: u8 = 4;
/// Codes of legitimate refusals of a sign-off: there is nothing left to sign off, or another sign-off comes first.
const NOTHING_TO_SAY: [&str; 2] = ["nothing_to_sign_off", "sign_offs_waiting"];

/// Acknowledged actions of the staff.
#[derive(Debug, Default)]
pub struct StaffRecords {
    /// Number of good parts in the sign-off of each attempt.
    pub verdicts: BTreeMap<String, i64>,
    /// Jobs whose outcome was resolved by the staff, or that the staff had printed again.
    pub decided_jobs: BTreeSet<String>,
    /// Number of spools that were changed.
    pub spools: u32,
    /// Delivered amount, in grams.
    pub delivered_grams: u32,
}

/// The staff of the hall.
pub struct ChaosStaff {
    api: ChaosClient,
    hall: Arc<ChaosHall>,
    material: String,
    rng: Rng,
    /// `true` once no more parts are rejected, so that the shop becomes idle.
    quiet: Arc<AtomicBool>,
    records: StaffRecords,
    /// Unconfirmed attempts, each with the time since which it has been unconfirmed.
    doubts: BTreeMap<String, Instant>,
    commands: u64,
}

impl ChaosStaff {
    /// Creates staff who have not done anything yet.
    pub fn new(api: ChaosClient, hall: Arc<ChaosHall>, material: String, seed: u64, quiet: Arc<AtomicBool>) -> Self {
        let (rng, records) = (Rng::with_seed(!seed), StaffRecords::default());
        Self { api, hall, material, rng, quiet, records, doubts: BTreeMap::new(), commands: 0 }
    }

    /// Works until `closed` is set. Returns the acknowledged actions.
    pub async fn work_until(mut self, closed: Arc<AtomicBool>) -> Result<StaffRecords, ApiFault> {
        while !closed.load(Relaxed) {
            self.round().await?;
            sleep(ROUND_PAUSE).await;
        }
        Ok(self.records)
    }

    async fn round(&mut self) -> Result<(), ApiFault> {
        for printer in self.api.list("/api/printers?limit=100", "printers").await {
            self.look_after(&printer).await?;
        }
        for state in ["DISPATCHING", "PRINTING"] {
            for job in self.api.list(&format!("/api/jobs?state={state}&limit=200"), "jobs").await {
                self.go_and_see(&job).await?;
            }
        }
        for job in self.api.list("/api/jobs?state=FAILED&limit=200", "jobs").await {
            self.retry(&job).await?;
        }
        if self.quiet.load(Relaxed) {
            return Ok(());
        }
        let jobs = self.api.list("/api/jobs?state=COMPLETED&limit=200", "jobs").await;
        if let Some(job) = self.rng.choice(&jobs) {
            self.judge_again(job).await?;
        }
        if self.rng.u32(..ROUNDS_PER_SPOOL) == 0 {
            self.change_spool().await?;
        }
        if self.rng.u32(..ROUNDS_PER_DELIVERY) == 0 {
            self.receive().await?;
        }
        Ok(())
    }

    /// Returns a unique idempotency key.
    fn key(&mut self, what: &str) -> String {
        self.commands += 1;
        format!("{what}-{}", self.commands)
    }

    /// Clears the bed of a printer if necessary, and inspects a printer that is on hold.
    async fn look_after(&mut self, printer: &Value) -> Result<(), ApiFault> {
        let (hall, id) = (self.hall.clone(), text(printer, "id"));
        let Some(machine) = hall.at(id) else { return Ok(()) };
        if asks(printer, &["start_refused", "firmware_error", "disk_full"]) {
            let key = self.key("checked");
            // Whether it still is on hold is not the staff's affair.
            let _ = self.api.ask(&format!("/api/printers/{id}/clear-attention"), &key, &json!({})).await?;
        }
        if !machine.is_idle() || !waits_for_bed(printer) {
            return Ok(());
        }
        let path = format!("/api/printers/{id}/bed-cleared");
        let Some(attempt) = printer["lastPrint"]["attemptId"].as_str() else {
            let key = self.key("clear");
            return self.api.insist(&path, &key, &json!({})).await.map(drop);
        };
        if self.records.verdicts.contains_key(attempt) {
            return Ok(());
        }
        let job = self.api.get(&format!("/api/jobs/{}", text(&printer["lastPrint"], "jobId"))).await?;
        let key = self.key("clear");
        self.sign_off(&path, &key, (machine, attempt), number(&job, "plateParts")).await
    }

    /// Signs off the parts of a finished job, unless they already have a sign-off or will get one when their bed is
    /// cleared.
    async fn judge_again(&mut self, job: &Value) -> Result<(), ApiFault> {
        let hall = self.hall.clone();
        let Some(attempt) = items(job, "attempts").last() else { return Ok(()) };
        let (attempt_id, printer) = (text(attempt, "id"), text(attempt, "printerId"));
        let Some(machine) = hall.at(printer).filter(|machine| !machine.by_hand) else { return Ok(()) };
        if self.records.verdicts.contains_key(attempt_id) {
            return Ok(());
        }
        let printer = self.api.get(&format!("/api/printers/{printer}")).await?;
        if printer["jobId"] == job["id"] || waits_for_bed(&printer) {
            return Ok(());
        }
        let path = format!("/api/jobs/{}/sign-off", text(job, "id"));
        let key = self.key("sign");
        self.sign_off(&path, &key, (machine, attempt_id), number(job, "plateParts")).await
    }

    /// Signs off the parts of a plate; none are good if the print did not finish.
    async fn sign_off(
        &mut self,
        path: &str,
        key: &str,
        (machine, attempt): (&ChaosMachine, &str),
        plate_parts: i64,
    ) -> Result<(), ApiFault> {
        let is_whole = machine.deeds(attempt).finishes > 0;
        let has_reject = !self.quiet.load(Relaxed) && self.rng.u8(..PLATES_PER_REJECT) == 0;
        let good = match (is_whole, has_reject) {
            (false, _) => 0,
            (true, true) => self.rng.i64(0..plate_parts.max(1)),
            (true, false) => plate_parts,
        };
        let mut body = json!({"goodCount": good});
        if good < plate_parts {
            body["reason"] = json!("adhesion");
        }
        match self.api.ask(path, key, &body).await? {
            Ok(_) => {
                self.records.verdicts.insert(attempt.to_owned(), good);
                Ok(())
            }
            Err(refusal) if NOTHING_TO_SAY.contains(&refusal.code.as_str()) => Ok(()),
            Err(refusal) => Err(ApiFault(format!("POST {path} was refused: {refusal}"))),
        }
    }

    /// Resolves an attempt that has been unconfirmed for a while, according to what its printer physically did.
    async fn go_and_see(&mut self, job: &Value) -> Result<(), ApiFault> {
        let Some(attempt) = items(job, "attempts").last() else { return Ok(()) };
        let id = text(attempt, "id");
        if attempt["unverified"] != true {
            self.doubts.remove(id);
            return Ok(());
        }
        let since = *self.doubts.entry(id.to_owned()).or_insert_with(Instant::now);
        let hall = self.hall.clone();
        let Some(machine) = hall.at(text(attempt, "printerId")) else { return Ok(()) };
        if since.elapsed() < DOUBT_PATIENCE || !machine.is_settled(DOUBT_PATIENCE) {
            return Ok(());
        }
        // While it prints, the server will see that.
        let Some(outcome) = Deeds::outcome(machine.deeds(id)) else { return Ok(()) };
        let key = self.key("resolve");
        self.decide(job, "resolve", &key, &json!({"outcome": outcome})).await
    }

    /// Has a failed job printed again.
    async fn retry(&mut self, job: &Value) -> Result<(), ApiFault> {
        let key = self.key("retry");
        self.decide(job, "retry", &key, &json!({})).await
    }

    /// Sends an operator's decision about a job. A refusal means that evidence or a cancellation came first.
    async fn decide(&mut self, job: &Value, act: &str, key: &str, body: &Value) -> Result<(), ApiFault> {
        let id = text(job, "id");
        if self.api.ask(&format!("/api/jobs/{id}/{act}"), key, body).await?.is_ok() {
            self.records.decided_jobs.insert(id.to_owned());
        }
        Ok(())
    }

    /// Puts a new spool of the same material into a printer.
    async fn change_spool(&mut self) -> Result<(), ApiFault> {
        let hall = self.hall.clone();
        let Some(machine) = self.rng.choice(&hall.machines) else { return Ok(()) };
        let key = self.key("spool");
        let spool = json!({"materialId": self.material, "remaining": SPOOL_GRAMS});
        self.api.insist(&format!("/api/printers/{}/slots/0", machine.id), &key, &spool).await?;
        self.records.spools += 1;
        Ok(())
    }

    /// Receives a delivery.
    async fn receive(&mut self) -> Result<(), ApiFault> {
        let key = self.key("delivery");
        let body = json!({"delta": DELIVERY_GRAMS, "reason": "delivery"});
        let path = format!("/api/inventory/materials/{}/adjustments", self.material);
        self.api.insist(&path, &key, &body).await?;
        self.records.delivered_grams += DELIVERY_GRAMS;
        Ok(())
    }
}

/// Returns whether a printer has one of these kinds of attention.
fn asks(printer: &Value, words: &[&str]) -> bool {
    items(&printer["status"], "attention").iter().any(|word| words.iter().any(|one| word == one))
}

/// Returns whether a printer waits for a person to clear its bed.
pub fn waits_for_bed(printer: &Value) -> bool {
    asks(printer, &["bed_not_cleared", "print_failed"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attention_is_read_from_the_status() {
        let printer = json!({"status": {"attention": ["bed_not_cleared", "needs_home"]}});
        assert!(waits_for_bed(&printer) && asks(&printer, &["needs_home"]));
        assert!(!asks(&printer, &["start_refused"]) && !waits_for_bed(&json!({})));
    }
}
