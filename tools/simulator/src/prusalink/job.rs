//! `/api/v1/status` and `/api/v1/job`: the printer's state, and the commands for its print.

use axum::{
    Json,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use super::{PrusalinkHost, done, error, files, outcome};
use crate::printer::{Controller, Machine, PrintJob, PrintOutcome, PrintPhase};

/// Returns the API's name for the printer's state. A print that has ended is shown until it is confirmed at the printer
/// or the next print starts.
fn state(machine: &Machine) -> &'static str {
    if !matches!(machine.controller(), Controller::Ready | Controller::Starting) {
        return "ERROR";
    }
    match machine.job().map(|job| job.phase) {
        Some(PrintPhase::Printing | PrintPhase::Resuming | PrintPhase::Pausing) => "PRINTING",
        Some(PrintPhase::Paused) => "PAUSED",
        Some(PrintPhase::Cancelling) => "BUSY",
        None if machine.echoes() => "PRINTING",
        None if machine.is_homing() => "BUSY",
        None => match machine.shown_job().and_then(|job| job.outcome.as_ref()) {
            Some(PrintOutcome::Completed) => "FINISHED",
            Some(_) => "STOPPED",
            None => "IDLE",
        },
    }
}

/// Returns a print's state.
fn state_of(machine: &Machine, job: &PrintJob) -> &'static str {
    match &job.outcome {
        Some(PrintOutcome::Completed) if machine.echoes() => "PRINTING",
        Some(PrintOutcome::Completed) => "FINISHED",
        Some(PrintOutcome::Cancelled) => "STOPPED",
        Some(_) => "ERROR",
        None if job.phase == PrintPhase::Paused => "PAUSED",
        None => "PRINTING",
    }
}

fn numbers(machine: &Machine, job: &PrintJob) -> Value {
    json!({
        "id": job.number,
        "progress": (job.progress() * 10_000.0).round() / 100.0,
        "time_remaining": ((job.facts.seconds - job.done).max(0.0) / machine.speed()).round() as u64,
        "time_printing": job.printing.as_secs(),
    })
}

pub(super) async fn status(State(host): State<PrusalinkHost>) -> Response {
    let camera = host.printer.camera().is_some();
    host.printer.with(|machine| {
        let heat = machine.temperatures();
        let (away, words) = match machine.controller() {
            Controller::Away(_) | Controller::Closed => (true, "The serial connection to the printer is lost"),
            Controller::Halted { message } => (false, message.as_str()),
            Controller::Ready | Controller::Starting => (false, "OK"),
        };
        let mut body = json!({
            "printer": {
                "state": state(machine),
                "temp_nozzle": heat.nozzle, "target_nozzle": heat.nozzle_target,
                "temp_bed": heat.bed, "target_bed": heat.bed_target,
                "axis_z": 0.2, "flow": 100, "speed": 100, "fan_hotend": 0, "fan_print": 0,
                "status_printer": {"ok": !away, "message": words},
            },
            "storage": {"path": "/usb/", "name": "usb", "read_only": false},
        });
        if let Some(job) = machine.shown_job() {
            body["job"] = numbers(machine, job);
        }
        if camera {
            body["camera"] = json!({"id": "buddy"});
        }
        Json(body).into_response()
    })
}

pub(super) async fn show(State(host): State<PrusalinkHost>) -> Response {
    host.printer.with(|machine| {
        let Some(job) = machine.shown_job() else { return done() };
        let mut body = numbers(machine, job);
        body["state"] = json!(state_of(machine, job));
        let (folder, name) = files::split(&job.filename);
        body["file"] = json!({
            "name": files::short(name), "display_name": name, "path": files::short_folder(folder),
            "display_path": format!("/usb/{folder}").trim_end_matches('/'), "size": job.size,
            "m_timestamp": job.started_at.as_second(),
        });
        Json(body).into_response()
    })
}

/// Checks that the print with the given number is the current one; otherwise returns the error response.
fn of_current(machine: &Machine, id: u64) -> Result<PrintPhase, (StatusCode, &'static str)> {
    match machine.shown_job().filter(|job| job.number == id) {
        None => Err((StatusCode::NOT_FOUND, "Job with this ID was not found")),
        Some(_) => machine.job().map(|job| job.phase).ok_or((StatusCode::CONFLICT, "The printer is not printing")),
    }
}

pub(super) async fn command(State(host): State<PrusalinkHost>, Path((id, verb)): Path<(u64, String)>) -> Response {
    host.printer.with(|machine| {
        let phase = match of_current(machine, id) {
            Ok(phase) => phase,
            Err((status, words)) => return error(status, words),
        };
        match (verb.as_str(), phase) {
            ("pause", PrintPhase::Printing | PrintPhase::Resuming) => outcome(machine.pause().map(drop)),
            ("resume", PrintPhase::Paused | PrintPhase::Pausing) => outcome(machine.resume().map(drop)),
            ("pause" | "resume" | "continue", _) => error(StatusCode::CONFLICT, "The print is in a different state"),
            _ => error(StatusCode::NOT_FOUND, "The requested URL was not found."),
        }
    })
}

pub(super) async fn stop(State(host): State<PrusalinkHost>, Path(id): Path<u64>) -> Response {
    let answer = host.printer.with(|machine| match of_current(machine, id) {
        Ok(PrintPhase::Cancelling) => error(StatusCode::CONFLICT, "The print is being stopped"),
        Ok(_) => outcome(machine.cancel().map(drop)),
        Err((status, words)) => error(status, words),
    });
    host.printer.answer_stop().await;
    answer
}
