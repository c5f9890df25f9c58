//! What must hold of the source text itself: who may know whom (ARCHITECTURE.md, "Cross-cutting").
//!
//! Each rule is a pure function of one file, and carries violations that it must find and text that it must let pass.

use std::fmt;
use std::fs;
use std::path::Path;

/// A rule over the files of `src/`.
struct Rule {
    /// What holds, in the words of the failure message.
    holds: &'static str,
    /// Lines that break it, counted from 1, with what is wrong.
    check: fn(&File) -> Vec<(usize, String)>,
    /// Files that break it: path and text.
    planted: &'static [(&'static str, &'static str)],
    /// Files that do not.
    innocent: &'static [(&'static str, &'static str)],
}

/// A source file.
struct File {
    /// From the project's folder, with `/`.
    path: String,
    /// As it is.
    text: String,
    /// Without comments and the contents of literals, line for line.
    code: String,
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

impl File {
    fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned(), code: code_of(text) }
    }

    /// In this folder, or the file of the module of that name (`src/store/` and `src/store.rs`).
    fn within(&self, folder: &str) -> bool {
        self.path.starts_with(folder) || self.path == format!("{}.rs", folder.trim_end_matches('/'))
    }

    fn is(&self, paths: &[&str]) -> bool {
        paths.contains(&self.path.as_str())
    }

    /// A file of tests alone.
    fn is_tests(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }

    /// Lines of the code in which `what` finds something.
    fn in_code(&self, what: impl Fn(&str) -> Option<String>) -> Vec<(usize, String)> {
        find(&self.code, what)
    }

    /// Lines of the whole text, comments included.
    fn in_text(&self, what: impl Fn(&str) -> Option<String>) -> Vec<(usize, String)> {
        find(&self.text, what)
    }
}

fn find(text: &str, what: impl Fn(&str) -> Option<String>) -> Vec<(usize, String)> {
    text.lines().zip(1..).filter_map(|(line, number)| what(line).map(|what| (number, what))).collect()
}

const OUTSIDE: [&str; 9] =
    ["tokio", "ractor", "axum", "hyper", "reqwest", "sea_orm", "sqlx", "migrations", "simulator"];

const DOMAIN: Rule = Rule {
    holds: "src/domain/ imports nothing of the project but itself, and no runtime, actor, HTTP or database crate",
    check: |file| {
        if !file.within("src/domain/") {
            return Vec::new();
        }
        file.in_code(|line| {
            let project = parts(line, "crate::").find(|rest| word(rest) != "domain");
            let project = project.map(|rest| format!("names crate::{}", word(rest)));
            project.or_else(|| path_of(line, &OUTSIDE)).or_else(|| {
                let used = ["std::fs", "std::env", "std::process", "std::thread", "Instant::now"];
                used.iter().find(|outside| line.contains(**outside)).map(|outside| format!("uses {outside}"))
            })
        })
    },
    planted: &[
        ("src/domain/order.rs", "use crate::store::Key;"),
        ("src/domain/order.rs", "use crate::{actors::shell::Shell, domain::id::Id};"),
        ("src/domain/order/work.rs", "pub async fn f() {\n    tokio::spawn(async {});\n}"),
        ("src/domain.rs", "use ractor::Actor;"),
        ("src/domain/file.rs", "let file = std::fs::read(path);"),
    ],
    innocent: &[
        ("src/domain/order.rs", "//! No tokio::spawn here.\nuse crate::domain::id::Id;\npub(crate) mod testing;"),
        ("src/store/load.rs", "use tokio::sync::watch;"),
    ],
};

const EDGE: Rule = Rule {
    holds: "src/http/ knows handles and queries, never entities or the database",
    check: |file| {
        if !file.within("src/http/") {
            return Vec::new();
        }
        file.in_code(|line| path_of(line, &["entities", "sea_orm", "sqlx", "migrations"]))
    },
    planted: &[
        ("src/http/production/orders.rs", "use crate::entities::orders;"),
        ("src/http.rs", "use sea_orm::DatabaseConnection;"),
    ],
    innocent: &[
        ("src/http/error.rs", "/// Never sea_orm::DbErr.\nuse crate::store::rows::LoadError;"),
        ("src/store/rows.rs", "use sea_orm::DbErr;"),
    ],
};

