//! Members of JSON answers. What is not there counts as empty, and fails what is judged by it.

use serde_json::Value;

/// Returns a text; empty if there is none.
pub fn text<'a>(of: &'a Value, name: &str) -> &'a str {
    of[name].as_str().unwrap_or_default()
}

/// Returns the entries of a list; none if there is no list.
pub fn items<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns a whole number; 0 if there is none.
pub fn number(of: &Value, name: &str) -> i64 {
    of[name].as_i64().unwrap_or_default()
}

/// Returns an amount of material; 0 if there is none.
pub fn amount(of: &Value, name: &str) -> f64 {
    of[name].as_f64().unwrap_or_default()
}
