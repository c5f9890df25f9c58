//! When a bed had something on it, and when somebody had cleared it: kept for the last few prints, so that the forecast
//! learns how long beds wait. Whatever rule set or cleared the bed, it is noted here.

use serde::{Deserialize, Serialize};

use super::Printer;
use crate::domain::aggregate::Decision;
use crate::domain::time::Timestamp;

/// How many clearings a printer remembers.
const MAX_CLEARINGS: usize = 8;

/// A bed that was cleared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Clearing {
    /// When something lay on it first.
    pub from: Timestamp,
    /// When somebody said that it is clear.
    pub to: Timestamp,
}

/// The decision, with a note if it changes whether the bed is clear.
pub(super) fn noted(before: Option<&Printer>, mut decision: Decision<Printer>, now: Timestamp) -> Decision<Printer> {
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
