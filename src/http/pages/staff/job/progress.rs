//! Progress of a job in lists: its print's progress and remaining time, the expected end, or the actual end.

use maud::{Markup, html};

use crate::frame::{SLOT, time, with_parts};
use crate::staff::shell::time_left;
use domain::job::{Job, JobState};
use domain::notation;
use domain::printer_status::Status;
use domain::time::Timestamp;
use http_api::production::printers::PrinterHandles;
use words::Language;
use words::staff::jobs as texts;

/// Print of a job that is going on.
struct OngoingPrint {
    /// Progress, in percent.
    percent: u32,
    /// Time at which the printer expects the print to end, if it reports one.
    ends_at: Option<Timestamp>,
}

/// Returns the print of a job that is going on, from its printer's last status.
fn ongoing_print(shop: &PrinterHandles, job: &Job) -> Option<OngoingPrint> {
    let is_on = matches!(job.state, JobState::Printing | JobState::Paused);
    let versioned = shop.printers.resident(job.printer_id.filter(|_| is_on)?)?.read();
    let printer = versioned.state.as_ref()?;
    let status = shop.printer_connections.status(printer.id);
    let share = printer.progress_of(job.id, status.as_ref())?;
    let ends_at = status.as_ref().and_then(Status::ends_at);
    Some(OngoingPrint { percent: (share * 100.0).clamp(0.0, 100.0).floor() as u32, ends_at })
}

/// Returns the time at which a job ended; `None` while it is open.
fn ended_at(job: &Job) -> Option<Timestamp> {
    match job.state {
        JobState::Completed | JobState::Failed => {
            Some(job.attempts.last().and_then(|attempt| attempt.ended_at).unwrap_or(job.updated_at))
        }
        JobState::Cancelled => Some(job.updated_at),
        _ => None,
    }
}

/// Renders the progress of a job's print that is going on, and the time left; `None` if none is. `expected` is the time
/// at which the job is expected to be printed, which is the end of a print whose printer does not say when it will end.
pub(super) fn ongoing(
    language: Language,
    shop: &PrinterHandles,
    job: &Job,
    expected: Option<Timestamp>,
) -> Option<Markup> {
    let OngoingPrint { percent, ends_at } = ongoing_print(shop, job)?;
    let percentage = notation::percentage(language, percent);
    Some(html! {
        progress class="in-row" max="100" value=(percent)
            aria-label=(texts::progress_of(language, &job.number_text())) { (percentage) }
        b class="num" { (percentage) }
        @if let Some(end) = ends_at.or(expected) {
            " " span class="soft" { (time_left(language, end)) }
        }
    })
}

/// Renders a job's progress; `expected` is the time at which it is expected to be printed.
pub(super) fn progress(language: Language, shop: &PrinterHandles, job: &Job, expected: Option<Timestamp>) -> Markup {
    let at = |text: &str, at: Timestamp| with_parts(text, &[&time(language, at)]);
    if let Some(end) = ended_at(job) {
        return at(&texts::ended(language, SLOT), end);
    }
    match (ongoing(language, shop, job, expected), expected) {
        (Some(ongoing), _) => ongoing,
        (None, Some(end)) => at(&texts::expected(language, SLOT), end),
        (None, None) => html! {},
    }
}
