//! Rules for the source text itself (ARCHITECTURE.md, "Invariants").
//!
//! Each rule is a pure function of one file, and has examples of violations that it must detect and of text that it
//! must accept. One test holds all of them, because each reading of the sources takes seconds. This file contains what
//! all rules share, and the rules on how a file is written. The others are in:
//! `layers`, permitted dependencies; `rooms`, no rings of modules; `imports`, groups of imports; `words`,
//! constants and comments; `names`, forbidden names; `comments`, the grammar of doc comments; `public`, what may be
//! `pub`; `map`, ARCHITECTURE.md, SECURITY.md and the pages of docs/design/ refer to what exists; `security`, the tests
//! in SECURITY.md exist, and each row names some or says why not; `claims`, what it says of files of the repository is
//! so; `documents`, links in documents have targets and the index has every page; `log_lines`, docs/OPERATIONS.md
//! explains every warning and error in the log.

mod claims;
mod comments;
mod documents;
mod imports;
mod layers;
mod log_lines;
mod map;
mod names;
mod public;
mod rooms;
mod security;
mod text;
mod words;

use std::fmt;
use std::path::Path;

use text::{File, gather, words};

/// Files that a rule is for.
#[derive(Clone, Copy)]
enum Scope {
    /// Those of `src/`.
    Product,
    /// All Rust files of the repository, the tests too.
    Everywhere,
}

impl Scope {
    fn contains(self, file: &File) -> bool {
        match self {
            Self::Product => file.path.starts_with("src/"),
            Self::Everywhere => true,
        }
    }
}

/// A rule for source files.
struct Rule {
    /// Statement of the rule, as the failure message prints it.
    holds: &'static str,
    scope: Scope,
    /// Returns the lines that break the rule, counted from 1, each with a description.
    check: fn(&File) -> Vec<(usize, String)>,
    /// Files that break the rule: path and text.
    planted: &'static [(&'static str, &'static str)],
    /// Files that comply with the rule: path and text.
    innocent: &'static [(&'static str, &'static str)],
}

