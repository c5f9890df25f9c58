//! Obstacles to printing a job on the printers of its machine type, grouped into causes: printers with the same
//! obstacle share a cause.

use std::fmt::Write as _;

use super::WaitContext;
use super::matching::PrinterMatch;
use super::waiting::{Predicate, WaitingCause, WaitingCode, name_in_sentence};
use crate::amount::Amount;
use crate::id::Id;
use crate::job::{AttemptState, Job};
use crate::launch::Mismatch;
use crate::material::{Material, unit};
use crate::notation;
use crate::printer::{Printer, Unready};
use crate::refusal::shortened;
use crate::time::Timestamp;
use words::staff::waiting as texts;

/// Maximum number of missing requirements in one clause.
const MAX_CLAUSE_REQUIREMENTS: usize = 2;
/// Maximum length of a printer's own message within a clause, in characters.
const MAX_MESSAGE_CHARS: usize = 80;
/// Number of ranks by which a cause is moved back if its printers are not ready, either.
const BUSY_RANKS: u8 = 4;

/// Returns the causes that make a job wait for a printer. `of_type` holds its matches with the printers of its machine
/// type, in the dispatcher's order. The result is empty if one of them could take the job now.
pub(super) fn printer_causes(job: &Job, around: &WaitContext<'_>, of_type: &[&PrinterMatch<'_>]) -> Vec<WaitingCause> {
    if of_type.iter().any(|one| one.is_possible()) {
        return Vec::new();
    }
    let mut groups = CauseGroups::default();
    let next = next_free(around, of_type);
    if let Some((one, at)) = next {
        let predicate = Predicate::state(around.language, &texts::free_from(around.language, &at.to_string()));
        let cause = || WaitingCause::of_printers(around.language, WaitingCode::PrinterBusy, predicate);
        groups.add("free", one.printer, || cause().ending(Some(at)));
    }
    for one in of_type.iter().filter(|one| next.is_none_or(|(next, _)| next.printer.id != one.printer.id)) {
        match &one.busy {
            Some(why) if one.fit.fits() => groups.add_unready(why, one.printer, around),
            _ => groups.add_mismatch(one, around),
        }
    }
    let refusal = last_refusal(job, around);
    groups.0.into_iter().map(|(_, cause)| cause).chain(refusal).collect()
}

/// Causes with their keys: printers with the same key share a cause.
#[derive(Default)]
struct CauseGroups(Vec<(String, WaitingCause)>);

impl CauseGroups {
    /// Adds a printer to the cause with the given key, writing the cause if it does not exist.
    fn add(&mut self, key: &str, printer: &Printer, write: impl FnOnce() -> WaitingCause) {
        let at = self.0.iter().position(|(existing, _)| existing == key).unwrap_or_else(|| {
            self.0.push((key.to_owned(), write()));
            self.0.len() - 1
        });
        if let Some((_, cause)) = self.0.get_mut(at) {
            cause.add(printer.id, &printer.fields.name);
        }
    }

    /// Adds a printer that suits the job but cannot take a job now.
    fn add_unready(&mut self, why: &Unready, printer: &Printer, around: &WaitContext<'_>) {
        let (language, now) = (around.language, around.now);
        self.add(&why.to_string(), printer, || {
            let rest = printer.refusals.as_ref().and_then(|refusals| refusals.rests_for(now));
            let rest = rest.filter(|_| matches!(why, Unready::DiskFull | Unready::RefusesStarts));
            let mut predicate = if *why == Unready::BedNotCleared {
                Predicate { one: texts::needs_clear_bed(language), many: texts::need_clear_beds(language) }
            } else {
                Predicate::state(language, &why.words(language))
            };
            if let Some(ms) = rest {
                let seconds = ((ms + 999) / 1000).to_string();
                predicate.one = texts::next_try(language, &predicate.one, &seconds);
            }
            let cause = WaitingCause::of_printers(language, unready_code(why), predicate);
            cause.ending(rest.map(|ms| now.plus_ms(ms)))
        });
    }

    /// Adds a printer that does not currently suit the job.
    fn add_mismatch(&mut self, one: &PrinterMatch<'_>, around: &WaitContext<'_>) {
        let mut missing: Vec<(&Mismatch, WaitingCode)> =
            one.fit.missing.iter().map(|missing| (missing, mismatch_code(missing))).collect();
        missing.sort_by_key(|(_, code)| std::cmp::Reverse(code.rank()));
        let Some((_, code)) = missing.first().copied() else { return };
        let materials: Vec<Id> = missing.iter().filter_map(|(missing, _)| missing.spool()).collect();
        let later = if one.busy.is_some() { BUSY_RANKS } else { 0 };
        let cause = |code, predicate| {
            WaitingCause::of_printers(around.language, code, predicate).lacking(materials).placed_later(later)
        };
        if let (Some(predicate), 1) = (unconfirmed_spool(one, around), missing.len()) {
            self.add(&one.printer.id.to_string(), one.printer, || cause(WaitingCode::SpoolUnconfirmed, predicate));
            return;
        }
        let missing: Vec<&Mismatch> = missing.into_iter().map(|(missing, _)| missing).collect();
        let key = format!("{} {}", one.busy.is_some(), shared_key(&missing));
        self.add(&key, one.printer, || cause(code, requirements(&missing, around)));
    }
}