/// These hold a connection and pass it on to `store/`; they name its type and nothing else of the database.
const PASS_ON: [&str; 4] = [
    "src/actors/things.rs",      // reads things at rest, by the store's `Load`
    "src/shop/start.rs",         // opens the database and hands it out
    "src/cli/check/database.rs", // tells whether it can be reached; and whether its tables are up to date
    "src/cli/check/printers.rs", // loads the registered printers, by the store's `Load`
];

const TABLES: Rule = Rule {
    holds: "only src/store/ and src/entities/ speak to the database; others at most pass a connection on",
    check: |file| {
        if file.within("src/store/") || file.within("src/entities/") {
            return Vec::new();
        }
        let passes_on = file.is(&PASS_ON);
        file.in_code(|line| {
            if passes_on && line.trim() == "use sea_orm::DatabaseConnection;" {
                return None;
            }
            path_of(line, &["entities", "sea_orm", "sqlx"])
        })
    },
    planted: &[
        ("src/payments.rs", "use sea_orm::DatabaseConnection;"),
        ("src/actors/things.rs", "use sea_orm::EntityTrait;"),
        ("src/actors/orders.rs", "let order = crate::entities::orders::Entity::find();"),
    ],
    innocent: &[
        ("src/actors/things.rs", "use sea_orm::DatabaseConnection;"),
        ("src/store/writer.rs", "use sea_orm::EntityTrait;"),
        ("src/log.rs", "let filter = \"warn,sea_orm::query=error\";"),
        ("src/lib.rs", "pub mod entities;"),
    ],
};

const BRAND_NAMES: [&str; 16] = [
    "moonraker",
    "octoprint",
    "klipper",
    "bambu",
    "prusa",
    "creality",
    "elegoo",
    "anycubic",
    "ultimaker",
    "duet3d",
    "reprap",
    "marlin",
    "snapmaker",
    "flashforge",
    "formlabs",
    "makerbot",
];

const BRANDS: Rule = Rule {
    holds: "nothing outside src/printers/ names a brand of printers or of their software",
    check: |file| {
        // The help of `simulate` tells what it imitates. G-code names the slicer that made it, and some makers of
        // printers make slicers too.
        if file.within("src/printers/") || file.is(&["src/cli.rs"]) || file.within("src/domain/gcode/") {
            return Vec::new();
        }
        file.in_text(|line| names(line, &BRAND_NAMES))
    },
    planted: &[
        ("src/actors/printers/run.rs", "if kind == \"OctoPrint\" {"),
        ("src/domain/printer.rs", "/// As Klipper says it."),
        ("src/http/production/printers.rs", "fn is_bambu() {}"),
    ],
    innocent: &[
        ("src/printers/server_rest.rs", "//! Type `server_rest`: OctoPrint."),
        ("src/domain/gcode/notes.rs", "//! What PrusaSlicer says."),
        ("src/fleet.rs", "pub struct Link;"),
    ],
};

/// The name of the signature's header is a setting with that processor's name for a default: its test, and the demo, which
/// plays the processor, say it.
const HEADER: &str = "\"Stripe-Signature\"";

const VENDOR_NAMES: [&str; 14] = [
    "stripe",
    "xero",
    "quickbooks",
    "lexoffice",
    "paypal",
    "mollie",
    "resend",
    "sendgrid",
    "postmark",
    "mailgun",
    "inventree",
    "twilio",
    "shopify",
    "openclaw",
];

