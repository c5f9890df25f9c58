//! Klipper's status objects (`print_stats`, `extruder` and others), which clients query or subscribe to.

use serde_json::{Map, Value, json};

use super::methods::klippy;
use crate::printer::{Controller, FilamentGate, Machine, PrintJob, PrintOutcome, PrintPhase};

/// Returns all status objects with all fields.
pub(super) fn all(machine: &mut Machine) -> Map<String, Value> {
    let heat = machine.temperatures();
    let (state, message) = klippy(machine);
    let shown_job = machine.shown_job();
    let state_of_print = print_state(machine);
    let active = state_of_print == "printing";
    let progress = shown_job.map_or(0.0, |job| file_progress(machine, job));
    let open = machine.job().filter(|_| *machine.controller() == Controller::Ready);
    let objects = json!({
        "webhooks": {"state": state, "state_message": message},
        "print_stats": {
            "filename": shown_job.map_or("", |job| job.filename.as_str()),
            "total_duration": shown_job.map_or(0.0, |job| job.total(machine.now()).as_secs_f64()),
            "print_duration": shown_job.map_or(0.0, |job| job.printing.as_secs_f64()),
            "filament_used": shown_job.map_or(0.0, PrintJob::filament_mm),
            "state": state_of_print,
            "message": match shown_job.and_then(|job| job.outcome.as_ref()) {
                Some(PrintOutcome::Failed(message)) => message.as_str(),
                _ => "",
            },
            "info": {"total_layer": shown_job.and_then(|job| job.facts.layers), "current_layer": shown_job.and_then(PrintJob::layer)},
        },
        "virtual_sdcard": {
            "file_path": open.map(|job| format!("/home/pi/printer_data/gcodes/{}", job.filename)),
            "progress": shown_job.map_or(0.0, |job| position(job, progress) as f64 / job.size.max(1) as f64),
            "is_active": active,
            "file_position": shown_job.map_or(0, |job| position(job, progress)),
            "file_size": shown_job.map_or(0, |job| job.size),
        },
        "display_status": {"progress": progress, "message": null},
        "pause_resume": {"is_paused": state_of_print == "paused"},
        "idle_timeout": {"state": if active { "Printing" } else { "Idle" }, "printing_time": shown_job.filter(|_| active).map_or(0.0, |job| job.printing.as_secs_f64())},
        "toolhead": {
            "homed_axes": machine.homed(),
            "axis_minimum": [0.0, 0.0, 0.0, 0.0],
            "axis_maximum": [250.0, 210.0, 220.0, 0.0],
            "print_time": machine.uptime(),
            "estimated_print_time": machine.uptime(),
            "extruder": "extruder",
            "position": [0.0, 0.0, shown_job.and_then(PrintJob::layer).map_or(0.0, |layer| layer as f64 * 0.2), 0.0],
            "max_velocity": 300.0,
            "max_accel": 4000.0,
        },
        "extruder": {
            "temperature": heat.nozzle,
            "target": heat.nozzle_target,
            "power": power(heat.nozzle, heat.nozzle_target),
            "can_extrude": heat.nozzle >= 170.0,
            "pressure_advance": 0.04,
            "smooth_time": 0.04,
            "motion_queue": null,
        },
        "heater_bed": {"temperature": heat.bed, "target": heat.bed_target, "power": power(heat.bed, heat.bed_target)},
        "fan": {"speed": if active { 1.0 } else { 0.0 }, "rpm": null},
    });
    let mut objects = match objects {
        Value::Object(objects) => objects,
        _ => Map::new(),
    };
    if !machine.gates().is_empty() {
        objects.insert("mmu".to_owned(), changer(machine.gates()));
    }
    objects
}

