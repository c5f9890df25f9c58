//! Attempt that a printer is working on, and its phase.

use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::launch::{ChosenSlot, FilamentSlot};
use crate::printer_status::PrintEnd;
use crate::slot_label::SlotLabels;
use crate::time::Timestamp;

/// Phase of the attempt in hand. Phases only move forward, each in a separate commit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum AttemptPhase {
    /// Accepted from the order; the file has not been uploaded yet. After a crash, it is uploaded again under the same
    /// unique name.
    Taken,
    /// The start was recorded just before it is sent, and is never sent again. Evidence of its outcome is awaited.
    StartSent {
        /// Time at which the start was recorded.
        at: Timestamp,
    },
    /// It is unknown whether the print started or, if it was observed ([`CurrentAttempt::began_at`]), how it ended. The
    /// printer takes no further attempt until evidence or an operator settles the outcome.
    Unverified {
        /// Human-readable reason why the outcome is unknown.
        reason: String,
    },
    /// The printer reports that it is printing the attempt's file.
    Printing {
        /// Time at which the print was first observed printing.
        at: Timestamp,
    },
    /// The print is paused on the printer.
    Paused {
        /// Time at which the print was first observed printing.
        at: Timestamp,
    },
    /// The print started and is over; stored until the order has acknowledged the end.
    Ended {
        /// Result of the print.
        end: PrintEnd,
        /// Filament used, in millimetres, if the printer reports it.
        filament_mm: Option<f64>,
        /// Final progress, from 0 to 1.
        progress: f64,
        /// The printer's own message about the end, if any.
        reason: Option<String>,
        /// `true` if the printer was not observable before the end, which makes the time of the end unknown.
        #[serde(default)]
        unseen: bool,
    },
    /// An emergency stop occurred before the print was observed; stored until the order has acknowledged it.
    Stopped {
        /// Human-readable reason.
        reason: String,
    },
    /// Nothing was printed and nothing can start later; stored until the order has acknowledged it.
    NotStarted {
        /// `true` if a start had been sent.
        start_sent: bool,
        /// `true` if the failure is a rejection of the job by the printer rather than an unrelated incident.
        counts: bool,
        /// Human-readable reason.
        reason: String,
    },
}

/// Attempt that a printer is working on. A printer has at most one such attempt.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CurrentAttempt {
    /// Identifier of the attempt, assigned by the order.
    pub attempt: Id,
    /// Job being attempted.
    pub job: Id,
    /// Order that the job belongs to.
    pub order: Id,
    /// G-code file to upload.
    pub file_id: Id,
    /// Name under which the file is uploaded, unique to the attempt and never reused.
    pub file_name: String,
    /// Name that the printer assigned to the uploaded file; `None` before the upload.
    pub remote_name: Option<String>,
    /// Current phase.
    pub phase: AttemptPhase,
    /// Number of the current phase, starting at 1; the order uses it to acknowledge a report.
    pub step: u32,
    /// Last step acknowledged by the order; while it is below `step`, the report is resent.
    #[serde(rename = "heard")]
    pub acknowledged_step: u32,
    /// `true` if the order requested cancellation. Before the start, the attempt is cancelled immediately; afterwards,
    /// once the printer reports the print.
    pub cancel: bool,
    /// `true` if the order has abandoned the attempt: the print is cancelled, and the printer is freed even if the end
    /// of the print cannot be observed.
    #[serde(default)]
    pub unwanted: bool,
    /// Latest recorded progress, from 0 to 1. During a print, only each tenth is recorded; when the print ends, and
    /// before an emergency stop is recorded, the latest observed value is recorded.
    #[serde(default)]
    pub progress: f64,
    /// Print time in seconds, if stated in the file.
    #[serde(default)]
    pub estimated_seconds: Option<i64>,
    /// Token that identifies the run of the printer's server, read before the start, if the printer provides one. It
    /// shows later whether the server has been restarted in the meantime.
    #[serde(default)]
    pub server_mark: Option<String>,
    /// Time at which the file was first observed printing, if it has been.
    #[serde(default)]
    pub began_at: Option<Timestamp>,
    /// Reason why the print is assumed to be over although the printer did not report how it ended; the printer's
    /// history is then queried. `None` while the printer reports the print or cannot be read.
    #[serde(default)]
    pub gone: Option<String>,
    /// `true` if the printer stopped responding during the print and has not been observed printing it since.
    #[serde(default)]
    pub out_of_sight: bool,
    /// Slots used by the print, as chosen on acceptance.
    #[serde(default)]
    pub used_slots: Vec<ChosenSlot>,
    /// Labels of the printer's slots, used in sentences.
    #[serde(default, skip_serializing_if = "SlotLabels::is_numbers")]
    pub slot_labels: SlotLabels,
    /// Number of the plate in the file, starting at 1; 0 in attempts that predate this field.
    #[serde(default)]
    pub plate: u32,
    /// Slot for each filament of the file; `None` for filaments that the plate does not use. Empty if unknown.
    #[serde(default)]
    pub filament_slots: Vec<Option<FilamentSlot>>,
    /// Filament length in millimetres, if stated in the file.
    #[serde(default)]
    pub stated_mm: Option<f64>,
    /// Spools active on the printer during the print, if the printer's own server deducts its prints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub booked_on: Vec<i64>,
    /// The printer's [`super::Printer::pardons`] when it accepted the attempt; `None` in attempts that predate this
    /// field, and in an offered attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pardons: Option<u32>,
    /// Time at which the attempt was accepted; in an offered attempt, the time at which the order claimed the printer.
    pub taken_at: Timestamp,
}
