//! Claims of a job: one for each distinct material that it needs.
//!
//! Claims are requested one after the other, in the order of the materials' IDs, and a held claim stays held while the
//! next one is pending. This prevents deadlocks between two jobs that need the same materials: a job waiting for a
//! material holds only materials with smaller IDs. A job that loses a claim also releases its claims on materials with
//! larger IDs, and requests them again in the same order.

use serde::{Deserialize, Serialize};

use super::{ClaimStatus, Job};
use crate::amount::Amount;
use crate::id::Id;
use crate::launch::MaterialNeed;

/// Need of a job for a material other than the SKU's primary one, with the claim on it. The fields mirror the fields of
/// the same names in [`Job`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FurtherNeed {
    /// Required material; each material appears in only one of the job's needs.
    pub material_id: Id,
    /// Amount that the plate needs, in the material's unit.
    pub need: Amount,
    /// State of the current claim.
    pub stock: ClaimStatus,
    /// Number of the current claim, unique among all of the job's claims on any material.
    pub claim: u32,
    /// Earlier claims that the material has not settled yet: claim number and consumption.
    #[serde(default)]
    pub settling: Vec<(u32, Amount)>,
    /// `true` if the material recalled the reservation while an attempt was live.
    #[serde(default)]
    pub recalled: bool,
    /// Total consumption across all claims, in the material's unit.
    #[serde(default)]
    pub consumed: Amount,
}

impl FurtherNeed {
    /// Builds a need whose claim has not been requested yet.
    pub fn new(needed: MaterialNeed) -> Self {
        Self {
            material_id: needed.material_id,
            need: needed.need,
            stock: ClaimStatus::None,
            claim: 0,
            settling: Vec::new(),
            recalled: false,
            consumed: Amount::ZERO,
        }
    }
}

/// Read-only view of one of a job's needs and its claim.
#[derive(Clone, Copy, Debug)]
pub struct JobClaim<'a> {
    /// Claimed material.
    pub material_id: Id,
    /// Amount that the plate needs, in the material's unit.
    pub need: Amount,
    /// State of the current claim.
    pub stock: ClaimStatus,
    /// Number of the current claim.
    pub number: u32,
    /// Earlier claims that the material has not settled yet: claim number and consumption.
    pub settling: &'a [(u32, Amount)],
    /// `true` if the material recalled the reservation while an attempt was live.
    pub recalled: bool,
    /// Total consumption across all claims, in the material's unit.
    pub consumed: Amount,
}

/// Mutable view of one of a job's needs and its claim.
pub struct JobClaimMut<'a> {
    /// Claimed material.
    pub material_id: Id,
    /// Amount that the plate needs, in the material's unit.
    pub need: Amount,
    /// State of the current claim.
    pub stock: &'a mut ClaimStatus,
    /// Number of the current claim.
    pub number: &'a mut u32,
    /// Earlier claims that the material has not settled yet: claim number and consumption.
    pub settling: &'a mut Vec<(u32, Amount)>,
    /// `true` if the material recalled the reservation while an attempt was live.
    pub recalled: &'a mut bool,
    /// Total consumption across all claims, in the material's unit.
    pub consumed: &'a mut Amount,
}

impl Job {
    /// Returns all needs with their claims, in the order in which the claims are requested.
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

    /// Returns all needs with their claims for modification, in the order in which the claims are requested.
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

    /// Returns the need for each material, in the order of the material IDs.
    pub fn material_needs(&self) -> Vec<MaterialNeed> {
        self.claims().iter().map(|one| MaterialNeed { material_id: one.material_id, need: one.need }).collect()
    }

    /// Returns whether every need is reserved for the job.
    pub fn holds_all(&self) -> bool {
        self.stock == ClaimStatus::Held && self.further.iter().all(|one| one.stock == ClaimStatus::Held)
    }

