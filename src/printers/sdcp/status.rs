//! Converts a printer's status message to one status. Pure.

use serde_json::Value;

use super::message::name_of;
use crate::adapter::Telemetry;
use domain::heaters::{Heat, Heaters};
use domain::printer_status::{Activity, Connection, PrintEnd, PrintedLayer, Status};
use domain::time::Timestamp;

/// Print state, decoded from the printer's numeric code.
enum SdcpPrintState {
    AtRest,
    Printing,
    Paused,
    Stopping,
    Finished,
    Stopped,
    Failed,
    /// The print is over; only its progress reveals how it ended.
    Over,
    Unknown,
}

fn state_of(number: Option<i64>) -> SdcpPrintState {
    match number {
        Some(0) => SdcpPrintState::AtRest,
        // Homing, pausing, checks, resuming, printing, levelling, heating, and what is between them.
        Some(1 | 5 | 10..=13 | 15..=22) => SdcpPrintState::Printing,
        Some(6) => SdcpPrintState::Paused,
        Some(7) => SdcpPrintState::Stopping,
        Some(8) => SdcpPrintState::Stopped,
        Some(9) => SdcpPrintState::Finished,
        Some(3 | 4) => SdcpPrintState::Over,
        Some(14) => SdcpPrintState::Failed,
        _ => SdcpPrintState::Unknown,
    }
}

fn print(status: &Value, member: &str) -> Option<f64> {
    status.pointer("/PrintInfo")?.get(member)?.as_f64()
}

fn number(status: &Value) -> Option<i64> {
    print(status, "Status").map(|number| number as i64)
}

/// Reads a temperature; older firmware reports an array with the target and the measurement.
fn heat(status: &Value, member: &str) -> Option<f64> {
    let value = status.get(member)?;
    value.as_f64().or_else(|| value.get(1)?.as_f64())
}

fn heaters(status: &Value) -> Heaters {
    let one = |actual: &str, target: &str| {
        let older = || status.get(actual)?.get(0)?.as_f64();
        Heat::new(heat(status, actual), status.get(target).and_then(Value::as_f64).or_else(older))
    };
    Heaters::of(
        one("TempOfNozzle", "TempTargetNozzle"),
        one("TempOfHotbed", "TempTargetHotbed"),
        one("TempOfBox", "TempTargetBox"),
    )
}

/// Returns the file that is printing or was printed last.
fn file(status: &Value) -> Option<&str> {
    status.pointer("/PrintInfo/Filename").and_then(Value::as_str).map(name_of).filter(|name| !name.is_empty())
}

/// Returns the ID of the printer's task, of which there is one per print; `None` if the printer reports none.
pub(super) fn task(status: &Value) -> Option<&str> {
    status.pointer("/PrintInfo/TaskId").and_then(Value::as_str).filter(|task| !task.is_empty())
}

/// Parts of a status that make up the printer's state.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct StatusSummary {
    number: Option<i64>,
    file: Option<String>,
    task: Option<String>,
    machine: Option<Value>,
}

pub(super) fn essence(status: &Value) -> StatusSummary {
    StatusSummary {
        number: number(status),
        file: file(status).map(str::to_owned),
        task: task(status).map(str::to_owned),
        machine: status.get("CurrentStatus").cloned(),
    }
}

fn progress(status: &Value) -> Option<f64> {
    let of_time = || {
        let (done, all) = (print(status, "CurrentTicks")?, print(status, "TotalTicks")?);
        (all > 0.0).then(|| done / all * 100.0)
    };
    // It is told in whole per cent, and the times are finer.
    let percent = [print(status, "Progress"), of_time()].into_iter().flatten().reduce(f64::max);
    percent.map(|percent| percent.clamp(0.0, 100.0))
}

fn remaining(status: &Value) -> Option<i64> {
    let (done, all) = (print(status, "CurrentTicks")?, print(status, "TotalTicks")?);
    (all > 0.0).then(|| (all - done).max(0.0) as i64)
}

fn layer(status: &Value) -> Option<PrintedLayer> {
    PrintedLayer::from_numbers(print(status, "CurrentLayer"), print(status, "TotalLayer"))
}

