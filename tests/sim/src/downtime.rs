//! Times at which a system outside is down for long. They are drawn beforehand, whatever the server does meanwhile.

use crate::chance::branch;
use crate::faults::{FaultKind, FaultPlan};
use crate::size::Size;

/// Most spells of a story.
const MOST_SPELLS: u32 = 2;
/// Shortest spell.
const MIN_SPELL_MS: i64 = 5 * 60_000;
/// Longest spell.
const MAX_SPELL_MS: i64 = 30 * 60_000;

/// Spells of downtime: beginning and end of each, in milliseconds since the beginning.
#[derive(Default)]
pub struct Downtime(Vec<(i64, i64)>);

impl Downtime {
    /// Draws the spells of a fault.
    pub fn draw(seed: u64, size: Size, kind: FaultKind, plan: &FaultPlan) -> Self {
        let mut chance = branch(seed, &format!("{kind} spells"));
        let spells = (0..plan.times(kind, MOST_SPELLS)).map(|_| {
            let begin = chance.i64(0..size.healed_at_ms());
            (begin, begin + chance.i64(MIN_SPELL_MS..MAX_SPELL_MS))
        });
        Self(spells.collect())
    }

    /// Returns whether the system is down at a time.
    pub fn is_on(&self, now_ms: i64) -> bool {
        self.0.iter().any(|(begin, end)| (*begin..*end).contains(&now_ms))
    }
}
