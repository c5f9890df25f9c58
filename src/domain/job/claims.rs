//! The claims of a job: one for each distinct material that it needs.
//!
//! They are asked for one after the other, in the order of the materials' ids, and what is held stays held while the
//! next waits. Of two jobs that need the same materials neither can then hold what the other waits for: whoever waits
//! for a material holds only materials with smaller ids. A job that loses one gives up those with greater ids too, and
//! asks again in this order.

use serde::{Deserialize, Serialize};

use super::{Job, Stock};
use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::launch::MaterialNeed;

/// What a job needs of a material besides the one that its SKU requires first, and its claim on it. The members are as
/// those of the same names in [`Job`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FurtherNeed {
    /// The material; no other need of the job names it.
    pub material_id: Id,
    /// How much of it the plate takes, in the material's unit.
    pub need: Amount,
    /// The state of the current claim.
    pub stock: Stock,
    /// Number of the current claim. No other claim of the job, on whatever material, ever has it.
    pub claim: u32,
    /// Earlier claims that the material has not settled yet.
    #[serde(default)]
    pub settling: Vec<(u32, Amount)>,
    /// The material asked the reservation back while an attempt was live.
    #[serde(default)]
    pub recalled: bool,
    /// Consumed so far over all claims, in the material's unit.
    #[serde(default)]
    pub consumed: Amount,
}

impl FurtherNeed {
    /// A need that is not asked for yet.
    pub fn new(needed: MaterialNeed) -> Self {
        Self {
            material_id: needed.material_id,
            need: needed.need,
            stock: Stock::None,
            claim: 0,
            settling: Vec::new(),
            recalled: false,
            consumed: Amount::ZERO,
        }
    }
}

/// One need of a job with its claim, as it stands.
#[derive(Clone, Copy, Debug)]
pub struct JobClaim<'a> {
    /// Which material is claimed.
    pub material_id: Id,
    /// How much of it the plate takes, in the material's unit.
    pub need: Amount,
    /// The state of the current claim.
    pub stock: Stock,
    /// Number of the current claim.
    pub number: u32,
    /// Earlier claims that the material has not settled yet.
    pub settling: &'a [(u32, Amount)],
    /// The material asked the reservation back while an attempt was live.
    pub recalled: bool,
    /// Consumed so far over all claims, in the material's unit.
    pub consumed: Amount,
}

/// One need of a job with its claim, for changing it.
pub struct JobClaimMut<'a> {
    /// Which material is claimed.
    pub material_id: Id,
    /// How much of it the plate takes, in the material's unit.
    pub need: Amount,
    /// The state of the current claim.
    pub stock: &'a mut Stock,
    /// Number of the current claim.
    pub number: &'a mut u32,
    /// Earlier claims that the material has not settled yet.
    pub settling: &'a mut Vec<(u32, Amount)>,
    /// The material asked the reservation back while an attempt was live.
    pub recalled: &'a mut bool,
    /// Consumed so far over all claims, in the material's unit.
    pub consumed: &'a mut Amount,
}

