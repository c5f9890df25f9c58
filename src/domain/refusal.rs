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
        Self { class, code: code.to_owned(), message: message.into(), faults: Vec::new() }
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
        Self::faults(vec![Fault { path: path.to_owned(), message: message.into() }])
    }
    /// 400 for all these faults at once.
    pub fn faults(faults: Vec<Fault>) -> Self {
        let message = match faults.first() {
            Some(one) if faults.len() == 1 => format!("{}: {}", one.path, one.message),
            _ => format!("{} fields are not valid", faults.len()),
        };
        Self { class: Class::Invalid, code: "validation_failed".to_owned(), message, faults }
    }
    /// A state table says no: 409 `invalid_transition`.
    pub fn transition(what: &str, state: impl std::fmt::Display) -> Self {
        Self::conflict("invalid_transition", format!("{what} is not possible while {state}"))
    }
}

/// Collects faults of a body, so that all are told at once.
#[derive(Default, Debug)]
pub struct Faults(pub Vec<Fault>);

impl Faults {
    /// Notes a fault unless `ok`.
    pub fn check(&mut self, ok: bool, path: &str, message: impl Into<String>) -> &mut Self {
        if !ok {
            self.0.push(Fault { path: path.to_owned(), message: message.into() });
        }
        self
    }
    /// Refuses when anything was noted.
    pub fn refuse(self) -> Result<(), Refusal> {
        if self.0.is_empty() { Ok(()) } else { Err(Refusal::faults(self.0)) }
    }
}
