//! The state of one virtual printer and the rules by which it changes. Time is handed in; nothing here waits.
//!
//! There are two kinds of time: real time (delays of faults, reported durations) and G-code time, which runs `speed`
//! times as fast.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use super::{
    files::{Files, StoredFile},
    gate::FilamentGate,
    heater::Heater,
    job::{Job, Outcome, Phase, Record},
    log::{LogEntry, What},
};
use crate::{
    faults::{Away, Faults},
    gcode::GcodeFacts,
};

mod commands;
mod flow;

pub use commands::{CommandError, DeleteError};

/// Message of an emergency stop by the API.
pub const SHUTDOWN_BY_REQUEST: &str = "Shutdown due to webhooks request";
/// Message of an emergency stop by G-code.
pub const SHUTDOWN_BY_M112: &str = "Shutdown due to M112 command";
/// Message of the `firmware_shutdown` fault.
pub const SHUTDOWN_BY_MCU: &str = "MCU 'mcu' shutdown: Timer too close";

/// The controller board, as its host sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Controller {
    /// The firmware accepts commands.
    Ready,
    /// Starting up; ready soon.
    Starting,
    /// Shut down; only a restart helps.
    Halted {
        /// The reason of the shutdown.
        message: String,
    },
    /// Its server has closed the connection to the firmware, because it was asked to.
    Closed,
    /// Lost by a fault.
    Away(Away),
}

/// Something scheduled to happen by itself.
#[derive(Clone, Debug)]
enum Upcoming {
    LateStart { filename: String },
    Homed { axes: String },
    PhaseEnds { job: u64, phase: Phase },
    ControllerReady,
    PowerBack,
    EchoBegins { job: u64 },
    EchoEnds,
}

/// The timing of this machine, drawn from the seed.
#[derive(Clone, Debug)]
struct Temper {
    /// Seconds of G-code time from restart to ready.
    restart: f64,
    /// Seconds of G-code time from power loss to answering again.
    boot: f64,
    /// Seconds of G-code time to home all axes.
    homing: f64,
}

/// Measured and target temperatures of nozzle and bed, in °C.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Temperatures {
    /// Measured temperature of the nozzle.
    pub nozzle: f64,
    /// Temperature that the nozzle is to have; 0 while its heater is off.
    pub nozzle_target: f64,
    /// Measured temperature of the bed.
    pub bed: f64,
    /// Temperature that the bed is to have; 0 while its heater is off.
    pub bed_target: f64,
}

impl Temperatures {
    /// As a firmware says them when it is asked (`M105`).
    pub fn told(&self) -> String {
        let Self { nozzle, nozzle_target, bed, bed_target } = self;
        format!("T:{nozzle:.2} /{nozzle_target:.2} B:{bed:.2} /{bed_target:.2}")
    }
}

/// One virtual printer. Readers see the state as of the last call of [`Machine::advance`].
#[derive(Debug)]
pub struct Machine {
    rng: fastrand::Rng,
    temper: Temper,
    zero: Instant,
    zero_at: Timestamp,
    now: Instant,
    speed: f64,
    revision: u64,
    pub(super) faults: Faults,
    /// Whether a lost controller is found again without a command (Klipper does, a serial port does not).
    reconnects: bool,
    controller: Controller,
    files: Files,
    job: Option<Job>,
    ended: Option<Job>,
    selected: Option<String>,
    history: Vec<Record>,
    next_job: u64,
    log: Vec<LogEntry>,
    nozzle: Heater,
    bed: Heater,
    homed: String,
    upcoming: Vec<(Instant, Upcoming)>,
    powered: bool,
    echo: bool,
    /// When the present run of the printer's server began.
    server_started_at: Timestamp,
    /// The lines of the server's console with their times, kept only in its memory.
    console: Vec<(Timestamp, String)>,
    /// A print that the server does not record, because it was restarted during it.
    unrecorded: Option<u64>,
    /// Cancel commands that arrived.
    cancels: u64,
    /// The gates of its filament changer; empty without one.
    gates: Vec<FilamentGate>,
    /// From which slot each tool of the next print of this file takes its filament, as the start said.
    feed: Option<(String, Vec<(u32, i64)>)>,
}

/// How long the printer's server has run when the printer is made: it remembers a little from before.
const SERVER_RAN: SignedDuration = SignedDuration::from_secs(60);

