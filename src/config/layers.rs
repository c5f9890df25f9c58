//! Layers of settings: the mapping from variables to settings, and the conversion of their text to values.

use std::collections::BTreeMap;

use figment::providers::{Format as _, Toml};
use figment::value::{Dict, Map, Value};
use figment::{Error, Metadata, Profile, Provider};

/// Text of the embedded `config.toml`, which all other sources override.
pub const DEFAULTS: &str = include_str!("../../config.toml");

/// Source name of the embedded `config.toml`.
pub const SHIPPED: &str = "the shipped config.toml";

/// Short environment variable names, each with the setting it controls.
pub const VARIABLES: [(&str, &str); 36] = [
    ("DATABASE_URL", "database.url"),
    ("REDIS_URL", "redis.url"),
    ("SESSION_SECRET", "auth.session_secret"),
    ("API_KEY_SALT", "auth.api_key_salt"),
    ("SECRETS_KEY", "auth.secrets_key"),
    ("SECRETS_KEY_OLD", "auth.secrets_key_old"),
    ("PAYMENT_SECRET_KEY", "payments.secret_key"),
    ("PAYMENT_WEBHOOK_SECRET", "payments.webhook_secret"),
    ("EMAIL_API_KEY", "mail.api_key"),
    ("SMTP_HOST", "mail.smtp_host"),
    ("SMTP_PORT", "mail.smtp_port"),
    ("SMTP_USER", "mail.smtp_user"),
    ("SMTP_PASS", "mail.smtp_password"),
    ("SMTP_FROM", "mail.from"),
    ("PAYMENT_PUBLISHABLE_KEY", "payments.publishable_key"),
    ("PARTS_URL", "parts.url"),
    ("PARTS_TOKEN", "parts.token"),
    ("SPOOLS_URL", "spools.url"),
    ("SPOOLS_TOKEN", "spools.token"),
    ("WORKFLOW_URL", "workflow.url"),
    ("WORKFLOW_TOKEN", "workflow.token"),
    ("FARM_UI_URL", "farm_ui.url"),
    ("FARM_UI_TOKEN", "farm_ui.token"),
    ("FAILURE_DETECTION_URL", "failure_detection.url"),
    ("FAILURE_DETECTION_TOKEN", "failure_detection.token"),
    ("SMART_HOME_URL", "smart_home.url"),
    ("SMART_HOME_TOKEN", "smart_home.token"),
    ("SMART_HOME_MQTT_URL", "smart_home.mqtt_url"),
    ("SMART_HOME_MQTT_PASSWORD", "smart_home.mqtt_password"),
    ("FW_REST_URL", "printers.fw_rest_url"),
    ("FW_REST_API_KEY", "printers.fw_rest_api_key"),
    ("OBJECT_STORAGE_SECRET_KEY", "object_storage.secret_access_key"),
    ("ACCOUNTING_CLIENT_ID", "accounting.client_id"),
    ("ACCOUNTING_CLIENT_SECRET", "accounting.client_secret"),
    ("AGENT_URL", "agent.url"),
    ("AGENT_TOKEN", "agent.token"),
];

/// Settings whose values are never displayed.
pub const SECRETS: [&str; 21] = [
    "database.url",
    "redis.url",
    "auth.session_secret",
    "auth.api_key_salt",
    "auth.secrets_key",
    "auth.secrets_key_old",
    "payments.secret_key",
    "payments.webhook_secret",
    "mail.smtp_password",
    "mail.api_key",
    "printers.fw_rest_api_key",
    "object_storage.secret_access_key",
    "accounting.client_secret",
    "agent.token",
    "parts.token",
    "spools.token",
    "workflow.token",
    "farm_ui.token",
    "failure_detection.token",
    "smart_home.token",
    "smart_home.mqtt_password",
];

/// Variable that selects the mode; it is not a setting.
pub const MODE: &str = "PRINTFLOOR_ENV";

