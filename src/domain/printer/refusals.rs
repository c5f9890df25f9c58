//! Backoff after rejected starts, and the number of rejections after which an operator is required.
//!
//! A printer that rejects starts (because of a full disk, or because its firmware requires homing first) must not use
//! up all jobs in the queue. After a start that was rejected or definitely did not happen, the printer accepts no job
//! for a while, longer each time; a confirmed start ends the backoff. From the second consecutive rejection on, it has
//! the attention condition [`super::Attention::StartRefused`] and is tried once per backoff period, with a different
//! job first (see [`crate::dispatch`]). Once an operator has cleared the condition, the rejections until then count
//! against no job.

use serde::{Deserialize, Serialize};

use super::safety::kept_words;
use super::{Printer, Unready};
use crate::id::Id;
use crate::time::Timestamp;

/// Backoff after the first, second, third and each subsequent consecutive rejection, in milliseconds.
const RESTS_MS: [i64; 4] = [10_000, 30_000, 120_000, 600_000];

/// Number of consecutive rejections after which an operator's attention is requested.
const REFUSALS_UNTIL_ATTENTION: u32 = 2;

/// Reason why an attempt failed before its start.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StartFailure {
    /// The printer rejected the file, or the connection was lost while the file was being sent.
    Refused,
    /// The printer has no storage left for the file.
    DiskFull,
    /// The printer could not be reached or rejected the stored credentials. The job is not the cause.
    Unreachable,
    /// Just before the upload, the printer was no longer able to start a print: someone is using it, or its bed is not
    /// clear. The job is not the cause, and the printer's own state blocks further jobs in the meantime.
    Busy,
    /// The server itself has no file to upload. The printer is not the cause.
    NoFile,
}

impl StartFailure {
    /// Returns whether the failure is attributed to the job on this printer, once per printer.
    pub(super) fn counts(self) -> bool {
        !matches!(self, Self::Unreachable | Self::Busy)
    }
}

/// Starts rejected by a printer since its last confirmed start.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefusedStarts {
    /// Number of consecutive rejections, at least 1.
    pub count: u32,
    /// Most recently rejected job.
    pub job: Id,
    /// Time of the most recent rejection.
    pub at: Timestamp,
    /// `true` if the printer has no storage left for files.
    pub disk_full: bool,
    /// The printer's own message about the reason.
    pub words: String,
}

impl RefusedStarts {
    /// Returns the remaining backoff in milliseconds, or `None` if the backoff is over. If the clock was set back, the
    /// backoff ends instead of being prolonged.
    pub fn rests_for(&self, now: Timestamp) -> Option<i64> {
        let last = RESTS_MS.len() - 1;
        let rest = RESTS_MS[(self.count.saturating_sub(1) as usize).min(last)];
        let passed = now.since(self.at);
        (0..rest).contains(&passed).then_some(rest - passed)
    }

    /// Returns whether an operator should inspect the printer.
    pub fn needs_attention(&self) -> bool {
        self.count >= REFUSALS_UNTIL_ATTENTION
    }
}

/// Most recent start confirmed by a printer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfirmedStart {
    /// Started job.
    pub job: Id,
    /// Time of the confirmation.
    pub at: Timestamp,
}

impl Printer {
    /// Records a failed start of the given job and begins the backoff.
    pub(super) fn start_failed(&mut self, job: Id, why: StartFailure, words: &str, now: Timestamp) {
        if matches!(why, StartFailure::NoFile | StartFailure::Busy) {
            return;
        }
        let count = self.refusals.as_ref().map_or(0, |refusals| refusals.count).saturating_add(1);
        let (disk_full, words) = (why == StartFailure::DiskFull, kept_words(words));
        self.refusals = Some(RefusedStarts { count, job, at: now, disk_full, words });
    }

    /// Records a confirmed start of the given job, which ends the backoff.
    pub(super) fn start_confirmed(&mut self, job: Id, now: Timestamp) {
        self.refusals = None;
        self.last_start = Some(ConfirmedStart { job, at: now });
    }

    /// Ends the backoff because a person changed something at the printer: what it rejected until then was its own
    /// fault and no longer counts against the jobs.
    pub(super) fn forgive_refusals(&mut self, now: Timestamp) {
        (self.refusals, self.forgiven_at) = (None, Some(now));
        self.pardons = self.pardons.saturating_add(1);
    }

    /// Checks that the printer accepts a job now, including the backoff after rejected starts, which [`Printer::free`]
    /// ignores.
    pub fn takes_jobs(&self, now: Timestamp) -> Result<(), Unready> {
        self.check_free()?;
        match &self.refusals {
            Some(refusals) if refusals.rests_for(now).is_some() => {
                Err(if refusals.disk_full { Unready::DiskFull } else { Unready::RefusesStarts })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
