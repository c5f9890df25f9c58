//! Converts the flags and job reported by `OctoPrint` to one status. Pure.

use serde_json::Value;

use crate::adapter::Telemetry;
use domain::heaters::{Heat, Heaters};
use domain::printer_status::{Activity, Connection, PrintEnd, Status};
use domain::time::Timestamp;

/// Builds the status for a closed serial port. After an error or emergency stop, `job.error` contains the reason.
pub(super) fn port_closed(job: &Value, at: Timestamp) -> Status {
    let text = job.get("state").and_then(Value::as_str).unwrap_or("Offline");
    let error = job.get("error").and_then(Value::as_str).filter(|text| !text.is_empty());
    let broken = error.is_some() || text.contains("rror");
    Status {
        state: if broken { Activity::Error } else { Activity::Offline },
        ..Status::unavailable(Connection::FirmwareDisconnected, error.unwrap_or(text), at)
    }
}

/// Extracts the telemetry about the print and heaters from a state message of the push connection.
pub(super) fn telemetry(current: &Value) -> Telemetry {
    let number = |at: &str| current.pointer(at).and_then(Value::as_f64);
    let latest = current.get("temps").and_then(Value::as_array).and_then(|temps| temps.last());
    let heat = |of: &str| latest?.pointer(of)?.as_f64();
    Telemetry {
        progress: completion(current),
        remaining_seconds: number("/progress/printTimeLeft").map(|seconds| seconds as i64),
        layer: None,
        filament_mm: None,
        nozzle: heat("/tool0/actual"),
        bed: heat("/bed/actual"),
        heaters: latest.map(heaters).unwrap_or_default(),
    }
}

/// Returns the heaters in a list of temperatures.
fn heaters(temperatures: &Value) -> Heaters {
    let heat = |name: &str| {
        let of = |field: &str| temperatures.get(name)?.get(field)?.as_f64();
        Heat::new(of("actual"), of("target"))
    };
    let tools = std::array::from_fn(|at| heat(&format!("tool{at}")));
    Heaters { tools, bed: heat("bed"), chamber: heat("chamber") }
}

/// Returns the progress of the selected file in percent; `None` after a cancellation.
fn completion(job: &Value) -> Option<f64> {
    job.pointer("/progress/completion").and_then(Value::as_f64).map(|percent| percent.clamp(0.0, 100.0))
}

/// Builds a status from `/api/printer` and `/api/job`.
///
/// `OctoPrint` has no finished or failed state. An idle printer whose selected file is at exactly 100 percent has
/// finished it; in all other cases, `ended` stays unset.
pub(super) fn read(printer: &Value, job: &Value, at: Timestamp) -> Status {
    let flag = |name: &str| {
        printer.pointer("/state/flags").and_then(|flags| flags.get(name)).and_then(Value::as_bool).unwrap_or(false)
    };
    // The flags overlap, so their order matters.
    let (state, connection) = if flag("error") || flag("closedOrError") {
        (Activity::Error, Connection::Connected)
    } else if flag("cancelling") || flag("pausing") {
        (Activity::Printing, Connection::Connected)
    } else if flag("resuming") {
        (Activity::Paused, Connection::Connected)
    } else if flag("finishing") {
        (Activity::Printing, Connection::Connected)
    } else if flag("paused") {
        (Activity::Paused, Connection::Connected)
    } else if flag("printing") {
        (Activity::Printing, Connection::Connected)
    } else if flag("operational") {
        (Activity::Idle, Connection::Connected)
    } else {
        (Activity::Offline, Connection::FirmwareDisconnected)
    };
    let file = job.pointer("/job/file/path").and_then(Value::as_str).filter(|path| !path.is_empty());
    let completion = completion(job);
    let finished = state == Activity::Idle && completion.is_some_and(|percent| percent >= 100.0);
    let active = matches!(state, Activity::Printing | Activity::Paused);
    let words =
        |value: Option<&Value>| value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    let temperature = |of: &str| printer.pointer(of).and_then(Value::as_f64).unwrap_or(0.0);
    Status {
        state,
        connection,
        file: file.map(str::to_owned),
        ended: if finished && file.is_some() { Some(PrintEnd::Finished) } else { None },
        progress: if file.is_some() { completion.unwrap_or(0.0) } else { 0.0 },
        cancelling: flag("cancelling"),
        remaining_seconds: job
            .pointer("/progress/printTimeLeft")
            .and_then(Value::as_f64)
            .filter(|_| active)
            .map(|seconds| seconds as i64),
        // `job.filament` is an estimate for the whole file, not what was used.
        filament_mm: None,
        nozzle: temperature("/temperature/tool0/actual"),
        bed: temperature("/temperature/bed/actual"),
        heaters: printer.get("temperature").map(heaters).unwrap_or_default(),
        homed: None,
        message: words(job.get("error"))
            .or_else(|| words(printer.pointer("/state/error")))
            .or_else(|| words(printer.pointer("/state/text"))),
        slots: Vec::new(),
        // It tells of no layers.
        layer: None,
        books_on: None,
        // Read from the file's own record by the adapter.
        runs: None,
        updated_at: at,
    }
}
