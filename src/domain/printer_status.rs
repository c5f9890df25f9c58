//! What a printer reports about itself. Only the latest status is kept, in memory; nothing here is stored.

use serde::{Deserialize, Serialize};

use crate::domain::amount::{Amount, MAX_AMOUNT};
use crate::domain::bounds;
use crate::domain::heaters::Heaters;
use crate::domain::time::Timestamp;

/// Most slots that are taken of a printer's report.
const MAX_REPORTED_SLOTS: usize = 64;
/// Most characters that are kept of what a printer says of a spool.
const MAX_WORD_CHARS: usize = 50;
/// A print of more layers than this is none.
const MAX_TOLD_LAYERS: f64 = 1_000_000.0;
/// A print with no more time left than this, in seconds, ends soon. Printers tell it in whole minutes.
const ENDS_SOON_SECONDS: i64 = 120;
/// So does one of this progress, in percent, of which the printer does not tell how long it takes.
const ENDS_SOON_PERCENT: f64 = 98.0;
/// A print of less progress than this, in percent, that is told to have no time left has just begun: its printer has
/// not reckoned yet.
const MIN_PERCENT_AT_END: f64 = 95.0;

/// What a printer does: `state` in the API.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activity {
    /// Ready, and nothing prints.
    Idle,
    /// A print is running.
    Printing,
    /// A print is paused.
    Paused,
    /// The firmware reports an error or is shut down.
    Error,
    /// The printer does not answer.
    #[default]
    Offline,
}

/// Whether and how a printer is reachable: `connection` in the API.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Connection {
    /// The printer answers and its firmware is ready.
    Connected,
    /// A connection is being made, after the start or at an operator's request.
    #[default]
    Connecting,
    /// The printer does not answer.
    Unreachable,
    /// The printer refuses the stored API key.
    WrongKey,
    /// The printer's web server answers, but not the firmware behind it (`klippy_connected` is false, or the serial
    /// port is closed).
    FirmwareDisconnected,
    /// The printer answers and lets itself be read, and takes no commands.
    ReadOnly,
    /// An operator disconnected the printer.
    Disconnected,
}

impl Connection {
    /// Returns whether the printer itself answers, whatever it lets a client do.
    pub fn is_answering(self) -> bool {
        matches!(self, Self::Connected | Self::ReadOnly)
    }
}

/// How a print ended, according to the printer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PrintEnd {
    /// It ran to its end.
    Finished,
    /// It was cancelled, at the printer or by us.
    Cancelled,
    /// It ended by an error, a shutdown or a loss of power.
    Failed,
}

/// The layer that is being printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PrintedLayer {
    /// Counts from 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

impl PrintedLayer {
    /// From the numbers that a printer tells; `None` where it tells none, or none that can be.
    pub fn told(number: Option<f64>, of: Option<f64>) -> Option<Self> {
        let whole = |told: f64| (1.0..=MAX_TOLD_LAYERS).contains(&told).then_some(told as u32);
        let (number, of) = (whole(number?)?, whole(of?)?);
        (number <= of).then_some(Self { number, of })
    }
}

/// A printer's status at one moment, in terms common to all adapter types.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// What the printer does.
    pub state: Activity,
    /// Whether and how it is reachable.
    pub connection: Connection,
    /// The file that prints, is paused, or was printed last, as a path relative to the printer's upload folder.
    pub file: Option<String>,
    /// How the print of `file` ended; `None` while it runs, or if the printer does not tell.
    pub ended: Option<PrintEnd>,
    /// How many prints of `file` the printer's history knows, the present one counted in; `None` if it does not tell.
    #[serde(default)]
    pub runs: Option<u32>,
    /// Progress of the print in percent, 0 to 100.
    pub progress: f64,
    /// The printer is ending the print on a cancel that it has already taken.
    #[serde(default)]
    pub cancelling: bool,
    /// Remaining print time in seconds, as the printer estimates it.
    pub remaining_seconds: Option<i64>,
    /// The layer that is being printed; `None` while nothing prints, and where the printer does not tell.
    #[serde(default)]
    pub layer: Option<PrintedLayer>,
    /// Filament that the print of `file` has used so far, in millimetres.
    pub filament_mm: Option<f64>,
    /// Temperature of the nozzle in degrees Celsius; 0 if unknown.
    pub nozzle: f64,
    /// Temperature of the bed in degrees Celsius; 0 if unknown.
    pub bed: f64,
    /// All heaters, with what is wanted of each.
    #[serde(default)]
    pub heaters: Heaters,
    /// Whether all axes are homed; `None` if the printer does not tell.
    pub homed: Option<bool>,
    /// The printer's own message on its error or state.
    pub message: Option<String>,
    /// The spools in its slots, if the printer knows them; empty if it does not.
    #[serde(default)]
    pub slots: Vec<ReportedSlot>,
    /// Where the printer itself books what it prints; `None` if it does not, or does not tell.
    #[serde(default)]
    pub books_on: Option<SpoolBooking>,
    /// When the status was read.
    pub updated_at: Timestamp,
}

/// A printer whose own server books what it extrudes, on the spool that is active there, in the system that knows
/// spools. What a print used is then not to be booked there a second time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpoolBooking {
    /// The number of the active spool there.
    pub spool: i64,
    /// Whether the printer's server reaches that system now. While it does not, it remembers what it used until it is
    /// restarted.
    pub connected: bool,
    /// It remembers something that it could not book yet.
    #[serde(default)]
    pub unreported: bool,
}

