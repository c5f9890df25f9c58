//! Last print of a printer, stored until an operator signs off its parts.
//!
//! Clearing the bed signs off the last print. The printer stores the inspection and reports it to the order until the
//! order has acknowledged it, and only after the order has recorded the end of the print. The parts on the bed are
//! attributed to the last print only until something else is printed: any later print, whether for a job or not,
//! replaces it.

use serde::{Deserialize, Serialize};

use super::{AttemptPhase, ManualPhase, Printer, PrinterAnswer, PrinterEffect};
use crate::aggregate::{Confirmation, Decision, DecisionContext};
use crate::id::Id;
use crate::refusal::Refusal;
use crate::sign_off::Inspection;
use crate::time::Timestamp;

/// Maximum number of sign-offs waiting for their orders to acknowledge them. Any more are rejected until one is
/// acknowledged.
const MAX_WAITING_SIGN_OFFS: usize = 4;

/// Finished job print that has not been signed off at the printer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastPrint {
    /// Attempt that ended.
    pub attempt: Id,
    /// Printed job.
    pub job: Id,
    /// Order that the job belongs to.
    pub order: Id,
}

/// Print signed off at the printer, but not yet acknowledged by its order.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignedPrint {
    /// Attempt with its job and order.
    #[serde(flatten)]
    pub print: LastPrint,
    /// Result of the inspection of the print's parts.
    #[serde(rename = "said")]
    pub inspection: Inspection,
    /// Principal who inspected the parts, as text.
    pub by: String,
    /// Time of the inspection.
    pub at: Timestamp,
}

impl Printer {
    /// Completes a decision: a print that has just ended becomes the last print, and the next print that starts
    /// replaces it.
    pub(super) fn with_last_print<A>(before: Option<&Self>, mut decision: Decision<Self, A>) -> Decision<Self, A> {
        let (Some(before), Some(next)) = (before, &mut decision.next) else { return decision };
        next.note_last_print(before);
        decision
    }

    fn note_last_print(&mut self, before: &Self) {
        let manual_started =
            self.manual.as_ref().is_some_and(|manual| matches!(manual.phase, ManualPhase::StartSent { .. }));
        if self.foreign_print() || manual_started {
            self.last_print = None;
            return;
        }
        let Some(in_hand) = &self.in_hand else { return };
        let was = before.in_hand.as_ref().filter(|was| was.attempt == in_hand.attempt);
        // Before its start was sent, nothing of an attempt can be on the bed.
        let may_have_begun = was.is_some_and(|was| !was.over() && !matches!(was.phase, AttemptPhase::Taken));
        if may_have_begun && matches!(in_hand.phase, AttemptPhase::Ended { .. } | AttemptPhase::Stopped { .. }) {
            let (attempt, job, order) = (in_hand.attempt, in_hand.job, in_hand.order);
            self.last_print = Some(LastPrint { attempt, job, order });
        } else if in_hand.began().is_some() && was.is_none_or(|was| was.began().is_none()) {
            self.last_print = None;
        }
    }

    /// Marks the bed as clear, which signs off the last print. An inspection is rejected if there is no print that it
    /// applies to, so that it is not lost.
    pub(super) fn bed_cleared(
        self,
        inspection: &Inspection,
        cx: &DecisionContext<'_>,
    ) -> Result<Decision<Self, PrinterAnswer>, Refusal> {
        inspection.check(&cx.rules.quality)?;
        if self.last_print.is_none() && !inspection.says_nothing() {
            let words = "this printer has no print awaiting sign-off; sign off the job instead";
            return Err(Refusal::conflict("nothing_to_sign_off", words));
        }
        let full = self.signed_prints.len() >= MAX_WAITING_SIGN_OFFS;
        if full && !inspection.says_nothing() {
            let words = "earlier sign-offs have not reached their orders yet; try again in a moment";
            return Err(Refusal::conflict("sign_offs_waiting", words));
        }
        let (by, at) = (cx.by.to_string(), cx.now);
        let clear = |printer: &mut Self| {
            (printer.bed_not_cleared, printer.print_failed) = (false, false);
            // The bed can always be cleared; a print that is not signed off by it is signed off at its job.
            if let Some(print) = printer.last_print.take().filter(|_| !full) {
                printer.signed_prints.push(SignedPrint { print, inspection: inspection.clone(), by, at });
            }
        };
        Ok(self.say(cx, clear, Some("printer.bed_cleared")).requires(inspection.requires()))
    }

    /// Rejects deletion while a sign-off has not been acknowledged by its order, because it would never be reported
    /// otherwise.
    pub(super) fn has_told_sign_offs(&self) -> Result<(), Refusal> {
        if self.signed_prints.is_empty() {
            return Ok(());
        }
        let words = "an earlier sign-off has not reached its order yet; try again in a moment";
        Err(Refusal::conflict("printer_busy", words))
    }

    /// Discards a sign-off that the order has acknowledged.
    pub(super) fn signed_off(mut self, attempt: Id, cx: &DecisionContext<'_>) -> Decision<Self> {
        let before = self.signed_prints.len();
        self.signed_prints.retain(|signed| signed.print.attempt != attempt);
        if self.signed_prints.len() == before {
            return Decision::unchanged(Confirmation::Done);
        }
        self.updated_at = cx.now;
        Decision::to(self, Confirmation::Done)
    }

    /// Returns the sign-offs that can be reported now, which are the sign-offs of prints whose end has been
    /// acknowledged by their orders.
    pub(super) fn sign_offs_to_tell(&self) -> impl Iterator<Item = PrinterEffect> + use<'_> {
        let in_hand = self.in_hand.as_ref().map(|in_hand| in_hand.attempt);
        let attempts = self.signed_prints.iter().map(|signed| signed.print.attempt);
        attempts.filter(move |attempt| in_hand != Some(*attempt)).map(|attempt| PrinterEffect::TellSignOff { attempt })
    }
}

#[cfg(test)]
mod tests;
