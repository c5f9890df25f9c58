//! Grouping of imports: three groups separated by one blank line: the standard library, other crates, this workspace.

use super::text::word;
use super::{Rule, Scope, planted_and_innocent};

/// The groups, in order.
const GROUPS: [&str; 3] = ["std", "crates of others", "this workspace"];

/// Crates in the folders of `src/`. For imports they count as modules of one crate.
const OWN_CRATES: [&str; 15] = [
    "actors",
    "config",
    "documents",
    "domain",
    "entities",
    "files",
    "http",
    "http_api",
    "http_pages",
    "kernel",
    "platform",
    "printers",
    "services",
    "store",
    "words",
];

/// Returns the index of an import's group, determined by the first name of its path. Modules that the file declares
/// belong to this workspace.
fn group(import: &str, modules: &[String]) -> usize {
    match word(import.trim_start_matches(['{', ':', ' '])) {
        "std" | "core" | "alloc" => 0,
        "crate" | "self" | "super" => 2,
        name if OWN_CRATES.contains(&name) => 2,
        name if modules.iter().any(|module| module == name) => 2,
        _ => 1,
    }
}

/// Returns the names of the modules that the file declares.
fn modules(code: &str) -> Vec<String> {
    let declared = code.lines().filter_map(|line| {
        let line = line.trim().trim_start_matches("pub(crate) ").trim_start_matches("pub ");
        line.strip_prefix("mod ").map(|rest| word(rest).to_owned())
    });
    declared.collect()
}

const GROUPED: Rule = Rule {
    holds: "imports stand in the groups std, crates of others, this workspace, with one blank line between two groups",
    scope: Scope::Everywhere,
    check: |file| {
        let code = file.code();
        let modules = modules(code);
        let mut violations = Vec::new();
        // Group and indentation of the import before, and whether a blank line came after it.
        let mut before: Option<(usize, usize)> = None;
        let (mut blank, mut inside) = (false, false);
        for (line, (number, text)) in code.lines().zip((1..).zip(file.text.lines())) {
            let content = line.trim();
            if inside {
                inside = !content.contains(';');
            } else if let Some(import) = content.strip_prefix("use ") {
                let indentation = line.len() - line.trim_start().len();
                let this = group(import, &modules);
                match before.filter(|(_, other)| *other == indentation) {
                    Some((last, _)) if this < last => {
                        violations.push((number, format!("{} after {}", GROUPS[this], GROUPS[last])));
                    }
                    Some((last, _)) if this == last && blank => {
                        violations.push((number, format!("a blank line within the group {}", GROUPS[this])));
                    }
                    Some((last, _)) if this > last && !blank => {
                        violations.push((number, format!("no blank line before the group {}", GROUPS[this])));
                    }
                    _ => {}
                }
                before = Some((this, indentation));
                blank = false;
                inside = !content.contains(';');
            } else if text.trim().is_empty() {
                blank = true;
            } else if !content.starts_with("#[") {
                // Anything else, a comment too, ends the run of imports.
                before = None;
            }
        }
        violations
    },
    planted: &[
        ("src/a.rs", "use crate::b;\n\nuse std::fs;"),
        ("src/a.rs", "use std::fs;\nuse crate::b;"),
        ("src/a.rs", "use std::fs;\n\nuse std::io;"),
        ("src/a.rs", "mod own;\n\nuse own::{\n    One,\n    Two,\n};\nuse tokio::sync::watch;"),
        ("src/a.rs", "mod tests {\n    use super::*;\n    use proptest::prelude::*;\n}"),
        ("src/store/a.rs", "use domain::id::Id;\nuse tokio::sync::watch;"),
    ],
    innocent: &[
        ("src/a.rs", "use std::fs;\nuse std::io;\n\nuse tokio::sync::watch;\n\nuse super::x;\nuse crate::b;"),
        ("src/a.rs", "use std::fs;\n\n#[cfg(test)]\nuse crate::b;\n\nfn f() {\n    use std::io;\n}"),
        ("src/store/a.rs", "use tokio::sync::watch;\n\nuse crate::b;\nuse domain::id::Id;"),
        ("src/a.rs", "use crate::b;\n\npub use crate::c;\n// Apart, with a reason.\nuse std::fs;"),
    ],
};

pub(super) const RULES: &[&Rule] = &[&GROUPED];

#[test]
fn the_rule_of_imports_finds_what_breaks_it() {
    planted_and_innocent(RULES);
}
