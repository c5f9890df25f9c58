//! Members of JSON responses. A missing member counts as empty, so that checks that depend on it fail.

use serde_json::Value;

/// Returns a text member; empty if it is missing.
pub fn text<'a>(of: &'a Value, name: &str) -> &'a str {
    of[name].as_str().unwrap_or_default()
}

/// Returns the entries of a list member; empty if it is missing.
pub fn items<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns an integer member; 0 if it is missing.
pub fn number(of: &Value, name: &str) -> i64 {
    of[name].as_i64().unwrap_or_default()
}

/// Returns an amount of material; 0 if it is missing.
pub fn amount(of: &Value, name: &str) -> f64 {
    of[name].as_f64().unwrap_or_default()
}
