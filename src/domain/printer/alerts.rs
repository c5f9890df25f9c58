//! Alert emails to the operators about a printer that needs attention.

use super::Printer;
use crate::aggregate::{Confirmation, Decision, DecisionContext};
use crate::event::data::PrinterFailureSuspectedData;
use crate::id::Id;
use crate::mail::Mail;
use crate::mail::alert::AlertKind;
use crate::notation;
use words::staff::alerts as texts;

impl Printer {
    /// Builds the alert for a printer that cannot be reached.
    pub(super) fn lost_alert(&self, cx: &DecisionContext<'_>, reason: &str) -> Vec<Mail> {
        let name = &self.fields.name;
        Mail::alert(cx, AlertKind::Printer, |language| {
            let last_response = match self.last_seen_at {
                Some(at) => texts::last_response(language, &notation::date_and_time(language, &cx.rules.clock, at)),
                None => texts::never_responded(language),
            };
            let held = self.in_hand.is_some().then(|| texts::job_held(language));
            let sentences = [texts::unreachable(language, name, reason), last_response].into_iter().chain(held);
            (texts::unreachable_subject(language, name), sentences.collect::<Vec<_>>().join(" "))
        })
    }

    /// Builds the alert for a printer that is printing a file uploaded for a finished job, although the server did not
    /// start the print.
    pub(super) fn leftover_alert(&self, cx: &DecisionContext<'_>, file: &str) -> Vec<Mail> {
        let name = &self.fields.name;
        Mail::alert(cx, AlertKind::Printer, |language| {
            (texts::leftover_subject(language, name), texts::leftover(language, name, file))
        })
    }

    /// Builds the alert for firmware that has reported an error or shut down.
    pub(super) fn fault_alert(&self, cx: &DecisionContext<'_>, words: &str) -> Vec<Mail> {
        let name = &self.fields.name;
        Mail::alert(cx, AlertKind::Printer, |language| {
            (texts::fault_subject(language, name), texts::fault(language, name, words))
        })
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
        let advice = match paused {
            Some(true) => texts::print_paused,
            Some(false) => texts::print_not_paused,
            None => texts::print_continues,
        };
        let alert = Mail::alert(cx, AlertKind::Printer, |language| {
            let suspicion = texts::suspicion(language, &percent.to_string(), name);
            (texts::suspicion_subject(language, name), format!("{suspicion} {}", advice(language)))
        });
        let data = |printer| PrinterFailureSuspectedData { printer, percent, paused };
        let event = self.event_with(cx, "printer.failure_suspected", None, data);
        Decision::to(self, Confirmation::Done).events([event]).created(alert)
    }
}
