//! A production job: one plate of one line of an order, and the ledger of its attempts.
//!
//! A job lives inside its order (the order's commits change it); its state table is decisions §4.

use crate::domain::amount::Amount;
use crate::domain::file::GcodeForm;
use crate::domain::id::Id;
use crate::domain::order::Resolution;
use crate::domain::printer_status::PrintEnd;
use crate::domain::sku::{Dimensions, MachineType};
use crate::domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// States on the wire (decisions §4).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum JobState {
    /// Made, its SKU, file or machine type not complete.
    #[serde(rename = "CREATED")]
    Created,
    /// Complete; the stock check is asked for.
    #[serde(rename = "VALIDATED")]
    Validated,
    /// Blocked; see [`Block`].
    #[serde(rename = "awaiting_manual_review")]
    AwaitingManualReview,
    /// Its stock is reserved and its G-code is there: waits for a printer.
    #[serde(rename = "SLICED")]
    Sliced,
    /// A printer is claimed; upload and start under way.
    #[serde(rename = "DISPATCHING")]
    Dispatching,
    /// The printer reports that it prints our file.
    #[serde(rename = "PRINTING")]
    Printing,
    /// Paused at the printer.
    #[serde(rename = "PAUSED")]
    Paused,
    /// Done.
    #[serde(rename = "COMPLETED")]
    Completed,
    /// Not done; may be retried.
    #[serde(rename = "FAILED")]
    Failed,
    /// Not wanted any more.
    #[serde(rename = "CANCELLED")]
    Cancelled,
}

/// Why a job awaits review.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    /// Not enough available.
    Material,
    /// Stock on hand is below the reorder point.
    ReorderPoint,
    /// The slicer failed.
    Slicing,
}

/// How the job stands with its material; the current claim is `(job, claim)`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stock {
    /// No claim.
    #[default]
    None,
    /// A claim is to be made; the material has not answered.
    Asked,
    /// The material keeps it in its line.
    InLine,
    /// Reserved.
    Held,
    /// To be settled: this much was consumed, the rest goes back.
    Settling {
        /// What the print used up.
        consumed: Amount,
    },
}

/// States of an attempt (decisions §4).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptState {
    /// The order gave the job to this printer.
    Claimed,
    /// The printer took it; its file is on the way.
    Uploading,
    /// Written before the start went out.
    StartSent,
    /// The printer showed our file.
    Confirmed,
    /// Printed to the end.
    Finished,
    /// Began and failed.
    Failed,
    /// Cancelled.
    Cancelled,
    /// The printer did not take it, or the upload failed: no start was sent.
    Refused,
    /// A start was sent, and it is certain that nothing began.
    NotStarted,
    /// Given up by an operator's word.
    Abandoned,
}

impl AttemptState {
    /// Nothing more will come of it.
    pub fn over(self) -> bool {
        matches!(
            self,
            Self::Finished | Self::Failed | Self::Cancelled | Self::Refused | Self::NotStarted | Self::Abandoned
        )
    }
}

/// One try of one job on one printer; a row of the order's ledger.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// Also part of the file's name on the printer.
    pub id: Id,
    /// The job.
    pub job_id: Id,
    /// Its order.
    pub order_id: Id,
    /// 1, 2, … within the job.
    pub number: u32,
    /// Where.
    pub printer_id: Id,
    /// How far.
    pub state: AttemptState,
    /// Whether nobody can say if the start happened; an operator or the printer's evidence decides.
    #[serde(default)]
    pub unverified: bool,
    /// An operator's word on it that its printer has not acknowledged with a final report yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<Resolution>,
    /// Why it ended (or why nobody can verify it), in plain words.
    pub reason: Option<String>,
    /// When the printer showed our file.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// When it was claimed.
    pub created_at: Timestamp,
}

