//! Commands received on the request topic.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::{
    Bambu, BambuHost,
    panel::BambuState,
    project, report,
    setup::{BambuModel, DeveloperMode, Tray},
};
use crate::printer::{CommandError, Machine};

/// Reason given for rejecting unsigned commands.
const UNSIGNED: &str = "mqtt message verify failed";

/// Executes a command from a group and returns its response; `None` if the printer does not respond.
pub(super) async fn carry_out(host: &BambuHost, group: &str, request: &Value) -> Option<Value> {
    let sequence_id = request.get("sequence_id").cloned().unwrap_or_else(|| "0".into());
    // Some clients leave out the only command of a group.
    let unnamed = if group == "system" && request.get("led_mode").is_some() { "ledctrl" } else { "" };
    let command = request["command"].as_str().unwrap_or(unnamed);
    let model = host.bambu.setup().model;
    if !request.is_object() {
        return None;
    }
    match (group, command) {
        ("info", "get_version") => return Some(report::version(model, &host.bambu.0.serial, &sequence_id)),
        ("upgrade", "get_history") => {
            return Some(json!({"upgrade": {
                "command": command, "sequence_id": sequence_id, "firmware_optional": [], "result": "success", "reason": "",
            }}));
        }
        ("print" | "system" | "camera" | "xcam", _) => {}
        _ => return None,
    }
    let done = match refusal(&host.bambu) {
        Some(None) => return None,
        Some(Some(reason)) => Err((reason, 0)),
        None => control(host, group, command, request).await?,
    };
    Some(answer(model, group, command, request, done))
}

/// Returns the reason why commands from third-party programs are rejected; `Some(None)` if they receive no response at
/// all, `None` if they are executed.
fn refusal(bambu: &Bambu) -> Option<Option<&'static str>> {
    bambu.panel(|panel| {
        let refusal = match panel.setup.developer_mode {
            DeveloperMode::On => {
                panel.refused = false;
                return None;
            }
            DeveloperMode::Dropped => None,
            DeveloperMode::Refused => Some(UNSIGNED),
        };
        panel.refused = true;
        Some(refusal)
    })
}

