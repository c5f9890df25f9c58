//! Settings that the setup wizard has collected but not written yet. They are retained between the wizard's pages, so
//! that the wizard can be left and resumed.
//!
//! Values are not validated here, but by the connection tests and by the settings themselves.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Services whose connection tests must succeed before the wizard continues.
const NEEDED_FIRST: [&str; 2] = ["database", "redis"];

/// New setting values, and the services whose connection tests succeeded with them.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SetupDraft {
    /// Texts keyed by setting name (`section.key`); an empty text restores the default.
    values: BTreeMap<String, String>,
    /// Success message of each service's connection test, keyed by service name.
    passed: BTreeMap<String, String>,
}

/// Redacts the output, because values may be secrets.
impl fmt::Debug for SetupDraft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetupDraft").field("passed", &self.passed).finish_non_exhaustive()
    }
}

impl SetupDraft {
    /// Returns the new values by setting name.
    pub fn values(&self) -> &BTreeMap<String, String> {
        &self.values
    }

    /// Returns the new value of a setting, if it has one.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }

    /// Stores the values with which a service passed its connection test, replacing all earlier values of its settings
    /// (`keys`).
    pub fn keep(&mut self, service: &str, keys: &[&str], values: Vec<(String, String)>, result: &str) {
        self.values.retain(|name, _| !keys.contains(&name.as_str()));
        self.values.extend(values);
        self.passed.insert(service.to_owned(), result.to_owned());
    }

    /// Returns the success message of a service's connection test, if the service passed one.
    pub fn passed(&self, service: &str) -> Option<&str> {
        self.passed.get(service).map(String::as_str)
    }

    /// Returns whether the connection tests of both essential services succeeded.
    pub fn may_go_on(&self) -> bool {
        NEEDED_FIRST.iter().all(|service| self.passed.contains_key(*service))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(key: &str, text: &str) -> (String, String) {
        (key.to_owned(), text.to_owned())
    }

    #[test]
    fn both_connections_are_tested_before_it_goes_on() {
        let mut draft = SetupDraft::default();
        assert!(!draft.may_go_on());
        draft.keep("database", &["database.url"], vec![value("database.url", "postgres://x")], "it responds");
        assert!(!draft.may_go_on());
        draft.keep("redis", &["redis.url"], Vec::new(), "not configured");
        assert!(draft.may_go_on());
        assert_eq!(draft.passed("redis"), Some("not configured"));
        assert_eq!(draft.passed("smtp"), None);
    }

    #[test]
    fn what_is_kept_anew_takes_the_place_of_the_former_and_of_nothing_else() {
        let keys = ["parts.url", "parts.token"];
        let mut draft = SetupDraft::default();
        draft.keep("agent", &["agent.url"], vec![value("agent.url", "http://a")], "ok");
        draft.keep("parts", &keys, vec![value("parts.url", "http://p"), value("parts.token", "hunter2")], "ok");
        let text = format!("{draft:?}");
        assert!(text.contains("passed") && !text.contains("hunter2"), "{text}");
        draft.keep("parts", &keys, vec![value("parts.url", "")], "not used");
        assert_eq!((draft.value("parts.url"), draft.value("parts.token")), (Some(""), None));
        assert_eq!(draft.value("agent.url"), Some("http://a"));
        assert_eq!(draft.values().len(), 2);
    }
}
