//! Rules of a material: its decision on each command.
//!
//! A stock-take is recorded as counted even if it is below the reserved amount: in that case nothing is available,
//! operators are alerted by `inventory.discrepancy`, and the latest reservations are recalled (see `recall`).

use std::cmp::Reverse;

use crate::aggregate::{Aggregate, Decision, DecisionContext};
use crate::amount::{Amount, MAX_AMOUNT};
use crate::id::Id;
use crate::mail::Mail;
use crate::material::change::MaterialChange;
use crate::material::links;
use crate::material::{
    Claim, ClaimId, ClaimRequest, ClaimState, Material, MaterialAnswer, MaterialCommand, MaterialEffect,
    MaterialFields, MaterialRow, MovementKind, SettledClaim,
};
use crate::refusal::{Faults, Refusal};
use crate::requirement::{Referenced, Requirement};

type MaterialDecision = Result<Decision<Material>, Refusal>;

impl Aggregate for Material {
    const KIND: &'static str = "material";
    type Command = MaterialCommand;
    type Answer = MaterialAnswer;
    type Row = MaterialRow;
    type Created = Mail;
    type Effect = MaterialEffect;

    fn is_archived(&self) -> bool {
        self.archived
    }

    fn if_version(command: &MaterialCommand) -> Option<i64> {
        match command {
            MaterialCommand::Update { if_version, .. } => *if_version,
            _ => None,
        }
    }

    fn decide(this: Option<&Self>, id: Id, cx: &DecisionContext<'_>, command: &MaterialCommand) -> MaterialDecision {
        let material = match (this, command) {
            (None, MaterialCommand::Create { fields, quantity }) => {
                return create(id, cx, fields, *quantity);
            }
            (None, _) => return Err(Refusal::not_found(Self::KIND)),
            (Some(_), MaterialCommand::Create { .. }) => {
                return Err(Refusal::conflict("exists", "this material already exists"));
            }
            (Some(gone), _) if gone.archived => return after_archive(gone, command),
            (Some(material), _) => material,
        };
        match command {
            MaterialCommand::Create { .. } => Err(Refusal::conflict("exists", "this material already exists")),
            MaterialCommand::Update { fields, quantity, .. } => update(material, cx, fields.as_deref(), *quantity),
            MaterialCommand::Adjust { delta, reason } => adjust(material, cx, *delta, reason),
            MaterialCommand::Archive => archive(material, cx),
            MaterialCommand::Claim { order, asks } => Ok(claim(material, cx, *order, asks)),
            MaterialCommand::Settle { claims } => Ok(settle(material, cx, claims)),
            MaterialCommand::Heard { claims } => Ok(acknowledge(material, cx, claims)),
            MaterialCommand::Kept { claims } => Ok(keep_claims(material, cx, claims)),
            MaterialCommand::Link(command) => links::decide(material, cx, command),
        }
    }

    fn name(command: &MaterialCommand) -> &'static str {
        match command {
            MaterialCommand::Create { .. } => "material.create",
            MaterialCommand::Update { .. } => "material.update",
            MaterialCommand::Adjust { .. } => "material.adjust",
            MaterialCommand::Archive => "material.delete",
            MaterialCommand::Claim { .. } => "material.claim",
            MaterialCommand::Settle { .. } => "material.settle",
            MaterialCommand::Heard { .. } => "material.heard",
            MaterialCommand::Kept { .. } => "material.kept",
            MaterialCommand::Link(command) => links::name(command),
        }
    }

    fn clash(constraint: &str) -> Refusal {
        match constraint {
            links::UNIQUE_ENTRY => {
                Refusal::conflict("entry_linked", "another material is already linked to this entry")
            }
            _ => Refusal::conflict("conflict", format!("{constraint} is already in use")),
        }
    }

    fn revision(&self) -> Option<i64> {
        Some(self.revision)
    }

    fn effects(&self) -> Vec<MaterialEffect> {
        self.untold()
    }

    /// Returns `true` only for archived materials. All others stay in memory, because every stock check needs them.
    fn at_rest(&self) -> bool {
        self.archived
    }
}