/// A line that breaks a rule.
struct Violation {
    path: String,
    line: usize,
    what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

const WIRE: Rule = Rule {
    holds: "no untagged enums: an error would not say which member was wrong",
    scope: Scope::Product,
    check: |file| file.in_code(|line| words(line).any(|word| word == "untagged").then(|| "is untagged".to_owned())),
    planted: &[
        ("src/domain/order.rs", "#[serde(untagged)]\nenum A {}"),
        ("src/http/body.rs", "#[serde(rename_all = \"camelCase\", untagged)]"),
    ],
    innocent: &[("src/http/body.rs", "// Not #[serde(untagged)].\n#[serde(tag = \"untagged\")]")],
};

const EXPECT: Rule = Rule {
    holds: "lints are silenced by #[expect(.., reason = \"..\")], never by #[allow]",
    scope: Scope::Product,
    check: |file| {
        let silenced = |line: &str| line.contains("#[allow(") || line.contains("#![allow(");
        file.in_code(|line| silenced(line).then(|| "allows a lint".to_owned()))
    },
    planted: &[("src/cli.rs", "#[allow(dead_code)]"), ("src/domain/job.rs", "#![allow(clippy::unwrap_used)]")],
    innocent: &[("src/cli.rs", "#[expect(dead_code, reason = \"no #[allow( here\")]\nfn allow() {}")],
};

const BIASED: Rule = Rule {
    holds: "every select! is biased, with a word on why in this order: chance decides nothing",
    scope: Scope::Everywhere,
    check: |file| {
        if !file.text.contains("select! {") {
            return Vec::new();
        }
        let lines: Vec<&str> = file.text.lines().map(str::trim_start).collect();
        // Counted from 1, a line's number is the index of the next one.
        let explains = |number: usize| lines.get(number).is_some_and(|next| next.starts_with("biased; // "));
        let mut violations =
            file.in_code(|line| line.contains("select! {").then(|| "is not biased, or does not say why".to_owned()));
        violations.retain(|(number, _)| !explains(*number));
        violations
    },
    planted: &[
        ("src/cli.rs", "tokio::select! {\n    () = a => {}\n}"),
        ("src/cli.rs", "let x = tokio::select! {\n    biased;\n    () = a => {}\n};"),
        ("tools/simulator/src/printer.rs", "Some(at) => tokio::select! {\n    () = a => {}\n},"),
        ("tools/simulator/tests/it/sdcp.rs", "tokio::select! {\n    biased; //\n    () = a => {}\n}"),
    ],
    innocent: &[
        ("src/cli.rs", "// No select! {\ntokio::select! {\n    biased; // both end it\n    () = a => {}\n}"),
        ("tests/it/invariants.rs", "let planted = \"tokio::select! {\";"),
    ],
};

/// Maximum number of lines in a file. A longer file has two subjects and should be split.
const MAX_LINES: usize = 400;

const SIZE: Rule = Rule {
    holds: "no file is longer than 400 lines, and modules are foo.rs beside foo/, not foo/mod.rs",
    scope: Scope::Everywhere,
    check: |file| {
        let lines = file.text.lines().count();
        let long = (lines > MAX_LINES).then(|| (lines, format!("has {lines} lines; {MAX_LINES} are allowed")));
        let named = file.path.ends_with("/mod.rs").then(|| (1, "is a mod.rs".to_owned()));
        long.into_iter().chain(named).collect()
    },
    planted: &[("src/http/mod.rs", "pub mod error;")],
    innocent: &[("src/http.rs", "pub mod error;")],
};

const DOCUMENTED: Rule = Rule {
    holds: "every file of src/domain/ begins with what it is for (//!)",
    scope: Scope::Product,
    check: |file| {
        // Tests are named for what they test.
        if !file.within("src/domain/") || file.is_tests() || file.text.starts_with("//! ") {
            return Vec::new();
        }
        vec![(1, "begins without //!".to_owned())]
    },
    planted: &[("src/domain/order.rs", "use crate::domain::id::Id;\n//! Too late."), ("src/domain/lib.rs", "")],
    innocent: &[
        ("src/domain/order.rs", "//! An order."),
        ("src/domain/order/tests.rs", "use super::*;"),
        ("src/app.rs", "use std::fmt;"),
    ],
};

/// Files that parse text which the server wrote itself, or a type that contains no `Value`.
const OWN_TEXT: [&str; 8] = [
    "src/store/queries/contents.rs",         // a file's document, as the store wrote it
    "src/http/openapi.rs",                   // the description itself
    "src/store/rows/doc.rs",                 // a row's document
    "src/store/rows/plain.rs",               // an event's data
    "src/http/idempotency.rs",               // a kept answer
    "src/http/api/production/audit.rs",      // facts of the audit log
    "src/http/api/production/deliveries.rs", // what was delivered
    "src/domain/testing.rs",                 // states that tests have written a moment before
];

const BOUNDED_JSON: Rule = Rule {
    holds: "JSON from outside is read by the crate bounded-json: serde_json's own Value may overflow the stack",
    scope: Scope::Product,
    check: |file| {
        if file.is(&OWN_TEXT) || file.is_tests() {
            return Vec::new();
        }
        let readers = ["from_slice", "from_str", "from_reader"].map(|reader| format!("serde_json::{reader}"));
        let extractors = [".json::<", ": Json<"];
        let tests = file.text.lines().position(|line| line == "mod tests {").unwrap_or(usize::MAX);
        let mut violations = file.in_code(|line| {
            let mut all = readers.iter().map(String::as_str).chain(extractors);
            all.find(|reader| line.contains(reader)).map(|reader| format!("uses {reader}"))
        });
        violations.retain(|(line, _)| *line <= tests);
        violations
    },
    planted: &[
        ("src/http/body.rs", "let value: Value = serde_json::from_slice(bytes)?;"),
        ("src/printers/wire.rs", "let answer = answer.json::<Value>().await?;"),
        ("src/http/api/production/orders.rs", "async fn place(Json(body): Json<Value>) {}"),
    ],
    innocent: &[
        ("src/http/body.rs", "let document = bounded_json::document(bytes, REQUEST)?;"),
        ("src/store/rows/doc.rs", "serde_json::from_str(doc)"),
    ],
};

/// Attributes and macros that mark unit tests.
const MARKS_OF_TESTS: [&str; 4] = ["cfg(test)", "#[test]", "#[tokio::test", "proptest!"];

const UNTESTED_RESOURCES: Rule = Rule {
    holds: "src/http/api/ has no unit tests, which would never run: rules that need some are in the crates below it",
    scope: Scope::Product,
    check: |file| {
        if !file.within("src/http/api/") {
            return Vec::new();
        }
        let marked = |line: &str| MARKS_OF_TESTS.iter().find(|mark| line.contains(**mark)).copied();
        file.in_code(|line| marked(line).map(|mark| format!("has a unit test: {mark}")))
    },
    planted: &[
        ("src/http/api/production/skus.rs", "#[cfg(test)]\nmod tests {}"),
        ("src/http/api/billing/intake/tests.rs", "proptest! {\n    fn f(n in 0..9) {}\n}"),
        ("src/http/api/production/health.rs", "#[tokio::test(start_paused = true)]\nasync fn f() {}"),
        ("src/http/api/lib.rs", "#[test]\nfn f() {}"),
    ],
    innocent: &[
        ("src/http/api/production/skus.rs", "// No #[cfg(test)].\nlet text = \"#[test]\";"),
        ("src/http/photo_form.rs", "#[cfg(test)]\nmod tests;"),
    ],
};

const RULES: &[&Rule] = &[&WIRE, &EXPECT, &SIZE, &DOCUMENTED, &BOUNDED_JSON, &UNTESTED_RESOURCES, &BIASED];

/// Returns the rules of all modules.
fn all_rules() -> Vec<&'static Rule> {
    [RULES, comments::RULES, imports::RULES, layers::RULES, names::RULES, words::RULES].concat()
}

