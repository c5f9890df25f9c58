//! Status reports of a printer, in its firmware's format.

use std::{sync::LazyLock, time::Duration};

use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::{
    panel::{BambuState, EXTERNAL, Project},
    setup::{BambuModel, DeveloperMode, Hms, Tray},
};
use crate::printer::{Controller, Machine, PhysicalEvent, PrintJob, PrintOutcome, PrintPhase};

/// Error number for a print that a user cancelled, reported for [`CANCEL_SHOWN`].
const CANCELLED: u32 = 0x0300_400C;
const CANCEL_SHOWN: Duration = Duration::from_secs(2);
/// Error number for a print that failed by itself, because of the nozzle temperature.
const FAILED: u32 = 0x0300_8008;
/// Health message reported while commands from third-party programs are rejected.
const UNSIGNED: Hms = Hms { attr: 0x0500_0500, code: 0x0001_0007 };
/// Health message of a controller board that has shut down.
const SHUT_DOWN: Hms = Hms { attr: 0x0300_0100, code: 0x0001_0001 };
/// Bit in `fun` that is set while developer mode is off.
const SIGNATURES_NEEDED: u64 = 0x2000_0000;
/// Other function bits reported by an X1.
const FUNCTIONS: u64 = 0x3EC1_8FFF & !SIGNATURES_NEEDED;
/// Maximum duration of a print's preparation: as a fraction of the print, and in seconds of G-code time.
const PREPARATION: (f64, f64) = (0.1, 60.0);
/// Print speeds of the four speed levels, in percent.
const SPEEDS: [u8; 4] = [50, 100, 124, 166];
/// Interval at which the Wi-Fi signal strength changes, in seconds; an idle printer reports nothing else.
const RADIO_SECONDS: u64 = 30;

/// Returns the `gcode_state` of the print.
pub(super) fn gcode_state(panel: &BambuState, machine: &Machine) -> &'static str {
    match machine.controller() {
        Controller::Away(_) | Controller::Closed => return "OFFLINE",
        Controller::Starting => return "INIT",
        Controller::Halted { .. } => return "FAILED",
        Controller::Ready => {}
    }
    if machine.echoes() {
        return "RUNNING";
    }
    if let (Some(rejected), None) = (panel.rejected, machine.job()) {
        return if machine.now() < rejected.until { "PREPARE" } else { "FAILED" };
    }
    let Some(job) = machine.shown_job() else { return "IDLE" };
    match (&job.outcome, job.phase) {
        (Some(PrintOutcome::Completed), _) => "FINISH",
        (Some(_), _) => "FAILED",
        (None, PrintPhase::Paused | PrintPhase::Resuming) => "PAUSE",
        (None, _) if is_preparing(job) => "PREPARE",
        (None, _) => "RUNNING",
    }
}

/// Returns whether a print has started since the log had `covered` entries and, according to the report, is already
/// over.
pub(super) fn has_passed_a_print(machine: &Machine, covered: usize, now: &Value) -> bool {
    let begun = machine.log().iter().skip(covered).any(|entry| matches!(entry.what, PhysicalEvent::Started { .. }));
    begun && !["PREPARE", "RUNNING", "PAUSE"].iter().any(|state| now["gcode_state"] == *state)
}

fn is_preparing(job: &PrintJob) -> bool {
    job.done < f64::min(job.facts.seconds * PREPARATION.0, PREPARATION.1)
}

/// Returns the current error number; 0 for none.
fn print_error(panel: &BambuState, machine: &Machine) -> u32 {
    if panel.setup.print_error != 0 {
        return panel.setup.print_error;
    }
    if panel.error != 0 {
        return panel.error;
    }
    if let Some(rejected) = panel.rejected.filter(|rejected| machine.now() >= rejected.until) {
        return rejected.error;
    }
    let ended = machine.shown_job().filter(|job| job.ended.is_some());
    match ended.map(|job| (&job.outcome, job)) {
        Some((Some(PrintOutcome::Cancelled), job)) if shows_cancel(job, machine.now()) => CANCELLED,
        Some((Some(PrintOutcome::Failed(_) | PrintOutcome::Halted(_)), job)) if panel.cleared != Some(job.number) => {
            FAILED
        }
        _ => 0,
    }
}

fn shows_cancel(job: &PrintJob, now: Instant) -> bool {
    job.ended.is_some_and(|ended| now.saturating_duration_since(ended) < CANCEL_SHOWN)
}

/// Returns the stage number for the given state.
fn stage(state: &str, model: BambuModel) -> i64 {
    match state {
        "PREPARE" => 2,
        "RUNNING" => 0,
        "PAUSE" => 16,
        _ if model == BambuModel::X1 => -1,
        _ => 255,
    }
}

