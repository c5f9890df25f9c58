//! Converts Moonraker's three layers of state to one status. Pure.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::gates;
use crate::adapter::{PrinterError, Telemetry};
use domain::heaters::{Heat, Heaters};
use domain::printer_status::{Activity, Connection, PrintEnd, PrintedLayer, Status};
use domain::time::Timestamp;

/// Klipper objects from which a status is read; an empty field list requests all fields.
pub(super) const OBJECTS: &[(&str, &str)] = &[
    ("webhooks", ""),
    ("print_stats", ""),
    ("virtual_sdcard", "progress,file_position"),
    ("extruder", HEAT_FIELDS),
    ("extruder1", HEAT_FIELDS),
    ("extruder2", HEAT_FIELDS),
    ("extruder3", HEAT_FIELDS),
    ("extruder4", HEAT_FIELDS),
    ("extruder5", HEAT_FIELDS),
    ("heater_bed", HEAT_FIELDS),
    (HEATED_CHAMBER, HEAT_FIELDS),
    (MEASURED_CHAMBER, "temperature"),
    ("toolhead", "homed_axes"),
    ("mmu", gates::FIELDS),
];
/// Fields read for each heater.
const HEAT_FIELDS: &str = "temperature,target";
/// Usual configuration name of the chamber if it has a heater; a chamber with only a sensor is named differently.
const HEATED_CHAMBER: &str = "heater_generic chamber";
const MEASURED_CHAMBER: &str = "temperature_sensor chamber";

/// Minimum fraction of a file that must be printed before the remaining time can be estimated.
const MIN_TELLING_SHARE: f64 = 0.02;

/// Metadata that Moonraker extracted from a file.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct FileFacts {
    /// Byte offsets at which the file's G-code starts and ends; comments before and after it are not included in the
    /// progress.
    code: Option<(f64, f64)>,
    /// Print time in seconds, as estimated by the slicer.
    seconds: Option<f64>,
}

impl FileFacts {
    /// Parses a file's metadata; missing values are treated as unknown.
    pub(super) fn read(metadata: &Value) -> Self {
        let [from, to] = ["/gcode_start_byte", "/gcode_end_byte"].map(|at| number(metadata, at));
        Self {
            code: from.zip(to).filter(|(from, to)| from < to),
            seconds: number(metadata, "/estimated_time").filter(|seconds| *seconds > 0.0),
        }
    }
}

/// Cached metadata for the file being printed, with the file name.
#[derive(Debug, Default)]
pub(super) struct FileFactsCache(Mutex<Option<(String, FileFacts)>>);

impl FileFactsCache {
    /// Returns the metadata of the given file; `None` if unknown.
    pub(super) fn of(&self, file: &str) -> Option<FileFacts> {
        let cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cached.as_ref().filter(|(name, _)| name == file).map(|(_, facts)| *facts)
    }

    /// Returns the metadata of the file being printed.
    pub(super) fn now(&self) -> FileFacts {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|(_, facts)| *facts).unwrap_or_default()
    }

    pub(super) fn note(&self, file: &str, facts: FileFacts) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((file.to_owned(), facts));
    }
}

/// Converts the pushed values, apart from state changes, to telemetry about the file being printed.
pub(super) fn telemetry(changed: &Value, facts: FileFacts) -> Telemetry {
    let place = if facts.code.is_some() { "/virtual_sdcard/file_position" } else { "/virtual_sdcard/progress" };
    let moved = number(changed, place).is_some();
    let fraction = moved.then(|| fraction(changed, facts));
    Telemetry {
        progress: fraction.map(|fraction| fraction * 100.0),
        remaining_seconds: fraction
            .filter(|_| facts.seconds.is_some())
            .and_then(|done| remaining(changed, facts, done)),
        layer: layer(changed),
        filament_mm: number(changed, "/print_stats/filament_used"),
        nozzle: number(changed, "/extruder/temperature"),
        bed: number(changed, "/heater_bed/temperature"),
        heaters: heaters(changed),
    }
}

/// Returns the layer being printed, if the sliced file or a macro reports it to the firmware.
fn layer(objects: &Value) -> Option<PrintedLayer> {
    let info_number = |of: &str| number(objects, &format!("/print_stats/info/{of}"));
    PrintedLayer::from_numbers(info_number("current_layer"), info_number("total_layer"))
}

