//! The rules of accessibility that axe holds against a page, in the page itself. Left out only where nobody gave axe
//! and nobody asked for services.

use serde_json::Value;

use super::{Browser, SERVICES, Tab};
use crate::support::drawing::{draw, takes_all};

/// Names the folder in which `tests/peers/axe` has put the script.
const FOLDER: &str = "PRINTFLOOR_TEST_AXE";
/// Of so many pages to which acts of a test lead, a run holds one against the rules: `staff::browser::everywhere` has
/// the pages themselves, each in every run.
const ONE_OF: u64 = 3;

/// A rule of axe.
#[derive(Debug)]
pub struct AxeRule {
    /// Its name, such as `color-contrast`.
    pub name: String,
    /// The criteria of WCAG that it tests, such as `1.4.3`.
    pub criteria: Vec<String>,
}

/// Returns the script, if there is one.
pub(super) fn script() -> Option<String> {
    let Some(folder) = std::env::var_os(FOLDER) else {
        assert!(std::env::var_os(SERVICES).is_none(), "{SERVICES} is set and {FOLDER} is not");
        eprintln!("pages are not held against the rules of accessibility: no {FOLDER}");
        return None;
    };
    let file = std::path::PathBuf::from(folder).join("axe.min.js");
    Some(std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())))
}

impl Browser {
    /// Returns whether pages are checked against the rules at all.
    pub fn has_rules(&self) -> bool {
        self.axe.is_some()
    }

    /// Holds no page against the rules: for a test that opens many times a page that others hold against them.
    pub fn without_rules(mut self) -> Self {
        self.axe = None;
        self
    }

    /// Holds pages against the rules only where the test says so from now on, and not as they are opened.
    pub fn hold_by_hand(&mut self) {
        self.holds_by_hand = true;
    }

    /// Holds a page against the rules if the seed of the run draws it.
    pub async fn hold_drawn(&mut self, tab: &Tab) {
        self.pages += 1;
        if self.holds_by_hand || self.axe.is_none() {
            return;
        }
        let path = self.try_eval(tab, "location.pathname").await;
        let path = path.as_ref().and_then(Value::as_str).unwrap_or_default();
        // Ids are others in each run.
        let parts: Vec<&str> = path.split('/').filter(|part| !part.contains(|c: char| c.is_ascii_digit())).collect();
        if takes_all() || draw((parts, self.pages), ONE_OF) == 0 {
            self.hold(tab).await;
        }
    }

    /// Loads the rules into a page, if there are some.
    async fn load_rules(&mut self, tab: &Tab) -> bool {
        let Some(script) = self.axe.take() else { return false };
        let there = self.try_eval(tab, "!!window.axe").await == Some(Value::Bool(true))
            || self.try_eval(tab, &format!("{script};0")).await.is_some();
        self.axe = Some(script);
        there
    }

    /// Notes what breaks the rules on a page, as it is now.
    pub async fn hold(&mut self, tab: &Tab) {
        if !self.load_rules(tab).await {
            return;
        }
        let Some(report) = self.try_eval(tab, "seen.audit()").await else { return };
        let path = report["path"].as_str().unwrap_or_default();
        let broken = report["violations"].as_array().into_iter().flatten();
        let broken: Vec<String> = broken.filter_map(|one| Some(format!("{path}: {}", one.as_str()?))).collect();
        self.broken.extend(broken);
    }

    /// Lists the rules that pages are checked against, by name.
    pub async fn rules(&mut self, tab: &Tab) -> Vec<AxeRule> {
        assert!(self.load_rules(tab).await, "no rules");
        let answer = self.eval(tab, "seen.rules()").await;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let rule = |one: &Value| AxeRule {
            name: text(&one["name"]),
            criteria: one["criteria"].as_array().into_iter().flatten().map(text).collect(),
        };
        let mut rules: Vec<AxeRule> = answer.as_array().into_iter().flatten().map(rule).collect();
        rules.sort_by(|a, b| a.name.cmp(&b.name));
        rules
    }
}