/// Returns the tray that feeds the first filament of a project.
fn feeding_tray(project: &Project) -> i64 {
    match project.mapping.iter().find(|tray| **tray >= 0) {
        Some(tray) if project.use_ams => *tray,
        _ => EXTERNAL,
    }
}

/// Returns the fields of the report's group `print`, except the sequence number.
pub(super) fn print(panel: &BambuState, machine: &mut Machine) -> Value {
    let state = gcode_state(panel, machine);
    let (now, stirs) = (machine.temperatures(), matches!(state, "PREPARE" | "RUNNING" | "PAUSE"));
    let shown_job = machine.shown_job();
    let project = panel.reported(shown_job);
    let setup = &panel.setup;
    let rejected = panel.rejected.is_some() && machine.job().is_none();
    let job = shown_job.filter(|job| !rejected && project.is_none_or(|project| job.number > project.after));
    let percent = job.map_or(0, |job| (job.progress() * 100.0) as u8);
    let left = job.filter(|job| job.ended.is_none()).map_or(0.0, |job| job.facts.seconds - job.done) / machine.speed();
    let file = project.map(|project| &project.filename).or_else(|| shown_job.map(|job| &job.filename));
    let name = |path: &String| path.trim_end_matches(".3mf").trim_end_matches(".gcode").to_owned();
    let id = |of: fn(&Project) -> &String| project.map_or("0", |project| of(project).as_str());
    let printing = state == "PREPARE" || state == "RUNNING";
    let stage = stage(state, setup.model);
    let tray_now = project.filter(|_| printing).map_or(255, feeding_tray);
    let mut hms = setup.hms.clone();
    hms.extend(panel.refused.then_some(UNSIGNED));
    hms.extend(matches!(machine.controller(), Controller::Halted { .. }).then_some(SHUT_DOWN));
    let radio = 44 + machine.uptime() as u64 / RADIO_SECONDS % 3;
    let mut print = json!({
        "gcode_state": state,
        "mc_percent": if state == "FINISH" { 100 } else { percent },
        // Minutes of real time, as everything that is told to people.
        "mc_remaining_time": (left / 60.0).ceil() as u64,
        "mc_print_stage": if printing { "2" } else { "1" },
        "mc_print_sub_stage": 0,
        "layer_num": if state == "PREPARE" { 0 } else { job.and_then(PrintJob::layer).unwrap_or(0) },
        "total_layer_num": job.and_then(|job| job.facts.layers).unwrap_or(0),
        "gcode_file": file.map(String::as_str).unwrap_or_default(),
        "gcode_file_prepare_percent": if state == "PREPARE" { "50" } else if stirs { "100" } else { "0" },
        "gcode_start_time": job.map_or(0, |job| job.started_at.as_second()).to_string(),
        "subtask_name": project.map(|project| project.subtask_name.clone()).or_else(|| file.map(name)).unwrap_or_default(),
        "subtask_id": id(|project| &project.subtask_id),
        "task_id": id(|project| &project.task_id),
        "project_id": id(|project| &project.cloud_id),
        "profile_id": "0",
        "print_type": if stirs { "local" } else { "idle" },
        "print_gcode_action": 0,
        "print_error": print_error(panel, machine),
        "stg": [2, 14, 1],
        "stg_cur": stage,
        "nozzle_temper": now.nozzle.round(),
        "nozzle_target_temper": now.nozzle_target,
        "bed_temper": now.bed.round(),
        "bed_target_temper": now.bed_target,
        "chamber_temper": 27.0,
        "spd_lvl": panel.speed_level,
        "spd_mag": SPEEDS[usize::from(panel.speed_level.clamp(1, 4)) - 1],
        "hms": hms,
        "ams": ams(panel, tray_now),
        "vt_tray": setup.external.as_ref().map_or_else(|| json!({"id": EXTERNAL.to_string()}), |spool| tray(EXTERNAL, spool)),
        "wifi_signal": format!("-{radio}dBm"),
        "lights_report": [{"node": "chamber_light", "mode": panel.light}, {"node": "work_light", "mode": "flashing"}],
        "sdcard": true,
        "home_flag": 256,
    });
    if let Value::Object(members) = &mut print {
        if setup.model == BambuModel::X1 {
            let bit = if setup.developer_mode == DeveloperMode::On { 0 } else { SIGNATURES_NEEDED };
            members.insert("fun".to_owned(), format!("{:X}", FUNCTIONS | bit).into());
        }
        members.extend(UNCHANGING.clone());
    }
    if machine.faults().absurd_numbers {
        crate::faults::make_absurd(&mut print);
    }
    print
}