const VENDORS: Rule = Rule {
    holds: "nothing outside src/services/ names a vendor of an outside service",
    check: |file| {
        if file.within("src/services/") {
            return Vec::new();
        }
        let may_say_header = file.is(&["src/config/tests.rs", "src/demo/clerk.rs"]);
        file.in_text(|line| {
            let line = if may_say_header { line.replace(HEADER, "") } else { line.to_owned() };
            names(&line, &VENDOR_NAMES)
        })
    },
    planted: &[
        ("src/domain/inbound.rs", "//! Events of Stripe."),
        ("src/actors/mails.rs", "const URL: &str = \"https://api.resend.com\";"),
        ("src/http/production/payments.rs", "let header = \"Stripe-Signature\";"),
        ("src/demo/clerk.rs", "let stripe = 1;"),
    ],
    innocent: &[
        ("src/services/mail/api.rs", "//! The interface of Resend."),
        ("src/demo/clerk.rs", "request.header(\"Stripe-Signature\", signed);"),
        ("src/payments.rs", "let stripes = 1; // a pattern, no company"),
        ("src/actors/envelope.rs", "/// Never resent."),
    ],
};

const WIRE: Rule = Rule {
    holds: "no untagged enums: an error would not say which member was wrong",
    check: |file| file.in_code(|line| words(line).any(|word| word == "untagged").then(|| "is untagged".to_owned())),
    planted: &[
        ("src/domain/order.rs", "#[serde(untagged)]\nenum A {}"),
        ("src/http/body.rs", "#[serde(rename_all = \"camelCase\", untagged)]"),
    ],
    innocent: &[("src/http/body.rs", "// Not #[serde(untagged)].\n#[serde(tag = \"untagged\")]")],
};

const EXPECT: Rule = Rule {
    holds: "lints are silenced by #[expect(.., reason = \"..\")], never by #[allow]",
    check: |file| {
        let silenced = |line: &str| line.contains("#[allow(") || line.contains("#![allow(");
        file.in_code(|line| silenced(line).then(|| "allows a lint".to_owned()))
    },
    planted: &[("src/cli.rs", "#[allow(dead_code)]"), ("src/domain/job.rs", "#![allow(clippy::unwrap_used)]")],
    innocent: &[("src/cli.rs", "#[expect(dead_code, reason = \"no #[allow( here\")]\nfn allow() {}")],
};

/// No file is longer.
const LONGEST: usize = 450;

const SIZE: Rule = Rule {
    holds: "no file of src/ is longer than 450 lines, and modules are foo.rs beside foo/, not foo/mod.rs",
    check: |file| {
        // One model of orders, printers and dispatch together: its parts say nothing alone.
        let longest = if file.is(&["src/domain/order/tests/model.rs"]) { 500 } else { LONGEST };
        let lines = file.text.lines().count();
        let long = (lines > longest).then(|| (lines, format!("has {lines} lines; {longest} are allowed")));
        let named = file.path.ends_with("/mod.rs").then(|| (1, "is a mod.rs".to_owned()));
        long.into_iter().chain(named).collect()
    },
    planted: &[("src/http/mod.rs", "pub mod error;")],
    innocent: &[("src/http.rs", "pub mod error;")],
};

const DOCUMENTED: Rule = Rule {
    holds: "every file of src/domain/ begins with what it is for (//!)",
    check: |file| {
        // Tests are named for what they test.
        if !file.within("src/domain/") || file.is_tests() || file.text.starts_with("//! ") {
            return Vec::new();
        }
        vec![(1, "begins without //!".to_owned())]
    },
    planted: &[("src/domain/order.rs", "use crate::domain::id::Id;\n//! Too late."), ("src/domain.rs", "")],
    innocent: &[
        ("src/domain/order.rs", "//! An order."),
        ("src/domain/order/tests.rs", "use super::*;"),
        ("src/fleet.rs", "use std::fmt;"),
    ],
};

const START: Rule = Rule {
    holds: "a printer is told to start in two places only: the one task of an attempt, and an operator's own print",
    check: |file| {
        if file.within("src/printers/") || file.is(&["src/actors/printers/run.rs", "src/http/production/operate.rs"]) {
            return Vec::new();
        }
        file.in_code(|line| line.contains("adapter.start(").then(|| "starts a print".to_owned()))
    },
    planted: &[("src/actors/printers/watch.rs", "link.adapter.start(&name).await?;")],
    innocent: &[
        ("src/actors/printers/run.rs", "match link.adapter.start(&name).await {"),
        ("src/shop/start.rs", "dispatcher.start(&root).await?;"),
    ],
};

