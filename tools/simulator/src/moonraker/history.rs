//! Moonraker's print history and console.

use serde_json::{Value, json};

use super::{MoonrakerError, RpcParams, files};
use crate::printer::{Machine, PrintOutcome, Record};

/// Returns the list of prints, 50 per page and newest first by default.
pub(super) fn list(machine: &mut Machine, params: &RpcParams) -> Result<Value, MoonrakerError> {
    let limit = number(params, "limit")?.unwrap_or(50.0) as usize;
    let start = number(params, "start")?.unwrap_or(0.0) as usize;
    let since = number(params, "since")?;
    let before = number(params, "before")?;
    let mut records: Vec<&Record> = machine
        .history()
        .iter()
        .filter(|record| since.is_none_or(|since| files::unix(record.started_at) > since))
        .filter(|record| before.is_none_or(|before| files::unix(record.started_at) < before))
        .collect();
    match params.get("order").and_then(Value::as_str) {
        None | Some("desc") => records.reverse(),
        Some("asc") => {}
        Some(other) => {
            return Err(MoonrakerError::new(400, format!("Invalid `order` value: {other}")));
        }
    }
    let count = records.len();
    let jobs: Vec<Value> = records.into_iter().skip(start).take(limit).map(|record| job(machine, record)).collect();
    Ok(json!({"count": count, "jobs": jobs}))
}

/// Returns the console's lines, oldest first; with `count`, only the latest ones. The lines are lost when Moonraker
/// restarts.
pub(super) fn console(machine: &mut Machine, params: &RpcParams) -> Result<Value, MoonrakerError> {
    let lines = machine.console();
    let count = number(params, "count")?.map_or(lines.len(), |count| lines.len().min(count as usize));
    let lines: Vec<Value> = lines[lines.len() - count..]
        .iter()
        .map(|(at, line)| {
            let kind = if line.starts_with("//") || line.starts_with("T:") { "response" } else { "command" };
            json!({"message": line, "time": files::unix(*at), "type": kind})
        })
        .collect();
    Ok(json!({ "gcode_store": lines }))
}

/// Returns the print with the given `job_id`.
pub(super) fn one(machine: &mut Machine, uid: &str) -> Result<Value, MoonrakerError> {
    let record = machine.history().iter().find(|record| job_id(record.number) == uid);
    record
        .map(|record| json!({"job": job(machine, record)}))
        .ok_or_else(|| MoonrakerError::new(404, format!("Invalid job uid: {uid}")))
}

/// Returns the totals for all prints.
pub(super) fn totals(machine: &mut Machine) -> Value {
    let records = machine.history();
    json!({"job_totals": {
        "total_jobs": records.len(),
        "total_time": records.iter().map(|record| record.total_seconds).sum::<f64>(),
        "total_print_time": records.iter().map(|record| record.print_seconds).sum::<f64>(),
        "total_filament_used": records.iter().map(|record| record.filament_mm).sum::<f64>(),
        "longest_job": records.iter().map(|record| record.total_seconds).fold(0.0, f64::max),
        "longest_print": records.iter().map(|record| record.print_seconds).fold(0.0, f64::max),
    }})
}

/// Returns Moonraker's ID for a job: six hexadecimal digits.
pub(super) fn job_id(number: u64) -> String {
    format!("{number:06X}")
}

/// Returns a print as shown in the history; a running print is `in_progress` and has no end.
pub(super) fn job(machine: &Machine, record: &Record) -> Value {
    let running = machine.job().filter(|job| job.number == record.number);
    let (print, total, filament) = match running {
        Some(job) => (job.printing.as_secs_f64(), job.total(machine.now()).as_secs_f64(), job.filament_mm()),
        None => (record.print_seconds, record.total_seconds, record.filament_mm),
    };
    let status = match &record.outcome {
        None => "in_progress",
        Some(PrintOutcome::Completed) => "completed",
        Some(PrintOutcome::Cancelled) => "cancelled",
        Some(PrintOutcome::Failed(_)) => "error",
        Some(PrintOutcome::Halted(_)) => "klippy_shutdown",
        Some(PrintOutcome::Interrupted) => "interrupted",
        Some(PrintOutcome::ControllerLost) => "klippy_disconnect",
    };
    json!({
        "job_id": job_id(record.number),
        "user": null,
        "filename": record.filename,
        "status": status,
        "start_time": files::unix(record.started_at),
        "end_time": record.ended_at.map(files::unix),
        "print_duration": print,
        "total_duration": total,
        "filament_used": filament,
        "metadata": files::facts(&record.facts, record.size),
        "auxiliary_data": [],
        "exists": machine.files().get(&record.filename).is_some(),
    })
}

/// Parses an argument as a number; it may be a JSON number or a string.
fn number(params: &RpcParams, name: &str) -> Result<Option<f64>, MoonrakerError> {
    let Some(value) = params.get(name) else {
        return Ok(None);
    };
    let number = value.as_f64().or_else(|| value.as_str().and_then(|text| text.parse().ok()));
    number
        .filter(|number| *number >= 0.0)
        .map(Some)
        .ok_or_else(|| MoonrakerError::new(400, format!("Unable to convert argument [{name}] to a number")))
}
