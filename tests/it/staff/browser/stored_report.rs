//! The stored accessibility report, `docs/ACCESSIBILITY.md`: tests compare its sections with their results, or rewrite
//! them.

use std::path::PathBuf;

/// Environment variable that, if set to 1, makes the tests rewrite the sections.
const KEEP: &str = "PRINTFLOOR_TEST_KEEP_ACCESSIBILITY";

/// Compares the section of the report with this title with the expected text.
#[track_caller]
pub fn part_is(title: &str, body: &str) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/ACCESSIBILITY.md");
    let text = std::fs::read_to_string(&file).unwrap();
    let heading = format!("\n## {title}\n");
    let (before, rest) = text.split_once(&heading).unwrap_or_else(|| panic!("no part {title:?} in the report"));
    let end = rest.find("\n## ").unwrap_or(rest.len());
    let (report, after) = rest.split_at(end);
    if report.trim() == body.trim() {
        return;
    }
    if std::env::var(KEEP).is_ok_and(|word| word == "1") {
        std::fs::write(&file, format!("{before}{heading}\n{}\n{after}", body.trim())).unwrap();
        return;
    }
    assert_eq!(report.trim(), body.trim(), "{title}: {KEEP}=1 keeps the report anew");
}

/// Rewrites a section whose content varies from run to run if requested; unlike [`part_is`], never compares it.
#[track_caller]
pub fn part_was(title: &str, body: &str) {
    if std::env::var(KEEP).is_ok_and(|word| word == "1") {
        part_is(title, body);
    }
}
