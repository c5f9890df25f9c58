//! What people have a printer do past its jobs: who asked for it and what came of it.
//!
//! Such an act goes straight to the printer, which may refuse it or not answer. It is recorded afterwards, in the audit
//! log and as an event on the timeline of the order whose job the printer had in hand. It changes nothing else: what
//! the printer does then is seen by its watch.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Printer, PrinterAnswer};
use crate::domain::aggregate::{AuditFacts, Decision, DecisionContext};
use crate::domain::event::Event;
use crate::domain::event::data::{PrinterCommandData, PrinterData};
use crate::domain::id::Id;

/// Most characters of the facts and of the printer's words that are recorded.
const MAX_TEXT_CHARS: usize = 1000;

/// Something that a person has a printer do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// Pauses the running print.
    Pause,
    /// Goes on with a paused print.
    Resume,
    /// Ends the running or paused print.
    Cancel,
    /// Runs lines of G-code.
    Gcode,
    /// Puts a file on the printer.
    PutFile,
    /// Deletes a file on the printer.
    DeleteFile,
    /// Restarts the firmware, which ends a shutdown.
    RestartFirmware,
    /// Moves all axes to their end stops.
    Home,
    /// Cuts motors and heaters.
    EmergencyStop,
}

impl Act {
    /// Its name in the audit log.
    pub const fn action(self) -> &'static str {
        match self {
            Self::Pause => "printer.pause",
            Self::Resume => "printer.resume",
            Self::Cancel => "printer.cancel",
            Self::Gcode => "printer.gcode",
            Self::PutFile => "printer.put_file",
            Self::DeleteFile => "printer.delete_file",
            Self::RestartFirmware => "printer.restart_firmware",
            Self::Home => "printer.home",
            Self::EmergencyStop => "printer.emergency_stop",
        }
    }
}

/// An act and what came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ActRecord {
    /// What the printer was to do.
    pub act: Act,
    /// The lines of G-code, the name of the file; `None` where the act says it all.
    pub detail: Option<String>,
    /// The order and the job that the printer had in hand when it was asked.
    pub of: Option<(Id, Id)>,
    /// `None` when the printer did it; else the error's code and the printer's own words.
    pub error: Option<(String, String)>,
}

impl ActRecord {
    fn outcome(&self) -> &str {
        self.error.as_ref().map_or("done", |(code, _)| code)
    }

    /// What the audit log says besides the act's name.
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
    /// Records what a person had the printer do, and what came of it.
    pub(super) fn acted(self, record: &ActRecord, cx: &DecisionContext<'_>) -> Decision<Self> {
        let printer = PrinterData {
            printer_id: self.id,
            name: self.fields.name.clone(),
            last_seen_at: None,
            job_id: record.of.map(|(_, job)| job),
        };
        let data = PrinterCommandData {
            printer,
            command: record.act.action().trim_start_matches("printer.").to_owned(),
            outcome: record.outcome().to_owned(),
            error: record.error.as_ref().map(|(_, words)| cut(words)),
            detail: record.detail.as_deref().map(cut),
        };
        let order = record.of.map(|(order, _)| order);
        let event = Event::new(cx, "printer.commanded", ("printer", self.id), order, &data);
        Decision::to(self, PrinterAnswer::Done).events([event])
    }

    /// What keeps G-code and homing from the printer: the code and the words of a refusal. `None` when nothing prints
    /// and nothing is about to.
    pub fn print_in_the_way(&self) -> Option<(&'static str, &'static str)> {
        use super::Phase;
        let phase = self.in_hand.as_ref().filter(|in_hand| !in_hand.over()).map(|in_hand| &in_hand.phase);
        let on = matches!(phase, Some(Phase::Printing { .. } | Phase::Paused { .. } | Phase::Unverified { .. }));
        if on || self.foreign_print() {
            Some((
                "printing",
                "the printer prints, and this may spoil the print; with force: true it is done all the same",
            ))
        } else if phase.is_some() || self.manual.is_some() {
            Some(("printer_busy", "the printer is about to print; wait, or say force: true"))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests;
