//! A refusal: the rejection of a command by a rule. It is a response to the caller, never a failure of the actor.

use serde::{Deserialize, Serialize};

/// Kind of refusal. Only `http/error.rs` maps it to an HTTP status, shown here in parentheses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The command itself is invalid (400).
    Invalid,
    /// The record does not exist, or the caller may not see it (404).
    NotFound,
    /// The caller is not permitted to issue the command (403).
    Forbidden,
    /// The current state does not allow the command (409).
    Conflict,
    /// The record has changed since the caller read it (412).
    Stale,
    /// The command is well-formed but cannot be accepted (422).
    Unprocessable,
    /// The record existed but no longer does (410).
    Gone,
}

/// Error in a single field of a request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Fault {
    /// Dotted path of the invalid field (`lines.0.quantity`).
    pub path: String,
    /// Human-readable description of the error, phrased to follow the path.
    pub message: String,
}

/// Rejection of a command, with the reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// Kind of refusal.
    pub class: Class,
    /// Stable `snake_case` code for programs.
    pub code: String,
    /// Human-readable reason, in lowercase and without a full stop.
    pub message: String,
    /// All errors in the request; only for [`Class::Invalid`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
}

/// Returns the display name of a kind of record, such as "API key" for `api_key`.
pub fn kind_in_words(kind: &str) -> String {
    match kind {
        "api_key" => "API key".to_owned(),
        "sku" => "SKU".to_owned(),
        other => other.replace('_', " "),
    }
}

impl Refusal {
    /// Creates a refusal of the given kind; the message is truncated to [`MAX_MESSAGE_CHARS`].
    pub fn new(class: Class, code: &str, message: impl Into<String>) -> Self {
        Self { class, code: code.to_owned(), message: shortened(message.into(), MAX_MESSAGE_CHARS), faults: Vec::new() }
    }
    /// Creates a 404 for a record of the given kind, with the code `<kind>_not_found`.
    pub fn not_found(kind: &str) -> Self {
        Self::new(Class::NotFound, &format!("{kind}_not_found"), format!("no such {}", kind_in_words(kind)))
    }
    /// Creates a 409 with the given code.
    pub fn conflict(code: &str, message: impl Into<String>) -> Self {
        Self::new(Class::Conflict, code, message)
    }
    /// Creates a 403 with the given code.
    pub fn forbidden(code: &str, message: impl Into<String>) -> Self {
        Self::new(Class::Forbidden, code, message)
    }
    /// Creates a 400 for one field.
    pub fn field(path: &str, message: impl Into<String>) -> Self {
        let mut faults = Faults::default();
        faults.note(path, message);
        Self::faults(faults)
    }
    /// Creates a single 400 for all the given errors.
    pub fn faults(Faults { entries: faults, left_out, .. }: Faults) -> Self {
        let message = match &faults[..] {
            [one] if left_out == 0 => format!("{}: {}", one.path, one.message),
            _ if left_out > 0 => {
                format!("{} fields are invalid; the first {} are listed", faults.len() + left_out, faults.len())
            }
            _ => format!("{} fields are invalid", faults.len()),
        };
        Self { class: Class::Invalid, code: "validation_failed".to_owned(), message, faults }
    }
    /// Creates a 409 `invalid_transition`: the state table does not allow the action in the current state. `what` is a
    /// clause such as "the invoice cannot be voided".
    pub fn transition(what: &str, state: impl std::fmt::Display) -> Self {
        Self::conflict("invalid_transition", format!("{what} while its status is {state}"))
    }
}

/// Maximum number of errors listed together, in one refusal and when the settings are read at startup.
pub const MAX_FAULTS: usize = 50;
/// Maximum total length of the errors in one refusal, in bytes of JSON.
const MAX_FAULTS_BYTES: usize = 60_000;
/// Maximum length of an error's path, in characters. Like its message, it may contain text from the caller and is
/// therefore truncated.
const MAX_PATH_CHARS: usize = 200;
const MAX_FAULT_CHARS: usize = 1_000;
/// Maximum length of a refusal's message, in characters.
pub const MAX_MESSAGE_CHARS: usize = 2_000;

/// Problems found in a request, collected so that the caller sees them all at once. Lists the first [`MAX_FAULTS`] and
/// only counts the rest, which keeps the response small.
#[derive(Default, Debug)]
pub struct Faults {
    entries: Vec<Fault>,
    bytes: usize,
    left_out: usize,
}

