//! The stored report on the pages' conformance to WCAG 2.2: each criterion with the axe rules that test it, the
//! project's own tests, and the findings of manual reviews. A criterion that nothing tests, and a test that does not
//! exist, are faults.

mod criteria;

use std::fmt::Write as _;
use std::path::Path;

use self::criteria::{CRITERIA, Criterion};
use super::stored_report::part_is;
use crate::support::browser::{AxeRule, Browser};
use crate::support::{App, Db};

/// Returns whether a file of tests somewhere below has a test of this name.
fn has_test(folder: &Path, name: &str) -> bool {
    let begins = [format!("async fn {name}("), format!("fn {name}(")];
    std::fs::read_dir(folder).unwrap().filter_map(Result::ok).map(|entry| entry.path()).any(|path| {
        if path.is_dir() {
            return has_test(&path, name);
        }
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        path.extension().is_some_and(|kind| kind == "rs") && begins.iter().any(|begin| text.contains(begin))
    })
}

/// Lists the checks of a criterion, from automatic to manual.
fn how(criterion: &Criterion, rules: &[AxeRule]) -> String {
    let of = |rule: &&AxeRule| rule.criteria.iter().any(|number| number == criterion.number);
    let axe: Vec<String> = rules.iter().filter(of).map(|rule| format!("`{}`", rule.name)).collect();
    let own: Vec<String> = criterion.tests.iter().map(|name| format!("`{name}`")).collect();
    let mut parts = Vec::new();
    if !axe.is_empty() {
        parts.push(format!("axe: {}", axe.join(", ")));
    }
    if !own.is_empty() {
        parts.push(format!("test: {}", own.join(", ")));
    }
    if !criterion.by_hand.is_empty() {
        parts.push(criterion.by_hand.to_owned());
    }
    parts.join("; ")
}

fn table(rules: &[AxeRule]) -> String {
    let mut text = "| criterion | level | how it is tested |\n|---|---|---|\n".to_owned();
    for criterion in &CRITERIA {
        let Criterion { number, name, level, .. } = criterion;
        let _ = writeln!(text, "| {number} {name} | {level} | {} |", how(criterion, rules));
    }
    let others: Vec<String> =
        rules.iter().filter(|rule| rule.criteria.is_empty()).map(|rule| format!("`{}`", rule.name)).collect();
    let _ = write!(text, "\nBesides the criteria, pages keep these rules of good practice: {}.", others.join(", "));
    text
}

#[test]
fn each_criterion_is_tested_by_something_that_exists() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let numbers: std::collections::BTreeSet<&str> = CRITERIA.iter().map(|criterion| criterion.number).collect();
    assert_eq!((CRITERIA.len(), numbers.len()), (55, 55), "WCAG 2.2 has 55 criteria of the levels A and AA");
    for criterion in &CRITERIA {
        for name in criterion.tests {
            assert!(has_test(&tests, name), "{}: there is no test {name}", criterion.number);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_report_of_accessibility_is_true() {
    let Some(mut browser) = Browser::start().await else { return };
    if !browser.has_rules() {
        return;
    }
    let app = App::new(Db::sqlite()).await;
    let tab = browser.open(&app.base, "/sign-in", None).await;
    let rules = browser.rules(&tab).await;
    for criterion in &CRITERIA {
        assert!(!how(criterion, &rules).is_empty(), "nothing tests {} {}", criterion.number, criterion.name);
    }
    part_is("Criteria", &table(&rules));
}