/// Prefix of variables that set settings.
const PREFIX: &str = "PRINTFLOOR_";

/// Prefixes of variables that are intended for the tests and `scripts/test` rather than the server.
const TEST_PREFIXES: [&str; 2] = ["PRINTFLOOR_TEST_", "PRINTFLOOR_TOOLS"];

/// All settings (`section.key`) with their defaults.
pub struct KnownSettings(BTreeMap<String, Value>);

impl KnownSettings {
    /// Reads the settings from the embedded `config.toml`.
    pub fn new() -> Result<Self, String> {
        let sections = Layer::values(DEFAULTS)?;
        let mut settings = BTreeMap::new();
        for (section, value) in sections {
            for (key, value) in value.into_dict().unwrap_or_default() {
                settings.insert(format!("{section}.{key}"), value);
            }
        }
        Ok(Self(settings))
    }

    /// Returns the names of all settings.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns whether a setting with the given name (`section.key`) exists.
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Returns whether a section with the given name exists.
    pub fn is_section(&self, name: &str) -> bool {
        self.sections().any(|section| section == name)
    }

    fn sections(&self) -> impl Iterator<Item = &str> {
        self.keys().filter_map(|key| key.split_once('.').map(|(section, _)| section))
    }

    /// Returns whether the value of a setting must not be displayed.
    pub fn is_secret(key: &str) -> bool {
        SECRETS.contains(&key)
    }

    /// Returns the existing setting closest to an unknown one: one with a similar name, or one with the same key in a
    /// different section.
    pub fn nearest(&self, key: &str) -> Option<&str> {
        let name = key.rsplit('.').next().unwrap_or(key);
        let same = self.keys().find(|candidate| candidate.rsplit('.').next() == Some(name));
        same.or_else(|| nearest(key, self.keys())).or_else(|| {
            self.keys().find(|candidate| candidate.rsplit('.').next().is_some_and(|last| similar(name, last)))
        })
    }

    /// Returns the section with the closest name.
    pub fn nearest_section(&self, name: &str) -> Option<&str> {
        nearest(name, self.sections())
    }

    /// Returns the layer with all defaults.
    pub fn shipped(&self) -> Layer {
        let mut dict = Dict::new();
        for (key, value) in &self.0 {
            if let Some((section, name)) = key.split_once('.') {
                let inner = dict.entry(section.to_owned()).or_insert_with(|| Value::from(Dict::new()));
                if let Value::Dict(_, inner) = inner {
                    inner.insert(name.to_owned(), value.clone());
                }
            }
        }
        Layer::new(SHIPPED, dict)
    }

