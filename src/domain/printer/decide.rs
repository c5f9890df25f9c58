//! Dispatch of a printer's commands to the rules that decide them.

use super::registration::create;
use super::{AttemptPhase, CurrentAttempt, ManualPhase, ManualPrint, Printer, PrinterCommand};
use crate::aggregate::{Aggregate as _, Decision, DecisionContext};
use crate::id::Id;
use crate::refusal::Refusal;

/// Decides one command of a printer.
pub(super) fn decide(
    this: Option<&Printer>,
    id: Id,
    cx: &DecisionContext<'_>,
    command: &PrinterCommand,
) -> Result<Decision<Printer>, Refusal> {
    match (this.filter(|printer| !printer.archived), command) {
        (None, PrinterCommand::Create(fields)) if this.is_none() => Ok(create(id, cx, fields)),
        (None, _) => Err(Refusal::not_found(Printer::KIND)),
        (Some(_), PrinterCommand::Create(_)) => Err(Refusal::conflict("exists", "this printer already exists")),
        (
            Some(printer),
            PrinterCommand::Take {
                attempt,
                job,
                order,
                file_id,
                file_name,
                claimed_at,
                needs,
                types,
                stated_mm,
                estimated_seconds,
            },
        ) => {
            let printer = printer.clone();
            let slots = printer.resolve_slots(needs, types);
            let in_hand = CurrentAttempt {
                attempt: *attempt,
                job: *job,
                order: *order,
                file_id: *file_id,
                file_name: file_name.clone(),
                remote_name: None,
                phase: AttemptPhase::Taken,
                step: 1,
                acknowledged_step: 0,
                cancel: false,
                unwanted: false,
                progress: 0.0,
                estimated_seconds: *estimated_seconds,
                server_mark: None,
                began_at: None,
                gone: None,
                out_of_sight: false,
                used_slots: Vec::new(),
                plate: needs.sliced_for.plate,
                filament_slots: slots
                    .as_deref()
                    .map(|slots| printer.filament_slots(&needs.sliced_for, slots))
                    .unwrap_or_default(),
                stated_mm: *stated_mm,
                booked_on: Vec::new(),
                taken_at: *claimed_at,
            };
            Ok(printer.take(in_hand, slots, cx))
        }
        (Some(printer), _) => change(printer.clone(), cx, command),
    }
}

/// Decides a command to an existing printer; [`decide`] itself handles creation and the offer of an attempt.
fn change(printer: Printer, cx: &DecisionContext<'_>, command: &PrinterCommand) -> Result<Decision<Printer>, Refusal> {
    match command {
        PrinterCommand::Create(_) | PrinterCommand::Take { .. } => Err(Refusal::not_found(Printer::KIND)),
        PrinterCommand::Update { if_version: _, fields } => printer.update(fields, cx),
        PrinterCommand::Archive => {
            printer.not_busy("deleted")?;
            printer.has_told_sign_offs()?;
            Ok(printer.say(cx, |printer| printer.archived = true, Some("printer.deleted")))
        }
        PrinterCommand::Connect(on) => printer.connect(*on, cx),
        PrinterCommand::Seen(status) => Ok(printer.observe(&status.as_ref().clone().bounded(), cx)),
        PrinterCommand::Silent(connection, reason, last_seen) => {
            Ok(printer.silent(*connection, reason, *last_seen, cx))
        }
        PrinterCommand::Uploaded { attempt, remote_name, server_mark } => {
            Ok(printer.uploaded(*attempt, remote_name, server_mark.as_deref(), cx))
        }
        PrinterCommand::UploadFailed { attempt, why, reason } => Ok(printer.upload_failed(*attempt, *why, reason, cx)),
        PrinterCommand::StartRefused { attempt, reason } => Ok(printer.start_refused(*attempt, reason, cx)),
        PrinterCommand::Progressed { attempt, progress } => Ok(printer.progressed(*attempt, *progress, cx)),
        PrinterCommand::Judged { attempt, evidence } => {
            Ok(printer.judged(*attempt, &evidence.as_ref().clone().bounded(), cx))
        }
        PrinterCommand::CancelAttempt(attempt) => Ok(printer.cancel_attempt(*attempt, cx)),
        PrinterCommand::Resolved { attempt, outcome } => Ok(printer.resolved(*attempt, *outcome, cx)),
        PrinterCommand::Heard { attempt, step, is_wanted } => Ok(printer.acknowledge(*attempt, *step, *is_wanted, cx)),
        PrinterCommand::PrintManually { id, file_id, file_name, slots } => {
            let (file_name, slots) = (file_name.clone(), slots.clone());
            let manual = ManualPrint { id: *id, file_id: *file_id, file_name, slots, phase: ManualPhase::Taken };
            printer.print_manually(manual, cx)
        }
        PrinterCommand::ManualUploaded { id, remote_name } => Ok(printer.manual_uploaded(*id, remote_name, cx)),
        PrinterCommand::ManualOver { id, error } => Ok(printer.manual_over(*id, error.as_deref(), cx)),
        PrinterCommand::ManualUnclear(id) => Ok(printer.manual_unclear(*id, cx)),
        PrinterCommand::EmergencyStopped => {
            Ok(printer.say(cx, |printer| printer.stopped(cx), Some("printer.emergency_stopped")))
        }
        PrinterCommand::BedCleared(inspection) => printer.bed_cleared(inspection, cx),
        PrinterCommand::SignedOff(attempt) => Ok(printer.signed_off(*attempt, cx)),
        PrinterCommand::PhotoOver(attempt) => Ok(printer.photo_over(*attempt, cx)),
        PrinterCommand::CameraTold(has) => Ok(printer.camera_told(*has, cx)),
        PrinterCommand::LoadSlot { slot, spool, expected } => printer.load_slot(*slot, spool, expected.as_ref(), cx),
        PrinterCommand::RemoveSlot(slot) => printer.remove_slot(*slot, cx),
        PrinterCommand::SpoolLeft(balance) => Ok(printer.spool_left(balance, cx)),
        PrinterCommand::SlotsReported { slots, bindings } => Ok(printer.report_slots(slots, bindings, cx)),
        PrinterCommand::KeyShown(key) => Ok(printer.key_shown(key, cx)),
        PrinterCommand::Acted(record) => Ok(printer.acted(record, cx)),
        PrinterCommand::FailureSuspected { attempt, percent, paused } => {
            Ok(printer.failure_suspected(*attempt, *percent, *paused, cx))
        }
        PrinterCommand::ClearAttention => printer.clear_attention(cx),
        PrinterCommand::Homed => Ok(printer.homed(cx)),
        PrinterCommand::Maintenance { on, note } => {
            let note = on.then(|| note.clone().unwrap_or_default());
            Ok(printer.say(cx, |printer| printer.maintenance = note, Some("printer.maintenance")))
        }
        PrinterCommand::Care(command) => printer.care(command, cx),
    }
}