/// Returns the heaters reported in the objects.
fn heaters(objects: &Value) -> Heaters {
    let heat = |name: &str| {
        let of = |field: &str| objects.get(name)?.get(field)?.as_f64();
        Heat::new(of("temperature"), of("target"))
    };
    let tools = std::array::from_fn(|at| if at == 0 { heat("extruder") } else { heat(&format!("extruder{at}")) });
    let named = |name: &str| objects.get(name).is_some();
    let chamber = if named(HEATED_CHAMBER) { HEATED_CHAMBER } else { MEASURED_CHAMBER };
    Heaters { tools, bed: heat("heater_bed"), chamber: heat(chamber) }
}

/// Returns the file that is printing or paused.
pub(super) fn open_file(objects: &Value) -> Option<&str> {
    let active = matches!(text(objects, "/print_stats/state"), Some("printing" | "paused"));
    text(objects, "/print_stats/filename").filter(|name| active && !name.is_empty())
}

/// Returns the objects in a response, `{object: {field: value}}`; objects that the printer does not have are missing.
pub(super) fn objects(answer: &Value) -> Result<&Value, PrinterError> {
    let objects = answer.get("status").filter(|objects| objects.is_object());
    objects.ok_or_else(|| PrinterError::BadAnswer("no status of the printer's objects".into()))
}

pub(super) fn klippy_connected(info: &Value) -> bool {
    info.get("klippy_connected").and_then(Value::as_bool).unwrap_or(false)
}

pub(super) fn klippy_state(info: &Value) -> &str {
    info.get("klippy_state").and_then(Value::as_str).unwrap_or("disconnected")
}

/// Builds the status for a web server that responds while Klipper does not.
pub(super) fn firmware_away(info: &Value, at: Timestamp) -> Status {
    Status::unavailable(Connection::FirmwareDisconnected, format!("Klipper is {}", klippy_state(info)), at)
}

/// Returns the progress of the print, from 0 to 1, as Moonraker's web front ends calculate it: the position between the
/// first and last line of G-code or, if their offsets are unknown, the position in the file; 1 once the print is
/// complete.
fn fraction(objects: &Value, facts: FileFacts) -> f64 {
    if text(objects, "/print_stats/state") == Some("complete") {
        return 1.0;
    }
    let of_code = facts.code.zip(number(objects, "/virtual_sdcard/file_position"));
    let share = match of_code {
        Some(((from, to), position)) => (position - from) / (to - from),
        None => number(objects, "/virtual_sdcard/progress").unwrap_or(0.0),
    };
    share.clamp(0.0, 1.0)
}

/// Returns the number of seconds until the print ends: what remains of the slicer's estimate or, if there is none, an
/// extrapolation from the elapsed time.
fn remaining(objects: &Value, facts: FileFacts, fraction: f64) -> Option<i64> {
    let left = match facts.seconds {
        Some(seconds) => seconds * (1.0 - fraction),
        None => {
            let printed = number(objects, "/print_stats/print_duration").filter(|_| fraction >= MIN_TELLING_SHARE)?;
            printed * (1.0 - fraction) / fraction
        }
    };
    Some(left.round() as i64)
}

/// Builds a status from the [`OBJECTS`].
///
/// The values outlive the print: after a reconnection, a printer may report the state `complete` from an earlier print,
/// so callers must compare `file`.
pub(super) fn read(objects: &Value, facts: FileFacts, at: Timestamp) -> Status {
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
    let fraction = fraction(objects, facts);
    let active = matches!(state, Activity::Printing | Activity::Paused);
    Status {
        state,
        connection,
        file: file.map(str::to_owned),
        ended: ended.filter(|_| file.is_some()),
        progress: if file.is_some() { fraction * 100.0 } else { 0.0 },
        cancelling: false,
        remaining_seconds: if active { remaining(objects, facts, fraction) } else { None },
        filament_mm: number(objects, "/print_stats/filament_used").filter(|_| file.is_some()),
        nozzle: number(objects, "/extruder/temperature").unwrap_or(0.0),
        bed: number(objects, "/heater_bed/temperature").unwrap_or(0.0),
        heaters: heaters(objects),
        homed: text(objects, "/toolhead/homed_axes")
            .map(|axes| ['x', 'y', 'z'].iter().all(|axis| axes.contains(*axis))),
        message: match firmware {
            "ready" => text(objects, "/print_stats/message").filter(|text| !text.is_empty()),
            _ => words,
        }
        .map(str::to_owned),
        slots: gates::read(objects),
        layer: if active { layer(objects) } else { None },
        books_on: None,
        runs: None,
        updated_at: at,
    }
}

/// Converts the `print_stats.state` reported by firmware that is ready. After an error, the printer is ready again.
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