#[test]
fn every_file_keeps_every_rule() {
    let broken = broken_rules(&all_rules(), &all_files());
    assert!(broken.is_empty(), "{}", broken.join("\n\n"));
}

#[test]
fn each_rule_finds_what_breaks_it_and_nothing_else() {
    planted_and_innocent(RULES);
}

/// Fails if a rule misses a planted violation or rejects innocent text.
fn planted_and_innocent(rules: &[&Rule]) {
    for rule in rules {
        for (path, text) in rule.planted {
            assert!(!broken(rule, &[File::new(path, text)]).is_empty(), "not found ({}): {path}: {text}", rule.holds);
        }
        for (path, text) in rule.innocent {
            let violations = broken(rule, &[File::new(path, text)]);
            assert!(violations.is_empty(), "wrongly found ({}): {}", rule.holds, report(&violations));
        }
    }
}

#[test]
fn a_violation_is_told_with_file_line_and_reason() {
    let file = File::new("src/domain/job.rs", "//! A job.\n\n#[serde(untagged)]");
    assert_eq!(report(&broken(&WIRE, &[file])), "src/domain/job.rs:3: is untagged");
}

#[test]
fn each_broken_rule_is_told_with_all_that_breaks_it() {
    let text = "use crate::b;\n\nuse std::fs;\n#[allow(dead_code)]\n#[serde(untagged)]\nenum E {}";
    let files = ["src/app.rs", "tools/demo/src/app.rs"].map(|path| File::new(path, text));
    let expected = [
        (&WIRE, "src/app.rs:5: is untagged"),
        (&EXPECT, "src/app.rs:4: allows a lint"),
        (
            imports::RULES[0],
            "src/app.rs:3: std after this workspace\ntools/demo/src/app.rs:3: std after this workspace",
        ),
    ];
    let expected = expected.map(|(rule, lines)| format!("this must hold: {}\n{lines}", rule.holds));
    assert_eq!(broken_rules(&all_rules(), &files), expected);
}

#[test]
fn a_long_file_is_found() {
    let long = |lines| File::new("src/app.rs", &"//\n".repeat(lines));
    assert_eq!(report(&broken(&SIZE, &[long(MAX_LINES + 1)])), "src/app.rs:401: has 401 lines; 400 are allowed");
    assert!(broken(&SIZE, &[long(MAX_LINES)]).is_empty());
}

/// Every folder of the repository that holds Rust code.
const FOLDERS: [&str; 11] = [
    "src",
    "tests",
    "benches",
    "tools",
    "migrations/src",
    "api-derive/src",
    "api-requests/src",
    "api-schema/src",
    "bounded-json/src",
    "stop-signals/src",
    "fuzz/fuzz_targets",
];

/// Returns all Rust files in the repository, including tests.
fn all_files() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in FOLDERS {
        gather(root, &root.join(folder), &mut files);
    }
    assert!(files.len() > 300, "only {} files found below {}", files.len(), root.display());
    files
}

/// Returns all files of `src/`.
fn source_files() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    gather(root, &root.join("src"), &mut files);
    assert!(files.len() > 100, "only {} files found below {}", files.len(), root.display());
    files
}

/// Returns each rule that is broken, with every line that breaks it.
fn broken_rules(rules: &[&Rule], files: &[File]) -> Vec<String> {
    let fault = |rule: &&Rule| {
        let violations = broken(rule, files);
        (!violations.is_empty()).then(|| format!("this must hold: {}\n{}", rule.holds, report(&violations)))
    };
    rules.iter().filter_map(fault).collect()
}

fn broken(rule: &Rule, files: &[File]) -> Vec<Violation> {
    let of = |file: &File| {
        let path = file.path.clone();
        (rule.check)(file).into_iter().map(move |(line, what)| Violation { path: path.clone(), line, what })
    };
    files.iter().filter(|file| rule.scope.contains(file)).flat_map(of).collect()
}

fn report(violations: &[Violation]) -> String {
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
