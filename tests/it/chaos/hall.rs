//! The hall with the printers: what goes wrong there, and the people who work there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use fastrand::Rng;
use printfloor::printers::adapter::Operation;
use serde_json::{Value, json};
use simulator::printer::What;
use simulator::{Fleet, FleetOptions, PrinterKind, SimPrinter};

use crate::machines::can;
use crate::support::clock::HOUR;
use crate::support::{Client, Clock};

/// Healthy printers of each kind.
const HEALTHY: usize = 2;
/// How long an attempt is left in doubt before somebody goes to the printer and says what is there.
const PATIENCE: Duration = Duration::from_secs(3);

/// Healthy printers, and one of each kind that refuses every start. Gives the fleet and which are sick.
pub async fn fleet(seed: u64) -> (Fleet, Vec<bool>) {
    // A person's own print takes the place of ours while nobody looks: only a history tells then how ours ended.
    let remember = PrinterKind::ALL.iter().copied().filter(|kind| can(*kind, Operation::History));
    let printers = remember.map(|kind| (kind, HEALTHY + 1)).collect();
    let options = FleetOptions { speed: 400.0, seed, printers, ..FleetOptions::default() };
    let fleet = Fleet::start(options).await.unwrap();
    let mut of_kind: BTreeMap<PrinterKind, usize> = BTreeMap::new();
    let mut sick = Vec::new();
    for sim in &fleet.printers {
        let count = of_kind.entry(sim.kind).or_default();
        *count += 1;
        sick.push(*count > HEALTHY);
        sim.handle.update_faults(|faults| faults.refuse_start = *count > HEALTHY);
    }
    (fleet, sick)
}

/// The name of a person's own print.
pub fn is_own(file: &str) -> bool {
    file.starts_with("vase-")
}

/// Cuts networks, sets the clock, and prints things of people's own, until it is over; then everything is well again.
pub async fn mishaps(printers: Vec<SimPrinter>, clock: Arc<Clock>, over: Arc<AtomicBool>, seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let mut own = 0;
    while !over.load(Relaxed) {
        tokio::time::sleep(Duration::from_millis(rng.u64(50..400))).await;
        let sim = &printers[rng.usize(..printers.len())].handle;
        match rng.u8(..6) {
            0 => clock.set(rng.i64(-HOUR..=HOUR)),
            1 => {
                sim.update_faults(|faults| faults.disconnect = true);
                tokio::time::sleep(Duration::from_millis(rng.u64(50..1_500))).await;
                sim.update_faults(|faults| faults.disconnect = false);
            }
            2 if !sim.faults().refuse_start => {
                own += 1;
                let name = format!("vase-{own}.gcode");
                sim.put_file(&name, simulator::gcode::gcode("vase", rng.u64(60..600), 1.0, 300.0));
                // Somebody at the machine: it prints something already, or this now.
                let _ = sim.with(|machine| machine.start(&name));
            }
            _ => {}
        }
    }
}

/// The people of the hall: they clear beds, look after printers that refuse starts, go and see what nobody can verify,
/// and have done again what printers refused.
pub struct Operators {
    pub client: Client,
    /// The printers by their ids.
    pub printers: Vec<(String, SimPrinter)>,
    doubted: BTreeMap<String, Instant>,
}

impl Operators {
    pub fn new(client: Client, printers: Vec<(String, SimPrinter)>) -> Self {
        Self { client, printers, doubted: BTreeMap::new() }
    }

    async fn list(&self, path: &str, many: &str) -> Vec<Value> {
        let answer = self.client.try_send(self.client.request("GET", path)).await;
        let answer = answer.filter(|answer| answer.status == 200).map(|answer| answer.json());
        answer.and_then(|body| body[many].as_array().cloned()).unwrap_or_default()
    }

    /// Says something once; who is not heard says it again at the next round.
    async fn say(&self, path: String, body: &Value) {
        let _ = self.client.try_send(self.client.request("POST", &path).json(body)).await;
    }

    /// Works until it is over.
    pub async fn work(mut self, over: Arc<AtomicBool>) {
        while !over.load(Relaxed) {
            tokio::time::sleep(Duration::from_millis(200)).await;
            for printer in self.list("/api/printers", "printers").await {
                self.look_after(&printer).await;
            }
            for job in self.list("/api/jobs?state=DISPATCHING&limit=200", "jobs").await {
                self.go_and_see(&job).await;
            }
            for job in self.list("/api/jobs?state=PRINTING&limit=200", "jobs").await {
                self.go_and_see(&job).await;
            }
            for job in self.list("/api/jobs?state=FAILED&limit=200", "jobs").await {
                // Anything else must not happen here: the job stays FAILED, and the test fails.
                if job["error"].as_str().is_some_and(|error| error.contains("refused by")) {
                    self.say(format!("/api/jobs/{}/retry", job["id"].as_str().unwrap()), &json!({})).await;
                }
            }
        }
    }

    async fn look_after(&self, printer: &Value) {
        let id = printer["id"].as_str().unwrap();
        let Some((_, sim)) = self.printers.iter().find(|(known, _)| known == id) else { return };
        let attention = printer["status"]["attention"].as_array().cloned().unwrap_or_default();
        let calls_for = |word: &str| attention.iter().any(|one| one == word);
        let idle = sim.handle.with(|machine| machine.job().is_none());
        if (calls_for("bed_not_cleared") || calls_for("print_failed")) && idle {
            self.say(format!("/api/printers/{id}/bed-cleared"), &json!({})).await;
        }
        if calls_for("start_refused") && !sim.handle.faults().refuse_start {
            self.say(format!("/api/printers/{id}/clear-attention"), &json!({})).await;
        }
    }

    /// Of an attempt that has been in doubt for a while: what the machine physically did.
    async fn go_and_see(&mut self, job: &Value) {
        let Some(attempt) = job["attempts"].as_array().and_then(|all| all.last()) else { return };
        let id = attempt["id"].as_str().unwrap().to_owned();
        if attempt["unverified"] != true {
            self.doubted.remove(&id);
            return;
        }
        if self.doubted.entry(id.clone()).or_insert_with(Instant::now).elapsed() < PATIENCE {
            return;
        }
        let at = attempt["printerId"].as_str().unwrap();
        let Some((_, sim)) = self.printers.iter().find(|(known, _)| known == at) else { return };
        let (mut started, mut ended, mut finished) = (false, false, false);
        for entry in sim.handle.log() {
            match entry.what {
                What::Started { filename } if filename.contains(&id) => started = true,
                What::Finished { filename } if filename.contains(&id) => (ended, finished) = (true, true),
                What::Cancelled { filename } if filename.contains(&id) => ended = true,
                _ => {}
            }
        }
        let outcome = match (started, ended, finished) {
            (_, _, true) => "finished",
            (true, true, false) => "failed",
            (false, ..) => "not_started",
            // It prints: the server will see that.
            (true, false, false) => return,
        };
        let job = job["id"].as_str().unwrap();
        self.say(format!("/api/jobs/{job}/resolve"), &json!({ "outcome": outcome })).await;
    }
}