/// Returns the key that printers share if they do not meet the same requirements, as far as a clause states them.
fn shared_key(missing: &[&Mismatch]) -> String {
    let mut key = String::new();
    for one in missing.iter().take(MAX_CLAUSE_REQUIREMENTS) {
        let _ = match one {
            Mismatch::Model { required, .. } => write!(key, "model {required};"),
            Mismatch::TooLarge { .. } => write!(key, "volume;"),
            Mismatch::Nozzle { required, .. } => write!(key, "nozzle {required};"),
            Mismatch::Plate { required, .. } => write!(key, "plate {required};"),
            Mismatch::TooLittle { needed, .. } => write!(key, "fuller {};", needed.material_id),
            Mismatch::MachineType(_)
            | Mismatch::Form(_)
            | Mismatch::NotLoaded(_)
            | Mismatch::OtherSlot { .. }
            | Mismatch::OutOfReach(_)
            | Mismatch::UnknownFilaments => write!(key, "{one:?};"),
        };
    }
    key + if missing.len() > MAX_CLAUSE_REQUIREMENTS { "more" } else { "" }
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
        | Unready::MaintenanceDue(..)
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
    let (language, place) = (around.language, label.place(around.language));
    let one = texts::has_unconfirmed(language, &spool, &place, &name);
    Some(Predicate { one, many: texts::have_unconfirmed(language, &spool, &place, &name) })
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
    let language = around.language;
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
        let object = |all: &[String]| notation::list(language, all);
        let (one, many) = (texts::needs(language, &object(&one)), texts::need(language, &object(&many)));
        clauses.push(Predicate { one, many });
    }
    let joined = |all: Vec<String>| {
        let text = notation::list(language, &all);
        let has_more = missing.len() > MAX_CLAUSE_REQUIREMENTS;
        if has_more { texts::among_others(language, &text) } else { text }
    };
    let (one, many) = clauses.into_iter().map(|clause| (clause.one, clause.many)).unzip();
    Predicate { one: joined(one), many: joined(many) }
}

/// Describes a requirement that a printer does not meet. Slots are referred to by their labels on the machine.
fn requirement(missing: &Mismatch, around: &WaitContext<'_>) -> UnmetRequirement {
    let language = around.language;
    let material = |id: Id| around.materials.iter().find(|material| material.id == id);
    let unnamed = || texts::its_material(language);
    let name = |id: Id| material(id).map_or_else(unnamed, |one| name_in_sentence(&one.fields.name));
    let spelled = |word: &str| name_in_sentence(&word.replace('_', " "));
    let same = |object: String| UnmetRequirement::Needed(object.clone(), object);
    let own = |one: String, many: String| UnmetRequirement::Own(Predicate { one, many });
    match missing {
        Mismatch::MachineType(machine) => {
            let machine = machine.word();
            own(texts::is_other_machine(language, machine), texts::are_other_machines(language, machine))
        }
        Mismatch::Form(form) => {
            let ending = form.ending();
            own(texts::rejects_format(language, ending), texts::reject_format(language, ending))
        }
        Mismatch::Model { required, .. } => {
            let model = spelled(required);
            own(texts::cannot_print_for(language, &model), texts::they_cannot_print_for(language, &model))
        }
        Mismatch::TooLarge { .. } => own(texts::is_too_small(language), texts::are_too_small(language)),
        Mismatch::UnknownFilaments => own(texts::cannot_assign(language), texts::they_cannot_assign(language)),
        Mismatch::Nozzle { required, .. } => {
            let size = notation::decimal(language, required);
            UnmetRequirement::Needed(texts::nozzle(language, &size), texts::nozzles(language, &size))
        }
        Mismatch::Plate { required, .. } => same(texts::plate(language, &spelled(required))),
        Mismatch::NotLoaded(id) => same(texts::loaded(language, &name(*id))),
        Mismatch::OtherSlot { material, slot } => {
            same(texts::material_at(language, &name(*material), &slot.place(language)))
        }
        Mismatch::OutOfReach(id) => same(texts::in_changer(language, &name(*id))),
        Mismatch::TooLittle { needed, left } => {
            let id = needed.material_id;
            let unit_of = |one: &&Material| unit(language, one.fields.kind).to_owned();
            let unit = material(id).map_or_else(|| texts::units(language), unit_of);
            let amount = |of: Amount| notation::decimal(language, of);
            let (left, need) = (amount(*left), amount(needed.need));
            UnmetRequirement::Needed(
                texts::fuller_spool(language, &name(id), &left, &need, &unit),
                texts::fuller_spools(language, &name(id)),
            )
        }
    }
}

/// Returns the last rejection of the job by a printer as a cause, with the printer's message.
fn last_refusal(job: &Job, around: &WaitContext<'_>) -> Option<WaitingCause> {
    let language = around.language;
    let refused = |state| matches!(state, AttemptState::Refused | AttemptState::NotStarted);
    let last = job.attempts.last().filter(|last| refused(last.state) && job.tried_on.contains(&last.printer_id))?;
    let printer = around.printers.iter().find(|printer| printer.id == last.printer_id);
    let reason = last.reason.clone().unwrap_or_else(|| texts::no_reason(language));
    let one = texts::rejected(language, &shortened(reason, MAX_MESSAGE_CHARS));
    let code = WaitingCode::PrinterRefuses;
    match printer {
        Some(printer) => {
            let mut cause = WaitingCause::of_printers(language, code, Predicate { one, many: String::new() });
            cause.add(printer.id, &printer.fields.name);
            Some(cause)
        }
        None => Some(WaitingCause::new(language, code, texts::deleted_printer(language, &one))),
    }
}
