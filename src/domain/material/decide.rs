//! Rules for a material: how it decides each command.
//!
//! A stocktake is recorded as counted even if it is below the reserved amount: in that case nothing is available,
//! operators are alerted by `inventory.discrepancy`, and the latest reservations are recalled (see `recall`).

use crate::aggregate::{Aggregate, Command, Decision, DecisionContext};
use crate::amount::{Amount, MAX_AMOUNT};
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::mail::Mail;
use crate::material::change::MaterialChange;
use crate::material::links;
use crate::material::reason::{INITIAL_STOCK, STOCK_COUNT};
use crate::material::{
    Material, MaterialAnswer, MaterialCommand, MaterialEffect, MaterialFields, MaterialRow, MovementKind,
};
use crate::refusal::{Faults, Refusal};
use crate::requirement::{Referenced, Requirement};

type MaterialDecision = Result<Decision<Material, MaterialAnswer>, Refusal>;

impl Aggregate for Material {
    const KIND: &'static str = "material";
    type Row = MaterialRow;
    type Created = Mail;
    type Effect = MaterialEffect;

    fn is_archived(&self) -> bool {
        self.archived
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

    /// Returns `true` only for archived materials. All other materials stay in memory, because every stock check needs
    /// them.
    fn at_rest(&self) -> bool {
        self.archived
    }
}

/// Returns the material that an operator's command applies to.
pub(super) fn existing(this: Option<&Material>) -> Result<&Material, Refusal> {
    this.filter(|material| !material.archived).ok_or_else(|| Refusal::not_found(Material::KIND))
}

impl Command<Material> for MaterialCommand {
    type Answer = MaterialAnswer;

    fn decide(&self, this: Option<&Material>, id: Id, cx: &DecisionContext<'_>) -> MaterialDecision {
        match (this, self) {
            (None, MaterialCommand::Create { fields, quantity }) => create(id, cx, fields, *quantity),
            (Some(_), MaterialCommand::Create { .. }) => {
                Err(Refusal::conflict("exists", "this material already exists"))
            }
            (this, MaterialCommand::Update { fields, quantity, .. }) => {
                update(existing(this)?, cx, fields.as_deref(), *quantity)
            }
            (this, MaterialCommand::Adjust { delta, reason }) => adjust(existing(this)?, cx, *delta, reason),
            (this, MaterialCommand::Archive) => archive(existing(this)?, cx),
        }
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            MaterialCommand::Create { .. } => AuditedAct::MaterialCreate,
            MaterialCommand::Update { .. } => AuditedAct::MaterialUpdate,
            MaterialCommand::Adjust { .. } => AuditedAct::MaterialAdjust,
            MaterialCommand::Archive => AuditedAct::MaterialDelete,
        }
    }

    fn if_version(&self) -> Option<i64> {
        match self {
            MaterialCommand::Update { if_version, .. } => *if_version,
            _ => None,
        }
    }
}

fn answer(material: &Material) -> MaterialAnswer {
    MaterialAnswer { material: Box::new(material.clone()) }
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
    change.movement(MovementKind::Receive, quantity, Amount::ZERO, None, Some(INITIAL_STOCK));
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
        change.movement(MovementKind::Adjust, difference, Amount::ZERO, None, Some(STOCK_COUNT));
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
        let words = format!("only {} {unit} of {} on hand", material.quantity, material.fields.name);
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
            format!("{name} is needed by unfinished jobs ({count}); finish or cancel them first"),
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
