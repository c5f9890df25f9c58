//! Record of one attempt to print a job.

use serde::{Deserialize, Serialize};

use super::Resolution;
use crate::amount::Amount;
use crate::id::Id;
use crate::refusal::Refusal;
use crate::sign_off::SignOff;
use crate::time::Timestamp;

/// State of an attempt. The last six are final.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptState {
    /// The order has chosen the printer, which has not confirmed yet.
    Claimed,
    /// The printer accepted the attempt and its file is being uploaded.
    Uploading,
    /// The start is being sent. Stored before the start is sent, so that a crash in between is not mistaken for "never
    /// started".
    StartSent,
    /// The printer was observed printing the attempt's file.
    Confirmed,
    /// The print ran to completion.
    Finished,
    /// The print started and failed, or an emergency stop ended the attempt.
    Failed,
    /// The print was cancelled at the printer, or the attempt was cancelled before its start.
    Cancelled,
    /// The printer did not accept the attempt, or the upload failed, so no start was sent.
    Refused,
    /// A start was sent, but definitely nothing was printed.
    NotStarted,
    /// The attempt was abandoned by an operator's forced cancellation, regardless of what the printer did.
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

/// Parts from a print that were sent in one of the order's shipments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Departure {
    /// Number of the shipment, starting at 1 within the order.
    pub shipment: u32,
    /// Number of parts, at least 1.
    pub quantity: u32,
}

/// Attempt to print one job on one printer. Attempts form an append-only record: each is a separate row under the
/// order's version, added before anything is done at the printer and never removed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// Unique identifier; part of the file's name on the printer, which links the printer's reports to the attempt.
    pub id: Id,
    /// Job being attempted.
    pub job_id: Id,
    /// Order that the job belongs to.
    pub order_id: Id,
    /// Position within the job, starting at 1.
    pub number: u32,
    /// Claimed printer.
    pub printer_id: Id,
    /// State of the attempt, from the claim to its end.
    pub state: AttemptState,
    /// `true` while it is unknown whether the start had an effect, or how an observed print has ended. Neither the job
    /// nor the printer continues until evidence from the printer, or an operator, settles the question.
    #[serde(default)]
    pub unverified: bool,
    /// Operator's resolution that the printer has not acknowledged yet; `None` once the printer's final report has
    /// acknowledged it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<Resolution>,
    /// `true` if the attempt printed nothing and its failure is attributed to the job on this printer, so that the
    /// printer is one that rejected the job. Never `true` for attempts that ended before this field existed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counts_as_refusal: bool,
    /// The printer's [`crate::printer::Printer::pardons`] when it accepted an attempt that it did not start. `None` if
    /// it did not accept the attempt, and for attempts that ended before this field existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pardons: Option<u32>,
    /// Human-readable reason why the attempt ended or cannot be verified.
    pub reason: Option<String>,
    /// Time at which the printer was first observed printing the file, if it ever was.
    pub started_at: Option<Timestamp>,
    /// `true` if the beginning or the end of the print was not observed, so that the recorded times do not show its
    /// duration.
    #[serde(default)]
    pub unseen: bool,
    /// Time at which the attempt reached a final state.
    pub ended_at: Option<Timestamp>,
    /// Time at which the printer was claimed.
    pub created_at: Timestamp,
    /// Sign-off of the printed parts; `None` during the print, if nothing was printed, and while a required sign-off is
    /// outstanding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sign_off: Option<SignOff>,
    /// Photo that the server took at the end of the print, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub photo_file_id: Option<Id>,
    /// `true` once the printer has reported how the parts were signed off at the machine, which it does only once.
    #[serde(default)]
    pub signed_at_printer: bool,
    /// `true` if the job was printed again to replace this print, whose parts are therefore not counted.
    #[serde(default)]
    pub withdrawn: bool,
    /// `true` if this was the first print of a job that does not replace rejected parts; used for the first-pass yield.
    #[serde(default)]
    pub first_pass: bool,
    /// Total consumption across all of the job's materials, which have the same unit.
    #[serde(default)]
    pub used: Amount,
    /// Consumption by material. Empty for prints that ended before this field existed, whose consumption is attributed
    /// to the job's primary material.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used_of: Vec<(Id, Amount)>,
    /// Final progress of the print, from 0 to 1; `None` during the print, if nothing was printed, and for prints that
    /// ended before this field existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<f64>,
    /// Spools from which the printer itself deducted the consumption in the external spool inventory; empty if the
    /// printer does not do so, or does not report it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub booked_on: Vec<i64>,
    /// Shipments in which parts of the print were sent, oldest first; the total is at most the number of parts on the
    /// plate. For prints whose parts were sent before this field existed, it is filled when the order is loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub departures: Vec<Departure>,
}

impl Attempt {
    /// Returns the print duration in milliseconds, if known.
    pub fn took_ms(&self) -> Option<i64> {
        self.started_at.zip(self.ended_at).filter(|_| !self.unseen).map(|(start, end)| end.since(start))
    }

    /// Records the final progress of the print; ignores NaN.
    pub fn came_to(&mut self, progress: f64) {
        self.progress = progress.is_finite().then(|| progress.clamp(0.0, 1.0));
    }

    /// Returns whether a print is known to have started and is over, which is required for there to be any parts.
    pub fn printed(&self) -> bool {
        match self.state {
            AttemptState::Finished | AttemptState::Failed | AttemptState::Abandoned => true,
            AttemptState::Cancelled => self.started_at.is_some() || self.unseen,
            // Whoever cleared the bed found parts of a print that nobody had seen.
            AttemptState::NotStarted => {
                self.sign_off.as_ref().is_some_and(|sign_off| !sign_off.automatic && sign_off.good > 0)
            }
            _ => false,
        }
    }

    /// Rejects an act on this attempt that a person meant for another one of the job: the attempt whose ID is `meant`,
    /// as text.
    pub fn check_subject(&self, meant: &str) -> Result<(), Refusal> {
        if self.id.to_string() == meant {
            return Ok(());
        }
        Err(Refusal::conflict("other_print", "this job has a newer print now; check it again"))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use crate::testing::id;
    use crate::testing::orders::OrderDecider;

    #[test]
    fn an_act_on_an_attempt_does_not_affect_the_next_one() {
        let mut desk = OrderDecider::sliced();
        desk.dispatch().unwrap();
        let attempt = desk.last();
        assert_eq!(attempt.check_subject(&attempt.id.to_string()), Ok(()));
        for meant in [id(777).to_string(), String::new()] {
            assert_eq!(attempt.check_subject(&meant).unwrap_err().code, "other_print", "{meant}");
        }
    }
}
