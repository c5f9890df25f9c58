//! Messages about settings with invalid values. They state the setting, its source and the expected value.

use figment::error::{Actual, Kind};
use figment::{Error, Figment};

use super::Config;
use super::layers::{KnownSettings, Layer};
use domain::refusal::MAX_FAULTS;

/// Extracts the settings, or returns a message for each value with the wrong type. After each error, the affected
/// setting is reset to its default, so that the next error can be found.
pub fn extract(mut figment: Figment, known_settings: &KnownSettings, lines: &Layer) -> Result<Config, Vec<String>> {
    let mut faults = Vec::new();
    while faults.len() < MAX_FAULTS {
        let error = match figment.extract::<Config>() {
            Ok(config) if faults.is_empty() => return Ok(config),
            Ok(_) => break,
            Err(error) => error,
        };
        let key = error.path.iter().take(2).map(String::as_str).collect::<Vec<_>>().join(".");
        faults.push(words(&error, &key, lines));
        match known_settings.default_layer(&key) {
            Some(layer) => figment = figment.merge(layer),
            None => break,
        }
    }
    Err(faults)
}

fn words(error: &Error, key: &str, lines: &Layer) -> String {
    let place = error.metadata.as_ref().map(|metadata| {
        let line = lines.line_of(&metadata.name, key).map(|line| format!(", line {line}")).unwrap_or_default();
        format!(" ({}{line})", metadata.name)
    });
    let place = place.unwrap_or_default();
    // What stands there is not shown of a secret.
    let actual_text = |actual: &Actual| {
        if KnownSettings::is_secret(key) { String::new() } else { format!(", not {actual}") }
    };
    let problem = match &error.kind {
        Kind::InvalidType(actual, expected) | Kind::InvalidValue(actual, expected) => {
            format!("must be {}{}", plain(expected), actual_text(actual))
        }
        Kind::UnknownVariant(_, choices) => format!("must be one of: {}", choices.join(", ")),
        Kind::UnknownField(name, members) => format!("has no field {name}; valid fields are {}", members.join(", ")),
        Kind::MissingField(name) => format!("lacks the field {name}"),
        other => other.to_string(),
    };
    format!("{key}{place}: {problem}")
}

/// Describes an expected type without using Rust type names.
fn plain(expected: &str) -> &str {
    match expected {
        "f64" | "f32" => "a number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "a boolean" => "true or false",
        "a string" => "text in quotes",
        "a sequence" => "a list",
        other => other,
    }
}
