//! Status reports of a machine, in terms of the adapter contract. A printer of type `fw_rest` reports the same, because
//! the machine behaves like one.

use simulator::printer::{Controller, FilamentGate, Machine, PrintJob, PrintOutcome, PrintPhase, Record};

use domain::printer_status::{Activity, Connection, PastPrint, PrintEnd, PrintedLayer, ReportedSlot, Status};
use domain::time::Timestamp;

/// Progress, in percent, while a printer reports a finished print as if it were still running.
const ECHO_PERCENT: f64 = 99.0;

/// Returns the machine's status at the given time, with the contents of its slots if `has_slots`.
pub fn status(machine: &mut Machine, has_slots: bool, at: Timestamp) -> Status {
    let fault = match machine.controller() {
        Controller::Ready => None,
        Controller::Halted { message } => Some(message.clone()),
        Controller::Starting | Controller::Closed | Controller::Away(_) => {
            return Status::unavailable(Connection::FirmwareDisconnected, "the firmware is not ready", at);
        }
    };
    let temperatures = machine.temperatures();
    let homed = Some(machine.homed().len() == 3);
    let idle =
        Status { nozzle: temperatures.nozzle, bed: temperatures.bed, homed, updated_at: at, ..Status::default() };
    let slots = machine.gates().iter().filter(|_| has_slots).zip(0..).map(of_gate).collect();
    let idle = Status { connection: Connection::Connected, state: Activity::Idle, slots, ..idle };
    let report = match machine.shown_job() {
        Some(job) => of_job(machine, job, idle),
        None => idle,
    };
    match fault {
        Some(message) => {
            let ended = report.file.as_ref().map(|_| report.ended.unwrap_or(PrintEnd::Failed));
            Status { state: Activity::Error, message: Some(message), ended, remaining_seconds: None, ..report }
        }
        None => report,
    }
}

/// Returns the report on the spool in a gate.
fn of_gate((gate, slot): (&FilamentGate, u32)) -> ReportedSlot {
    let FilamentGate { vendor, material, name, color, .. } = gate;
    let [red, green, blue] = color.map(|share| (share * 255.0).round() as u8);
    ReportedSlot {
        slot,
        vendor_code: Some(format!("{vendor} {material} {name}")),
        kind: Some(material.clone()),
        color: Some(format!("#{red:02x}{green:02x}{blue:02x}")),
        remaining: None,
    }
}

/// Adds the print shown by the machine to its status.
fn of_job(machine: &Machine, job: &PrintJob, idle: Status) -> Status {
    let (state, ended) = match &job.outcome {
        None if matches!(job.phase, PrintPhase::Paused | PrintPhase::Resuming) => (Activity::Paused, None),
        None => (Activity::Printing, None),
        Some(PrintOutcome::Completed) if machine.echoes() => (Activity::Printing, None),
        Some(PrintOutcome::Completed) => (Activity::Idle, Some(PrintEnd::Finished)),
        Some(PrintOutcome::Cancelled) => (Activity::Idle, Some(PrintEnd::Cancelled)),
        Some(PrintOutcome::Failed(_) | PrintOutcome::Halted(_)) => (Activity::Idle, Some(PrintEnd::Failed)),
        Some(PrintOutcome::Interrupted | PrintOutcome::ControllerLost) => (Activity::Idle, None),
    };
    let is_active = state != Activity::Idle;
    let progress = match job.outcome {
        Some(PrintOutcome::Cancelled) => 0.0,
        _ if machine.echoes() => ECHO_PERCENT,
        _ => job.progress() * 100.0,
    };
    let runs = machine.history().iter().filter(|record| record.filename == job.filename).count();
    let left = (job.facts.seconds - job.done) / machine.speed();
    let layers = job.layer().zip(job.facts.layers);
    Status {
        state,
        file: Some(job.filename.clone()),
        ended,
        runs: u32::try_from(runs).ok(),
        progress,
        remaining_seconds: is_active.then_some(left.round() as i64),
        layer: layers.and_then(|(n, of)| PrintedLayer::from_numbers(Some(n as f64), Some(of as f64))),
        filament_mm: Some(job.filament_mm()),
        message: match &job.outcome {
            Some(PrintOutcome::Failed(message)) => Some(message.clone()),
            _ => None,
        },
        ..idle
    }
}

/// Returns the prints of a file that the machine's server has recorded, newest first.
pub fn history(machine: &Machine, file: &str) -> Vec<PastPrint> {
    machine.history().iter().rev().filter(|record| record.filename == file).map(past).collect()
}

fn past(record: &Record) -> PastPrint {
    PastPrint {
        file: record.filename.clone(),
        ended: match record.outcome {
            Some(PrintOutcome::Completed) => Some(PrintEnd::Finished),
            Some(PrintOutcome::Cancelled) => Some(PrintEnd::Cancelled),
            Some(PrintOutcome::Failed(_) | PrintOutcome::Halted(_) | PrintOutcome::ControllerLost) => {
                Some(PrintEnd::Failed)
            }
            Some(PrintOutcome::Interrupted) | None => None,
        },
        cut_off: record.outcome == Some(PrintOutcome::Interrupted),
        filament_mm: Some(record.filament_mm),
        started_at: Some(Timestamp(record.started_at.as_millisecond())),
        ended_at: record.ended_at.map(|at| Timestamp(at.as_millisecond())),
        booked_on: Vec::new(),
    }
}
