//! Human-readable audit log: each entry is a sentence with a person, a verb and a subject, such as "Ada paused Curie".
//! The log stores acts and facts; sentences are written in the reader's language when they are shown.
//!
//! The verbs are one table ([`AuditedAct`]). Commands refer to their act by its variant, so every command has a verb.

mod acts;
pub mod chain;
mod groups;
mod kinds;
mod outcome;

pub use acts::AuditedAct;
pub use groups::{GroupedAct, chosen_groups};
pub use kinds::{AuditedKind, SubjectCase};
pub use outcome::outcome_label;

use serde_json::Value;

use self::acts::ActText;
use words::Language;
use words::staff::{audit as texts, audit_acts};

/// Action in the entries that sum up rejected requests without separate entries.
const COUNTED_ACTION: &str = "refused";
/// Outcome of a command that was carried out.
pub const DONE: &str = "done";
/// Placeholder for the subject in a verb: a character that no text contains.
pub(crate) const SUBJECT_MARK: &str = "\u{fdd0}";
/// Substrings of the fact names whose values are hidden.
const SECRET_WORDS: [&str; 6] = ["password", "secret", "token", "authorization", "cookie", "recovery"];
/// Minimum length, in characters, of a path segment that is treated as a possible secret.
const SECRET_CHARS: usize = 16;

/// Sentence about an audit log entry, without the actor's name at the start and without the subject's name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuditSentence {
    /// Words between the actor and the subject.
    pub before: String,
    /// Words after the subject; `None` if the sentence does not mention a subject.
    pub after: Option<String>,
}

impl AuditSentence {
    /// Returns the sentence for an entry. If the entry sums up rejected requests, `count` is their number.
    pub fn new(language: Language, action: &str, outcome: &str, count: Option<u64>) -> Self {
        let Some(act) = AuditedAct::parse(action) else {
            return Self { before: rejected(language, action, count), after: None };
        };
        let attempt = if outcome == DONE { None } else { act.attempt(language) };
        match attempt {
            Some(attempt) => Self::split(&texts::tried(language, &attempt)),
            None => Self::of_verb(language, &act.verb(language)),
        }
    }

    /// Creates the sentence about an act with this verb, in which [`SUBJECT_MARK`] stands for the subject.
    pub(crate) fn of_verb(language: Language, verb: &str) -> Self {
        Self::split(&texts::did(language, verb))
    }

    fn split(sentence: &str) -> Self {
        match sentence.split_once(SUBJECT_MARK) {
            Some((before, after)) => Self { before: before.to_owned(), after: Some(after.to_owned()) },
            None => Self { before: sentence.to_owned(), after: None },
        }
    }
}

/// Returns a description of a rejected request, or of a command that this version does not know.
fn rejected(language: Language, action: &str, count: Option<u64>) -> String {
    match (action, count) {
        (COUNTED_ACTION, Some(count)) => texts::rejected_counted(language, count),
        (COUNTED_ACTION, None) => texts::rejected_uncounted(language),
        ("POST /api/auth/login" | "POST /login", _) => texts::sign_in_failed(language),
        (request, _) if request.contains(' ') => texts::rejected(language, request),
        (command, _) => texts::unknown_command(language, command),
    }
}

impl AuditedAct {
    /// Returns the infinitive of the act's verb, in which [`SUBJECT_MARK`] stands for the subject; `None` if the act is
    /// never recorded when it fails.
    fn attempt(self, language: Language) -> Option<String> {
        Some(self.attempt_text()?.write(language, SUBJECT_MARK))
    }

    const fn attempt_text(self) -> Option<ActText> {
        use ActText::{Alone, Direct, Indirect};
        Some(match self {
            Self::PrinterPause => Direct(audit_acts::attempt_printer_pause),
            Self::PrinterResume => Indirect(audit_acts::attempt_printer_resume),
            Self::PrinterCancel => Indirect(audit_acts::attempt_printer_cancel),
            Self::PrinterGcode => Indirect(audit_acts::attempt_printer_gcode),
            Self::PrinterPutFile => Direct(audit_acts::attempt_printer_put_file),
            Self::PrinterDeleteFile => Indirect(audit_acts::attempt_printer_delete_file),
            Self::PrinterRestartFirmware => Indirect(audit_acts::attempt_printer_restart_firmware),
            Self::PrinterHome => Indirect(audit_acts::attempt_printer_home),
            Self::PrinterEmergencyStop => Direct(audit_acts::attempt_printer_emergency_stop),
            Self::AgentPausePrint => Alone(audit_acts::attempt_agent_pause_print),
            Self::AgentResumePrint => Alone(audit_acts::attempt_agent_resume_print),
            Self::AgentCancelPrint => Alone(audit_acts::attempt_agent_cancel_print),
            Self::AgentEmergencyStop => Alone(audit_acts::attempt_agent_emergency_stop),
            Self::AgentPrinterStatus => Alone(audit_acts::attempt_agent_printer_status),
            Self::AgentFarmStatus => Alone(audit_acts::attempt_agent_farm_status),
            Self::AgentOrderStatus => Alone(audit_acts::attempt_agent_order_status),
            Self::AgentStockLevel => Alone(audit_acts::attempt_agent_stock_level),
            Self::AgentLowStock => Alone(audit_acts::attempt_agent_low_stock),
            Self::AgentReleaseJob => Alone(audit_acts::attempt_agent_release_job),
            Self::AgentBedCleared => Alone(audit_acts::attempt_agent_bed_cleared),
            _ => return None,
        })
    }
}

/// Removes possible secrets from the facts of an entry: values whose names suggest a secret, and long path segments
/// other than identifiers, such as the token of a payment link.
pub fn hide_secrets(facts: &mut Value) {
    match facts {
        Value::Object(members) => {
            for (name, value) in members {
                let name = name.to_lowercase();
                if SECRET_WORDS.iter().any(|word| name.contains(word)) && !value.is_null() {
                    *value = Value::String("hidden".to_owned());
                } else if let (true, Some(path)) = (name == "path", value.as_str()) {
                    *value = Value::String(shorten(path));
                } else {
                    hide_secrets(value);
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(hide_secrets),
        _ => {}
    }
}

fn shorten(path: &str) -> String {
    let is_open = |segment: &str| segment.len() < SECRET_CHARS || segment.parse::<crate::id::Id>().is_ok();
    let is_word = |segment: &str| segment.chars().all(|char| char.is_ascii_lowercase() || char == '-');
    let segments = path.split('/').map(|segment| if is_open(segment) || is_word(segment) { segment } else { "…" });
    segments.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests;
