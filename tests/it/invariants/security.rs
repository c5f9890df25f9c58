//! Claims in docs/SECURITY.md: every test that it names exists, and it names some for each risk of the OWASP API
//! Security Top 10. For each group of ASVS it states what is fulfilled, with a test or the reason why there is none,
//! and for each unfulfilled requirement the reason. It names every fuzz target.

use std::collections::BTreeSet;
use std::path::Path;

use super::all_files;
use super::documents::{chapter, read};
use super::map::named;
use super::text::File;

/// Document whose tests must exist.
pub(super) const DOCUMENT: &str = "docs/SECURITY.md";

/// Start of each attribute that turns a function into a test.
const MARKS: [&str; 3] = ["#[test]", "#[tokio::test", "#[drawn]"];

/// End of the parameter list of a test that `on_both!` and its siblings run on a database.
const ON_A_DATABASE: &str = ": Db";

/// Start of the text about the unfulfilled requirements of a group.
const NOT_HELD: &str = "**Not held";

/// Start of the reason why no test shows what a group states.
const NO_TEST: &str = "No test: ";

/// Text about requirements that concern nothing in the server; a reason follows.
const NOT_APPLICABLE: &str = "not applicable";

/// Start of the names of the sections on the risks, whose tests also show what groups of ASVS state.
const SECTION: &str = "API";

/// Number of risks in the OWASP API Security Top 10.
const RISK_COUNT: usize = 10;

/// Returns the tests that a document names, each with its line number, file and function.
fn named_tests(document: &str) -> Vec<(usize, String, String)> {
    let split = |(line, code): (usize, String)| {
        let (path, function) = code.split_once(".rs::")?;
        Some((line, format!("{path}.rs"), function.to_owned()))
    };
    named(document).into_iter().filter_map(split).collect()
}

/// Returns whether the text of a file contains a test with this name: marked by an attribute, by its parameter, or by
/// the list of a macro that runs each name in it.
fn has_test(text: &str, function: &str) -> bool {
    let declared = format!("fn {function}(");
    let Some((before, behind)) = text.split_once(&declared) else { return false };
    let above = before.rsplit('\n').skip(1).map(str::trim);
    let mut attributes = above.take_while(|line| line.starts_with("#[") || line.starts_with("//"));
    let parameters = behind.split(')').next().unwrap_or_default();
    let listed = format!("{function},");
    attributes.any(|line| MARKS.iter().any(|mark| line.starts_with(mark)))
        // A macro runs it on each database; what such tests call stands at the beginning of a line.
        || (parameters.ends_with(ON_A_DATABASE) && before.ends_with("    async "))
        || text.lines().any(|line| line.trim() == listed)
}

/// Lists the tests in a document that do not exist, with their lines.
fn missing_tests(document: &str, files: &[File]) -> Vec<String> {
    let exists =
        |path: &str, function: &str| files.iter().any(|file| file.path == path && has_test(&file.text, function));
    let all = named_tests(document).into_iter();
    all.filter(|(_, path, function)| !exists(path, function))
        .map(|(line, path, function)| format!("{line}: no test {function} in {path}"))
        .collect()
}

#[test]
fn every_test_that_the_document_names_exists() {
    let document = read(Path::new(env!("CARGO_MANIFEST_DIR")), DOCUMENT);
    let violations = missing_tests(&document, &all_files());
    assert!(violations.is_empty(), "{DOCUMENT} names tests that do not exist:\n{}", violations.join("\n"));
    assert!(named_tests(&document).len() > 100, "{DOCUMENT} names the tests that hold its claims");
}

#[test]
fn each_risk_of_the_top_ten_has_tests() {
    let document = read(Path::new(env!("CARGO_MANIFEST_DIR")), DOCUMENT);
    let risks = chapter(&document, "OWASP API Security Top 10 (2023)").expect("a chapter on the risks");
    let sections: Vec<&str> = risks.split("\n### API").skip(1).collect();
    assert_eq!(sections.len(), RISK_COUNT);
    for (section, number) in sections.into_iter().zip(1..) {
        assert!(section.starts_with(&format!("{number}: ")), "API{number} stands in its place");
        assert!(!named_tests(section).is_empty(), "API{number} has no test");
    }
}

