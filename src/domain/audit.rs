//! Human-readable audit log: each entry is a sentence with a person, a verb and a subject, such as "Ada paused Curie".
//!
//! The verbs are one table ([`AuditedAct`]). Commands refer to their act by its variant, so every command has a verb.

mod acts;
mod kinds;

pub use acts::AuditedAct;
pub use kinds::AuditedKind;

use std::borrow::Cow;

use serde_json::Value;

/// Action of the entries that sum up rejected requests without entries of their own.
const COUNTED_ACTION: &str = "refused";
/// Outcome of a command that was carried out.
pub const DONE: &str = "done";
/// Placeholder for the subject in a verb.
const SUBJECT_MARK: &str = "{}";
/// Substrings of the fact names whose values are hidden.
const SECRET_WORDS: [&str; 6] = ["password", "secret", "token", "authorization", "cookie", "recovery"];
/// Minimum length, in characters, of a path segment that is treated as a possible secret.
const SECRET_CHARS: usize = 16;

/// Sentence about an audit log entry, without the actor's name at the start and without the subject's name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuditSentence {
    /// Words between the actor and the subject.
    pub before: Cow<'static, str>,
    /// Words after the subject; `None` if the sentence does not mention a subject.
    pub after: Option<Cow<'static, str>>,
}

impl AuditSentence {
    /// Returns the sentence for an entry. If the entry sums up rejected requests, `count` is their number.
    pub fn new(action: &str, outcome: &str, count: Option<u64>) -> Self {
        if let Some(act) = AuditedAct::parse(action) {
            let attempt = (outcome != DONE).then(|| act.attempt()).flatten();
            return match attempt {
                Some(attempt) => Self::split(format!("tried to {attempt}").into()),
                None => Self::split(act.verb().into()),
            };
        }
        Self { before: rejected(action, count), after: None }
    }

    /// Creates the sentence with the given words before and after the subject's name.
    pub(crate) fn around(before: impl Into<Cow<'static, str>>, after: &'static str) -> Self {
        Self { before: before.into(), after: Some(after.into()) }
    }

    fn split(verb: Cow<'static, str>) -> Self {
        match verb.split_once(SUBJECT_MARK) {
            Some((before, after)) => Self { before: before.to_owned().into(), after: Some(after.to_owned().into()) },
            None => Self { before: verb, after: None },
        }
    }
}

/// Returns a description of a rejected request, or of a command that this release does not have.
fn rejected(action: &str, count: Option<u64>) -> Cow<'static, str> {
    match (action, count) {
        (COUNTED_ACTION, Some(1)) => "sent one more request that was rejected".into(),
        (COUNTED_ACTION, Some(count)) => format!("sent {count} more requests that were rejected").into(),
        (COUNTED_ACTION, None) => "sent more requests that were rejected".into(),
        ("POST /api/auth/login" | "POST /login", _) => "failed to sign in".into(),
        (request, _) if request.contains(' ') => format!("sent a request that was rejected: {request}").into(),
        (command, _) => format!("gave the command {command}, which this release does not have").into(),
    }
}

impl AuditedAct {
    /// Returns the infinitive of the act's verb; `None` if the act is never recorded when it fails.
    pub fn attempt(self) -> Option<&'static str> {
        Some(match self {
            Self::PrinterPause => "pause {}",
            Self::PrinterResume => "resume {}",
            Self::PrinterCancel => "cancel the print on {}",
            Self::PrinterGcode => "run G-code on {}",
            Self::PrinterPutFile => "upload a file to {}",
            Self::PrinterDeleteFile => "delete a file on {}",
            Self::PrinterRestartFirmware => "restart the firmware of {}",
            Self::PrinterHome => "home {}",
            Self::PrinterEmergencyStop => "stop {} with the emergency stop",
            Self::AgentPausePrint => "pause a print through the agent",
            Self::AgentResumePrint => "resume a print through the agent",
            Self::AgentCancelPrint => "cancel a print through the agent",
            Self::AgentEmergencyStop => "stop a printer through the agent",
            Self::AgentPrinterStatus => "ask the agent about a printer",
            Self::AgentFarmStatus => "ask the agent about the floor",
            Self::AgentOrderStatus => "ask the agent about an order",
            Self::AgentStockLevel => "ask the agent about stock",
            Self::AgentLowStock => "ask the agent about low stock",
            Self::AgentReleaseJob => "release a job through the agent",
            Self::AgentBedCleared => "clear a bed through the agent",
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
