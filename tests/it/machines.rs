//! Printers that fail in every way that real ones do, on their real protocols. The reference is the simulators'
//! physical log: what the machines did, whatever they or the server reported.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use simulator::faults::PrinterFaults;
use simulator::printer::PhysicalEvent;
use simulator::{Fleet, FleetOptions, PrinterKind, SimPrinter};

pub use self::files::big_gcode;
use self::files::{big, printable};
pub use self::kinds::can;
use self::kinds::{done_if, elsewhere, judge_calmly, keyless, maps_slots, needs_serial, prints, slot_label, supported};
use crate::support::app::Builder;
use crate::support::{App, Clock, Db, until};

#[macro_use]
mod each_kind;

mod absurd;
mod acts;
mod at_the_printer;
mod away;
mod calls;
mod cameras;
mod cancels;
mod care;
mod clock;
mod crowd;
mod dead;
pub mod delays;
pub mod files;
mod finished;
mod fit;
mod foreseen;
mod hands;
mod kill;
mod kinds;
mod kits;
pub mod late;
mod linked_spools;
mod manual;
mod manual_slots;
mod mishaps;
mod mixed;
mod other_shops;
mod panics;
mod parts;
mod pushes;
mod read_again;
mod registered;
pub mod sick;
mod slots;
mod spools;
mod starts;
mod stop;
mod storage;
mod story;
mod unseen;
mod unverified;
mod uploads;
mod wrong_starts;

/// Simulation speed at which a print runs until the test changes the speed to [`FAST`]. Parts take [`SECONDS`] at this
/// speed.
pub const SLOW: f64 = 1.0;
/// Simulation speed at which a part is printed almost immediately.
pub const FAST: f64 = 2_000.0;
/// Simulation speed at which a print makes no visible progress.
pub const STILL: f64 = 0.000_1;
/// Seconds that one part takes at speed 1.
const SECONDS: u64 = 600;
/// The file of a person's own print.
pub const OWN: &str = "vase.gcode";
/// Grams of material in one part.
const GRAMS: f64 = 10.0;
const STOCK: f64 = 1_000.0;

/// Additional settings of the server.
pub type Env<'a> = &'a [(&'a str, &'a str)];
/// Setting that makes the server resolve an unconfirmed start after 1 s.
pub const JUDGE_SOON: (&str, &str) = ("PRINTFLOOR_DISPATCH__CONFIRM_SECONDS", "1");
/// Setting that makes the server resolve an unconfirmed start during the test, but not before a busy machine has
/// completed the preceding steps.
pub const JUDGE_CALMLY: (&str, &str) = ("PRINTFLOOR_DISPATCH__CONFIRM_SECONDS", "8");
/// Setting that prevents starts from being considered unconfirmed during the test.
pub const JUDGE_LATE: (&str, &str) = ("PRINTFLOOR_DISPATCH__CONFIRM_SECONDS", "300");
/// Setting that keeps the files of finished prints on the printers, so that the test can see them.
pub const KEEP_FILES: (&str, &str) = ("PRINTFLOOR_DISPATCH__KEEP_FILES", "true");
/// Setting that makes requests to printers time out after 1 s.
pub const IMPATIENT: (&str, &str) = ("PRINTFLOOR_PRINTERS__REQUEST_TIMEOUT_SECONDS", "1");

/// A server with simulated printers, a material, and a SKU whose parts take one job each.
pub struct Floor {
    pub app: App,
    pub fleet: Fleet,
    /// Ids of the printers, as in the fleet.
    pub printers: Vec<String>,
    pub material: String,
    pub sku: String,
}

impl Floor {
    /// Starts with this many printers of one type, connected one after another, so that the first one has been idle
    /// longest.
    pub async fn new(kind: PrinterKind, count: usize, speed: f64, env: Env<'_>) -> Self {
        Self::on(Db::sqlite(), kind, count, speed, env).await
    }

    pub async fn on(db: Db, kind: PrinterKind, count: usize, speed: f64, env: Env<'_>) -> Self {
        let mut floor = Self::empty(db, kind, count, speed, env).await;
        floor.register_all().await;
        floor
    }

