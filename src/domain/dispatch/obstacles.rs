//! Obstacles to printing a job on the printers of its machine type, grouped into causes: printers with the same
//! obstacle share a cause.

use super::WaitContext;
use super::matching::PrinterMatch;
use super::waiting::{Predicate, WaitingCause, WaitingCode, listed, name_in_sentence};
use crate::amount::Amount;
use crate::id::Id;
use crate::job::{AttemptState, Job};
use crate::launch::Mismatch;
use crate::printer::{Printer, Unready};
use crate::refusal::shortened;
use crate::time::Timestamp;

/// Maximum number of missing requirements in one clause.
const MAX_CLAUSE_REQUIREMENTS: usize = 2;
/// Maximum length of a printer's own message within a clause, in characters.
const MAX_MESSAGE_CHARS: usize = 80;
/// Number of ranks by which a cause is moved back if its printers are not ready, either.
const BUSY_RANKS: u8 = 4;

/// Returns the causes for which a job waits for a printer. `of_type` holds its matches with the printers of its machine
/// type, in the dispatcher's order. The result is empty if one of them could take the job now.
pub(super) fn printer_causes(job: &Job, around: &WaitContext<'_>, of_type: &[&PrinterMatch<'_>]) -> Vec<WaitingCause> {
    if of_type.iter().any(|one| one.is_possible()) {
        return Vec::new();
    }
    let mut groups = CauseGroups::default();
    let next = next_free(around, of_type);
    if let Some((one, at)) = next {
        let predicate = Predicate::state(&format!("free from {at}"));
        groups.add(
            WaitingCause::of_printers(WaitingCode::PrinterBusy, predicate).ending(Some(at)),
            "free",
            one.printer,
        );
    }
    for one in of_type.iter().filter(|one| next.is_none_or(|(next, _)| next.printer.id != one.printer.id)) {
        match &one.busy {
            Some(why) if one.fit.fits() => groups.add_unready(why, one.printer, around.now),
            _ => groups.add_mismatch(one, around),
        }
    }
    let refusal = last_refusal(job, around.printers);
    groups.0.into_iter().map(|(_, cause)| cause).chain(refusal).collect()
}

/// Causes with their keys: printers with the same key share a cause.
#[derive(Default)]
struct CauseGroups(Vec<(String, WaitingCause)>);

impl CauseGroups {
    /// Adds a printer to the cause with the given key, creating the cause if it does not exist.
    fn add(&mut self, cause: WaitingCause, key: &str, printer: &Printer) {
        let at = self.0.iter().position(|(existing, _)| existing == key).unwrap_or_else(|| {
            self.0.push((key.to_owned(), cause));
            self.0.len() - 1
        });
        if let Some((_, cause)) = self.0.get_mut(at) {
            cause.add(printer.id, &printer.fields.name);
        }
    }

    /// Adds a printer that suits the job but cannot take a job now.
    fn add_unready(&mut self, why: &Unready, printer: &Printer, now: Timestamp) {
        let text = why.to_string();
        let rest = printer.refusals.as_ref().and_then(|refusals| refusals.rests_for(now));
        let rest = rest.filter(|_| matches!(why, Unready::DiskFull | Unready::RefusesStarts));
        let mut predicate = if *why == Unready::BedNotCleared {
            Predicate { one: "needs its bed cleared".to_owned(), many: "need their beds cleared".to_owned() }
        } else {
            Predicate::state(&text)
        };
        if let Some(ms) = rest {
            predicate.one = format!("{} (the next try is in {} s)", predicate.one, (ms + 999) / 1000);
        }
        let cause = WaitingCause::of_printers(unready_code(why), predicate);
        self.add(cause.ending(rest.map(|ms| now.plus_ms(ms))), &text, printer);
    }

    /// Adds a printer that does not currently suit the job.
    fn add_mismatch(&mut self, one: &PrinterMatch<'_>, around: &WaitContext<'_>) {
        let mut missing: Vec<(&Mismatch, WaitingCode)> =
            one.fit.missing.iter().map(|missing| (missing, mismatch_code(missing))).collect();
        missing.sort_by_key(|(_, code)| std::cmp::Reverse(code.rank()));
        let Some((_, code)) = missing.first().copied() else { return };
        let materials: Vec<Id> = missing.iter().filter_map(|(missing, _)| missing.spool()).collect();
        let later = if one.busy.is_some() { BUSY_RANKS } else { 0 };
        if let (Some(predicate), 1) = (unconfirmed_spool(one, around), missing.len()) {
            let cause = WaitingCause::of_printers(WaitingCode::SpoolUnconfirmed, predicate)
                .lacking(materials)
                .placed_later(later);
            self.add(cause, &one.printer.id.to_string(), one.printer);
            return;
        }
        let missing: Vec<&Mismatch> = missing.into_iter().map(|(missing, _)| missing).collect();
        let predicate = requirements(&missing, around);
        let key = format!("{} {}", one.busy.is_some(), predicate.many);
        let cause = WaitingCause::of_printers(code, predicate).lacking(materials).placed_later(later);
        self.add(cause, &key, one.printer);
    }
}

