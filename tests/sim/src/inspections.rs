//! Verdicts of the staff on the parts of each print, and the physical course of prints.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use simulator::printer::PhysicalEvent;

use crate::chance::branch;
use crate::machine::FloorMachine;
use crate::world::World;

/// Reason for which parts are rejected.
const REASON: &str = "adhesion";

/// Acknowledged verdicts on the parts of one print.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// Good parts by the last verdict.
    pub good: u64,
    /// Fewest good parts by any verdict.
    pub least: u64,
    /// Number of verdicts.
    pub count: u32,
}

/// Verdicts by attempt.
#[derive(Default)]
pub struct Inspections(BTreeMap<String, Verdict>);

impl Inspections {
    /// Returns the verdicts on the print of an attempt.
    pub fn of(&self, attempt: &str) -> Option<Verdict> {
        self.0.get(attempt).copied()
    }

    /// Records an acknowledged verdict.
    pub fn add(&mut self, attempt: &str, good: u64) {
        let verdict = self.0.entry(attempt.to_owned()).or_insert(Verdict { good, least: good, count: 0 });
        *verdict = Verdict { good, least: good.min(verdict.least), count: verdict.count + 1 };
    }
}

/// Physical course of an attempt's print.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PhysicalPrint {
    /// It did not begin.
    NotStarted,
    /// It is under way.
    Running,
    /// It ended before its last layer.
    Failed,
    /// It came to its end.
    Finished,
}

impl PhysicalPrint {
    /// Returns the outcome with which a person resolves the attempt; `None` while it is printed.
    pub const fn outcome(self) -> Option<&'static str> {
        match self {
            Self::NotStarted => Some("not_started"),
            Self::Running => None,
            Self::Failed => Some("failed"),
            Self::Finished => Some("finished"),
        }
    }
}

/// Returns what a machine did with an attempt.
fn at_machine(machine: &FloorMachine, attempt: &str) -> PhysicalPrint {
    let mut print = PhysicalPrint::NotStarted;
    for entry in machine.log() {
        if entry.what.filename().is_some_and(|name| name.contains(attempt)) {
            print = match entry.what {
                PhysicalEvent::Started { .. } => PhysicalPrint::Running,
                PhysicalEvent::Finished { .. } => PhysicalPrint::Finished,
                PhysicalEvent::Cancelled { .. } | PhysicalEvent::Failed { .. } | PhysicalEvent::Interrupted { .. } => {
                    PhysicalPrint::Failed
                }
                _ => print,
            };
        }
    }
    print
}

/// Returns what the printers physically did with an attempt.
pub fn physical_print(world: &World, attempt: &str) -> PhysicalPrint {
    let mut prints = world.machines.values().map(|machine| at_machine(machine, attempt));
    prints.find(|print| *print != PhysicalPrint::NotStarted).unwrap_or(PhysicalPrint::NotStarted)
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
