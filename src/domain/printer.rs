//! A printer: what is said of it, how we stand with it, and the one attempt it has in hand.
//!
//! The start verdict (decisions §4, "a part is never started twice"): the attempt id is the file name, `start_sent`
//! is durable before the start goes out, and afterwards only evidence or a person decides. Telemetry is not kept
//! here ([`crate::domain::printer_status`]); only changes that matter are commands.

mod attempt;
mod command;
mod manual;
mod readiness;
mod rules;
mod seen;

#[cfg(test)]
mod tests;

pub use command::{Evidence, PrinterAnswer, PrinterCommand, PrinterEffect};
pub use manual::{Manual, ManualEnd, ManualFailure, ManualPhase};
pub use readiness::report_of;

use crate::domain::id::Id;
use crate::domain::printer_status::{Activity, Connection, PrintEnd};
use crate::domain::sku::{Dimensions, MachineType};
use crate::domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What may be said of a printer (production spec §2, decisions §6, §7).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PrinterFields {
    /// Shown name.
    pub name: String,
    /// Adapter type: `fw_rest`, `server_rest`, …; the edge has checked it against the registry.
    #[serde(rename = "type")]
    pub kind: String,
    /// Which machine.
    pub machine_type: MachineType,
    /// Base URL including port.
    pub base_url: String,
    /// Sealed; empty when none. Never returned.
    pub encrypted_api_key: String,
    /// For types that need one.
    pub serial: Option<String>,
    /// mm.
    pub build_volume: Option<Dimensions>,
    /// The bed clears itself: no `bed-cleared` is waited for.
    pub auto_clear: bool,
    /// What is loaded; `None` takes any.
    pub loaded_material_id: Option<Id>,
    /// Where it stands.
    pub location: Option<String>,
    /// Free words.
    pub tags: Vec<String>,
}

/// How far the attempt in hand is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Phase {
    /// Taken from the order; the upload is wanted. A crash here uploads again (same unique name).
    Taken,
    /// Aggregate before the start goes out; never sent again. The verdict is wanted.
    StartSent {
        /// When it was written.
        at: Timestamp,
    },
    /// Nobody can say whether it began; the printer takes no other. Evidence or an operator decides.
    Unverified {
        /// In plain words.
        reason: String,
    },
    /// The printer shows our file.
    Printing {
        /// Since.
        at: Timestamp,
    },
    /// Paused at the printer.
    Paused {
        /// The print began.
        at: Timestamp,
    },
    /// It began and is over; the order has not heard.
    Ended {
        /// How.
        end: PrintEnd,
        /// Filament used, mm.
        filament_mm: Option<f64>,
        /// 0 to 1.
        progress: f64,
        /// Words of the printer.
        reason: Option<String>,
    },
    /// Stopped in an emergency before it was seen to print; the order has not heard.
    Stopped {
        /// In plain words.
        reason: String,
    },
    /// It certainly did not and cannot start; the order has not heard.
    NotStarted {
        /// A start had been sent.
        start_sent: bool,
        /// It counts as a try.
        counts: bool,
        /// In plain words.
        reason: String,
    },
}

/// The one attempt a printer has in hand.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InHand {
    /// The attempt.
    pub attempt: Id,
    /// Its job.
    pub job: Id,
    /// Its order.
    pub order: Id,
    /// The file that is uploaded.
    pub file_id: Id,
    /// Its name on the printer, as we asked for it; unique to the attempt.
    pub file_name: String,
    /// The name the printer really uses (told by the upload).
    pub remote_name: Option<String>,
    /// How far.
    pub phase: Phase,
    /// Counts phase changes; the order acknowledges one by this number.
    pub step: u32,
    /// The last step that the order has heard of.
    pub heard: u32,
    /// A cancel is asked for.
    pub cancel: bool,
    /// The order has given it up: it must not print, and nobody waits for its end.
    #[serde(default)]
    pub unwanted: bool,
    /// How far the print was when last written, 0 to 1; written at each tenth, so that an end in silence is known roughly.
    #[serde(default)]
    pub progress: f64,
    /// When it was taken.
    pub taken_at: Timestamp,
}

/// What keeps a printer from the next job, beyond its own state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words of decisions §6")]
pub enum Attention {
    BedNotCleared,
    NeedsHome,
    Maintenance,
    PrintFailed,
    Unreachable,
    WrongKey,
    Unverified,
    ForeignPrint,
}

/// A printer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Printer {
    /// Identifier.
    pub id: Id,
    /// What is said of it.
    #[serde(flatten)]
    pub fields: PrinterFields,
    /// The attempt in hand.
    pub in_hand: Option<InHand>,
    /// A print by an operator's hand that is being uploaded or started.
    #[serde(default)]
    pub manual: Option<Manual>,
    /// What came of the last one.
    #[serde(default)]
    pub last_manual: Option<ManualEnd>,
    /// After a print, until it is cleared.
    pub bed_not_cleared: bool,
    /// After an emergency stop, until homed.
    pub needs_home: bool,
    /// Taken out of service, with a note.
    pub maintenance: Option<String>,
    /// The last print failed; cleared with the bed.
    pub print_failed: bool,
    /// An operator disconnected it.
    pub disconnected: bool,
    /// The last state that was told: what the dispatcher and the alerts go by.
    pub activity: Activity,
    /// How we stand with it.
    pub connection: Connection,
    /// The file that it prints or has paused, ours or not.
    pub shows: Option<String>,
    /// The last attempts that are over here, newest last: none of them is ever taken (again).
    #[serde(default)]
    pub past: Vec<Id>,
    /// When it was last stopped in an emergency: what it said before does not count as homed.
    #[serde(default)]
    pub stopped_at: Option<Timestamp>,
    /// It is in an outage that was announced (`printer.offline` once per outage).
    pub outage: bool,
    /// Last word from it.
    pub last_seen_at: Option<Timestamp>,
    /// Idle since; the longest idle is preferred.
    pub idle_since: Timestamp,
    /// Deleted: kept for history.
    pub archived: bool,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}
