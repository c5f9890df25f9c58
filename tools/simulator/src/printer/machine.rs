//! State of one virtual printer and the rules by which it changes. Time is passed in, and no function in this module
//! waits.
//!
//! There are two kinds of time: real time, for fault delays and reported durations, and G-code time, which runs `speed`
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

/// Message after an emergency stop through the API.
pub const SHUTDOWN_BY_REQUEST: &str = "Shutdown due to webhooks request";
/// Message after an emergency stop through G-code.
pub const SHUTDOWN_BY_M112: &str = "Shutdown due to M112 command";
/// Message reported for the `firmware_shutdown` fault.
pub const SHUTDOWN_BY_MCU: &str = "MCU 'mcu' shutdown: Timer too close";

/// State of the controller board, as seen by its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Controller {
    /// The firmware accepts commands.
    Ready,
    /// The firmware is starting up and will be ready soon.
    Starting,
    /// The firmware has shut down; only a restart makes it available again.
    Halted {
        /// Reason for the shutdown.
        message: String,
    },
    /// The server has closed the connection to the firmware on request.
    Closed,
    /// The connection is lost because of a fault.
    Away(HostDisconnect),
}

/// Event scheduled for the future.
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

/// Timing of a machine, derived from the seed.
#[derive(Clone, Debug)]
struct MachineTiming {
    /// Seconds of G-code time between a restart and being ready.
    restart: f64,
    /// Seconds of G-code time between a power loss and the next response.
    boot: f64,
    /// Seconds of G-code time needed to home all axes.
    homing: f64,
}

/// Measured and target temperatures of nozzle and bed, in °C.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineTemperatures {
    /// Measured temperature of the nozzle in °C.
    pub nozzle: f64,
    /// Target temperature of the nozzle in °C; 0 while its heater is off.
    pub nozzle_target: f64,
    /// Measured temperature of the bed in °C.
    pub bed: f64,
    /// Target temperature of the bed in °C; 0 while its heater is off.
    pub bed_target: f64,
}

impl MachineTemperatures {
    /// Formats the temperatures as in a firmware's response to `M105`.
    pub fn report(&self) -> String {
        let Self { nozzle, nozzle_target, bed, bed_target } = self;
        format!("T:{nozzle:.2} /{nozzle_target:.2} B:{bed:.2} /{bed_target:.2}")
    }
}

/// Virtual printer without a task. Its state is as of the last call to [`Machine::advance`].
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
    /// `true` if a lost controller is found again without a command (Klipper does that, a serial port does not).
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
    /// Time at which the printer's server was last started.
    server_started_at: Timestamp,
    /// Lines on the server's console with their times, stored only in memory.
    console: Vec<(Timestamp, String)>,
    /// Number of a print that the server does not record, because the server was restarted during the print.
    unrecorded: Option<u64>,
    /// Number of cancel commands received.
    cancels: u64,
    withheld_starts: u64,
    /// Gates of the filament changer; empty if the printer has none.
    gates: Vec<FilamentGate>,
    /// Name of a file, and the slots that feed the tools in its next print, as specified by the start.
    feed: Option<(String, Vec<(u32, i64)>)>,
}

/// Server uptime when the printer is created, so that the server has a short history.
const SERVER_RAN: SignedDuration = SignedDuration::from_secs(60);

impl Machine {
    /// Creates a healthy, cold, idle printer.
    pub fn new(seed: u64, speed: f64, reconnects: bool, now: Instant) -> Self {
        Self::with_calendar(seed, speed, reconnects, now, Timestamp::now())
    }

