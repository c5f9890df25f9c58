//! Reasons why an unfinished job is waiting: `waitingCauses` and, as one sentence, `waitingReason` in the API.

use std::collections::HashMap;

use super::KnownTypes;
use super::matching::{PrinterMatch, match_printers};
use super::obstacles::printer_causes;
use super::waiting::{Waiting, WaitingCode, listed};
use crate::id::Id;
use crate::job::{Attempt, AttemptState, Block, Job, JobState};
use crate::material::{ClaimId, Material};
use crate::printer::Printer;
use crate::printer_status::Connection;
use crate::refusal::shortened;
use crate::time::Timestamp;

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
}

/// Returns why a job is waiting; `None` if it is printing or finished.
pub fn waiting(job: &Job, around: &WaitContext<'_>) -> Option<Waiting> {
    if job.over() {
        return None;
    }
    let live = job.live();
    if let Some(attempt) = live.filter(|attempt| attempt.unverified) {
        return Some(Waiting::of(WaitingCode::Unverified, unverified(attempt)));
    }
    let on = live.and_then(|attempt| around.printers.iter().find(|printer| printer.id == attempt.printer_id));
    let silence = on.and_then(|printer| silence(printer));
    if job.cancel_requested_at.is_some() {
        let waits = "waiting for the printer to confirm the cancellation";
        let words = silence.map_or_else(|| waits.to_owned(), |silence| format!("{waits}; {silence}"));
        return Some(Waiting::of(WaitingCode::Cancelling, words));
    }
    if let Some(words) = silence {
        return Some(Waiting::of(WaitingCode::PrinterOffline, words));
    }
    if on.and_then(|printer| printer.in_hand.as_ref()).is_some_and(|hand| hand.job == job.id && hand.gone.is_some()) {
        return Some(Waiting::of(WaitingCode::Ending, "the print has ended; asking the printer for its outcome"));
    }
    let blocked = |code, otherwise: &str| {
        Some(Waiting::of(code, job.block_reason.clone().unwrap_or_else(|| otherwise.to_owned())))
    };
    match job.state {
        JobState::Created => blocked(WaitingCode::SkuFile, "the SKU is incomplete"),
        JobState::Validated if job.to_slice().is_some() => blocked(WaitingCode::Slicing, "the model is being sliced"),
        JobState::Validated => Some(Waiting::of(WaitingCode::StockCheck, "waiting for the stock check")),
        JobState::AwaitingManualReview => Some(under_review(job, around)),
        JobState::Sliced => Some(no_printer(job, around)),
        JobState::Dispatching => Some(Waiting::of(WaitingCode::Sending, "being sent to the printer")),
        JobState::Paused => Some(Waiting::of(WaitingCode::Paused, "paused at the printer")),
        JobState::Printing | JobState::Completed | JobState::Failed | JobState::Cancelled => None,
    }
}

/// Describes an attempt for which it is unknown whether the print started, or how it ended.
fn unverified(attempt: &Attempt) -> String {
    let why = attempt.reason.as_deref().unwrap_or("the printer reports no reason");
    let what =
        if attempt.state == AttemptState::Confirmed { "how the print ended" } else { "whether the print started" };
    let why = shortened(why.to_owned(), MAX_MESSAGE_CHARS);
    format!("unknown {what} ({why}); an operator must resolve it")
}

/// Returns why a job awaits review.
fn under_review(job: &Job, around: &WaitContext<'_>) -> Waiting {
    let (code, otherwise) = match job.blocked_by {
        Some(Block::ReorderPoint) => (WaitingCode::ReorderPoint, "the material's stock is below the reorder point"),
        Some(Block::Slicing) => (WaitingCode::SlicingFailed, "slicing failed"),
        Some(Block::Material) | None => (WaitingCode::Stock, "not enough material is available"),
    };
    let material = job.waiting_claim().map(|claim| claim.material_id);
    let words = short_stock(job, around).unwrap_or_else(|| otherwise.to_owned());
    Waiting::of(code, words).lacking(material.filter(|_| job.blocked_by != Some(Block::Slicing)))
}

/// Returns why a print cannot be observed; `None` if the printer can be read. Reasons are that the printer, or the
/// firmware behind its server, has been silent for some time, or that the printer rejects the key.
fn silence(printer: &Printer) -> Option<String> {
    match (printer.connection, printer.last_seen_at) {
        (Connection::Connected | Connection::Connecting | Connection::ReadOnly, _) => None,
        (Connection::WrongKey, _) => {
            Some("the printer rejects the API key; enter the correct key in the printer's settings".to_owned())
        }
        (_, Some(since)) => Some(format!("the printer has not responded since {since}")),
        (_, None) => Some("the printer has not responded yet".to_owned()),
    }
}

/// Explains which material the job lacks, with the current stock and the jobs that hold it, or else the material's last
/// rejection of the job.
fn short_stock(job: &Job, around: &WaitContext<'_>) -> Option<String> {
    let short = matches!(job.blocked_by, Some(Block::Material | Block::ReorderPoint));
    let now = job.waiting_claim().filter(|_| short).and_then(|waiting| {
        let material = around.materials.iter().find(|material| material.id == waiting.material_id)?;
        material.waiting_words(ClaimId { job: job.id, number: waiting.number })
    });
    let words = now.or_else(|| job.block_reason.clone())?;
    let holders = around.holders;
    if holders.is_empty() || job.blocked_by != Some(Block::Material) {
        return Some(words);
    }
    let named: Vec<&str> = holders.iter().take(MAX_HOLDERS).map(String::as_str).collect();
    Some(format!("{words}; held by {}", listed(&named, holders.len())))
}

/// Returns why no printer of the job's machine type can take the job now.
fn no_printer(job: &Job, around: &WaitContext<'_>) -> Waiting {
    if !around.types.printable(job.file_form) {
        let ending = job.file_form.ending();
        let words = format!("no printer type accepts .{ending} files; its SKU needs plain G-code (.gcode)");
        return Waiting::of(WaitingCode::FileFormat, words);
    }
    let all = match_printers(job, around);
    let of_type: Vec<&PrinterMatch<'_>> =
        all.iter().filter(|one| one.printer.fields.machine_type == job.machine_type).collect();
    if of_type.is_empty() {
        return Waiting::of(WaitingCode::NoPrinter, format!("no {} is registered", job.machine_type.noun()));
    }
    let needs = job.material_needs();
    let only: Option<Id> = if let [only] = &needs[..] { Some(only.material_id) } else { None };
    let material = around.materials.iter().find(|material| Some(material.id) == only);
    Waiting::for_printer(printer_causes(job, around, &of_type), material.map(|material| material.fields.name.as_str()))
}
