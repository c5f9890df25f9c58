//! Claims that orders have on a material: requesting, settling and acknowledging them.

use std::cmp::Reverse;

use crate::aggregate::{Aggregate as _, Command, Confirmation, Decision, DecisionContext, DecisionResult};
use crate::amount::Amount;
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::material::change::MaterialChange;
use crate::material::{Claim, ClaimId, ClaimRequest, ClaimState, Material, SettledClaim};
use crate::refusal::Refusal;
use words::Language;

/// Command that an order uses to claim stock for its jobs. For a claim that already exists, it returns the current
/// state.
#[derive(Clone, Debug)]
pub struct ClaimStock {
    /// Claiming order.
    pub order: Id,
    /// Claims, one per job.
    pub asks: Vec<ClaimRequest>,
}

/// State of each claim and, if it is queued, the human-readable reason ("needs 120 g of PLA black, 80 g free").
pub type ClaimStates = Vec<(ClaimId, ClaimState, Option<String>)>;

/// Message from an order about its claims.
#[derive(Clone, Debug)]
pub enum ClaimNews {
    /// Settles claims that an order no longer needs. An unknown claim was already settled, which is not an error.
    Settle {
        /// Claims with their consumption; the rest becomes available.
        claims: Vec<SettledClaim>,
    },
    /// Records that an order has acknowledged held claims.
    Heard {
        /// Claims that the order knows to be held.
        claims: Vec<ClaimId>,
    },
    /// Records that an order retains reservations that it was asked to return.
    Kept {
        /// Claims that stay reserved.
        claims: Vec<ClaimId>,
    },
}

/// Returns the material even if it was deleted, because orders that settle claims need not know about the deletion.
fn material_of(this: Option<&Material>) -> Result<&Material, Refusal> {
    this.ok_or_else(|| Refusal::not_found(Material::KIND))
}

impl Command<Material> for ClaimStock {
    type Answer = ClaimStates;

    fn decide(
        &self,
        this: Option<&Material>,
        _: Id,
        cx: &DecisionContext<'_>,
    ) -> DecisionResult<Material, Self::Answer> {
        let material = material_of(this)?;
        if material.archived {
            // Claims on it stay short.
            let words = format!("{} was deleted", material.fields.name);
            let stand = self.asks.iter().map(|ask| (ask.id, ClaimState::Short, Some(words.clone()))).collect();
            return Ok(Decision::unchanged(stand));
        }
        Ok(claim(material, cx, self.order, &self.asks))
    }

    fn audited_act(&self) -> AuditedAct {
        AuditedAct::MaterialClaim
    }
}

impl Command<Material> for ClaimNews {
    type Answer = Confirmation;

    fn decide(&self, this: Option<&Material>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<Material> {
        let material = material_of(this)?;
        if material.archived {
            return Ok(Decision::unchanged(Confirmation::Done));
        }
        Ok(match self {
            ClaimNews::Settle { claims } => settle(material, cx, claims),
            ClaimNews::Heard { claims } => acknowledge(material, cx, claims),
            ClaimNews::Kept { claims } => keep_claims(material, cx, claims),
        })
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            ClaimNews::Settle { .. } => AuditedAct::MaterialSettle,
            ClaimNews::Heard { .. } => AuditedAct::MaterialHeard,
            ClaimNews::Kept { .. } => AuditedAct::MaterialKept,
        }
    }
}

/// Decides an order's claims in rank order. Only the given claims are checked, because no claim that was already queued
/// fits (see [`MaterialChange::walk`]). A reservation requested with a different need is corrected first, which may
/// make room for others.
fn claim(
    material: &Material,
    cx: &DecisionContext<'_>,
    order: Id,
    asks: &[ClaimRequest],
) -> Decision<Material, ClaimStates> {
    let mut change = MaterialChange::of(material, cx);
    let mut ranked: Vec<&ClaimRequest> = asks.iter().collect();
    ranked.sort_by_key(|ask| (Reverse(ask.priority), ask.due_at.is_none(), ask.due_at, ask.since, ask.id));
    let (mut corrected, mut unanswered) = (false, Vec::new());
    for ask in ranked {
        match change.next.claims.get(&ask.id).filter(|existing| !existing.waits()).cloned() {
            None => unanswered.push(ask),
            Some(held) => {
                let need = ask.need.max(Amount::ZERO);
                if held.need != need {
                    change.correct(held, need);
                    corrected = true;
                }
            }
        }
    }
    let new_claim = |ask: &ClaimRequest| Claim {
        id: ask.id,
        material_id: material.id,
        order_id: order,
        need: ask.need.max(Amount::ZERO),
        state: ClaimState::Short,
        unheard: false,
        released: ask.released,
        priority: ask.priority,
        due_at: ask.due_at,
        since: ask.since,
        reserved_at: None,
        recalled: false,
        is_retained: false,
    };
    if corrected {
        // What became free goes by rank over those that wait already and those that ask just now, so that nobody is
        // passed.
        unanswered.iter().for_each(|ask| change.set_claim(new_claim(ask)));
        change.walk();
    }
    for ask in unanswered {
        // Held by the walk, or asked for twice in one message.
        if change.next.claims.get(&ask.id).is_none_or(Claim::waits) {
            change.check(new_claim(ask), false);
        }
    }
    let stand = |material: &Material| {
        let words = |claim: &Claim| material.words(Language::English, claim);
        let of = |ask: &ClaimRequest| material.claims.get(&ask.id).map(|c| (c.id, c.state, words(c)));
        asks.iter().filter_map(of).collect()
    };
    if change.is_nothing() {
        return Decision::unchanged(stand(material));
    }
    change.decided(stand)
}

fn settle(material: &Material, cx: &DecisionContext<'_>, claims: &[SettledClaim]) -> Decision<Material> {
    let mut change = MaterialChange::of(material, cx);
    for claim in claims {
        change.settle(claim);
    }
    if change.is_nothing() {
        return Decision::unchanged(Confirmation::Done);
    }
    change.walk();
    change.decided(|_| Confirmation::Done)
}

fn acknowledge(material: &Material, cx: &DecisionContext<'_>, claims: &[ClaimId]) -> Decision<Material> {
    let mut change = MaterialChange::of(material, cx);
    for id in claims {
        if let Some(claim) = material.claims.get(id).filter(|claim| !claim.waits() && claim.unheard) {
            change.set_claim(Claim { unheard: false, ..claim.clone() });
        }
    }
    if change.is_nothing() {
        return Decision::unchanged(Confirmation::Done);
    }
    change.decided(|_| Confirmation::Done)
}

fn keep_claims(material: &Material, cx: &DecisionContext<'_>, claims: &[ClaimId]) -> Decision<Material> {
    let mut change = MaterialChange::of(material, cx);
    change.keeps(claims);
    if change.is_nothing() {
        return Decision::unchanged(Confirmation::Done);
    }
    change.decided(|_| Confirmation::Done)
}
