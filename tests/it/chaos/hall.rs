//! The hall with the printers: the mishaps there, and the operators who look after the printers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use fastrand::Rng;
use printfloor::printers::adapter::Operation;
use serde_json::{Value, json};
use simulator::bambu::Bambu;
use simulator::bambu::setup::{Ams, Tray};
use simulator::printer::PhysicalEvent;
use simulator::{Fleet, FleetOptions, PrinterKind, SimPrinter};
use tokio::sync::Mutex;

use super::catalogue::{COLORS, Catalogue};
use super::customers::insist;
use crate::machines::can;
use crate::support::clock::HOUR;
use crate::support::{App, Client, Clock};

/// Number of healthy printers of each type; one more of each type refuses every start.
const HEALTHY: usize = 2;
/// Simulation speed of the printers.
pub const SPEED: f64 = 600.0;
/// Time during which a start may stay unconfirmed before an operator inspects the printer and reports the outcome.
pub const PATIENCE: Duration = Duration::from_secs(3);
/// Amount on a spool that holds far more than is printed, in grams.
pub const MUCH: f64 = 100_000.0;
/// Amount on a spool that is soon used up, in grams.
const LITTLE: f64 = 20.0;
/// Amount below which a spool is swapped, in grams.
const LOW: f64 = 3.0;

/// A printer of the hall.
pub struct Machine {
    /// ID of the printer on the server.
    pub id: String,
    pub sim: SimPrinter,
    /// `true` if it refuses every start.
    pub sick: bool,
    /// `true` if a person clears the bed after each print.
    pub by_hand: bool,
    /// `true` if the printer reports prints that ended unobserved, even when it now shows another one. For other
    /// printers the server relies on the file's stated print time, and prints here take far less; on those, operators
    /// therefore start their own prints only after the server has seen the end of the previous one.
    pub remembers: bool,
    /// Materials in the slots, in the order of the slots.
    pub loaded: Vec<String>,
    /// Lock held while the printer's network is cut.
    pub network: Mutex<()>,
}

impl Machine {
    /// Returns the initial amount on the spool in this slot, in grams; `None` if it is unknown.
    pub fn spool(&self, slot: usize) -> Option<f64> {
        match (self.by_hand, self.loaded.len(), slot) {
            (false, 2, 0 | 1) if !self.sick => Some(MUCH),
            (true, 2, 0) => Some(LITTLE),
            _ => None,
        }
    }
}

/// All printers.
pub struct Hall {
    pub machines: Vec<Machine>,
    _fleet: Fleet,
}

/// Returns whether a file name belongs to an operator's own print.
pub fn is_own(file: &str) -> bool {
    file.starts_with("vase-")
}

impl Hall {
    /// Registers two healthy printers of each type and one that refuses every start. Some printers report their slots;
    /// those of the others are set through the API.
    pub async fn new(app: &App, catalogue: &Catalogue, seed: u64) -> Self {
        let options = FleetOptions { speed: SPEED, seed, ..FleetOptions::of_each(HEALTHY + 1) };
        let fleet = Fleet::start(options).await.unwrap();
        let mut of_kind: BTreeMap<PrinterKind, usize> = BTreeMap::new();
        let kinds: BTreeSet<PrinterKind> = fleet.printers.iter().map(|sim| sim.kind).collect();
        let [black, white] = catalogue.materials.clone();
        let mut machines = Vec::new();
        for sim in &fleet.printers {
            let count = of_kind.entry(sim.kind).or_default();
            *count += 1;
            let (sick, first) = (*count > HEALTHY, *count == 1);
            let even = kinds.iter().position(|kind| *kind == sim.kind).unwrap().is_multiple_of(2);
            let loaded = match (sick, even, first) {
                (true, ..) | (_, false, true) => vec![black.clone(), white.clone()],
                (_, true, true) => vec![black.clone()],
                (_, true, false) => vec![white.clone(), black.clone()],
                (_, false, false) => vec![white.clone()],
            };
            let changer = Bambu::of(&sim.handle);
            if let Some(changer) = &changer {
                let mut trays: [Option<Tray>; 4] = Default::default();
                for (tray, material) in trays.iter_mut().zip(&loaded) {
                    let tray_color = format!("{}FF", COLORS[usize::from(*material == white)]);
                    *tray = Some(Tray { tray_color, ..Tray::default() });
                }
                changer.change(|setup| setup.ams = vec![Ams { trays }]);
            }
            let id = app.printer(sim).await;
            let by_hand = !sick && !first;
            let remembers = can(sim.kind, Operation::History);
            let machine = Machine { id, sim: sim.clone(), sick, by_hand, remembers, loaded, network: Mutex::default() };
            app.patch(&format!("/api/printers/{}", machine.id), &json!({"autoClear": !by_hand})).await.expect(200);
            for (slot, material) in machine.loaded.iter().enumerate() {
                let path = format!("/api/printers/{}/slots/{slot}", machine.id);
                let spool = json!({"materialId": material, "remaining": machine.spool(slot)});
                if changer.is_some() {
                    app.bind_slot(&machine.id, slot, &spool).await;
                } else {
                    app.post(&path, &spool).await.expect(200);
                }
            }
            sim.handle.update_faults(|faults| faults.refuse_start = sick);
            machines.push(machine);
        }
        Self { machines, _fleet: fleet }
    }

