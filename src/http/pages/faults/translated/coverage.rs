//! Check that API messages have German versions: all those that appear as text in the code of the rules, the API and
//! the pages, except for a short list of messages that no page causes.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::{error_text, fault_text};
use words::Language;

/// Folders below `src/` with the code whose errors a form can show.
const FOLDERS: [&str; 5] = ["domain", "http/api/production", "http/wire", "http/pages/staff", "actors"];
/// Calls whose last argument is the message of an error in a field.
const FAULTS: [&str; 5] = ["Refusal::field(", ".check(", ".note(", "place.fault(", "unless("];
/// Calls whose last argument is the message of an error as a whole.
const REFUSALS: [&str; 7] = [
    "Refusal::conflict(",
    "Refusal::forbidden(",
    "Refusal::new(",
    "ApiError::new(",
    "ApiError::conflict(",
    "ApiError::bad_request(",
    "ApiError::forbidden(",
];
/// Distance between a call and the variable that it takes the message from, in bytes.
const MAX_DISTANCE: usize = 2_500;

/// Messages that no page causes: those for programs that send other things than the pages do, for identifiers that the
/// server itself generates, and for other ways into the server. A number stands for an inserted value.
const OF_NO_PAGE: [&str; 52] = [
    "`user` must be an ID",
    "7 printers have this name; send the printer's ID",
    "an item in this draft is no longer available; create a new draft",
    "customers can cancel an order only while it is unpaid",
    "is not a valid field",
    "is not a valid field, or was sent twice",
    "is not a valid parameter; this operation has no query parameters",
    "is not a valid parameter; valid parameters are 7",
    "is present more than once",
    "is required, as the first field",
    "must be a list",
    "must be a string",
    "must be an object",
    "must be kind:id, an ID or a kind",
    "must not be null",
    "no print farm software is configured; set FARM_UI_URL",
    "only staff can set priority, dueAt and internalNotes",
    "only the server's owner can create sign-in links, over the control socket",
    "the body is incomplete",
    "the body is not JSON: 7",
    "the body must be a JSON object",
    "the body must be multipart/form-data",
    "the body must be text/csv, or multipart/form-data with a field `file`",
    "the channel has no secret for verifying signatures, or is disabled",
    "the export is not ready or has expired",
    "the file was stored, but 7: 7",
    "the file was stored, but it uses no filament",
    "the file was stored, but only G-code can be printed",
    "the first response contained a secret, which is returned only once",
    "the form has too many fields",
    "the job is not on a printer",
    "the link is invalid, was already used or has expired; request a new one",
    "the mapping would have more than 7 entries",
    "the price of 7 has changed since the draft was created; create a new draft",
    "the query string contains a NUL character",
    "this custom request already exists",
    "this customer already exists",
    "this endpoint already exists",
    "this export already exists",
    "this file already exists",
    "this invoice already exists",
    "this key belongs to another customer; omit customerEmail",
    "this link already exists",
    "this link works only on the server itself",
    "this material already exists",
    "this order already exists",
    "this printer already exists",
    "this quote already exists",
    "this sales channel already exists",
    "this session already exists; sign in again",
    "this SKU already exists",
    "this user is not allowed to send commands",
];

/// Messages that are translated by their codes, which are constants, or that have their own error page.
const BY_CODE: [&str; 5] = [
    "enter the code from your authenticator app as well",
    "the code is incorrect or was already used; wait for the next one",
    "the link was already used, has expired or is invalid",
    "too many incorrect codes were entered; try again in 7 seconds",
    "too many incorrect codes were entered; wait before you try again",
];

/// Message in the code: of a field, or of an error with its code.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
struct CodeMessage {
    text: String,
    /// Code of the error, if it is written as text; `None` for an error in a field.
    code: Option<String>,
}

impl CodeMessage {
    fn is_translated(&self) -> bool {
        match &self.code {
            Some(code) => error_text(Language::German, code, &self.text).is_some(),
            None => fault_text(Language::German, &self.text).is_some(),
        }
    }
}

/// Lists the code files below a folder, except test files.
fn code_files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.contains("tests") || name.starts_with("testing") {
            continue;
        }
        if path.is_dir() {
            code_files(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push(path);
        }
    }
}

/// Returns the code of a file before its tests, with broken text literals joined.
fn code_of(path: &Path) -> String {
    let code = fs::read_to_string(path).unwrap();
    let lines = before_tests(&code).split("\\\n").enumerate();
    lines.map(|(n, line)| if n == 0 { line } else { line.trim_start() }).collect()
}

/// Returns the code before the module of tests in it. The line that declares such a module in a separate file, often
/// near the top, is ignored.
fn before_tests(code: &str) -> &str {
    let is_inline = |at: &usize| {
        let after = code.get(*at..).unwrap_or_default();
        let declaration = after.lines().find(|line| !line.starts_with("#["));
        declaration.is_some_and(|line| line.contains("mod ") && line.ends_with('{'))
    };
    let end = code.match_indices("#[cfg(test)]\n").map(|(at, _)| at).find(is_inline);
    code.get(..end.unwrap_or(code.len())).unwrap_or_default()
}

/// Returns the text literals in a piece of code.
fn literals(code: &str) -> Vec<String> {
    let (mut all, mut text) = (Vec::new(), String::new());
    let (mut is_open, mut is_escaped) = (false, false);
    for letter in code.chars() {
        match letter {
            '"' if !is_open => is_open = true,
            _ if !is_open => {}
            _ if is_escaped => {
                text.push(letter);
                is_escaped = false;
            }
            '\\' => is_escaped = true,
            '"' => {
                all.push(std::mem::take(&mut text));
                is_open = false;
            }
            _ => text.push(letter),
        }
    }
    all
}