fn ams(panel: &BambuState, tray_now: i64) -> Value {
    let setup = &panel.setup;
    let (mut systems, mut exist, mut loaded) = (Vec::new(), 0u32, 0u32);
    for (number, system) in setup.ams.iter().enumerate() {
        exist |= 1 << number;
        let trays: Vec<Value> = (0i64..)
            .zip(&system.trays)
            .map(|(slot, spool)| match spool {
                Some(spool) => {
                    loaded |= 1 << (number * 4 + slot as usize);
                    tray(slot, spool)
                }
                None => json!({"id": slot.to_string(), "state": 10}),
            })
            .collect();
        systems.push(json!({
            "id": number.to_string(), "ams_id": number.to_string(), "humidity": "4", "humidity_raw": "24", "temp": "23.5",
            "dry_time": 0, "info": "1003", "check": 0, "chip_id": "", "tray": trays,
        }));
    }
    json!({
        "ams": systems, "ams_exist_bits": format!("{exist:x}"), "tray_exist_bits": format!("{loaded:x}"),
        "tray_is_bbl_bits": format!("{loaded:x}"), "tray_read_done_bits": format!("{loaded:x}"), "tray_reading_bits": "0",
        "tray_now": tray_now.to_string(), "tray_tar": tray_now.to_string(), "tray_pre": "255", "version": 4,
        "insert_flag": true, "power_on_flag": false, "ams_exist_bits_raw": format!("{exist:x}"), "unbind_ams_stat": 0,
    })
}

fn tray(id: i64, spool: &Tray) -> Value {
    json!({
        "id": id.to_string(), "state": 11, "tray_type": spool.tray_type, "tray_color": spool.tray_color,
        "tray_info_idx": spool.tray_info_idx, "remain": spool.remain, "tag_uid": spool.tag_uid, "cols": [spool.tray_color],
        "tray_uuid": "0".repeat(32), "tray_sub_brands": "", "tray_weight": "1000", "tray_diameter": "1.75", "total_len": 330_000,
        "tray_temp": "55", "tray_time": "8", "bed_temp_type": "1", "bed_temp": "35", "nozzle_temp_max": "230",
        "nozzle_temp_min": "190", "tray_id_name": "", "xcam_info": "000000000000000000000000", "ctype": 0, "k": 0.02, "n": 1.0,
        "cali_idx": -1, "drying_temp": "0", "drying_time": "0",
    })
}

/// Report fields that the printer never changes.
static UNCHANGING: LazyLock<Map<String, Value>> =
    LazyLock::new(|| serde_json::from_str(include_str!("unchanging.json")).unwrap_or_default());

/// Returns the differences between `old` and `new`: objects are compared field by field, and all other values as a
/// whole. Returns `None` if they are equal.
pub(super) fn changes(old: &Value, new: &Value) -> Option<Value> {
    if let (Value::Object(before), Value::Object(after)) = (old, new) {
        let changed = after.iter().filter_map(|(name, value)| {
            let change = before.get(name).map_or_else(|| Some(value.clone()), |before| changes(before, value))?;
            Some((name.clone(), change))
        });
        let changed: Map<String, Value> = changed.collect();
        return (!changed.is_empty()).then_some(Value::Object(changed));
    }
    (old != new).then(|| new.clone())
}

/// Returns the response to `get_version`.
pub(super) fn version(model: BambuModel, serial: &str, sequence_id: &Value) -> Value {
    let module = |name: &str, version: &str, hardware: &str| {
        json!({
            "name": name, "product_name": model.product_name(), "sw_ver": version, "sw_new_ver": "", "hw_ver": hardware,
            "sn": serial, "flag": 0,
        })
    };
    let modules = match model {
        BambuModel::X1 => vec![module("ota", "01.09.00.00", "OTA"), module("rv1126", "00.00.30.60", "AP05")],
        BambuModel::P1 => vec![module("ota", "01.08.01.00", "OTA"), module("esp32", "01.11.35.43", "AP04")],
        BambuModel::A1Mini => vec![module("ota", "01.05.00.00", "OTA"), module("esp32", "01.14.43.22", "AP05")],
    };
    json!({"info": {"command": "get_version", "sequence_id": sequence_id, "module": modules, "result": "success", "reason": ""}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_objects_are_told_by_member_and_of_lists_as_a_whole() {
        let old = json!({"a": 1, "b": {"c": [1, 2], "d": 3}});
        assert_eq!(changes(&old, &old), None);
        let new = json!({"a": 1, "b": {"c": [1, 4], "d": 3}, "e": 5});
        assert_eq!(changes(&old, &new), Some(json!({"b": {"c": [1, 4]}, "e": 5})));
    }
}
