//! An order and its materials: the answers to its claims, reservations asked back, and settlement.
//!
//! A claim that was sent is settled only after the material has answered it. Messages to one material arrive in the
//! order they were sent, so a settlement never overtakes its claim and no reservation is left behind.

use super::change::OrderChange;
use crate::domain::aggregate::Decision;
use crate::domain::amount::Amount;
use crate::domain::job::{Block, Job, JobState, Stock};
use crate::domain::material::{ClaimId, ClaimState};
use crate::domain::order::{Order, OrderAnswer};

/// Ends the job's current claim, of which `consumed` was used. A claim that was not answered yet stays asked for; its
/// answer then settles it.
pub(super) fn settle(job: &mut Job, consumed: Amount) {
    job.consumed += consumed;
    match job.stock {
        // Not answered, or nothing to settle: an answer that still comes is settled in `stands`.
        Stock::None | Stock::Asked | Stock::Settling { .. } => {}
        Stock::InLine | Stock::Held => job.stock = Stock::Settling { consumed },
    }
}

impl OrderChange<'_> {
    /// A material's answers to claims.
    pub(super) fn stock(mut self, answers: &[(ClaimId, ClaimState, Option<String>)]) -> Decision<Order> {
        for (claim, state, words) in answers {
            if let Ok(job) = self.job(claim.job) {
                self.stands(&job, claim.number, *state, words.as_ref());
            }
        }
        self.heard(true)
    }

    /// A material has settled claims; the order need not tell it again.
    pub(super) fn settled(mut self, claims: &[ClaimId]) -> Decision<Order> {
        for claim in claims {
            self.edit(claim.job, |job| {
                job.settling.retain(|(number, _)| *number != claim.number);
                if claim.number == job.claim && matches!(job.stock, Stock::Settling { .. }) {
                    job.stock = Stock::None;
                }
            });
        }
        self.heard(true)
    }

    /// A material asks reservations back. A job that waits for a printer gives its reservation up. One with a live
    /// attempt keeps it, and gives it up later if the attempt prints nothing.
    pub(super) fn recall(mut self, claims: &[ClaimId], words: &str) -> Decision<Order> {
        let mut kept = Vec::new();
        for claim in claims {
            let Ok(job) = self.job(claim.job) else { continue };
            if job.claim != claim.number {
                continue; // Given up already; the settlement is on its way to the material.
            }
            match job.stock {
                Stock::Held if job.live().is_some() => {
                    self.edit(job.id, |job| job.recalled = true);
                    kept.push(*claim);
                }
                Stock::Held | Stock::InLine if !job.over() => self.give_up(&job, words),
                // The claim is settled, or its answer is still under way; the material then asks again.
                _ => {}
            }
        }
        self.done(|_| OrderAnswer::Kept(kept))
    }

    /// Gives a reservation up: the job is blocked, the old claim is settled with nothing consumed, and a new one is
    /// asked for. The job keeps its rank in the waiting line, because the line goes by priority, due date and age of
    /// the job.
    pub(super) fn give_up(&mut self, job: &Job, words: &str) {
        let (id, number) = (job.id, job.claim);
        self.edit(id, |job| {
            job.settling.push((number, Amount::ZERO));
            job.claim += 1;
            job.recalled = false;
        });
        if let Ok(job) = self.job(id) {
            self.block(&job, Block::Material, Stock::Asked, Some(&words.to_owned()));
        }
    }

    fn stands(&mut self, job: &Job, number: u32, state: ClaimState, words: Option<&String>) {
        if number != job.claim || job.stock == Stock::None {
            // The claim is no longer wanted: settle it, so that the material frees what it holds for it.
            if !job.settling.iter().any(|(one, _)| *one == number) {
                self.edit(job.id, |job| job.settling.push((number, Amount::ZERO)));
            }
            return;
        }
        let waits = matches!(job.state, JobState::Validated | JobState::AwaitingManualReview);
        match (job.stock, state) {
            (Stock::Asked | Stock::InLine, _) if job.over() => {
                self.edit(job.id, |job| job.stock = Stock::Settling { consumed: Amount::ZERO });
            }
            (Stock::Asked | Stock::InLine, ClaimState::Held) if waits => {
                if job.state == JobState::AwaitingManualReview {
                    self.job_event("job.validated", job.id, None);
                }
                self.edit(job.id, |job| {
                    job.stock = Stock::Held;
                    job.state = JobState::Sliced;
                    job.blocked_by = None;
                    job.block_reason = None;
                });
                self.job_event("job.sliced", job.id, None);
            }
            (Stock::Asked | Stock::InLine, ClaimState::Short) if waits => {
                self.block(job, Block::Material, Stock::InLine, words);
            }
            (Stock::Asked | Stock::InLine, ClaimState::BelowReorderPoint) if waits => {
                self.block(job, Block::ReorderPoint, Stock::InLine, words);
            }
            // An answer that was sent before the claim was held. Ask again rather than trust it; a job with a live
            // attempt keeps its reservation.
            (Stock::Held, ClaimState::Short | ClaimState::BelowReorderPoint) if job.state == JobState::Sliced => {
                let by = if state == ClaimState::Short { Block::Material } else { Block::ReorderPoint };
                self.block(job, by, Stock::Asked, words);
            }
            _ => {}
        }
    }

    fn block(&mut self, job: &Job, by: Block, stock: Stock, words: Option<&String>) {
        self.edit(job.id, |job| {
            job.state = JobState::AwaitingManualReview;
            job.blocked_by = Some(by);
            job.block_reason = words.cloned();
            job.stock = stock;
        });
        if job.state != JobState::AwaitingManualReview || job.blocked_by != Some(by) {
            self.job_event("job.blocked", job.id, words.map(String::as_str));
        }
    }
}