/// Returns the table rows of a chapter that begin with a number.
fn numbered_rows(chapter: &str) -> impl Iterator<Item = &str> {
    let rows = chapter.lines().filter_map(|line| line.strip_prefix("| "));
    rows.filter(|row| row.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns the numbers of requirements in a text, such as `3.4.1`.
fn requirements(text: &str) -> BTreeSet<String> {
    let numbers = text.split(|c: char| !(c.is_ascii_digit() || c == '.')).map(|number| number.trim_end_matches('.'));
    numbers.filter(|number| number.split('.').count() == 3).map(str::to_owned).collect()
}

/// Returns the unfulfilled requirements of a group: those in the sentence after [`NOT_HELD`].
fn gaps(row: &str) -> BTreeSet<String> {
    row.split(NOT_HELD).skip(1).flat_map(|rest| requirements(rest.split(". ").next().unwrap_or(rest))).collect()
}

/// Lists the omissions in the tables of the groups (`asvs`) and in the table of unfulfilled requirements (`not_held`).
fn unjudged(asvs: &str, not_held: &str) -> Vec<String> {
    let open: BTreeSet<String> = numbered_rows(asvs).flat_map(gaps).collect();
    let explained: BTreeSet<String> =
        numbered_rows(not_held).flat_map(|row| requirements(row.split('|').next().unwrap_or_default())).collect();
    let says_nothing = |row: &&str| !["held", "applicable"].iter().any(|word| row.contains(word));
    let silent = numbered_rows(asvs).filter(says_nothing).map(|row| format!("says nothing: {row}"));
    let unexplained = open.difference(&explained).map(|number| format!("{number} is not held, without a reason"));
    let unnamed = explained.difference(&open).map(|number| format!("{number} has a reason, but its group holds it"));
    silent.chain(unexplained).chain(unnamed).collect()
}

/// Returns whether a text refers to the tests of a section on one of the risks, such as `API4`.
fn names_section(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    let is_risk = |word: &str| word.strip_prefix(SECTION)?.parse::<usize>().ok();
    words.any(|word| is_risk(word).is_some_and(|number| (1..=RISK_COUNT).contains(&number)))
}

/// Returns whether a group shows what it states: by a test, by a section with tests, or by a reason for having none. A
/// group of which nothing is fulfilled states nothing.
fn is_shown(claim: &str) -> bool {
    let reasons = [NO_TEST, &format!("{NOT_APPLICABLE}: ")].iter().any(|begin| claim.contains(begin));
    reasons || claim.starts_with(NOT_HELD) || names_section(claim) || !named_tests(claim).is_empty()
}

/// Lists the groups that state something without a test and without a reason, and those that say of requirements that
/// they are not applicable without saying why.
fn unproven(asvs: &str) -> Vec<String> {
    let claim = |row: &&str| row.split('|').nth(1).unwrap_or_default().trim().to_owned();
    let bare = |row: &&str| !is_shown(&claim(row));
    let unexplained = |row: &&str| claim(row).split(NOT_APPLICABLE).skip(1).any(|rest| !rest.starts_with(": "));
    let without_test = numbered_rows(asvs).filter(bare).map(|row| format!("no test and no reason: {row}"));
    let without_reason = numbered_rows(asvs).filter(unexplained).map(|row| format!("not applicable, and why? {row}"));
    without_test.chain(without_reason).collect()
}

#[test]
fn each_group_names_a_test_or_the_reason_for_having_none() {
    let document = read(Path::new(env!("CARGO_MANIFEST_DIR")), DOCUMENT);
    let asvs = chapter(&document, "OWASP ASVS 5.0, level 2").expect("a chapter on ASVS");
    assert_eq!(unproven(asvs), Vec::<String>::new());
}

#[test]
fn a_group_without_a_test_is_missed() {
    let good = "| 1.1 A | held: `src/a.rs::a` |\n| 1.2 B | held: API4 and API10 |\n| 1.3 C | held. No test: a document |\n\
                | 1.4 D | **Not held:** 1.4.1 |\n| 1.5 E | not applicable: there is none |\n\
                | 1.6 F | held: `src/a.rs::a`. 1.6.2 not applicable: no key |";
    assert_eq!(unproven(good), Vec::<String>::new());
    let bad = "| 1.1 A | held: `src/a.rs`, an API and API11 |\n| 1.2 B | 1.2.1 held. **Not held:** 1.2.2 |\n\
               | 1.3 C | not applicable |\n| 1.4 D | held: `src/a.rs::a`. 1.4.2 not applicable. |";
    assert_eq!(
        unproven(bad),
        [
            "no test and no reason: 1.1 A | held: `src/a.rs`, an API and API11 |",
            "no test and no reason: 1.2 B | 1.2.1 held. **Not held:** 1.2.2 |",
            "no test and no reason: 1.3 C | not applicable |",
            "not applicable, and why? 1.3 C | not applicable |",
            "not applicable, and why? 1.4 D | held: `src/a.rs::a`. 1.4.2 not applicable. |"
        ]
    );
}

#[test]
fn each_requirement_that_is_not_held_has_its_reason() {
    let document = read(Path::new(env!("CARGO_MANIFEST_DIR")), DOCUMENT);
    let asvs = chapter(&document, "OWASP ASVS 5.0, level 2").expect("a chapter on ASVS");
    let not_held = chapter(&document, "Not held").expect("a chapter on what is not held");
    assert!(numbered_rows(asvs).count() > 50 && numbered_rows(not_held).count() > 20);
    assert_eq!(unjudged(asvs, not_held), Vec::<String>::new());
}

#[test]
fn a_requirement_without_a_reason_is_missed() {
    let asvs = "| group | held by |\n|---|---|\n| 1.1 A | held: `src/a.rs::a`, 0.1.2 |\n| 1.2 B | 1.2.1 held. \
                **Not held:** 1.2.2, 1.2.3 for pages. 1.2.4 not applicable |\n| 1.3 C | |";
    let not_held = "| requirement | gap |\n|---|---|\n| 1.2.2, 1.2.5 | As 1.2.9. |";
    assert_eq!(
        unjudged(asvs, not_held),
        [
            "says nothing: 1.3 C | |",
            "1.2.3 is not held, without a reason",
            "1.2.5 has a reason, but its group holds it"
        ]
    );
    assert!(unjudged("| 1.1 A | not applicable |", "").is_empty());
}

/// Lists the fuzz targets that a chapter does not name.
fn unnamed_targets(chapter: &str, targets: &[String]) -> Vec<String> {
    targets.iter().filter(|target| !chapter.contains(&format!("`{target}`"))).cloned().collect()
}

#[test]
fn each_fuzz_target_is_named() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = read(root, DOCUMENT);
    let parsers = chapter(&document, "Parsers of bytes from outside").expect("a chapter on parsers");
    let folders = std::fs::read_dir(root.join("fuzz/corpus")).expect("folders of inputs");
    let targets: Vec<String> =
        folders.map(|folder| folder.unwrap().file_name().into_string().expect("a name in ASCII")).collect();
    assert!(targets.len() > 20, "only {} targets", targets.len());
    assert_eq!(unnamed_targets(parsers, &targets), Vec::<String>::new(), "{DOCUMENT} does not name them");
    assert_eq!(unnamed_targets("`gcode` and gcode_package", &["gcode_package".to_owned()]), ["gcode_package"]);
}

#[test]
fn a_test_that_does_not_exist_is_missed() {
    let text = "#[test]\nfn a() {}\n\n    /// Two.\n    #[tokio::test(start_paused = true)]\n    async fn b() {}\n\nfn c() {}\n\
                on_both! {\n    async fn d(db: Db) {}\n}\neach_kind! {\n    #[drawn]\n    async fn e(kind: Kind) {}\n}\n\
                tests! {\n    f,\n}\nasync fn f(rig: Rig) {}\nasync fn g(db: Db) {}";
    let files = [File::new("src/a.rs", text)];
    let good =
        "`src/a.rs::a`, `src/a.rs::b`,\n`src/a.rs::d`, `src/a.rs::e`, `src/a.rs::f`; `src/a.rs` and `A::b` are none.";
    assert_eq!(missing_tests(good, &files), Vec::<String>::new());
    let bad = "`src/a.rs::c` `src/a.rs::g`\n`src/b.rs::a` `src/a.rs::aa`";
    assert_eq!(
        missing_tests(bad, &files),
        [
            "1: no test c in src/a.rs",
            "1: no test g in src/a.rs",
            "2: no test a in src/b.rs",
            "2: no test aa in src/a.rs"
        ]
    );
}
