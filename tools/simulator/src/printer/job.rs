//! Prints, running or ended, and the history of past ones.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use tokio::time::Instant;

use crate::gcode::GcodeFacts;

/// Phase of a running print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrintPhase {
    /// Warming up or extruding.
    Printing,
    /// Pause command accepted, not at a standstill yet.
    Pausing,
    /// At a standstill with its position saved; it can be resumed.
    Paused,
    /// Resume command accepted, warming or moving back.
    Resuming,
    /// Cancel command accepted, parking.
    Cancelling,
}

impl PrintPhase {
    /// Returns whether the phase passes into another by itself.
    pub fn is_transitional(self) -> bool {
        matches!(self, Self::Pausing | Self::Resuming | Self::Cancelling)
    }
}

/// Result of a print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrintOutcome {
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

/// Print on a virtual printer. Real durations are wall-clock time; a second of G-code time is a real second divided by
/// the speed.
#[derive(Clone, Debug)]
pub struct PrintJob {
    /// Number of the print, counted from 1.
    pub number: u64,
    /// Name of the file that is printed.
    pub filename: String,
    /// Size of the file in bytes.
    pub size: u64,
    /// Metadata from the file's comments.
    pub facts: Arc<GcodeFacts>,
    /// Completed G-code time in seconds.
    pub done: f64,
    /// Real time spent printing. Warming up is part of it, so that a virtual print lasts as long as its slicer's
    /// estimate.
    pub printing: Duration,
    /// Start time on the monotonic clock.
    pub started: Instant,
    /// Start time in calendar time.
    pub started_at: Timestamp,
    /// End time on the monotonic clock; `None` while it runs.
    pub ended: Option<Instant>,
    /// Phase of the print while it runs.
    pub phase: PrintPhase,
    /// Result of the print; `None` while it runs.
    pub outcome: Option<PrintOutcome>,
}

impl PrintJob {
    /// Returns the progress, 0 to 1; exactly 1 once completed.
    pub fn progress(&self) -> f64 {
        if self.outcome == Some(PrintOutcome::Completed) {
            1.0
        } else {
            (self.done / self.facts.seconds).clamp(0.0, 1.0)
        }
    }

    /// Returns the filament used so far in millimetres.
    pub fn filament_mm(&self) -> f64 {
        self.facts.filament_mm * self.progress()
    }

    /// Returns the real time since the start, pauses included.
    pub fn total(&self, now: Instant) -> Duration {
        self.ended.unwrap_or(now).saturating_duration_since(self.started)
    }

    /// Returns the layer being printed, counted from 1; `None` if the file states no layers.
    pub fn layer(&self) -> Option<u64> {
        self.facts.layers.map(|layers| ((self.progress() * layers as f64).ceil() as u64).clamp(1, layers))
    }
}

/// Print in the printer's history.
#[derive(Clone, Debug)]
pub struct Record {
    /// Number of the print.
    pub number: u64,
    /// Name of the file that was printed.
    pub filename: String,
    /// Metadata from the file's comments at the time of the print.
    pub facts: Arc<GcodeFacts>,
    /// Size of the file in bytes when it was printed.
    pub size: u64,
    /// Start time in calendar time.
    pub started_at: Timestamp,
    /// End time in calendar time; `None` while it runs.
    pub ended_at: Option<Timestamp>,
    /// Result of the print; `None` while it runs.
    pub outcome: Option<PrintOutcome>,
    /// Real seconds of printing.
    pub print_seconds: f64,
    /// Total real seconds, pauses included.
    pub total_seconds: f64,
    /// Filament used in millimetres.
    pub filament_mm: f64,
}
