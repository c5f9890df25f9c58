//! Settings as printed by `printfloor config`: every setting with its description and the source of its value.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use figment::Figment;
use figment::value::{Num, Value};

use super::Origin;
use super::configured_setting::ConfiguredSetting;
use super::layers::{DEFAULTS, KnownSettings, Layer, SHIPPED, VARIABLES, variable_of};
use domain::peer_address::without_login;

/// Returns all settings set by a source other than the defaults.
pub(super) fn given_settings(figment: &Figment, known_settings: &KnownSettings) -> BTreeMap<String, ConfiguredSetting> {
    let of = |key: &str| {
        let value = figment.find_value(key).ok()?;
        let source = figment.get_metadata(value.tag())?.name.to_string();
        if source == SHIPPED {
            return None;
        }
        let empty = value.as_str().is_some_and(str::is_empty);
        if KnownSettings::is_secret(key) && !empty {
            Some(ConfiguredSetting::secret(source))
        } else {
            let text = match value.as_str() {
                // Nobody is to write a password into an address; whoever did must not find it shown.
                Some(text) => toml_edit::Value::from(&*without_login(text)).to_string(),
                None => toml(&value),
            };
            Some(ConfiguredSetting { source, text })
        }
    };
    known_settings.keys().filter_map(|key| Some((key.to_owned(), of(key)?))).collect()
}

/// Setting with its description and value, in machine-readable form.
#[derive(Clone, PartialEq, Debug)]
pub struct ShownSetting {
    /// Name of the setting (`section.key`).
    pub key: String,
    /// Environment variable for the setting.
    pub variable: String,
    /// Shorter alternative variable, if any.
    pub short: Option<&'static str>,
    /// Description of the setting, from `config.toml`.
    pub about: String,
    /// `true` for a secret, whose value is never displayed.
    pub secret: bool,
    /// Value in effect; `None` for a secret.
    pub value: Option<serde_json::Value>,
    /// Default value; `None` for a secret.
    pub default: Option<serde_json::Value>,
    /// Source of the value; `None` for the default.
    pub source: Option<String>,
}

/// Returns all settings in the order of `config.toml`.
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
        let setting = origin.given_setting(&key);
        settings.push(ShownSetting {
            variable: variable_of(&key),
            short: VARIABLES.iter().find(|(_, full_key)| *full_key == key).map(|(name, _)| *name),
            about: words,
            secret,
            value: if secret { None } else { json(setting.map_or(default, |setting| setting.text.as_str())) },
            default: if secret { None } else { json(default) },
            source: setting.map(|setting| setting.source.clone()),
            key,
        });
    }
    settings
}

/// Converts a TOML value to JSON.
fn json(toml: &str) -> Option<serde_json::Value> {
    let dict = Layer::values(&format!("value = {toml}")).ok()?;
    serde_json::to_value(dict.get("value")?).ok()
}

/// Renders `config.toml` with the values in effect. Above each setting that a different source overrides, a line states
/// the source and the default.
pub fn whole(given_settings: &BTreeMap<String, ConfiguredSetting>) -> String {
    let mut section = "";
    let mut text = String::new();
    for line in DEFAULTS.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
        }
        let setting = line.split_once(" = ").filter(|_| !line.starts_with('#'));
        let set =
            setting.and_then(|(key, default)| Some((key, default, given_settings.get(&format!("{section}.{key}"))?)));
        let _ = match set {
            Some((key, default, entry)) => {
                writeln!(text, "# Set by {}; default: {default}\n{key} = {}", entry.source, entry.text)
            }
            None => writeln!(text, "{line}"),
        };
    }
    text
}

/// Renders only the settings that a source other than the defaults sets, one per line.
pub fn changed(given_settings: &BTreeMap<String, ConfiguredSetting>) -> String {
    let line =
        |(key, setting): (&String, &ConfiguredSetting)| format!("{key} = {}  # {}\n", setting.text, setting.source);
    given_settings.iter().map(line).collect()
}

/// Formats a value as TOML.
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
