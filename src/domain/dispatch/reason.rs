//! Why an unfinished job waits, in words for people: `waitingReason` in the API.

use std::collections::BTreeMap;

use crate::domain::job::{Block, Job, JobState};
use crate::domain::printer::Printer;

/// Why a job waits; `None` when it prints or is over. `printers` are all printers of the app.
pub fn waiting_reason<'a>(job: &Job, printers: impl IntoIterator<Item = &'a Printer>) -> Option<String> {
    if job.over() {
        return None;
    }
    let live = job.live();
    if let Some(attempt) = live.filter(|attempt| attempt.unverified) {
        let why = attempt.reason.as_deref().unwrap_or("the printer does not say");
        return Some(format!("nobody can tell whether the print started ({why}); an operator has to resolve it"));
    }
    if job.cancel_requested_at.is_some() {
        return Some("waits for the printer to confirm the cancel".to_owned());
    }
    match job.state {
        JobState::Created => Some(job.block_reason.clone().unwrap_or_else(|| "its SKU is not complete".to_owned())),
        JobState::Validated => Some("waits for the stock check".to_owned()),
        JobState::AwaitingManualReview => Some(job.block_reason.clone().unwrap_or_else(|| {
            match job.blocked_by {
                Some(Block::ReorderPoint) => "its material is below the reorder point",
                Some(Block::Slicing) => "slicing failed",
                Some(Block::Material) | None => "not enough material is free",
            }
            .to_owned()
        })),
        JobState::Sliced => Some(no_printer(job, printers)),
        JobState::Dispatching => Some("is being sent to the printer".to_owned()),
        JobState::Paused => Some("is paused at the printer".to_owned()),
        JobState::Printing | JobState::Completed | JobState::Failed | JobState::Cancelled => None,
    }
}

/// What keeps the printers of the job's type from it, as "no idle `fdm_large` printer: 2 printing, 1 offline, 1 bed not
/// cleared".
fn no_printer<'a>(job: &Job, printers: impl IntoIterator<Item = &'a Printer>) -> String {
    let word = job.machine_type.word();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for printer in printers {
        if printer.archived || printer.fields.machine_type != job.machine_type {
            continue;
        }
        let too_small = match (&job.dimensions, &printer.fields.build_volume) {
            (Some(size), Some(volume)) => !size.fits_in(volume),
            _ => false,
        };
        let why = if too_small {
            "too small".to_owned()
        } else if printer.fields.loaded_material_id.is_some_and(|loaded| loaded != job.material_id) {
            "loaded with another material".to_owned()
        } else {
            match printer.free() {
                Ok(()) => return "waits for its turn".to_owned(),
                Err(why) => why,
            }
        };
        *counts.entry(why).or_default() += 1;
    }
    if counts.is_empty() {
        return format!("no {word} printer is registered");
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let words: Vec<String> = counts.into_iter().map(|(why, count)| format!("{count} {why}")).collect();
    format!("no idle {word} printer: {}", words.join(", "))
}
