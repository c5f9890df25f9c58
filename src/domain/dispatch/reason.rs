//! Reasons why an unfinished job is waiting: `waitingCauses` and, as one sentence, `waitingReason` in the API.

use std::collections::HashMap;

use super::KnownTypes;
use super::matching::{PrinterMatch, match_printers};
use super::obstacles::printer_causes;
use super::waiting::{Waiting, WaitingCode, listed};
use crate::id::Id;
use crate::job::{Attempt, AttemptState, BEING_READ_REASON, Block, Job, JobState, NO_FILE_REASON};
use crate::material::{ClaimId, Material};
use crate::printer::Printer;
use crate::printer_status::Connection;
use crate::refusal::shortened;
use crate::time::Timestamp;
use words::Language;
use words::staff::waiting as texts;

/// Maximum number of jobs listed as holders of a material.
const MAX_HOLDERS: usize = 3;
/// Maximum length of a printer's message within a sentence, in characters.
const MAX_MESSAGE_CHARS: usize = 130;

/// State of the shop that explains why a job is waiting, at the time of the request.
#[derive(Clone, Copy, Debug)]
pub struct WaitContext<'a> {
    /// All printers in the shop, in any state.
    pub printers: &'a [&'a Printer],
    /// Materials that the job needs, if known.
    pub materials: &'a [&'a Material],
    /// Numbers of the jobs that hold the material that the job is waiting for.
    pub holders: &'a [String],
    /// Accepted G-code formats for each printer type, and whether the type maps slots.
    pub types: &'a KnownTypes,
    /// Expected end of each job, if it can be predicted, used to state when printers become free; `None` if no times
    /// are to be stated.
    pub job_ends: Option<&'a HashMap<Id, Timestamp>>,
    /// Time of the request.
    pub now: Timestamp,
    /// Language of the explanation. Reasons that printers or other programs give stay in their own.
    pub language: Language,
}

/// Returns why a job is waiting; `None` if it is printing or finished.
pub fn waiting(job: &Job, around: &WaitContext<'_>) -> Option<Waiting> {
    if job.over() {
        return None;
    }
    let (language, live) = (around.language, job.live());
    let of = |code, clause: String| Some(Waiting::of(language, code, clause));
    if let Some(attempt) = live.filter(|attempt| attempt.unverified) {
        return of(WaitingCode::Unverified, unverified(language, attempt));
    }
    let on = live.and_then(|attempt| around.printers.iter().find(|printer| printer.id == attempt.printer_id));
    let silence = on.and_then(|printer| silence(language, printer));
    if job.cancel_requested_at.is_some() {
        let words = match silence {
            Some(silence) => texts::cancelling_at(language, &silence),
            None => texts::cancelling(language),
        };
        return of(WaitingCode::Cancelling, words);
    }
    if let Some(words) = silence {
        return of(WaitingCode::PrinterOffline, words);
    }
    if on.and_then(|printer| printer.in_hand.as_ref()).is_some_and(|hand| hand.job == job.id && hand.gone.is_some()) {
        return of(WaitingCode::Ending, texts::ending(language));
    }
    let blocked = |code, otherwise: fn(Language) -> String| {
        of(code, block_words(language, job).unwrap_or_else(|| otherwise(language)))
    };
    match job.state {
        JobState::Created => blocked(WaitingCode::SkuFile, texts::sku_incomplete),
        JobState::Validated if job.to_slice().is_some() => blocked(WaitingCode::Slicing, texts::being_sliced),
        JobState::Validated => of(WaitingCode::StockCheck, texts::stock_check(language)),
        JobState::AwaitingManualReview => Some(under_review(job, around)),
        JobState::Sliced => Some(no_printer(job, around)),
        JobState::Dispatching => of(WaitingCode::Sending, texts::sending(language)),
        JobState::Paused => of(WaitingCode::Paused, texts::paused(language)),
        JobState::Printing | JobState::Completed | JobState::Failed | JobState::Cancelled => None,
    }
}