    /// Returns the printer with this ID and its index.
    pub fn at(&self, id: &str) -> Option<(usize, &Machine)> {
        self.machines.iter().enumerate().find(|(_, machine)| machine.id == id)
    }

    /// Starts an operator's own print of this duration on a printer, unless the printer is printing. Returns whether it
    /// started.
    pub fn own_print(&self, n: usize, name: &str, seconds: u64) -> bool {
        let sim = &self.machines[n].sim.handle;
        sim.put_file(name, simulator::gcode::gcode("vase", seconds, 1.0, 300.0));
        sim.with(|machine| machine.start(name)).is_ok()
    }

    /// Starts a print as [`Self::own_print`] does, but only if the server shows the printer as idle and no print has
    /// begun since. Returns whether it started.
    async fn own_print_where_free(&self, client: &Client, n: usize, name: &str, seconds: u64) -> bool {
        let machine = &self.machines[n];
        let begun = || {
            machine.sim.handle.log().iter().filter(|entry| matches!(entry.what, PhysicalEvent::Started { .. })).count()
        };
        let before = begun();
        let printer = client.try_send(client.request("GET", &format!("/api/printers/{}", machine.id))).await;
        let printer = printer.filter(|answer| answer.status == 200).map(|answer| answer.json());
        let free = printer.is_some_and(|printer| printer["jobId"].is_null() && printer["status"]["state"] == "idle");
        free && begun() == before && self.own_print(n, name, seconds)
    }

    /// Cuts networks, sets the clock and starts operators' own prints until `over` is set; at the end all faults are
    /// cleared. Returns the number of own prints on printers that do not report past prints.
    pub async fn mishaps(
        self: Arc<Self>,
        client: Client,
        clock: Arc<Clock>,
        over: Arc<AtomicBool>,
        seed: u64,
    ) -> usize {
        let mut rng = Rng::with_seed(seed);
        let (mut own, mut untold) = (0, 0);
        while !over.load(Relaxed) {
            tokio::time::sleep(Duration::from_millis(rng.u64(50..400))).await;
            let n = rng.usize(..self.machines.len());
            let machine = &self.machines[n];
            match rng.u8(..6) {
                0 => clock.set(rng.i64(-HOUR..=HOUR)),
                1 => {
                    let Ok(_cut) = machine.network.try_lock() else { continue };
                    machine.sim.handle.update_faults(|faults| faults.disconnect = true);
                    tokio::time::sleep(Duration::from_millis(rng.u64(50..1_500))).await;
                    machine.sim.handle.update_faults(|faults| faults.disconnect = false);
                }
                2 if !machine.sick && machine.remembers => {
                    own += 1;
                    self.own_print(n, &format!("vase-{own}.gcode"), rng.u64(60..600));
                }
                2 | 3 if !machine.sick && !machine.remembers => {
                    own += 1;
                    let name = format!("vase-{own}.gcode");
                    untold += usize::from(self.own_print_where_free(&client, n, &name, rng.u64(60..600)).await);
                }
                _ => {}
            }
        }
        untold
    }
}

/// The operators: they reset printers that refuse starts, swap spools, inspect unconfirmed starts, and retry jobs that
/// printers refused. Beds are left to the inspectors.
pub struct Operators {
    pub client: Client,
    pub hall: Arc<Hall>,
    doubted: BTreeMap<String, Instant>,
    /// Total amount on the replacement spools of [`LITTLE`], in grams, by printer.
    spools: BTreeMap<String, f64>,
    swaps: u64,
}

impl Operators {
    pub fn new(client: Client, hall: Arc<Hall>) -> Self {
        Self { client, hall, doubted: BTreeMap::new(), spools: BTreeMap::new(), swaps: 0 }
    }

    async fn list(&self, path: &str, many: &str) -> Vec<Value> {
        list(&self.client, path, many).await
    }

