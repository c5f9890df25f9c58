//! Inspectors: they clear beds, sign off parts, inspect parts of finished jobs again, and repeat earlier sign-offs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use fastrand::Rng;
use serde_json::{Value, json};

use super::customers::{ask, insist, read};
use super::hall::{Hall, calls_for, jobs, list};
use crate::store::migrations::released;
use crate::support::Client;

/// Acknowledged sign-offs of the parts of one attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Word {
    /// Number of good parts in the latest sign-off.
    pub last: u64,
    /// Lowest and highest number of good parts in any sign-off.
    pub least: u64,
    pub most: u64,
}

/// Sign-offs by attempt.
pub type Words = BTreeMap<String, Word>;

/// Inspector who signs off parts.
pub struct Inspector {
    client: Client,
    hall: Arc<Hall>,
    rng: Rng,
    words: Words,
    count: u64,
}

/// Returns whether an order is the one of the older release, which is left alone.
fn is_old(order: &Value) -> bool {
    *order == released::shop_ids()[0].as_str()
}

impl Inspector {
    pub fn new(client: Client, hall: Arc<Hall>, seed: u64) -> Self {
        Self { client, hall, rng: Rng::with_seed(seed), words: Words::new(), count: 0 }
    }

    /// Works until `over` is set; once `quiet` is set, no signed-off part is inspected again. `required`: parts count
    /// only after a sign-off.
    pub async fn work(mut self, required: bool, quiet: Arc<AtomicBool>, over: Arc<AtomicBool>) -> Words {
        while !over.load(Relaxed) {
            tokio::time::sleep(Duration::from_millis(100)).await;
            for printer in list(&self.client, "/api/printers", "printers").await {
                self.clear(&printer).await;
            }
            let jobs = jobs(&self.client, "COMPLETED").await;
            let jobs: Vec<&Value> = jobs.iter().filter(|job| !is_old(&job["orderId"])).collect();
            if required {
                for job in jobs.iter().filter(|job| job["awaitsSignOff"] == true) {
                    self.look_again(job).await;
                }
            }
            if !quiet.load(Relaxed)
                && let Some(job) = self.rng.choice(jobs.iter()).filter(|_| self.count.is_multiple_of(2))
            {
                self.look_again(job).await;
            }
            self.count += 1;
        }
        self.words
    }

    /// Generates a random verdict; on most plates, all parts are good.
    fn judge(&mut self, plate: u64) -> Value {
        let good = if self.rng.u8(..4) > 0 { plate } else { self.rng.u64(..plate) };
        if good == plate { json!({"goodCount": good}) } else { json!({"goodCount": good, "reason": "adhesion"}) }
    }

    fn note(&mut self, attempt: &str, inspection: &Value) {
        let good = inspection["goodCount"].as_u64().unwrap();
        let word = self.words.entry(attempt.to_owned()).or_insert(Word { last: good, least: good, most: good });
        *word = Word { last: good, least: word.least.min(good), most: word.most.max(good) };
    }

    fn key(&mut self, what: &str) -> String {
        self.count += 1;
        format!("{what}-{}", self.count)
    }

    /// Clears a bed that needs clearing, and signs off the parts on it.
    async fn clear(&mut self, printer: &Value) {
        let id = printer["id"].as_str().unwrap();
        let Some((_, machine)) = self.hall.at(id) else { return };
        let idle = machine.sim.handle.with(|machine| machine.job().is_none());
        if !idle || !(calls_for(printer, "bed_not_cleared") || calls_for(printer, "print_failed")) {
            return;
        }
        let path = format!("/api/printers/{id}/bed-cleared");
        let last = &printer["lastPrint"];
        let Some(attempt) = last["attemptId"].as_str() else {
            let key = self.key("clear");
            insist(&self.client, &path, &key, &json!({})).await;
            return;
        };
        if self.words.contains_key(attempt) {
            return;
        }
        let job = read(&self.client, &format!("/api/jobs/{}", last["jobId"].as_str().unwrap())).await;
        let inspection = self.judge(job["plateParts"].as_u64().unwrap());
        let key = self.key("clear");
        match ask(&self.client, &path, &key, &inspection).await {
            Ok(_) => self.note(attempt, &inspection),
            // Somebody's own print was there meanwhile; or the printer has more to tell first.
            Err(code) => assert!(matches!(code.as_str(), "nothing_to_sign_off" | "sign_offs_waiting"), "{code}"),
        }
    }

    /// Signs off the parts of a finished job, possibly for the second time, and possibly sends the same sign-off twice.
    async fn look_again(&mut self, job: &Value) {
        let attempt = job["attempts"].as_array().unwrap().last().unwrap();
        let attempt_id = attempt["id"].as_str().unwrap();
        let is_noted = self.words.contains_key(attempt_id);
        let hall = self.hall.clone();
        let Some((_, machine)) = hall.at(attempt["printerId"].as_str().unwrap()) else { return };
        // Of two people who speak of the same parts, one at the printer and one here, nobody could tell who was later:
        // the clock goes back and forth. So it is one after the other.
        if is_noted && attempt["signOff"]["by"].as_str().is_none_or(|by| by == "system") {
            return;
        }
        let printer = read(&self.client, &format!("/api/printers/{}", machine.id)).await;
        let waits = machine.by_hand || calls_for(&printer, "bed_not_cleared") || calls_for(&printer, "print_failed");
        if printer["jobId"] == job["id"] || (waits && printer["lastPrint"]["attemptId"] == attempt_id) {
            return;
        }
        let inspection = self.judge(job["plateParts"].as_u64().unwrap());
        let path = format!("/api/jobs/{}/sign-off", job["id"].as_str().unwrap());
        let key = self.key("sign");
        insist(&self.client, &path, &key, &inspection).await;
        self.note(attempt_id, &inspection);
        for again in [key, self.key("again")].into_iter().take(self.rng.usize(..4)) {
            insist(&self.client, &path, &again, &inspection).await;
        }
    }
}
