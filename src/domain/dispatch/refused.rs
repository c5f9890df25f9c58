//! Rules for failing a job that printers rejected.
//!
//! A rejection may be caused by the job (a broken file) or by the printer (a full disk). Each printer is counted once
//! per job. Rejections by three printers, or by all that fit if only two do, are attributed to the job. If only one
//! printer fits, its rejection is attributed to the job only if that printer has started a different job since. Once a
//! person has cleared a printer's attention, what it rejected until then was its own fault and counts against no job.
//! Nor does what a printer rejected that was removed since.

use std::collections::BTreeMap;

use super::ReadyJob;
use super::need::IndexedPrinter;
use crate::id::Id;
use crate::job::{Attempt, AttemptState, Job};
use crate::time::Timestamp;

/// Job that must become FAILED because the printers that could make it rejected it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefusedJob {
    /// Order that the job belongs to.
    pub order: Id,
    /// Job that the printers rejected.
    pub job: Id,
    /// Printers whose rejections count against the job.
    pub printers: Vec<Id>,
}

/// Last rejection of a job by a printer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct JobRefusal {
    pub(super) printer: Id,
    /// The printer's number of pardons when it accepted the attempt; `None` in attempts of an older release.
    pardons: Option<u32>,
    /// Time at which the printer was claimed for the attempt. A rejection can be reported after a person has cleared
    /// it, but the attempt began before.
    claimed_at: Timestamp,
    /// Time at which the order heard of the rejection.
    at: Timestamp,
}

impl JobRefusal {
    /// Returns whether a person has cleared the printer's attention since, or removed the printer. What was forgiven at
    /// a removed printer is no longer known: it is not in memory after a restart.
    fn is_forgiven(&self, printers: &BTreeMap<Id, IndexedPrinter>) -> bool {
        printers.get(&self.printer).is_none_or(|printer| match self.pardons {
            // The clock may have been set in the meantime.
            Some(pardons) => pardons < printer.pardons,
            None => printer.forgiven_at.is_some_and(|at| self.claimed_at <= at),
        })
    }
}

/// Returns the last rejection of the job by each printer that rejected it.
pub(super) fn refusals_of(job: &Job) -> Vec<JobRefusal> {
    let last = |printer: &Id| {
        // Attempts of an older release do not say which of them count.
        let attempt = latest(job, *printer, |attempt| attempt.counts_as_refusal).or_else(|| {
            let is_refusal = |state| matches!(state, AttemptState::Refused | AttemptState::NotStarted);
            latest(job, *printer, |attempt| is_refusal(attempt.state))
        });
        let times = attempt.map(|attempt| (attempt.created_at, attempt.ended_at.unwrap_or(job.updated_at)));
        let (claimed_at, at) = times.unwrap_or((job.updated_at, job.updated_at));
        JobRefusal { printer: *printer, pardons: attempt.and_then(|attempt| attempt.pardons), claimed_at, at }
    };
    job.tried_on.iter().map(last).collect()
}

/// Returns the attempt on the printer that ended last, of those that are a refusal.
fn latest(job: &Job, printer: Id, is_refusal: impl Fn(&Attempt) -> bool) -> Option<&Attempt> {
    let refusals = job.attempts.iter().filter(|attempt| attempt.printer_id == printer && is_refusal(attempt));
    refusals.max_by_key(|attempt| attempt.ended_at)
}

/// Returns the printers whose rejections count against the job, if it must become FAILED. `printers` holds all printers
/// that are not deleted; `most` is the number of rejecting printers that always suffices.
pub(super) fn given_up(
    job_id: Id,
    job: &ReadyJob,
    printers: &BTreeMap<Id, IndexedPrinter>,
    most: usize,
) -> Option<Vec<Id>> {
    let refusals: Vec<&JobRefusal> = job.refused_by.iter().filter(|refusal| !refusal.is_forgiven(printers)).collect();
    let refused_at = |printer: &Id| refusals.iter().find(|refusal| refusal.printer == *printer).map(|one| one.at);
    let is_given_up = refusals.len() >= most || {
        let fitting: Vec<_> = printers.iter().filter(|(_, printer)| printer.fits(&job.class)).take(most).collect();
        match fitting[..] {
            [] => false,
            [(id, printer)] if refusals.len() == 1 => refused_at(id)
                .is_some_and(|at| printer.last_start.is_some_and(|start| start.job != job_id && start.at > at)),
            _ => fitting.iter().all(|(id, _)| refused_at(id).is_some()),
        }
    };
    is_given_up.then(|| refusals.iter().map(|refusal| refusal.printer).collect())
}