    /// Returns a setting's default.
    pub fn default_of(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Returns a layer that resets a setting to its default.
    pub fn default_layer(&self, key: &str) -> Option<Layer> {
        let dict = figment::util::nest(key, self.0.get(key)?.clone()).into_dict()?;
        Some(Layer::new(SHIPPED, dict))
    }

    /// Returns the setting that a variable sets, if any.
    pub(super) fn key_of(&self, variable: &str) -> Option<String> {
        if let Some((_, key)) = VARIABLES.iter().find(|(name, _)| *name == variable) {
            return Some((*key).to_owned());
        }
        let (section, key) = variable.strip_prefix(PREFIX)?.split_once("__")?;
        let key = format!("{section}.{key}").to_ascii_lowercase();
        (self.0.contains_key(&key) && variable_of(&key) == variable).then_some(key)
    }

    /// Builds a layer that sets one setting from text. The text is parsed as the type of the default: a string stays a
    /// string even if it looks like a number, and a list can be written as `a,b` or `["a", "b"]`.
    pub fn layer(&self, source: impl Into<String>, key: &str, text: &str) -> Layer {
        let value = match self.0.get(key) {
            Some(Value::String(..)) | None => Value::from(text),
            Some(Value::Array(..)) if !text.trim_start().starts_with('[') => {
                Value::from(text.split(',').map(|part| parsed(part.trim())).collect::<Vec<_>>())
            }
            Some(_) => parsed(text),
        };
        let dict = figment::util::nest(key, value).into_dict().unwrap_or_default();
        Layer::new(source, dict)
    }

    /// Returns the existing variable whose name is closest to an unknown one.
    pub fn nearest_variable(&self, variable: &str) -> Option<String> {
        let key = variable.strip_prefix(PREFIX)?.replacen("__", ".", 1).to_ascii_lowercase();
        self.nearest(&key).map(variable_of)
    }

    /// Returns the layers for the given variables, and the names of variables with the prefix `PRINTFLOOR_` that match
    /// no setting, including former names of settings (see `KnownSettings::former`). Empty values are treated as not
    /// set. If both variables for a setting are present, the one with the prefix `PRINTFLOOR_` takes precedence.
    pub fn layers(&self, variables: &[(String, String)], place: &str) -> (Vec<Layer>, Vec<String>) {
        let mut layers = Vec::new();
        let mut unknown = Vec::new();
        let (ours, plain): (Vec<_>, Vec<_>) = variables.iter().partition(|(name, _)| name.starts_with(PREFIX));
        for (name, text) in plain.into_iter().chain(ours) {
            match self.key_of(name) {
                Some(_) if text.is_empty() => {}
                Some(key) => layers.push(self.layer(format!("{name} in {place}"), &key, text)),
                None if name == MODE || TEST_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) => {}
                None if name.starts_with(PREFIX) => unknown.push(name.clone()),
                None => {}
            }
        }
        (layers, unknown)
    }
}

/// Returns the `PRINTFLOOR_…` variable of a setting.
pub fn variable_of(key: &str) -> String {
    format!("{PREFIX}{}", key.replacen('.', "__", 1).to_ascii_uppercase())
}

/// Parses text as figment does: numbers, booleans, lists and tables; anything else is a string.
fn parsed(text: &str) -> Value {
    text.parse().unwrap_or_else(|never: std::convert::Infallible| match never {})
}

/// Returns the closest of `names`, provided that it differs only by a few characters.
fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = names.filter(|candidate| similar(name, candidate));
    near.min_by_key(|candidate| strsim::damerau_levenshtein(name, candidate))
}

/// Returns whether two names differ in at most a quarter of their characters.
fn similar(one: &str, other: &str) -> bool {
    strsim::damerau_levenshtein(one, other) * 4 <= one.len().max(other.len())
}

/// Settings from a single source, whose name appears in error messages.
pub struct Layer {
    source: String,
    dict: Dict,
    /// Line number of each setting in a file, starting at 1.
    lines: BTreeMap<String, usize>,
}

impl Layer {
    /// Builds a source's layer from values by section.
    pub fn new(source: impl Into<String>, dict: Dict) -> Self {
        Self { source: source.into(), dict, lines: BTreeMap::new() }
    }

    /// Adds the line number of each setting.
    pub fn with_lines(self, lines: BTreeMap<String, usize>) -> Self {
        Self { lines, ..self }
    }

    /// Parses values from TOML text.
    pub fn values(text: &str) -> Result<Dict, String> {
        Toml::from_str(text).map_err(|error| error.to_string())
    }

    /// Returns a setting's line number, if the layer has the given source name and the line is known.
    pub fn line_of(&self, source: &str, key: &str) -> Option<usize> {
        if self.source == source { self.lines.get(key).copied() } else { None }
    }
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.source.clone())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Error> {
        Ok(Profile::Default.collect(self.dict.clone()))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn no_secret_has_a_default_value() {
        for secret in SECRETS {
            let (section, name) = secret.split_once('.').unwrap();
            let (_, lines) = DEFAULTS.split_once(&format!("\n[{section}]\n")).unwrap();
            let mut lines = lines.lines().take_while(|line| !line.starts_with('['));
            let default = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
            assert_eq!(default, Some("\"\""), "{secret}");
        }
    }
}
