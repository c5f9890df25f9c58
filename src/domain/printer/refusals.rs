//! Starts that a printer refused: how long it rests after one, and when a person must look.
//!
//! A printer that refuses starts (a full disk, a firmware that wants homing first) must not use up the jobs of the
//! whole queue. After a refused start, or one that certainly did not happen, it takes no job for a while, longer each
//! time; a start that it confirms ends that. From the second refusal in a row on it has the attention
//! [`super::Attention::StartRefused`] and is tried once per rest, with another job first (see
//! [`crate::domain::dispatch`]).

use serde::{Deserialize, Serialize};

use super::Printer;
use super::safety::kept_words;
use crate::domain::id::Id;
use crate::domain::time::Timestamp;

/// Rests after the first, second, third and each further refusal in a row, in milliseconds.
const RESTS_MS: [i64; 4] = [10_000, 30_000, 120_000, 600_000];

/// Number of refusals in a row from which on a person is asked to look.
const REFUSALS_UNTIL_ATTENTION: u32 = 2;

/// Why an attempt came to nothing before its start.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StartFailure {
    /// The printer said no, or the connection broke while it took the file.
    Refused,
    /// The printer has no room for the file.
    DiskFull,
    /// The printer could not be reached or does not let us in. That says nothing about the job.
    Unreachable,
    /// Right before the upload the printer could not start a print any more: a person uses it, or its bed is not clear.
    /// That says nothing about the job, and the printer's own state holds it back as long as that lasts.
    Busy,
    /// The server itself has no file to upload. That says nothing about the printer.
    NoFile,
}

impl StartFailure {
    /// Whether the failure is one of the job on this printer, which counts once for each printer.
    pub(super) fn counts(self) -> bool {
        !matches!(self, Self::Unreachable | Self::Busy)
    }
}

/// The starts that a printer refused since it last confirmed one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusals {
    /// How many in a row, at least 1.
    pub count: u32,
    /// The job that was refused last.
    pub job: Id,
    /// When it was refused.
    pub at: Timestamp,
    /// Whether the printer has no room for files.
    pub disk_full: bool,
    /// Why, in the printer's own words.
    pub words: String,
}

impl Refusals {
    /// Milliseconds for which the printer still rests; `None` when the rest is over. A clock that was set back ends the
    /// rest instead of prolonging it.
    pub fn rests_for(&self, now: Timestamp) -> Option<i64> {
        let last = RESTS_MS.len() - 1;
        let rest = RESTS_MS[(self.count.saturating_sub(1) as usize).min(last)];
        let passed = now.since(self.at);
        (0..rest).contains(&passed).then_some(rest - passed)
    }

    /// Whether a person is asked to look at the printer.
    pub fn needs_attention(&self) -> bool {
        self.count >= REFUSALS_UNTIL_ATTENTION
    }
}

/// The start that a printer confirmed last.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfirmedStart {
    /// The job that was started.
    pub job: Id,
    /// When that was known.
    pub at: Timestamp,
}

impl Printer {
    /// The printer did not start this job, so it rests.
    pub(super) fn start_failed(&mut self, job: Id, why: StartFailure, words: &str, now: Timestamp) {
        if matches!(why, StartFailure::NoFile | StartFailure::Busy) {
            return;
        }
        let count = self.refusals.as_ref().map_or(0, |refusals| refusals.count).saturating_add(1);
        let (disk_full, words) = (why == StartFailure::DiskFull, kept_words(words));
        self.refusals = Some(Refusals { count, job, at: now, disk_full, words });
    }

    /// The printer has started this job.
    pub(super) fn start_confirmed(&mut self, job: Id, now: Timestamp) {
        self.refusals = None;
        self.last_start = Some(ConfirmedStart { job, at: now });
    }

    /// Whether the printer takes a job now; otherwise why not, in a few words that follow "the printer is". Besides
    /// [`Printer::free`] it looks at the clock: after a refused start a printer rests.
    pub fn takes_jobs(&self, now: Timestamp) -> Result<(), String> {
        self.free()?;
        match &self.refusals {
            Some(refusals) if refusals.rests_for(now).is_some() => {
                let why = if refusals.disk_full { "without room for files" } else { "refusing starts" };
                Err(why.to_owned())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
