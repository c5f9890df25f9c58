//! Long outages of external systems. They are generated in advance, independently of the server.

use crate::chance::branch;
use crate::faults::{FaultKind, FaultPlan};
use crate::size::Size;

/// Maximum number of periods in a story.
const MOST_SPELLS: u32 = 2;
/// Minimum duration of a period, in milliseconds.
const MIN_SPELL_MS: i64 = 5 * 60_000;
/// Maximum duration of a period, in milliseconds.
const MAX_SPELL_MS: i64 = 30 * 60_000;

/// Periods of downtime, each with its start and end in milliseconds since the start of the simulation.
#[derive(Default)]
pub struct Downtime(Vec<(i64, i64)>);

impl Downtime {
    /// Generates the periods for a fault.
    pub fn draw(seed: u64, size: Size, kind: FaultKind, plan: &FaultPlan) -> Self {
        let mut chance = branch(seed, &format!("{kind} spells"));
        let spells = (0..plan.times(kind, MOST_SPELLS)).map(|_| {
            let begin = chance.i64(0..size.healed_at_ms());
            (begin, begin + chance.i64(MIN_SPELL_MS..MAX_SPELL_MS))
        });
        Self(spells.collect())
    }

    /// Returns whether the system is down at this time.
    pub fn is_on(&self, now_ms: i64) -> bool {
        self.0.iter().any(|(begin, end)| (*begin..*end).contains(&now_ms))
    }
}
