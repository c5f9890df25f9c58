//! Converts a printer's status message into one status. Pure.

use serde_json::Value;

use super::message::name_of;
use crate::domain::heaters::{Heat, Heaters};
use crate::domain::printer_status::{Activity, Connection, PrintEnd, PrintedLayer, Status};
use crate::domain::time::Timestamp;
use crate::printers::adapter::Telemetry;

/// Print state, decoded from its number.
enum PrintState {
    AtRest,
    Printing,
    Paused,
    Stopping,
    Finished,
    Stopped,
    Failed,
    /// The print is over; only its progress reveals the outcome.
    Over,
    Unknown,
}

fn state_of(number: Option<i64>) -> PrintState {
    match number {
        Some(0) => PrintState::AtRest,
        // Homing, pausing, checks, resuming, printing, levelling, heating, and what is between them.
        Some(1 | 5 | 10..=13 | 15..=22) => PrintState::Printing,
        Some(6) => PrintState::Paused,
        Some(7) => PrintState::Stopping,
        Some(8) => PrintState::Stopped,
        Some(9) => PrintState::Finished,
        Some(3 | 4) => PrintState::Over,
        Some(14) => PrintState::Failed,
        _ => PrintState::Unknown,
    }
}

fn print(told: &Value, member: &str) -> Option<f64> {
    told.pointer("/PrintInfo")?.get(member)?.as_f64()
}

fn number(told: &Value) -> Option<i64> {
    print(told, "Status").map(|number| number as i64)
}

/// Reads a temperature; older firmware reports an array of target and measurement.
fn heat(told: &Value, member: &str) -> Option<f64> {
    let value = told.get(member)?;
    value.as_f64().or_else(|| value.get(1)?.as_f64())
}

fn heaters(told: &Value) -> Heaters {
    let one = |actual: &str, target: &str| {
        let older = || told.get(actual)?.get(0)?.as_f64();
        Heat::new(heat(told, actual), told.get(target).and_then(Value::as_f64).or_else(older))
    };
    Heaters::of(
        one("TempOfNozzle", "TempTargetNozzle"),
        one("TempOfHotbed", "TempTargetHotbed"),
        one("TempOfBox", "TempTargetBox"),
    )
}

/// Returns the file that is printing or was printed last.
fn file(told: &Value) -> Option<&str> {
    told.pointer("/PrintInfo/Filename").and_then(Value::as_str).map(name_of).filter(|name| !name.is_empty())
}

/// Parts of a status whose change is a change of state.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Essence {
    number: Option<i64>,
    file: Option<String>,
    machine: Option<Value>,
}

pub(super) fn essence(told: &Value) -> Essence {
    Essence { number: number(told), file: file(told).map(str::to_owned), machine: told.get("CurrentStatus").cloned() }
}

fn progress(told: &Value) -> Option<f64> {
    let of_time = || {
        let (done, all) = (print(told, "CurrentTicks")?, print(told, "TotalTicks")?);
        (all > 0.0).then(|| done / all * 100.0)
    };
    // It is told in whole per cent, and the times are finer.
    let told = [print(told, "Progress"), of_time()].into_iter().flatten().reduce(f64::max);
    told.map(|percent| percent.clamp(0.0, 100.0))
}

fn remaining(told: &Value) -> Option<i64> {
    let (done, all) = (print(told, "CurrentTicks")?, print(told, "TotalTicks")?);
    (all > 0.0).then(|| (all - done).max(0.0) as i64)
}

fn layer(told: &Value) -> Option<PrintedLayer> {
    PrintedLayer::told(print(told, "CurrentLayer"), print(told, "TotalLayer"))
}

/// Extracts the telemetry from a push.
pub(super) fn telemetry(told: &Value) -> Telemetry {
    Telemetry {
        progress: progress(told),
        remaining_seconds: remaining(told),
        layer: layer(told),
        filament_mm: None,
        nozzle: heat(told, "TempOfNozzle"),
        bed: heat(told, "TempOfHotbed"),
        heaters: heaters(told),
    }
}

/// Converts the printer's status. A printer that calibrates, tests itself or is in an unknown state counts as not idle
/// and shows no file, so that nothing is sent to it and nothing is concluded from it. One that receives a file is idle.
pub(super) fn read(told: &Value, at: Timestamp) -> Status {
    let machine = told.get("CurrentStatus").and_then(Value::as_array);
    let does = |number: i64| machine.is_some_and(|all| all.iter().any(|one| one.as_i64() == Some(number)));
    let percent = progress(told).unwrap_or(0.0);
    let error = print(told, "ErrorNumber").map_or(0, |number| number as i64);
    let (mut state, mut ended, mut shows) = match state_of(number(told)) {
        PrintState::AtRest => (Activity::Idle, None, false),
        PrintState::Printing | PrintState::Stopping => (Activity::Printing, None, true),
        PrintState::Paused => (Activity::Paused, None, true),
        PrintState::Finished => (Activity::Idle, Some(PrintEnd::Finished), true),
        PrintState::Stopped if error != 0 => (Activity::Idle, Some(PrintEnd::Failed), true),
        PrintState::Stopped => (Activity::Idle, Some(PrintEnd::Cancelled), true),
        PrintState::Over if percent >= 100.0 => (Activity::Idle, Some(PrintEnd::Finished), true),
        PrintState::Over => (Activity::Idle, None, true),
        PrintState::Failed => (Activity::Error, Some(PrintEnd::Failed), true),
        PrintState::Unknown => (Activity::Printing, None, false),
    };
    // It prints already and does not say what, calibrates, or tests itself.
    if state == Activity::Idle && (does(1) || does(3) || does(4)) {
        (state, ended, shows) = (Activity::Printing, None, false);
    }
    let file = file(told).filter(|_| shows).map(str::to_owned);
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
        cancelling: number(told) == Some(7),
        remaining_seconds: remaining(told).filter(|_| on && file.is_some()),
        filament_mm: None,
        nozzle: heat(told, "TempOfNozzle").unwrap_or(0.0),
        bed: heat(told, "TempOfHotbed").unwrap_or(0.0),
        heaters: heaters(told),
        // It cannot be told to home and does so by itself before each print.
        homed: (state == Activity::Idle).then_some(true),
        message: words(ended, error, number(told)),
        slots: Vec::new(),
        layer: layer(told).filter(|_| on && file.is_some()),
        books_on: None,
        runs: None,
        file,
        updated_at: at,
    }
}

/// Describes the printer's errors, which it reports as numbers only.
fn words(ended: Option<PrintEnd>, error: i64, number: Option<i64>) -> Option<String> {
    let said = match error {
        0 => None,
        1 => Some("the file on the printer is damaged".to_owned()),
        2 => Some("the printer could not read the file".to_owned()),
        3..=5 => Some("the file is not for this printer".to_owned()),
        other => Some(format!("the printer stopped with its error {other}: look at its screen")),
    };
    said.or_else(|| match (ended, number) {
        (Some(PrintEnd::Failed), _) => Some("the printer is in error: look at its screen".to_owned()),
        (_, Some(number)) if matches!(state_of(Some(number)), PrintState::Unknown) => {
            Some(format!("the printer is in its state {number}, which is not known"))
        }
        _ => None,
    })
}
