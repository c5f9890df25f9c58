//! Rule for `pub`: a function or constant is public only if another file uses it. (A type may have to be public because
//! a public function returns it, and the fields of a plain struct share their visibility; the compiler knows more about
//! these.)

use std::collections::{BTreeMap, BTreeSet};

use super::text::{File, word, words};
use super::{Violation, all_files, report};

/// Returns the function or constant that a line of code declares with a plain `pub`; `None` if it declares none.
fn declared(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let keywords = ["const fn ", "async fn ", "fn ", "const ", "static "];
    let rest = keywords.iter().find_map(|keyword| rest.strip_prefix(keyword))?;
    Some(word(rest)).filter(|name| !name.is_empty())
}

/// Lists the public functions and constants of `src/` whose names do not occur in the code of any other file.
///
/// Names that also mean something else elsewhere pass, so there may be false negatives, but no false positives.
fn needlessly_public(files: &[File]) -> Vec<Violation> {
    let mut used: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (at, file) in files.iter().enumerate() {
        // Attributes of serde name functions in literals.
        let attributes = file.text.lines().filter(|line| line.trim_start().starts_with("#[serde("));
        for name in words(file.code()).chain(attributes.flat_map(words)) {
            used.entry(name).or_default().insert(at);
        }
    }
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| file.path.starts_with("src/")) {
        for (line, number) in file.code().lines().zip(1..) {
            let Some(name) = declared(line).filter(|name| used.get(name).is_none_or(|files| files.len() < 2)) else {
                continue;
            };
            let what = format!("{name} is public, and no other file names it");
            violations.push(Violation { path: file.path.clone(), line: number, what });
        }
    }
    violations
}

#[test]
fn what_is_public_is_used_elsewhere() {
    let violations = needlessly_public(&all_files());
    assert!(violations.is_empty(), "leave `pub` out here:\n{}", report(&violations));
}

#[test]
fn a_needless_pub_is_found_and_nothing_else() {
    let files = [
        File::new(
            "src/a.rs",
            "pub fn alone() {}\npub const fn used() {}\npub fn is_plain() {}\npub const KEPT: u8 = 1;\npub struct Open {\n    pub field: u8,\n}",
        ),
        File::new(
            "src/a/b.rs",
            "// Not alone().\nuse super::used;\npub(super) fn narrow() {}\nlet kept = \"KEPT\";\n#[serde(skip_serializing_if = \"is_plain\")]",
        ),
        File::new("tests/it/c.rs", "pub fn of_tests() {}"),
    ];
    let violations = needlessly_public(&files);
    assert_eq!(
        report(&violations),
        "src/a.rs:1: alone is public, and no other file names it\nsrc/a.rs:4: KEPT is public, and no other file names it"
    );
}
