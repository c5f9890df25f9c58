//! The slots of a printer: which spool is where, how much is left on it, and to which material it belongs.
//!
//! A printer with one spool has one slot, and `loadedMaterialId` is its material. Operators say what is in a slot;
//! printers that know their spools report them, by the vendor's code and the colour (`reported`). What was reported is
//! bound to a material by an operator once; the same code and colour are bound by themselves afterwards.

mod offers;
mod reported;

pub use offers::SpoolOffer;

use serde::{Deserialize, Serialize};

use super::{Printer, PrinterAnswer};
use crate::domain::aggregate::{Decision, DecisionContext};
use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::launch::{
    ChosenSlot, FilamentSlot, KnownTypes, LaunchFacts, LaunchNeeds, ReportedSpool, SlicedFor, SlotFacts, fit,
};
use crate::domain::material::Material;
use crate::domain::refusal::Refusal;
use crate::domain::requirement::{Referenced, Requirement};
use crate::domain::time::Timestamp;

/// Most slots of one printer, numbered from 0.
pub const MAX_SLOTS: u32 = 64;
/// Most bindings that a printer remembers; the oldest go first.
const MAX_BINDINGS: usize = 200;

/// Who says what is in a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SlotSource {
    /// An operator.
    Manual,
    /// The printer itself.
    Printer,
}

/// A place for a spool.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Slot {
    /// Its number, from 0, as the printer counts its tools.
    pub slot: u32,
    /// The material that is in it; `None` is unknown.
    pub material_id: Option<Id>,
    /// Colour of the spool as `#rrggbb`.
    pub color: Option<String>,
    /// What is left on the spool, in the material's unit; `None` is unknown.
    pub remaining: Option<Amount>,
    /// Whether a person or the printer said what is loaded.
    pub source: SlotSource,
    /// The vendor's code of the spool, as the printer reported it.
    #[serde(default)]
    pub vendor_code: Option<String>,
    /// The kind of plastic of the spool, as the printer reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Whether the printer itself tells what is left, so that it is not computed.
    #[serde(default)]
    pub weighed: bool,
    /// The number of the spool in the system that knows spools; `None` when nobody said.
    #[serde(default)]
    pub spool: Option<i64>,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What an operator says of a slot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spool {
    /// The material that is in it; `None` is unknown, or empty.
    pub material_id: Option<Id>,
    /// Colour as `#rrggbb`.
    pub color: Option<String>,
    /// What is left on it, in the material's unit.
    pub remaining: Option<Amount>,
    /// Its number in the system that knows spools.
    pub spool: Option<i64>,
}

/// What the system that knows spools says of the spool in a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpoolLeft {
    /// Number of the slot.
    pub slot: u32,
    /// Number of the spool there.
    pub spool: i64,
    /// What the slot said was left when this was decided.
    pub was: Option<Amount>,
    /// What is left.
    pub left: Amount,
    /// The material that such spools are linked to, if any.
    pub material: Option<Id>,
}

/// Spools of this vendor's code and colour are this material.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpoolBinding {
    /// As the vendor marks such spools.
    pub vendor_code: Option<String>,
    /// Colour as `#rrggbb`.
    pub color: Option<String>,
    /// What such spools are of. Named unlike the material in a slot, because remembering a material is no use of it.
    #[serde(rename = "boundTo")]
    pub material_id: Id,
}

impl SpoolBinding {
    /// The spools of a material that has a vendor's code.
    pub fn of(material: &Material) -> Option<Self> {
        let fields = &material.fields;
        let vendor_code = Some(fields.vendor_code.clone()?);
        let color = fields.color.as_ref().map(|color| color.to_ascii_lowercase());
        (!material.archived).then_some(Self { vendor_code, color, material_id: material.id })
    }

    fn is_of(&self, vendor_code: Option<&String>, color: Option<&String>) -> bool {
        (self.vendor_code.as_ref(), self.color.as_ref()) == (vendor_code, color)
    }
}

/// A material in a slot must not be deleted.
fn named(material: Option<Id>) -> Option<Requirement> {
    material.map(|id| Requirement::not_deleted(Referenced::Material, id, "materialId"))
}

