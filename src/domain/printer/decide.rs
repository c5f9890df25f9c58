//! Dispatch of printer commands to the rules that decide them.

use super::clearing::noted;
use super::logged::LoggedDetail;
use super::registration::create;
use super::{
    AttemptAnswer, AttemptCommand, AttemptPhase, CurrentAttempt, LogMaintenance, MaintenanceAnswer, ManualPhase,
    ManualPrint, ManualPrintAnswer, PrintManually, Printer, PrinterAnswer, PrinterCommand, PrinterNews, PrinterUpload,
    ReminderAnswer, ReminderCommand, TakeAnswer, TakeAttempt, UploadAnswer,
};
use crate::aggregate::{Aggregate as _, AuditFacts, Command, Confirmation, Decision, DecisionContext, DecisionResult};
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::refusal::Refusal;

/// Returns the printer that all commands except its registration apply to.
fn existing(this: Option<&Printer>) -> Result<Printer, Refusal> {
    let printer = this.filter(|printer| !printer.archived);
    printer.cloned().ok_or_else(|| Refusal::not_found(Printer::KIND))
}

/// Completes a decision with the consequences of a finished print, a changed bed state and additional wear, in the same
/// commit.
fn complete<A>(
    this: Option<&Printer>,
    mut decision: Decision<Printer, A>,
    cx: &DecisionContext<'_>,
) -> Decision<Printer, A> {
    // However a print ends, what it used is gone from its spools in the same commit.
    let ended = |printer: &Printer| {
        printer.in_hand.as_ref().is_some_and(|hand| matches!(hand.phase, AttemptPhase::Ended { .. }))
    };
    if let Some(next) = decision.next.as_mut().filter(|next| ended(next) && !this.is_some_and(ended)) {
        next.use_up(cx.now);
    }
    let decision = Printer::with_photo(this, Printer::with_last_print(this, decision), cx);
    let decision = noted(this, decision, cx.now);
    Printer::with_care(this, decision, cx)
}

impl Command<Printer> for PrinterCommand {
    type Answer = PrinterAnswer;

    fn decide(
        &self,
        this: Option<&Printer>,
        id: Id,
        cx: &DecisionContext<'_>,
    ) -> DecisionResult<Printer, Self::Answer> {
        let decision = match (this, self) {
            (None, PrinterCommand::Create(fields)) => create(id, cx, fields),
            _ => self.change(existing(this)?, cx)?,
        };
        let mut decision = complete(this, decision, cx);
        if let Some(next) = &decision.next {
            decision.answer = PrinterAnswer { printer: Box::new(next.clone()) };
        }
        Ok(decision)
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            PrinterCommand::Create(_) => AuditedAct::PrinterCreate,
            PrinterCommand::Update { .. } => AuditedAct::PrinterUpdate,
            PrinterCommand::Archive => AuditedAct::PrinterDelete,
            PrinterCommand::Connect(true) => AuditedAct::PrinterConnect,
            PrinterCommand::Connect(false) => AuditedAct::PrinterDisconnect,
            PrinterCommand::LoadSlot { .. } => AuditedAct::PrinterLoadSlot,
            PrinterCommand::RemoveSlot(_) => AuditedAct::PrinterRemoveSlot,
            PrinterCommand::EmergencyStopped => AuditedAct::PrinterEmergencyStop,
            PrinterCommand::BedCleared(_) => AuditedAct::PrinterBedCleared,
            PrinterCommand::ClearAttention(_) => AuditedAct::PrinterClearAttention,
            PrinterCommand::Homed => AuditedAct::PrinterHome,
            PrinterCommand::Maintenance { .. } => AuditedAct::PrinterMaintenance,
            PrinterCommand::ForgetReminder(_) => AuditedAct::PrinterRemoveReminder,
        }
    }

    fn audit_facts(&self) -> AuditFacts {
        let detail = LoggedDetail::default();
        match self {
            PrinterCommand::LoadSlot { slot, spool, .. } => {
                LoggedDetail { slot: Some(*slot), material_id: spool.material_id, ..detail }.audit_facts()
            }
            PrinterCommand::RemoveSlot(slot) => LoggedDetail { slot: Some(*slot), ..detail }.audit_facts(),
            PrinterCommand::Maintenance { on, .. } => LoggedDetail { on: Some(*on), ..detail }.audit_facts(),
            _ => AuditFacts::done(),
        }
    }

    fn if_version(&self) -> Option<i64> {
        match self {
            PrinterCommand::Update { if_version, .. } => *if_version,
            _ => None,
        }
    }
}

