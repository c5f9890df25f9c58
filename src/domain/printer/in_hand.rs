//! The attempt that a printer works on, and how far it came.

use serde::{Deserialize, Serialize};

use crate::domain::id::Id;
use crate::domain::launch::{ChosenSlot, FilamentSlot};
use crate::domain::printer_status::PrintEnd;
use crate::domain::time::Timestamp;

/// How far the attempt in hand came. Phases only move forward, each in a commit of its own.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Phase {
    /// Accepted from the order; the file is to be uploaded. After a crash it is uploaded again, under the same unique
    /// name.
    Taken,
    /// Recorded before the start is sent; never sent again. Evidence is to be found out.
    StartSent {
        /// When it was recorded.
        at: Timestamp,
    },
    /// It is unknown whether the print began or, if it was seen ([`InHand::began_at`]), how it ended. The printer takes
    /// no other attempt until evidence or an operator decides.
    Unverified {
        /// Why it is unknown, in words for people.
        reason: String,
    },
    /// The printer shows the attempt's file as printing.
    Printing {
        /// When it was first seen printing.
        at: Timestamp,
    },
    /// The print is paused at the printer.
    Paused {
        /// When the print was first seen printing.
        at: Timestamp,
    },
    /// The print began and is over; kept until the order has acknowledged it.
    Ended {
        /// How the print ended.
        end: PrintEnd,
        /// Filament used in millimetres; `None` if the printer does not tell.
        filament_mm: Option<f64>,
        /// How far the print came, 0 to 1.
        progress: f64,
        /// The printer's own words on the end, if it gave any.
        reason: Option<String>,
        /// The printer was out of sight before, so that nobody knows when it ended.
        #[serde(default)]
        unseen: bool,
    },
    /// An emergency stop came before the print was seen; kept until the order has acknowledged it.
    Stopped {
        /// Why, in words for people.
        reason: String,
    },
    /// It certainly printed nothing and cannot start later; kept until the order has acknowledged it.
    NotStarted {
        /// Whether a start had been sent.
        start_sent: bool,
        /// Whether it counts as a refusal of the job by this printer, rather than as an accident in between.
        counts: bool,
        /// Why, in words for people.
        reason: String,
    },
}

/// The attempt that a printer works on. A printer has at most one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InHand {
    /// Id of the attempt, given by the order.
    pub attempt: Id,
    /// The job that is attempted.
    pub job: Id,
    /// The order of the job.
    pub order: Id,
    /// The G-code file to upload.
    pub file_id: Id,
    /// The name under which the file is uploaded; unique to the attempt and never used again.
    pub file_name: String,
    /// The name that the printer gave to the uploaded file, as it answered; `None` before the upload.
    pub remote_name: Option<String>,
    /// How far it came.
    pub phase: Phase,
    /// Number of the current phase, counted from 1; the order acknowledges a report by it.
    pub step: u32,
    /// The last step that the order has acknowledged; the report is repeated while it is below `step`.
    pub heard: u32,
    /// Whether the order asked to cancel; carried out when the print shows, and at once before the start.
    pub cancel: bool,
    /// Whether the order has given the attempt up: the print is cancelled, and the printer is freed even if its end
    /// cannot be seen.
    #[serde(default)]
    pub unwanted: bool,
    /// The latest progress recorded, 0 to 1. While the print runs it is recorded at each tenth only; when the print
    /// ends, and before an emergency stop is recorded, the latest that was seen.
    #[serde(default)]
    pub progress: f64,
    /// Print time of the file in seconds, as the file states it; `None` if it does not.
    #[serde(default)]
    pub estimated_seconds: Option<i64>,
    /// A token of the run of the printer's server, taken before the start: it tells later whether the server has been
    /// restarted since. `None` if the printer gives none.
    #[serde(default)]
    pub server_mark: Option<String>,
    /// When the file was first seen printing; `None` if it never was.
    #[serde(default)]
    pub began_at: Option<Timestamp>,
    /// Why the print is taken to be over although the printer did not say how it ended; its history is then asked.
    /// `None` while the printer shows the print or cannot be read.
    #[serde(default)]
    pub gone: Option<String>,
    /// The printer fell silent during the print and has not been seen printing it since.
    #[serde(default)]
    pub out_of_sight: bool,
    /// The slots that it prints from, as they were chosen when it was accepted.
    #[serde(default)]
    pub used_slots: Vec<ChosenSlot>,
    /// Number of the plate in the file, from 1; 0 in attempts that were made before it was kept here.
    #[serde(default)]
    pub plate: u32,
    /// For each filament of the file the slot that it comes from; `None` for one that the plate does not use. Empty
    /// where nobody knows.
    #[serde(default)]
    pub filament_slots: Vec<Option<FilamentSlot>>,
    /// Length of filament in millimetres, as the file states it; `None` if it does not.
    #[serde(default)]
    pub stated_mm: Option<f64>,
    /// The spools that were active at the printer during the print, where its own server books what it prints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub booked_on: Vec<i64>,
    /// When it was accepted; on the way in, when the order claimed the printer.
    pub taken_at: Timestamp,
}