impl Printer {
    /// All slots, by their numbers. A printer of which nobody said more than what is loaded has one.
    pub fn slots(&self) -> Vec<Slot> {
        if !self.slots.is_empty() {
            return self.slots.clone();
        }
        vec![Slot {
            slot: 0,
            material_id: self.fields.loaded_material_id,
            color: None,
            remaining: None,
            source: SlotSource::Manual,
            vendor_code: None,
            kind: None,
            weighed: false,
            spool: None,
            updated_at: self.created_at,
        }]
    }

    /// With these slots, for tests of others.
    #[cfg(test)]
    pub(crate) fn with_slots(mut self, slots: Vec<Slot>) -> Self {
        self.put_slots(slots);
        self
    }

    /// The printer as the match sees it. `types` says what printers of its type print, and from where.
    pub fn launch_facts(&self, types: &KnownTypes) -> LaunchFacts {
        let fields = &self.fields;
        let slot = |one: Slot| SlotFacts {
            slot: one.slot,
            material_id: one.material_id,
            remaining: one.remaining,
            reported: one.source == SlotSource::Printer,
        };
        let slots = self.slots().into_iter().map(slot).collect();
        let facts = LaunchFacts::new(types.of(&fields.kind), fields.machine_type, fields.build_volume, slots);
        let facts = facts.equipped(fields.nozzle.as_ref().map(|one| one.diameter), fields.plate_type.as_deref());
        facts.of_model(fields.model.as_deref())
    }

    /// The slots from which the printer would take what a job needs; else what is missing, in words for people.
    pub(super) fn resolve_slots(&self, needs: &LaunchNeeds, types: &KnownTypes) -> Result<Vec<ChosenSlot>, String> {
        let found = fit(needs, &self.launch_facts(types));
        if found.fits() {
            return Ok(found.slots);
        }
        Err(format!("the printer is not fit for it: {}", found.words(&|_| ("its material".to_owned(), "units"))))
    }

    /// For each filament of a file the slot that was chosen for it, with what the printer says is in it.
    pub(super) fn filament_slots(&self, file: &SlicedFor, chosen: &[ChosenSlot]) -> Vec<Option<FilamentSlot>> {
        let spool = |number: u32| {
            let slot = self.slots.iter().find(|one| one.slot == number && one.source == SlotSource::Printer)?;
            Some(ReportedSpool { vendor_code: slot.vendor_code.clone(), color: slot.color.clone() })
        };
        let with_spool = |slot: u32| FilamentSlot { slot, spool: spool(slot) };
        file.slots(chosen).into_iter().map(|slot| slot.map(with_spool)).collect()
    }

    /// Whether the slots that were chosen still hold enough of what they were chosen for; otherwise which does not.
    pub(super) fn still_holds(&self, chosen: &[ChosenSlot]) -> Result<(), String> {
        let slots = self.slots();
        for one in chosen {
            let holds = |slot: &Slot| {
                slot.slot == one.slot
                    && (slot.material_id == Some(one.needed.material_id) || (!one.loaded && slot.material_id.is_none()))
                    && slot.remaining.is_none_or(|left| left >= one.needed.need)
            };
            if !slots.iter().any(holds) {
                return Err(format!("slot {} no longer holds what the print was to take from it", one.slot));
            }
        }
        Ok(())
    }

    /// An operator says what is in a slot: one word for a swap of spools. A slot that is not there yet is added.
    pub(super) fn load_slot(
        self,
        number: u32,
        spool: &Spool,
        cx: &DecisionContext<'_>,
    ) -> Result<Decision<Self>, Refusal> {
        if number >= MAX_SLOTS {
            return Err(Refusal::conflict("no_such_slot", format!("slots are numbered from 0 to {}", MAX_SLOTS - 1)));
        }
        let change = |printer: &mut Self| {
            let mut slots = printer.slots();
            let old = slots.iter().find(|one| one.slot == number).cloned();
            let reported = old.filter(|one| one.source == SlotSource::Printer);
            slots.retain(|one| one.slot != number);
            let new = match reported {
                // The printer says what it is and, if it can, how much: the operator says to which material it belongs.
                Some(known) => {
                    printer.remember(&known, spool.material_id);
                    let alike = |one: &&mut Slot| {
                        one.source == SlotSource::Printer
                            && one.material_id.is_none()
                            && (&one.vendor_code, &one.color) == (&known.vendor_code, &known.color)
                    };
                    slots.iter_mut().filter(alike).for_each(|one| one.material_id = spool.material_id);
                    let remaining = if known.weighed { known.remaining } else { spool.remaining };
                    Slot { material_id: spool.material_id, remaining, spool: spool.spool, updated_at: cx.now, ..known }
                }
                None => Slot {
                    slot: number,
                    material_id: spool.material_id,
                    color: spool.color.clone(),
                    remaining: spool.remaining,
                    source: SlotSource::Manual,
                    vendor_code: None,
                    kind: None,
                    weighed: false,
                    spool: spool.spool,
                    updated_at: cx.now,
                },
            };
            slots.push(new);
            printer.put_slots(slots);
        };
        Ok(self.say(cx, change, Some("printer.updated")).requires(named(spool.material_id)))
    }

