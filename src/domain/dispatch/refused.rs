//! When a job that printers refused is given up.
//!
//! A refusal may be the job's fault (a broken file) or the printer's (a full disk). Each printer counts once for each
//! job. Three printers that refuse a job, or all that fit it where only two do, speak against the job. Where only one
//! printer fits, it speaks against the job only if that printer has started another job since.

use super::ReadyJob;
use super::need::BoardPrinter;
use crate::domain::id::Id;
use crate::domain::job::{AttemptState, Job};
use crate::domain::time::Timestamp;

/// A job that is to be FAILED, because the printers that could make it refused it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefusedJob {
    /// The order of the job.
    pub order: Id,
    /// The job that nobody takes.
    pub job: Id,
    /// The printers that refused it.
    pub printers: Vec<Id>,
}

/// The printers that refused the job, each once, with the time of its last refusal.
pub(super) fn refusals_of(job: &Job) -> Vec<(Id, Timestamp)> {
    let last = |printer: &Id| {
        let ends = job.attempts.iter().filter(|attempt| {
            attempt.printer_id == *printer && matches!(attempt.state, AttemptState::Refused | AttemptState::NotStarted)
        });
        ends.filter_map(|attempt| attempt.ended_at).max().unwrap_or(job.updated_at)
    };
    job.tried_on.iter().map(|printer| (*printer, last(printer))).collect()
}

/// Whether the job is to be given up. `printers` are all that are not deleted; `most` is the number of printers whose
/// refusals are enough in any case.
pub(super) fn given_up<'a>(
    job_id: Id,
    job: &ReadyJob,
    printers: impl Iterator<Item = (&'a Id, &'a BoardPrinter)>,
    most: usize,
) -> bool {
    if job.refused_by.len() >= most {
        return true;
    }
    let fitting: Vec<_> = printers.filter(|(_, printer)| printer.fits(&job.class)).take(most).collect();
    let refused_at = |printer: &Id| job.refused_by.iter().find(|(by, _)| by == printer).map(|(_, at)| *at);
    match fitting[..] {
        [] => false,
        [(id, printer)] if job.refused_by.len() == 1 => refused_at(id)
            .is_some_and(|at| printer.last_start.is_some_and(|start| start.job != job_id && start.at > at)),
        _ => fitting.iter().all(|(id, _)| refused_at(id).is_some()),
    }
}
