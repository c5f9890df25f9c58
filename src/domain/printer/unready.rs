//! Reasons why a printer cannot take a job.

use std::fmt;

use words::Language;
use words::staff::printer_page as texts;

/// Reason why a printer cannot take a job now. Its text is phrased to follow "the printer is".
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
    /// Maintenance that blocks the printer is due; contains its description.
    MaintenanceDue(String),
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
    /// Returns the reason in a language, phrased to follow a colon after "can't start a print now". Due maintenance is
    /// described in English.
    pub fn text(&self, language: Language) -> String {
        match self {
            Self::ManualStart => texts::unready_manual_start(language),
            Self::Unverified => texts::unready_unverified(language),
            Self::Finishing => texts::unready_finishing(language),
            Self::Paused => texts::unready_paused(language),
            Self::Starting => texts::unready_starting(language),
            Self::Printing => texts::unready_printing(language),
            Self::OtherPrint => texts::unready_other_print(language),
            Self::Deleted => texts::unready_deleted(language),
            Self::Disconnected => texts::unready_disconnected(language),
            Self::WrongKey => texts::unready_wrong_key(language),
            Self::ReadOnly => texts::unready_read_only(language),
            Self::Connecting => texts::unready_connecting(language),
            Self::Offline => texts::unready_offline(language),
            Self::Maintenance => texts::unready_maintenance(language),
            Self::MaintenanceDue(words) => words.clone(),
            Self::Error => texts::unready_error(language),
            Self::Fault => texts::unready_fault(language),
            Self::NotHomed => texts::unready_not_homed(language),
            Self::BedNotCleared => texts::unready_bed_not_cleared(language),
            Self::DiskFull => texts::unready_disk_full(language),
            Self::RefusesStarts => texts::unready_refuses_starts(language),
        }
    }
}

impl fmt::Display for Unready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ManualStart => "starting a manual print",
            Self::Unverified => "unverified",
            Self::Finishing => "finishing",
            Self::Paused => "paused",
            Self::Starting => "starting",
            Self::Printing => "printing",
            Self::OtherPrint => "printing something else",
            Self::Deleted => "deleted",
            Self::Disconnected => "disconnected",
            Self::WrongKey => "rejecting the API key",
            Self::ReadOnly => "read-only",
            Self::Connecting => "connecting",
            Self::Offline => "offline",
            Self::Maintenance => "under maintenance",
            Self::MaintenanceDue(words) => words.as_str(),
            Self::Error => "reporting an error",
            Self::Fault => "on hold after a firmware error",
            Self::NotHomed => "not homed",
            Self::BedNotCleared => "waiting for a clear bed",
            Self::DiskFull => "out of storage space",
            Self::RefusesStarts => "refusing to start prints",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_the_same_on_pages_in_english() {
        for reason in [
            Unready::ManualStart,
            Unready::Unverified,
            Unready::Finishing,
            Unready::OtherPrint,
            Unready::WrongKey,
            Unready::MaintenanceDue("due for maintenance (belts)".to_owned()),
            Unready::Fault,
            Unready::BedNotCleared,
            Unready::DiskFull,
            Unready::RefusesStarts,
        ] {
            assert_eq!(reason.text(Language::English), reason.to_string());
        }
        assert_eq!(Unready::BedNotCleared.text(Language::German), "das Druckbett ist nicht abgeräumt");
    }
}
