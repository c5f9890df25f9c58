//! A print, running or ended, and the record of past ones.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use tokio::time::Instant;

use crate::gcode::GcodeFacts;

/// The phase of a running print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Warming up or extruding.
    Printing,
    /// Told to pause and not standing yet.
    Pausing,
    /// Stopped with its place kept; it can go on.
    Paused,
    /// Told to resume, and warming or moving back.
    Resuming,
    /// Told to stop, and parking.
    Cancelling,
}

impl Phase {
    /// Whether the phase passes into another by itself.
    pub fn is_transitional(self) -> bool {
        matches!(self, Self::Pausing | Self::Resuming | Self::Cancelling)
    }
}

/// How a print ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Printed to its end.
    Completed,
    /// Stopped by a command to cancel.
    Cancelled,
    /// Failed by itself; with the reason that the printer reports.
    Failed(String),
    /// Ended by an emergency stop or a firmware shutdown, with its message.
    Halted(String),
    /// Lost with the power.
    Interrupted,
    /// Lost with the connection to the controller, or by its restart.
    ControllerLost,
}

/// One print. Real durations are wall-clock time; a second of G-code time is a real second divided by the speed.
#[derive(Clone, Debug)]
pub struct Job {
    /// Number of the print, counted from 1.
    pub number: u64,
    /// Name of the file that is printed.
    pub filename: String,
    /// Its size in bytes.
    pub size: u64,
    /// What its comments say.
    pub facts: Arc<GcodeFacts>,
    /// Seconds of G-code time done.
    pub done: f64,
    /// Real time spent printing. Warming up is part of it, so that a virtual print lasts as long as its slicer's
    /// estimate.
    pub printing: Duration,
    /// When it began, on the monotonic clock.
    pub started: Instant,
    /// When it began, in calendar time.
    pub started_at: Timestamp,
    /// When it ended, on the monotonic clock; `None` while it runs.
    pub ended: Option<Instant>,
    /// Its phase while it runs.
    pub phase: Phase,
    /// How it ended; `None` while it runs.
    pub outcome: Option<Outcome>,
}

impl Job {
    /// Progress, 0 to 1; exactly 1 once completed.
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

    /// The layer being printed, counted from 1; `None` if the file states no layers.
    pub fn layer(&self) -> Option<u64> {
        self.facts.layers.map(|layers| ((self.progress() * layers as f64).ceil() as u64).clamp(1, layers))
    }
}

/// A print in the printer's history.
#[derive(Clone, Debug)]
pub struct Record {
    /// Number of the print.
    pub number: u64,
    /// Name of the file that was printed.
    pub filename: String,
    /// What the file's comments said when it was printed.
    pub facts: Arc<GcodeFacts>,
    /// Size of the file in bytes when it was printed.
    pub size: u64,
    /// When it began, in calendar time.
    pub started_at: Timestamp,
    /// When it ended, in calendar time; `None` while it runs.
    pub ended_at: Option<Timestamp>,
    /// How it ended; `None` while it runs.
    pub outcome: Option<Outcome>,
    /// Real seconds of printing.
    pub print_seconds: f64,
    /// Real seconds in all, pauses included.
    pub total_seconds: f64,
    /// Filament used in millimetres.
    pub filament_mm: f64,
}
