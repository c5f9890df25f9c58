//! State of one virtual printer and its transition rules. Time is passed in; nothing here waits.
//!
//! There are two kinds of time: real time (delays of faults, reported durations) and G-code time, which runs `speed`
//! times as fast.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use super::{
    files::{PrinterFile, PrinterStorage},
    gate::FilamentGate,
    heater::Heater,
    job::{PrintJob, PrintOutcome, PrintPhase, Record},
    log::{LogEntry, PhysicalEvent},
};
use crate::{
    faults::{HostDisconnect, PrinterFaults},
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

/// State of the controller board, as its host sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Controller {
    /// The firmware accepts commands.
    Ready,
    /// Starting up; ready soon.
    Starting,
    /// Shut down; only a restart brings it back.
    Halted {
        /// The reason of the shutdown.
        message: String,
    },
    /// Disconnected: its server has closed the connection to the firmware on request.
    Closed,
    /// Lost because of a fault.
    Away(HostDisconnect),
}

/// Scheduled future event.
#[derive(Clone, Debug)]
enum ScheduledEvent {
    LateStart { filename: String },
    Homed { axes: String },
    PhaseEnds { job: u64, phase: PrintPhase },
    ControllerReady,
    PowerBack,
    EchoBegins { job: u64 },
    EchoEnds,
}

/// Timing of this machine, derived from the seed.
#[derive(Clone, Debug)]
struct MachineTiming {
    /// Seconds of G-code time from restart to ready.
    restart: f64,
    /// Seconds of G-code time from power loss to answering again.
    boot: f64,
    /// Seconds of G-code time to home all axes.
    homing: f64,
}

/// Measured and target temperatures of nozzle and bed, in °C.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineTemperatures {
    /// Measured temperature of the nozzle.
    pub nozzle: f64,
    /// Target temperature of the nozzle; 0 while its heater is off.
    pub nozzle_target: f64,
    /// Measured temperature of the bed.
    pub bed: f64,
    /// Target temperature of the bed; 0 while its heater is off.
    pub bed_target: f64,
}

impl MachineTemperatures {
    /// Formats the temperatures as a firmware's response to `M105`.
    pub fn report(&self) -> String {
        let Self { nozzle, nozzle_target, bed, bed_target } = self;
        format!("T:{nozzle:.2} /{nozzle_target:.2} B:{bed:.2} /{bed_target:.2}")
    }
}

/// Virtual printer without a task. Readers see the state as of the last call of [`Machine::advance`].
#[derive(Debug)]
pub struct Machine {
    rng: fastrand::Rng,
    temper: MachineTiming,
    zero: Instant,
    zero_at: Timestamp,
    now: Instant,
    speed: f64,
    revision: u64,
    pub(super) faults: PrinterFaults,
    /// Set if a lost controller is found again without a command (Klipper does, a serial port does not).
    reconnects: bool,
    controller: Controller,
    files: PrinterStorage,
    job: Option<PrintJob>,
    ended: Option<PrintJob>,
    selected: Option<String>,
    history: Vec<Record>,
    next_job: u64,
    log: Vec<LogEntry>,
    nozzle: Heater,
    bed: Heater,
    homed: String,
    upcoming: Vec<(Instant, ScheduledEvent)>,
    powered: bool,
    echo: bool,
    /// Time at which the current run of the printer's server began.
    server_started_at: Timestamp,
    /// Lines of the server's console with their times, stored only in its memory.
    console: Vec<(Timestamp, String)>,
    /// Number of a print that the server does not record, because it was restarted during it.
    unrecorded: Option<u64>,
    /// Number of cancel commands received.
    cancels: u64,
    late_starts: u64,
    /// Gates of its filament changer; empty without one.
    gates: Vec<FilamentGate>,
    /// Slots that feed the tools of the next print of this file, as specified by the start.
    feed: Option<(String, Vec<(u32, i64)>)>,
}

/// Uptime of the printer's server when the printer is created, so that it has a little history.
const SERVER_RAN: SignedDuration = SignedDuration::from_secs(60);

