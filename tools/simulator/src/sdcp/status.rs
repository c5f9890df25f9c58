//! Printer's status messages.

use serde_json::{Value, json};

use crate::printer::{Controller, Machine, PrintJob, PrintOutcome, PrintPhase};

/// Returns the state number of the printer's print.
fn number(machine: &Machine) -> u8 {
    if !matches!(machine.controller(), Controller::Ready | Controller::Starting) {
        return 14;
    }
    match machine.job().map(|job| (job.phase, job)) {
        // It heats first.
        Some((PrintPhase::Printing, job)) if job.done < 2.0 && machine.speed() < 10.0 => 16,
        Some((PrintPhase::Printing, _)) => 13,
        Some((PrintPhase::Pausing, _)) => 5,
        Some((PrintPhase::Paused, _)) => 6,
        Some((PrintPhase::Resuming, _)) => 12,
        Some((PrintPhase::Cancelling, _)) => 7,
        None if machine.echoes() => 13,
        None if machine.is_homing() => 1,
        None => match machine.shown_job().and_then(|job| job.outcome.as_ref()) {
            Some(PrintOutcome::Completed) => 9,
            Some(_) => 8,
            None => 0,
        },
    }
}

/// Returns the error number of a print.
fn error(job: &PrintJob) -> u8 {
    match &job.outcome {
        None | Some(PrintOutcome::Completed | PrintOutcome::Cancelled) => 0,
        Some(_) => 19,
    }
}

pub(super) fn of(machine: &mut Machine) -> Value {
    let heat = machine.temperatures();
    let number = number(machine);
    let speed = machine.speed();
    let print = match machine.shown_job() {
        Some(job) => json!({
            "Status": number, "CurrentLayer": job.layer().unwrap_or(0), "TotalLayer": job.facts.layers.unwrap_or(0),
            "CurrentTicks": job.done / speed, "TotalTicks": job.facts.seconds / speed, "Filename": job.filename,
            "ErrorNumber": error(job), "TaskId": format!("{:08x}", job.number), "PrintSpeedPct": 100,
            "Progress": (job.progress() * 100.0).floor() as u64,
        }),
        None => json!({
            "Status": number, "CurrentLayer": 0, "TotalLayer": 0, "CurrentTicks": 0, "TotalTicks": 0, "Filename": "",
            "ErrorNumber": if number == 14 { 19 } else { 0 }, "TaskId": "", "PrintSpeedPct": 100, "Progress": 0,
        }),
    };
    let does = match machine.controller() {
        // It tests itself first.
        Controller::Starting => 4,
        _ => u8::from(machine.job().is_some() || machine.echoes()),
    };
    json!({
        "CurrentStatus": [does], "TimeLapseStatus": 0, "PlatFormType": 0,
        "TempOfHotbed": heat.bed, "TempTargetHotbed": heat.bed_target,
        "TempOfNozzle": heat.nozzle, "TempTargetNozzle": heat.nozzle_target, "TempOfBox": 24.5, "TempTargetBox": 0,
        "CurrenCoord": "0.00,0.00,0.00", "ZOffset": 0.0, "PrintInfo": print,
    })
}
