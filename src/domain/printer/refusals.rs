//! Backoff after starts that a printer refused, and the number of refusals after which an operator is required.
//!
//! A printer that refuses starts (because of a full disk, or firmware that requires homing first) must not use up the
//! jobs of the whole queue. After a start that was refused or certainly did not happen, the printer accepts no job for
//! a while, longer each time; a confirmed start ends the backoff. From the second consecutive refusal on, it has the
//! attention [`super::Attention::StartRefused`] and is tried once per backoff period, with another job first (see
//! [`crate::dispatch`]).

use serde::{Deserialize, Serialize};

use super::safety::kept_words;
use super::{Printer, Unready};
use crate::id::Id;
use crate::time::Timestamp;

/// Backoff after the first, second, third and each further consecutive refusal, in milliseconds.
const RESTS_MS: [i64; 4] = [10_000, 30_000, 120_000, 600_000];

/// Number of consecutive refusals after which an operator's attention is requested.
const REFUSALS_UNTIL_ATTENTION: u32 = 2;

/// Reason why an attempt failed before its start.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StartFailure {
    /// The printer rejected the file, or the connection broke while it received the file.
    Refused,
    /// The printer has no storage left for the file.
    DiskFull,
    /// The printer could not be reached or rejects the stored credentials. The job is not at fault.
    Unreachable,
    /// Just before the upload the printer was no longer able to start a print: someone is using it, or its bed is not
    /// clear. The job is not at fault, and the printer's own state blocks further jobs for as long as that lasts.
    Busy,
    /// The server itself has no file to upload. The printer is not at fault.
    NoFile,
}

impl StartFailure {
    /// Returns whether the failure counts against the job on this printer, once per printer.
    pub(super) fn counts(self) -> bool {
        !matches!(self, Self::Unreachable | Self::Busy)
    }
}

/// Starts refused by a printer since it last confirmed one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefusedStarts {
    /// Number of consecutive refusals, at least 1.
    pub count: u32,
    /// Job that was last refused.
    pub job: Id,
    /// Time of the last refusal.
    pub at: Timestamp,
    /// `true` if the printer has no storage left for files.
    pub disk_full: bool,
    /// Reason in the printer's own words.
    pub words: String,
}

impl RefusedStarts {
    /// Returns the remaining backoff in milliseconds; `None` if the backoff is over. A clock that was set back ends the
    /// backoff instead of prolonging it.
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

/// Last start confirmed by a printer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfirmedStart {
    /// Job that was started.
    pub job: Id,
    /// Time of the confirmation.
    pub at: Timestamp,
}

impl Printer {
    /// Counts a failed start of the given job and begins the backoff.
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

    /// Checks that the printer accepts a job now, including the backoff after refused starts, which [`Printer::free`]
    /// does not consider.
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