/// Returns the suitable printer whose current print ends first, and the time at which it ends.
fn next_free<'m, 'p>(
    around: &WaitContext<'_>,
    of_type: &[&'m PrinterMatch<'p>],
) -> Option<(&'m PrinterMatch<'p>, Timestamp)> {
    let job_ends = around.job_ends?;
    let end = |one: &PrinterMatch<'_>| {
        let prints = matches!(one.busy, Some(Unready::Printing | Unready::Starting));
        let at = *job_ends.get(&one.printer.in_hand.as_ref()?.job)?;
        (prints && one.fit.fits() && at > around.now).then_some(at)
    };
    of_type.iter().filter_map(|one| Some((*one, end(one)?))).min_by_key(|(_, at)| *at)
}

fn unready_code(why: &Unready) -> WaitingCode {
    match why {
        Unready::BedNotCleared => WaitingCode::BedNotCleared,
        Unready::ManualStart | Unready::Finishing | Unready::Starting | Unready::Printing | Unready::OtherPrint => {
            WaitingCode::PrinterBusy
        }
        Unready::Paused => WaitingCode::PrinterPaused,
        Unready::DiskFull | Unready::RefusesStarts => WaitingCode::PrinterRefuses,
        Unready::Disconnected | Unready::WrongKey | Unready::Connecting | Unready::Offline => {
            WaitingCode::PrinterOffline
        }
        Unready::Unverified
        | Unready::Deleted
        | Unready::ReadOnly
        | Unready::Maintenance
        | Unready::MaintenanceDue(_)
        | Unready::Error
        | Unready::Fault
        | Unready::NotHomed => WaitingCode::PrinterAttention,
    }
}

fn mismatch_code(missing: &Mismatch) -> WaitingCode {
    match missing {
        Mismatch::MachineType(_) => WaitingCode::NoPrinter,
        Mismatch::Form(_) => WaitingCode::FileFormat,
        Mismatch::Model { .. } => WaitingCode::PrinterModel,
        Mismatch::TooLarge { .. } => WaitingCode::BuildVolume,
        Mismatch::Nozzle { .. } => WaitingCode::Nozzle,
        Mismatch::Plate { .. } => WaitingCode::BuildPlate,
        Mismatch::NotLoaded(_) => WaitingCode::MaterialNotLoaded,
        Mismatch::OtherSlot { .. } | Mismatch::OutOfReach(_) => WaitingCode::MaterialMisplaced,
        Mismatch::UnknownFilaments => WaitingCode::FilamentsUnknown,
        Mismatch::TooLittle { .. } => WaitingCode::SpoolRunsOut,
    }
}

/// Returns the predicate for a printer that reports a spool similar to the missing one.
fn unconfirmed_spool(one: &PrinterMatch<'_>, around: &WaitContext<'_>) -> Option<Predicate> {
    let material = one.fit.missing.iter().find_map(|missing| match missing {
        Mismatch::NotLoaded(id) => around.materials.iter().find(|material| material.id == *id),
        _ => None,
    })?;
    let offer = one.printer.spool_offer(material)?;
    let (spool, name) = (name_in_sentence(&offer.spool), name_in_sentence(&material.fields.name));
    let label = one.printer.slot_label(offer.slot, around.types.of(&one.printer.fields.kind).labels);
    let words = format!("{spool} {}: confirm that it is {name}", label.place());
    Some(Predicate { one: format!("has {words}"), many: format!("have {words}") })
}

/// Requirement that a printer does not meet.
enum UnmetRequirement {
    /// Object of the verb "needs", for one printer and for several.
    Needed(String, String),
    /// Complete predicate.
    Own(Predicate),
}

