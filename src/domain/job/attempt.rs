//! The record of one attempt to print a job.

use serde::{Deserialize, Serialize};

use super::Resolution;
use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::sign_off::SignOff;
use crate::domain::time::Timestamp;

/// The state of an attempt. The last six are final.
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
    /// Given up by an operator's forced cancel, whatever the printer did.
    Abandoned,
}

impl AttemptState {
    /// Whether the attempt is in a final state.
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

/// One attempt to print one job on one printer. Attempts are a ledger: each is a row of its own under the order's
/// version, added before anything is done at the printer and never removed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// Identifier; part of the file's name on the printer, which ties what the printer reports to this attempt.
    pub id: Id,
    /// The job that is attempted.
    pub job_id: Id,
    /// The order of that job.
    pub order_id: Id,
    /// Position within the job, counted from 1.
    pub number: u32,
    /// The printer that was claimed.
    pub printer_id: Id,
    /// How far the attempt came.
    pub state: AttemptState,
    /// Whether it is unknown if the start had an effect or, of a print that was seen, how it ended. Neither the job nor
    /// the printer goes on until evidence of the printer or an operator decides.
    #[serde(default)]
    pub unverified: bool,
    /// An operator's decision on the attempt that the printer still has to be told; `None` once the printer
    /// acknowledged it with a final report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<Resolution>,
    /// Why the attempt ended, or why it cannot be verified, in words for people.
    pub reason: Option<String>,
    /// When the printer was first seen printing the file; `None` if it never was.
    pub started_at: Option<Timestamp>,
    /// Nobody saw when the print began, or when it ended: its times do not say how long it took.
    #[serde(default)]
    pub unseen: bool,
    /// When the attempt reached a final state.
    pub ended_at: Option<Timestamp>,
    /// When the printer was claimed.
    pub created_at: Timestamp,
    /// What was said of its parts; `None` while it prints, where nothing was printed, and while nobody has signed them
    /// off although somebody must.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sign_off: Option<SignOff>,
    /// The picture of its end that the server took; `None` while there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub photo_file_id: Option<Id>,
    /// Its printer has told how its parts were signed off there, which it does once.
    #[serde(default)]
    pub signed_at_printer: bool,
    /// The job was printed again in its place: its parts do not count.
    #[serde(default)]
    pub withdrawn: bool,
    /// It was the first print of a job that replaces nothing.
    #[serde(default)]
    pub first_pass: bool,
    /// What the print used of all its materials together; they are counted in the same unit.
    #[serde(default)]
    pub used: Amount,
    /// What the print used of each of its materials. Empty for a print that ended before this was kept; it was of the
    /// job's first material then, as far as anybody knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used_of: Vec<(Id, Amount)>,
    /// How far the print came, 0 to 1; `None` while it prints, where nothing was printed, and in prints that ended
    /// before this was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<f64>,
    /// The spools on which the printer itself booked what the print used in the system that knows spools; empty if it
    /// does not, or does not tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub booked_on: Vec<i64>,
    /// The shipments in which its parts left, oldest first; together at most the parts of the plate. Empty until parts
    /// of it leave, and in prints whose parts left before this was kept until the order is loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub departures: Vec<Departure>,
}

impl Attempt {
    /// How long the printer printed, in milliseconds; `None` where nobody knows.
    pub fn took_ms(&self) -> Option<i64> {
        self.started_at.zip(self.ended_at).filter(|_| !self.unseen).map(|(start, end)| end.since(start))
    }

    /// Notes how far its print came; what is no number is not noted.
    pub fn came_to(&mut self, progress: f64) {
        self.progress = progress.is_finite().then(|| progress.clamp(0.0, 1.0));
    }

    /// Whether a print began, as far as is known, and is over: only then can there be parts.
    pub fn printed(&self) -> bool {
        match self.state {
            AttemptState::Finished | AttemptState::Failed | AttemptState::Abandoned => true,
            AttemptState::Cancelled => self.started_at.is_some() || self.unseen,
            _ => false,
        }
    }
}