fn answer(material: &Material) -> MaterialAnswer {
    MaterialAnswer::Material(Box::new(material.clone()))
}

fn check_fields(faults: &mut Faults, fields: &MaterialFields) {
    let colour = |c: &str| c.len() == 7 && c.starts_with('#') && c.bytes().skip(1).all(|b| b.is_ascii_hexdigit());
    faults
        .check(!fields.name.trim().is_empty(), "name", "must not be empty")
        .check(fields.color.as_deref().is_none_or(colour), "color", "must be a colour such as #1a2b3c")
        .check(fields.reorder_point >= Amount::ZERO, "reorderPoint", "must not be negative")
        .check(fields.unit_cost_cents.is_none_or(|cost| cost >= Amount::ZERO), "unitCostCents", "must not be negative")
        .check(fields.reorder_quantity >= Amount::ZERO, "reorderQuantity", "must not be negative");
}

fn check_quantity(faults: &mut Faults, quantity: Amount) {
    faults.check(quantity >= Amount::ZERO, "quantity", "must not be negative").check(
        quantity <= MAX_AMOUNT,
        "quantity",
        format!("must be at most {MAX_AMOUNT}"),
    );
}

fn create(id: Id, cx: &DecisionContext<'_>, fields: &MaterialFields, quantity: Amount) -> MaterialDecision {
    let mut faults = Faults::default();
    check_fields(&mut faults, fields);
    check_quantity(&mut faults, quantity);
    faults.refuse()?;
    let empty = Material {
        id,
        revision: 0,
        fields: fields.clone(),
        quantity: Amount::ZERO,
        reserved: Amount::ZERO,
        alerted: false,
        shortage_told: false,
        archived: false,
        created_at: cx.now,
        updated_at: cx.now,
        claims: Default::default(),
        links: Default::default(),
        line: Default::default(),
        unheard: Default::default(),
        recalled: Default::default(),
    };
    let mut change = MaterialChange::of(&empty, cx);
    change.movement(MovementKind::Receive, quantity, Amount::ZERO, None, Some("initial stock"));
    Ok(change.decided(answer))
}

fn update(
    material: &Material,
    cx: &DecisionContext<'_>,
    fields: Option<&MaterialFields>,
    quantity: Option<Amount>,
) -> MaterialDecision {
    let mut faults = Faults::default();
    if let Some(fields) = fields {
        check_fields(&mut faults, fields);
    }
    if let Some(quantity) = quantity {
        check_quantity(&mut faults, quantity);
    }
    faults.refuse()?;
    let mut change = MaterialChange::of(material, cx);
    if let Some(fields) = fields.filter(|fields| **fields != material.fields) {
        if fields.kind != material.fields.kind && !material.claims.is_empty() {
            return Err(Refusal::conflict(
                "material_in_use",
                "the type cannot be changed while jobs need the material; finish or cancel them first",
            ));
        }
        change.next.fields = fields.clone();
    }
    if let Some(counted) = quantity {
        let difference = counted - material.quantity;
        change.movement(MovementKind::Adjust, difference, Amount::ZERO, None, Some("stock-take"));
        change.ask_again();
    }
    if change.is_nothing() && change.next.fields == material.fields {
        return Ok(Decision::unchanged(answer(material)));
    }
    change.walk();
    Ok(change.decided(answer))
}

fn adjust(material: &Material, cx: &DecisionContext<'_>, delta: Amount, reason: &str) -> MaterialDecision {
    let mut faults = Faults::default();
    faults
        .check(delta != Amount::ZERO, "delta", "must not be zero")
        .check(delta.0.unsigned_abs() <= MAX_AMOUNT.0.unsigned_abs(), "delta", format!("must be at most {MAX_AMOUNT}"))
        .check(!reason.trim().is_empty(), "reason", "must not be empty");
    faults.refuse()?;
    if material.quantity + delta > MAX_AMOUNT {
        return Err(Refusal::field("delta", format!("must not raise the stock above {MAX_AMOUNT}")));
    }
    if material.quantity + delta < Amount::ZERO {
        let unit = material.fields.kind.unit();
        let words = format!("only {} {unit} of {} are on hand", material.quantity, material.fields.name);
        return Err(Refusal::conflict("insufficient_stock", words));
    }
    let kind = if delta > Amount::ZERO { MovementKind::Receive } else { MovementKind::Adjust };
    let mut change = MaterialChange::of(material, cx);
    change.movement(kind, delta, Amount::ZERO, None, Some(reason));
    change.ask_again();
    change.walk();
    Ok(change.decided(answer))
}

