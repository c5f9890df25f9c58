//! Human-readable explanation of why an unfinished job is waiting: `waitingReason` in the API.

use std::collections::BTreeMap;

use super::KnownTypes;
use super::matching::{PrinterMatch, match_printers};
use crate::job::{AttemptState, Block, Job, JobState};
use crate::material::{ClaimId, Material};
use crate::printer::Printer;
use crate::printer_status::Connection;
use crate::time::Timestamp;

/// Maximum number of jobs listed as holders of a material.
const MAX_HOLDERS: usize = 3;
/// Maximum number of printers listed with their missing requirements.
const MAX_PRINTERS_NAMED: usize = 10;

/// Context of a waiting job at the time of the request.
#[derive(Clone, Copy, Debug)]
pub struct WaitContext<'a> {
    /// All printers in the shop, in any state.
    pub printers: &'a [&'a Printer],
    /// Materials of the job, if known.
    pub materials: &'a [&'a Material],
    /// Numbers of the jobs that hold the material for which the job is waiting.
    pub holders: &'a [String],
    /// Accepted G-code formats of each printer type, and whether the type maps slots.
    pub types: &'a KnownTypes,
    /// Time of the request.
    pub now: Timestamp,
}

/// Returns the reason why a job is waiting; `None` if it is printing or finished.
pub fn waiting_reason(job: &Job, around: &WaitContext<'_>) -> Option<String> {
    if job.over() {
        return None;
    }
    let live = job.live();
    if let Some(attempt) = live.filter(|attempt| attempt.unverified) {
        let why = attempt.reason.as_deref().unwrap_or("the printer reports no reason");
        let what =
            if attempt.state == AttemptState::Confirmed { "how the print ended" } else { "whether the print started" };
        return Some(format!("unknown {what} ({why}); an operator must resolve it"));
    }
    let on = live.and_then(|attempt| around.printers.iter().find(|printer| printer.id == attempt.printer_id));
    let silence = on.and_then(|printer| silence(printer));
    if job.cancel_requested_at.is_some() {
        let waits = "waiting for the printer to confirm the cancellation";
        return Some(silence.map_or_else(|| waits.to_owned(), |silence| format!("{waits}; {silence}")));
    }
    if silence.is_some() {
        return silence;
    }
    if on.and_then(|printer| printer.in_hand.as_ref()).is_some_and(|hand| hand.job == job.id && hand.gone.is_some()) {
        return Some("the print has ended; asking the printer for its outcome".to_owned());
    }
    match job.state {
        JobState::Created => Some(job.block_reason.clone().unwrap_or_else(|| "its SKU is incomplete".to_owned())),
        JobState::Validated if job.to_slice().is_some() => {
            Some(job.block_reason.clone().unwrap_or_else(|| "its model is being sliced".to_owned()))
        }
        JobState::Validated => Some("waiting for the stock check".to_owned()),
        JobState::AwaitingManualReview => Some(short_stock(job, around).unwrap_or_else(|| {
            match job.blocked_by {
                Some(Block::ReorderPoint) => "the stock of its material is below the reorder point",
                Some(Block::Slicing) => "slicing failed",
                Some(Block::Material) | None => "not enough material is available",
            }
            .to_owned()
        })),
        JobState::Sliced => Some(no_printer(job, around)),
        JobState::Dispatching => Some("being sent to the printer".to_owned()),
        JobState::Paused => Some("paused at the printer".to_owned()),
        JobState::Printing | JobState::Completed | JobState::Failed | JobState::Cancelled => None,
    }
}

/// Returns the reason why a print cannot be observed: the printer, or the firmware behind its server, has been silent
/// for some time, or the printer rejects the key; `None` if the printer can be read.
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

/// Explains which material the job lacks, with the current stock and its holders, or else the material's last refusal.
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
    let named = holders.iter().take(MAX_HOLDERS).cloned().collect::<Vec<_>>().join(", ");
    Some(format!("{words}; held by {named}{}", more(holders.len(), MAX_HOLDERS)))
}

/// Returns text for the number of list entries that were left out.
fn more(all: usize, most: usize) -> String {
    if all > most { format!(" and {} more", all - most) } else { String::new() }
}

/// Explains why no printer of the job's type is available, for example "waiting for a printer of type `fdm_large`: 2
/// are printing; 1 is offline; PLA black is not loaded on 3". If none of them can make the job, lists what is missing
/// on each.
fn no_printer(job: &Job, around: &WaitContext<'_>) -> String {
    let (word, form) = (job.machine_type.word(), job.file_form);
    if !around.types.printable(form) {
        let ending = form.ending();
        return format!("no printer type accepts .{ending} files; its SKU needs plain G-code (.gcode)");
    }
    let all = match_printers(job, around);
    let of_type: Vec<&PrinterMatch<'_>> =
        all.iter().filter(|one| one.printer.fields.machine_type == job.machine_type).collect();
    if of_type.is_empty() {
        return format!("no printer of type {word} is registered");
    }
    if of_type.iter().all(|one| !one.fit.fits()) {
        let each = of_type.iter().take(MAX_PRINTERS_NAMED);
        let each: Vec<String> =
            each.map(|one| format!("{}: {}", one.printer.fields.name, one.missing.join(", "))).collect();
        let more = more(of_type.len(), MAX_PRINTERS_NAMED);
        return format!("no printer of type {word} can print it: {}{more}", each.join("; "));
    }
    let mut counts: BTreeMap<(String, bool), usize> = BTreeMap::new();
    let mut rests: Vec<i64> = Vec::new();
    for one in of_type {
        let why = if one.fit.fits() {
            rests.extend(one.printer.refusals.as_ref().and_then(|refusals| refusals.rests_for(around.now)));
            match &one.busy {
                None => return "waiting for its turn".to_owned(),
                Some(why) => (why.clone(), true),
            }
        } else {
            (one.missing.join(", "), false)
        };
        *counts.entry(why).or_default() += 1;
    }
    let mut counts: Vec<((String, bool), usize)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let counts = counts.into_iter().map(|((why, is_busy), count)| match (is_busy, count) {
        (true, 1) => format!("1 is {why}"),
        (true, _) => format!("{count} are {why}"),
        (false, _) => format!("{why} on {count}"),
    });
    let counts: Vec<String> = counts.collect();
    let mut words = vec![format!("waiting for a printer of type {word}: {}", counts.join("; "))];
    words.extend(last_refusal(job, around.printers));
    words.extend(rests.into_iter().min().map(|ms| format!("the next try is in {} s", (ms + 999) / 1000)));
    words.join("; ")
}

/// Describes the last refusal of the job by a printer: the printer's name and message.
fn last_refusal(job: &Job, printers: &[&Printer]) -> Option<String> {
    let refused = |state| matches!(state, AttemptState::Refused | AttemptState::NotStarted);
    let last = job.attempts.last().filter(|last| refused(last.state) && job.tried_on.contains(&last.printer_id))?;
    let name = printers.iter().find(|printer| printer.id == last.printer_id).map(|printer| &printer.fields.name);
    let name = name.map_or("a deleted printer", |name| name.as_str());
    Some(format!("{name} refused it: {}", last.reason.as_deref().unwrap_or("no reason was given")))
}
