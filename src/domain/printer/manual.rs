//! A print that an operator starts through us and that is no job (`POST /api/printers/{id}/print`): the printer takes no
//! attempt meanwhile, and the start goes out at most once.
//!
//! Once the printer has taken the start it is a print like one that somebody started at the printer: shown, never overridden.

use super::{Printer, PrinterAnswer};
use crate::domain::aggregate::{Decision, DecisionContext};
use crate::domain::id::Id;
use crate::domain::printer_status::{Activity, Connection, Status};
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// How far a manual print is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum ManualPhase {
    /// The file is on its way, or there already. A crash here uploads again.
    Taken,
    /// Aggregate before the start goes out; never sent again.
    StartSent {
        /// When it was written.
        at: Timestamp,
    },
}

/// A print by hand under way.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manual {
    /// Which; the edge makes it.
    pub id: Id,
    /// What to upload; `None`: the file is on the printer.
    pub file_id: Option<Id>,
    /// Its name on the printer.
    pub file_name: String,
    /// How far.
    pub phase: ManualPhase,
}

/// Why a manual print did not begin, in plain words.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "why", content = "words", rename_all = "snake_case")]
pub enum ManualFailure {
    /// The printer was not ready for it any more.
    Busy(String),
    /// The printer, or the way to it, said no.
    Refused(String),
    /// Nobody can say whether it began.
    Unclear(String),
}

/// What came of the last manual print.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManualEnd {
    /// Which.
    pub id: Id,
    /// The name on the printer.
    pub file_name: String,
    /// Why it did not begin; `None`: the printer took the start.
    pub error: Option<ManualFailure>,
}

impl Printer {
    /// Takes a manual print, when it could take a job.
    pub(super) fn print_manually(mut self, new: Manual, cx: &DecisionContext<'_>) -> Result<Decision<Self>, Refusal> {
        let known = self.manual.as_ref().is_some_and(|manual| manual.id == new.id)
            || self.last_manual.as_ref().is_some_and(|last| last.id == new.id);
        if known {
            return Ok(Decision::unchanged(PrinterAnswer::Manual(new.id)));
        }
        self.free()
            .map_err(|why| Refusal::conflict("printer_busy", format!("the printer cannot take a print: {why}")))?;
        let id = new.id;
        self.manual = Some(new);
        self.updated_at = cx.now;
        Ok(Decision::to(self, PrinterAnswer::Manual(id)))
    }

    /// The file is there: `start_sent` becomes durable, and exactly this caller hears `Go`.
    pub(super) fn manual_uploaded(mut self, id: Id, remote_name: &str, cx: &DecisionContext<'_>) -> Decision<Self> {
        let could = self.could_start();
        let Some(manual) = self.manual.as_mut().filter(|one| one.id == id && one.phase == ManualPhase::Taken) else {
            return Decision::unchanged(PrinterAnswer::Done);
        };
        remote_name.clone_into(&mut manual.file_name);
        self.updated_at = cx.now;
        if let Err(why) = could {
            self.manual_ends(Some(ManualFailure::Busy(format!("not started: the printer is {why}"))));
            return Decision::to(self, PrinterAnswer::Done);
        }
        manual.phase = ManualPhase::StartSent { at: cx.now };
        Decision::to(self, PrinterAnswer::Go)
    }

    /// It is known what came of it: the printer took the start, or it certainly did not begin.
    pub(super) fn manual_over(mut self, id: Id, error: Option<&str>, cx: &DecisionContext<'_>) -> Decision<Self> {
        let Some(manual) = self.manual.as_ref().filter(|manual| manual.id == id) else {
            return Decision::unchanged(PrinterAnswer::Done);
        };
        if error.is_none() {
            // It prints, as far as we know: a look will tell. Until then it must not pass for idle.
            self.shows = Some(manual.file_name.clone());
            self.activity = Activity::Printing;
        }
        self.manual_ends(error.map(|words| ManualFailure::Refused(words.to_owned())));
        self.updated_at = cx.now;
        Decision::to(self, PrinterAnswer::Done)
    }

    /// The start was not confirmed in time and is never sent again: somebody looks at the bed before the next print.
    pub(super) fn manual_unclear(mut self, id: Id, cx: &DecisionContext<'_>) -> Decision<Self> {
        let Some(manual) = self.manual.as_ref().filter(|manual| manual.id == id) else {
            return Decision::unchanged(PrinterAnswer::Done);
        };
        if manual.phase != ManualPhase::Taken {
            self.bed_not_cleared = true;
            let words = "the start was not confirmed; look at the printer".to_owned();
            self.manual_ends(Some(ManualFailure::Unclear(words)));
            self.updated_at = cx.now;
            return Decision::to(self, PrinterAnswer::Done);
        }
        Decision::unchanged(PrinterAnswer::Done)
    }

    /// A look at the printer shows that the start was taken.
    pub(super) fn manual_seen(&mut self, status: &Status) {
        let Some(Manual { phase: ManualPhase::StartSent { at }, .. }) = &self.manual else { return };
        let on = matches!(status.state, Activity::Printing | Activity::Paused);
        if on && status.connection == Connection::Connected && status.updated_at >= *at {
            self.manual_ends(None);
        }
    }

    /// Lays the manual print down.
    pub(super) fn manual_ends(&mut self, error: Option<ManualFailure>) {
        if let Some(Manual { id, file_name, .. }) = self.manual.take() {
            self.last_manual = Some(ManualEnd { id, file_name, error });
        }
    }
}

#[cfg(test)]
mod tests;
