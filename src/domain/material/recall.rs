//! Recall of reservations when less is on hand than is reserved, for example after a stocktake.
//!
//! The latest reservations are recalled first. An order returns a reservation by settling it with no consumption and
//! claiming again, which puts its job back into the queue. An order retains a reservation while an attempt at its job
//! is live; in that case, the next reservation is recalled.

use std::cmp::Reverse;

use crate::amount::Amount;
use crate::material::change::MaterialChange;
use crate::material::{Claim, ClaimId};

impl MaterialChange<'_> {
    /// Recalls as many reservations as are needed to cover the remaining ones, and withdraws recalls that are no longer
    /// needed. Called after every stock change.
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
                self.set_claim(Claim { recalled, ..claim });
            }
        }
    }

    /// Clears the retained marks after a stocktake, so that orders may be asked again.
    pub(super) fn ask_again(&mut self) {
        let kept_claims: Vec<Claim> = self.next.claims.values().filter(|claim| claim.is_retained).cloned().collect();
        for claim in kept_claims {
            self.set_claim(Claim { is_retained: false, ..claim });
        }
    }

    /// Records that an order retains the given reservations, because attempts at their jobs are live.
    pub(super) fn keeps(&mut self, claims: &[ClaimId]) {
        for id in claims {
            if let Some(claim) = self.next.claims.get(id).filter(|claim| claim.recalled).cloned() {
                self.set_claim(Claim { is_retained: true, recalled: false, ..claim });
            }
        }
    }
}
