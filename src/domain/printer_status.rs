//! Status that a printer reports about itself. Only the latest status is held, in memory; nothing in this module is
//! stored.

use serde::{Deserialize, Serialize};

use crate::amount::{Amount, MAX_AMOUNT};
use crate::bounds;
use crate::heaters::Heaters;
use crate::time::Timestamp;

/// Maximum number of slots read from a printer's report.
const MAX_REPORTED_SLOTS: usize = 64;
/// Maximum length of a printer's description of a spool, in characters.
const MAX_WORD_CHARS: usize = 50;
/// Maximum number of layers; a larger reported number is invalid.
const MAX_TOLD_LAYERS: f64 = 1_000_000.0;
/// Remaining time, in seconds, at or below which a print is ending soon. Printers report the time in whole minutes.
const ENDS_SOON_SECONDS: i64 = 120;
/// Progress, in percent, at or above which a print without a reported remaining time is ending soon.
const ENDS_SOON_PERCENT: f64 = 98.0;
/// Progress, in percent, below which a reported remaining time of 0 is wrong, because the print has just started and
/// the printer has no estimate yet.
const MIN_PERCENT_AT_END: f64 = 95.0;

/// Accuracy, in milliseconds, of the time at which a print is expected to end.
const MINUTE_MS: i64 = 60_000;

/// Temperature of nozzle or bed, in degrees Celsius, below which it is cold: a printer that is not heated comes to
/// rest.
pub const COLD_CELSIUS: f64 = 45.0;
/// Temperature of nozzle or bed, in degrees Celsius, below which a printer at rest remains so. It is higher than the
/// other, so that noise around one temperature does not repeatedly end and begin the rest.
pub const WARM_CELSIUS: f64 = 50.0;

/// Current activity of a printer: `state` in the API.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activity {
    /// Ready, and nothing is printing.
    Idle,
    /// A print is running.
    Printing,
    /// A print is paused.
    Paused,
    /// The firmware reports an error or is shut down.
    Error,
    /// The printer does not respond.
    #[default]
    Offline,
}

/// Reachability of a printer: `connection` in the API.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Connection {
    /// The printer responds and its firmware is ready.
    Connected,
    /// The connection is being established, after the start or at an operator's request.
    #[default]
    Connecting,
    /// The printer does not respond.
    Unreachable,
    /// The printer rejected the stored API key.
    WrongKey,
    /// The printer's web server responds, but the firmware behind it does not (`klippy_connected` is false, or the
    /// serial port is closed).
    FirmwareDisconnected,
    /// The printer can be read but accepts no commands.
    ReadOnly,
    /// An operator disconnected the printer.
    Disconnected,
}

impl Connection {
    /// Returns whether the printer itself responds, regardless of the access that it grants.
    pub fn is_answering(self) -> bool {
        matches!(self, Self::Connected | Self::ReadOnly)
    }
}

/// Result of a print, as reported by the printer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PrintEnd {
    /// The print was completed.
    Finished,
    /// The print was cancelled, at the printer or by the server.
    Cancelled,
    /// The print ended because of an error, a shutdown or a power failure.
    Failed,
}

/// Layer being printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PrintedLayer {
    /// Number of the layer, starting at 1.
    pub number: u32,
    /// Total number of layers.
    pub of: u32,
}

impl PrintedLayer {
    /// Builds the layer from the numbers reported by a printer. Returns `None` if it reports none or invalid ones.
    pub fn from_numbers(number: Option<f64>, of: Option<f64>) -> Option<Self> {
        let whole = |value: f64| (1.0..=MAX_TOLD_LAYERS).contains(&value).then_some(value as u32);
        let (number, of) = (whole(number?)?, whole(of?)?);
        (number <= of).then_some(Self { number, of })
    }
}