    /// An operator takes a slot away that the printer does not have. The last one stays.
    pub(super) fn remove_slot(self, number: u32, cx: &DecisionContext<'_>) -> Result<Decision<Self>, Refusal> {
        let slots = self.slots();
        if !slots.iter().any(|one| one.slot == number) {
            return Err(Refusal::not_found("slot"));
        }
        if slots.len() == 1 {
            return Err(Refusal::conflict("last_slot", "a printer has one slot at least; say what is in it instead"));
        }
        let change = |printer: &mut Self| {
            let left = slots.into_iter().filter(|one| one.slot != number).collect();
            printer.put_slots(left);
        };
        Ok(self.say(cx, change, Some("printer.updated")))
    }

    /// `loadedMaterialId` was written: it is the material of the first slot. Another material is another spool.
    pub(super) fn loaded_by_fields(&mut self, now: Timestamp) {
        let loaded = self.fields.loaded_material_id;
        if let Some(first) = self.slots.first_mut()
            && first.material_id != loaded
        {
            (first.material_id, first.color, first.remaining) = (loaded, None, None);
            (first.source, first.vendor_code, first.weighed) = (SlotSource::Manual, None, false);
            first.kind = None;
            first.spool = None;
            first.updated_at = now;
        }
    }

    /// The system that knows spools says what is left on one. Heeded only while the slot is as the caller saw it:
    /// meanwhile a print may have used some, or the spool may have been swapped. An unbound slot gets the spool's
    /// material.
    pub(super) fn spool_left(self, said: &SpoolLeft, cx: &DecisionContext<'_>) -> Decision<Self> {
        let SpoolLeft { slot: number, spool, was, left, material } = *said;
        let as_seen =
            |one: &Slot| one.slot == number && one.spool == Some(spool) && one.remaining == was && !one.weighed;
        let Some(before) = self.slots.iter().find(|one| as_seen(one)).filter(|_| self.in_hand.is_none()) else {
            return Decision::unchanged(PrinterAnswer::Done);
        };
        let bound = before.material_id.or(material);
        let slot = Slot { remaining: Some(left), material_id: bound, updated_at: cx.now, ..before.clone() };
        if (slot.remaining, slot.material_id) == (before.remaining, before.material_id) {
            return Decision::unchanged(PrinterAnswer::Done);
        }
        let newly = bound.filter(|_| before.material_id.is_none());
        let mut next = self.clone();
        let mut slots: Vec<Slot> = self.slots.iter().filter(|one| one.slot != number).cloned().collect();
        slots.push(slot);
        next.put_slots(slots);
        next.updated_at = cx.now;
        Decision::to(next, PrinterAnswer::Done).requires(named(newly))
    }

    /// Keeps, or with `None` forgets, to which material spools like this one belong.
    fn remember(&mut self, spool: &Slot, material: Option<Id>) {
        if spool.vendor_code.is_none() && spool.color.is_none() {
            return;
        }
        self.bindings.retain(|one| !one.is_of(spool.vendor_code.as_ref(), spool.color.as_ref()));
        let (vendor_code, color) = (spool.vendor_code.clone(), spool.color.clone());
        self.bindings.extend(material.map(|material_id| SpoolBinding { vendor_code, color, material_id }));
        let many = self.bindings.len().saturating_sub(MAX_BINDINGS);
        self.bindings.drain(..many);
    }

    /// Sets all slots, and what is loaded with them.
    fn put_slots(&mut self, mut slots: Vec<Slot>) {
        slots.sort_by_key(|one| one.slot);
        self.fields.loaded_material_id = slots.first().and_then(|first| first.material_id);
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests;
