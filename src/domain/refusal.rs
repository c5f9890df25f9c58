//! A business "no". It is an answer, never a failure of an actor.

use serde::{Deserialize, Serialize};

/// What kind of "no"; `http/error.rs` alone knows which status each becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The command itself is wrong (400).
    Invalid,
    /// No such thing, or none that the caller may see (404).
    NotFound,
    /// The caller may not (403).
    Forbidden,
    /// The state of the thing says no (409).
    Conflict,
    /// The caller's version is stale (412).
    Stale,
    /// Well-formed, but refused (422).
    Unprocessable,
}

/// One fault of a field, with its dotted path (`lines.0.quantity`).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Fault {
    /// Dotted path of the field.
    pub path: String,
    /// What is wrong with it, in plain words.
    pub message: String,
}

/// The "no" and its reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What kind of "no".
    pub class: Class,
    /// Stable `snake_case` word for programs.
    pub code: String,
    /// Plain words for people.
    pub message: String,
    /// All faults of the body at once; only for [`Class::Invalid`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
}

impl Refusal {
    /// A refusal of this class.
    pub fn new(class: Class, code: &str, message: impl Into<String>) -> Self {
        Self { class, code: code.to_owned(), message: shortened(message.into(), MAX_MESSAGE_CHARS), faults: Vec::new() }
    }
    /// 404 for a thing of this kind (`order_not_found`).
    pub fn not_found(kind: &str) -> Self {
        Self::new(Class::NotFound, &format!("{kind}_not_found"), format!("no such {}", kind.replace('_', " ")))
    }
    /// 409.
    pub fn conflict(code: &str, message: impl Into<String>) -> Self {
        Self::new(Class::Conflict, code, message)
    }
    /// 403.
    pub fn forbidden(code: &str, message: impl Into<String>) -> Self {
        Self::new(Class::Forbidden, code, message)
    }
    /// 400 for one field.
    pub fn field(path: &str, message: impl Into<String>) -> Self {
        let mut faults = Faults::default();
        faults.note(path, message);
        Self::faults(faults)
    }
    /// 400 for all these faults at once.
    pub fn faults(Faults { found: faults, left_out, .. }: Faults) -> Self {
        let message = match &faults[..] {
            [one] if left_out == 0 => format!("{}: {}", one.path, one.message),
            _ if left_out > 0 => {
                format!("{} fields are not valid; the first {} are named", faults.len() + left_out, faults.len())
            }
            _ => format!("{} fields are not valid", faults.len()),
        };
        Self { class: Class::Invalid, code: "validation_failed".to_owned(), message, faults }
    }
    /// A state table says no: 409 `invalid_transition`.
    pub fn transition(what: &str, state: impl std::fmt::Display) -> Self {
        Self::conflict("invalid_transition", format!("{what} is not possible while {state}"))
    }
}

/// Most faults that are told of one request.
pub const MAX_FAULTS: usize = 50;
/// Most bytes that all faults of one request take in an answer, as JSON.
const MAX_FAULTS_BYTES: usize = 60_000;
/// A path names members that the caller chose, a message may repeat the caller's text: both are cut, in characters.
const MAX_PATH_CHARS: usize = 200;
const MAX_FAULT_CHARS: usize = 1_000;
/// Longest message of a refusal, in characters.
pub const MAX_MESSAGE_CHARS: usize = 2_000;

/// The faults of one request, collected so that all are told at once: the first [`MAX_FAULTS`] by name, the others by
/// number, so that an answer stays small whatever was sent.
#[derive(Default, Debug)]
pub struct Faults {
    found: Vec<Fault>,
    bytes: usize,
    left_out: usize,
}

impl Faults {
    /// Notes a fault.
    pub fn note(&mut self, path: &str, message: impl Into<String>) {
        if self.left_out > 0 || self.found.len() >= MAX_FAULTS {
            self.left_out += 1;
            return;
        }
        let path = shortened(path.to_owned(), MAX_PATH_CHARS);
        let message = shortened(message.into(), MAX_FAULT_CHARS);
        let bytes = self.bytes + written_len(&path) + written_len(&message) + r#"{"path":"","message":""},"#.len();
        if bytes > MAX_FAULTS_BYTES {
            self.left_out += 1;
            return;
        }
        self.bytes = bytes;
        self.found.push(Fault { path, message });
    }
    /// Notes a fault unless `ok`.
    pub fn check(&mut self, ok: bool, path: &str, message: impl Into<String>) -> &mut Self {
        if !ok {
            self.note(path, message);
        }
        self
    }
    /// Whether none was noted.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty() && self.left_out == 0
    }
    /// The faults of a part of the same request, after those of this one.
    pub fn append(&mut self, other: Self) {
        for fault in other.found {
            self.note(&fault.path, fault.message);
        }
        self.left_out += other.left_out;
    }
    /// Refuses when anything was noted.
    pub fn refuse(self) -> Result<(), Refusal> {
        if self.is_empty() { Ok(()) } else { Err(Refusal::faults(self)) }
    }
}

/// The text, cut after this many characters.
pub fn shortened(mut text: String, most: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// How many bytes a text takes when it is written as JSON.
fn written_len(text: &str) -> usize {
    let escaped = |c: char| match c {
        '"' | '\\' => 2,
        c if c.is_control() => 6,
        c => c.len_utf8(),
    };
    text.chars().map(escaped).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_bounded_in_number_and_size() {
        let mut few = Faults::default();
        few.note("a", "is required");
        assert_eq!(Refusal::faults(few).message, "a: is required");

        let mut many = Faults::default();
        (0..100_000).for_each(|n| many.note(&format!("m{n}"), "is not known"));
        let refusal = Refusal::faults(many);
        assert_eq!(refusal.faults.len(), MAX_FAULTS);
        assert_eq!(refusal.message, "100000 fields are not valid; the first 50 are named");

        let mut long = Faults::default();
        (0..50).for_each(|_| long.note(&"\u{1}".repeat(1_000_000), "\"".repeat(1_000_000)));
        let refusal = Refusal::faults(long);
        assert!(serde_json::to_string(&refusal).unwrap_or_default().len() < 64_000);
        assert!(refusal.faults.len() > 10);
    }
}
