//! The settings as `printfloor config` prints them: every setting with its explanation, and where its value comes from.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use figment::Figment;
use figment::value::{Num, Value};

use super::Origin;
use super::layers::{DEFAULTS, KnownSettings, Layer, SHIPPED, VARIABLES, variable_of};
use crate::domain::peer_address::without_login;

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
            let text = match value.as_str() {
                // Nobody is to write a password into an address; whoever did must not find it shown.
                Some(text) => toml_edit::Value::from(&*without_login(text)).to_string(),
                None => toml(&value),
            };
            Some(Given { source, text })
        }
    };
    known.keys().filter_map(|key| Some((key.to_owned(), of(key)?))).collect()
}

/// A setting with its explanation and value, for programs.
#[derive(Clone, PartialEq, Debug)]
pub struct ShownSetting {
    /// Its name, as `section.key`.
    pub key: String,
    /// The variable that sets it.
    pub variable: String,
    /// A shorter variable that sets it as well.
    pub short: Option<&'static str>,
    /// What it is for, as `config.toml` explains it.
    pub about: String,
    /// Whether its value is never shown.
    pub secret: bool,
    /// The value in force; `None` for a secret.
    pub value: Option<serde_json::Value>,
    /// The value that it has where no source sets it; `None` for a secret.
    pub default: Option<serde_json::Value>,
    /// The source that sets it; `None` where none does.
    pub source: Option<String>,
}

/// Every setting in the order of `config.toml`.
pub fn every(origin: &Origin) -> Vec<ShownSetting> {
    let (mut section, mut about) = ("", Vec::new());
    let mut settings = Vec::new();
    for line in DEFAULTS.lines() {
        if let Some(words) = line.strip_prefix('#') {
            about.push(words.trim());
            continue;
        }
        let words = std::mem::take(&mut about).join(" ");
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
        }
        let Some((name, default)) = line.split_once(" = ") else { continue };
        let key = format!("{section}.{name}");
        let secret = KnownSettings::is_secret(&key);
        let given = origin.given(&key);
        settings.push(ShownSetting {
            variable: variable_of(&key),
            short: VARIABLES.iter().find(|(_, known)| *known == key).map(|(name, _)| *name),
            about: words,
            secret,
            value: if secret { None } else { json(given.map_or(default, |given| given.text.as_str())) },
            default: if secret { None } else { json(default) },
            source: given.map(|given| given.source.clone()),
            key,
        });
    }
    settings
}

/// A value of TOML as JSON.
fn json(toml: &str) -> Option<serde_json::Value> {
    let dict = Layer::values(&format!("value = {toml}")).ok()?;
    serde_json::to_value(dict.get("value")?).ok()
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
pub(super) fn toml(value: &Value) -> String {
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
