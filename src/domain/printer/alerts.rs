//! Alert mails to the operators about a printer that needs attention.

use super::{Printer, PrinterAnswer};
use crate::aggregate::{Decision, DecisionContext};
use crate::event::data::PrinterFailureSuspectedData;
use crate::id::Id;
use crate::mail::Mail;
use crate::mail::alert::AlertKind;

impl Printer {
    /// Builds the alert for a printer that cannot be reached.
    pub(super) fn lost_alert(&self, cx: &DecisionContext<'_>, reason: &str) -> Vec<Mail> {
        let name = &self.fields.name;
        let last_heard = self.last_seen_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
        let holds = if self.in_hand.is_some() {
            " It has a job in hand, which waits until the printer is heard again or an operator says what became of it."
        } else {
            ""
        };
        let text = format!("{name} cannot be reached: {reason}. It was last heard {last_heard}.{holds}\n");
        Mail::alert(cx, AlertKind::Printer, &format!("Printer lost: {name}"), &text)
    }

    /// Builds the alert for a printer that prints a file uploaded for a finished job, although this server did not
    /// start it.
    pub(super) fn leftover_alert(&self, cx: &DecisionContext<'_>, file: &str) -> Vec<Mail> {
        let name = &self.fields.name;
        let text = format!(
            "{name} prints {file}, which was sent to it for a job that is over. It was not started from here: printers may start a \
             file that is left on their storage after a loss of power, and people may start one at the printer. What it makes \
             counts for no order. Stop it at the printer if nobody wants it.\n"
        );
        Mail::alert(cx, AlertKind::Printer, &format!("Old file started by itself: {name}"), &text)
    }

    /// Builds the alert for a firmware that reports an error or has shut down.
    pub(super) fn fault_alert(&self, cx: &DecisionContext<'_>, words: &str) -> Vec<Mail> {
        let name = &self.fields.name;
        let text = format!(
            "The firmware of {name} reports: {words}\n\nNo other job starts on it until somebody has looked at it and \
             cleared its attention.\n"
        );
        Mail::alert(cx, AlertKind::Printer, &format!("Printer fault: {name}"), &text)
    }

    /// Alerts the operators that the pictures of the print in hand look like a failure. Ignored for an attempt that is
    /// over or no longer in hand.
    pub(super) fn failure_suspected(
        self,
        attempt: Id,
        percent: u8,
        paused: Option<bool>,
        cx: &DecisionContext<'_>,
    ) -> Decision<Self> {
        if self.in_hand.as_ref().is_none_or(|in_hand| in_hand.attempt != attempt || in_hand.over()) {
            return Decision::unchanged(PrinterAnswer::Done);
        }
        let name = &self.fields.name;
        let done = match paused {
            Some(true) => "It was paused: look at it, then resume or cancel it.",
            Some(false) => "It could not be paused: look at it now.",
            None => "It goes on: look at it.",
        };
        let text = format!("The failure detection is {percent} % sure that the print on {name} fails. {done}\n");
        let alert = Mail::alert(cx, AlertKind::Printer, &format!("A print seems to fail: {name}"), &text);
        let data = |printer| PrinterFailureSuspectedData { printer, percent, paused };
        let event = self.event_with(cx, "printer.failure_suspected", None, data);
        Decision::to(self, PrinterAnswer::Done).events([event]).created(alert)
    }
}
