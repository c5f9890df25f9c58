//! Indexes over a material's claims: the queued claims in rank order, and the pending notifications to orders.
//!
//! Only [`Material::set_claim`] and [`Material::remove_claim`] change the indexes, so that they always match the
//! claims. They keep stock changes cheap while no claim is queued.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::aggregate::DecisionContext;
use crate::amount::Amount;
use crate::id::Id;
use crate::material::{Claim, ClaimId, ClaimState, Material, MaterialEffect, exact_stock_amount};
use crate::parts_sync::StockLink;
use crate::time::Timestamp;
use words::Language;
use words::staff::stock;

/// Rank in the queue, lowest first: priority (higher first), due date (jobs without one last), age of the job, and the
/// claim's ID as a tie-breaker.
pub(super) type WaitingRank = (Reverse<u8>, Timestamp, Timestamp, ClaimId);

impl Claim {
    /// Returns the claim's rank in the queue.
    fn rank(&self) -> WaitingRank {
        (Reverse(self.priority), self.due_at.unwrap_or(Timestamp(i64::MAX)), self.since, self.id)
    }
    /// Returns whether the claim is in the queue, that is, not held.
    pub fn waits(&self) -> bool {
        self.state != ClaimState::Held
    }
}

impl Material {
    /// Restores the claims and links from their rows after loading.
    pub fn hydrate(
        mut self,
        claims: impl IntoIterator<Item = Claim>,
        links: impl IntoIterator<Item = StockLink>,
    ) -> Self {
        for claim in claims {
            self.set_claim(claim);
        }
        for link in links {
            self.links.insert_mut(link.system, link);
        }
        self
    }

    /// Returns the queued claims in rank order.
    pub fn waiting(&self) -> impl Iterator<Item = &Claim> {
        self.line.iter().filter_map(|rank| self.claims.get(&rank.3))
    }

    /// Returns whether any claim is queued.
    pub fn anybody_waits(&self) -> bool {
        !self.line.is_empty()
    }

    /// Returns the state that the claim would have now. A shortage takes precedence over the reorder point, because an
    /// operator's release overrides only the reorder point.
    pub(super) fn claim_state(&self, cx: &DecisionContext<'_>, claim: &Claim) -> ClaimState {
        if self.available() < claim.need {
            ClaimState::Short
        } else if cx.rules.block_below_reorder_point && !claim.released && self.quantity < self.fields.reorder_point {
            ClaimState::BelowReorderPoint
        } else {
            ClaimState::Held
        }
    }

    /// Describes why a claim is queued, given the current stock. Returns `None` for a held claim.
    pub fn words(&self, language: Language, claim: &Claim) -> Option<String> {
        if claim.state == ClaimState::Held {
            return None;
        }
        let fields = &self.fields;
        let amount = |amount| exact_stock_amount(language, amount, fields.kind);
        let (need, free) = (amount(claim.need), amount(self.available()));
        match claim.state {
            ClaimState::Held => None,
            ClaimState::Short if self.available() < claim.need => {
                Some(stock::claim_short(language, &need, &fields.name, &free))
            }
            ClaimState::Short => Some(stock::claim_behind_others(language, &need, &fields.name, &free)),
            ClaimState::BelowReorderPoint => {
                let (on_hand, point) = (amount(self.quantity), amount(fields.reorder_point));
                Some(stock::claim_below_reorder_point(language, &need, &fields.name, &on_hand, &point))
            }
        }
    }

    /// Returns [`Self::words`] for the claim with the given ID. Returns `None` also if the claim is unknown.
    pub fn waiting_words(&self, language: Language, id: ClaimId) -> Option<String> {
        self.claims.get(&id).and_then(|claim| self.words(language, claim))
    }

    /// Returns the order and job of each held claim, latest first, excluding the job `but`.
    pub fn holders(&self, but: Id) -> Vec<(Id, Id)> {
        let mut held: Vec<&Claim> = self
            .claims
            .values()
            .filter(|claim| !claim.waits() && claim.id.job != but && claim.need > Amount::ZERO)
            .collect();
        held.sort_by_key(|claim| Reverse((claim.reserved_at, claim.id)));
        held.into_iter().map(|claim| (claim.order_id, claim.id.job)).collect()
    }

    /// Describes why a reservation is being recalled.
    pub fn recall_words(&self) -> String {
        let (name, unit) = (&self.fields.name, self.fields.kind.unit());
        format!(
            "its reservation of {name} was revoked: {} {unit} on hand, {} {unit} reserved",
            self.quantity, self.reserved
        )
    }