impl PrinterCommand {
    /// Decides a command that changes a registered printer.
    fn change(&self, printer: Printer, cx: &DecisionContext<'_>) -> Result<Decision<Printer, PrinterAnswer>, Refusal> {
        match self {
            PrinterCommand::Create(_) => Err(Refusal::conflict("exists", "this printer already exists")),
            PrinterCommand::Update { if_version: _, fields } => printer.update(fields, cx),
            PrinterCommand::Archive => {
                printer.not_busy("deleted")?;
                printer.has_told_sign_offs()?;
                Ok(printer.say(cx, |printer| printer.archived = true, Some("printer.deleted")))
            }
            PrinterCommand::Connect(on) => printer.connect(*on, cx),
            PrinterCommand::LoadSlot { slot, spool, expected } => {
                printer.load_slot(*slot, spool, expected.as_ref(), cx)
            }
            PrinterCommand::RemoveSlot(slot) => printer.remove_slot(*slot, cx),
            PrinterCommand::EmergencyStopped => {
                Ok(printer.say(cx, |printer| printer.stopped(cx), Some("printer.emergency_stopped")))
            }
            PrinterCommand::BedCleared(inspection) => printer.bed_cleared(inspection, cx),
            PrinterCommand::ClearAttention(mark) => printer.clear_attention(mark.as_deref(), cx),
            PrinterCommand::Homed => Ok(printer.homed(cx)),
            PrinterCommand::Maintenance { on, note } => {
                let note = on.then(|| note.clone().unwrap_or_default());
                Ok(printer.say(cx, |printer| printer.maintenance = note, Some("printer.maintenance")))
            }
            PrinterCommand::ForgetReminder(reminder) => printer.forget_reminder(*reminder, cx),
        }
    }
}

impl Command<Printer> for PrinterNews {
    type Answer = Confirmation;

    fn decide(&self, this: Option<&Printer>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<Printer> {
        let printer = existing(this)?;
        let decision = match self {
            PrinterNews::Seen(status) => printer.observe(&status.as_ref().clone().bounded(), cx),
            PrinterNews::Silent(connection, reason, last_seen) => printer.silent(*connection, reason, *last_seen, cx),
            PrinterNews::SpoolLeft(balance) => printer.spool_left(balance, cx),
            PrinterNews::SlotsReported { slots, bindings } => printer.report_slots(slots, bindings, cx),
            PrinterNews::KeyShown(key) => printer.key_shown(key, cx),
            PrinterNews::UploadFailed { attempt, why, reason } => printer.upload_failed(*attempt, *why, reason, cx),
            PrinterNews::StartRefused { attempt, reason } => printer.start_refused(*attempt, reason, cx),
            PrinterNews::Progressed { attempt, progress } => printer.progressed(*attempt, *progress, cx),
            PrinterNews::Judged { attempt, evidence } => {
                printer.judged(*attempt, &evidence.as_ref().clone().bounded(), cx)
            }
            PrinterNews::Heard { attempt, step, is_wanted } => printer.acknowledge(*attempt, *step, *is_wanted, cx),
            PrinterNews::ManualOver { id, error } => printer.manual_over(*id, error.as_deref(), cx),
            PrinterNews::ManualUnclear(id) => printer.manual_unclear(*id, cx),
            PrinterNews::SignedOff(attempt) => printer.signed_off(*attempt, cx),
            PrinterNews::PhotoOver(attempt) => printer.photo_over(*attempt, cx),
            PrinterNews::CameraTold(has) => printer.camera_told(*has, cx),
            PrinterNews::Acted(record) => printer.acted(record, cx),
            PrinterNews::FailureSuspected { attempt, percent, paused } => {
                printer.failure_suspected(*attempt, *percent, *paused, cx)
            }
        };
        Ok(complete(this, decision, cx))
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            PrinterNews::Seen(_) => AuditedAct::PrinterSeen,
            PrinterNews::Silent(..) => AuditedAct::PrinterSilent,
            PrinterNews::SpoolLeft(_) => AuditedAct::PrinterSpoolLeft,
            PrinterNews::SlotsReported { .. } => AuditedAct::PrinterSlotsReported,
            PrinterNews::KeyShown(_) => AuditedAct::PrinterKeyShown,
            PrinterNews::UploadFailed { .. } => AuditedAct::PrinterUploadFailed,
            PrinterNews::StartRefused { .. } => AuditedAct::PrinterStartRefused,
            PrinterNews::Progressed { .. } => AuditedAct::PrinterProgressed,
            PrinterNews::Judged { .. } => AuditedAct::PrinterJudged,
            PrinterNews::Heard { .. } => AuditedAct::PrinterHeard,
            PrinterNews::ManualOver { .. } => AuditedAct::PrinterPrintOver,
            PrinterNews::ManualUnclear(_) => AuditedAct::PrinterPrintUnclear,
            PrinterNews::SignedOff(_) => AuditedAct::PrinterSignedOff,
            PrinterNews::PhotoOver(_) => AuditedAct::PrinterPhotoOver,
            PrinterNews::CameraTold(_) => AuditedAct::PrinterCameraTold,
            PrinterNews::Acted(record) => record.act.action(),
            PrinterNews::FailureSuspected { .. } => AuditedAct::PrinterFailureSuspected,
        }
    }

