//! Store faults, chosen at random for each commit.

use std::array;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fastrand::Rng;

use crate::chance::branch;
use crate::faults::{FaultKind, FaultPlan};
use store::memory::LostTransaction;
use store::{Settlement, Unavailable};

/// Share of the commits affected by a fault of the highest frequency.
const SHARE: f64 = 0.06;

/// Fault that affects a commit.
pub enum CommitFault {
    /// The commit is not made, and settled with this result.
    Settled(Settlement),
    /// The transaction is reported as lost.
    Lost(LostTransaction),
}

/// Random selection of the commits that are affected by faults.
pub struct StoreFaults(Mutex<StoreFaultState>);

struct StoreFaultState {
    chance: Rng,
    refused: f64,
    lost: f64,
    superseded: f64,
}

impl StoreFaults {
    /// Creates the selection for a seed, which affects no commit yet.
    pub fn new(seed: u64) -> Self {
        let chance = branch(seed, "store");
        Self(Mutex::new(StoreFaultState { chance, refused: 0.0, lost: 0.0, superseded: 0.0 }))
    }

    /// Sets the rates of faults according to a plan.
    pub fn set_rates(&self, plan: &FaultPlan) {
        let share = |kind| plan.rate(kind) * SHARE;
        let mut state = self.state();
        state.refused = share(FaultKind::CommitRefused);
        state.lost = share(FaultKind::CommitLost);
        state.superseded = share(FaultKind::Superseded);
    }

    /// Returns the fault that affects the next commit; `None` if there is none.
    pub fn draw(&self) -> Option<CommitFault> {
        let mut state = self.state();
        // Always as many draws, so that the story without one of the faults has the others at the same commits.
        let [refused, lost, superseded]: [f64; 3] = array::from_fn(|_| state.chance.f64());
        let is_written = state.chance.bool();
        if refused < state.refused {
            return Some(CommitFault::Settled(Settlement::NotDurable(Unavailable::Database)));
        }
        if lost < state.lost {
            let outcome = if is_written { LostTransaction::Written } else { LostTransaction::NotWritten };
            return Some(CommitFault::Lost(outcome));
        }
        (superseded < state.superseded).then_some(CommitFault::Settled(Settlement::Superseded))
    }

    fn state(&self) -> MutexGuard<'_, StoreFaultState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
