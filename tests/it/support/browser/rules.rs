//! Accessibility rules of axe, which are evaluated inside the page. Skipped if axe is not installed and services are
//! not required.

use serde_json::Value;

use super::{Browser, SERVICES, Tab};
use crate::support::drawing::{draw, takes_all};

/// Environment variable that names the folder into which `tests/peers/axe` has put the script.
const FOLDER: &str = "PRINTFLOOR_TEST_AXE";
/// Of the pages that a test opens, a run checks one in this many against the rules; `staff::browser::everywhere` covers
/// the pages themselves, all of them in each run.
const ONE_OF: u64 = 3;

/// An accessibility rule of axe.
#[derive(Debug)]
pub struct AxeRule {
    /// Name of the rule, such as `color-contrast`.
    pub name: String,
    /// WCAG criteria that the rule tests, such as `1.4.3`.
    pub criteria: Vec<String>,
}

/// Returns the script with the rules; `None` if axe is not installed.
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

    /// Disables the rules, for a test that repeatedly opens a page that other tests check.
    pub fn without_rules(mut self) -> Self {
        self.axe = None;
        self
    }

    /// Checks pages against the rules only on request from now on, not when they are opened.
    pub fn hold_by_hand(&mut self) {
        self.holds_by_hand = true;
    }

    /// Checks a page against the rules if the run's seed selects it.
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

    /// Loads the rules into a page; returns `false` if they are not available.
    async fn load_rules(&mut self, tab: &Tab) -> bool {
        let Some(script) = self.axe.take() else { return false };
        let there = self.try_eval(tab, "!!window.axe").await == Some(Value::Bool(true))
            || self.try_eval(tab, &format!("{script};0")).await.is_some();
        self.axe = Some(script);
        there
    }

    /// Records the violations of the rules on a page in its current state.
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