/// One plate of one line of an order.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Identifier.
    pub id: Id,
    /// `JOB-000123`.
    pub number: i64,
    /// Counts the job's own changes.
    pub version: i64,
    /// Its order.
    pub order_id: Id,
    /// `ORD-000123` of its order.
    pub order_number: i64,
    /// Index of its line.
    pub line: u32,
    /// What is made.
    pub sku_id: Id,
    /// Its name, frozen.
    pub sku_name: String,
    /// What it is made of, frozen.
    pub material_id: Id,
    /// How much one plate needs.
    pub need: Amount,
    /// Which machines can make it, frozen.
    pub machine_type: MachineType,
    /// Size of the plate, mm, frozen.
    pub dimensions: Option<Dimensions>,
    /// The G-code, frozen; `None` keeps the job in CREATED.
    pub file_id: Option<Id>,
    /// In which form it is.
    #[serde(default)]
    pub file_form: GcodeForm,
    /// Length of filament the file says it takes, mm.
    pub file_filament_mm: Option<f64>,
    /// Print time the file says, seconds.
    pub estimated_seconds: Option<i64>,
    /// Where it stands.
    pub state: JobState,
    /// Why it awaits review.
    pub blocked_by: Option<Block>,
    /// The material's words on why it waits, for `waitingReason`.
    pub block_reason: Option<String>,
    /// How it stands with its material.
    pub stock: Stock,
    /// Number of the current claim; each new reservation counts it up.
    pub claim: u32,
    /// Earlier claims that are not settled yet, with what was consumed of each (the job was retried before its material answered).
    #[serde(default)]
    pub settling: Vec<(u32, Amount)>,
    /// Its material asked the reservation back while a print was on.
    #[serde(default)]
    pub recalled: bool,
    /// An operator released it past the reorder point.
    pub released: bool,
    /// 0 to 9, higher first.
    pub priority: u8,
    /// Wanted by.
    pub due_at: Option<Timestamp>,
    /// The live attempt's printer; after the end, where it ended.
    pub printer_id: Option<Id>,
    /// The live attempt.
    pub attempt_id: Option<Id>,
    /// Attempts since the last VALIDATED that came as far as an upload.
    pub tries: u32,
    /// Printers that those tries failed on; others are preferred.
    pub tried_on: Vec<Id>,
    /// All attempts, oldest first.
    pub attempts: Vec<Attempt>,
    /// A cancel waits for the printer.
    pub cancel_requested_at: Option<Timestamp>,
    /// Why it failed.
    pub error: Option<String>,
    /// What it used up, over all reservations.
    pub consumed: Amount,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Job {
    /// `JOB-000123`.
    pub fn number_text(&self) -> String {
        format!("JOB-{:06}", self.number)
    }
    /// COMPLETED, FAILED or CANCELLED.
    pub fn over(&self) -> bool {
        matches!(self.state, JobState::Completed | JobState::Failed | JobState::Cancelled)
    }
    /// The live attempt.
    pub fn live(&self) -> Option<&Attempt> {
        self.attempt_id.and_then(|id| self.attempts.iter().find(|a| a.id == id))
    }
    /// The name of an attempt's file on the printer: unique, never reused.
    pub fn file_name(&self, attempt: Id) -> String {
        format!("{}_{attempt}.{}", self.number_text(), self.file_form.ending())
    }
    /// What a print used up (decisions §4, consumption): to the end, the need corrected by the length that the printer says
    /// it used where it and the file tell; else the need times the progress (0 to 1).
    pub fn used(&self, end: PrintEnd, filament_mm: Option<f64>, progress: f64) -> Amount {
        match (end, filament_mm, self.file_filament_mm) {
            (PrintEnd::Finished, Some(used), Some(planned)) if used > 0.0 && planned > 0.0 => {
                self.need.scaled(used / planned)
            }
            (PrintEnd::Finished, ..) => self.need,
            (PrintEnd::Cancelled | PrintEnd::Failed, ..) => self.need.part(progress),
        }
    }
}

impl fmt::Display for JobState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Created => "CREATED",
            Self::Validated => "VALIDATED",
            Self::AwaitingManualReview => "awaiting_manual_review",
            Self::Sliced => "SLICED",
            Self::Dispatching => "DISPATCHING",
            Self::Printing => "PRINTING",
            Self::Paused => "PAUSED",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Cancelled => "CANCELLED",
        })
    }
}