/// A spool that a printer reports. One without code and colour is an empty slot.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportedSlot {
    /// Number of the slot, from 0.
    pub slot: u32,
    /// The vendor's code of the spool.
    pub vendor_code: Option<String>,
    /// The kind of plastic, as `PETG`; `None` where the printer does not tell it apart from the code.
    #[serde(default)]
    pub kind: Option<String>,
    /// Colour as `#rrggbb`.
    pub color: Option<String>,
    /// What is left on it, in the material's unit.
    pub remaining: Option<Amount>,
}

impl ReportedSlot {
    /// With texts and amounts within the bounds of what is stored.
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
    /// With every number within the bounds of what is stored ([`bounds`]); one beyond them is not known.
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

    /// Whether a print is on that ends within the next minutes, as far as the printer knows.
    pub fn ends_soon(&self) -> bool {
        let near = match self.remaining_seconds {
            Some(left) => left <= ENDS_SOON_SECONDS,
            None => self.progress >= ENDS_SOON_PERCENT,
        };
        self.state == Activity::Printing && near
    }

    /// Whether the end of a print is far away and its printer does not say when it comes.
    pub fn is_new_print(&self) -> bool {
        self.state == Activity::Printing && self.remaining_seconds.is_none() && self.progress < MIN_PERCENT_AT_END
    }

    /// Whether `file` was printed before, so that what the status shows is not the first print of it.
    pub fn prints_again(&self) -> bool {
        self.runs.is_some_and(|runs| runs > 1)
    }

    /// Drops a time of 0 seconds that is told of a print whose end is far away.
    pub fn drop_false_end(&mut self) {
        if self.progress < MIN_PERCENT_AT_END {
            self.remaining_seconds = self.remaining_seconds.filter(|left| *left > 0);
        }
    }

    /// The status of a printer that is not reachable, with the reason in words for people.
    pub fn unavailable(connection: Connection, message: impl Into<String>, at: Timestamp) -> Self {
        Self { connection, message: Some(message.into()), updated_at: at, ..Self::default() }
    }
}

/// One print in the printer's own history.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PastPrint {
    /// Path of the file, relative to the upload folder.
    pub file: String,
    /// How it ended; `None` while it runs, or if the printer does not tell.
    pub ended: Option<PrintEnd>,
    /// The record breaks off because the printer's server ended during the print. The print itself may have gone on:
    /// such a record does not tell how it ended.
    #[serde(default)]
    pub cut_off: bool,
    /// Filament used in millimetres, if the printer tells.
    pub filament_mm: Option<f64>,
    /// When it began, if the printer tells.
    pub started_at: Option<Timestamp>,
    /// When it ended, if the printer tells.
    pub ended_at: Option<Timestamp>,
    /// The spools on which the printer itself booked it; see [`SpoolBooking`].
    #[serde(default)]
    pub booked_on: Vec<i64>,
}

impl PastPrint {
    /// With every number within the bounds of what is stored ([`bounds`]); one beyond them is not known.
    #[must_use]
    pub fn bounded(self) -> Self {
        Self { filament_mm: self.filament_mm.and_then(bounds::filament_mm), ..self }
    }
}

/// Whether the printer's server, which remembers prints, has run without a restart since a moment that was marked. A
/// server that was not running cannot remember.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerRun {
    /// It ran all the time: its history knows of every print since.
    Unbroken,
    /// It does not tell.
    #[default]
    Unknown,
    /// It was restarted since.
    Restarted,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_print_ends_soon_by_the_time_that_is_left_else_by_its_progress() {
        let print =
            |state, remaining_seconds, progress| Status { state, progress, remaining_seconds, ..Status::default() };
        let soon = |left, percent| print(Activity::Printing, left, percent).ends_soon();
        assert!(soon(Some(120), 10.0) && soon(Some(0), 100.0) && soon(None, 98.0));
        let left = |left, percent| {
            let mut status = print(Activity::Printing, left, percent);
            status.drop_false_end();
            status.remaining_seconds
        };
        assert_eq!((left(Some(0), 0.4), left(Some(0), 99.0), left(Some(1), 0.4)), (None, Some(0), Some(1)));
        assert!(!soon(Some(121), 99.9) && !soon(None, 97.9));
        assert!(![Activity::Idle, Activity::Paused].iter().any(|state| print(*state, Some(0), 100.0).ends_soon()));
    }

    #[test]
    fn a_layer_is_told_by_two_numbers_that_go_together() {
        assert_eq!(PrintedLayer::told(Some(3.0), Some(120.0)), Some(PrintedLayer { number: 3, of: 120 }));
        for (number, of) in [(None, Some(3.0)), (Some(1.0), None), (Some(0.0), Some(0.0)), (Some(4.0), Some(3.0))] {
            assert_eq!(PrintedLayer::told(number, of), None);
        }
        assert_eq!(PrintedLayer::told(Some(1.0), Some(1e300)), None);
        assert_eq!(PrintedLayer::told(Some(f64::NAN), Some(3.0)), None);
    }

    #[test]
    fn absurd_numbers_are_not_known() {
        let absurd = Status {
            progress: 1e300,
            remaining_seconds: Some(i64::MAX),
            filament_mm: Some(1e300),
            nozzle: -1e300,
            bed: f64::NAN,
            ..Status::default()
        };
        let bounded = Status { progress: 100.0, ..Status::default() };
        assert_eq!(absurd.bounded(), bounded);
        let usual = Status { progress: 12.5, nozzle: 214.9, bed: 60.0, filament_mm: Some(12.345), ..Status::default() };
        assert_eq!(usual.clone().bounded(), usual);
    }
}