    /// Starts as [`Self::new`] does, with the servers of all printers on one computer.
    pub async fn on_one_computer(kind: PrinterKind, count: usize, speed: f64, env: Env<'_>) -> Self {
        let options = FleetOptions { speed, seed: 11, ..FleetOptions::of(kind, count) };
        let mut floor = Self::with(Db::sqlite(), options, env).await;
        floor.register_all().await;
        floor
    }

    /// Starts the printers, each on its own computer, without registering them.
    pub async fn empty(db: Db, kind: PrinterKind, count: usize, speed: f64, env: Env<'_>) -> Self {
        let options = FleetOptions { speed, seed: 11, own_hosts: true, ..FleetOptions::of(kind, count) };
        Self::with(db, options, env).await
    }

    /// Starts as [`Self::new`] does, with a wall clock that the test controls.
    pub async fn at(clock: &Clock, kind: PrinterKind, count: usize, speed: f64, env: Env<'_>) -> Self {
        Self::at_on(Db::sqlite(), clock, kind, count, speed, env).await
    }

    pub async fn at_on(db: Db, clock: &Clock, kind: PrinterKind, count: usize, speed: f64, env: Env<'_>) -> Self {
        let options = FleetOptions { speed, seed: 11, own_hosts: true, ..FleetOptions::of(kind, count) };
        let mut floor = Self::with_app(App::on(db).clock(clock), options, env).await;
        floor.register_all().await;
        floor
    }

    async fn register_all(&mut self) {
        for n in 0..self.fleet.printers.len() {
            let printer = self.app.printer(self.sim(n)).await;
            self.printers.push(printer);
            self.recorded(n).await;
        }
    }

    /// Waits until a printer's actor has recorded its first status, because the API may show a newer one than the rules
    /// use.
    pub async fn recorded(&self, printer: usize) {
        until("the first look to be recorded", || async {
            let printer = self.app.get(&self.path(printer, "")).await.expect(200);
            (printer["updatedAt"] != printer["createdAt"]).then_some(())
        })
        .await;
    }

    async fn with(db: Db, options: FleetOptions, env: Env<'_>) -> Self {
        Self::with_app(App::on(db), options, env).await
    }

    async fn with_app(mut builder: Builder, options: FleetOptions, env: Env<'_>) -> Self {
        let fleet = Fleet::start(options).await.unwrap();
        // Slots that a printer reports fit nothing before somebody says what is in them.
        for bambu in fleet.printers.iter().filter_map(|sim| simulator::bambu::Bambu::of(&sim.handle)) {
            bambu.change(|setup| setup.ams.clear());
        }
        for (name, value) in env {
            builder = builder.env(name, value);
        }
        let app = builder.start().await;
        let material = app.material("PLA black", STOCK).await;
        let kind = fleet.printers.first().map_or(PrinterKind::FwRest, |sim| sim.kind);
        let (name, content) = printable(kind, "part", SECONDS, GRAMS);
        let file = app.upload(&name, content).await.expect(201)["id"].as_str().unwrap().to_owned();
        let sku = app.sku("PART", &material, &file, 500).await;
        Self { app, fleet, printers: Vec::new(), material, sku }
    }

    pub fn sim(&self, printer: usize) -> &SimPrinter {
        &self.fleet.printers[printer]
    }

    pub fn faults(&self, printer: usize, change: impl FnOnce(&mut PrinterFaults)) {
        self.sim(printer).handle.update_faults(change);
    }

    /// Uploads a file in a format that the printers accept; returns its ID.
    pub async fn file(&self, name: &str, seconds: u64, grams: f64) -> String {
        let (name, content) = printable(self.sim(0).kind, name, seconds, grams);
        self.app.upload(&name, content).await.expect(201)["id"].as_str().unwrap().to_owned()
    }

    /// Uploads a file of about this many bytes, in a format that the printers accept; returns it as stored.
    pub async fn big_file(&self, name: &str, bytes: usize) -> Value {
        let (name, content) = big(self.sim(0).kind, name, bytes);
        self.app.upload(&name, content).await.expect(201)
    }

    /// Makes the printer print at [`FAST`] from now on.
    pub fn hurry(&self, printer: usize) {
        self.sim(printer).handle.set_speed(FAST);
    }