/// Extracts the telemetry from a push.
pub(super) fn telemetry(status: &Value) -> Telemetry {
    Telemetry {
        progress: progress(status),
        remaining_seconds: remaining(status),
        layer: layer(status),
        filament_mm: None,
        nozzle: heat(status, "TempOfNozzle"),
        bed: heat(status, "TempOfHotbed"),
        heaters: heaters(status),
    }
}

/// Converts the printer's status message. A printer that is calibrating, testing itself or in an unknown state is
/// reported as not idle and without a file, so that nothing is sent to it and no conclusions are drawn from its state.
/// A printer that is receiving a file is idle.
pub(super) fn read(status: &Value, at: Timestamp) -> Status {
    let machine = status.get("CurrentStatus").and_then(Value::as_array);
    let does = |number: i64| machine.is_some_and(|all| all.iter().any(|one| one.as_i64() == Some(number)));
    let percent = progress(status).unwrap_or(0.0);
    let error = print(status, "ErrorNumber").map_or(0, |number| number as i64);
    let (mut state, mut ended, mut shows) = match state_of(number(status)) {
        SdcpPrintState::AtRest => (Activity::Idle, None, false),
        SdcpPrintState::Printing | SdcpPrintState::Stopping => (Activity::Printing, None, true),
        SdcpPrintState::Paused => (Activity::Paused, None, true),
        SdcpPrintState::Finished => (Activity::Idle, Some(PrintEnd::Finished), true),
        SdcpPrintState::Stopped if error != 0 => (Activity::Idle, Some(PrintEnd::Failed), true),
        SdcpPrintState::Stopped => (Activity::Idle, Some(PrintEnd::Cancelled), true),
        SdcpPrintState::Over if percent >= 100.0 => (Activity::Idle, Some(PrintEnd::Finished), true),
        SdcpPrintState::Over => (Activity::Idle, None, true),
        SdcpPrintState::Failed => (Activity::Error, Some(PrintEnd::Failed), true),
        SdcpPrintState::Unknown => (Activity::Printing, None, false),
    };
    // It prints already and does not say what, calibrates, or tests itself.
    if state == Activity::Idle && (does(1) || does(3) || does(4)) {
        (state, ended, shows) = (Activity::Printing, None, false);
    }
    let file = file(status).filter(|_| shows).map(str::to_owned);
    let on = matches!(state, Activity::Printing | Activity::Paused);
    Status {
        state,
        connection: Connection::Connected,
        ended: ended.filter(|_| file.is_some()),
        progress: match ended {
            Some(PrintEnd::Finished) if file.is_some() => 100.0,
            _ if file.is_some() => percent,
            _ => 0.0,
        },
        cancelling: number(status) == Some(7),
        remaining_seconds: remaining(status).filter(|_| on && file.is_some()),
        filament_mm: None,
        nozzle: heat(status, "TempOfNozzle").unwrap_or(0.0),
        bed: heat(status, "TempOfHotbed").unwrap_or(0.0),
        heaters: heaters(status),
        // It cannot be told to home and does so by itself before each print.
        homed: (state == Activity::Idle).then_some(true),
        message: words(ended, error, number(status)),
        slots: Vec::new(),
        layer: layer(status).filter(|_| on && file.is_some()),
        books_on: None,
        // Counted by the adapter, over several statuses.
        runs: None,
        file,
        updated_at: at,
    }
}

/// Describes the printer's errors, which it reports only as numbers.
fn words(ended: Option<PrintEnd>, error: i64, number: Option<i64>) -> Option<String> {
    let message = match error {
        0 => None,
        1 => Some("the file on the printer is damaged".to_owned()),
        2 => Some("the printer could not read the file".to_owned()),
        3..=5 => Some("the file was not made for this printer".to_owned()),
        other => Some(format!("the printer stopped with error {other}: check its screen")),
    };
    message.or_else(|| match (ended, number) {
        (Some(PrintEnd::Failed), _) => Some("the printer reports an error: check its screen".to_owned()),
        (_, Some(number)) if matches!(state_of(Some(number)), SdcpPrintState::Unknown) => {
            Some(format!("the printer is in an unknown state ({number})"))
        }
        _ => None,
    })
}