impl Job {
    /// All needs with their claims, in the order in which they are asked for.
    pub fn claims(&self) -> Vec<JobClaim<'_>> {
        let first = JobClaim {
            material_id: self.material_id,
            need: self.need,
            stock: self.stock,
            number: self.claim,
            settling: &self.settling,
            recalled: self.recalled,
            consumed: self.consumed,
        };
        let further = self.further.iter().map(|one| JobClaim {
            material_id: one.material_id,
            need: one.need,
            stock: one.stock,
            number: one.claim,
            settling: &one.settling,
            recalled: one.recalled,
            consumed: one.consumed,
        });
        let mut all: Vec<JobClaim<'_>> = std::iter::once(first).chain(further).collect();
        all.sort_by_key(|claim| claim.material_id);
        all
    }

    /// All needs with their claims, in the order in which they are asked for, for changing them.
    pub fn claims_mut(&mut self) -> Vec<JobClaimMut<'_>> {
        let first = JobClaimMut {
            material_id: self.material_id,
            need: self.need,
            stock: &mut self.stock,
            number: &mut self.claim,
            settling: &mut self.settling,
            recalled: &mut self.recalled,
            consumed: &mut self.consumed,
        };
        let further = self.further.iter_mut().map(|one| JobClaimMut {
            material_id: one.material_id,
            need: one.need,
            stock: &mut one.stock,
            number: &mut one.claim,
            settling: &mut one.settling,
            recalled: &mut one.recalled,
            consumed: &mut one.consumed,
        });
        let mut all: Vec<JobClaimMut<'_>> = std::iter::once(first).chain(further).collect();
        all.sort_by_key(|claim| claim.material_id);
        all
    }

    /// What it needs of each material, in the order of their ids.
    pub fn material_needs(&self) -> Vec<MaterialNeed> {
        self.claims().iter().map(|one| MaterialNeed { material_id: one.material_id, need: one.need }).collect()
    }

    /// Whether all that it needs is reserved for it.
    pub fn holds_all(&self) -> bool {
        self.stock == Stock::Held && self.further.iter().all(|one| one.stock == Stock::Held)
    }

    /// The claim that it waits for: the first that is not held. Those after it are not asked for yet.
    pub fn waiting_claim(&self) -> Option<JobClaim<'_>> {
        self.claims().into_iter().find(|claim| claim.stock != Stock::Held)
    }

    /// A number that no claim of the job had yet: a claim's number is only ever replaced by such a one.
    fn fresh_number(&self) -> u32 {
        self.further.iter().map(|one| one.claim).fold(self.claim, u32::max) + 1
    }

    /// Asks for the next claim, unless one is asked for or waits in line already.
    pub fn ask_next(&mut self) {
        let fresh = self.fresh_number();
        let next = self.claims_mut().into_iter().find(|claim| *claim.stock != Stock::Held);
        if let Some(claim) = next.filter(|claim| *claim.stock == Stock::None) {
            // A number of 0 was never used.
            if *claim.number == 0 {
                *claim.number = fresh;
            }
            *claim.stock = Stock::Asked;
        }
    }

    /// Begins anew: whatever was held or settled is on its way back, and the needs are asked for again. A claim that
    /// was asked for and not answered is asked for still: only its answer tells what the material holds for it.
    pub fn claim_anew(&mut self) {
        let mut fresh = self.fresh_number();
        for claim in self.claims_mut() {
            match *claim.stock {
                Stock::Settling { consumed } => claim.settling.push((*claim.number, consumed)),
                Stock::InLine | Stock::Held => claim.settling.push((*claim.number, Amount::ZERO)),
                Stock::Asked => continue,
                Stock::None => {}
            }
            (*claim.stock, *claim.recalled) = (Stock::None, false);
            if *claim.number != 0 {
                *claim.number = fresh;
                fresh += 1;
            }
        }
        self.ask_next();
    }

    /// Gives up the claim with this number and, because of the order in which claims are asked for, those on materials
    /// after it. They are settled with nothing consumed, and the first is asked for again. One that is not answered yet
    /// is given up when its answer comes ([`Job::is_in_order`]).
    pub fn give_up_claim(&mut self, number: u32) {
        let mut from = false;
        self.give_up(|claim| {
            from |= *claim.number == number;
            from
        });
        self.ask_next();
    }

    /// Asks once more how the claim on this material stands, which was held, and gives up those on materials after it.
    pub fn ask_again(&mut self, material: Id) {
        for claim in self.claims_mut() {
            if claim.material_id == material {
                *claim.stock = Stock::Asked;
            }
        }
        self.give_up(|claim| claim.material_id > material);
    }

    /// Takes over what the G-code says that it needs. A reservation of another amount is asked for once more under its
    /// number, and the material corrects it in one step, so that nobody else takes it in between.
    pub fn correct_needs(&mut self, needs: &[MaterialNeed]) {
        let corrected = |material: Id, need: Amount| {
            let said = needs.iter().find(|one| one.material_id == material)?;
            (said.need != need).then_some(said.need)
        };
        if let Some(need) = corrected(self.material_id, self.need) {
            (self.need, self.stock) = (need, Stock::Asked);
        }
        for one in &mut self.further {
            if let Some(need) = corrected(one.material_id, one.need) {
                (one.need, one.stock) = (need, Stock::Asked);
            }
        }
    }

    /// Gives up all its claims, to be asked for anew later.
    pub fn give_up_all(&mut self) {
        self.give_up(|_| true);
    }

    /// Settles claims that are held or wait in line with nothing consumed; they get new numbers and are not asked for.
    fn give_up(&mut self, mut which: impl FnMut(&JobClaimMut<'_>) -> bool) {
        let mut fresh = self.fresh_number();
        for claim in self.claims_mut() {
            if which(&claim) && matches!(*claim.stock, Stock::Held | Stock::InLine) {
                claim.settling.push((*claim.number, Amount::ZERO));
                *claim.number = fresh;
                fresh += 1;
                (*claim.stock, *claim.recalled) = (Stock::None, false);
            }
        }
    }

    /// Whether all claims before the one on this material are held, so that it may be held or wait itself.
    pub fn is_in_order(&self, material: Id) -> bool {
        self.claims().iter().take_while(|claim| claim.material_id < material).all(|claim| claim.stock == Stock::Held)
    }

    /// Ends the job's current claims, of which a print used this share (1 is all of the need). A claim that was not
    /// answered yet stays asked for; its answer then settles it.
    pub fn settle(&mut self, share: f64) {
        let booked_on = self.live().map(|attempt| attempt.booked_on.clone()).unwrap_or_default();
        let mut booked = Vec::new();
        for claim in self.claims_mut() {
            let consumed = claim.need.scaled(share);
            match *claim.stock {
                // Not asked for, not answered, or settled already: an answer that still comes is settled then.
                Stock::None | Stock::Asked | Stock::Settling { .. } => {}
                Stock::InLine | Stock::Held => {
                    *claim.consumed += consumed;
                    *claim.stock = Stock::Settling { consumed };
                    if consumed > Amount::ZERO && !booked_on.is_empty() {
                        booked.push((*claim.number, booked_on.clone()));
                    }
                }
            }
        }
        self.booked_on.extend(booked);
    }
}
