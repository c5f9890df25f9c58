//! Photo of a finished print. It is due from the commit that ends the print until it is taken, or until the next print
//! starts, which would otherwise appear in the photo. Nothing depends on the photo.

use serde::{Deserialize, Serialize};

use super::{AttemptPhase, ManualPhase, Printer};
use crate::aggregate::{Confirmation, Decision, DecisionContext};
use crate::id::Id;
use crate::time::Timestamp;

/// Finished print to be photographed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PhotoDue {
    /// Attempt that ended.
    pub attempt: Id,
    /// Printed job.
    pub job: Id,
    /// Order that the job belongs to.
    pub order: Id,
    /// Name of the printed file on the printer.
    pub file_name: String,
    /// Time at which the end of the print was recorded.
    pub ended_at: Timestamp,
}

impl Printer {
    /// Completes a decision: makes a photo due for a print that has just ended, and discards it once the next print
    /// starts.
    pub(super) fn with_photo<A>(
        before: Option<&Self>,
        mut decision: Decision<Self, A>,
        cx: &DecisionContext<'_>,
    ) -> Decision<Self, A> {
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
        let may_have_begun = was.is_some_and(|was| !was.over() && !matches!(was.phase, AttemptPhase::Taken));
        match in_hand.phase {
            AttemptPhase::Ended { .. } | AttemptPhase::Stopped { .. }
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
            AttemptPhase::Ended { .. }
            | AttemptPhase::Stopped { .. }
            | AttemptPhase::NotStarted { .. }
            | AttemptPhase::Taken => {}
            _ => self.photo_due = None,
        }
    }

    /// Returns whether the printer may have a camera, because an operator configured one or the printer has not
    /// reported that it has none.
    fn may_have_camera(&self) -> bool {
        self.fields.camera.is_some() || !self.camera_absent
    }

    /// Records whether the printer reports a camera. Without a camera, no photo is due until an operator configures one
    /// or the printer reports one.
    pub(super) fn camera_told(mut self, has: bool, cx: &DecisionContext<'_>) -> Decision<Self> {
        let before = (self.camera_absent, self.photo_due.clone());
        self.camera_absent = !has;
        if !self.may_have_camera() {
            self.photo_due = None;
        }
        if (self.camera_absent, &self.photo_due) == (before.0, &before.1) {
            return Decision::unchanged(Confirmation::Done);
        }
        self.updated_at = cx.now;
        Decision::to(self, Confirmation::Done)
    }

    /// Clears the due photo after it was delivered to its order or abandoned.
    pub(super) fn photo_over(mut self, attempt: Id, cx: &DecisionContext<'_>) -> Decision<Self> {
        if self.photo_due.take_if(|due| due.attempt == attempt).is_none() {
            return Decision::unchanged(Confirmation::Done);
        }
        self.updated_at = cx.now;
        Decision::to(self, Confirmation::Done)
    }
}

#[cfg(test)]
mod tests;
