//! Print durations compared with those stated in the files, learnt for each file and each printer from finished prints.
//!
//! A print's ratio (observed to stated time) is modelled as the file's pace times the printer's. Each new print adjusts
//! both a little, so that a slow printer does not make its files look slow, or vice versa.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::id::Id;
use crate::job::Attempt;

/// Print time, in seconds, that is assumed for a file that states none.
const UNSTATED_SECONDS: i64 = 3600;
/// Maximum plausible stated print time, in seconds: 100 days.
const MAX_STATED_SECONDS: i64 = 100 * 24 * 3600;
/// Weight, as a number of prints, of the assumption that the times stated in files are correct.
const PRIOR_WEIGHT: f64 = 2.0;
/// Maximum combined weight of older prints, so that a pace can still change.
const MAX_WEIGHT: f64 = 20.0;
/// Bounds to which ratios are clamped; any value outside of them is due to a wrong clock or file.
const RATIO_BOUNDS: std::ops::RangeInclusive<f64> = 0.2..=5.0;
/// Maximum number of remembered prints. Prints are remembered so that none is learnt twice.
const MAX_KNOWN: usize = 100_000;
/// Maximum number of files and of printers whose paces are stored.
const MAX_PACES: usize = 20_000;

/// Print that ended successfully.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ObservedPrint {
    /// Attempt that made the print; each attempt is learnt only once.
    pub attempt: Id,
    /// Printed file.
    pub file: Id,
    /// Printer used.
    pub printer: Id,
    /// Print time stated in the file, in seconds, if any.
    pub stated_seconds: Option<i64>,
    /// Time, in milliseconds, from when the printer was first observed printing to the end of the print.
    pub took_ms: i64,
}

impl ObservedPrint {
    /// Creates the observation of a finished attempt at a job that prints the given file. Returns `None` if its
    /// duration was not observed or the job has no file.
    pub fn of(attempt: &Attempt, file: Option<Id>, stated_seconds: Option<i64>) -> Option<Self> {
        let took_ms = attempt.took_ms()?;
        Some(Self { attempt: attempt.id, file: file?, printer: attempt.printer_id, stated_seconds, took_ms })
    }
}

/// Paces of files and printers: 1 means as long as stated, 2 means twice as long.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Paces {
    files: HashMap<Id, Pace>,
    printers: HashMap<Id, Pace>,
    learned_attempts: HashSet<Id>,
    order: VecDeque<Id>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Pace {
    ratio: f64,
    weight: f64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { ratio: 1.0, weight: PRIOR_WEIGHT }
    }
}

impl Pace {
    fn learn(&mut self, ratio: f64) {
        self.weight = (self.weight + 1.0).min(MAX_WEIGHT);
        self.ratio += (ratio - self.ratio) / self.weight;
    }
}

impl Paces {
    /// Learns from a print. A print that was already learnt has no effect.
    pub fn learn(&mut self, observed: &ObservedPrint) {
        if observed.took_ms <= 0 || !self.learned_attempts.insert(observed.attempt) {
            return;
        }
        self.order.push_back(observed.attempt);
        if self.order.len() > MAX_KNOWN
            && let Some(oldest) = self.order.pop_front()
        {
            self.learned_attempts.remove(&oldest);
        }
        let ratio = (observed.took_ms as f64 / stated_ms(observed.stated_seconds) as f64)
            .clamp(*RATIO_BOUNDS.start(), *RATIO_BOUNDS.end());
        let (file, printer) = (ratio_of(&self.files, observed.file), ratio_of(&self.printers, observed.printer));
        if self.files.len() < MAX_PACES || self.files.contains_key(&observed.file) {
            self.files.entry(observed.file).or_default().learn(ratio / printer);
        }
        if self.printers.len() < MAX_PACES || self.printers.contains_key(&observed.printer) {
            self.printers.entry(observed.printer).or_default().learn(ratio / file);
        }
    }

    /// Returns the expected print time of a file on a printer, in milliseconds.
    pub fn expected_ms(&self, file: Option<Id>, printer: Id, stated_seconds: Option<i64>) -> i64 {
        let file = file.map_or(1.0, |file| ratio_of(&self.files, file));
        let ratio = (file * ratio_of(&self.printers, printer)).clamp(*RATIO_BOUNDS.start(), *RATIO_BOUNDS.end());
        (stated_ms(stated_seconds) as f64 * ratio) as i64
    }
}

fn ratio_of(paces: &HashMap<Id, Pace>, of: Id) -> f64 {
    paces.get(&of).map_or(1.0, |pace| pace.ratio)
}

fn stated_ms(seconds: Option<i64>) -> i64 {
    seconds.filter(|seconds| *seconds > 0).unwrap_or(UNSTATED_SECONDS).min(MAX_STATED_SECONDS) * 1000
}
