//! Why an unfinished job waits, in words for people: `waitingReason` in the API.

use std::collections::BTreeMap;

use crate::domain::job::{AttemptState, Block, Job, JobState};
use crate::domain::printer::Printer;
use crate::domain::printer_status::Connection;

/// Why a job waits; `None` when it prints or is over. `printers` are all printers of the app.
pub fn waiting_reason<'a>(job: &Job, printers: impl IntoIterator<Item = &'a Printer>) -> Option<String> {
    if job.over() {
        return None;
    }
    let printers: Vec<&Printer> = printers.into_iter().collect();
    let live = job.live();
    if let Some(attempt) = live.filter(|attempt| attempt.unverified) {
        let why = attempt.reason.as_deref().unwrap_or("the printer does not say");
        let what = if attempt.state == AttemptState::Confirmed { "how the print ended" } else { "whether the print started" };
        return Some(format!("nobody can tell {what} ({why}); an operator has to resolve it"));
    }
    let on = live.and_then(|attempt| printers.iter().find(|printer| printer.id == attempt.printer_id));
    let silence = on.and_then(|printer| silence(printer));
    if job.cancel_requested_at.is_some() {
        let waits = "waits for the printer to confirm the cancel";
        return Some(silence.map_or_else(|| waits.to_owned(), |silence| format!("{waits}; {silence}")));
    }
    if silence.is_some() {
        return silence;
    }
    if on.and_then(|printer| printer.in_hand.as_ref()).is_some_and(|hand| hand.job == job.id && hand.gone.is_some()) {
        return Some("the print is over; the printer is asked how it ended".to_owned());
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

/// Since when a printer, or the firmware behind its server, has not been heard; `None` while it is.
fn silence(printer: &Printer) -> Option<String> {
    match (printer.connection, printer.last_seen_at) {
        (Connection::Connected | Connection::Connecting, _) => None,
        (_, Some(since)) => Some(format!("the printer has not been heard since {since}")),
        (_, None) => Some("the printer has not been heard yet".to_owned()),
    }
}

/// What keeps the printers of the job's type from it, as "no idle `fdm_large` printer: 2 printing, 1 offline, 1 bed not
/// cleared".
fn no_printer(job: &Job, printers: Vec<&Printer>) -> String {
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