const RULES: [&Rule; 10] = [&DOMAIN, &EDGE, &TABLES, &BRANDS, &VENDORS, &WIRE, &EXPECT, &SIZE, &DOCUMENTED, &START];

#[test]
fn the_rules_know_nothing_of_the_outside() {
    holds(&DOMAIN);
}

#[test]
fn the_edge_knows_no_tables() {
    holds(&EDGE);
}

#[test]
fn only_the_store_speaks_to_the_database() {
    holds(&TABLES);
}

#[test]
fn brands_are_known_to_adapters_only() {
    holds(&BRANDS);
}

#[test]
fn vendors_are_known_to_services_only() {
    holds(&VENDORS);
}

#[test]
fn no_enum_is_untagged() {
    holds(&WIRE);
}

#[test]
fn lints_are_expected_with_a_reason() {
    holds(&EXPECT);
}

#[test]
fn files_are_short() {
    holds(&SIZE);
}

#[test]
fn the_rules_are_documented() {
    holds(&DOCUMENTED);
}

#[test]
fn starts_go_out_in_two_places_only() {
    holds(&START);
}

#[test]
fn each_rule_finds_what_breaks_it_and_nothing_else() {
    for rule in RULES {
        for (path, text) in rule.planted {
            assert!(!broken(rule, &[File::new(path, text)]).is_empty(), "not found ({}): {path}: {text}", rule.holds);
        }
        for (path, text) in rule.innocent {
            let found = broken(rule, &[File::new(path, text)]);
            assert!(found.is_empty(), "wrongly found ({}): {}", rule.holds, told(&found));
        }
    }
}

#[test]
fn a_violation_is_told_with_file_line_and_reason() {
    let file = File::new("src/domain/job.rs", "//! A job.\n\nuse tokio::sync::watch;");
    assert_eq!(told(&broken(&DOMAIN, &[file])), "src/domain/job.rs:3: uses tokio");
}

#[test]
fn a_long_file_is_found() {
    let long = |lines| File::new("src/fleet.rs", &"//\n".repeat(lines));
    assert_eq!(told(&broken(&SIZE, &[long(LONGEST + 1)])), "src/fleet.rs:451: has 451 lines; 450 are allowed");
    assert!(broken(&SIZE, &[long(LONGEST)]).is_empty());
}

#[test]
fn code_is_told_from_comments_and_literals() {
    let source = concat!(
        "a /* b /* c */ d */ e // f\n",
        "\"g \\\" h\" i r#\"j \" k\"# l 'm' '\\'' n 'o: p\n",
        "b\"q\nr\" s br\"t\" u",
    );
    let code = code_of(source);
    let kept: Vec<&str> = words(&code).collect();
    assert_eq!(kept, ["a", "e", "i", "l", "n", "o", "p", "s", "u"]);
    assert_eq!(code.lines().count(), source.lines().count());
}

/// Fails with every line of `src/` that breaks the rule.
fn holds(rule: &Rule) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    gather(root, &root.join("src"), &mut files);
    assert!(files.len() > 100, "only {} files found below {}", files.len(), root.display());
    let found = broken(rule, &files);
    assert!(found.is_empty(), "this must hold: {}\n{}", rule.holds, told(&found));
}

fn broken(rule: &Rule, files: &[File]) -> Vec<Violation> {
    let of = |file: &File| {
        let path = file.path.clone();
        (rule.check)(file).into_iter().map(move |(line, what)| Violation { path: path.clone(), line, what })
    };
    files.iter().flat_map(of).collect()
}

fn told(violations: &[Violation]) -> String {
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn gather(root: &Path, folder: &Path, files: &mut Vec<File>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.unwrap_or_else(|error| panic!("{}: {error}", folder.display())).path();
        if path.is_dir() {
            gather(root, &path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let parts = path.strip_prefix(root).unwrap_or(&path).components();
            let parts: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy()).collect();
            files.push(File::new(&parts.join("/"), &text));
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
}

/// What follows each occurrence.
fn parts<'a>(line: &'a str, of: &str) -> impl Iterator<Item = &'a str> {
    line.match_indices(of).map(move |(at, found)| line.get(at + found.len()..).unwrap_or_default())
}

