//! Record of one attempt to print a job.

use serde::{Deserialize, Serialize};

use super::Resolution;
use crate::amount::Amount;
use crate::id::Id;
use crate::sign_off::SignOff;
use crate::time::Timestamp;

/// State of an attempt. The last six are final.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptState {
    /// The order chose the printer; the printer has not confirmed yet.
    Claimed,
    /// The printer accepted the attempt and its file is being uploaded.
    Uploading,
    /// The start is being sent. Stored before the start goes out, so that a crash in between is not mistaken for
    /// "never started".
    StartSent,
    /// The printer was seen printing the attempt's file.
    Confirmed,
    /// The print ran to its end.
    Finished,
    /// The print began and failed, or an emergency stop ended the attempt.
    Failed,
    /// The print was cancelled at the printer, or the attempt before its start.
    Cancelled,
    /// The printer did not accept the attempt, or the upload failed: no start was sent.
    Refused,
    /// A start was sent, and it is certain that nothing was printed.
    NotStarted,
    /// Given up by an operator's forced cancel, regardless of what the printer did.
    Abandoned,
}

impl AttemptState {
    /// Returns whether the attempt is in a final state.
    pub fn over(self) -> bool {
        matches!(
            self,
            Self::Finished | Self::Failed | Self::Cancelled | Self::Refused | Self::NotStarted | Self::Abandoned
        )
    }
}

/// Parts of a print that left in one shipment of its order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Departure {
    /// Number of the shipment, from 1 within the order.
    pub shipment: u32,
    /// Number of parts, at least 1.
    pub quantity: u32,
}

/// One attempt to print one job on one printer. Attempts form a ledger: each is a separate row under the order's
/// version, added before anything is done at the printer and never removed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// Unique identifier; part of the file's name on the printer, which ties the printer's reports to this attempt.
    pub id: Id,
    /// Job that is attempted.
    pub job_id: Id,
    /// Order of that job.
    pub order_id: Id,
    /// Position within the job, counted from 1.
    pub number: u32,
    /// Printer that was claimed.
    pub printer_id: Id,
    /// Progress of the attempt, from the claim to its end.
    pub state: AttemptState,
    /// `true` while it is unknown whether the start had an effect or how a print that was seen ended. Neither the job
    /// nor the printer continues until evidence from the printer or an operator decides.
    #[serde(default)]
    pub unverified: bool,
    /// Operator's resolution that the printer has yet to acknowledge; `None` once its final report did so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<Resolution>,
    /// Human-readable reason why the attempt ended or cannot be verified.
    pub reason: Option<String>,
    /// Time at which the printer was first seen printing the file; `None` if it never was.
    pub started_at: Option<Timestamp>,
    /// `true` if the begin or the end of the print was not observed: its times do not measure its duration.
    #[serde(default)]
    pub unseen: bool,
    /// Time at which the attempt reached a final state.
    pub ended_at: Option<Timestamp>,
    /// Time at which the printer was claimed.
    pub created_at: Timestamp,
    /// Sign-off of the printed parts; `None` while it prints, if nothing was printed, and while a required sign-off is
    /// outstanding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sign_off: Option<SignOff>,
    /// Photo that the server took at the end of the print; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub photo_file_id: Option<Id>,
    /// `true` once the printer has reported how the parts were signed off at the machine, which it does once.
    #[serde(default)]
    pub signed_at_printer: bool,
    /// `true` if the job was printed again to replace this print: its parts do not count.
    #[serde(default)]
    pub withdrawn: bool,
    /// `true` if it was the first print of a job that replaces nothing; basis of the first-pass yield.
    #[serde(default)]
    pub first_pass: bool,
    /// Total consumption over all materials, which are counted in the same unit.
    #[serde(default)]
    pub used: Amount,
    /// Consumption by material. Empty for prints that ended before this field existed, which are then attributed to the
    /// job's first material.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used_of: Vec<(Id, Amount)>,
    /// Final progress of the print, 0 to 1; `None` while it prints, if nothing was printed, and in prints that ended
    /// before this field existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<f64>,
    /// Spools on which the printer itself booked the consumption in the external spool inventory; empty if it does not
    /// book or does not report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub booked_on: Vec<i64>,
    /// Shipments in which parts left, oldest first; in total at most the parts of the plate. Empty until parts leave.
    /// For prints whose parts left before this field existed, it is filled when the order is loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub departures: Vec<Departure>,
}

impl Attempt {
    /// Returns the print duration in milliseconds; `None` if it is unknown.
    pub fn took_ms(&self) -> Option<i64> {
        self.started_at.zip(self.ended_at).filter(|_| !self.unseen).map(|(start, end)| end.since(start))
    }

    /// Records the final progress of the print; ignores a value that is not a number.
    pub fn came_to(&mut self, progress: f64) {
        self.progress = progress.is_finite().then(|| progress.clamp(0.0, 1.0));
    }

    /// Returns whether a print is known to have begun and is over: only then can there be parts.
    pub fn printed(&self) -> bool {
        match self.state {
            AttemptState::Finished | AttemptState::Failed | AttemptState::Abandoned => true,
            AttemptState::Cancelled => self.started_at.is_some() || self.unseen,
            _ => false,
        }
    }
}