    /// Sends a request once; if it fails, the next round sends it again.
    async fn say(&self, path: String, body: &Value) {
        let _ = self.client.try_send(self.client.request("POST", &path).json(body)).await;
    }

    /// Works until `over` is set. Returns the total amount on the replacement spools, in grams, by printer.
    pub async fn work(mut self, over: Arc<AtomicBool>) -> BTreeMap<String, f64> {
        while !over.load(Relaxed) {
            tokio::time::sleep(Duration::from_millis(200)).await;
            for printer in self.list("/api/printers", "printers").await {
                self.look_after(&printer).await;
            }
            for job in jobs(&self.client, "DISPATCHING").await {
                self.go_and_see(&job).await;
            }
            for job in jobs(&self.client, "PRINTING").await {
                self.go_and_see(&job).await;
            }
            for job in jobs(&self.client, "FAILED").await {
                // Anything else must not happen here: the job stays FAILED, and the test fails.
                if job["error"].as_str().is_some_and(|error| error.contains("refused by")) {
                    self.say(format!("/api/jobs/{}/retry", job["id"].as_str().unwrap()), &json!({})).await;
                }
            }
        }
        self.spools
    }

    async fn look_after(&mut self, printer: &Value) {
        let id = printer["id"].as_str().unwrap();
        let hall = self.hall.clone();
        let Some((_, machine)) = hall.at(id) else { return };
        if calls_for(printer, "start_refused") && !machine.sick {
            self.say(format!("/api/printers/{id}/clear-attention"), &json!({})).await;
        }
        for slot in printer["slots"].as_array().unwrap() {
            let number = slot["slot"].as_u64().unwrap();
            if machine.spool(number as usize).is_some() && slot["remaining"].as_f64().unwrap() < LOW {
                self.swaps += 1;
                let (path, key) = (format!("/api/printers/{id}/slots/{number}"), format!("spool-{}", self.swaps));
                let spool = json!({"materialId": slot["materialId"], "remaining": LITTLE});
                insist(&self.client, &path, &key, &spool).await;
                *self.spools.entry(id.to_owned()).or_default() += LITTLE;
            }
        }
    }

    /// Resolves an attempt that has been unconfirmed for longer than [`PATIENCE`] according to the machine's own log.
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
        let Some((_, machine)) = self.hall.at(attempt["printerId"].as_str().unwrap()) else { return };
        // If it prints, the server will see that.
        let Some(outcome) = outcome(&machine.sim, &id) else { return };
        let job = job["id"].as_str().unwrap();
        self.say(format!("/api/jobs/{job}/resolve"), &json!({ "outcome": outcome })).await;
    }
}

/// Returns the outcome of an attempt according to the machine's log, as the API spells it; `None` while it is printing.
pub fn outcome(sim: &SimPrinter, attempt: &str) -> Option<&'static str> {
    let (mut started, mut ended, mut finished) = (false, false, false);
    for entry in sim.handle.log() {
        match entry.what {
            PhysicalEvent::Started { filename } if filename.contains(attempt) => started = true,
            PhysicalEvent::Finished { filename } if filename.contains(attempt) => (ended, finished) = (true, true),
            PhysicalEvent::Cancelled { filename } if filename.contains(attempt) => ended = true,
            _ => {}
        }
    }
    match (started, ended, finished) {
        (_, _, true) => Some("finished"),
        (true, true, false) => Some("failed"),
        (false, ..) => Some("not_started"),
        (true, false, false) => None,
    }
}

/// Returns a list, or an empty one if the request fails.
pub async fn list(client: &Client, path: &str, many: &str) -> Vec<Value> {
    let answer = client.try_send(client.request("GET", path)).await;
    let answer = answer.filter(|answer| answer.status == 200).map(|answer| answer.json());
    answer.and_then(|body| body[many].as_array().cloned()).unwrap_or_default()
}

/// Reads all jobs in a state, page by page: the newest may be on the last page, because the clock is set back.
pub async fn jobs(client: &Client, state: &str) -> Vec<Value> {
    let mut jobs = Vec::new();
    loop {
        let page = list(client, &format!("/api/jobs?state={state}&limit=200&offset={}", jobs.len()), "jobs").await;
        let is_last = page.len() < 200;
        jobs.extend(page);
        if is_last {
            return jobs;
        }
    }
}

/// Returns whether a printer has this attention.
pub fn calls_for(printer: &Value, word: &str) -> bool {
    printer["status"]["attention"].as_array().is_some_and(|all| all.iter().any(|one| one == word))
}
