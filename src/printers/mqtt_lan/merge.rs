//! Merges reports that contain only changes. Objects are merged field by field; values of any other type are replaced.

use serde_json::{Map, Value};

/// Maximum nesting depth of merged objects; deeper values are replaced as a whole.
const MAX_DEPTH: usize = 12;
/// Maximum number of values in a merged report. A full report has about a thousand.
const MAX_VALUES: usize = 20_000;
/// Maximum total size, in bytes, of all strings and field names in a merged report.
const MAX_TEXT_BYTES: usize = 512 * 1024;

/// Error returned if the merged report exceeds its limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooLarge;

/// Merges the fields of `delta` into `report`. After [`TooLarge`], `report` must be discarded.
pub(super) fn merge(report: &mut Map<String, Value>, delta: Map<String, Value>) -> Result<(), TooLarge> {
    into(report, delta, MAX_DEPTH);
    let mut size = ReportSize::default();
    report.iter().for_each(|(name, value)| size.add(name, value));
    if size.values > MAX_VALUES || size.bytes > MAX_TEXT_BYTES { Err(TooLarge) } else { Ok(()) }
}

fn into(old: &mut Map<String, Value>, new: Map<String, Value>, depth: usize) {
    for (name, value) in new {
        match (old.get_mut(&name), value) {
            (Some(Value::Object(inner)), Value::Object(value)) if depth > 0 => into(inner, value, depth - 1),
            (_, value) => {
                old.insert(name, value);
            }
        }
    }
}

#[derive(Default)]
struct ReportSize {
    values: usize,
    bytes: usize,
}

impl ReportSize {
    fn add(&mut self, name: &str, value: &Value) {
        self.values += 1;
        self.bytes += name.len();
        match value {
            Value::String(text) => self.bytes += text.len(),
            Value::Array(items) => items.iter().for_each(|item| self.add("", item)),
            Value::Object(members) => members.iter().for_each(|(name, value)| self.add(name, value)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(members) = value else { panic!("an object") };
        members
    }

    #[test]
    fn objects_are_merged_and_arrays_replaced() {
        let mut report = object(json!({
            "gcode_state": "RUNNING", "mc_percent": 3,
            "ams": {"ams": [{"id": "0", "tray": []}], "tray_now": "255"},
            "hms": [{"attr": 1, "code": 2}],
        }));
        let delta = json!({"mc_percent": "4", "ams": {"tray_now": "1"}, "hms": [], "new": {"a": null}});
        merge(&mut report, object(delta)).unwrap();
        let merged = json!({
            "gcode_state": "RUNNING", "mc_percent": "4",
            "ams": {"ams": [{"id": "0", "tray": []}], "tray_now": "1"},
            "hms": [], "new": {"a": null},
        });
        assert_eq!(Value::Object(report), merged);
    }

    #[test]
    fn a_report_does_not_grow_without_end() {
        let mut report = Map::new();
        let mut messages = 0;
        while merge(&mut report, object(json!({ format!("k{messages}"): [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] }))).is_ok() {
            messages += 1;
        }
        assert!((1_000..2_000).contains(&messages), "{messages}");
        let mut report = Map::new();
        assert!(merge(&mut report, object(json!({"a": "x".repeat(300_000)}))).is_ok());
        assert_eq!(merge(&mut report, object(json!({"b": "x".repeat(300_000)}))), Err(TooLarge));
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |leaf: Value| (0..20).fold(leaf, |inner, _| json!({ "a": inner }));
        let mut report = object(nested(json!({"x": 1})));
        merge(&mut report, object(nested(json!({"y": 2})))).unwrap();
        assert_eq!(Value::Object(report), nested(json!({"y": 2})), "replaced where it is deep");
    }
}