    /// Creates a printer like [`Self::new`], on which it is `zero_at` now, for simulations with their own clock.
    pub fn with_calendar(seed: u64, speed: f64, reconnects: bool, now: Instant, zero_at: Timestamp) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut between = |low: f64, high: f64| low + rng.f64() * (high - low);
        let temper =
            MachineTiming { restart: between(2.0, 5.0), boot: between(20.0, 40.0), homing: between(8.0, 14.0) };
        let nozzle = Heater::new(between(2.5, 4.5), 0.012);
        let bed = Heater::new(between(0.5, 0.9), 0.003);
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
            withheld_starts: 0,
            gates: Vec::new(),
            feed: None,
        }
    }

    /// Returns the real time up to which the state has been computed.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Returns the time up to which the state has been computed, as calendar time.
    pub fn now_at(&self) -> Timestamp {
        self.calendar(self.now)
    }

    fn calendar(&self, at: Instant) -> Timestamp {
        let passed = SignedDuration::try_from(at.saturating_duration_since(self.zero)).unwrap_or(SignedDuration::ZERO);
        self.zero_at.checked_add(passed).unwrap_or(self.zero_at)
    }

    /// Returns the real seconds since the printer was created, which is the host's monotonic clock.
    pub fn uptime(&self) -> f64 {
        self.now.saturating_duration_since(self.zero).as_secs_f64()
    }

    /// Returns a counter of state changes other than the passing of time.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns the gates of the filament changer; empty if the printer has none.
    pub fn gates(&self) -> &[FilamentGate] {
        &self.gates
    }

    /// Installs a filament changer with the given gates, or updates their contents, as a user would at the printer.
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

    /// Returns whether a request is lost, according to the `lost_requests` fault.
    pub fn loses_request(&mut self) -> bool {
        let is_lost = self.faults.lost_requests > 0;
        self.faults.lost_requests = self.faults.lost_requests.saturating_sub(1);
        is_lost
    }

    /// Returns whether the printer is reachable.
    pub fn reachable(&self) -> bool {
        self.powered && !self.faults.disconnect
    }

    /// Returns the state of the controller.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// Returns the print in progress, if any.
    pub fn job(&self) -> Option<&PrintJob> {
        self.job.as_ref()
    }

    /// Returns the print in progress or, if there is none, the last one that has ended since the last restart or reset.
    pub fn shown_job(&self) -> Option<&PrintJob> {
        self.job.as_ref().or(self.ended.as_ref())
    }

    /// Returns whether the printer is reporting a print that is not happening (the `duplicate_finish` fault).
    pub fn echoes(&self) -> bool {
        self.echo
    }

    /// Returns the number of accepted starts that were not executed at once: those that the `start_late` fault has
    /// delayed, whether they are still pending, were executed, or had no effect, and those that the
    /// `accept_but_never_start` fault has dropped.
    pub fn withheld_starts(&self) -> u64 {
        self.withheld_starts
    }

    /// Returns the file that a start without a name would print.
    pub fn selected(&self) -> Option<&str> {
        self.selected.as_deref()
    }

    /// Returns past prints and the current one, oldest first.
    pub fn history(&self) -> &[Record] {
        &self.history
    }

    /// Returns the files in the printer's storage.
    pub fn files(&self) -> &PrinterStorage {
        &self.files
    }

    /// Returns the log of the printer's physical actions.
    pub fn log(&self) -> &[LogEntry] {
        &self.log
    }

    /// Returns the time at which the printer's server was last started.
    pub fn server_started_at(&self) -> Timestamp {
        self.server_started_at
    }

    /// Returns the lines on the server's console with their times, oldest first.
    pub fn console(&self) -> &[(Timestamp, String)] {
        &self.console
    }

    /// Returns the number of cancel commands received, whether or not they had an effect.
    pub fn cancels(&self) -> u64 {
        self.cancels
    }

    /// Returns the homed axes as lowercase letters.
    pub fn homed(&self) -> &str {
        &self.homed
    }

    /// Returns the temperatures, with a little sensor noise.
    pub fn temperatures(&mut self) -> MachineTemperatures {
        let mut noise = || self.rng.f64() * 2.0 - 1.0;
        MachineTemperatures {
            nozzle: self.nozzle.read(noise()),
            nozzle_target: self.nozzle.target(),
            bed: self.bed.read(noise()),
            bed_target: self.bed.target(),
        }
    }

    /// Stores a file, replacing any file at the same path. The caller must have checked that the file is not in use,
    /// and have read its metadata.
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
        self.files.insert(path.to_owned(), file.clone());
        file
    }

    /// Returns whether the given file is being read by the print in progress, whether running or paused.
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

/// Returns the speed if it is usable, otherwise 1.
fn sane_speed(speed: f64) -> f64 {
    if speed.is_finite() && speed > 0.0 { speed } else { 1.0 }
}