impl Machine {
    /// A healthy, cold, idle printer.
    pub fn new(seed: u64, speed: f64, reconnects: bool, now: Instant) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut between = |low: f64, high: f64| low + rng.f64() * (high - low);
        let temper = Temper { restart: between(2.0, 5.0), boot: between(20.0, 40.0), homing: between(8.0, 14.0) };
        let nozzle = Heater::new(between(2.5, 4.5), 0.012);
        let bed = Heater::new(between(0.5, 0.9), 0.003);
        let zero_at = Timestamp::now();
        let server_started_at = zero_at.checked_sub(SERVER_RAN).unwrap_or(zero_at);
        Self {
            rng,
            temper,
            zero: now,
            zero_at,
            now,
            speed: sane_speed(speed),
            revision: 0,
            faults: Faults::default(),
            reconnects,
            controller: Controller::Ready,
            files: Files::default(),
            job: None,
            ended: None,
            selected: None,
            history: Vec::new(),
            next_job: 1,
            log: Vec::new(),
            nozzle,
            bed,
            homed: String::new(),
            upcoming: Vec::new(),
            powered: true,
            echo: false,
            server_started_at,
            console: vec![(server_started_at, "// Klipper state: Ready".to_owned())],
            unrecorded: None,
            cancels: 0,
            gates: Vec::new(),
            feed: None,
        }
    }

    /// Real time up to which the state is computed.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The same as a point in calendar time.
    pub fn now_at(&self) -> Timestamp {
        self.calendar(self.now)
    }

    fn calendar(&self, at: Instant) -> Timestamp {
        let passed = SignedDuration::try_from(at.saturating_duration_since(self.zero)).unwrap_or(SignedDuration::ZERO);
        self.zero_at.checked_add(passed).unwrap_or(self.zero_at)
    }

    /// Real seconds since the printer was made: the host's monotonic clock.
    pub fn uptime(&self) -> f64 {
        self.now.saturating_duration_since(self.zero).as_secs_f64()
    }

    /// Counts the changes of state other than the passing of time.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The gates of its filament changer; empty without one.
    pub fn gates(&self) -> &[FilamentGate] {
        &self.gates
    }

    /// A person fits a filament changer with these gates, or tells it what is in them.
    pub fn set_gates(&mut self, gates: Vec<FilamentGate>) {
        self.gates = gates;
        self.touch();
    }

    /// How many times faster than the G-code's estimate it prints.
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// Sets how many seconds of virtual time pass in a real one.
    pub fn set_speed(&mut self, speed: f64) {
        self.speed = sane_speed(speed);
        self.touch();
    }

    /// The faults that the printer shows at present.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Whether the printer's address answers.
    pub fn reachable(&self) -> bool {
        self.powered && !self.faults.disconnect
    }

    /// The state of the controller.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// The print in progress, if there is one.
    pub fn job(&self) -> Option<&Job> {
        self.job.as_ref()
    }

    /// The print in progress, else the last one that ended since the last restart or reset.
    pub fn shown(&self) -> Option<&Job> {
        self.job.as_ref().or(self.ended.as_ref())
    }

    /// Whether the printer reports a print that does not happen (the `duplicate_finish` fault).
    pub fn echoes(&self) -> bool {
        self.echo
    }

    /// Whether a start was accepted and not carried out yet (the `start_late` fault).
    pub fn start_awaited(&self) -> bool {
        self.upcoming.iter().any(|(_, upcoming)| matches!(upcoming, Upcoming::LateStart { .. }))
    }

    /// The file that a start without a name would print.
    pub fn selected(&self) -> Option<&str> {
        self.selected.as_deref()
    }

    /// Past prints and the present one, oldest first.
    pub fn history(&self) -> &[Record] {
        &self.history
    }

    /// The files on its storage.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// What it physically did.
    pub fn log(&self) -> &[LogEntry] {
        &self.log
    }

    /// When the present run of the printer's server began.
    pub fn server_started_at(&self) -> Timestamp {
        self.server_started_at
    }

    /// The lines of its server's console with their times, oldest first.
    pub fn console(&self) -> &[(Timestamp, String)] {
        &self.console
    }

    /// How many cancel commands arrived, whatever they did.
    pub fn cancels(&self) -> u64 {
        self.cancels
    }

    /// Axes whose zero is known, lower-case letters.
    pub fn homed(&self) -> &str {
        &self.homed
    }

    /// Temperatures with a little sensor noise.
    pub fn temperatures(&mut self) -> Temperatures {
        let mut noise = || self.rng.f64() * 2.0 - 1.0;
        Temperatures {
            nozzle: self.nozzle.read(noise()),
            nozzle_target: self.nozzle.target(),
            bed: self.bed.read(noise()),
            bed_target: self.bed.target(),
        }
    }

    /// Stores a file, replacing one of the same path. The caller has checked that the file is not in use, and read its
    /// facts.
    pub fn store(&mut self, path: &str, bytes: Bytes, facts: Arc<GcodeFacts>) -> StoredFile {
        let kept = self.faults.keeps_bytes.map_or(bytes.len(), |most| bytes.len().min(most as usize));
        let bytes = bytes.slice(..kept);
        let file = StoredFile {
            modified: self.now_at(),
            facts,
            uuid: uuid::Builder::from_random_bytes(self.rng.u128(..).to_be_bytes()).into_uuid().to_string(),
            bytes,
        };
        self.write(What::Uploaded { filename: path.to_owned(), bytes: file.bytes.len() as u64 });
        self.files.put(path.to_owned(), file.clone());
        file
    }

    /// Whether the print in progress, moving or paused, reads this file.
    pub fn in_use(&self, path: &str) -> bool {
        self.job.as_ref().is_some_and(|job| job.filename == path)
    }

    fn say(&mut self, line: String) {
        self.console.push((self.now_at(), line));
    }

    /// Something changed of which its clients are to hear.
    pub(crate) fn touch(&mut self) {
        self.revision += 1;
    }

    fn write(&mut self, what: What) {
        self.log.push(LogEntry { seq: self.log.len() as u64, at: self.now_at(), what });
        self.touch();
    }

    /// The real time that `gcode_seconds` of G-code time take.
    fn real(&self, gcode_seconds: f64) -> Duration {
        Duration::try_from_secs_f64(gcode_seconds.max(0.0) / self.speed).unwrap_or(Duration::from_secs(u32::MAX.into()))
    }

    fn later(&mut self, after: Duration, what: Upcoming) {
        self.upcoming.push((self.now + after, what));
        self.touch();
    }
}

/// The speed if it is usable, else 1.
fn sane_speed(speed: f64) -> f64 {
    if speed.is_finite() && speed > 0.0 { speed } else { 1.0 }
}
