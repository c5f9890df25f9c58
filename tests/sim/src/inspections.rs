//! Verdicts of the staff on the parts of each print.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::chance::branch;

/// Reason for which parts are rejected.
const REASON: &str = "adhesion";

/// Acknowledged verdicts on the parts of one print.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// Good parts by the last verdict.
    pub good: u64,
    /// Fewest good parts by any verdict.
    pub least: u64,
    /// Most good parts by any verdict.
    pub most: u64,
    /// Number of verdicts.
    pub count: u32,
}

/// Verdicts by attempt.
#[derive(Default)]
pub struct Inspections {
    verdicts: BTreeMap<String, Verdict>,
    /// Time at which somebody first stood before the parts of each attempt, in milliseconds since the beginning.
    looks: BTreeMap<String, i64>,
}

impl Inspections {
    /// Returns the verdicts on the print of an attempt.
    pub fn of(&self, attempt: &str) -> Option<Verdict> {
        self.verdicts.get(attempt).copied()
    }

    /// Notes that somebody is about to report on the parts of an attempt.
    pub fn look(&mut self, attempt: &str, now: i64) {
        self.looks.entry(attempt.to_owned()).or_insert(now);
    }

    /// Returns the time before which nobody can have reported on the parts of an attempt; `None` if nobody has.
    pub fn first_look(&self, attempt: &str) -> Option<i64> {
        self.looks.get(attempt).copied()
    }

    /// Records an acknowledged verdict.
    pub fn add(&mut self, attempt: &str, good: u64) {
        let first = Verdict { good, least: good, most: good, count: 0 };
        let verdict = self.verdicts.entry(attempt.to_owned()).or_insert(first);
        let Verdict { least, most, count, .. } = *verdict;
        *verdict = Verdict { good, least: good.min(least), most: good.max(most), count: count + 1 };
    }
}

/// Draws the number of good parts of a plate for the verdict with this number. It is the same whenever it is drawn.
pub fn draw_good(seed: u64, attempt_number: &str, verdict: u32, plate: u64) -> u64 {
    let mut chance = branch(seed, &format!("verdict {verdict} on {attempt_number}"));
    if chance.u8(..5) == 0 { chance.u64(..plate) } else { plate }
}

/// Returns the request for a verdict.
pub fn verdict_request(good: u64, plate: u64) -> Value {
    if good < plate { json!({"goodCount": good, "reason": REASON}) } else { json!({"goodCount": good}) }
}
