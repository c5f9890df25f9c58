//! Members of a report that are read. A full report has about a thousand values, and most describe cameras, updates and
//! calibrations; those are dropped as they arrive, because a report is held for as long as its printer is watched.

use serde_json::{Map, Value};

/// Members of a report.
const OF_REPORT: &[&str] = &[
    "ams",
    "bed_target_temper",
    "bed_temper",
    "chamber_temper",
    "fun",
    "gcode_file",
    "gcode_state",
    "hms",
    "layer_num",
    "mc_percent",
    "mc_remaining_time",
    "nozzle_target_temper",
    "nozzle_temper",
    "print_error",
    "subtask_id",
    "subtask_name",
    "total_layer_num",
    "vt_tray",
];
/// Members of `ams`: the changers, and the slot that feeds the nozzle.
const OF_CHANGERS: &[&str] = &["ams", "tray_now"];
/// Members of each changer.
const OF_CHANGER: &[&str] = &["id", "tray"];
/// Members of each slot, and of the external spool.
const OF_SLOT: &[&str] = &["id", "remain", "tag_uid", "tray_color", "tray_info_idx", "tray_type", "tray_weight"];

/// Removes the unread members of a report, whether complete or not.
pub(super) fn drop_unread(report: &mut Map<String, Value>) {
    keep(report, OF_REPORT);
    if let Some(Value::Object(changers)) = report.get_mut("ams") {
        keep(changers, OF_CHANGERS);
        for changer in objects(changers.get_mut("ams")) {
            keep(changer, OF_CHANGER);
            objects(changer.get_mut("tray")).for_each(|slot| keep(slot, OF_SLOT));
        }
    }
    if let Some(Value::Object(slot)) = report.get_mut("vt_tray") {
        keep(slot, OF_SLOT);
    }
}

fn keep(object: &mut Map<String, Value>, names: &[&str]) {
    object.retain(|name, _| names.contains(&name.as_str()));
}

/// Returns the objects in a list.
fn objects(list: Option<&mut Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    list.and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reduced(report: Value) -> Value {
        let Value::Object(mut members) = report else { panic!("an object") };
        drop_unread(&mut members);
        Value::Object(members)
    }

    #[test]
    fn only_what_is_read_is_held() {
        let slots = json!([{"id": "0", "tray_type": "PLA", "k": 0.02}, {"id": "1", "state": 10}]);
        let whole = json!({
            "gcode_state": "IDLE", "mc_percent": 3, "wifi_signal": "-44dBm", "ipcam": {"resolution": "1080p"},
            "ams": {"tray_now": "1", "version": 4, "ams": [{"id": "0", "humidity": "4", "tray": slots}]},
            "vt_tray": {"id": "254", "tray_type": "PETG", "cols": []},
        });
        let read = json!({
            "gcode_state": "IDLE", "mc_percent": 3,
            "ams": {"tray_now": "1", "ams": [{"id": "0", "tray": [{"id": "0", "tray_type": "PLA"}, {"id": "1"}]}]},
            "vt_tray": {"id": "254", "tray_type": "PETG"},
        });
        assert_eq!(reduced(whole), read);
    }

    #[test]
    fn what_is_not_as_expected_is_left_to_whoever_reads_it() {
        for odd in
            [json!({"ams": 7}), json!({"ams": {"ams": {"id": 1}}}), json!({"ams": {"ams": [1, null]}, "vt_tray": []})]
        {
            assert_eq!(reduced(odd.clone()), odd);
        }
    }
}