/// Status of a printer at a given moment, in terms common to all adapter types.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Current activity.
    pub state: Activity,
    /// Reachability of the printer.
    pub connection: Connection,
    /// File that is printing, is paused, or was printed last, as a path relative to the printer's upload directory.
    pub file: Option<String>,
    /// Result of printing `file`; `None` while the print is running, or if the printer does not report the result.
    pub ended: Option<PrintEnd>,
    /// Number of prints of `file` in the printer's history, including the current one; for a printer without a history,
    /// the number of prints that the adapter could distinguish. `None` if neither is available.
    #[serde(default)]
    pub runs: Option<u32>,
    /// Progress of the print in percent, from 0 to 100.
    pub progress: f64,
    /// `true` while the printer carries out a cancellation that it has accepted.
    #[serde(default)]
    pub cancelling: bool,
    /// Remaining print time in seconds, as estimated by the printer.
    pub remaining_seconds: Option<i64>,
    /// Layer being printed; `None` while nothing is printing, or if the printer does not report the layer.
    #[serde(default)]
    pub layer: Option<PrintedLayer>,
    /// Filament used so far to print `file`, in millimetres.
    pub filament_mm: Option<f64>,
    /// Temperature of the nozzle in degrees Celsius; 0 if unknown.
    pub nozzle: f64,
    /// Temperature of the bed in degrees Celsius; 0 if unknown.
    pub bed: f64,
    /// All heaters, with their target temperatures.
    #[serde(default)]
    pub heaters: Heaters,
    /// `true` if all axes are homed; `None` if the printer does not report it.
    pub homed: Option<bool>,
    /// The printer's own message about its error or state.
    pub message: Option<String>,
    /// Spools in the printer's slots; empty if the printer does not recognise them.
    #[serde(default)]
    pub slots: Vec<ReportedSlot>,
    /// Spool that the printer itself deducts its prints from; `None` if it does not do so, or does not report the
    /// spool.
    #[serde(default)]
    pub books_on: Option<SpoolBooking>,
    /// Time at which the status was read.
    pub updated_at: Timestamp,
}

/// Deductions by the printer's own server: it deducts extruded filament in the spool management system, from the spool
/// that is active there. A print's consumption must then not be deducted there again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpoolBooking {
    /// Number of the active spool in the spool management system.
    pub spool: i64,
    /// `true` if the printer's server can currently reach the spool management system. Otherwise, it accumulates the
    /// consumption until it is restarted.
    pub connected: bool,
    /// `true` if the printer's server has consumption that it has not been able to record yet.
    #[serde(default)]
    pub unreported: bool,
}

/// Spool reported by a printer. A report without code and colour represents an empty slot.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportedSlot {
    /// Number of the slot, starting at 0.
    pub slot: u32,
    /// The vendor's code for the spool.
    pub vendor_code: Option<String>,
    /// Type of plastic, such as `PETG`; `None` if the printer does not report it separately from the code.
    #[serde(default)]
    pub kind: Option<String>,
    /// Colour as `#rrggbb`.
    pub color: Option<String>,
    /// Amount left on the spool, in the material's unit.
    pub remaining: Option<Amount>,
}

impl ReportedSlot {
    /// Returns a copy with texts and amounts limited to the range of stored values.
    #[must_use]
    pub fn bounded(&self) -> Self {
        let word = |text: &Option<String>| {
            let clean: Option<String> = text.as_ref().map(|text| text.chars().take(MAX_WORD_CHARS).collect());
            clean.filter(|text| !text.trim().is_empty())
        };
        Self {
            slot: self.slot,
            vendor_code: word(&self.vendor_code),
            kind: word(&self.kind),
            color: word(&self.color).map(|color| color.to_ascii_lowercase()),
            remaining: self.remaining.map(|left| left.clamp(Amount::ZERO, MAX_AMOUNT)),
        }
    }
}

impl Status {
    /// Returns the activity that the printer states; `None` if it states none, for example during its start or in a
    /// state unknown to the server. It may be printing then.
    pub fn stated_activity(&self) -> Option<Activity> {
        (self.state != Activity::Offline).then_some(self.state)
    }

    /// Returns whether the printer's host responds while its firmware is away, which a restart of the firmware brings
    /// back.
    pub fn is_firmware_away(&self) -> bool {
        self.connection == Connection::FirmwareDisconnected && self.state == Activity::Offline
    }