fn archive(material: &Material, cx: &DecisionContext<'_>) -> MaterialDecision {
    if !material.claims.is_empty() {
        let (name, count) = (&material.fields.name, material.claims.size());
        return Err(Refusal::conflict(
            "material_in_use",
            format!("{count} jobs need {name}; finish or cancel them first"),
        ));
    }
    if let Some(link) = material.links.values().next() {
        let (name, system) = (&material.fields.name, link.system.words());
        return Err(Refusal::conflict(
            "material_in_use",
            format!("{name} is linked to {system}; remove the link first"),
        ));
    }
    let next = Material { archived: true, updated_at: cx.now, ..material.clone() };
    let answer = answer(&next);
    Ok(Decision::to(next, answer).requires([Requirement::Unused { what: Referenced::Material, id: material.id }]))
}

/// Decides commands to a deleted material: claims on it stay short, and orders that settle claims need not know about
/// the deletion.
fn after_archive(material: &Material, command: &MaterialCommand) -> MaterialDecision {
    match command {
        MaterialCommand::Claim { asks, .. } => {
            let words = format!("{} was deleted", material.fields.name);
            let stand = asks.iter().map(|ask| (ask.id, ClaimState::Short, Some(words.clone()))).collect();
            Ok(Decision::unchanged(MaterialAnswer::Claims(stand)))
        }
        MaterialCommand::Settle { .. } | MaterialCommand::Heard { .. } | MaterialCommand::Kept { .. } => {
            Ok(Decision::unchanged(MaterialAnswer::Done))
        }
        _ => Err(Refusal::not_found(Material::KIND)),
    }
}

/// Decides the claims of one order, in rank order among themselves. Only the given claims are checked, because no claim
/// that was already waiting fits (see [`MaterialChange::walk`]). A reservation requested with a different need is
/// corrected first, which may make others fit.
fn claim(material: &Material, cx: &DecisionContext<'_>, order: Id, asks: &[ClaimRequest]) -> Decision<Material> {
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
        unanswered.iter().for_each(|ask| change.put(new_claim(ask)));
        change.walk();
    }
    for ask in unanswered {
        // Held by the walk, or asked for twice in one message.
        if change.next.claims.get(&ask.id).is_none_or(Claim::waits) {
            change.check(new_claim(ask), false);
        }
    }
    let stand = |material: &Material| {
        let of = |ask: &ClaimRequest| material.claims.get(&ask.id).map(|c| (c.id, c.state, material.words(c)));
        MaterialAnswer::Claims(asks.iter().filter_map(of).collect())
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
        return Decision::unchanged(MaterialAnswer::Done);
    }
    change.walk();
    change.decided(|_| MaterialAnswer::Done)
}

fn acknowledge(material: &Material, cx: &DecisionContext<'_>, claims: &[ClaimId]) -> Decision<Material> {
    let mut change = MaterialChange::of(material, cx);
    for id in claims {
        if let Some(claim) = material.claims.get(id).filter(|claim| !claim.waits() && claim.unheard) {
            change.put(Claim { unheard: false, ..claim.clone() });
        }
    }
    if change.is_nothing() {
        return Decision::unchanged(MaterialAnswer::Done);
    }
    change.decided(|_| MaterialAnswer::Done)
}

fn keep_claims(material: &Material, cx: &DecisionContext<'_>, claims: &[ClaimId]) -> Decision<Material> {
    let mut change = MaterialChange::of(material, cx);
    change.keeps(claims);
    if change.is_nothing() {
        return Decision::unchanged(MaterialAnswer::Done);
    }
    change.decided(|_| MaterialAnswer::Done)
}
