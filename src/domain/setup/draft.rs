//! What the wizard has gathered and not written yet. It is kept between its pages, so that it can be left and resumed.
//!
//! Not for: whether a value is valid, which the tests of services and the settings themselves say.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The services that must have passed their tests before the wizard goes on.
const NEEDED_FIRST: [&str; 2] = ["database", "redis"];

/// New values of settings, and which services passed their test with them.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SetupDraft {
    /// Texts by the names of the settings (`section.key`); an empty one: the default again.
    values: BTreeMap<String, String>,
    /// What the test of a service said, by its word.
    passed: BTreeMap<String, String>,
}

/// Values may be secrets.
impl fmt::Debug for SetupDraft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetupDraft").field("passed", &self.passed).finish_non_exhaustive()
    }
}

impl SetupDraft {
    /// The new values by the names of their settings.
    pub fn values(&self) -> &BTreeMap<String, String> {
        &self.values
    }

    /// The new value of a setting; `None` where it stays as it is.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }

    /// Keeps the values with which a service passed its test, in place of all former ones of its settings (`keys`).
    pub fn keep(&mut self, service: &str, keys: &[&str], values: Vec<(String, String)>, said: &str) {
        self.values.retain(|known, _| !keys.contains(&known.as_str()));
        self.values.extend(values);
        self.passed.insert(service.to_owned(), said.to_owned());
    }

    /// What the test of a service said; `None` while it was not tested.
    pub fn passed(&self, service: &str) -> Option<&str> {
        self.passed.get(service).map(String::as_str)
    }

    /// Whether both connections without which nothing works were tested.
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
        draft.keep("database", &["database.url"], vec![value("database.url", "postgres://x")], "it answers");
        assert!(!draft.may_go_on());
        draft.keep("redis", &["redis.url"], Vec::new(), "none is configured");
        assert!(draft.may_go_on());
        assert_eq!(draft.passed("redis"), Some("none is configured"));
        assert_eq!(draft.passed("smtp"), None);
    }

    #[test]
    fn what_is_kept_anew_takes_the_place_of_the_former_and_of_nothing_else() {
        let keys = ["parts.url", "parts.token"];
        let mut draft = SetupDraft::default();
        draft.keep("agent", &["agent.url"], vec![value("agent.url", "http://a")], "ok");
        draft.keep("parts", &keys, vec![value("parts.url", "http://p"), value("parts.token", "hunter2")], "ok");
        assert!(!format!("{draft:?}").contains("hunter2"));
        draft.keep("parts", &keys, vec![value("parts.url", "")], "not used");
        assert_eq!((draft.value("parts.url"), draft.value("parts.token")), (Some(""), None));
        assert_eq!(draft.value("agent.url"), Some("http://a"));
        assert_eq!(draft.values().len(), 2);
    }
}
