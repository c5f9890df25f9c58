//! The temperatures of all printers over the last day. They live in memory: a restart of the server forgets them, and
//! nothing of them is a commit.

use dashmap::DashMap;

use crate::domain::heaters::Heaters;
use crate::domain::id::Id;
use crate::domain::temperature_history::{HeaterCourse, TemperatureHistory};
use crate::domain::time::Timestamp;

/// The last day of each printer.
#[derive(Debug, Default)]
pub struct TemperatureHistories {
    by_printer: DashMap<Id, TemperatureHistory>,
}

impl TemperatureHistories {
    /// Takes what a printer told.
    pub fn note(&self, printer: Id, at: Timestamp, told: &Heaters) {
        if *told != Heaters::default() {
            self.by_printer.entry(printer).or_default().take(at, told);
        }
    }

    /// The course of each heater of a printer from a moment on, in at most so many points.
    pub fn courses(&self, printer: Id, since: Timestamp, now: Timestamp, points: usize) -> Vec<HeaterCourse> {
        self.by_printer.get(&printer).map(|history| history.courses(since, now, points)).unwrap_or_default()
    }

    /// Forgets a printer that was deleted.
    pub(super) fn forget(&self, printer: Id) {
        self.by_printer.remove(&printer);
    }
}
