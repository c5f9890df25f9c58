//! Reservations that are asked back: what is on hand no longer covers what is reserved (decisions §5).
//!
//! The latest reservations are asked for first. An order gives one up by settling it, with nothing consumed, and taking a new
//! place in the line; one whose print is on keeps it, and the next one is asked.

use crate::domain::amount::Amount;
use crate::domain::material::change::Change;
use crate::domain::material::{Claim, ClaimId};
use std::cmp::Reverse;

impl Change<'_> {
    /// Asks back as many reservations as it takes to cover the rest, and no more. Called after everything that moves stock.
    pub(super) fn recall(&mut self) {
        let mut over = self.next.reserved - self.next.quantity;
        if over <= Amount::ZERO && !self.next.anybody_recalled() {
            return;
        }
        let mut held: Vec<Claim> = self.next.claims.values().filter(|claim| !claim.waits()).cloned().collect();
        held.sort_by_key(|claim| Reverse((claim.reserved_at, claim.since, claim.id)));
        for claim in held {
            let recalled = over > Amount::ZERO && !claim.kept && claim.need > Amount::ZERO;
            if recalled {
                over -= claim.need;
            }
            if recalled != claim.recalled {
                self.put(Claim { recalled, ..claim });
            }
        }
    }

    /// The stock was counted anew: whoever kept a reservation because of a print is asked again, if need be.
    pub(super) fn ask_again(&mut self) {
        let kept: Vec<Claim> = self.next.claims.values().filter(|claim| claim.kept).cloned().collect();
        for claim in kept {
            self.put(Claim { kept: false, ..claim });
        }
    }

    /// An order keeps these: their prints are on.
    pub(super) fn keeps(&mut self, claims: &[ClaimId]) {
        for id in claims {
            if let Some(claim) = self.next.claims.get(id).filter(|claim| claim.recalled).cloned() {
                self.put(Claim { kept: true, recalled: false, ..claim });
            }
        }
    }
}