/// Reason and error number of a failed command.
type CommandFailure = (&'static str, u32);

/// Builds the response to a command: the fields of the request together with the result.
fn answer(model: BambuModel, group: &str, command: &str, request: &Value, done: Result<(), CommandFailure>) -> Value {
    let mut answer = request.clone();
    let result = match (&done, model) {
        (Ok(()), BambuModel::P1) => "SUCCESS",
        (Ok(()), _) => "success",
        (Err(_), BambuModel::P1) => "FAIL",
        (Err(_), _) => "failed",
    };
    let (reason, error) = done.err().unwrap_or_default();
    answer["command"] = command.into();
    answer["result"] = result.into();
    answer["reason"] = reason.into();
    if error != 0 {
        answer["err_code"] = error.into();
    }
    json!({(group): answer})
}

/// Executes a command that makes a change; returns `None` if the command is unknown.
async fn control(host: &BambuHost, group: &str, command: &str, request: &Value) -> Option<Result<(), CommandFailure>> {
    if group == "print" && host.printer.faults().every_second_answer_an_error {
        let count = host.bambu.0.commands.fetch_add(1, Ordering::SeqCst) + 1;
        if count.is_multiple_of(4) {
            // Carried out, and answered as if it were not.
            act(host, group, command, request)?.ok();
        }
        if count.is_multiple_of(2) {
            return Some(Err(("simulated fault", 0)));
        }
    }
    let done = act(host, group, command, request)?;
    if command == "stop"
        || (command == "gcode_line" && request["param"].as_str().is_some_and(|code| code.contains("M112")))
    {
        host.printer.answer_stop().await;
    }
    Some(done)
}

fn act(host: &BambuHost, group: &str, command: &str, request: &Value) -> Option<Result<(), CommandFailure>> {
    host.bambu.panel(|panel| {
        host.printer.with(|machine| match (group, command) {
            ("print", "project_file") => {
                Some(project::start(panel, machine, request).map_err(|refused| (refused.reason, refused.error)))
            }
            ("print", "pause") => Some(require_done(machine.pause())),
            ("print", "resume") => Some(resume(panel, machine)),
            // To stop what does not run is no failure.
            ("print", "stop") => Some(machine.cancel().map(drop).map_err(not_ready)),
            ("print", "gcode_line") => Some(gcode(machine, request["param"].as_str().unwrap_or_default())),
            ("print", "print_speed") => Some(speed(panel, request)),
            ("print", "clean_print_error") => {
                (panel.error, panel.cleared) = (0, machine.shown_job().map(|job| job.number));
                if panel.rejected.is_some_and(|rejected| machine.now() >= rejected.until) {
                    panel.rejected = panel.rejected.map(|rejected| super::panel::Rejected { error: 0, ..rejected });
                }
                Some(Ok(()))
            }
            ("print", "ams_filament_setting") => Some(filament(panel, request)),
            // Bare G-code is refused; only packages are printed.
            ("print", "gcode_file") => Some(Err(("not supported", 0))),
            ("print", "skip_objects" | "calibration" | "unload_filament" | "ams_change_filament" | "ams_control")
            | ("camera", "ipcam_record_set" | "ipcam_timelapse")
            | ("xcam", "xcam_control_set")
            | ("system", "get_access_code") => Some(Ok(())),
            ("system", "ledctrl") => {
                request["led_mode"].as_str().unwrap_or("on").clone_into(&mut panel.light);
                Some(Ok(()))
            }
            _ => None,
        })
    })
}

fn not_ready(_: CommandError) -> CommandFailure {
    ("the printer is not ready", 0)
}

/// Converts the result of a pause or resume; a command that had no effect is a failure.
fn require_done(done: Result<bool, CommandError>) -> Result<(), CommandFailure> {
    if done.map_err(not_ready)? { Ok(()) } else { Err(("not possible in this state", 0)) }
}

/// Resumes the print, unless the spools still do not match the project.
fn resume(panel: &mut BambuState, machine: &mut Machine) -> Result<(), CommandFailure> {
    let project = panel.reported(machine.shown_job()).filter(|_| machine.job().is_some());
    if let Some(error) = project.and_then(|project| panel.unfit(project)) {
        panel.error = error;
        return Ok(());
    }
    panel.error = 0;
    require_done(machine.resume())
}

/// Runs lines of G-code. The firmware's own commands are supported, but not the macros of other hosts.
fn gcode(machine: &mut Machine, code: &str) -> Result<(), CommandFailure> {
    for line in code.lines().map(str::trim).filter(|line| line.starts_with(['G', 'M', 'T', 'g', 'm', 't'])) {
        machine.gcode(line).map_err(not_ready)?;
    }
    Ok(())
}

fn speed(panel: &mut BambuState, request: &Value) -> Result<(), CommandFailure> {
    let level = request["param"].as_str().and_then(|level| level.parse().ok()).filter(|level| (1..=4).contains(level));
    panel.speed_level = level.ok_or(("the speed level is from 1 to 4", 0))?;
    Ok(())
}

/// Sets the contents of a tray, as a user would at the printer.
fn filament(panel: &mut BambuState, request: &Value) -> Result<(), CommandFailure> {
    let number = |name: &str| request[name].as_u64().unwrap_or(255) as usize;
    let text = |name: &str| request[name].as_str().unwrap_or_default().to_owned();
    let spool = Tray {
        tray_type: text("tray_type"),
        tray_color: text("tray_color"),
        tray_info_idx: text("tray_info_idx"),
        remain: -1,
        ..Tray::default()
    };
    if number("ams_id") >= 254 {
        panel.setup.external = Some(spool);
        return Ok(());
    }
    let tray = panel.setup.ams.get_mut(number("ams_id")).and_then(|ams| ams.trays.get_mut(number("tray_id")));
    *tray.ok_or(("no such tray", 0))? = Some(spool);
    Ok(())
}
