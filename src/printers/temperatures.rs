//! Temperatures of all printers over the last day. They are kept in memory only: a server restart discards them, and
//! they are not part of any transaction.

use dashmap::DashMap;

use domain::heaters::Heaters;
use domain::id::Id;
use domain::temperature_history::{HeaterCourse, TemperatureHistory};
use domain::time::Timestamp;

/// Temperature history of each printer over the last day.
#[derive(Debug, Default)]
pub struct TemperatureHistories {
    by_printer: DashMap<Id, TemperatureHistory>,
}

impl TemperatureHistories {
    /// Records temperatures reported by a printer.
    pub fn note(&self, printer: Id, at: Timestamp, heaters: &Heaters) {
        if *heaters != Heaters::default() {
            self.by_printer.entry(printer).or_default().take(at, heaters);
        }
    }

    /// Returns a temperature curve for each of the printer's heaters since the given time, with at most `points` points
    /// each.
    pub fn courses(&self, printer: Id, since: Timestamp, now: Timestamp, points: usize) -> Vec<HeaterCourse> {
        self.by_printer.get(&printer).map(|history| history.courses(since, now, points)).unwrap_or_default()
    }

    /// Discards the history of a deleted printer.
    pub(super) fn forget(&self, printer: Id) {
        self.by_printer.remove(&printer);
    }
}
