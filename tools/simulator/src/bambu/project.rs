//! Handler for the `project_file` command, which starts a plate of a package on the storage.

use std::{sync::Arc, time::Duration};

use md5::{Digest as _, Md5};
use serde_json::Value;

use super::{
    panel::{BambuState, EXTERNAL, Project, Rejected},
    setup::BambuModel,
};
use crate::{
    gcode::{GcodeFacts, package},
    printer::{CommandError, Machine},
};

/// Error number for a start while a print is in progress.
const BUSY: u32 = 0x0500_4004;
/// Error number for a path that the printer cannot use.
const BAD_PATH: u32 = 0x0500_4002;
/// Error number for a file that the printer cannot read.
const BAD_FILE: u32 = 0x0500_4003;
/// Time for which an invalid project is prepared before it fails.
const REJECTION: Duration = Duration::from_millis(300);
/// Prefixes that a package URL can have. The rest of the URL is the path relative to the storage root.
const SCHEMES: [&str; 5] = ["ftp://", "file:///mnt/sdcard", "file:///sdcard", "file:///media/usb0", "file://"];
/// Options that must be booleans.
const SWITCHES: [&str; 6] =
    ["bed_leveling", "bed_levelling", "flow_cali", "vibration_cali", "layer_inspect", "timelapse"];

/// Reason and error number in the response to a rejected start.
pub(super) struct StartRejection {
    /// Printer's reason text.
    pub(super) reason: &'static str,
    /// Error number, or 0.
    pub(super) error: u32,
}

/// Returns the source that feeds each of the given filaments, as the filament's index and the tray. If `filaments` is
/// empty, only the first filament is included.
fn fed(request: &Value, filaments: &[usize]) -> Vec<(u32, i64)> {
    let used = if filaments.is_empty() { &[1][..] } else { filaments };
    let from = |filament: usize| match request["use_ams"].as_bool() {
        Some(true) => request["ams_mapping"].get(filament - 1).and_then(Value::as_i64).unwrap_or(-1),
        _ => EXTERNAL,
    };
    used.iter().map(|filament| ((filament - 1) as u32, from(*filament))).collect()
}

/// Accepts or rejects a start. An accepted start may still fail during preparation.
pub(super) fn start(panel: &mut BambuState, machine: &mut Machine, request: &Value) -> Result<(), StartRejection> {
    let text = |name: &str| match &request[name] {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    if SWITCHES.iter().chain(&["use_ams"]).any(|name| request.get(*name).is_some_and(|value| !value.is_boolean())) {
        return Err(StartRejection { reason: "a switch is not a boolean", error: 0 });
    }
    if machine.job().is_some() || panel.rejected.is_some_and(|rejected| machine.now() < rejected.until) {
        panel.error = BUSY;
        if panel.setup.busy_start_cancels || panel.setup.model == BambuModel::A1Mini {
            // What is running is given up, and nothing new begins.
            let _ = machine.cancel();
        }
        return Err(StartRejection { reason: "the printer is busy with another print job", error: BUSY });
    }
    let url = text("url");
    let path = SCHEMES.iter().find_map(|scheme| url.strip_prefix(scheme)).unwrap_or(&url).trim_start_matches('/');
    let plate = text("param");
    let package = machine.files().get(path).map(|file| file.bytes.clone());
    let code = package.as_ref().and_then(|bytes| package::code(bytes, &plate));
    let md5 = text("md5");
    let is_whole = package
        .as_ref()
        .is_none_or(|bytes| md5.is_empty() || md5.eq_ignore_ascii_case(&hex::encode(Md5::digest(bytes))));
    let flaw = if url.contains(' ') || !path.to_ascii_lowercase().ends_with(".3mf") {
        Some(BAD_PATH)
    } else if code.is_none() || !is_whole || panel.setup.rejects_in_setup {
        Some(BAD_FILE)
    } else {
        None
    };
    if let (None, Some(code)) = (flaw, &code) {
        machine.choose(path, Arc::new(GcodeFacts::read(code)));
        machine.feed(path, fed(request, &package::filaments(package.as_deref().unwrap_or_default(), &plate)));
        let delay = Duration::from_millis(panel.setup.old_state_ms);
        machine.start_after(path, delay).map_err(|error| match error {
            CommandError::Busy => StartRejection { reason: "the printer is busy with another print job", error: BUSY },
            CommandError::NotReady => StartRejection { reason: "the printer is not ready", error: 0 },
            CommandError::NoFile | CommandError::Refused => {
                StartRejection { reason: "print start rejected", error: BAD_FILE }
            }
        })?;
    }
    let number = |name: &str| Some(text(name)).filter(|id| !id.is_empty()).unwrap_or_else(|| "0".to_owned());
    let name = path.rsplit('/').next().unwrap_or(path);
    let mapping =
        request["ams_mapping"].as_array().map(|trays| trays.iter().map(|tray| tray.as_i64().unwrap_or(-1)).collect());
    panel.project = Some(Project {
        filename: path.to_owned(),
        plate: plate.clone(),
        subtask_name: Some(text("subtask_name")).filter(|name| !name.is_empty()).unwrap_or_else(|| name.to_owned()),
        subtask_id: number("subtask_id"),
        task_id: number("task_id"),
        cloud_id: number("project_id"),
        // The machine may have begun already.
        after: machine.job().map_or_else(|| machine.shown_job().map_or(0, |job| job.number), |job| job.number - 1),
        use_ams: request["use_ams"].as_bool().unwrap_or(false),
        mapping: mapping.unwrap_or_default(),
        filaments: package.map(|bytes| package::filaments(&bytes, &plate)).unwrap_or_default(),
    });
    panel.error = 0;
    panel.rejected = flaw.map(|error| Rejected { until: machine.now() + REJECTION, error });
    Ok(())
}
