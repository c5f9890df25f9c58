//! Recall of reservations when less is on hand than is reserved, as after a stock-take.
//!
//! The latest reservations are recalled first. An order gives one up by settling it with nothing consumed and claiming
//! anew, which puts its job back into the line. An order retains a reservation while an attempt at its job is live;
//! then the next one is recalled.

use std::cmp::Reverse;

use crate::amount::Amount;
use crate::material::change::MaterialChange;
use crate::material::{Claim, ClaimId};

impl MaterialChange<'_> {
    /// Recalls as many reservations as it takes to cover the others, and withdraws recalls that are no longer needed.
    /// Called after everything that moves stock.
    pub(super) fn recall(&mut self) {
        let mut over = self.next.reserved - self.next.quantity;
        if over <= Amount::ZERO && !self.next.anybody_recalled() {
            return;
        }
        let mut held: Vec<Claim> = self.next.claims.values().filter(|claim| !claim.waits()).cloned().collect();
        held.sort_by_key(|claim| Reverse((claim.reserved_at, claim.since, claim.id)));
        for claim in held {
            let recalled = over > Amount::ZERO && !claim.is_retained && claim.need > Amount::ZERO;
            if recalled {
                over -= claim.need;
            }
            if recalled != claim.recalled {
                self.put(Claim { recalled, ..claim });
            }
        }
    }

    /// Clears the retained marks after a stock-take, so that orders may be requested again.
    pub(super) fn ask_again(&mut self) {
        let kept_claims: Vec<Claim> = self.next.claims.values().filter(|claim| claim.is_retained).cloned().collect();
        for claim in kept_claims {
            self.put(Claim { is_retained: false, ..claim });
        }
    }

    /// Records that an order retains these reservations, because attempts at their jobs are live.
    pub(super) fn keeps(&mut self, claims: &[ClaimId]) {
        for id in claims {
            if let Some(claim) = self.next.claims.get(id).filter(|claim| claim.recalled).cloned() {
                self.put(Claim { is_retained: true, recalled: false, ..claim });
            }
        }
    }
}
