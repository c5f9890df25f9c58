//! The physical truth: what a virtual printer did, apart from what it reported. Append-only; reboots do not touch it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// One thing that physically happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Position in the log, from 0.
    pub seq: u64,
    /// When.
    #[serde(with = "rfc3339")]
    pub at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub what: What,
}

/// What happened. File names are paths below the printer's storage root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum What {
    /// Began to print a file.
    Started {
        /// The file.
        filename: String,
    },
    /// Printed a file to its end.
    Finished {
        /// The file.
        filename: String,
    },
    /// Stopped a print because it was told to.
    Cancelled {
        /// The file.
        filename: String,
    },
    /// A print ended by a failure or an emergency stop.
    Failed {
        /// The file.
        filename: String,
        /// Why.
        reason: String,
    },
    /// A print was lost with the power or the connection to the controller.
    Interrupted {
        /// The file.
        filename: String,
    },
    /// Stands still in a print.
    Paused {
        /// The file.
        filename: String,
    },
    /// Goes on with a print.
    Resumed {
        /// The file.
        filename: String,
    },
    /// Stored a file.
    Uploaded {
        /// The file.
        filename: String,
        /// Its size.
        bytes: u64,
    },
    /// Removed a file.
    Deleted {
        /// The file.
        filename: String,
    },
    /// A start that was accepted earlier came due and found no file, or another print: nothing moved.
    LateStartFellThrough {
        /// The file.
        filename: String,
    },
    /// All motion and heat cut.
    EmergencyStop,
    /// The controller stopped by itself.
    FirmwareShutdown,
    /// The controller was restarted and is ready.
    Restarted,
    /// The host has its printer.
    Connected,
    /// The host lost, or let go of, its printer.
    Disconnected,
    /// Power was lost.
    Rebooted,
    /// Found its zero on these axes.
    Homed {
        /// Lower-case letters.
        axes: String,
    },
    /// Ran one line of G-code that came from outside a file.
    Gcode {
        /// The line.
        line: String,
    },
}

impl What {
    /// The file that it is about, if any.
    pub fn filename(&self) -> Option<&str> {
        match self {
            Self::Started { filename }
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
