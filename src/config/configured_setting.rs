//! Value of a setting together with its source, as messages and listings show it.

/// Placeholder for the value of a secret.
const HIDDEN: &str = "\"***\"";

/// Setting that has a value from a source other than the defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfiguredSetting {
    /// Name of the source, such as `printfloor.toml` or `SMTP_HOST in the environment`.
    pub source: String,
    /// Value in TOML; a placeholder for a secret.
    pub text: String,
}

impl ConfiguredSetting {
    /// Builds the entry for a secret from the given source, with a placeholder as its value.
    pub fn secret(source: String) -> Self {
        Self { source, text: HIDDEN.to_owned() }
    }
}
