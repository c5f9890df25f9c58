//! Alert rules: promtool accepts them, and each has scenarios in which it fires and in which it does not.

use std::collections::BTreeSet;

use super::text_of;
use crate::support::prometheus::promtool;

const RULES: &str = "deploy/prometheus-alerts.yml";
const SCENARIOS: &str = "deploy/prometheus-alerts.test.yml";

/// Returns the path of a file of the project.
fn path_of(file: &str) -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/").to_owned() + file
}

#[test]
fn every_alert_has_a_scenario_in_which_it_fires_and_one_in_which_it_does_not() {
    let (rules, scenarios) = (text_of(RULES), text_of(SCENARIOS));
    let alerts: BTreeSet<&str> = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    assert!(alerts.len() > 10, "{alerts:?}");
    let (mut alert, mut firing, mut quiet) = ("", BTreeSet::new(), BTreeSet::new());
    for line in scenarios.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("alertname: ") {
            alert = name;
        } else if line == "exp_alerts: []" {
            quiet.insert(alert);
        } else if line == "exp_alerts:" {
            firing.insert(alert);
        }
    }
    assert_eq!(firing, alerts, "alerts that fire in a scenario");
    assert_eq!(quiet, alerts, "alerts that do not fire in a scenario");
}

#[test]
fn alerts_fire_when_they_should() {
    let Some(checked) = promtool(&["check", "rules", &path_of(RULES)]) else { return };
    assert!(checked.contains(" rules found"), "{checked}");
    let tested = promtool(&["test", "rules", &path_of(SCENARIOS)]).unwrap();
    assert!(tested.contains("SUCCESS"), "{tested}");
}
