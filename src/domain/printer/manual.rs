//! Print outside of any job, started by an operator through the server (`POST /api/printers/{id}/print`). While it is
//! being uploaded and started, the printer accepts no attempt, and the start is sent at most once.
//!
//! Once the printer has accepted the start, the print is treated like one that was started at the machine: it is
//! displayed but never interfered with.

use serde::{Deserialize, Serialize};

use super::{ManualPrintAnswer, Printer, UploadAnswer};
use crate::aggregate::{Confirmation, Decision, DecisionContext};
use crate::id::Id;
use crate::launch::FilamentSlot;
use crate::printer_status::{Activity, Connection, Status};
use crate::refusal::Refusal;
use crate::time::Timestamp;

/// Phase of a manual print.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum ManualPhase {
    /// The file is being uploaded, or is already on the printer. After a crash, it is uploaded again.
    Taken,
    /// The start was recorded just before it is sent, and is never sent again.
    StartSent {
        /// Time at which the start was recorded.
        at: Timestamp,
    },
}

/// Manual print being uploaded or started.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManualPrint {
    /// Identifier that the HTTP layer generated for the print, used to ignore duplicate requests.
    pub id: Id,
    /// File to upload; `None` if the file is already on the printer.
    pub file_id: Option<Id>,
    /// Name of the file on the printer.
    pub file_name: String,
    /// Slot chosen for each filament of the file; empty if the printer has no slots to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<Option<FilamentSlot>>,
    /// Current phase.
    pub phase: ManualPhase,
}

/// Reason why a manual print did not start, with a human-readable description.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "why", content = "words", rename_all = "snake_case")]
pub enum ManualFailure {
    /// The printer was no longer ready.
    Busy(String),
    /// The printer, or the connection to it, rejected the print.
    Refused(String),
    /// It is unknown whether the print started.
    Unclear(String),
}

/// Outcome of starting a manual print.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManualEnd {
    /// Identifier of the manual print; also part of the file's name on the printer.
    pub id: Id,
    /// Name of the file on the printer.
    pub file_name: String,
    /// Reason why the print did not start; `None` if the printer accepted the start.
    pub error: Option<ManualFailure>,
}

impl Printer {
    /// Accepts a manual print if the printer could take a job. A retry with the same identifier returns the same
    /// response.
    pub(super) fn print_manually(
        mut self,
        new: ManualPrint,
        cx: &DecisionContext<'_>,
    ) -> Result<Decision<Self, ManualPrintAnswer>, Refusal> {
        let is_known = self.manual.as_ref().is_some_and(|manual| manual.id == new.id)
            || self.last_manual.as_ref().is_some_and(|last| last.id == new.id);
        if is_known {
            return Ok(Decision::unchanged(ManualPrintAnswer { id: new.id }));
        }
        self.free()
            .map_err(|why| Refusal::conflict("printer_busy", format!("the printer cannot accept a print: {why}")))?;
        let id = new.id;
        self.manual = Some(new);
        self.updated_at = cx.now;
        Ok(Decision::to(self, ManualPrintAnswer { id }))
    }

    /// Processes a finished upload: records that the start is being sent, and returns [`UploadAnswer::Go`] only to this
    /// caller.
    pub(super) fn manual_uploaded(
        mut self,
        id: Id,
        remote_name: &str,
        cx: &DecisionContext<'_>,
    ) -> Decision<Self, UploadAnswer> {
        let could = self.could_start();
        let Some(manual) = self.manual.as_mut().filter(|one| one.id == id && one.phase == ManualPhase::Taken) else {
            return Decision::unchanged(UploadAnswer::Done);
        };
        remote_name.clone_into(&mut manual.file_name);
        self.updated_at = cx.now;
        if let Err(why) = could {
            self.manual_ends(Some(ManualFailure::Busy(format!("not started: the printer is {why}"))));
            return Decision::to(self, UploadAnswer::Done);
        }
        manual.phase = ManualPhase::StartSent { at: cx.now };
        Decision::to(self, UploadAnswer::Go)
    }

    /// Records the outcome of the start: the printer accepted it (`error` is `None`), or the print definitely did not
    /// start.
    pub(super) fn manual_over(mut self, id: Id, error: Option<&str>, cx: &DecisionContext<'_>) -> Decision<Self> {
        let Some(manual) = self.manual.as_ref().filter(|manual| manual.id == id) else {
            return Decision::unchanged(Confirmation::Done);
        };
        if error.is_none() {
            // Assumed to print until the next status says so; it must not pass for idle meanwhile.
            self.shows = Some(manual.file_name.clone());
            self.activity = Activity::Printing;
        }
        self.manual_ends(error.map(|words| ManualFailure::Refused(words.to_owned())));
        self.updated_at = cx.now;
        Decision::to(self, Confirmation::Done)
    }

    /// Ends a manual print whose start was not confirmed in time; the start is never sent again. The bed must be
    /// inspected before the next print.
    pub(super) fn manual_unclear(mut self, id: Id, cx: &DecisionContext<'_>) -> Decision<Self> {
        let Some(manual) = self.manual.as_ref().filter(|manual| manual.id == id) else {
            return Decision::unchanged(Confirmation::Done);
        };
        if manual.phase != ManualPhase::Taken {
            self.occupy_bed();
            let words = "the start was not confirmed; check the printer".to_owned();
            self.manual_ends(Some(ManualFailure::Unclear(words)));
            self.updated_at = cx.now;
            return Decision::to(self, Confirmation::Done);
        }
        Decision::unchanged(Confirmation::Done)
    }

    /// Ends the manual print as started if a status shows a print after the start was sent. A recorded start time in
    /// the future predates a clock change and is ignored.
    pub(super) fn manual_seen(&mut self, status: &Status, now: Timestamp) {
        let Some(ManualPrint { phase: ManualPhase::StartSent { at }, .. }) = &self.manual else { return };
        let on = matches!(status.state, Activity::Printing | Activity::Paused);
        if on && status.connection == Connection::Connected && (status.updated_at >= *at || *at > now) {
            self.manual_ends(None);
        }
    }

    /// Ends the manual print and stores its outcome.
    pub(super) fn manual_ends(&mut self, error: Option<ManualFailure>) {
        if let Some(ManualPrint { id, file_name, .. }) = self.manual.take() {
            self.last_manual = Some(ManualEnd { id, file_name, error });
        }
    }
}

#[cfg(test)]
mod tests;
