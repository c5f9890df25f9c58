//! `/api/job`: the current print and the file selected for the next one.

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use super::{OctoprintHost, USER, error, files, outcome, printer};
use crate::printer::{CommandError, Controller, Machine, PrintJob, PrintOutcome, PrintPhase};
use crate::wire::JsonBody;

/// Returns the selected file with its expected time and material; its fields are null if no file is selected.
pub(super) fn job(machine: &Machine) -> Value {
    let Some((path, file)) = machine.selected().and_then(|path| machine.files().get(path).map(|file| (path, file)))
    else {
        return json!({
            "file": {"name": null, "path": null, "display": null, "origin": null, "size": null, "date": null},
            "estimatedPrintTime": null, "averagePrintTime": null, "lastPrintTime": null, "filament": null, "user": null,
        });
    };
    let times: Vec<f64> = machine
        .history()
        .iter()
        .filter(|record| record.filename == path && record.outcome == Some(PrintOutcome::Completed))
        .map(|record| record.print_seconds)
        .collect();
    let average = (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64);
    json!({
        "file": {
            "name": files::name_of(path),
            "path": path,
            "display": files::name_of(path),
            "origin": "local",
            "size": file.bytes.len(),
            "date": file.modified.as_second(),
        },
        "estimatedPrintTime": file.facts.seconds,
        "averagePrintTime": average,
        "lastPrintTime": times.last(),
        "filament": files::filament(&file.facts),
        "user": USER,
    })
}

/// Returns the progress of printing the selected file in percent: exactly 100.0 once finished, null once cancelled or
/// failed.
pub(super) fn progress(machine: &Machine) -> Value {
    let shown_job = machine.shown_job().filter(|job| Some(job.filename.as_str()) == machine.selected());
    let visible = shown_job.filter(|job| matches!(job.outcome, None | Some(PrintOutcome::Completed)));
    let Some(job) = visible else {
        return json!({"completion": null, "filepos": null, "printTime": null, "printTimeLeft": null, "printTimeLeftOrigin": null});
    };
    let share = if machine.echoes() { 0.99 } else { job.progress() };
    json!({
        "completion": share * 100.0,
        "filepos": (job.size as f64 * share) as u64,
        "printTime": job.printing.as_secs(),
        "printTimeLeft": left(machine, job),
        "printTimeLeftOrigin": "analysis",
    })
}

/// Returns the remaining time in real seconds.
fn left(machine: &Machine, job: &PrintJob) -> u64 {
    ((job.facts.seconds - job.done).max(0.0) / machine.speed()).round() as u64
}

/// Handles `GET /api/job`, which always returns 200, regardless of what the printer is doing.
pub(super) async fn show(State(host): State<OctoprintHost>) -> Response {
    host.printer.with(|machine| {
        let mut body =
            json!({"job": job(machine), "progress": progress(machine), "state": printer::state_text(machine)});
        if let Some(error) = printer::error_text(machine) {
            body["error"] = json!(error);
        }
        Json(body).into_response()
    })
}

pub(super) async fn command(State(host): State<OctoprintHost>, JsonBody(body): JsonBody) -> Response {
    host.printer.with(|machine| {
        if *machine.controller() != Controller::Ready {
            return outcome(Err(CommandError::NotReady));
        }
        let phase = machine.job().map(|job| job.phase);
        let no_job = || error(StatusCode::CONFLICT, "Printer is neither printing nor paused, no active job");
        match (body["command"].as_str(), phase) {
            (Some("start"), Some(_)) => {
                error(StatusCode::CONFLICT, "Printer already has an active print job, did you mean 'restart'?")
            }
            (Some("start"), None) => match machine.selected().map(str::to_owned) {
                Some(path) => outcome(machine.start(&path)),
                // Without a selected file the command is accepted and has no effect.
                None => super::done(),
            },
            (Some("restart"), Some(PrintPhase::Paused)) => {
                let path = machine.selected().map(str::to_owned).unwrap_or_default();
                outcome(machine.cancel().and_then(|_| machine.start(&path)))
            }
            (Some("restart"), _) => {
                error(StatusCode::CONFLICT, "Printer does not have an active print job or is not paused")
            }
            (Some("cancel" | "pause"), None) => no_job(),
            (Some("cancel"), Some(_)) => outcome(machine.cancel().map(drop)),
            (Some("pause"), Some(phase)) => {
                let paused = matches!(phase, PrintPhase::Paused | PrintPhase::Pausing);
                match body.get("action").map_or(Some("toggle"), Value::as_str) {
                    Some("toggle") if paused => outcome(machine.resume().map(drop)),
                    Some("toggle" | "pause") => outcome(machine.pause().map(drop)),
                    Some("resume") => outcome(machine.resume().map(drop)),
                    _ => error(StatusCode::BAD_REQUEST, "Unknown action"),
                }
            }
            _ => error(StatusCode::BAD_REQUEST, "Unknown command"),
        }
    })
}