impl Faults {
    /// Adds an error in the field at `path`, such as `lines[0].quantity`.
    pub fn note(&mut self, path: &str, message: impl Into<String>) {
        if self.left_out > 0 || self.entries.len() >= MAX_FAULTS {
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
        self.entries.push(Fault { path, message });
    }
    /// Adds an error if `ok` is false.
    pub fn check(&mut self, ok: bool, path: &str, message: impl Into<String>) -> &mut Self {
        if !ok {
            self.note(path, message);
        }
        self
    }
    /// Returns whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.left_out == 0
    }
    /// Returns whether an error in the given field has already been recorded.
    pub fn names(&self, path: &str) -> bool {
        self.entries.iter().any(|fault| fault.path == path)
    }
    /// Adds the errors from another part of the same request.
    pub fn append(&mut self, other: Self) {
        for fault in other.entries {
            self.note(&fault.path, fault.message);
        }
        self.left_out += other.left_out;
    }
    /// Rejects the request if there are any errors.
    pub fn refuse(self) -> Result<(), Refusal> {
        if self.is_empty() { Ok(()) } else { Err(Refusal::faults(self)) }
    }
}

/// Returns the text truncated to the given number of characters.
pub fn shortened(mut text: String, most: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Maximum length of the text after the first sentence of a printer's message, in characters.
const MAX_DETAILS_CHARS: usize = 4_000;

/// Splits a printer's message into its first sentence, without the full stop, and the rest. A sentence ends at the end
/// of its line, or at a punctuation mark that is followed by a capital letter.
pub fn first_sentence(text: &str) -> (String, Option<String>) {
    let text = text.trim();
    let line = text.find(['\r', '\n']).unwrap_or(text.len());
    let starts = |from: usize| text[from..].strip_prefix(' ').is_some_and(|rest| rest.starts_with(char::is_uppercase));
    let mark = text[..line].char_indices().find(|(at, c)| matches!(c, '.' | '!' | '?') && starts(at + 1));
    let end = mark.map_or(line, |(at, _)| at + 1);
    let (first, rest) = (text[..end].trim_end().trim_end_matches('.'), text[end..].trim());
    let details = (!rest.is_empty()).then(|| shortened(rest.replace("\r\n", "\n"), MAX_DETAILS_CHARS));
    (first.to_owned(), details)
}

/// Returns the length of a text, in bytes, when written as JSON.
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
    fn a_sentence_ends_with_its_line_or_before_a_capital_letter() {
        for (text, first, rest) in [
            ("the print failed", "the print failed", None),
            (
                "Heater extruder not heating at expected rate\r\nSee the 'verify_heater' section\r\nin docs.",
                "Heater extruder not heating at expected rate",
                Some("See the 'verify_heater' section\nin docs."),
            ),
            (
                "Move out of range: 250.000 1.5. Home first. Then retry.",
                "Move out of range: 250.000 1.5",
                Some("Home first. Then retry."),
            ),
            ("no. 5 is worn, e.g. by steel.", "no. 5 is worn, e.g. by steel", None),
            ("Überlauf! Éteindre", "Überlauf!", Some("Éteindre")),
            ("\n\n", "", None),
        ] {
            assert_eq!(first_sentence(text), (first.to_owned(), rest.map(str::to_owned)), "{text:?}");
        }
        let (_, details) = first_sentence(&format!("a\n{}", "x".repeat(100_000)));
        assert!(details.is_some_and(|details| details.chars().count() <= MAX_DETAILS_CHARS + 1));
    }

    #[test]
    fn faults_are_bounded_in_number_and_size() {
        let mut few = Faults::default();
        few.note("a", "is required");
        assert_eq!(Refusal::faults(few).message, "a: is required");

        let mut many = Faults::default();
        (0..100_000).for_each(|n| many.note(&format!("m{n}"), "is not known"));
        let refusal = Refusal::faults(many);
        assert_eq!(refusal.faults.len(), MAX_FAULTS);
        assert_eq!(refusal.message, "100000 fields are invalid; the first 50 are listed");

        let mut long = Faults::default();
        (0..50).for_each(|_| long.note(&"\u{1}".repeat(1_000_000), "\"".repeat(1_000_000)));
        let refusal = Refusal::faults(long);
        assert!(serde_json::to_string(&refusal).unwrap_or_default().len() < 64_000);
        assert!(refusal.faults.len() > 10);
    }

    #[test]
    fn refusals_have_a_class_a_code_and_words() {
        for (refusal, class, code, message) in [
            (Refusal::not_found("api_key"), Class::NotFound, "api_key_not_found", "no such API key"),
            (Refusal::not_found("sku"), Class::NotFound, "sku_not_found", "no such SKU"),
            (Refusal::not_found("sales_channel"), Class::NotFound, "sales_channel_not_found", "no such sales channel"),
            (Refusal::conflict("exists", "it exists"), Class::Conflict, "exists", "it exists"),
            (Refusal::forbidden("other_session", "not yours"), Class::Forbidden, "other_session", "not yours"),
            (
                Refusal::transition("the invoice cannot be voided", "paid"),
                Class::Conflict,
                "invalid_transition",
                "the invoice cannot be voided while its status is paid",
            ),
            (
                Refusal::field("name", "must not be empty"),
                Class::Invalid,
                "validation_failed",
                "name: must not be empty",
            ),
        ] {
            assert_eq!((refusal.class, refusal.code.as_str(), refusal.message.as_str()), (class, code, message));
        }
        let long = Refusal::conflict("long", "ä".repeat(2_001)).message;
        assert_eq!((long.chars().count(), long.ends_with("ä…")), (2_001, true));
        assert_eq!(Refusal::conflict("long", "ä".repeat(2_000)).message, "ä".repeat(2_000));
    }

    #[test]
    fn faults_of_all_parts_of_a_request_are_told_together() {
        let mut faults = Faults::default();
        assert!(faults.is_empty() && !faults.names("name"));
        faults.check(true, "name", "must not be empty").check(false, "size", "is too large");
        assert!(!faults.is_empty() && faults.names("size") && !faults.names("name"));
        let mut other = Faults::default();
        other.note("lines.0", "is unknown");
        faults.append(other);
        let refusal = faults.refuse().err();
        let message = refusal.as_ref().map(|refusal| refusal.message.as_str());
        assert_eq!(message, Some("2 fields are invalid"));
        let paths: Vec<&str> = refusal.iter().flat_map(|one| &one.faults).map(|fault| fault.path.as_str()).collect();
        assert_eq!(paths, ["size", "lines.0"]);
        assert_eq!(Faults::default().refuse(), Ok(()));
    }

    #[test]
    fn faults_that_are_left_out_are_counted() {
        let some = |count: usize| {
            let mut faults = Faults::default();
            (0..count).for_each(|n| faults.note(&format!("m{n}"), "is not known"));
            faults
        };
        let counts = |faults: Faults| (faults.entries.len(), faults.left_out);
        assert_eq!([50, 51].map(|count| counts(some(count))), [(50, 0), (50, 1)]);
        let (mut all, mut more) = (some(49), some(53));
        all.append(some(2));
        assert_eq!(counts(all), (50, 1));
        more.append(some(52));
        assert_eq!(counts(more), (50, 55), "52 of the other, and 3 of its own");
        let mut nothing_listed = Faults { left_out: 2, ..Faults::default() };
        assert!(!nothing_listed.is_empty());
        nothing_listed.note("m", "is not known");
        assert_eq!(Refusal::faults(nothing_listed).message, "3 fields are invalid; the first 0 are listed");
        let mut one_listed = some(1);
        one_listed.left_out = 1;
        assert_eq!(Refusal::faults(one_listed).message, "2 fields are invalid; the first 1 are listed");
    }

    #[test]
    fn the_size_of_a_fault_is_that_of_its_json() {
        let texts = ["plain", "\"quoted\\", "ü€", "a\u{1}b"];
        assert_eq!(texts.map(written_len), [5, 10, 5, 8]);
        // Each takes 1,024 bytes including its JSON syntax.
        let mut faults = Faults::default();
        (0..60).for_each(|_| faults.note(&"p".repeat(99), "m".repeat(900)));
        assert_eq!((faults.entries.len(), faults.bytes), (50, 50 * 1_024));
        let mut large = Faults::default();
        (0..20).for_each(|_| large.note("p", "\u{1}".repeat(996)));
        assert_eq!((large.entries.len(), large.bytes), (9, 9 * (1 + 6 * 996 + 25)), "60,000 bytes at most");
    }
}