impl Machine {
    /// Creates a healthy, cold, idle printer.
    pub fn new(seed: u64, speed: f64, reconnects: bool, now: Instant) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut between = |low: f64, high: f64| low + rng.f64() * (high - low);
        let temper =
            MachineTiming { restart: between(2.0, 5.0), boot: between(20.0, 40.0), homing: between(8.0, 14.0) };
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
            faults: PrinterFaults::default(),
            reconnects,
            controller: Controller::Ready,
            files: PrinterStorage::default(),
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
            late_starts: 0,
            gates: Vec::new(),
            feed: None,
        }
    }

    /// Returns the real time up to which the state is computed.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Returns the same time in calendar time.
    pub fn now_at(&self) -> Timestamp {
        self.calendar(self.now)
    }

    fn calendar(&self, at: Instant) -> Timestamp {
        let passed = SignedDuration::try_from(at.saturating_duration_since(self.zero)).unwrap_or(SignedDuration::ZERO);
        self.zero_at.checked_add(passed).unwrap_or(self.zero_at)
    }

    /// Returns the real seconds since the printer was created: the host's monotonic clock.
    pub fn uptime(&self) -> f64 {
        self.now.saturating_duration_since(self.zero).as_secs_f64()
    }

    /// Returns a counter of state changes other than the passing of time.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns the gates of its filament changer; empty without one.
    pub fn gates(&self) -> &[FilamentGate] {
        &self.gates
    }

    /// Fits a filament changer with these gates, or updates their contents, as the user does at the printer.
    pub fn set_gates(&mut self, gates: Vec<FilamentGate>) {
        self.gates = gates;
        self.touch();
    }

    /// Returns the speed factor relative to the G-code's estimate.
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// Sets the number of virtual seconds per real second.
    pub fn set_speed(&mut self, speed: f64) {
        self.speed = sane_speed(speed);
        self.touch();
    }

    /// Returns the current faults of the printer.
    pub fn faults(&self) -> &PrinterFaults {
        &self.faults
    }

    /// Returns whether the printer is reachable.
    pub fn reachable(&self) -> bool {
        self.powered && !self.faults.disconnect
    }

    /// Returns the state of the controller.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// Returns the print in progress, if there is one.
    pub fn job(&self) -> Option<&PrintJob> {
        self.job.as_ref()
    }

    /// Returns the print in progress, else the last one that ended since the last restart or reset.
    pub fn shown_job(&self) -> Option<&PrintJob> {
        self.job.as_ref().or(self.ended.as_ref())
    }

    /// Returns whether the printer reports a print that does not happen (the `duplicate_finish` fault).
    pub fn echoes(&self) -> bool {
        self.echo
    }

    /// Returns the number of starts that the `start_late` fault delayed, both those that are awaited and those that
    /// were executed since or fell through.
    pub fn late_starts(&self) -> u64 {
        self.late_starts
    }

    /// Returns the file that a start without a name would print.
    pub fn selected(&self) -> Option<&str> {
        self.selected.as_deref()
    }

    /// Returns past prints and the current one, oldest first.
    pub fn history(&self) -> &[Record] {
        &self.history
    }

    /// Returns the files on its storage.
    pub fn files(&self) -> &PrinterStorage {
        &self.files
    }

    /// Returns the log of its physical actions.
    pub fn log(&self) -> &[LogEntry] {
        &self.log
    }

    /// Returns the time at which the current run of the printer's server began.
    pub fn server_started_at(&self) -> Timestamp {
        self.server_started_at
    }

    /// Returns the lines of its server's console with their times, oldest first.
    pub fn console(&self) -> &[(Timestamp, String)] {
        &self.console
    }

    /// Returns the number of cancel commands received, whatever their effect.
    pub fn cancels(&self) -> u64 {
        self.cancels
    }

    /// Returns the homed axes as lower-case letters.
    pub fn homed(&self) -> &str {
        &self.homed
    }

    /// Returns the temperatures with a little sensor noise.
    pub fn temperatures(&mut self) -> MachineTemperatures {
        let mut noise = || self.rng.f64() * 2.0 - 1.0;
        MachineTemperatures {
            nozzle: self.nozzle.read(noise()),
            nozzle_target: self.nozzle.target(),
            bed: self.bed.read(noise()),
            bed_target: self.bed.target(),
        }
    }

    /// Stores a file, replacing one of the same path. The caller has checked that the file is not in use, and has read
    /// its metadata.
    pub fn store(&mut self, path: &str, bytes: Bytes, facts: Arc<GcodeFacts>) -> PrinterFile {
        let length = self.faults.keeps_bytes.map_or(bytes.len(), |most| bytes.len().min(most as usize));
        let bytes = bytes.slice(..length);
        let file = PrinterFile {
            modified: self.now_at(),
            facts,
            uuid: uuid::Builder::from_random_bytes(self.rng.u128(..).to_be_bytes()).into_uuid().to_string(),
            bytes,
        };
        self.write(PhysicalEvent::Uploaded { filename: path.to_owned(), bytes: file.bytes.len() as u64 });
        self.files.put(path.to_owned(), file.clone());
        file
    }

    /// Returns whether the print in progress, moving or paused, reads this file.
    pub fn in_use(&self, path: &str) -> bool {
        self.job.as_ref().is_some_and(|job| job.filename == path)
    }

    fn say(&mut self, line: String) {
        self.console.push((self.now_at(), line));
    }

    /// Increments the revision, so that clients are notified of a change.
    pub(crate) fn touch(&mut self) {
        self.revision += 1;
    }

    fn write(&mut self, what: PhysicalEvent) {
        self.log.push(LogEntry { seq: self.log.len() as u64, at: self.now_at(), what });
        self.touch();
    }

    /// Converts `gcode_seconds` of G-code time to real time.
    fn real(&self, gcode_seconds: f64) -> Duration {
        Duration::try_from_secs_f64(gcode_seconds.max(0.0) / self.speed).unwrap_or(Duration::from_secs(u32::MAX.into()))
    }

    fn later(&mut self, after: Duration, what: ScheduledEvent) {
        self.upcoming.push((self.now + after, what));
        self.touch();
    }
}

/// Returns the speed if it is usable, else 1.
fn sane_speed(speed: f64) -> f64 {
    if speed.is_finite() && speed > 0.0 { speed } else { 1.0 }
}
