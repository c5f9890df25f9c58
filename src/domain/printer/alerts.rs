//! Alert emails to the operators about a printer that needs attention.

use super::Printer;
use crate::aggregate::{Confirmation, Decision, DecisionContext};
use crate::event::data::PrinterFailureSuspectedData;
use crate::id::Id;
use crate::mail::Mail;
use crate::mail::alert::AlertKind;

impl Printer {
    /// Builds the alert for a printer that cannot be reached.
    pub(super) fn lost_alert(&self, cx: &DecisionContext<'_>, reason: &str) -> Vec<Mail> {
        let name = &self.fields.name;
        let last_response = self.last_seen_at.map(|at| cx.rules.clock.date_and_time(at));
        let last_response = last_response
            .map_or_else(|| "It has never responded".to_owned(), |at| format!("It last responded on {at}"));
        let holds = if self.in_hand.is_some() {
            " Its current job is on hold until the printer responds again or an operator resolves the job."
        } else {
            ""
        };
        let text = format!("{name} cannot be reached: {reason}. {last_response}.{holds}\n");
        Mail::alert(cx, AlertKind::Printer, &format!("Printer unreachable: {name}"), &text)
    }

    /// Builds the alert for a printer that is printing a file uploaded for a finished job, although the server did not
    /// start the print.
    pub(super) fn leftover_alert(&self, cx: &DecisionContext<'_>, file: &str) -> Vec<Mail> {
        let name = &self.fields.name;
        let text = format!(
            "{name} is printing {file}, a file of a job that is over. The print was not started from here: some \
             printers restart a stored file after a power failure, or someone may have started it at the printer. \
             The parts do not count for any order. Stop it at the printer if it is not wanted.\n"
        );
        Mail::alert(cx, AlertKind::Printer, &format!("Unexpected print of an old file: {name}"), &text)
    }

    /// Builds the alert for firmware that has reported an error or shut down.
    pub(super) fn fault_alert(&self, cx: &DecisionContext<'_>, words: &str) -> Vec<Mail> {
        let name = &self.fields.name;
        let text = format!(
            "The firmware of {name} reports: {words}\n\nNo other job starts on it until someone has checked the \
             printer and confirmed that.\n"
        );
        Mail::alert(cx, AlertKind::Printer, &format!("Printer fault: {name}"), &text)
    }

    /// Alerts the operators that the camera images of the current print look like a failure. Ignored if the attempt is
    /// over or no longer in hand.
    pub(super) fn failure_suspected(
        self,
        attempt: Id,
        percent: u8,
        paused: Option<bool>,
        cx: &DecisionContext<'_>,
    ) -> Decision<Self> {
        if self.in_hand.as_ref().is_none_or(|in_hand| in_hand.attempt != attempt || in_hand.over()) {
            return Decision::unchanged(Confirmation::Done);
        }
        let name = &self.fields.name;
        let done = match paused {
            Some(true) => "The print was paused: check it, then resume or cancel it.",
            Some(false) => "The print could not be paused: check it now.",
            None => "The print continues: check it.",
        };
        let text = format!("Failure detection is {percent} % sure that the print on {name} is failing. {done}\n");
        let alert = Mail::alert(cx, AlertKind::Printer, &format!("Possible print failure: {name}"), &text);
        let data = |printer| PrinterFailureSuspectedData { printer, percent, paused };
        let event = self.event_with(cx, "printer.failure_suspected", None, data);
        Decision::to(self, Confirmation::Done).events([event]).created(alert)
    }
}