/// Returns the status object of a filament changer driven by Happy Hare.
fn changer(gates: &[FilamentGate]) -> Value {
    let each = |of: fn(&FilamentGate) -> Value| gates.iter().map(of).collect::<Vec<_>>();
    json!({
        "enabled": true,
        "num_gates": gates.len(),
        "gate_status": each(|gate| json!(gate.filled.map_or(-1, i32::from))),
        "gate_vendor": each(|gate| json!(gate.vendor)),
        "gate_material": each(|gate| json!(gate.material)),
        "gate_filament_name": each(|gate| json!(gate.name)),
        "gate_color_rgb": each(|gate| json!(gate.color)),
        "gate_spool_id": each(|_| json!(-1)),
    })
}

/// Returns `print_stats.state`. After an emergency stop, it usually remains `paused`, so clients cannot rely on it.
fn print_state(machine: &Machine) -> &'static str {
    let Some(job) = machine.shown_job() else {
        return "standby";
    };
    match &job.outcome {
        None => match job.phase {
            PrintPhase::Paused | PrintPhase::Resuming => "paused",
            PrintPhase::Printing | PrintPhase::Pausing | PrintPhase::Cancelling => "printing",
        },
        Some(PrintOutcome::Completed) if machine.echoes() => "printing",
        Some(PrintOutcome::Completed) => "complete",
        Some(PrintOutcome::Cancelled) => "cancelled",
        Some(PrintOutcome::Failed(_)) => "error",
        Some(PrintOutcome::Halted(_)) => "paused",
        Some(PrintOutcome::Interrupted | PrintOutcome::ControllerLost) => "standby",
    }
}

/// Returns the fraction of the file's bytes read so far, from 0 to 1. Cancelling closes the file, which resets the
/// value.
fn file_progress(machine: &Machine, job: &PrintJob) -> f64 {
    match job.outcome {
        Some(PrintOutcome::Cancelled) => 0.0,
        _ if machine.echoes() => 0.99,
        _ => job.progress(),
    }
}

/// Returns the print's byte position in its file. The comments before and after the G-code take no time to read.
fn position(job: &PrintJob, progress: f64) -> u64 {
    let (from, to) = job.facts.code;
    match progress {
        done if done >= 1.0 => job.size,
        none if none <= 0.0 => 0,
        share => from + ((to - from) as f64 * share) as u64,
    }
}

/// Returns a heater's power, from 0 to 1.
fn power(actual: f64, target: f64) -> f64 {
    if target <= 0.0 { 0.0 } else { ((target - actual) / 20.0 + target / 400.0).clamp(0.0, 1.0) }
}

/// Selects the requested objects and fields. Null or an empty list requests all fields. Unknown objects are omitted;
/// unknown fields are null.
pub(super) fn select(all: &Map<String, Value>, selection: &Map<String, Value>) -> Map<String, Value> {
    let mut status = Map::new();
    for (name, fields) in selection {
        let Some(object) = all.get(name) else {
            continue;
        };
        let fields: Vec<&str> =
            fields.as_array().map(|fields| fields.iter().filter_map(Value::as_str).collect()).unwrap_or_default();
        let chosen = if fields.is_empty() {
            object.clone()
        } else {
            fields
                .into_iter()
                .map(|field| (field.to_owned(), object.get(field).cloned().unwrap_or(Value::Null)))
                .collect::<Map<_, _>>()
                .into()
        };
        status.insert(name.clone(), chosen);
    }
    status
}

/// Returns the fields that differ from those of the previous status.
pub(super) fn delta(before: &Map<String, Value>, after: &Map<String, Value>) -> Map<String, Value> {
    let mut changes = Map::new();
    for (name, object) in after {
        let Some(fields) = object.as_object() else {
            continue;
        };
        let changed: Map<String, Value> = fields
            .iter()
            .filter(|(field, value)| before.get(name).and_then(|old| old.get(*field)) != Some(*value))
            .map(|(field, value)| (field.clone(), value.clone()))
            .collect();
        if !changed.is_empty() {
            changes.insert(name.clone(), Value::Object(changed));
        }
    }
    changes
}
