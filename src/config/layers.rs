//! Layers of settings: which variable sets which setting, and how its text becomes a value.

use std::collections::BTreeMap;

use figment::providers::{Format as _, Toml};
use figment::value::{Dict, Map, Value};
use figment::{Error, Figment, Metadata, Profile, Provider};

/// The embedded `config.toml`, which all other sources override.
pub const DEFAULTS: &str = include_str!("../../config.toml");

/// Short variable names, and the settings that they set.
pub const VARIABLES: [(&str, &str); 18] = [
    ("DATABASE_URL", "database.url"),
    ("REDIS_URL", "redis.url"),
    ("SESSION_SECRET", "auth.session_secret"),
    ("API_KEY_SALT", "auth.api_key_salt"),
    ("SECRETS_KEY", "auth.secrets_key"),
    ("PAYMENT_SECRET_KEY", "payments.secret_key"),
    ("PAYMENT_WEBHOOK_SECRET", "payments.webhook_secret"),
    ("EMAIL_API_KEY", "mail.api_key"),
    ("SMTP_HOST", "mail.smtp_host"),
    ("SMTP_PORT", "mail.smtp_port"),
    ("SMTP_USER", "mail.smtp_user"),
    ("SMTP_PASS", "mail.smtp_password"),
    ("SMTP_FROM", "mail.from"),
    ("PARTS_URL", "parts.url"),
    ("FW_REST_URL", "printers.fw_rest_url"),
    ("FW_REST_API_KEY", "printers.fw_rest_api_key"),
    ("AGENT_URL", "agent.url"),
    ("AGENT_TOKEN", "agent.token"),
];

/// The variable that chooses the mode, which is not a setting.
pub const MODE: &str = "PRINTFLOOR_ENV";

/// Prefix of the variables of settings.
const PREFIX: &str = "PRINTFLOOR_";

/// Prefixes of variables that are not for the server but for the tests and `scripts/test`.
const TEST_PREFIXES: [&str; 2] = ["PRINTFLOOR_TEST_", "PRINTFLOOR_TOOLS"];

/// Every setting (`section.key`) with its default.
pub struct Known(BTreeMap<String, Value>);

impl Known {
    /// Reads the embedded settings.
    pub fn new() -> Result<Self, Box<Error>> {
        let sections: Dict = Figment::from(Toml::string(DEFAULTS)).extract()?;
        let mut known = BTreeMap::new();
        for (section, value) in sections {
            for (key, value) in value.into_dict().unwrap_or_default() {
                known.insert(format!("{section}.{key}"), value);
            }
        }
        Ok(Self(known))
    }

    /// The names of all settings.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The setting that a variable sets, if any.
    fn key_of(&self, variable: &str) -> Option<String> {
        if let Some((_, key)) = VARIABLES.iter().find(|(name, _)| *name == variable) {
            return Some((*key).to_owned());
        }
        let (section, key) = variable.strip_prefix(PREFIX)?.split_once("__")?;
        let key = format!("{section}.{key}").to_ascii_lowercase();
        (self.0.contains_key(&key) && variable_of(&key) == variable).then_some(key)
    }

    /// The layer that sets one setting from text. The text is read as the type of the default: a string stays a string
    /// even if it looks like a number, and a list may be written `a,b` or `["a", "b"]`.
    pub fn layer(&self, source: impl Into<String>, key: &str, text: &str) -> Layer {
        let value = match self.0.get(key) {
            Some(Value::String(..)) | None => Value::from(text),
            Some(Value::Array(..)) if !text.trim_start().starts_with('[') => {
                Value::from(text.split(',').map(|part| parsed(part.trim())).collect::<Vec<_>>())
            }
            Some(_) => parsed(text),
        };
        let dict = figment::util::nest(key, value).into_dict().unwrap_or_default();
        Layer { source: source.into(), dict }
    }

    /// The layers of a set of variables, and the names with our prefix that belong to no setting. Empty values count as
    /// not set. If both variables of a setting are given, the one that begins with `PRINTFLOOR_` wins.
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

/// The `PRINTFLOOR_…` variable of a setting.
pub fn variable_of(key: &str) -> String {
    format!("{PREFIX}{}", key.replacen('.', "__", 1).to_ascii_uppercase())
}

/// Reads text as figment does: numbers, booleans, lists and tables; anything else is a string.
fn parsed(text: &str) -> Value {
    text.parse().unwrap_or_else(|never: std::convert::Infallible| match never {})
}

/// Settings from one source, whose name appears in errors.
pub struct Layer {
    source: String,
    dict: Dict,
}

impl Layer {
    /// The layer of a settings file.
    pub fn file(source: String, text: &str) -> Result<Self, String> {
        Toml::from_str(text).map(|dict| Self { source, dict }).map_err(|error| error.to_string())
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
