//! Slots of a printer: the spool in each, the amount left on it, and its material.
//!
//! A printer with one spool has one slot, and `loadedMaterialId` is its material. Operators enter the content of a
//! slot; printers that recognise their spools report them, by the vendor's code and the colour (`reported`). An
//! operator binds a reported spool to a material once; afterwards, spools with the same code and colour are bound
//! automatically.

mod expected;
mod loading;
mod offers;
mod reported;

pub use expected::SlotReport;
pub use offers::{SpoolOffer, suggest_material};

use serde::{Deserialize, Serialize};

use super::{Printer, PrinterAnswer};
use crate::aggregate::{Confirmation, Decision, DecisionContext};
use crate::amount::Amount;
use crate::id::Id;
use crate::launch::{
    ChosenSlot, FilamentSlot, KnownTypes, LaunchFacts, LaunchNeeds, ReportedSpool, SlicingTarget, SlotFacts, fit,
};
use crate::material::Material;
use crate::refusal::Refusal;
use crate::requirement::{Referenced, Requirement};
use crate::slot_label::{SlotLabel, SlotLabels};
use crate::time::Timestamp;

/// Maximum number of slots per printer, numbered from 0.
pub const MAX_SLOTS: u32 = 64;
/// Maximum number of bindings stored per printer; the oldest are dropped first.
const MAX_BINDINGS: usize = 200;

/// Source of a slot's content.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SlotSource {
    /// Entered by an operator.
    Manual,
    /// Reported by the printer.
    Printer,
}

/// Position on a printer that holds a spool.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Slot {
    /// Slot number, starting at 0, according to the printer's own tool numbers.
    pub slot: u32,
    /// Loaded material, if known.
    pub material_id: Option<Id>,
    /// Colour of the spool as `#rrggbb`.
    pub color: Option<String>,
    /// Amount left on the spool, in the material's unit, if known.
    pub remaining: Option<Amount>,
    /// Source of the content: an operator or the printer.
    pub source: SlotSource,
    /// The vendor's code for the spool, as reported by the printer.
    #[serde(default)]
    pub vendor_code: Option<String>,
    /// Type of plastic on the spool, as reported by the printer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// `true` if the printer itself reports the remaining amount, which is then not calculated.
    #[serde(default)]
    pub weighed: bool,
    /// Number of the spool in the spool management system, if known.
    #[serde(default)]
    pub spool: Option<i64>,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// Content of a slot as entered by an operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spool {
    /// Loaded material; `None` if unknown or empty.
    pub material_id: Option<Id>,
    /// Colour as `#rrggbb`.
    pub color: Option<String>,
    /// Amount left on the spool, in the material's unit.
    pub remaining: Option<Amount>,
    /// Number of the spool in the spool management system.
    pub spool: Option<i64>,
}

/// Remaining amount on the spool in a slot, according to the spool management system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpoolBalance {
    /// Slot that holds the spool.
    pub slot: u32,
    /// Number of the spool in the spool management system.
    pub spool: i64,
    /// Remaining amount that was recorded for the slot when the balance was determined.
    pub was: Option<Amount>,
    /// Amount left on the spool.
    pub left: Amount,
    /// Material linked to spools of this kind, if any.
    pub material: Option<Id>,
}

/// Binding of spools with this vendor code and colour to a material.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpoolBinding {
    /// The vendor's code for the spools.
    pub vendor_code: Option<String>,
    /// Colour as `#rrggbb`.
    pub color: Option<String>,
    /// Material on the spools. Serialised under a different name, because a remembered material is not considered to be
    /// in use.
    #[serde(rename = "boundTo")]
    pub material_id: Id,
}

impl SpoolBinding {
    /// Returns the binding for a material's own spools; `None` if the material has no vendor code or has been deleted.
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

/// Requires that the material in a slot has not been deleted.
fn named(material: Option<Id>) -> Option<Requirement> {
    material.map(|id| Requirement::not_deleted(Referenced::Material, id, "materialId"))
}

impl Printer {
    /// Returns all slots, by number. If only the loaded material of a printer is known, it has one slot.
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

