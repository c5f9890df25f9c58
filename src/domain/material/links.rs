//! Links between a material and outside systems: each step changes the link and the shop's stock in one commit.

use serde::{Deserialize, Serialize};

use crate::aggregate::{Command, Confirmation, Decision, DecisionContext, DecisionResult};
use crate::amount::Amount;
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::material::change::MaterialChange;
use crate::material::decide::existing;
use crate::material::reason::{ACCEPTED, CHANGED_THERE, sync_reason};
use crate::material::{Material, MaterialType, MovementKind, exact_stock_amount};
use crate::parts_sync::{
    LinkCommand, OurSide, Quantities, RightSide, StockLink, StockReading, StockSystem, StockUnit, SyncStep, total,
};
use crate::refusal::Refusal;
use words::Language;
use words::staff::stock;

type LinkDecision = Result<Decision<Material, LinkAnswer>, Refusal>;

/// Database constraint that allows an entry to be linked to only one material.
pub(super) const UNIQUE_ENTRY: &str = "stock_links.system,entry";

/// Response to a [`LinkCommand`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LinkAnswer {
    /// Material after the change, with the affected link.
    #[serde(rename = "Linked")]
    pub linked: (Box<Material>, Box<StockLink>),
}

/// Command that removes a link to an outside system. Past stock changes remain on both sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnlinkStock(pub StockSystem);

impl Command<Material> for LinkCommand {
    type Answer = LinkAnswer;

    fn decide(&self, this: Option<&Material>, _: Id, cx: &DecisionContext<'_>) -> LinkDecision {
        let material = existing(this)?;
        if let LinkCommand::Link { system, entry, name } = self {
            return link(material, cx, *system, *entry, name);
        }
        let current = link_to(material, self.system())?;
        match self {
            LinkCommand::Agree { right, theirs, .. } => agree(material, cx, current, *right, *theirs),
            LinkCommand::Looked { round, look, drawn, in_use, overdue, .. } if *round == current.round => {
                let kind = material.fields.kind;
                let (quantity, unit, unit_name) = (material.quantity, kind.stock_unit(), kind.unit());
                let (booking, now) = (cx.ids.id(), cx.now);
                let ours = OurSide { quantity, unit, unit_name, drawn, in_use, overdue, booking, now };
                Ok(apply_reading(material, cx, current, look, &ours))
            }
            LinkCommand::Settled { booking, verdict, .. } => match current.settled(*booking, verdict) {
                Some(link) => Ok(stepped(material, cx, SyncStep { link, delta: Amount::ZERO }, "")),
                None => Ok(Decision::unchanged(linked(material, current))),
            },
            // What was read is older than the link.
            _ => Ok(Decision::unchanged(linked(material, current))),
        }
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            LinkCommand::Link { .. } => AuditedAct::MaterialLink,
            LinkCommand::Agree { .. } => AuditedAct::MaterialAgree,
            LinkCommand::Looked { .. } => AuditedAct::MaterialSynchronise,
            LinkCommand::Settled { .. } => AuditedAct::MaterialBooked,
        }
    }
}

impl Command<Material> for UnlinkStock {
    type Answer = Confirmation;

