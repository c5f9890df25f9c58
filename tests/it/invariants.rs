//! What must hold of the source text itself: who may know whom (ARCHITECTURE.md, "Cross-cutting").
//!
//! Each rule is a pure function of one file, and carries violations that it must find and text that it must let pass.

mod imports;
mod rooms;
mod text;
mod words;

use std::fmt;
use std::path::Path;

use text::{File, gather, names, parts, path_of, word, words};

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
        ("src/domain/order.rs", "use crate::{actors::kernel::actor::AggregateActor, domain::id::Id};"),
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

const HANDLES: Rule = Rule {
    holds: "handlers take the handles that they use, never the state of the whole server",
    check: |file| {
        if !file.within("src/http/production/") {
            return Vec::new();
        }
        let whole = ["State<AppState>", "app: AppState"];
        file.in_code(|line| whole.iter().find(|whole| line.contains(**whole)).map(|whole| format!("takes {whole}")))
    },
    planted: &[
        ("src/http/production/skus.rs", "async fn list(State(app): State<AppState>) {}"),
        ("src/http/production/agent.rs", "struct AgentCall {\n    app: AppState,\n}"),
    ],
    innocent: &[
        ("src/http/production/skus.rs", "async fn list(State(app): State<Handles>) {}"),
        ("src/http/production/payments.rs", "impl FromRequest<AppState> for SignedEvent {}"),
        ("src/http/serve.rs", "pub async fn serve(app: AppState) {}"),
    ],
};

