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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::material::{ClaimId, ClaimRequest, ClaimStock, MaterialType};
    use crate::parts_sync::{LinkCommand, StockSystem};
    use crate::testing::samples::pla;
    use crate::testing::{Bench, id};
    use crate::time::Timestamp;

    fn shelf(quantity: Amount) -> Option<Material> {
        let mut shelf = None;
        Bench::new().tell(&mut shelf, id(7), &MaterialCommand::Create { fields: Box::new(pla()), quantity }).unwrap();
        shelf
    }

    fn update(fields: MaterialFields) -> MaterialCommand {
        MaterialCommand::Update { if_version: Some(3), fields: Some(Box::new(fields)), quantity: None }
    }

    /// Returns the fields for which a command is rejected.
    fn faults(shelf: &mut Option<Material>, command: &MaterialCommand) -> Vec<String> {
        let refusal = Bench::new().tell(shelf, id(7), command).err();
        refusal.into_iter().flat_map(|refusal| refusal.faults).map(|fault| fault.path).collect()
    }

    #[test]
    fn a_material_stays_in_memory_until_it_is_deleted() {
        let mut this = shelf(Amount::ZERO);
        let states = |this: &Material| (this.revision(), this.is_archived(), this.at_rest());
        assert_eq!(states(this.as_ref().unwrap()), (Some(1), false, false));
        Bench::new().tell(&mut this, id(7), &MaterialCommand::Archive).unwrap();
        assert_eq!(states(this.as_ref().unwrap()), (Some(1), true, true));
        assert_eq!((update(pla()).if_version(), MaterialCommand::Archive.if_version()), (Some(3), None));
        assert_eq!(Material::clash("stock_links.system,entry").code, "entry_linked");
        let other = Material::clash("materials.name");
        assert_eq!((other.code.as_str(), other.message.as_str()), ("conflict", "materials.name is already in use"));
        let unknown = Bench::new().tell(&mut None::<Material>, id(7), &MaterialCommand::Archive).unwrap_err();
        assert_eq!(unknown.code, "material_not_found");
    }

    #[test]
    fn each_field_is_checked() {
        let mut this = shelf(Amount::ZERO);
        let colour = |color: &str| MaterialFields { color: Some(color.to_owned()), ..pla() };
        for wrong in ["1a2b3c7", "#1a2b3", "#1a2b3cd", "#1a2b3g", ""] {
            assert_eq!(faults(&mut this, &update(colour(wrong))), ["color"], "{wrong}");
        }
        let minus = Amount(-1);
        for (wrong, path) in [
            (MaterialFields { name: " ".to_owned(), ..pla() }, "name"),
            (MaterialFields { reorder_point: minus, ..pla() }, "reorderPoint"),
            (MaterialFields { reorder_quantity: minus, ..pla() }, "reorderQuantity"),
            (MaterialFields { unit_cost_cents: Some(minus), ..pla() }, "unitCostCents"),
        ] {
            assert_eq!(faults(&mut this, &update(wrong)), [path]);
        }
        let right = MaterialFields { unit_cost_cents: Some(Amount::ZERO), ..colour("#1A2b3c") };
        assert!(faults(&mut this, &update(right.clone())).is_empty());
        assert_eq!(this.as_ref().unwrap().fields, right);
        assert!(Bench::new().tell(&mut this, id(7), &update(right)).unwrap().next.is_none(), "nothing changes");
    }

    #[test]
    fn stock_is_between_nothing_and_the_largest_amount() {
        for (quantity, wrong) in [
            (Amount::ZERO, vec![]),
            (MAX_AMOUNT, vec![]),
            (Amount(-1), vec!["quantity"]),
            (MAX_AMOUNT + Amount(1), vec!["quantity"]),
        ] {
            let create = MaterialCommand::Create { fields: Box::new(pla()), quantity };
            assert_eq!(faults(&mut None, &create), wrong, "{quantity}");
            let count = MaterialCommand::Update { if_version: None, fields: None, quantity: Some(quantity) };
            assert_eq!(faults(&mut shelf(Amount::ZERO), &count), wrong, "{quantity}");
        }
        let adjust = |delta: Amount, reason: &str| MaterialCommand::Adjust { delta, reason: reason.to_owned() };
        for (delta, reason, wrong) in [
            (MAX_AMOUNT, "delivery", vec![]),
            (MAX_AMOUNT + Amount(1), "delivery", vec!["delta"]),
            (Amount::ZERO, " ", vec!["delta", "reason"]),
        ] {
            assert_eq!(faults(&mut shelf(Amount::ZERO), &adjust(delta, reason)), wrong, "{delta}");
        }
        let mut this = shelf(Amount(1));
        assert_eq!(faults(&mut this, &adjust(MAX_AMOUNT, "delivery")), ["delta"], "together too much");
        let mut kinds = Vec::new();
        for delta in [Amount(2), Amount(-3)] {
            let rows = Bench::new().tell(&mut this, id(7), &adjust(delta, "counted")).unwrap().rows;
            kinds.extend(rows.iter().filter_map(|row| match row {
                MaterialRow::Movement(one) => Some((one.kind, one.quantity)),
                _ => None,
            }));
        }
        assert_eq!(kinds, [(MovementKind::Receive, Amount(3)), (MovementKind::Adjust, Amount::ZERO)]);
    }

    #[test]
    fn what_jobs_need_or_a_link_counts_is_neither_retyped_nor_deleted() {
        let bench = Bench::new();
        let mut this = shelf(Amount::units(10));
        let retype = update(MaterialFields { kind: MaterialType::Resin, ..pla() });
        let claim = ClaimId { job: id(1), number: 1 };
        let (need, since) = (Amount::units(1), Timestamp(1));
        let ask = ClaimRequest { id: claim, need, released: false, priority: 5, due_at: None, since };
        bench.tell(&mut this, id(7), &ClaimStock { order: id(2), asks: vec![ask] }).unwrap();
        assert_eq!(bench.tell(&mut this, id(7), &retype).unwrap_err().code, "material_in_use");
        let rename = update(MaterialFields { name: "PLA white".to_owned(), ..pla() });
        bench.tell(&mut this, id(7), &rename).unwrap();
        let mut linked = shelf(Amount::ZERO);
        bench.tell(&mut linked, id(7), &retype).unwrap();
        assert_eq!(linked.as_ref().unwrap().fields.kind, MaterialType::Resin);
        let link = |entry| LinkCommand::Link { system: StockSystem::Parts, entry, name: "resin".to_owned() };
        bench.tell(&mut linked, id(7), &link(5)).unwrap();
        assert!(bench.tell(&mut linked, id(7), &link(5)).unwrap().next.is_none(), "it is linked already");
        assert_eq!(bench.tell(&mut linked, id(7), &link(6)).unwrap_err().code, "already_linked");
        assert_eq!(bench.tell(&mut linked, id(7), &MaterialCommand::Archive).unwrap_err().code, "material_in_use");
    }
}
