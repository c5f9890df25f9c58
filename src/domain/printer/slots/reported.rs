//! Slots of printers that report their spools: the report is recorded, and its spools are bound to the materials that
//! the shop has assigned to them.

use super::{MAX_SLOTS, Slot, SlotSource, SpoolBinding, named};
use crate::aggregate::{Confirmation, Decision, DecisionContext};
use crate::id::Id;
use crate::printer::Printer;
use crate::printer_status::ReportedSlot;
use crate::requirement::Requirement;

/// Returns the material for spools with this code and colour according to the first matching binding.
fn material_of(vendor_code: Option<&String>, color: Option<&String>, bindings: &[SpoolBinding]) -> Option<Id> {
    let mut of_it = bindings.iter().filter(|binding| binding.is_of(vendor_code, color));
    of_it.next().filter(|_| vendor_code.is_some() || color.is_some()).map(|binding| binding.material_id)
}

impl Slot {
    /// Returns whether the printer reported the spool in the slot and no material is assigned to it.
    pub(super) fn is_unbound(&self) -> bool {
        self.source == SlotSource::Printer && self.material_id.is_none()
    }
}

impl Printer {
    /// Records the spools reported by the printer. The first matching binding in `bindings` determines the material of
    /// each spool, including spools that are already in their slot without a material.
    pub(in crate::printer) fn report_slots(
        self,
        reported: &[ReportedSlot],
        bindings: &[SpoolBinding],
        cx: &DecisionContext<'_>,
    ) -> Decision<Self> {
        let mut slots: Vec<Slot> = Vec::new();
        for one in reported.iter().filter(|one| one.slot < MAX_SLOTS).map(ReportedSlot::bounded) {
            if slots.iter().any(|other| other.slot == one.slot) {
                continue;
            }
            let before = self.slots.iter().find(|slot| slot.slot == one.slot && slot.source == SlotSource::Printer);
            let same = before.filter(|slot| (&slot.vendor_code, &slot.color) == (&one.vendor_code, &one.color));
            let bound = || material_of(one.vendor_code.as_ref(), one.color.as_ref(), bindings);
            let slot = Slot {
                slot: one.slot,
                material_id: same.and_then(|slot| slot.material_id).or_else(bound),
                remaining: one.remaining.or_else(|| same.filter(|slot| !slot.weighed)?.remaining),
                weighed: one.remaining.is_some(),
                spool: same.and_then(|slot| slot.spool),
                vendor_code: one.vendor_code,
                kind: one.kind,
                color: one.color,
                source: SlotSource::Printer,
                updated_at: cx.now,
            };
            let unchanged = before.filter(|before| Slot { updated_at: before.updated_at, ..slot.clone() } == **before);
            slots.push(unchanged.cloned().unwrap_or(slot));
        }
        // What operators said of other slots stays, such as of a spool beside the changer; what the printer no longer
        // reports goes.
        let manual = self.slots.iter().filter(|slot| slot.source == SlotSource::Manual);
        let other: Vec<Slot> = manual.filter(|slot| slots.iter().all(|one| one.slot != slot.slot)).cloned().collect();
        slots.extend(other);
        let mut next = self.clone();
        if !slots.is_empty() {
            next.put_slots(slots);
        }
        if next == self {
            return Decision::unchanged(Confirmation::Done);
        }
        let newly = next.slots.iter().filter_map(|slot| slot.material_id);
        let newly = newly.filter(|id| self.slots.iter().all(|slot| slot.material_id != Some(*id)));
        let requirements: Vec<Requirement> = newly.filter_map(|id| named(Some(id))).collect();
        next.updated_at = cx.now;
        Decision::to(next, Confirmation::Done).requires(requirements)
    }

    /// Returns the materials that operators assigned to spools reported by this printer, newest first.
    pub fn bindings(&self) -> impl Iterator<Item = &SpoolBinding> {
        self.bindings.iter().rev()
    }

    /// Returns whether any reported spool has no material.
    pub fn has_unbound_spools(&self) -> bool {
        self.slots.iter().any(Slot::is_unbound)
    }

    /// Returns whether any of the given bindings matches a spool in this printer that has no material.
    pub fn binds(&self, bindings: &[SpoolBinding]) -> bool {
        let of_known = |slot: &Slot| material_of(slot.vendor_code.as_ref(), slot.color.as_ref(), bindings).is_some();
        self.slots.iter().any(|slot| slot.is_unbound() && of_known(slot))
    }

    /// Returns whether a report contains anything that has not been recorded yet.
    pub fn slots_matter(&self, reported: &[ReportedSlot]) -> bool {
        let of_printer = || self.slots.iter().filter(|slot| slot.source == SlotSource::Printer);
        let as_reported = |slot: &Slot| ReportedSlot {
            slot: slot.slot,
            vendor_code: slot.vendor_code.clone(),
            kind: slot.kind.clone(),
            color: slot.color.clone(),
            remaining: slot.remaining.filter(|_| slot.weighed),
        };
        let is_reported = |one: &ReportedSlot| of_printer().any(|slot| as_reported(slot) == one.bounded());
        reported.len() != of_printer().count() || !reported.iter().all(is_reported)
    }
}