/// These hold a connection and pass it on to `store/`; they name its type and nothing else of the database.
const PASS_ON: [&str; 5] = [
    "src/app/own_secrets.rs", // holds the server's own secrets against the database, by the store's look
    "src/actors/kernel/directory.rs", // reads things at rest, by the store's `Load`
    "src/app/start.rs",       // opens the database and hands it out
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
        ("src/actors/payment_events/matching.rs", "use sea_orm::DatabaseConnection;"),
        ("src/actors/kernel/directory.rs", "use sea_orm::EntityTrait;"),
        ("src/actors/orders.rs", "let order = crate::entities::orders::Entity::find();"),
    ],
    innocent: &[
        ("src/actors/kernel/directory.rs", "use sea_orm::DatabaseConnection;"),
        ("src/store/writer.rs", "use sea_orm::EntityTrait;"),
        ("src/observe/log.rs", "let filter = \"warn,sea_orm::query=error\";"),
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
        ("src/app.rs", "pub struct Link;"),
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
        let may_say_header = file.is(&["src/config/tests.rs", "src/cli/demo/clerk.rs"]);
        file.in_text(|line| {
            let line = if may_say_header { line.replace(HEADER, "") } else { line.to_owned() };
            names(&line, &VENDOR_NAMES)
        })
    },
    planted: &[
        ("src/domain/payment_event.rs", "//! Events of Stripe."),
        ("src/actors/mails.rs", "const URL: &str = \"https://api.resend.com\";"),
        ("src/http/production/payments.rs", "let header = \"Stripe-Signature\";"),
        ("src/cli/demo/clerk.rs", "let stripe = 1;"),
    ],
    innocent: &[
        ("src/services/mail/api.rs", "//! The interface of Resend."),
        ("src/cli/demo/clerk.rs", "request.header(\"Stripe-Signature\", signed);"),
        ("src/actors/payment_events/matching.rs", "let stripes = 1; // a pattern, no company"),
        ("src/actors/kernel/envelope.rs", "/// Never resent."),
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

/// But these, and they no longer than this.
const LONGER: [(&str, usize); 2] = [
    ("src/store/writer.rs", 480), // the queue, its connection and who holds it are read together
    ("src/domain/order/tests/model.rs", 500), // a model of orders, printers and dispatch together: its parts say nothing
];

const SIZE: Rule = Rule {
    holds: "no file of src/ is longer than 450 lines, and modules are foo.rs beside foo/, not foo/mod.rs",
    check: |file| {
        let longer = LONGER.iter().find(|(path, _)| file.is(&[path]));
        let longest = longer.map_or(LONGEST, |(_, longest)| *longest);
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
        ("src/app.rs", "use std::fmt;"),
    ],
};

const START: Rule = Rule {
    holds: "a printer is told to start in two places only: the one task of an attempt, and an operator's own print",
    check: |file| {
        if file.within("src/printers/") || file.is(&["src/actors/printers/run.rs", "src/actors/printers/manual.rs"]) {
            return Vec::new();
        }
        file.in_code(|line| line.contains("adapter.start(").then(|| "starts a print".to_owned()))
    },
    planted: &[
        ("src/actors/printers/watch.rs", "link.adapter.start(&name).await?;"),
        ("src/http/production/operate.rs", "link.adapter.start(&name).await?;"),
    ],
    innocent: &[
        ("src/actors/printers/run.rs", "match link.adapter.start(&name).await {"),
        ("src/app/start.rs", "dispatcher.start(&root).await?;"),
    ],
};

/// These read text that the server wrote itself, or a type that holds no `Value`.
const OWN_TEXT: [&str; 8] = [
    "src/store/queries/contents.rs",     // a file's document, as the store wrote it
    "src/http/openapi.rs",               // the description itself
    "src/store/rows/doc.rs",             // a row's document
    "src/store/rows/plain.rs",           // an event's data
    "src/http/idempotency.rs",           // a kept answer
    "src/http/production/audit.rs",      // facts of the audit log
    "src/http/production/deliveries.rs", // what was delivered
    "src/cli/demo/folder.rs",            // the demo's own notes
];

const BOUNDED_JSON: Rule = Rule {
    holds: "JSON from outside is read by the crate bounded-json: serde_json's own Value may overflow the stack",
    check: |file| {
        if file.is(&OWN_TEXT) || file.is_tests() {
            return Vec::new();
        }
        let readers = ["from_slice", "from_str", "from_reader"].map(|reader| format!("serde_json::{reader}"));
        let extractors = [".json::<", ": Json<"];
        let tests = file.text.lines().position(|line| line == "mod tests {").unwrap_or(usize::MAX);
        let mut found = file.in_code(|line| {
            let mut all = readers.iter().map(String::as_str).chain(extractors);
            all.find(|reader| line.contains(reader)).map(|reader| format!("uses {reader}"))
        });
        found.retain(|(line, _)| *line <= tests);
        found
    },
    planted: &[
        ("src/http/body.rs", "let value: Value = serde_json::from_slice(bytes)?;"),
        ("src/printers/wire.rs", "let answer = answer.json::<Value>().await?;"),
        ("src/http/production/orders.rs", "async fn place(Json(body): Json<Value>) {}"),
    ],
    innocent: &[
        ("src/http/body.rs", "let document = bounded_json::document(bytes, REQUEST)?;"),
        ("src/store/rows/doc.rs", "serde_json::from_str(doc)"),
    ],
};

const RULES: [&Rule; 12] =
    [&DOMAIN, &EDGE, &HANDLES, &TABLES, &BRANDS, &VENDORS, &WIRE, &EXPECT, &SIZE, &DOCUMENTED, &START, &BOUNDED_JSON];

#[test]
fn the_rules_know_nothing_of_the_outside() {
    holds(&DOMAIN);
}

#[test]
fn the_edge_knows_no_tables() {
    holds(&EDGE);
}

#[test]
fn handlers_take_narrow_handles() {
    holds(&HANDLES);
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
fn json_from_outside_is_read_within_bounds() {
    holds(&BOUNDED_JSON);
}

#[test]
fn each_rule_finds_what_breaks_it_and_nothing_else() {
    planted_and_innocent(&RULES);
}

/// Fails where a rule misses a planted violation, or takes innocent text for one.
fn planted_and_innocent(rules: &[&Rule]) {
    for rule in rules {
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
    let long = |lines| File::new("src/app.rs", &"//\n".repeat(lines));
    assert_eq!(told(&broken(&SIZE, &[long(LONGEST + 1)])), "src/app.rs:451: has 451 lines; 450 are allowed");
    assert!(broken(&SIZE, &[long(LONGEST)]).is_empty());
}

/// All files of `src/`.
fn source_files() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    gather(root, &root.join("src"), &mut files);
    assert!(files.len() > 100, "only {} files found below {}", files.len(), root.display());
    files
}

/// Fails with every line of `src/` that breaks the rule.
fn holds(rule: &Rule) {
    let found = broken(rule, &source_files());
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
