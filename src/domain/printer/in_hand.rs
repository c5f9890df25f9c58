//! The attempt that a printer works on, and its phase.

use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::launch::{ChosenSlot, FilamentSlot};
use crate::printer_status::PrintEnd;
use crate::time::Timestamp;

/// Phase of the attempt in hand. Phases only move forward, each in a commit of its own.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum AttemptPhase {
    /// Accepted from the order; the file is to be uploaded. After a crash it is uploaded again, under the same unique
    /// name.
    Taken,
    /// Start recorded before it is sent; never sent again. Evidence of its outcome is due.
    StartSent {
        /// Time at which the start was recorded.
        at: Timestamp,
    },
    /// It is unknown whether the print began or, if it was seen ([`CurrentAttempt::began_at`]), how it ended. The
    /// printer takes no other attempt until evidence or an operator decides.
    Unverified {
        /// Human-readable reason it is unknown.
        reason: String,
    },
    /// The printer shows the attempt's file as printing.
    Printing {
        /// Time at which it was first seen printing.
        at: Timestamp,
    },
    /// The print is paused at the printer.
    Paused {
        /// Time at which the print was first seen printing.
        at: Timestamp,
    },
    /// The print began and is over; stored until the order has acknowledged it.
    Ended {
        /// Result of the print.
        end: PrintEnd,
        /// Filament used in millimetres; `None` if the printer does not report it.
        filament_mm: Option<f64>,
        /// Final progress, 0 to 1.
        progress: f64,
        /// The printer's own message about the end, if any.
        reason: Option<String>,
        /// `true` if the printer was out of sight before, so that the time of the end is unknown.
        #[serde(default)]
        unseen: bool,
    },
    /// An emergency stop came before the print was seen; stored until the order has acknowledged it.
    Stopped {
        /// Human-readable reason.
        reason: String,
    },
    /// Nothing was printed and nothing can start later; stored until the order has acknowledged it.
    NotStarted {
        /// `true` if a start had been sent.
        start_sent: bool,
        /// `true` if it counts as a refusal of the job by this printer rather than as an unrelated incident.
        counts: bool,
        /// Human-readable reason.
        reason: String,
    },
}

/// Attempt that a printer works on. A printer has at most one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CurrentAttempt {
    /// Identifier of the attempt, assigned by the order.
    pub attempt: Id,
    /// Job that is attempted.
    pub job: Id,
    /// Order of the job.
    pub order: Id,
    /// G-code file to upload.
    pub file_id: Id,
    /// Name under which the file is uploaded; unique to the attempt and never reused.
    pub file_name: String,
    /// Name that the printer assigned to the uploaded file; `None` before the upload.
    pub remote_name: Option<String>,
    /// Current phase.
    pub phase: AttemptPhase,
    /// Number of the current phase, from 1; the order acknowledges a report by it.
    pub step: u32,
    /// Last step that the order has acknowledged; the report is repeated while it is below `step`.
    #[serde(rename = "heard")]
    pub acknowledged_step: u32,
    /// `true` if the order requested cancellation, which happens at once before the start, and later once the printer
    /// shows the print.
    pub cancel: bool,
    /// `true` if the order has given up the attempt: the print is cancelled, and the printer is freed even if its end
    /// cannot be observed.
    #[serde(default)]
    pub unwanted: bool,
    /// Latest recorded progress, 0 to 1. A running print is recorded at each tenth only; when the print ends, and
    /// before an emergency stop is recorded, the latest observed value is.
    #[serde(default)]
    pub progress: f64,
    /// Print time in seconds, as stated in the file; `None` if it is not.
    #[serde(default)]
    pub estimated_seconds: Option<i64>,
    /// Token of the printer's server run, read before the start; it shows later whether the server has been restarted
    /// since. `None` if the printer provides none.
    #[serde(default)]
    pub server_mark: Option<String>,
    /// Time at which the file was first seen printing; `None` if it never was.
    #[serde(default)]
    pub began_at: Option<Timestamp>,
    /// Reason the print is assumed to be over although the printer did not report how it ended; its history is then
    /// queried. `None` while the printer shows the print or cannot be read.
    #[serde(default)]
    pub gone: Option<String>,
    /// `true` if the printer stopped responding during the print and has not been seen printing it since.
    #[serde(default)]
    pub out_of_sight: bool,
    /// Slots that it prints from, as chosen on acceptance.
    #[serde(default)]
    pub used_slots: Vec<ChosenSlot>,
    /// Number of the plate in the file, from 1; 0 in attempts that predate this field.
    #[serde(default)]
    pub plate: u32,
    /// Source slot of each filament of the file; `None` for one that the plate does not use. Empty if unknown.
    #[serde(default)]
    pub filament_slots: Vec<Option<FilamentSlot>>,
    /// Filament length in millimetres, as stated in the file; `None` if it is not.
    #[serde(default)]
    pub stated_mm: Option<f64>,
    /// Spools that were active at the printer during the print, if its own server books what it prints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub booked_on: Vec<i64>,
    /// Time of acceptance; in an offered attempt, the time at which the order claimed the printer.
    pub taken_at: Timestamp,
}
