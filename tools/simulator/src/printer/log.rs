//! Log of a virtual printer's physical actions, as opposed to its reports. Append-only; reboots do not change it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Physical event at a printer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Position in the log, counted from 0.
    pub seq: u64,
    /// Real time, not the faster time of the virtual print.
    #[serde(with = "rfc3339")]
    pub at: Timestamp,
    /// Event, and the file that it concerns.
    #[serde(flatten)]
    pub what: PhysicalEvent,
}

/// Kind of physical event. File names are paths below the printer's storage root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum PhysicalEvent {
    /// A print began: the printer heats, moves or extrudes for this file.
    Started {
        /// Name of the file that is printed.
        filename: String,
    },
    /// A print that just began takes its filaments from these places of a filament changer.
    Fed {
        /// Name of the file that is printed.
        filename: String,
        /// Each used tool of the file, from 0, with the slot that it prints from; 254 is the spool beside the changer.
        slots: Vec<(u32, i64)>,
    },
    /// A print ran to its end.
    Finished {
        /// Name of the file that was printed.
        filename: String,
    },
    /// A print was stopped by a command.
    Cancelled {
        /// Name of the file that was printed.
        filename: String,
    },
    /// A print ended by a failure or an emergency stop.
    Failed {
        /// Name of the file that was printed.
        filename: String,
        /// The reason of the failure.
        reason: String,
    },
    /// A print was lost with the power or the connection to the controller.
    Interrupted {
        /// Name of the file that was printed.
        filename: String,
    },
    /// A print was paused.
    Paused {
        /// Name of the file that is printed.
        filename: String,
    },
    /// A print was resumed.
    Resumed {
        /// Name of the file that is printed.
        filename: String,
    },
    /// A file was stored.
    Uploaded {
        /// Name under which the file is stored.
        filename: String,
        /// Its size in bytes.
        bytes: u64,
    },
    /// A file was deleted.
    Deleted {
        /// Name of the file that was deleted.
        filename: String,
    },
    /// A start that was accepted earlier had no effect, because the file was gone or another print was running.
    LateStartFellThrough {
        /// Name of the file that should have been printed.
        filename: String,
    },
    /// An emergency stop cut motion and heating.
    EmergencyStop,
    /// The controller shut down by itself.
    FirmwareShutdown,
    /// The controller was restarted and is ready.
    Restarted,
    /// The host connected to the controller.
    Connected,
    /// The host lost the controller, or disconnected from it.
    Disconnected,
    /// The printer lost its power and started again.
    Rebooted,
    /// Axes were moved to their end stops.
    Homed {
        /// The axes as lower-case letters.
        axes: String,
    },
    /// A line of G-code from outside a file was run.
    Gcode {
        /// The line of G-code.
        line: String,
    },
}

impl PhysicalEvent {
    /// Returns the file that the event concerns, if any.
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
