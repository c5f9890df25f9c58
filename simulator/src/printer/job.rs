//! A print in progress or ended, and the memory of past ones.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use tokio::time::Instant;

use crate::gcode::GcodeFacts;

/// Where a running print stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Moving.
    Printing,
    /// Told to pause, still on its way to standing.
    Pausing,
    /// Standing.
    Paused,
    /// Told to go on, still warming or moving back.
    Resuming,
    /// Told to stop, still parking.
    Cancelling,
}

impl Phase {
    /// Whether it passes into another phase by itself.
    pub fn is_transitional(self) -> bool {
        matches!(self, Self::Pausing | Self::Resuming | Self::Cancelling)
    }
}

/// How a print ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Printed to its end.
    Completed,
    /// Stopped on command.
    Cancelled,
    /// Failed by itself.
    Failed(String),
    /// Ended by an emergency stop or a firmware shutdown, with its message.
    Halted(String),
    /// Lost with the power.
    Interrupted,
    /// Lost with the connection to the controller, or by its restart.
    ControllerLost,
}

/// One print. Times called "real" are wall-clock; a G-code second is a real second divided by the speed.
#[derive(Clone, Debug)]
pub struct Job {
    /// Counts up from 1.
    pub number: u64,
    /// The file.
    pub filename: String,
    /// Its size in bytes.
    pub size: u64,
    /// What its comments say.
    pub facts: Arc<GcodeFacts>,
    /// G-code seconds done.
    pub done: f64,
    /// Real time spent printing. Warming up is part of it: a virtual print lasts its slicer's estimate, and heats within that.
    pub printing: Duration,
    /// When it began.
    pub started: Instant,
    /// The same on the calendar.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended: Option<Instant>,
    /// Where it stands while it runs.
    pub phase: Phase,
    /// How it ended.
    pub outcome: Option<Outcome>,
}

impl Job {
    /// Share done, 0 to 1; exactly 1 once completed.
    pub fn progress(&self) -> f64 {
        if self.outcome == Some(Outcome::Completed) { 1.0 } else { (self.done / self.facts.seconds).clamp(0.0, 1.0) }
    }

    /// Filament used so far in millimetres.
    pub fn filament_mm(&self) -> f64 {
        self.facts.filament_mm * self.progress()
    }

    /// Real time since the start, pauses included.
    pub fn total(&self, now: Instant) -> Duration {
        self.ended.unwrap_or(now).saturating_duration_since(self.started)
    }

    /// Layer being printed, counted from 1, where the file has layers.
    pub fn layer(&self) -> Option<u64> {
        self.facts.layers.map(|layers| ((self.progress() * layers as f64).ceil() as u64).clamp(1, layers))
    }
}

/// A print as the printer's history remembers it.
#[derive(Clone, Debug)]
pub struct Record {
    /// The job's number.
    pub number: u64,
    /// The file.
    pub filename: String,
    /// What the file's comments said when it was printed.
    pub facts: Arc<GcodeFacts>,
    /// Size of the file in bytes when it was printed.
    pub size: u64,
    /// Calendar time.
    pub started_at: Timestamp,
    /// Calendar time; absent while it runs.
    pub ended_at: Option<Timestamp>,
    /// Absent while it runs.
    pub outcome: Option<Outcome>,
    /// Real seconds spent moving.
    pub print_seconds: f64,
    /// Real seconds, pauses included.
    pub total_seconds: f64,
    /// Millimetres.
    pub filament_mm: f64,
}