    fn audit_facts(&self) -> AuditFacts {
        match self {
            PrinterNews::Acted(record) => record.audit_facts(),
            _ => AuditFacts::done(),
        }
    }
}

impl Command<Printer> for TakeAttempt {
    type Answer = TakeAnswer;

    fn decide(&self, this: Option<&Printer>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<Printer, Self::Answer> {
        let printer = existing(this)?;
        let slots = printer.resolve_slots(&self.needs, &self.types);
        let in_hand = CurrentAttempt {
            attempt: self.attempt,
            job: self.job,
            order: self.order,
            file_id: self.file_id,
            file_name: self.file_name.clone(),
            remote_name: None,
            phase: AttemptPhase::Taken,
            step: 1,
            acknowledged_step: 0,
            cancel: false,
            unwanted: false,
            progress: 0.0,
            estimated_seconds: self.estimated_seconds,
            server_mark: None,
            began_at: None,
            gone: None,
            out_of_sight: false,
            used_slots: Vec::new(),
            slot_labels: self.types.of(&printer.fields.kind).labels,
            plate: self.needs.sliced_for.plate,
            filament_slots: slots
                .as_deref()
                .map(|slots| printer.filament_slots(&self.needs.sliced_for, slots))
                .unwrap_or_default(),
            stated_mm: self.stated_mm,
            booked_on: Vec::new(),
            pardons: None,
            taken_at: self.claimed_at,
        };
        Ok(complete(this, printer.take(in_hand, slots, cx), cx))
    }

    fn audited_act(&self) -> AuditedAct {
        AuditedAct::PrinterTake
    }
}

impl Command<Printer> for PrinterUpload {
    type Answer = UploadAnswer;

    fn decide(&self, this: Option<&Printer>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<Printer, Self::Answer> {
        let printer = existing(this)?;
        let decision = match self {
            PrinterUpload::Attempt { attempt, remote_name, server_mark } => {
                printer.uploaded(*attempt, remote_name, server_mark.as_deref(), cx)
            }
            PrinterUpload::Manual { id, remote_name } => printer.manual_uploaded(*id, remote_name, cx),
        };
        Ok(complete(this, decision, cx))
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            PrinterUpload::Attempt { .. } => AuditedAct::PrinterUploaded,
            PrinterUpload::Manual { .. } => AuditedAct::PrinterPrintUploaded,
        }
    }
}

impl Command<Printer> for AttemptCommand {
    type Answer = AttemptAnswer;

    fn decide(&self, this: Option<&Printer>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<Printer, Self::Answer> {
        let printer = existing(this)?;
        let decision = match self {
            AttemptCommand::Cancel(attempt) => printer.cancel_attempt(*attempt, cx),
            AttemptCommand::Resolve { attempt, outcome } => printer.resolved(*attempt, *outcome, cx),
        };
        Ok(complete(this, decision, cx))
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            AttemptCommand::Cancel(_) => AuditedAct::PrinterCancelAttempt,
            AttemptCommand::Resolve { .. } => AuditedAct::PrinterResolved,
        }
    }
}

impl Command<Printer> for PrintManually {
    type Answer = ManualPrintAnswer;

    fn decide(&self, this: Option<&Printer>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<Printer, Self::Answer> {
        let Self { id, file_id, file_name, slots } = self.clone();
        let manual = ManualPrint { id, file_id, file_name, slots, phase: ManualPhase::Taken };
        Ok(complete(this, existing(this)?.print_manually(manual, cx)?, cx))
    }

    fn audited_act(&self) -> AuditedAct {
        AuditedAct::PrinterPrint
    }
}

impl Command<Printer> for ReminderCommand {
    type Answer = ReminderAnswer;

    fn decide(&self, this: Option<&Printer>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<Printer, Self::Answer> {
        let printer = existing(this)?;
        let decision = match self {
            ReminderCommand::Remind(fields) => printer.remind(fields, cx)?,
            ReminderCommand::Change { id, if_version: _, fields } => printer.change_reminder(*id, fields, cx)?,
        };
        Ok(complete(this, decision, cx))
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            ReminderCommand::Remind(_) => AuditedAct::PrinterAddReminder,
            ReminderCommand::Change { .. } => AuditedAct::PrinterChangeReminder,
        }
    }

    fn if_version(&self) -> Option<i64> {
        match self {
            ReminderCommand::Change { if_version, .. } => *if_version,
            ReminderCommand::Remind(_) => None,
        }
    }
}

impl Command<Printer> for LogMaintenance {
    type Answer = MaintenanceAnswer;

    fn decide(&self, this: Option<&Printer>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<Printer, Self::Answer> {
        let decision = existing(this)?.log_maintenance(&self.fields, self.done_at, &self.resets, cx)?;
        Ok(complete(this, decision, cx))
    }

    fn audited_act(&self) -> AuditedAct {
        AuditedAct::PrinterLogMaintenance
    }
}