    /// Returns the material in each of the [`Self::slots`], in their order, without copying the slots.
    pub fn slot_materials(&self) -> impl Iterator<Item = Option<Id>> {
        let only_slot = self.slots.is_empty().then_some(self.fields.loaded_material_id);
        self.slots.iter().map(|slot| slot.material_id).chain(only_slot)
    }

    /// Returns whether anything is known about the printer's spools: an operator entered one, or the printer reports
    /// its slots.
    pub fn tracks_spools(&self) -> bool {
        !self.slots.is_empty() || self.fields.loaded_material_id.is_some()
    }

    /// Returns the label of a slot according to the printer type. On a printer whose changers report their slots, the
    /// only slot that none of them reports is the external spool.
    pub fn slot_label(&self, number: u32, labels: SlotLabels) -> SlotLabel {
        let slots = self.slots();
        let mut beside = slots.iter().filter(|one| one.source == SlotSource::Manual).map(|one| one.slot);
        let is_external = beside.next() == Some(number) && beside.next().is_none();
        if labels == SlotLabels::Changers && is_external { SlotLabel::External } else { labels.label(number) }
    }

    /// Returns the printer with the given slots, for tests of other modules.
    #[cfg(any(test, feature = "testing"))]
    pub fn with_slots(mut self, slots: Vec<Slot>) -> Self {
        self.put_slots(slots);
        self
    }

    /// Returns the facts used to match jobs with the printer. `types` contains the file formats and slot capabilities
    /// of each printer type.
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

    /// Returns the slots from which the printer would supply a job. The error describes the missing requirements in
    /// human-readable form.
    pub(super) fn resolve_slots(&self, needs: &LaunchNeeds, types: &KnownTypes) -> Result<Vec<ChosenSlot>, String> {
        let outcome = fit(needs, &self.launch_facts(types));
        if outcome.fits() {
            return Ok(outcome.slots);
        }
        let material = |_: Id| ("its material".to_owned(), "units".to_owned());
        Err(format!("the printer cannot print it: {}", outcome.words(&material)))
    }

    /// Returns the slot chosen for each filament in a file, with its content as reported by the printer.
    pub(super) fn filament_slots(&self, file: &SlicingTarget, chosen: &[ChosenSlot]) -> Vec<Option<FilamentSlot>> {
        let spool = |number: u32| {
            let slot = self.slots.iter().find(|one| one.slot == number && one.source == SlotSource::Printer)?;
            Some(ReportedSpool { vendor_code: slot.vendor_code.clone(), color: slot.color.clone() })
        };
        let with_spool = |slot: u32| FilamentSlot { slot, spool: spool(slot) };
        file.slots(chosen).into_iter().map(|slot| slot.map(with_spool)).collect()
    }

    /// Checks that the chosen slots still hold enough of the materials for which they were chosen. The error mentions
    /// the slot that does not.
    pub(super) fn still_holds(&self, chosen: &[ChosenSlot], labels: SlotLabels) -> Result<(), String> {
        let slots = self.slots();
        for one in chosen {
            let holds = |slot: &Slot| {
                slot.slot == one.slot
                    && (slot.material_id == Some(one.needed.material_id) || (!one.loaded && slot.material_id.is_none()))
                    && slot.remaining.is_none_or(|left| left >= one.needed.need)
            };
            if !slots.iter().any(holds) {
                return Err(format!(
                    "{} no longer holds the material for the print",
                    self.slot_label(one.slot, labels).noun()
                ));
            }
        }
        Ok(())
    }

