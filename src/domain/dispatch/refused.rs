//! Rules for failing a job that printers rejected.
//!
//! A rejection may be caused by the job (a broken file) or by the printer (a full disk). Each printer is counted once
//! per job. Rejections by three printers, or by all that fit if only two do, are attributed to the job. If only one
//! printer fits, its rejection is attributed to the job only if that printer has started a different job since.

use super::ReadyJob;
use super::need::IndexedPrinter;
use crate::id::Id;
use crate::job::{AttemptState, Job};
use crate::time::Timestamp;

/// Job that must become FAILED because the printers that could make it rejected it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefusedJob {
    /// Order that the job belongs to.
    pub order: Id,
    /// Job that the printers rejected.
    pub job: Id,
    /// Printers that rejected the job.
    pub printers: Vec<Id>,
}

/// Returns the printers that rejected the job, each with the time of its last rejection.
pub(super) fn refusals_of(job: &Job) -> Vec<(Id, Timestamp)> {
    let last = |printer: &Id| {
        let ends = job.attempts.iter().filter(|attempt| {
            attempt.printer_id == *printer && matches!(attempt.state, AttemptState::Refused | AttemptState::NotStarted)
        });
        ends.filter_map(|attempt| attempt.ended_at).max().unwrap_or(job.updated_at)
    };
    job.tried_on.iter().map(|printer| (*printer, last(printer))).collect()
}

/// Returns whether the job must become FAILED. `printers` holds all printers that are not deleted; `most` is the number
/// of rejecting printers that always suffices.
pub(super) fn given_up<'a>(
    job_id: Id,
    job: &ReadyJob,
    printers: impl Iterator<Item = (&'a Id, &'a IndexedPrinter)>,
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