    /// Limits every number to the range of stored values ([`bounds`]); a number outside of it is treated as unknown.
    #[must_use]
    pub fn bounded(self) -> Self {
        Self {
            progress: bounds::percent(self.progress),
            remaining_seconds: self.remaining_seconds.and_then(|seconds| bounds::print_seconds(seconds as f64)),
            filament_mm: self.filament_mm.and_then(bounds::filament_mm),
            nozzle: bounds::celsius(self.nozzle),
            bed: bounds::celsius(self.bed),
            slots: self.slots.iter().take(MAX_REPORTED_SLOTS).map(ReportedSlot::bounded).collect(),
            ..self
        }
    }

    /// Returns the time at which the printer expects the print to end, if it reports one. It is rounded to the minute,
    /// so that it changes only when the printer expects a different time.
    pub fn ends_at(&self) -> Option<Timestamp> {
        let at = self.updated_at.plus_ms(self.remaining_seconds?.max(0).saturating_mul(1000));
        Some(Timestamp(at.0.saturating_add(MINUTE_MS / 2) / MINUTE_MS * MINUTE_MS))
    }

    /// Returns whether a print is running that ends within the next few minutes, according to the printer.
    pub fn ends_soon(&self) -> bool {
        let near = match self.remaining_seconds {
            Some(left) => left <= ENDS_SOON_SECONDS,
            None => self.progress >= ENDS_SOON_PERCENT,
        };
        self.state == Activity::Printing && near
    }

    /// Returns whether a print is running whose end is far off and for which the printer does not report a remaining
    /// time.
    pub fn is_new_print(&self) -> bool {
        self.state == Activity::Printing && self.remaining_seconds.is_none() && self.progress < MIN_PERCENT_AT_END
    }

    /// Returns whether `file` was printed before, so that the status does not show its first print.
    pub fn prints_again(&self) -> bool {
        self.runs.is_some_and(|runs| runs > 1)
    }

    /// Returns whether the printer is ready, prints nothing, and is neither heated nor still hot from a print.
    pub fn is_at_rest(&self) -> bool {
        let is_heated = self.heaters.each().any(|heat| heat.target().is_some_and(|tenths| tenths > 0));
        let is_cold = self.nozzle < WARM_CELSIUS && self.bed < WARM_CELSIUS;
        self.connection == Connection::Connected && self.state == Activity::Idle && is_cold && !is_heated
    }

    /// Discards a reported remaining time of 0 seconds if the print is far from its end.
    pub fn drop_false_end(&mut self) {
        if self.progress < MIN_PERCENT_AT_END {
            self.remaining_seconds = self.remaining_seconds.filter(|left| *left > 0);
        }
    }

    /// Builds the status of an unreachable printer, with a human-readable reason.
    pub fn unavailable(connection: Connection, message: impl Into<String>, at: Timestamp) -> Self {
        Self { connection, message: Some(message.into()), updated_at: at, ..Self::default() }
    }
}

/// Print listed in the printer's own history.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PastPrint {
    /// Path of the file, relative to the upload directory.
    pub file: String,
    /// Result of the print; `None` while the print is running, or if the printer does not report the result.
    pub ended: Option<PrintEnd>,
    /// `true` if the record ends abruptly because the printer's server stopped during the print. The print itself may
    /// have continued, so the record does not show how it ended.
    #[serde(default)]
    pub cut_off: bool,
    /// Filament used in millimetres, if the printer reports it.
    pub filament_mm: Option<f64>,
    /// Start time, if the printer reports it.
    pub started_at: Option<Timestamp>,
    /// End time, if the printer reports it.
    pub ended_at: Option<Timestamp>,
    /// Spools from which the printer itself deducted the print; see [`SpoolBooking`].
    #[serde(default)]
    pub booked_on: Vec<i64>,
}

impl PastPrint {
    /// Limits every number to the range of stored values ([`bounds`]); a number outside of it is treated as unknown.
    #[must_use]
    pub fn bounded(self) -> Self {
        Self { filament_mm: self.filament_mm.and_then(bounds::filament_mm), ..self }
    }
}

/// Evidence about whether the printer's server, which keeps the history, has run since a given moment without being
/// restarted. A server that was not running cannot record prints.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerRun {
    /// The server ran without interruption: its history contains every print since then.
    Unbroken,
    /// The server does not report whether it was restarted.
    #[default]
    Unknown,
    /// The server was restarted.
    Restarted,
}

#[cfg(test)]
mod tests;