/// Returns the arguments of a call whose opening bracket ends before the code.
fn arguments(code: &str) -> Vec<&str> {
    let (mut all, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    let (mut in_text, mut is_escaped) = (false, false);
    for (at, letter) in code.char_indices() {
        match letter {
            _ if in_text && is_escaped => is_escaped = false,
            '\\' if in_text => is_escaped = true,
            '"' => in_text = !in_text,
            _ if in_text => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth > 0 => depth -= 1,
            ',' | ')' | ']' | '}' if depth == 0 => {
                all.extend(code.get(start..at).map(str::trim).filter(|argument| !argument.is_empty()));
                start = at + 1;
                if letter != ',' {
                    break;
                }
            }
            _ => {}
        }
    }
    all
}

/// Returns the texts that an argument can be: its literals, or those of the variable that it names.
fn texts_of(argument: &str, before: &str) -> Vec<String> {
    let own = literals(argument);
    let name = argument.split('.').next().unwrap_or_default();
    if !own.is_empty() || name.is_empty() || !name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_') {
        return own;
    }
    let Some(at) = before.rfind(&format!("let {name} =")).filter(|at| before.len() - at <= MAX_DISTANCE) else {
        return Vec::new();
    };
    let statement = before.get(at..).unwrap_or_default();
    literals(statement.split(";\n").next().unwrap_or_default())
}

/// Returns the text with a number in place of each thing that it inserts.
fn with_samples(text: &str) -> String {
    let mut pieces = text.split('{');
    let start = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(start, |text, piece| text + "7" + piece.split_once('}').map_or("", |(_, after)| after))
}

/// Returns the messages that a call has in the code.
fn messages(code: &str, call: &str, is_fault: bool) -> Vec<CodeMessage> {
    let mut all = Vec::new();
    for (at, _) in code.match_indices(call) {
        let arguments = arguments(code.get(at + call.len()..).unwrap_or_default());
        let [first @ .., last] = &arguments[..] else { continue };
        if first.is_empty() {
            continue;
        }
        let code_text = || first.iter().flat_map(|argument| literals(argument)).next().unwrap_or_default();
        let texts = texts_of(last, code.get(..at).unwrap_or_default()).into_iter().map(|text| with_samples(&text));
        let texts = texts.filter(|text| text.contains(|letter: char| letter.is_alphabetic()));
        all.extend(texts.map(|text| CodeMessage { text, code: (!is_fault).then(code_text) }));
    }
    all
}

#[test]
fn messages_that_a_page_can_cause_have_german_versions() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let mut paths = Vec::new();
    FOLDERS.iter().for_each(|folder| code_files(&source.join(folder), &mut paths));
    let of_fields = FAULTS.into_iter().map(|call| (call, true));
    let calls: Vec<(&str, bool)> = of_fields.chain(REFUSALS.into_iter().map(|call| (call, false))).collect();
    let (mut sources, mut read_calls) = (BTreeMap::<CodeMessage, PathBuf>::new(), BTreeSet::new());
    for path in paths {
        let code = code_of(&path);
        for (call, is_fault) in &calls {
            let all = messages(&code, call, *is_fault);
            read_calls.extend((!all.is_empty()).then_some(*call));
            sources.extend(all.into_iter().map(|message| (message, path.clone())));
        }
    }
    let unread: Vec<_> = calls.iter().filter(|(call, _)| !read_calls.contains(call)).collect();
    assert!(unread.is_empty(), "no message was read from {unread:?}");
    let exempt: BTreeSet<&str> = OF_NO_PAGE.into_iter().chain(BY_CODE).collect();
    let written: BTreeSet<&str> = sources.keys().map(|message| &*message.text).collect();
    let unknown: Vec<_> = exempt.difference(&written).collect();
    assert!(unknown.is_empty(), "nothing writes {unknown:?}");
    assert!(written.len() > 150, "{} messages were read", written.len());
    let missing: Vec<_> =
        sources.iter().filter(|(message, _)| !exempt.contains(&*message.text) && !message.is_translated()).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn code_ends_before_the_module_of_tests_in_it() {
    let code = "#[cfg(test)]\nmod tests;\n\nfn one() {\n    #[cfg(test)]\n    {}\n}\n";
    assert_eq!(before_tests(code), code);
    for module in ["mod tests {", "#[expect(clippy::unwrap_used, reason = \"tests\")]\npub(super) mod tests {"] {
        assert_eq!(before_tests(&format!("{code}#[cfg(test)]\n{module}\n    use x;\n}}\n")), code);
    }
}

#[test]
fn messages_are_read_from_code() {
    let code = "let words = format!(\"has {count} lines; at most {} \\\"fit\\\"\", MOST);\nif x {\n\
        return Err(Refusal::field(\"lines\", words).into());\n}\nRefusal::conflict(\"odd\", match x { A => \"is a\", _ => \"is b\" })";
    let read = |call, is_fault| messages(code, call, is_fault).into_iter().map(|one| (one.text, one.code));
    let of_field: Vec<_> = read("Refusal::field(", true).collect();
    assert_eq!(of_field, [("has 7 lines; at most 7 \"fit\"".to_owned(), None)]);
    let whole: Vec<_> = read("Refusal::conflict(", false).collect();
    let odd = Some("odd".to_owned());
    assert_eq!(whole, [("is a".to_owned(), odd.clone()), ("is b".to_owned(), odd)]);
}
