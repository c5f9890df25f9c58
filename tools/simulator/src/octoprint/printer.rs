//! `/api/printer`: state, temperatures and printer commands.

use axum::{
    Json,
    extract::{Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use super::{OctoprintHost, done, error, outcome};
use crate::{
    faults::HostDisconnect,
    printer::{CommandError, Controller, Machine, PrintPhase},
    wire::JsonBody,
};

/// Message that `OctoPrint` shows after M112 has closed the serial port.
pub(super) const STOPPED: &str = "Closing serial port due to emergency stop M112.";

/// Returns the state as `OctoPrint`'s text.
pub(super) fn state_text(machine: &Machine) -> &'static str {
    match machine.controller() {
        Controller::Ready => match machine.job().map(|job| job.phase) {
            None if machine.echoes() => "Printing",
            None => "Operational",
            Some(PrintPhase::Printing) => "Printing",
            Some(PrintPhase::Pausing) => "Pausing",
            Some(PrintPhase::Paused) => "Paused",
            Some(PrintPhase::Resuming) => "Resuming",
            Some(PrintPhase::Cancelling) => "Cancelling",
        },
        Controller::Starting => "Connecting",
        Controller::Halted { .. } | Controller::Away(HostDisconnect::Disconnected) => "Offline after error",
        Controller::Closed | Controller::Away(HostDisconnect::NeverConnected) => "Offline",
    }
}

/// Returns the error message behind the printer's state, if any.
pub(super) fn error_text(machine: &Machine) -> Option<&str> {
    match machine.controller() {
        Controller::Halted { message } => Some(message),
        Controller::Away(HostDisconnect::Disconnected) => {
            Some("SerialException: device reports readiness to read but returned no data")
        }
        _ => None,
    }
}

/// Returns the state's text and flags. The flags overlap: a print that is pausing is still flagged as printing.
pub(super) fn state(machine: &Machine) -> Value {
    let ready = *machine.controller() == Controller::Ready;
    let phase = machine.job().map(|job| job.phase).filter(|_| ready);
    let printing = ready && (machine.echoes() || phase.is_some_and(|phase| phase != PrintPhase::Paused));
    let failed = error_text(machine).is_some();
    let closed = !matches!(machine.controller(), Controller::Ready | Controller::Starting);
    json!({
        "text": state_text(machine),
        "error": error_text(machine).unwrap_or(""),
        "flags": {
            "operational": ready,
            "printing": printing,
            "cancelling": phase == Some(PrintPhase::Cancelling),
            "pausing": phase == Some(PrintPhase::Pausing),
            "resuming": phase == Some(PrintPhase::Resuming),
            "finishing": false,
            "paused": phase == Some(PrintPhase::Paused),
            "closedOrError": closed,
            "error": failed,
            "ready": ready && phase.is_none() && !printing,
            "sdReady": false,
        },
    })
}

/// Returns the current and target temperatures of tool and bed, in °C.
pub(super) fn temperatures(machine: &mut Machine) -> Value {
    let heat = machine.temperatures();
    json!({
        "tool0": {"actual": heat.nozzle, "target": heat.nozzle_target, "offset": 0},
        "bed": {"actual": heat.bed, "target": heat.bed_target, "offset": 0},
    })
}

/// Interval in seconds between stored measurements.
const MEASURED_EVERY: i64 = 5;
const MEASUREMENTS: i64 = 360;

/// Returns the latest temperature measurements since the server was started, oldest first. Their values are synthetic,
/// and consecutive ones differ.
fn measured(machine: &Machine, limit: usize) -> Value {
    let started = machine.server_started_at().as_second();
    let count = (machine.now_at().as_second() - started) / MEASURED_EVERY;
    let all = (count - MEASUREMENTS).max(0)..count;
    let one = |n: i64| {
        let actual = 21.0 + (started + n * 7).rem_euclid(100) as f64 / 100.0;
        json!({"time": started + n * MEASURED_EVERY, "tool0": {"actual": actual, "target": 0.0}, "bed": {"actual": 21.0, "target": 0.0}})
    };
    let skip = usize::try_from(count).unwrap_or(0).min(MEASUREMENTS as usize).saturating_sub(limit);
    Value::Array(all.skip(skip).map(one).collect())
}

pub(super) async fn show(State(host): State<OctoprintHost>, Query(query): Query<Vec<(String, String)>>) -> Response {
    let excluded: Vec<&str> =
        query.iter().filter(|(name, _)| name == "exclude").flat_map(|(_, list)| list.split(',')).collect();
    host.printer.with(|machine| {
        if *machine.controller() != Controller::Ready {
            return error(StatusCode::CONFLICT, "Printer is not operational");
        }
        let mut body = json!({});
        if !excluded.contains(&"temperature") {
            body["temperature"] = temperatures(machine);
            if query.iter().any(|(name, value)| name == "history" && value == "true") {
                let limit = query.iter().find(|(name, _)| name == "limit").and_then(|(_, limit)| limit.parse().ok());
                body["temperature"]["history"] = measured(machine, limit.unwrap_or(usize::MAX));
            }
        }
        if !excluded.contains(&"sd") {
            body["sd"] = json!({"ready": false});
        }
        if !excluded.contains(&"state") {
            body["state"] = state(machine);
        }
        Json(body).into_response()
    })
}

/// Runs raw G-code. The response is sent before the commands take effect. M112 is executed before all others and closes
/// the port.
pub(super) async fn command(State(host): State<OctoprintHost>, JsonBody(body): JsonBody) -> Response {
    let commands: Vec<&str> = match (body.get("command"), body.get("commands")) {
        (Some(Value::String(one)), None) => vec![one],
        (None, Some(Value::Array(many))) => many.iter().filter_map(Value::as_str).collect(),
        _ => {
            return error(StatusCode::BAD_REQUEST, "Need either single command or list of commands");
        }
    };
    let stops = commands.iter().any(|command| command.trim().eq_ignore_ascii_case("M112"));
    let answer = host.printer.with(|machine| {
        if *machine.controller() != Controller::Ready {
            return error(StatusCode::CONFLICT, "Printer is not operational");
        }
        if stops {
            return outcome(machine.emergency_stop(STOPPED));
        }
        outcome(commands.iter().try_for_each(|command| machine.gcode(command)))
    });
    if stops {
        host.printer.answer_stop().await;
    }
    answer
}

fn run(host: &OctoprintHost, lines: &[String]) -> Response {
    outcome(host.printer.with(|machine| lines.iter().try_for_each(|line| machine.gcode(line))))
}

pub(super) async fn tool(State(host): State<OctoprintHost>, JsonBody(body): JsonBody) -> Response {
    match body["command"].as_str() {
        Some("target") => match body["targets"]["tool0"].as_f64() {
            Some(target) => run(&host, &[format!("M104 S{target}")]),
            None => error(StatusCode::BAD_REQUEST, "Invalid target for tool"),
        },
        Some("select" | "offset" | "extrude" | "flowrate") => run(&host, &[]),
        _ => error(StatusCode::BAD_REQUEST, "Unknown command"),
    }
}

pub(super) async fn bed(State(host): State<OctoprintHost>, JsonBody(body): JsonBody) -> Response {
    match (body["command"].as_str(), body["target"].as_f64()) {
        (Some("target"), Some(target)) => run(&host, &[format!("M140 S{target}")]),
        (Some("target"), None) => error(StatusCode::BAD_REQUEST, "Invalid target"),
        _ => error(StatusCode::BAD_REQUEST, "Unknown command"),
    }
}

/// Homes or moves the axes; rejected while printing.
pub(super) async fn printhead(State(host): State<OctoprintHost>, JsonBody(body): JsonBody) -> Response {
    let idle = host.printer.with(|machine| {
        if machine.job().is_some_and(|job| job.phase != PrintPhase::Paused) { Err(CommandError::Busy) } else { Ok(()) }
    });
    if let Err(busy) = idle {
        return outcome(Err(busy));
    }
    match body["command"].as_str() {
        Some("home") => {
            let axes: Vec<String> = body["axes"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(|axis| format!("{}0", axis.to_uppercase()))
                .collect();
            run(&host, &["G91".to_owned(), format!("G28 {}", axes.join(" ")), "G90".to_owned()])
        }
        Some("jog" | "feedrate") => host.printer.with(|machine| {
            if *machine.controller() == Controller::Ready { done() } else { outcome(Err(CommandError::NotReady)) }
        }),
        _ => error(StatusCode::BAD_REQUEST, "Unknown command"),
    }
}
