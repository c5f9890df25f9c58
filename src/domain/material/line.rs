//! Who waits for a material and in which order; who is held and has not been told.
//!
//! Both are indexes over the claims, kept in step by [`Material::set_claim`] and [`Material::remove_claim`] alone, so that a
//! change of stock costs nothing while nobody waits.

use crate::domain::aggregate::DecisionContext;
use crate::domain::id::Id;
use crate::domain::material::{Claim, ClaimId, ClaimState, Material, MaterialEffect};
use crate::domain::time::Timestamp;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A place in the line: priority (higher first), wanted by (none last), age of the job, then the claim itself.
pub(super) type Place = (Reverse<u8>, Timestamp, Timestamp, ClaimId);

impl Claim {
    /// Its place in the line.
    fn place(&self) -> Place {
        (Reverse(self.priority), self.due_at.unwrap_or(Timestamp(i64::MAX)), self.since, self.id)
    }
    /// In the line.
    pub fn waits(&self) -> bool {
        self.state != ClaimState::Held
    }
}

impl Material {
    /// The material with its claims from their rows.
    pub fn hydrate(mut self, claims: impl IntoIterator<Item = Claim>) -> Self {
        for claim in claims {
            self.set_claim(claim);
        }
        self
    }

    /// The claims that wait, first in line first.
    pub fn waiting(&self) -> impl Iterator<Item = &Claim> {
        self.line.iter().filter_map(|place| self.claims.get(&place.3))
    }

    /// Whether anybody waits.
    pub fn anybody_waits(&self) -> bool {
        !self.line.is_empty()
    }

    /// How a claim of this need would stand now (decisions §4). A shortage is named before the reorder point: a release
    /// overrides only the latter.
    pub(super) fn stands(&self, cx: &DecisionContext<'_>, claim: &Claim) -> ClaimState {
        if self.available() < claim.need {
            ClaimState::Short
        } else if cx.rules.block_below_reorder_point && !claim.released && self.quantity < self.fields.reorder_point {
            ClaimState::BelowReorderPoint
        } else {
            ClaimState::Held
        }
    }

    /// Why a claim waits, in words for people; `None` for a held one.
    pub fn words(&self, claim: &Claim) -> Option<String> {
        let (name, unit) = (&self.fields.name, self.fields.kind.unit());
        match claim.state {
            ClaimState::Held => None,
            ClaimState::Short => {
                Some(format!("needs {} {unit} of {name}, {} {unit} free", claim.need, self.available()))
            }
            ClaimState::BelowReorderPoint => Some(format!(
                "needs {} {unit} of {name}, which is below its reorder point: {} {unit} on hand, {} {unit} wanted",
                claim.need, self.quantity, self.fields.reorder_point
            )),
        }
    }

    /// Why a reservation is asked back, in words for people.
    pub fn recall_words(&self) -> String {
        let (name, unit) = (&self.fields.name, self.fields.kind.unit());
        format!("its {name} was taken back: {} {unit} on hand, {} {unit} reserved", self.quantity, self.reserved)
    }

    /// Inserts or replaces a claim.
    pub(super) fn set_claim(&mut self, claim: Claim) {
        self.remove_claim(claim.id);
        if claim.waits() {
            self.line.insert_mut(claim.place());
        } else {
            let place = (claim.order_id, claim.id);
            if claim.recalled {
                self.recalled.insert_mut(place);
            } else if claim.unheard {
                self.unheard.insert_mut(place);
            }
        }
        self.claims.insert_mut(claim.id, claim);
    }

    /// Takes a claim out.
    pub(super) fn remove_claim(&mut self, id: ClaimId) {
        if let Some(old) = self.claims.get(&id) {
            self.line.remove_mut(&old.place());
            self.unheard.remove_mut(&(old.order_id, id));
            self.recalled.remove_mut(&(old.order_id, id));
            self.claims.remove_mut(&id);
        }
    }

    /// Whether a reservation is asked back.
    pub(super) fn anybody_recalled(&self) -> bool {
        !self.recalled.is_empty()
    }

    /// What orders are to be told, one message each.
    pub(super) fn untold(&self) -> Vec<MaterialEffect> {
        let by_order = |places: &rpds::RedBlackTreeSetSync<(Id, ClaimId)>| {
            let mut orders = BTreeMap::<Id, Vec<ClaimId>>::new();
            for (order, claim) in places {
                orders.entry(*order).or_default().push(*claim);
            }
            orders
        };
        let held =
            by_order(&self.unheard).into_iter().map(|(order, claims)| MaterialEffect::TellHeld { order, claims });
        let back =
            by_order(&self.recalled).into_iter().map(|(order, claims)| MaterialEffect::AskBack { order, claims });
        held.chain(back).collect()
    }
}
