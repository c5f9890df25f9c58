//! Constants and comments: each must be understandable on its own.

use super::{Rule, Scope, planted_and_innocent};

/// Fragments of citations of documents that are not in the repository.
const CITATIONS: [&str; 9] = [
    "decisions §",
    "spec §",
    "specification §",
    "sheet §",
    "protocol sheet",
    "house.md",
    "edge.md",
    "findings.md",
    "shared/spec",
];

const NO_CITATION: Rule = Rule {
    holds: "no comment cites a document that is not in the repository: it gives the reason instead",
    scope: Scope::Product,
    check: |file| {
        file.in_text(|line| {
            let citation = CITATIONS.iter().find(|citation| line.contains(**citation));
            citation.map(|citation| format!("cites {citation:?}"))
        })
    },
    planted: &[
        ("src/domain/job.rs", "/// Once each, by decisions §4."),
        ("src/printers/wire.rs", "//! See the protocol sheet."),
    ],
    innocent: &[(
        "src/domain/job.rs",
        "/// Each job is printed once, because a part costs money.\nlet section = \"§\";",
    )],
};

/// Words that carry no information by themselves.
const EMPTY_WORDS: [&str; 14] =
    ["a", "an", "the", "of", "its", "this", "that", "is", "to", "for", "and", "in", "one", "new"];

/// Splits a name into words: `PrinterStatus` and `printer_status` are both `printer`, `status`.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        if c == '_' || c.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c != '_') {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns whether a doc comment consists only of words from the name that it describes.
fn restates(doc: &str, name: &str) -> bool {
    let name = words_of(name);
    let doc_words: Vec<String> = doc
        .split(|c: char| !c.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|word| !word.is_empty() && word != "s" && !EMPTY_WORDS.contains(&word.as_str()))
        .collect();
    let in_name = |word: &String| {
        let stem = word.trim_end_matches('s');
        name.iter().any(|part| part == word || part.trim_end_matches('s') == stem)
    };
    doc_words.iter().all(in_name)
}

/// Returns the name that a line of code gives to a public item, field or variant.
fn named(line: &str) -> Option<&str> {
    let line = line.trim();
    let rest = line.strip_prefix("pub ").unwrap_or(line);
    let keywords =
        ["struct ", "enum ", "trait ", "type ", "fn ", "async fn ", "const fn ", "const ", "static ", "mod "];
    let rest = keywords.iter().find_map(|keyword| rest.strip_prefix(keyword)).unwrap_or(rest);
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    Some(&rest[..end]).filter(|name| !name.is_empty())
}

const NO_RESTATEMENT: Rule = Rule {
    holds: "a doc comment of one line says more than the name that it stands above",
    scope: Scope::Product,
    check: |file| {
        let lines: Vec<&str> = file.text.lines().collect();
        let is_doc = |line: &str| line.trim_start().starts_with("///");
        let mut violations = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let Some(doc) = line.trim_start().strip_prefix("///") else { continue };
            if (at > 0 && is_doc(lines[at - 1])) || lines.get(at + 1).is_some_and(|next| is_doc(next)) {
                continue;
            }
            let item = lines[at + 1..].iter().find(|next| !next.trim_start().starts_with('#'));
            let Some(name) = item.and_then(|item| named(item)) else { continue };
            if restates(doc, name) {
                violations.push((at + 1, format!("\"{}\" restates {name}", doc.trim())));
            }
        }
        violations
    },
    planted: &[
        ("src/domain/order.rs", "/// The order's status.\npub order_status: OrderStatus,"),
        ("src/domain/order.rs", "/// An order.\n#[derive(Debug)]\npub struct Order {"),
        ("src/store.rs", "/// Its id.\npub id: Id,"),
    ],
    innocent: &[
        ("src/domain/order.rs", "/// What a customer asked for and paid.\npub struct Order {"),
        ("src/domain/order.rs", "/// An order.\n///\n/// It is the aggregate that owns its jobs.\npub struct Order {"),
    ],
};