    /// Inserts or replaces a claim, and updates the indexes.
    pub(super) fn set_claim(&mut self, claim: Claim) {
        self.remove_claim(claim.id);
        if claim.waits() {
            self.line.insert_mut(claim.rank());
        } else {
            let entry = (claim.order_id, claim.id);
            if claim.recalled {
                self.recalled.insert_mut(entry);
            } else if claim.unheard {
                self.unheard.insert_mut(entry);
            }
        }
        self.claims.insert_mut(claim.id, claim);
    }

    /// Removes a claim and updates the indexes.
    pub(super) fn remove_claim(&mut self, id: ClaimId) {
        if let Some(old) = self.claims.get(&id) {
            self.line.remove_mut(&old.rank());
            self.unheard.remove_mut(&(old.order_id, id));
            self.recalled.remove_mut(&(old.order_id, id));
            self.claims.remove_mut(&id);
        }
    }

    /// Returns whether any reservation is being recalled.
    pub(super) fn anybody_recalled(&self) -> bool {
        !self.recalled.is_empty()
    }

    /// Returns the messages that orders have not acknowledged yet, one per order and message type.
    pub(super) fn untold(&self) -> Vec<MaterialEffect> {
        let by_order = |entries: &rpds::RedBlackTreeSetSync<(Id, ClaimId)>| {
            let mut orders = BTreeMap::<Id, Vec<ClaimId>>::new();
            for (order, claim) in entries {
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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::material::{ClaimRequest, ClaimStock, MaterialCommand, MaterialFields};
    use crate::testing::samples::pla;
    use crate::testing::{Bench, id};

    /// Returns a material whose jobs claimed the given amounts, in grams, one job a second.
    fn shelf(quantity: i64, reorder_point: i64, needs: &[i64]) -> Material {
        let (mut bench, mut shelf) = (Bench::new(), None::<Material>);
        let fields = Box::new(MaterialFields { reorder_point: Amount::units(reorder_point), ..pla() });
        let create = MaterialCommand::Create { fields, quantity: Amount::units(quantity) };
        bench.tell(&mut shelf, id(7), &create).unwrap();
        for (job, need) in (1..).zip(needs) {
            bench.now = bench.now.plus_ms(1_000);
            let (need, since) = (Amount::units(*need), Timestamp(i64::from(job)));
            let ask = ClaimRequest { id: claim(job), need, released: false, priority: 5, due_at: None, since };
            bench.tell(&mut shelf, id(7), &ClaimStock { order: id(100 + job), asks: vec![ask] }).unwrap();
        }
        shelf.unwrap()
    }

    fn claim(job: u32) -> ClaimId {
        ClaimId { job: id(job), number: 1 }
    }

    #[test]
    fn a_claim_says_what_it_waits_for() {
        let shelf = shelf(100, 0, &[60, 50]);
        let words = |job| shelf.waiting_words(Language::English, claim(job));
        assert_eq!((words(1), words(3)), (None, None), "it is held, and it is unknown");
        assert_eq!(words(2).as_deref(), Some("needs 50 g of PLA, 40 g free"));
        let waits = |need: i64, state| {
            let claim = Claim { need: Amount::units(need), state, ..shelf.claims.get(&claim(2)).unwrap().clone() };
            shelf.words(Language::English, &claim).unwrap_or_default()
        };
        let behind = "needs 40 g of PLA, 40 g free, but other jobs are ahead of it";
        assert_eq!(waits(40, ClaimState::Short), behind);
        let below = "needs 5 g of PLA, which is below its reorder point: 100 g on hand, 0 g needed in total";
        assert_eq!(
            (waits(5, ClaimState::BelowReorderPoint).as_str(), waits(5, ClaimState::Held)),
            (below, String::new())
        );
    }

    #[test]
    fn a_claim_passes_the_reorder_point_at_it_and_not_below() {
        for (quantity, state) in [(100, ClaimState::Held), (99, ClaimState::BelowReorderPoint)] {
            let shelf = shelf(quantity, 100, &[99]);
            assert_eq!(shelf.claims.get(&claim(1)).unwrap().state, state, "{quantity}");
            assert_eq!(shelf.anybody_waits(), state != ClaimState::Held);
        }
        assert_eq!(shelf(100, 0, &[100]).claims.get(&claim(1)).unwrap().state, ClaimState::Held, "all that there is");
        assert_eq!(shelf(100, 0, &[101]).claims.get(&claim(1)).unwrap().state, ClaimState::Short);
    }

    #[test]
    fn those_who_hold_stock_are_listed_from_the_latest() {
        let shelf = shelf(100, 0, &[10, 20, 30, 0, 1_000]);
        assert_eq!(shelf.holders(id(2)), [(id(103), id(3)), (id(101), id(1))]);
        assert_eq!(shelf.holders(id(9)).len(), 3);
        assert_eq!(shelf.recall_words(), "its reservation of PLA was revoked: 100 g on hand, 60 g reserved");
        assert_eq!(claim(2).to_string(), format!("{}/1", id(2)));
    }
}
