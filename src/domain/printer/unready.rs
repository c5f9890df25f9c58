//! Reasons why a printer cannot take a job.

use std::fmt;

use crate::notation;
use words::Language;
use words::staff::waiting;

/// Reason why a printer cannot take a job now. Its text is phrased to follow "the printer is"; [`fmt::Display`] writes
/// it in English.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unready {
    /// A print that an operator started from a file is being started.
    ManualStart,
    /// It is unknown whether the last print started, or how it ended.
    Unverified,
    /// The last print has ended; its outcome is still being recorded.
    Finishing,
    /// The current print is paused.
    Paused,
    /// A print is being sent or started.
    Starting,
    /// A print is running.
    Printing,
    /// A print that the shop did not start is running.
    OtherPrint,
    /// The printer was deleted.
    Deleted,
    /// An operator disconnected the printer.
    Disconnected,
    /// The printer rejected the stored API key.
    WrongKey,
    /// The printer accepts no commands.
    ReadOnly,
    /// The connection is being established.
    Connecting,
    /// The printer does not respond.
    Offline,
    /// An operator took the printer out of service.
    Maintenance,
    /// Maintenance that blocks the printer is due; contains its names, and the number of further ones.
    MaintenanceDue(String, usize),
    /// The printer reports an error.
    Error,
    /// An operator must inspect the printer after a firmware error.
    Fault,
    /// The axes must be homed.
    NotHomed,
    /// The bed must be cleared.
    BedNotCleared,
    /// The printer waits before the next attempt, because its storage was full.
    DiskFull,
    /// The printer waits before the next attempt, because it rejected starts.
    RefusesStarts,
}

impl Unready {
    /// Returns whether a person took the printer out of use, so that no one is asked to attend to it.
    pub fn is_out_of_use(&self) -> bool {
        matches!(self, Self::Disconnected | Self::Maintenance | Self::Deleted)
    }

    /// Returns the reason in the given language, phrased to follow "the printer is" or "the printers are".
    pub fn words(&self, language: Language) -> String {
        let text = match self {
            Self::ManualStart => waiting::unready_manual_start,
            Self::Unverified => waiting::unready_unverified,
            Self::Finishing => waiting::unready_finishing,
            Self::Paused => waiting::unready_paused,
            Self::Starting => waiting::unready_starting,
            Self::Printing => waiting::unready_printing,
            Self::OtherPrint => waiting::unready_other_print,
            Self::Deleted => waiting::unready_deleted,
            Self::Disconnected => waiting::unready_disconnected,
            Self::WrongKey => waiting::unready_wrong_key,
            Self::ReadOnly => waiting::unready_read_only,
            Self::Connecting => waiting::unready_connecting,
            Self::Offline => waiting::unready_offline,
            Self::Maintenance => waiting::unready_maintenance,
            Self::MaintenanceDue(names, 0) => return waiting::unready_maintenance_due(language, names),
            Self::MaintenanceDue(names, more) => {
                let names = notation::list(language, &[names, &waiting::more_names(language, *more)]);
                return waiting::unready_maintenance_due(language, &names);
            }
            Self::Error => waiting::unready_error,
            Self::Fault => waiting::unready_fault,
            Self::NotHomed => waiting::unready_not_homed,
            Self::BedNotCleared => waiting::unready_bed,
            Self::DiskFull => waiting::unready_disk_full,
            Self::RefusesStarts => waiting::unready_refuses_starts,
        };
        text(language)
    }
}

impl fmt::Display for Unready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(Language::English))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_follow_the_name_of_the_printer() {
        assert_eq!(Unready::BedNotCleared.to_string(), "waiting for a clear bed");
        let due = |more| Unready::MaintenanceDue("belts, nozzle".to_owned(), more);
        assert_eq!(due(0).to_string(), "due for maintenance (belts, nozzle)");
        assert_eq!(due(2).to_string(), "due for maintenance (belts, nozzle and 2 more)");
        assert_eq!(Unready::WrongKey.words(Language::German), "wegen eines falschen API-Schlüssels nicht erreichbar");
    }
}