    fn decide(&self, this: Option<&Material>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<Material> {
        let material = existing(this)?;
        let mut change = MaterialChange::of(material, cx);
        change.remove_link(link_to(material, self.0)?);
        Ok(change.decided(|_| Confirmation::Done))
    }

    fn audited_act(&self) -> AuditedAct {
        AuditedAct::MaterialUnlink
    }
}

fn link_to(material: &Material, system: StockSystem) -> Result<&StockLink, Refusal> {
    material.links.get(&system).ok_or_else(|| Refusal::not_found("link"))
}

impl MaterialType {
    /// Returns the unit used to compare the material's amounts with those in outside systems.
    const fn stock_unit(self) -> StockUnit {
        match self {
            Self::Filament => StockUnit::Gram,
            Self::Resin => StockUnit::Millilitre,
            Self::LaserSheet | Self::LaserConsumable => StockUnit::Piece,
        }
    }
}

impl Material {
    /// Describes the spool consumption that the printer's own server failed to record. Returns `None` once an operator
    /// has decided how to handle it.
    pub fn missing_booking(&self, language: Language, spool: i64) -> Option<String> {
        let missing = self.links.get(&StockSystem::Spools)?.missing_from(spool)?;
        let amount = exact_stock_amount(language, missing, self.fields.kind);
        Some(stock::missing_booking(language, &amount, &spool.to_string(), &self.fields.name))
    }
}

fn linked(material: &Material, link: &StockLink) -> LinkAnswer {
    LinkAnswer { linked: (Box::new(material.clone()), Box::new(link.clone())) }
}

fn link(material: &Material, cx: &DecisionContext<'_>, system: StockSystem, entry: i64, name: &str) -> LinkDecision {
    if let Some(current) = material.links.get(&system) {
        if current.entry == entry {
            return Ok(Decision::unchanged(linked(material, current)));
        }
        let words =
            format!("the material is already linked to {} in {}; remove that link first", current.name, system.words());
        return Err(Refusal::conflict("already_linked", words));
    }
    let link = StockLink {
        id: cx.ids.id(),
        material_id: material.id,
        system,
        entry,
        name: name.to_owned(),
        server: String::new(),
        agreed: None,
        last_amounts: None,
        pending: None,
        given_up: Vec::new(),
        unread_uses: Vec::new(),
        awaited: Vec::new(),
        owed: Quantities::new(),
        conflict: None,
        round: 0,
        created_at: cx.now,
    };
    Ok(stepped(material, cx, SyncStep { link, delta: Amount::ZERO }, ""))
}

fn agree(
    material: &Material,
    cx: &DecisionContext<'_>,
    current: &StockLink,
    right: RightSide,
    theirs: Option<Amount>,
) -> LinkDecision {
    let Some(step) = current.agree(right, material.quantity) else {
        let words = "there is nothing to decide: no difference was found, or an update is still in progress; try \
                     again after the next synchronisation";
        return Err(Refusal::conflict("nothing_to_decide", words));
    };
    let there = current.last_amounts.as_ref().map(total);
    if let Some((expected, there)) = theirs.zip(there).filter(|(expected, there)| expected != there) {
        let unit = material.fields.kind.unit();
        let words = format!(
            "the count in the other system is now {there} {unit} instead of {expected} {unit}; check it and decide \
             again"
        );
        return Err(Refusal::conflict("theirs_changed", words));
    }
    Ok(stepped(material, cx, step, ACCEPTED))
}

fn apply_reading(
    material: &Material,
    cx: &DecisionContext<'_>,
    current: &StockLink,
    look: &StockReading,
    ours: &OurSide<'_>,
) -> Decision<Material, LinkAnswer> {
    let step = current.merge_reading(look, ours);
    if step.link == *current && step.delta == Amount::ZERO {
        return Decision::unchanged(linked(material, current));
    }
    stepped(material, cx, step, CHANGED_THERE)
}

/// Adjusts the shop's stock by the amount that a sync step transfers, and stores the resulting link.
fn stepped(material: &Material, cx: &DecisionContext<'_>, step: SyncStep, why: &str) -> Decision<Material, LinkAnswer> {
    let SyncStep { link, delta } = step;
    let mut change = MaterialChange::of(material, cx);
    if delta != Amount::ZERO {
        let reason = sync_reason(link.system, &link.name, why);
        change.movement(MovementKind::Sync, delta, Amount::ZERO, None, Some(&reason));
        change.ask_again();
        change.walk();
    }
    let system = link.system;
    change.put_link(link.clone());
    change.decided(move |material| linked(material, material.links.get(&system).unwrap_or(&link)))
}

#[cfg(test)]
mod tests;
