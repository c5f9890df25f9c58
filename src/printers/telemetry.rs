//! Data pushed by printers between two status polls.

use serde::{Deserialize, Serialize};

use domain::heaters::Heaters;
use domain::printer_status::{Activity, Connection, PrintedLayer, Status};

/// Current temperatures in degrees Celsius; 0 if unknown.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Temperatures {
    /// First nozzle's temperature.
    pub nozzle: f64,
    /// Bed temperature.
    pub bed: f64,
}

/// Data pushed about a running print or the heaters. Values that were not pushed are `None`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Telemetry {
    /// Print progress in percent, from 0 to 100.
    pub progress: Option<f64>,
    /// Remaining print time in seconds.
    pub remaining_seconds: Option<i64>,
    /// Layer being printed.
    pub layer: Option<PrintedLayer>,
    /// Filament consumed by the print so far, in millimetres.
    pub filament_mm: Option<f64>,
    /// Nozzle temperature in degrees Celsius.
    pub nozzle: Option<f64>,
    /// Bed temperature in degrees Celsius.
    pub bed: Option<f64>,
    /// Temperatures of all heaters in the pushed data.
    pub heaters: Heaters,
}

impl Telemetry {
    /// Returns this telemetry, updated with the values in `later`.
    pub(super) fn then(self, later: Self) -> Self {
        Self {
            progress: later.progress.or(self.progress),
            remaining_seconds: later.remaining_seconds.or(self.remaining_seconds),
            layer: later.layer.or(self.layer),
            filament_mm: later.filament_mm.or(self.filament_mm),
            nozzle: later.nozzle.or(self.nozzle),
            bed: later.bed.or(self.bed),
            heaters: self.heaters.then(later.heaters),
        }
    }

    /// Merges the telemetry into the last polled status. Values about a print apply only while a print is in progress,
    /// because every state change is followed by a poll. The status keeps its state and the time of its poll.
    pub fn update(self, status: &mut Status) {
        if status.connection != Connection::Connected {
            return;
        }
        if matches!(status.state, Activity::Printing | Activity::Paused) {
            status.progress = self.progress.unwrap_or(status.progress);
            status.remaining_seconds = self.remaining_seconds.or(status.remaining_seconds);
            status.layer = self.layer.or(status.layer);
            status.filament_mm = self.filament_mm.or(status.filament_mm);
        }
        status.drop_false_end();
        status.nozzle = self.nozzle.unwrap_or(status.nozzle);
        status.bed = self.bed.unwrap_or(status.bed);
        status.heaters = status.heaters.then(self.heaters);
    }
}
