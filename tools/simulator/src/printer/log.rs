//! Log of a virtual printer's physical actions, as opposed to its reports. The log is append-only; reboots do not
//! change it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Entry for a physical event at a printer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Position in the log, counted from 0.
    pub seq: u64,
    /// Time of the event in real time, as opposed to the faster time of a virtual print.
    #[serde(with = "rfc3339")]
    pub at: Timestamp,
    /// Event, including the file that it is about.
    #[serde(flatten)]
    pub what: PhysicalEvent,
}

/// Kind of physical event. File names are paths relative to the root of the printer's storage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum PhysicalEvent {
    /// A print started: the printer heats, moves or extrudes for the file.
    Started {
        /// Name of the file being printed.
        filename: String,
    },
    /// A print that has just started takes its filaments from these slots of a filament changer.
    Fed {
        /// Name of the file being printed.
        filename: String,
        /// Each tool used by the file, numbered from 0, with the slot from which it prints; 254 is the external spool.
        slots: Vec<(u32, i64)>,
    },
    /// A print ran to completion.
    Finished {
        /// Name of the printed file.
        filename: String,
    },
    /// A print was stopped by a command.
    Cancelled {
        /// Name of the printed file.
        filename: String,
    },
    /// A print ended because of a failure or an emergency stop.
    Failed {
        /// Name of the printed file.
        filename: String,
        /// Reason for the failure.
        reason: String,
    },
    /// A print was lost because the power or the connection to the controller failed.
    Interrupted {
        /// Name of the printed file.
        filename: String,
    },
    /// A print was paused.
    Paused {
        /// Name of the file being printed.
        filename: String,
    },
    /// A print was resumed.
    Resumed {
        /// Name of the file being printed.
        filename: String,
    },
    /// A file was stored.
    Uploaded {
        /// Name under which the file is stored.
        filename: String,
        /// File size in bytes.
        bytes: u64,
    },
    /// A file was deleted.
    Deleted {
        /// Name of the deleted file.
        filename: String,
    },
    /// A start that had been accepted earlier had no effect, because the file no longer existed or another print was in
    /// progress.
    LateStartFellThrough {
        /// Name of the file that should have been printed.
        filename: String,
    },
    /// An emergency stop switched off motors and heaters.
    EmergencyStop,
    /// The controller shut down by itself.
    FirmwareShutdown,
    /// The controller was restarted and is ready.
    Restarted,
    /// The host connected to the controller.
    Connected,
    /// The host lost the controller, or disconnected from it.
    Disconnected,
    /// The printer lost power and booted again.
    Rebooted,
    /// Axes were homed to their end stops.
    Homed {
        /// Homed axes as lowercase letters.
        axes: String,
    },
    /// A line of G-code that did not come from a file was run.
    Gcode {
        /// Line of G-code that was run.
        line: String,
    },
}

impl PhysicalEvent {
    /// Returns the file that the event is about, if any.
    pub fn filename(&self) -> Option<&str> {
        match self {
            Self::Started { filename }
            | Self::Fed { filename, .. }
            | Self::Finished { filename }
            | Self::Cancelled { filename }
            | Self::Failed { filename, .. }
            | Self::Interrupted { filename }
            | Self::Paused { filename }
            | Self::Resumed { filename }
            | Self::Uploaded { filename, .. }
            | Self::Deleted { filename }
            | Self::LateStartFellThrough { filename } => Some(filename),
            _ => None,
        }
    }
}

mod rfc3339 {
    use jiff::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(at: &Timestamp, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(&format_args!("{at:.3}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Timestamp, D::Error> {
        String::deserialize(input)?.parse().map_err(D::Error::custom)
    }
}