/// Returns the predicate for printers that do not meet the given requirements.
fn requirements(missing: &[&Mismatch], around: &WaitContext<'_>) -> Predicate {
    let mut needed: Vec<(String, String)> = Vec::new();
    let mut clauses: Vec<Predicate> = Vec::new();
    for one in missing.iter().take(MAX_CLAUSE_REQUIREMENTS) {
        match requirement(one, around) {
            UnmetRequirement::Needed(one, many) => needed.push((one, many)),
            UnmetRequirement::Own(predicate) => clauses.push(predicate),
        }
    }
    if !needed.is_empty() {
        let (one, many): (Vec<String>, Vec<String>) = needed.into_iter().unzip();
        let object = |all: &[String]| listed(&all.iter().map(String::as_str).collect::<Vec<_>>(), all.len());
        clauses.push(Predicate { one: format!("needs {}", object(&one)), many: format!("need {}", object(&many)) });
    }
    let more = if missing.len() > MAX_CLAUSE_REQUIREMENTS { ", among other things" } else { "" };
    let joined = |of: &dyn Fn(&Predicate) -> String| clauses.iter().map(of).collect::<Vec<_>>().join(" and ") + more;
    Predicate { one: joined(&|one| one.one.clone()), many: joined(&|one| one.many.clone()) }
}

/// Describes a requirement that a printer does not meet. Slots are referred to by their labels on the machine.
fn requirement(missing: &Mismatch, around: &WaitContext<'_>) -> UnmetRequirement {
    let material = |id: Id| around.materials.iter().find(|material| material.id == id);
    let unnamed = || "its material".to_owned();
    let name = |id: Id| material(id).map_or_else(unnamed, |one| name_in_sentence(&one.fields.name));
    let spelled = |word: &str| name_in_sentence(&word.replace('_', " "));
    let same = |object: String| UnmetRequirement::Needed(object.clone(), object);
    let own = |one: &str, many: &str| UnmetRequirement::Own(Predicate { one: one.to_owned(), many: many.to_owned() });
    match missing {
        Mismatch::MachineType(machine) => {
            let noun = machine.noun();
            own(&format!("is no {noun}"), &format!("are no {noun}s"))
        }
        Mismatch::Form(form) => {
            let files = format!("accept .{} files", form.ending());
            own(&format!("does not {files}"), &format!("do not {files}"))
        }
        Mismatch::Model { required, .. } => {
            let words = format!("cannot print a file that was sliced for {}", spelled(required));
            own(&words, &words)
        }
        Mismatch::TooLarge { .. } => own("is too small for the print", "are too small for the print"),
        Mismatch::UnknownFilaments => {
            let words = "cannot tell which filament of the file needs which material";
            own(words, words)
        }
        Mismatch::Nozzle { required, .. } => {
            UnmetRequirement::Needed(format!("a {required} mm nozzle"), format!("{required} mm nozzles"))
        }
        Mismatch::Plate { required, .. } => same(format!("the build plate {}", spelled(required))),
        Mismatch::NotLoaded(id) => same(format!("{} loaded", name(*id))),
        Mismatch::OtherSlot { material, slot } => same(format!("{} {}", name(*material), slot.place())),
        Mismatch::OutOfReach(id) => same(format!("{} in the filament changer", name(*id))),
        Mismatch::TooLittle { needed, left } => {
            let id = needed.material_id;
            let unit = material(id).map_or("units", |one| one.fields.kind.unit());
            let need: Amount = needed.need;
            let spool = format!("of {}", name(id));
            UnmetRequirement::Needed(
                format!("a fuller spool {spool} ({left} {unit} left, {need} {unit} needed)"),
                format!("fuller spools {spool}"),
            )
        }
    }
}

/// Returns the last rejection of the job by a printer as a cause, with the printer's message.
fn last_refusal(job: &Job, printers: &[&Printer]) -> Option<WaitingCause> {
    let refused = |state| matches!(state, AttemptState::Refused | AttemptState::NotStarted);
    let last = job.attempts.last().filter(|last| refused(last.state) && job.tried_on.contains(&last.printer_id))?;
    let printer = printers.iter().find(|printer| printer.id == last.printer_id);
    let reason = last.reason.as_deref().unwrap_or("no reason was given");
    let reason = shortened(reason.to_owned(), MAX_MESSAGE_CHARS);
    let predicate = Predicate { one: format!("rejected the job: {reason}"), many: String::new() };
    match printer {
        Some(printer) => {
            let mut cause = WaitingCause::of_printers(WaitingCode::PrinterRefuses, predicate);
            cause.add(printer.id, &printer.fields.name);
            Some(cause)
        }
        None => Some(WaitingCause::new(WaitingCode::PrinterRefuses, format!("a deleted printer {}", predicate.one))),
    }
}
