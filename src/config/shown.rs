//! The settings as `printfloor config` prints them: every setting with its explanation, and where its value comes from.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use figment::Figment;
use figment::value::{Num, Value};

use super::layers::{DEFAULTS, KnownSettings, SHIPPED};

/// What stands for the value of a secret.
const HIDDEN: &str = "\"***\"";

/// A setting that some source sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The source, as `printfloor.toml` or `SMTP_HOST in the environment`.
    pub source: String,
    /// The value in TOML; of a secret only that there is one.
    pub text: String,
}

impl Given {
    /// A secret from this source.
    pub fn secret(source: String) -> Self {
        Self { source, text: HIDDEN.to_owned() }
    }
}

/// All settings that a source other than the shipped file sets.
pub(super) fn given(figment: &Figment, known: &KnownSettings) -> BTreeMap<String, Given> {
    let of = |key: &str| {
        let value = figment.find_value(key).ok()?;
        let source = figment.get_metadata(value.tag())?.name.to_string();
        if source == SHIPPED {
            return None;
        }
        let empty = value.as_str().is_some_and(str::is_empty);
        if KnownSettings::is_secret(key) && !empty {
            Some(Given::secret(source))
        } else {
            Some(Given { source, text: toml(&value) })
        }
    };
    known.keys().filter_map(|key| Some((key.to_owned(), of(key)?))).collect()
}

/// The shipped file with the values that are in force; a line above each that some source sets says which, and what
/// the default is.
pub fn whole(given: &BTreeMap<String, Given>) -> String {
    let mut section = "";
    let mut text = String::new();
    for line in DEFAULTS.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
        }
        let setting = line.split_once(" = ").filter(|_| !line.starts_with('#'));
        let set = setting.and_then(|(key, default)| Some((key, default, given.get(&format!("{section}.{key}"))?)));
        let _ = match set {
            Some((key, default, given)) => {
                writeln!(text, "# Set by {}; default: {default}\n{key} = {}", given.source, given.text)
            }
            None => writeln!(text, "{line}"),
        };
    }
    text
}

/// Only what some source sets, one line each.
pub fn changed(given: &BTreeMap<String, Given>) -> String {
    let line = |(key, given): (&String, &Given)| format!("{key} = {}  # {}\n", given.text, given.source);
    given.iter().map(line).collect()
}

/// A value as TOML writes it.
fn toml(value: &Value) -> String {
    match value {
        Value::String(_, text) => toml_edit::Value::from(text.as_str()).to_string(),
        Value::Char(_, c) => toml_edit::Value::from(c.to_string()).to_string(),
        Value::Bool(_, yes) => yes.to_string(),
        Value::Num(_, Num::F32(number)) => format!("{number:?}"),
        Value::Num(_, Num::F64(number)) => format!("{number:?}"),
        Value::Num(_, number) => {
            let signed = number.to_i128().map(|number| number.to_string());
            signed.or_else(|| number.to_u128().map(|number| number.to_string())).unwrap_or_default()
        }
        Value::Empty(..) => "\"\"".to_owned(),
        Value::Dict(_, dict) => {
            let members: Vec<_> = dict.iter().map(|(key, value)| format!("{key} = {}", toml(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        Value::Array(_, items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
    }
}