    /// Sets the content of a slot, so that swapping a spool takes a single command. If the slot does not exist yet, it
    /// is added. Rejected if the printer does not report the expected spool in the slot.
    pub(super) fn load_slot(
        self,
        number: u32,
        spool: &Spool,
        expected: Option<&SlotReport>,
        cx: &DecisionContext<'_>,
    ) -> Result<Decision<Self, PrinterAnswer>, Refusal> {
        if number >= MAX_SLOTS {
            return Err(Refusal::conflict("no_such_slot", format!("slots are numbered from 0 to {}", MAX_SLOTS - 1)));
        }
        expected.map_or(Ok(()), |expected| self.check_report(number, expected))?;
        let change = |printer: &mut Self| {
            let mut slots = printer.slots();
            let old = slots.iter().find(|one| one.slot == number).cloned();
            let reported = old.filter(|one| one.source == SlotSource::Printer);
            slots.retain(|one| one.slot != number);
            let new = match reported {
                // The printer says what it is and, if it can, how much: the operator says to which material it belongs.
                Some(existing) => {
                    printer.remember(&existing, spool.material_id);
                    let alike = |one: &&mut Slot| {
                        one.source == SlotSource::Printer
                            && one.material_id.is_none()
                            && (&one.vendor_code, &one.color) == (&existing.vendor_code, &existing.color)
                    };
                    slots.iter_mut().filter(alike).for_each(|one| one.material_id = spool.material_id);
                    let remaining = if existing.weighed { existing.remaining } else { spool.remaining };
                    Slot {
                        material_id: spool.material_id,
                        remaining,
                        spool: spool.spool,
                        updated_at: cx.now,
                        ..existing
                    }
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

    /// Removes a slot that the printer does not have. The last remaining slot cannot be removed.
    pub(super) fn remove_slot(
        self,
        number: u32,
        cx: &DecisionContext<'_>,
    ) -> Result<Decision<Self, PrinterAnswer>, Refusal> {
        let slots = self.slots();
        if !slots.iter().any(|one| one.slot == number) {
            return Err(Refusal::not_found("slot"));
        }
        if slots.len() == 1 {
            return Err(Refusal::conflict(
                "last_slot",
                "a printer must have at least one slot; change its contents instead",
            ));
        }
        let change = |printer: &mut Self| {
            let left = slots.into_iter().filter(|one| one.slot != number).collect();
            printer.put_slots(left);
        };
        Ok(self.say(cx, change, Some("printer.updated")))
    }

    /// Updates the first slot after `loadedMaterialId` was written. A different material means a different spool.
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

    /// Sets the remaining amount of a spool from the spool management system. Ignored unless the slot is unchanged
    /// since the caller read it, because a print may have used material in the meantime, or the spool may have been
    /// swapped. An unbound slot is bound to the spool's material.
    pub(super) fn spool_left(self, report: &SpoolBalance, cx: &DecisionContext<'_>) -> Decision<Self> {
        let SpoolBalance { slot: number, spool, was, left, material } = *report;
        let as_seen =
            |one: &Slot| one.slot == number && one.spool == Some(spool) && one.remaining == was && !one.weighed;
        let Some(before) = self.slots.iter().find(|one| as_seen(one)).filter(|_| self.in_hand.is_none()) else {
            return Decision::unchanged(Confirmation::Done);
        };
        let bound = before.material_id.or(material);
        let slot = Slot { remaining: Some(left), material_id: bound, updated_at: cx.now, ..before.clone() };
        if (slot.remaining, slot.material_id) == (before.remaining, before.material_id) {
            return Decision::unchanged(Confirmation::Done);
        }
        let newly = bound.filter(|_| before.material_id.is_none());
        let mut next = self.clone();
        let mut slots: Vec<Slot> = self.slots.iter().filter(|one| one.slot != number).cloned().collect();
        slots.push(slot);
        next.put_slots(slots);
        next.updated_at = cx.now;
        Decision::to(next, Confirmation::Done).requires(named(newly))
    }

    /// Stores the material for spools like the given one, or removes the binding if `material` is `None`.
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

    /// Replaces all slots, and derives the loaded material from the first slot.
    fn put_slots(&mut self, mut slots: Vec<Slot>) {
        slots.sort_by_key(|one| one.slot);
        self.fields.loaded_material_id = slots.first().and_then(|first| first.material_id);
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests;
