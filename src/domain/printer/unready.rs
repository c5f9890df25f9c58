//! Reasons why a printer cannot take a job.

use std::fmt;

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