/// Returns the reason why a job was blocked. It is stored in English; the shop's own reasons have translations.
fn block_words(language: Language, job: &Job) -> Option<String> {
    let reason = job.block_reason.as_deref()?;
    Some(match reason {
        NO_FILE_REASON => texts::no_file(language),
        BEING_READ_REASON => texts::being_read(language),
        _ => reason.to_owned(),
    })
}

/// Describes an attempt for which it is unknown whether the print started, or how it ended.
fn unverified(language: Language, attempt: &Attempt) -> String {
    let why = attempt.reason.clone().unwrap_or_else(|| texts::no_reason_reported(language));
    let why = shortened(why, MAX_MESSAGE_CHARS);
    if attempt.state == AttemptState::Confirmed {
        return texts::end_unknown(language, &why);
    }
    texts::start_unknown(language, &why)
}

/// Returns why a job awaits review.
fn under_review(job: &Job, around: &WaitContext<'_>) -> Waiting {
    let language = around.language;
    let (code, otherwise): (_, fn(Language) -> String) = match job.blocked_by {
        Some(Block::ReorderPoint) => (WaitingCode::ReorderPoint, texts::below_reorder_point),
        Some(Block::Slicing) => (WaitingCode::SlicingFailed, texts::slicing_failed),
        Some(Block::Material) | None => (WaitingCode::Stock, texts::not_enough_material),
    };
    let material = job.waiting_claim().map(|claim| claim.material_id);
    let words = short_stock(job, around).unwrap_or_else(|| otherwise(language));
    Waiting::of(language, code, words).lacking(material.filter(|_| job.blocked_by != Some(Block::Slicing)))
}

/// Returns why a print cannot be observed; `None` if the printer can be read. Reasons are that the printer, or the
/// firmware behind its server, has been silent for some time, or that the printer rejects the key.
fn silence(language: Language, printer: &Printer) -> Option<String> {
    match (printer.connection, printer.last_seen_at) {
        (Connection::Connected | Connection::Connecting | Connection::ReadOnly, _) => None,
        (Connection::WrongKey, _) => Some(texts::wrong_key(language)),
        (_, Some(since)) => Some(texts::silent_since(language, &since.to_string())),
        (_, None) => Some(texts::silent(language)),
    }
}

/// Explains which material the job lacks, with the current stock and the jobs that hold it, or else the material's last
/// rejection of the job.
fn short_stock(job: &Job, around: &WaitContext<'_>) -> Option<String> {
    let language = around.language;
    let short = matches!(job.blocked_by, Some(Block::Material | Block::ReorderPoint));
    let now = job.waiting_claim().filter(|_| short).and_then(|waiting| {
        let material = around.materials.iter().find(|material| material.id == waiting.material_id)?;
        material.waiting_words(language, ClaimId { job: job.id, number: waiting.number })
    });
    let words = now.or_else(|| job.block_reason.clone())?;
    let holders = around.holders;
    if holders.is_empty() || job.blocked_by != Some(Block::Material) {
        return Some(words);
    }
    let named: Vec<&str> = holders.iter().take(MAX_HOLDERS).map(String::as_str).collect();
    Some(texts::held_by(language, &words, &listed(language, &named, holders.len())))
}

/// Returns why no printer of the job's machine type can take the job now.
fn no_printer(job: &Job, around: &WaitContext<'_>) -> Waiting {
    let language = around.language;
    if !around.types.printable(job.file_form) {
        let words = texts::no_type_accepts(language, job.file_form.ending());
        return Waiting::of(language, WaitingCode::FileFormat, words);
    }
    let all = match_printers(job, around);
    let of_type: Vec<&PrinterMatch<'_>> =
        all.iter().filter(|one| one.printer.fields.machine_type == job.machine_type).collect();
    if of_type.is_empty() {
        let words = texts::none_registered(language, &job.machine_type.noun_in(language));
        return Waiting::of(language, WaitingCode::NoPrinter, words);
    }
    let needs = job.material_needs();
    let only: Option<Id> = if let [only] = &needs[..] { Some(only.material_id) } else { None };
    let material = around.materials.iter().find(|material| Some(material.id) == only);
    let name = material.map(|material| material.fields.name.as_str());
    Waiting::for_printer(language, printer_causes(job, around, &of_type), name)
}