    /// Advances the print to this share, from 0 to 1, and stops progress there.
    pub fn stands_at(&self, printer: usize, progress: f64) {
        self.sim(printer).handle.with(|machine| {
            let job = machine.job().expect("a print");
            let rest = progress.mul_add(job.facts.seconds, -job.done);
            machine.set_speed(FAST);
            machine.advance(machine.now() + Duration::from_secs_f64(rest / FAST));
            machine.set_speed(STILL);
        });
    }

    /// Places and pays an order for this many parts.
    pub async fn order(&self, quantity: u32) -> String {
        self.app.paid_order(&self.sku, quantity).await
    }

    /// Places and pays an order for one part; returns the order and its job.
    pub async fn one(&self) -> (String, String) {
        let order = self.order(1).await;
        let job = self.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
        (order, job)
    }

    pub async fn job(&self, job: &str) -> Value {
        self.app.get(&format!("/api/jobs/{job}")).await.expect(200)
    }

    /// Waits until the job meets a condition; returns the job.
    pub async fn job_until(&self, what: &str, job: &str, condition: impl Fn(&Value) -> bool) -> Value {
        until(what, || async {
            let job = self.job(job).await;
            condition(&job).then_some(job)
        })
        .await
    }

    /// Waits until the last attempt of the job is in this state.
    pub async fn attempt_is(&self, job: &str, state: &str) -> Value {
        let last = |job: &Value| job["attempts"].as_array().unwrap().last().cloned();
        self.job_until(&format!("the attempt to be {state}"), job, |job| last(job).is_some_and(|a| a["state"] == state))
            .await
    }

    pub fn path(&self, printer: usize, rest: &str) -> String {
        format!("/api/printers/{}{rest}", self.printers[printer])
    }

    pub async fn status(&self, printer: usize) -> Value {
        self.app.get(&self.path(printer, "/status")).await.expect(200)
    }

    pub async fn status_until(&self, what: &str, printer: usize, condition: impl Fn(&Value) -> bool) -> Value {
        until(what, || async {
            let status = self.status(printer).await;
            condition(&status).then_some(status)
        })
        .await
    }

    /// Waits until the printer's status shows this connection, and the printer's attention agrees with it.
    pub async fn connection_is(&self, printer: usize, connection: &str) {
        let call = match connection {
            "connected" | "disconnected" => None,
            "firmware_disconnected" => Some("unreachable"),
            word => Some(word),
        };
        let agrees = |status: &Value| {
            let attention = status["attention"].as_array().unwrap().iter().filter_map(Value::as_str);
            attention.filter(|word| ["unreachable", "wrong_key", "read_only"].contains(word)).eq(call)
        };
        let what = format!("the printer to be {connection}");
        self.status_until(&what, printer, |status| status["connection"] == connection && agrees(status)).await;
    }

    /// Waits until the printer has this attention (`is`), or no longer has it.
    pub async fn attention(&self, printer: usize, word: &str, is: bool) {
        let says = |status: &Value| status["attention"].as_array().unwrap().iter().any(|reason| reason == word);
        self.status_until(&format!("attention {word}: {is}"), printer, |status| says(status) == is).await;
    }

    /// Clears the bed as a person does, after a print that did not finish.
    pub async fn clear_bed(&self, printer: usize) {
        self.attention(printer, "bed_not_cleared", true).await;
        self.app.act(&self.path(printer, "/bed-cleared")).await.expect(200);
    }

    /// Waits until the server has polled the printer two more times.
    pub async fn wait_for_poll(&self, printer: usize) {
        for _ in 0..2 {
            let before = self.status(printer).await["updatedAt"].clone();
            self.status_until("another look", printer, |status| status["updatedAt"] != before).await;
        }
    }

    /// Waits until the printer has no job assigned.
    pub async fn free(&self, printer: usize) {
        self.status_until("the printer to have no job in hand", printer, |status| status["jobId"].is_null()).await;
    }

    /// Lists the events of this name so far.
    pub async fn events(&self, name: &str) -> Vec<Value> {
        let body = self.app.get(&format!("/api/events?event={name}&limit=200")).await.expect(200);
        body["events"].as_array().unwrap().clone()
    }

