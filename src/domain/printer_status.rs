//! What a printer says of itself: last value wins, nothing here is durable.

use crate::domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// `state` of the printer status record (production spec §2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activity {
    /// Ready, nothing on.
    Idle,
    /// A print is under way.
    Printing,
    /// A print is paused.
    Paused,
    /// The firmware reports an error or is shut down.
    Error,
    /// Does not answer.
    #[default]
    Offline,
}

/// `connection` of decisions §6.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Connection {
    /// Answers.
    Connected,
    /// Being tried for the first time, or by an operator's wish.
    #[default]
    Connecting,
    /// Does not answer.
    Unreachable,
    /// Refuses our key.
    WrongKey,
    /// The web server answers, the firmware behind it does not (`klippy_connected` false, serial port closed).
    FirmwareDisconnected,
    /// An operator disconnected it.
    Disconnected,
}

/// How the last print of `file` ended, as the printer remembers it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PrintEnd {
    /// To the end.
    Finished,
    /// Cancelled at the printer or by us.
    Cancelled,
    /// Error, shutdown, power loss.
    Failed,
}

/// One look at a printer, in the terms of every brand.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// What it does.
    pub state: Activity,
    /// How we stand with it.
    pub connection: Connection,
    /// The file that is printing, paused, or was printed last; a path relative to the printer's upload root.
    pub file: Option<String>,
    /// How the print of `file` ended; `None` while it is on, or when the printer does not say.
    pub ended: Option<PrintEnd>,
    /// 0 to 100.
    pub progress: f64,
    /// Seconds left, as the printer says.
    pub remaining_seconds: Option<i64>,
    /// Filament used by the print of `file` so far, millimetres.
    pub filament_mm: Option<f64>,
    /// Degrees Celsius; 0 when unknown.
    pub nozzle: f64,
    /// Degrees Celsius; 0 when unknown.
    pub bed: f64,
    /// All axes homed, where the printer tells.
    pub homed: Option<bool>,
    /// The printer's own words on its error or state.
    pub message: Option<String>,
    /// When it was looked at.
    pub updated_at: Timestamp,
}

impl Status {
    /// A printer that does not answer, with the reason.
    pub fn away(connection: Connection, message: impl Into<String>, at: Timestamp) -> Self {
        Self { connection, message: Some(message.into()), updated_at: at, ..Self::default() }
    }
}

/// One finished print, from the printer's own history.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PastPrint {
    /// Path relative to the upload root.
    pub file: String,
    /// How it ended; `None` while it is on or when the printer does not say.
    pub ended: Option<PrintEnd>,
    /// Millimetres used, where told.
    pub filament_mm: Option<f64>,
    /// When it began, where told.
    pub started_at: Option<Timestamp>,
    /// When it ended, where told.
    pub ended_at: Option<Timestamp>,
}
