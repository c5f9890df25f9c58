//! From Moonraker's three layers of state to one status. Pure.

use serde_json::Value;

use crate::domain::bounds;
use crate::domain::printer_status::{Activity, Connection, PrintEnd, Status};
use crate::domain::time::Timestamp;
use crate::printers::adapter::Temperatures;

/// What a status is read from; an empty field list asks for all fields.
pub(super) const OBJECTS: &[(&str, &str)] = &[
    ("webhooks", ""),
    ("print_stats", ""),
    ("virtual_sdcard", "progress"),
    ("extruder", "temperature,target"),
    ("heater_bed", "temperature,target"),
    ("toolhead", "homed_axes"),
];

/// Less of a file done than this tells nothing of the time left.
const TELLING: f64 = 0.02;

pub(super) fn klippy_connected(info: &Value) -> bool {
    info.get("klippy_connected").and_then(Value::as_bool).unwrap_or(false)
}

pub(super) fn klippy_state(info: &Value) -> &str {
    info.get("klippy_state").and_then(Value::as_str).unwrap_or("disconnected")
}

/// The web server answers, Klipper does not.
pub(super) fn firmware_away(info: &Value, at: Timestamp) -> Status {
    Status::away(Connection::FirmwareDisconnected, format!("klipper is {}", klippy_state(info)), at)
}

pub(super) fn temperatures(objects: &Value) -> Temperatures {
    let degrees = |at: &str| number(objects, at).map_or(0.0, bounds::celsius);
    Temperatures {
        nozzle: degrees("/extruder/temperature"),
        nozzle_target: degrees("/extruder/target"),
        bed: degrees("/heater_bed/temperature"),
        bed_target: degrees("/heater_bed/target"),
    }
}

/// How far the print is, 0 to 1: bytes of the file, and all of it once complete.
pub(super) fn fraction(objects: &Value) -> f64 {
    if text(objects, "/print_stats/state") == Some("complete") {
        return 1.0;
    }
    number(objects, "/virtual_sdcard/progress").unwrap_or(0.0).clamp(0.0, 1.0)
}

/// A status from the objects of [`OBJECTS`].
///
/// Values outlive the print: a printer that was reached again may tell the `complete` of an earlier one, so who asks compares `file`.
pub(super) fn read(objects: &Value, at: Timestamp) -> Status {
    let firmware = text(objects, "/webhooks/state").unwrap_or("ready");
    let print = text(objects, "/print_stats/state").unwrap_or("standby");
    let file =
        text(objects, "/print_stats/filename").map(|name| name.trim_start_matches('/')).filter(|name| !name.is_empty());
    let words = text(objects, "/webhooks/state_message").filter(|text| !text.is_empty());
    let (state, connection, ended) = match firmware {
        "ready" => {
            let (state, ended) = of_print(print);
            (state, Connection::Connected, ended)
        }
        // On its way up it takes no commands; whatever it printed before is lost.
        "startup" => (Activity::Offline, Connection::FirmwareDisconnected, None),
        // Shut down. The print is lost, though `print_stats` then usually says `paused`.
        _ => (
            Activity::Error,
            Connection::Connected,
            if print == "standby" { None } else { Some(of_print(print).1.unwrap_or(PrintEnd::Failed)) },
        ),
    };
    let temperatures = temperatures(objects);
    let fraction = fraction(objects);
    let active = matches!(state, Activity::Printing | Activity::Paused);
    let printed = number(objects, "/print_stats/print_duration").filter(|_| active && fraction >= TELLING);
    Status {
        state,
        connection,
        file: file.map(str::to_owned),
        ended: ended.filter(|_| file.is_some()),
        progress: if file.is_some() { bounds::percent(fraction * 100.0) } else { 0.0 },
        // Moonraker tells no time left; this is what its web front ends show.
        remaining_seconds: printed.and_then(|seconds| bounds::print_seconds(seconds * (1.0 - fraction) / fraction)),
        filament_mm: number(objects, "/print_stats/filament_used")
            .filter(|_| file.is_some())
            .and_then(bounds::filament_mm),
        nozzle: temperatures.nozzle,
        bed: temperatures.bed,
        homed: text(objects, "/toolhead/homed_axes")
            .map(|axes| ['x', 'y', 'z'].iter().all(|axis| axes.contains(*axis))),
        message: match firmware {
            "ready" => text(objects, "/print_stats/message").filter(|text| !text.is_empty()),
            _ => words,
        }
        .map(str::to_owned),
        updated_at: at,
    }
}

/// `print_stats.state` of a firmware that is ready. After an error the printer is ready again.
fn of_print(state: &str) -> (Activity, Option<PrintEnd>) {
    match state {
        "printing" => (Activity::Printing, None),
        "paused" => (Activity::Paused, None),
        "complete" => (Activity::Idle, Some(PrintEnd::Finished)),
        "cancelled" => (Activity::Idle, Some(PrintEnd::Cancelled)),
        "error" => (Activity::Idle, Some(PrintEnd::Failed)),
        _ => (Activity::Idle, None),
    }
}

fn text<'a>(objects: &'a Value, at: &str) -> Option<&'a str> {
    objects.pointer(at)?.as_str()
}

fn number(objects: &Value, at: &str) -> Option<f64> {
    objects.pointer(at)?.as_f64()
}
