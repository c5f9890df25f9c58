//! Prints, in progress or ended, and the history of past prints.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use tokio::time::Instant;

use crate::gcode::GcodeFacts;

/// Phase of a print in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrintPhase {
    /// Warming up or extruding.
    Printing,
    /// Pause command accepted; not at a standstill yet.
    Pausing,
    /// At a standstill with its position saved; it can be resumed.
    Paused,
    /// Resume command accepted; warming up or moving back.
    Resuming,
    /// Cancel command accepted; parking.
    Cancelling,
}

impl PrintPhase {
    /// Returns whether the phase ends on its own and leads to another phase.
    pub fn is_transitional(self) -> bool {
        matches!(self, Self::Pausing | Self::Resuming | Self::Cancelling)
    }
}

/// Result of a print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrintOutcome {
    /// Printed to completion.
    Completed,
    /// Stopped by a cancel command.
    Cancelled,
    /// Failed by itself; contains the reason that the printer reports.
    Failed(String),
    /// Ended by an emergency stop or a firmware shutdown; contains its message.
    Halted(String),
    /// Lost in a power failure.
    Interrupted,
    /// Lost because the connection to the controller broke or the controller restarted.
    ControllerLost,
}

/// Print on a virtual printer. Real durations are in wall-clock time; one second of G-code time takes one real second
/// divided by the speed.
#[derive(Clone, Debug)]
pub struct PrintJob {
    /// Print number, counted from 1.
    pub number: u64,
    /// Name of the file being printed.
    pub filename: String,
    /// File size in bytes.
    pub size: u64,
    /// Metadata from the file's comments.
    pub facts: Arc<GcodeFacts>,
    /// G-code time completed so far, in seconds.
    pub done: f64,
    /// Real time spent printing, including warming up, so that a virtual print takes as long as the slicer's estimate.
    pub printing: Duration,
    /// Time at which the print started, on the monotonic clock.
    pub started: Instant,
    /// Time at which the print started, as calendar time.
    pub started_at: Timestamp,
    /// Time at which the print ended, on the monotonic clock; `None` while it is in progress.
    pub ended: Option<Instant>,
    /// Phase of the print while it is in progress.
    pub phase: PrintPhase,
    /// Result of the print; `None` while it is in progress.
    pub outcome: Option<PrintOutcome>,
}

impl PrintJob {
    /// Returns the progress from 0 to 1; exactly 1 once completed.
    pub fn progress(&self) -> f64 {
        if self.outcome == Some(PrintOutcome::Completed) {
            1.0
        } else {
            (self.done / self.facts.seconds).clamp(0.0, 1.0)
        }
    }

    /// Returns the amount of filament consumed so far, in millimetres.
    pub fn filament_mm(&self) -> f64 {
        self.facts.filament_mm * self.progress()
    }

    /// Returns the real time since the start, including pauses.
    pub fn total(&self, now: Instant) -> Duration {
        self.ended.unwrap_or(now).saturating_duration_since(self.started)
    }

    /// Returns the layer being printed, counted from 1; `None` if the file does not state the number of layers.
    pub fn layer(&self) -> Option<u64> {
        self.facts.layers.map(|layers| ((self.progress() * layers as f64).ceil() as u64).clamp(1, layers))
    }
}

/// Entry for a print in the printer's history.
#[derive(Clone, Debug)]
pub struct Record {
    /// Print number.
    pub number: u64,
    /// Name of the printed file.
    pub filename: String,
    /// Metadata from the file's comments at the time of the print.
    pub facts: Arc<GcodeFacts>,
    /// File size at the time of the print, in bytes.
    pub size: u64,
    /// Time at which the print started.
    pub started_at: Timestamp,
    /// Time at which the print ended; `None` while it is in progress.
    pub ended_at: Option<Timestamp>,
    /// Result of the print; `None` while it is in progress.
    pub outcome: Option<PrintOutcome>,
    /// Real seconds spent printing.
    pub print_seconds: f64,
    /// Total real seconds, including pauses.
    pub total_seconds: f64,
    /// Filament consumed, in millimetres.
    pub filament_mm: f64,
}
