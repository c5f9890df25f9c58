//! The picture of an ended print: due from the commit of its end until it is taken, or until the next print begins, of
//! which it would be a picture otherwise. It holds nothing up.

use serde::{Deserialize, Serialize};

use super::{ManualPhase, Phase, Printer, PrinterAnswer};
use crate::domain::aggregate::{Decision, DecisionContext};
use crate::domain::id::Id;
use crate::domain::time::Timestamp;

/// A print that has ended and of which a picture is to be taken.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PhotoDue {
    /// The attempt that ended.
    pub attempt: Id,
    /// The job that was printed.
    pub job: Id,
    /// The order of the job.
    pub order: Id,
    /// The file that was printed, by its name on the printer.
    pub file_name: String,
    /// When its end was recorded.
    pub ended_at: Timestamp,
}

impl Printer {
    /// Follows up on a decision: of a print that has just ended a picture is due, and of none once the next begins.
    pub(super) fn with_photo(
        before: Option<&Self>,
        mut decision: Decision<Self>,
        cx: &DecisionContext<'_>,
    ) -> Decision<Self> {
        if let (Some(before), Some(next)) = (before, &mut decision.next) {
            next.note_photo(before, cx);
        }
        decision
    }

    fn note_photo(&mut self, before: &Self, cx: &DecisionContext<'_>) {
        let manual_started =
            self.manual.as_ref().is_some_and(|manual| matches!(manual.phase, ManualPhase::StartSent { .. }));
        if self.foreign_print() || manual_started {
            self.photo_due = None;
        }
        let Some(in_hand) = &self.in_hand else { return };
        let was = before.in_hand.as_ref().filter(|was| was.attempt == in_hand.attempt);
        let may_have_begun = was.is_some_and(|was| !was.over() && !matches!(was.phase, Phase::Taken));
        match in_hand.phase {
            Phase::Ended { .. } | Phase::Stopped { .. }
                if may_have_begun && cx.rules.finish_photos && self.may_have_camera() =>
            {
                self.photo_due = Some(PhotoDue {
                    attempt: in_hand.attempt,
                    job: in_hand.job,
                    order: in_hand.order,
                    file_name: in_hand.file_name.clone(),
                    ended_at: cx.now,
                });
            }
            Phase::Ended { .. } | Phase::Stopped { .. } | Phase::NotStarted { .. } | Phase::Taken => {}
            _ => self.photo_due = None,
        }
    }

    /// Whether there may be a camera: a person set one, or the printer did not say that it has none.
    fn may_have_camera(&self) -> bool {
        self.fields.camera.is_some() || !self.camera_absent
    }

    /// The printer told whether it has a camera. Of one without nothing is due, until a person sets one or it tells of
    /// one.
    pub(super) fn camera_told(mut self, has: bool, cx: &DecisionContext<'_>) -> Decision<Self> {
        let before = (self.camera_absent, self.photo_due.clone());
        self.camera_absent = !has;
        if !self.may_have_camera() {
            self.photo_due = None;
        }
        if (self.camera_absent, &self.photo_due) == (before.0, &before.1) {
            return Decision::unchanged(PrinterAnswer::Done);
        }
        self.updated_at = cx.now;
        Decision::to(self, PrinterAnswer::Done)
    }

    /// The picture is taken and its order has it, or it was given up.
    pub(super) fn photo_over(mut self, attempt: Id, cx: &DecisionContext<'_>) -> Decision<Self> {
        if self.photo_due.take_if(|due| due.attempt == attempt).is_none() {
            return Decision::unchanged(PrinterAnswer::Done);
        }
        self.updated_at = cx.now;
        Decision::to(self, PrinterAnswer::Done)
    }
}

#[cfg(test)]
mod tests;
