//! Sign-offs by the staff for the parts of each print.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::chance::branch;

/// Reason given for rejected parts.
const REASON: &str = "adhesion";

/// Acknowledged sign-offs for the parts of one print.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// Number of good parts in the latest sign-off.
    pub good: u64,
    /// Lowest number of good parts in any sign-off.
    pub least: u64,
    /// Highest number of good parts in any sign-off.
    pub most: u64,
    /// Number of verdicts.
    pub count: u32,
}

/// Verdicts by attempt.
#[derive(Default)]
pub struct Inspections {
    verdicts: BTreeMap<String, Verdict>,
    /// Time at which the parts of each attempt were first inspected, in milliseconds since the start of the simulation.
    looks: BTreeMap<String, i64>,
}

impl Inspections {
    /// Returns the sign-offs for an attempt's print; `None` if there are none.
    pub fn of(&self, attempt: &str) -> Option<Verdict> {
        self.verdicts.get(attempt).copied()
    }

    /// Records that someone is about to report on the parts of an attempt.
    pub fn look(&mut self, attempt: &str, now: i64) {
        self.looks.entry(attempt.to_owned()).or_insert(now);
    }

    /// Returns the time of the first inspection of an attempt's parts, before which no report is possible; `None` if
    /// there was none.
    pub fn first_look(&self, attempt: &str) -> Option<i64> {
        self.looks.get(attempt).copied()
    }

    /// Records an acknowledged sign-off.
    pub fn add(&mut self, attempt: &str, good: u64) {
        let first = Verdict { good, least: good, most: good, count: 0 };
        let verdict = self.verdicts.entry(attempt.to_owned()).or_insert(first);
        let Verdict { least, most, count, .. } = *verdict;
        *verdict = Verdict { good, least: good.min(least), most: good.max(most), count: count + 1 };
    }
}

/// Returns the number of good parts on a plate for the sign-off with this number; it depends only on the arguments.
pub fn draw_good(seed: u64, attempt_number: &str, verdict: u32, plate: u64) -> u64 {
    let mut chance = branch(seed, &format!("verdict {verdict} on {attempt_number}"));
    if chance.u8(..5) == 0 { chance.u64(..plate) } else { plate }
}

/// Returns the request body of a sign-off.
pub fn verdict_request(good: u64, plate: u64) -> Value {
    if good < plate { json!({"goodCount": good, "reason": REASON}) } else { json!({"goodCount": good}) }
}
