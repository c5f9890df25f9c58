//! Operators' direct actions on a printer, outside of its jobs: who requested each action, and its outcome.
//!
//! Such an action is sent directly to the printer, which may reject it or not respond. It is recorded afterwards, in
//! the audit log and as an event on the timeline of the order whose job the printer had in hand. Of a pause, its origin
//! is kept as well. The action changes nothing else in the record; its effect on the printer is observed by the
//! monitor.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Printer;
use crate::aggregate::{AuditFacts, Confirmation, Decision, DecisionContext};
use crate::audit::AuditedAct;
use crate::event::Event;
use crate::event::data::{PrinterCommandData, PrinterData};
use crate::id::Id;
use crate::printer_status::Activity;

/// Maximum length of the recorded details and of the printer's message, in characters.
const MAX_TEXT_CHARS: usize = 1000;

/// Direct action by an operator on a printer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DirectAction {
    /// Pauses the running print.
    Pause,
    /// Resumes a paused print.
    Resume,
    /// Cancels the running or paused print.
    Cancel,
    /// Runs lines of G-code.
    Gcode,
    /// Uploads a file to the printer.
    PutFile,
    /// Deletes a file on the printer.
    DeleteFile,
    /// Restarts the firmware, which ends a shutdown.
    RestartFirmware,
    /// Moves all axes to their end stops.
    Home,
    /// Turns off motors and heaters immediately.
    EmergencyStop,
}

impl DirectAction {
    /// Returns the audit log act for the action.
    pub const fn action(self) -> AuditedAct {
        match self {
            Self::Pause => AuditedAct::PrinterPause,
            Self::Resume => AuditedAct::PrinterResume,
            Self::Cancel => AuditedAct::PrinterCancel,
            Self::Gcode => AuditedAct::PrinterGcode,
            Self::PutFile => AuditedAct::PrinterPutFile,
            Self::DeleteFile => AuditedAct::PrinterDeleteFile,
            Self::RestartFirmware => AuditedAct::PrinterRestartFirmware,
            Self::Home => AuditedAct::PrinterHome,
            Self::EmergencyStop => AuditedAct::PrinterEmergencyStop,
        }
    }
}

/// Direct action and its outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ActRecord {
    /// Requested action.
    pub act: DirectAction,
    /// Lines of G-code or file name, if the action needs either.
    pub detail: Option<String>,
    /// Order and job that the printer had in hand when the action was requested.
    pub of: Option<(Id, Id)>,
    /// Error code and the printer's message; `None` if the printer carried out the action.
    pub error: Option<(String, String)>,
}

impl ActRecord {
    fn outcome(&self) -> &str {
        self.error.as_ref().map_or("done", |(code, _)| code)
    }

    /// Returns the outcome and the details for the audit log.
    pub fn audit_facts(&self) -> AuditFacts {
        let words = self.error.as_ref().map(|(_, words)| cut(words));
        let job = self.of.map(|(_, job)| job);
        let facts = json!({"detail": self.detail.as_deref().map(cut), "error": words, "jobId": job});
        AuditFacts { outcome: self.outcome().to_owned(), detail: Some(facts.to_string()) }
    }
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_TEXT_CHARS).collect()
}

impl Printer {
    /// Records a direct action and its outcome as an event.
    pub(super) fn acted(mut self, record: &ActRecord, cx: &DecisionContext<'_>) -> Decision<Self> {
        let printer = PrinterData {
            printer_id: self.id,
            name: self.fields.name.clone(),
            last_seen_at: None,
            job_id: record.of.map(|(_, job)| job),
        };
        let data = PrinterCommandData {
            printer,
            command: record.act.action().name().trim_start_matches("printer.").to_owned(),
            outcome: record.outcome().to_owned(),
            error: record.error.as_ref().map(|(_, words)| cut(words)),
            detail: record.detail.as_deref().map(cut),
        };
        self.pause_requested(record, cx.by, cx.now);
        let order = record.of.map(|(order, _)| order);
        let event = Event::new(cx, "printer.commanded", ("printer", self.id), order, &data);
        Decision::to(self, Confirmation::Done).events([event])
    }

    /// Returns the code and message with which G-code and homing are rejected to protect a print; `None` if nothing is
    /// printing or about to print. `current` is what the printer has just reported; `None` if it was not asked. A
    /// printer that was asked and did not respond may be printing: nothing is sent to it, regardless of this result.
    pub fn print_in_the_way(&self, current: Option<Activity>) -> Option<(&'static str, &'static str)> {
        use super::AttemptPhase;
        let phase = self.in_hand.as_ref().filter(|in_hand| !in_hand.over()).map(|in_hand| &in_hand.phase);
        let on = matches!(
            phase,
            Some(AttemptPhase::Printing { .. } | AttemptPhase::Paused { .. } | AttemptPhase::Unverified { .. })
        );
        let is_seen = matches!(current, Some(Activity::Printing | Activity::Paused));
        if on || is_seen || self.foreign_print() {
            Some((
                "printing",
                "the printer is printing, and this can spoil the print; send force: true to do it anyway",
            ))
        } else if phase.is_some() || self.manual.is_some() {
            Some(("printer_busy", "the printer is about to print; wait, or send force: true"))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests;
