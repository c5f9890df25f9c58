//! Converts the state and job reported by `PrusaLink` to one status. Pure.

use serde_json::Value;

use super::files;
use super::read::number;
use domain::heaters::{Heat, Heaters};
use domain::printer_status::{Activity, Connection, PrintEnd, Status};
use domain::time::Timestamp;

/// Message for a print that the printer itself ended without giving a reason.
const ENDED_WITH_ERROR: &str = "the printer ended the print with an error";

/// Returns the message from a `PrusaLink` on a separate computer that has lost its connection to the printer; `None`
/// while connected, and if `PrusaLink` runs on the printer itself.
pub(super) fn printer_away(status: &Value) -> Option<String> {
    let link = status.pointer("/printer/status_printer").filter(|link| link.get("ok") == Some(&Value::Bool(false)))?;
    let words = link.get("message").and_then(Value::as_str).filter(|words| !words.is_empty());
    Some(words.unwrap_or("the printer does not respond to its server").to_owned())
}

/// Returns whether a job can be current in this status; idle printers are not queried for one.
pub(super) fn may_show_job(status: &Value) -> bool {
    status.get("job").is_some() || !matches!(state_of(status), "IDLE" | "READY")
}

/// Returns whether a job is printing or paused.
pub(super) fn is_on(job: &Value) -> bool {
    matches!(job.get("state").and_then(Value::as_str), Some("PRINTING" | "PAUSED"))
}

fn state_of(status: &Value) -> &str {
    status.pointer("/printer/state").and_then(Value::as_str).unwrap_or_default()
}

/// Builds a status from `/api/v1/status`, and from `/api/v1/job`, which is requested right after it.
///
/// FINISHED and STOPPED are reported until they are confirmed at the printer or a new print starts. READY also means
/// idle: an operator sets it after preparing the printer. A printer that is busy or needs attention without printing is
/// reported as not idle and without a file, so that nothing is sent to it and no conclusions are drawn from its state.
pub(super) fn read(status: &Value, job: &Value, cancelled: Option<u64>, at: Timestamp) -> Status {
    let told_state = state_of(status);
    let of_job = job.get("state").and_then(Value::as_str);
    let (state, ended, shows) = match (told_state, of_job) {
        ("ERROR", _) => (Activity::Error, Some(PrintEnd::Failed), true),
        ("ATTENTION", Some("PRINTING" | "PAUSED")) => (Activity::Paused, None, true),
        ("ATTENTION", _) => (Activity::Paused, None, false),
        (_, Some("PRINTING")) => (Activity::Printing, None, true),
        (_, Some("PAUSED")) => (Activity::Paused, None, true),
        ("IDLE" | "READY" | "FINISHED" | "STOPPED" | "PRINTING" | "PAUSED", Some("FINISHED")) => {
            (Activity::Idle, Some(PrintEnd::Finished), true)
        }
        ("IDLE" | "READY" | "FINISHED" | "STOPPED" | "PRINTING" | "PAUSED", Some("STOPPED")) => {
            (Activity::Idle, Some(PrintEnd::Cancelled), true)
        }
        ("IDLE" | "READY" | "FINISHED" | "STOPPED" | "PRINTING" | "PAUSED", Some("ERROR")) => {
            (Activity::Idle, Some(PrintEnd::Failed), true)
        }
        ("IDLE" | "READY" | "FINISHED" | "STOPPED", _) => (Activity::Idle, None, true),
        ("PAUSED", _) => (Activity::Paused, None, false),
        // Also BUSY, and states of firmware to come.
        _ => (Activity::Printing, None, false),
    };
    let file = job.get("file").filter(|_| shows).and_then(files::name_of);
    let on = matches!(state, Activity::Printing | Activity::Paused);
    let number_at = |at: &str| status.pointer(at).and_then(Value::as_f64);
    let of_print = |member: &str| {
        let current =
            status.get("job").filter(|summary| number(summary) == number(job)).and_then(|job| job.get(member));
        current.or_else(|| job.get(member)).and_then(Value::as_f64)
    };
    let progress = match ended {
        Some(PrintEnd::Finished) => 100.0,
        _ => of_print("progress").unwrap_or(0.0),
    };
    Status {
        state,
        connection: Connection::Connected,
        ended: ended.filter(|_| file.is_some()),
        progress: if file.is_some() { progress.clamp(0.0, 100.0) } else { 0.0 },
        cancelling: on && number(job).is_some() && number(job) == cancelled,
        remaining_seconds: of_print("time_remaining").filter(|_| on && file.is_some()).map(|seconds| seconds as i64),
        filament_mm: None,
        nozzle: number_at("/printer/temp_nozzle").unwrap_or(0.0),
        bed: number_at("/printer/temp_bed").unwrap_or(0.0),
        heaters: Heaters::of(
            Heat::new(number_at("/printer/temp_nozzle"), number_at("/printer/target_nozzle")),
            Heat::new(number_at("/printer/temp_bed"), number_at("/printer/target_bed")),
            Heat::default(),
        ),
        // It cannot be told to home and does so by itself before each print: that it is ready again is all there is to
        // know.
        homed: (state == Activity::Idle).then_some(true),
        message: words(status, told_state, of_job),
        slots: Vec::new(),
        // It tells of no layers.
        layer: None,
        books_on: None,
        // Counted by the adapter, over several statuses.
        runs: None,
        file,
        updated_at: at,
    }
}

/// Returns the printer's message about its state; `None` if it provides none.
fn words(status: &Value, state: &str, of_job: Option<&str>) -> Option<String> {
    let message = status.pointer("/printer/status_printer/message").and_then(Value::as_str);
    let message = message.map(str::trim).filter(|text| !text.is_empty() && !text.eq_ignore_ascii_case("ok"));
    match (message, state, of_job) {
        (Some(message), ..) => Some(message.to_owned()),
        (None, "ATTENTION", _) => Some("the printer needs attention: check its screen".to_owned()),
        (None, "ERROR", _) => Some("the printer reports an error: check its screen".to_owned()),
        (None, "BUSY", None) => Some("the printer is busy with something other than a print".to_owned()),
        (None, _, Some("ERROR")) => Some(ENDED_WITH_ERROR.to_owned()),
        _ => None,
    }
}