/// Types of constants that are limits: numbers and durations.
const BOUND_TYPES: [&str; 14] = [
    "Duration",
    "Delays",
    "usize",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "i16",
    "i32",
    "i64",
    "f32",
    "f64",
    "NonZeroUsize",
];

/// Returns the name and type of the constant that a line of code declares; `None` if it declares none.
fn constant(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start();
    let rest = rest.strip_prefix("pub").map_or(rest, |rest| rest.trim_start_matches(|c| c != ' ').trim_start());
    rest.strip_prefix("const ")?.split_once('=')?.0.trim_end().split_once(": ")
}

const TELLING_BOUNDS: Rule = Rule {
    holds: "a constant that is a number or a span of time is named for what it bounds, and how: two words at least",
    scope: Scope::Product,
    check: |file| {
        if file.is_tests() {
            return Vec::new();
        }
        let tests = file.text.lines().position(|line| line == "mod tests {").unwrap_or(usize::MAX);
        let mut violations = file.in_code(|line| {
            let (name, of) = constant(line)?;
            (BOUND_TYPES.contains(&of) && !name.contains('_')).then(|| format!("{name} does not say what it bounds"))
        });
        violations.retain(|(line, _)| *line <= tests);
        violations
    },
    planted: &[
        ("src/http/serve.rs", "const SWEEP: Duration = Duration::from_secs(30);"),
        ("src/domain/endpoint.rs", "pub(crate) const WINDOW: usize = 32;"),
        ("src/app/stream.rs", "    pub const RETRY: Delays = Delays { first: FIRST, longest: LONGEST };"),
    ],
    innocent: &[
        ("src/http/serve.rs", "const SWEEP_INTERVAL: Duration = Duration::from_secs(30);\nconst PATH: &str = \"x\";"),
        (
            "src/domain/amount.rs",
            "pub const ZERO: Self = Self(0);\n#[cfg(test)]\nmod tests {\n    const HOUR: i64 = 1;\n}",
        ),
    ],
};

/// Maximum width of a comment line, in columns: the same as `rustfmt` uses for code.
const MAX_COLUMNS: usize = 120;

const COMMENT_WIDTH: Rule = Rule {
    holds: "no comment line is longer than 120 columns: scripts/wrap-comments breaks them",
    scope: Scope::Everywhere,
    check: |file| {
        file.in_text(|line| {
            let columns = line.chars().count();
            let comment = line.trim_start().starts_with("//");
            // A row of a table cannot be broken.
            let row = line.trim_start_matches([' ', '/', '!']).starts_with('|');
            (comment && !row && columns > MAX_COLUMNS).then(|| format!("has {columns} columns"))
        })
    },
    planted: &[(
        "src/app.rs",
        "    /// This line goes on and on, as lines do that nobody wraps, until it is longer than all the code that stands below it, by one.",
    )],
    innocent: &[(
        "src/app.rs",
        "/// Short.\nlet text = \"https://example.com/a/path/that/is/long/enough/to/be/longer/than/any/comment/may/be/in/this/project/by/far\";",
    )],
};

const SPELLING: Rule = Rule {
    holds: "people read \"email\", one spelling on all pages and in all messages",
    scope: Scope::Product,
    check: |file| {
        file.in_text(|line| line.to_lowercase().contains("e-mail").then(|| "has a hyphen in email".to_owned()))
    },
    planted: &[
        ("src/http/pages/sign_in.rs", "label for=\"email\" { \"E-mail address\" }"),
        ("src/domain/mail.rs", "/// Recipient of the e-mail."),
    ],
    innocent: &[("src/http/pages/sign_in.rs", "label for=\"email\" { \"Email address\" }")],
};

pub(super) const RULES: &[&Rule] = &[&NO_CITATION, &NO_RESTATEMENT, &TELLING_BOUNDS, &COMMENT_WIDTH, &SPELLING];

#[test]
fn rules_of_words_find_what_breaks_them() {
    planted_and_innocent(RULES);
}