    /// Counts the entries of a printer's physical log for which `which` is true.
    pub fn count(&self, printer: usize, which: impl Fn(&PhysicalEvent) -> bool) -> usize {
        self.sim(printer).handle.log().iter().filter(|entry| which(&entry.what)).count()
    }

    pub fn started(&self, printer: usize) -> usize {
        self.count(printer, |what| matches!(what, PhysicalEvent::Started { .. }))
    }

    pub fn finished(&self, printer: usize) -> usize {
        self.count(printer, |what| matches!(what, PhysicalEvent::Finished { .. }))
    }

    /// Puts a person's own file on the printer and prints it slowly.
    pub fn own_print(&self, printer: usize) {
        let sim = &self.sim(printer).handle;
        sim.set_speed(SLOW);
        sim.put_file(OWN, simulator::gcode::gcode("vase", SECONDS, 1.0, 300.0));
        sim.with(|machine| machine.start(OWN)).unwrap();
    }

    /// Waits until the printer's physical log has an entry of this kind.
    pub async fn physically(&self, what: &str, printer: usize, which: impl Fn(&PhysicalEvent) -> bool) {
        until(what, || async { (self.count(printer, &which) > 0).then_some(()) }).await;
    }

    /// Checks the rules that hold after every test: no attempt was started twice, the number of finished prints equals
    /// the number of completed jobs, each of which has one event, nothing is reserved, and the ledger agrees with the
    /// stock.
    pub async fn truth(&self) {
        until("the last claim to be settled", || async {
            let stock = self.app.get(&format!("/api/inventory/materials/{}", self.material)).await.expect(200);
            (stock["reserved"] == 0).then_some(())
        })
        .await;
        let (mut starts, mut finished) = (BTreeMap::<String, usize>::new(), 0);
        for n in 0..self.fleet.printers.len() {
            for entry in self.sim(n).handle.log() {
                match entry.what {
                    PhysicalEvent::Started { filename } => *starts.entry(filename).or_default() += 1,
                    PhysicalEvent::Finished { .. } => finished += 1,
                    _ => {}
                }
            }
        }
        assert!(starts.values().all(|times| *times == 1), "started more than once: {starts:?}");
        let done = self.app.get("/api/jobs?state=COMPLETED&limit=200").await.expect(200);
        assert_eq!(done["pagination"]["total"], finished, "completed jobs and finished parts");
        assert_eq!(self.events("job.completed").await.len(), finished, "told once each");
        self.app.ledger_is_even(&self.material).await;
    }

    /// Waits until all jobs have settled their consumption; returns the consumed material, in grams.
    pub async fn used(&self) -> f64 {
        let settled = until("nothing to be reserved any more", || async {
            let stock = self.app.get(&format!("/api/inventory/materials/{}", self.material)).await.expect(200);
            (stock["reserved"].as_f64() == Some(0.0)).then_some(stock)
        });
        STOCK - settled.await["quantity"].as_f64().unwrap()
    }
}

/// Returns a text member of a job, such as the reason why it waits or failed.
pub fn words<'a>(of: &'a Value, member: &str) -> &'a str {
    of[member].as_str().unwrap_or_else(|| panic!("no {member}: {of}"))
}

/// Returns the states of a job's attempts, oldest first.
pub fn attempts(job: &Value) -> Vec<&str> {
    job["attempts"].as_array().unwrap().iter().map(|attempt| attempt["state"].as_str().unwrap()).collect()
}

/// Registers a printer with other fields than the usual.
pub async fn register(app: &App, sim: &SimPrinter, other: Value) -> String {
    let mut body = json!({
        "name": sim.serial, "type": sim.kind.as_str(), "machineType": "fdm_standard", "baseUrl": sim.base_url,
        "apiKey": sim.api_key, "buildVolume": {"x": 220, "y": 220, "z": 250}, "autoClear": true,
        "serial": sim.serial,
    });
    for (name, value) in other.as_object().unwrap() {
        body[name] = value.clone();
    }
    app.post("/api/printers", &body).await.expect(201)["id"].as_str().unwrap().to_owned()
}
