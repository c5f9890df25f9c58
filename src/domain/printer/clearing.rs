//! Clearing times of the most recent prints, from which the forecaster learns how long beds stay occupied. Every change
//! of the bed's state is recorded here, regardless of which rule caused it.

use serde::{Deserialize, Serialize};

use super::Printer;
use crate::aggregate::Decision;
use crate::time::Timestamp;

/// Number of clearings stored per printer.
const MAX_CLEARINGS: usize = 8;

/// Period from when a bed became occupied until it was cleared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Clearing {
    /// Time at which the bed became occupied, or at which a print ended that was started at the printer meanwhile.
    pub from: Timestamp,
    /// Time at which an operator reported that the bed is clear.
    pub to: Timestamp,
}

/// Returns the decision with the bed times updated, if it changes whether the bed is clear.
pub(super) fn noted<A>(
    before: Option<&Printer>,
    mut decision: Decision<Printer, A>,
    now: Timestamp,
) -> Decision<Printer, A> {
    if let Some(next) = &mut decision.next {
        match (before.is_some_and(|before| before.bed_not_cleared), next.bed_not_cleared) {
            (false, true) => next.bed_since = Some(now),
            (true, false) => {
                if let Some(from) = next.bed_since.take().filter(|from| *from <= now) {
                    next.clearings.push(Clearing { from, to: now });
                    let many = next.clearings.len().saturating_sub(MAX_CLEARINGS);
                    next.clearings.drain(..many);
                }
            }
            _ => {}
        }
    }
    decision
}