    /// Returns the claim that the job is waiting for: the first that is not held. Later claims have not been requested
    /// yet.
    pub fn waiting_claim(&self) -> Option<JobClaim<'_>> {
        self.claims().into_iter().find(|claim| claim.stock != ClaimStatus::Held)
    }

    /// Returns a number that no claim of the job has had. A claim's number is only ever changed to such a number.
    fn fresh_number(&self) -> u32 {
        self.further.iter().map(|one| one.claim).fold(self.claim, u32::max) + 1
    }

    /// Requests the next claim, unless one is already requested or in a material's queue.
    pub fn ask_next(&mut self) {
        let fresh = self.fresh_number();
        let next = self.claims_mut().into_iter().find(|claim| *claim.stock != ClaimStatus::Held);
        if let Some(claim) = next.filter(|claim| *claim.stock == ClaimStatus::None) {
            // A number of 0 was never used.
            if *claim.number == 0 {
                *claim.number = fresh;
            }
            *claim.stock = ClaimStatus::Asked;
        }
    }

    /// Restarts claiming: releases the reservations held, and requests all needs again. A claim without a response
    /// stays requested, because only the response shows what the material has reserved for it.
    pub fn claim_anew(&mut self) {
        let mut fresh = self.fresh_number();
        for claim in self.claims_mut() {
            match *claim.stock {
                ClaimStatus::Settling { consumed } => claim.settling.push((*claim.number, consumed)),
                ClaimStatus::InLine | ClaimStatus::Held => claim.settling.push((*claim.number, Amount::ZERO)),
                ClaimStatus::Asked => continue,
                ClaimStatus::None => {}
            }
            (*claim.stock, *claim.recalled) = (ClaimStatus::None, false);
            if *claim.number != 0 {
                *claim.number = fresh;
                fresh += 1;
            }
        }
        self.ask_next();
    }

    /// Releases the claim with the given number and, because claims are requested in order, those on later materials.
    /// They are settled with nothing consumed, and the first is requested again. A claim without a response is released
    /// when the response arrives ([`Job::is_in_order`]).
    pub fn give_up_claim(&mut self, number: u32) {
        let mut from = false;
        self.give_up(|claim| {
            from |= *claim.number == number;
            from
        });
        self.ask_next();
    }

    /// Requests the held claim on the given material again to learn its state, and releases the claims on later
    /// materials.
    pub fn ask_again(&mut self, material: Id) {
        for claim in self.claims_mut() {
            if claim.material_id == material {
                *claim.stock = ClaimStatus::Asked;
            }
        }
        self.give_up(|claim| claim.material_id > material);
    }

    /// Adopts the needs stated in the G-code. If an amount differs, the reservation is requested again under the same
    /// number, and the material corrects it in one step, so that the material cannot go to a different job in between.
    pub fn correct_needs(&mut self, needs: &[MaterialNeed]) {
        let corrected = |material: Id, need: Amount| {
            let stated = needs.iter().find(|one| one.material_id == material)?;
            (stated.need != need).then_some(stated.need)
        };
        if let Some(need) = corrected(self.material_id, self.need) {
            (self.need, self.stock) = (need, ClaimStatus::Asked);
        }
        for one in &mut self.further {
            if let Some(need) = corrected(one.material_id, one.need) {
                (one.need, one.stock) = (need, ClaimStatus::Asked);
            }
        }
    }

    /// Releases all claims; they are requested again later.
    pub fn give_up_all(&mut self) {
        self.give_up(|_| true);
    }

    /// Settles, with nothing consumed, the selected held or queued claims; they get new numbers and are not requested.
    fn give_up(&mut self, mut which: impl FnMut(&JobClaimMut<'_>) -> bool) {
        let mut fresh = self.fresh_number();
        for claim in self.claims_mut() {
            if which(&claim) && matches!(*claim.stock, ClaimStatus::Held | ClaimStatus::InLine) {
                claim.settling.push((*claim.number, Amount::ZERO));
                *claim.number = fresh;
                fresh += 1;
                (*claim.stock, *claim.recalled) = (ClaimStatus::None, false);
            }
        }
    }

    /// Returns whether all claims before the one on the given material are held, so that this claim may be held or
    /// queued next.
    pub fn is_in_order(&self, material: Id) -> bool {
        self.claims()
            .iter()
            .take_while(|claim| claim.material_id < material)
            .all(|claim| claim.stock == ClaimStatus::Held)
    }

    /// Ends the job's current claims, with the given fraction of the need consumed, where 1 is the entire need. A claim
    /// without a response stays requested; the response then settles it.
    pub fn settle(&mut self, share: f64) {
        let booked_on = self.live().map(|attempt| attempt.booked_on.clone()).unwrap_or_default();
        let mut booked = Vec::new();
        for claim in self.claims_mut() {
            let consumed = claim.need.scaled(share);
            match *claim.stock {
                // Not asked for, not answered, or settled already: an answer that still comes is settled then.
                ClaimStatus::None | ClaimStatus::Asked | ClaimStatus::Settling { .. } => {}
                ClaimStatus::InLine | ClaimStatus::Held => {
                    *claim.consumed += consumed;
                    *claim.stock = ClaimStatus::Settling { consumed };
                    if consumed > Amount::ZERO && !booked_on.is_empty() {
                        booked.push((*claim.number, booked_on.clone()));
                    }
                }
            }
        }
        self.booked_on.extend(booked);
    }
}
