//! Messages between an order and its materials: responses to claims, recalled reservations, and settlement.
//!
//! A claim that was sent is settled only after the material has responded to it. Messages to one material arrive in the
//! order in which they were sent, so a settlement never overtakes its claim, and no reservation is left behind.

use super::change::OrderChange;
use crate::aggregate::Decision;
use crate::amount::Amount;
use crate::id::Id;
use crate::job::{Block, ClaimStatus, Job, JobClaimMut, JobState};
use crate::material::{ClaimId, ClaimState};
use crate::order::{Order, OrderNewsAnswer};

impl OrderChange<'_> {
    /// Applies a material's responses to the claims of this order's jobs.
    pub(super) fn stock(
        mut self,
        material: Id,
        answers: &[(ClaimId, ClaimState, Option<String>)],
    ) -> Decision<Order, OrderNewsAnswer> {
        for (claim, state, words) in answers {
            if let Ok(job) = self.job(claim.job) {
                self.apply_claim_answer(&job, material, claim.number, *state, words.as_ref());
            }
        }
        self.acknowledge(true)
    }

    /// Records that a material has settled claims, so that it is no longer notified.
    pub(super) fn settled(mut self, claims: &[ClaimId]) -> Decision<Order, OrderNewsAnswer> {
        for claim in claims {
            self.edit(claim.job, |job| {
                job.booked_on.remove(&claim.number);
                for own in job.claims_mut() {
                    own.settling.retain(|(number, _)| *number != claim.number);
                    if claim.number == *own.number && matches!(own.stock, ClaimStatus::Settling { .. }) {
                        *own.stock = ClaimStatus::None;
                    }
                }
            });
        }
        self.acknowledge(true)
    }

    /// Applies a material's recall of reservations. A job waiting for a printer returns its reservation. A job with a
    /// live attempt keeps its reservation, and returns it later if the attempt prints nothing.
    pub(super) fn recall(mut self, claims: &[ClaimId], words: &str) -> Decision<Order, Vec<ClaimId>> {
        let mut kept_claims = Vec::new();
        for claim in claims {
            let Ok(job) = self.job(claim.job) else { continue };
            let Some(stock) = job.claims().iter().find(|own| own.number == claim.number).map(|own| own.stock) else {
                continue; // Given up already; the settlement is on its way to the material.
            };
            match stock {
                ClaimStatus::Held if job.live().is_some() => {
                    let of_it = |own: &JobClaimMut<'_>| *own.number == claim.number;
                    self.edit(job.id, |job| {
                        job.claims_mut().into_iter().filter(of_it).for_each(|own| *own.recalled = true);
                    });
                    kept_claims.push(*claim);
                }
                ClaimStatus::Held | ClaimStatus::InLine if !job.over() => self.give_up(&job, claim.number, words),
                // The claim is settled, or its answer is still under way; the material then asks again.
                _ => {}
            }
        }
        self.done(|_| kept_claims)
    }

    /// Releases a reservation: blocks the job, settles the old claim with nothing consumed, and requests a new one. The
    /// job keeps its position in the queue for the material, which depends on the job's priority, due date and age.
    pub(super) fn give_up(&mut self, job: &Job, number: u32, words: &str) {
        self.edit(job.id, |job| job.give_up_claim(number));
        if let Ok(job) = self.job(job.id) {
            self.block(&job, Block::Material, Some(&words.to_owned()));
        }
    }

    fn apply_claim_answer(&mut self, job: &Job, material: Id, number: u32, state: ClaimState, words: Option<&String>) {
        let claims = job.claims();
        let Some(own) = claims.iter().find(|own| own.material_id == material) else { return };
        if number != own.number || own.stock == ClaimStatus::None {
            // The claim is no longer wanted: settle it, so that the material frees what it holds for it.
            if !own.settling.iter().any(|(one, _)| *one == number) {
                self.edit_claim(job.id, material, |own| own.settling.push((number, Amount::ZERO)));
            }
            return;
        }
        let waits = matches!(job.state, JobState::Validated | JobState::AwaitingManualReview);
        match (own.stock, state) {
            (ClaimStatus::Asked | ClaimStatus::InLine, _) if job.over() => {
                self.edit_claim(job.id, material, |own| *own.stock = ClaimStatus::Settling { consumed: Amount::ZERO });
            }
            // A material before this one was taken away meanwhile: this one is asked for again after it.
            (ClaimStatus::Asked | ClaimStatus::InLine, _) if waits && !job.is_in_order(material) => {
                self.edit_claim(job.id, material, |own| *own.stock = ClaimStatus::InLine);
                self.edit(job.id, |job| job.give_up_claim(number));
            }
            (ClaimStatus::Asked | ClaimStatus::InLine, ClaimState::Held) if waits => {
                self.edit_claim(job.id, material, |own| *own.stock = ClaimStatus::Held);
                self.held(job.id);
            }
            (ClaimStatus::Asked | ClaimStatus::InLine, ClaimState::Short) if waits => {
                self.edit_claim(job.id, material, |own| *own.stock = ClaimStatus::InLine);
                self.block(job, Block::Material, words);
            }
            (ClaimStatus::Asked | ClaimStatus::InLine, ClaimState::BelowReorderPoint) if waits => {
                self.edit_claim(job.id, material, |own| *own.stock = ClaimStatus::InLine);
                self.block(job, Block::ReorderPoint, words);
            }
            // An answer that was sent before the claim was held. Ask again rather than trust it; a job with a live
            // attempt keeps its reservation.
            (ClaimStatus::Held, ClaimState::Short | ClaimState::BelowReorderPoint)
                if waits || job.state == JobState::Sliced =>
            {
                let by = if state == ClaimState::Short { Block::Material } else { Block::ReorderPoint };
                self.edit(job.id, |job| job.ask_again(material));
                self.block(job, by, words);
            }
            _ => {}
        }
    }

    /// Proceeds after a claim of the job has been granted: requests the next claim or, after the last one, slices the
    /// job or queues it for a printer.
    fn held(&mut self, id: Id) {
        let Ok(job) = self.job(id) else { return };
        if job.state == JobState::AwaitingManualReview {
            self.job_event("job.validated", id, None);
        }
        self.edit(id, |job| {
            job.ask_next();
            // Without G-code it is sliced first, with all material reserved.
            let ready = job.holds_all() && job.file_id.is_some();
            job.state = if ready { JobState::Sliced } else { JobState::Validated };
            job.blocked_by = None;
            job.block_reason = None;
        });
        if self.job(id).is_ok_and(|job| job.state == JobState::Sliced) {
            self.job_event("job.sliced", id, None);
        }
    }

    /// Changes the job's claim on the given material.
    fn edit_claim(&mut self, id: Id, material: Id, change: impl FnOnce(JobClaimMut<'_>)) {
        self.edit(id, |job| {
            if let Some(own) = job.claims_mut().into_iter().find(|own| own.material_id == material) {
                change(own);
            }
        });
    }

    pub(super) fn block(&mut self, job: &Job, by: Block, words: Option<&String>) {
        self.edit(job.id, |job| {
            job.state = JobState::AwaitingManualReview;
            job.blocked_by = Some(by);
            job.block_reason = words.cloned();
        });
        if job.state != JobState::AwaitingManualReview || job.blocked_by != Some(by) {
            self.job_event("job.blocked", job.id, words.map(String::as_str));
        }
    }
}
