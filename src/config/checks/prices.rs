//! Checks of the price tables for custom parts.

use std::collections::BTreeSet;

use crate::sections::IntakeConfig;
use domain::bounds::MAX_CENTS;
use domain::intake_prices::{DEFAULT_ENTRY, MAX_COLORS};

/// Maximum validity of an estimate, in days.
const MAX_ESTIMATE_DAYS: u32 = 3650;

/// Appends a description of each error in the price tables to `problems`.
pub(super) fn problems(intake: &IntakeConfig, problems: &mut Vec<String>) {
    let fits = |cents: i64| (0..=MAX_CENTS).contains(&cents);
    for (name, table) in intake.tables() {
        let ids: BTreeSet<&str> = table.iter().map(|entry| entry.id.as_str()).collect();
        if !ids.contains(DEFAULT_ENTRY) {
            problems.push(format!("intake.{name} must have an entry with the ID \"{DEFAULT_ENTRY}\""));
        }
        if ids.len() < table.len() {
            problems.push(format!("intake.{name} contains the same ID twice"));
        }
        if table.iter().any(|entry| !fits(entry.cents)) {
            problems.push(format!("intake.{name}: prices must be from 0 to {MAX_CENTS}"));
        }
    }
    if intake.color_cents.len() != usize::from(MAX_COLORS) || !intake.color_cents.iter().all(|cents| fits(*cents)) {
        problems.push(format!("intake.color_cents must contain {MAX_COLORS} prices, one for each number of colours"));
    }
    if !fits(intake.uv_coating_cents) {
        problems.push(format!("intake.uv_coating_cents must be from 0 to {MAX_CENTS}"));
    }
    if !(1..=MAX_ESTIMATE_DAYS).contains(&intake.valid_days) {
        problems.push(format!("intake.valid_days must be from 1 to {MAX_ESTIMATE_DAYS}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::sections::IntakePrice;

    fn faults(change: impl FnOnce(&mut IntakeConfig)) -> Vec<String> {
        let (mut intake, mut messages) = (Config::default().intake, Vec::new());
        change(&mut intake);
        problems(&intake, &mut messages);
        messages
    }

    #[test]
    fn every_fault_of_the_tables_is_told() {
        assert!(faults(|_| {}).is_empty());
        let price = |id: &str, cents| IntakePrice { id: id.to_owned(), cents };
        let messages = faults(|intake| {
            intake.sizes = vec![price("m", 1), price("m", -1)];
            intake.color_cents.pop();
            intake.uv_coating_cents = -1;
            intake.valid_days = 0;
        });
        for words in [
            "sizes must have an entry",
            "contains the same ID twice",
            "sizes: prices must be",
            "color_cents",
            "uv_coating_cents",
            "valid_days",
        ] {
            assert!(messages.iter().any(|fault| fault.contains(words)), "{words}: {messages:?}");
        }
        assert_eq!(messages.len(), 6, "{messages:?}");
    }
}