/// Its first word; empty before anything else, such as the brace of a group.
fn word(text: &str) -> &str {
    text.split(|c: char| !is_word(c)).next().unwrap_or_default()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Which of these crates or modules a line of code names in a path (`name::`) or imports as a whole (`use name;`).
fn path_of(line: &str, names: &[&str]) -> Option<String> {
    let named = |name: &&&str| {
        line.match_indices(**name).any(|(at, found)| {
            let before = line.get(..at).unwrap_or_default();
            let after = line.get(at + found.len()..).unwrap_or_default();
            let whole = !before.ends_with(is_word) && !after.starts_with(is_word);
            let imported = before.trim_start().starts_with("use ") || before.trim_start().starts_with("pub use ");
            whole && (after.starts_with("::") || imported)
        })
    };
    names.iter().find(named).map(|name| format!("uses {name}"))
}

/// Which of these names occurs as a word, or as the beginning of one in mixed case (`OctoPrintClient`) or with
/// underscores (`is_bambu`).
fn names(line: &str, names: &[&str]) -> Option<String> {
    let lower = line.to_lowercase();
    let named = |name: &&&str| {
        lower.match_indices(**name).any(|(at, found)| {
            let alone = |c: char| !c.is_alphabetic();
            let before = lower.get(..at).is_none_or(|text| text.is_empty() || text.ends_with(alone));
            let after = lower.get(at + found.len()..).is_none_or(|text| text.is_empty() || text.starts_with(alone));
            let next = line.get(at + found.len()..).and_then(|rest| rest.chars().next());
            before && (after || next.is_some_and(char::is_uppercase))
        })
    };
    names.iter().find(named).map(|name| format!("names {name}"))
}

/// Source with its comments and the contents of its literals blanked, line for line.
fn code_of(source: &str) -> String {
    let text: Vec<char> = source.chars().collect();
    let at = |index: usize| text.get(index).copied().unwrap_or('\0');
    let mut code = String::with_capacity(source.len());
    let mut index = 0;
    while index < text.len() {
        let end = match (at(index), at(index + 1)) {
            ('/', '/') => line_end(&text, index),
            ('/', '*') => comment_end(&text, index),
            ('"', _) => string_end(&text, index),
            ('r', '"' | '#') if index == 0 || !is_word(at(index - 1)) || at(index - 1) == 'b' => {
                raw_end(&text, index).unwrap_or(index)
            }
            ('\'', '\\') => (index + 3..text.len()).find(|end| at(*end) == '\'').map_or(text.len(), |end| end + 1),
            ('\'', _) if at(index + 2) == '\'' => index + 3,
            _ => index,
        };
        if end > index {
            code.extend((index..end).map(|index| if at(index) == '\n' { '\n' } else { ' ' }));
            index = end;
        } else {
            // The `b` of a byte string is part of the literal.
            let literal = at(index) == 'b' && (at(index + 1) == '"' || (at(index + 1) == 'r' && at(index + 2) == '"'));
            code.push(if literal { ' ' } else { at(index) });
            index += 1;
        }
    }
    code
}

fn line_end(text: &[char], start: usize) -> usize {
    (start..text.len()).find(|at| text[*at] == '\n').unwrap_or(text.len())
}

fn comment_end(text: &[char], start: usize) -> usize {
    let (mut depth, mut at) = (0, start);
    while at < text.len() {
        match text.get(at..at + 2) {
            Some(['/', '*']) => (depth, at) = (depth + 1, at + 2),
            Some(['*', '/']) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

fn string_end(text: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while at < text.len() {
        match text[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// The end of a raw string that begins here; `None` for a raw identifier.
fn raw_end(text: &[char], start: usize) -> Option<usize> {
    let hashes = text.get(start + 1..)?.iter().take_while(|c| **c == '#').count();
    let opened = start + 1 + hashes;
    if text.get(opened) != Some(&'"') {
        return None;
    }
    let closes =
        |at: &usize| text[*at] == '"' && text[*at + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes;
    (opened + 1..text.len()).find(closes).map(|at| at + 1 + hashes)
}
