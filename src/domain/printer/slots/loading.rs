//! Printer as it would be after somebody loaded the spools that a job lacks. Nothing is loaded: forecasts compare what
//! would follow from it.

use super::{Slot, SlotSource};
use crate::id::Id;
use crate::launch::{KnownTypes, LaunchNeeds, fit};
use crate::printer::Printer;

impl Printer {
    /// Returns the printer as it would be with full spools of the materials that a job lacks, in the slots from which
    /// the job would take them. A spool with too little left is replaced, then empty slots are used, then slots whose
    /// material the job does not need. Returns `None` if loading spools does not suffice.
    pub fn loaded_for(&self, needs: &LaunchNeeds, types: &KnownTypes) -> Option<Self> {
        let maps_slots = types.of(&self.fields.kind).maps_slots;
        let mut slots = self.slots();
        for mismatch in &fit(needs, &self.launch_facts(types)).missing {
            load(&mut slots, mismatch.spool()?, needs, maps_slots)?;
        }
        let mut loaded = self.clone();
        loaded.put_slots(slots);
        fit(needs, &loaded.launch_facts(types)).fits().then_some(loaded)
    }
}

/// Puts a full spool of a material into the slots from which the job takes it; `None` if there is no such slot.
fn load(slots: &mut [Slot], material: Id, needs: &LaunchNeeds, maps_slots: bool) -> Option<()> {
    let filaments = needs.sliced_for.filaments.iter().filter(|used| used.material_id == material);
    let numbers: Vec<u32> = filaments.map(|used| used.filament).collect();
    let fill = |slot: &mut Slot| (slot.material_id, slot.remaining) = (Some(material), None);
    if slots.len() > 1 && !maps_slots && !numbers.is_empty() {
        slots.iter_mut().filter(|slot| numbers.contains(&slot.slot)).for_each(fill);
        return Some(());
    }
    let is_needed = |id: Id| id != material && needs.materials.iter().any(|one| one.material_id == id);
    let usable = slots.iter_mut().filter(|slot| slot.material_id.is_none_or(|id| !is_needed(id)));
    // A spool outside of the changer may be out of reach.
    let place = usable.min_by_key(|slot| {
        (slot.material_id != Some(material), slot.material_id.is_some(), slot.source == SlotSource::Manual, slot.slot)
    });
    place.map(fill)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::amount::Amount;
    use crate::sku::MachineType;
    use crate::testing::id;
    use crate::testing::samples::{idle_printer, printer_fields, sliced_job};
    use crate::time::Timestamp;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    /// Builds a slot with a material and the amount left of it.
    fn slot(number: u32, material: Option<u32>, left: Option<i64>) -> Slot {
        Slot {
            slot: number,
            material_id: material.map(id),
            color: None,
            remaining: left.map(Amount::units),
            source: SlotSource::Manual,
            vendor_code: None,
            kind: None,
            weighed: false,
            spool: None,
            updated_at: NOW,
        }
    }

    /// Returns the material and the amount left in each slot after it was loaded for a job that takes ten grams of the
    /// material 2; `None` if loading spools does not suffice.
    fn loaded(machine: MachineType, slots: Vec<Slot>) -> Option<Vec<(Option<Id>, Option<Amount>)>> {
        let printer = idle_printer(5, printer_fields("printer", machine), NOW).with_slots(slots);
        let needs = sliced_job(11, 10, NOW).launch_needs();
        let loaded = printer.loaded_for(&needs, &KnownTypes::default())?;
        assert!(fit(&needs, &loaded.launch_facts(&KnownTypes::default())).fits());
        Some(loaded.slots().into_iter().map(|slot| (slot.material_id, slot.remaining)).collect())
    }

    #[test]
    fn a_missing_spool_takes_the_place_of_one_that_is_not_needed() {
        let large = MachineType::FdmLarge;
        assert_eq!(loaded(large, vec![slot(0, Some(9), Some(40))]), Some(vec![(Some(id(2)), None)]));
        assert_eq!(loaded(large, vec![slot(0, Some(2), Some(4))]), Some(vec![(Some(id(2)), None)]), "a fuller one");
        let other = loaded(large, vec![slot(0, Some(2), Some(400))]).unwrap();
        assert_eq!(other, [(Some(id(2)), Some(Amount::units(400)))], "nothing is missing");
    }

    #[test]
    fn what_no_spool_resolves_is_not_resolved() {
        assert_eq!(loaded(MachineType::ResinLarge, vec![slot(0, Some(9), None)]), None);
    }

    #[test]
    fn a_full_spool_goes_into_an_empty_slot_first() {
        let mut slots = vec![slot(0, Some(9), None), slot(1, None, None), slot(2, Some(8), None)];
        let needs = sliced_job(11, 10, NOW).launch_needs();
        load(&mut slots, id(2), &needs, true).unwrap();
        let materials: Vec<Option<Id>> = slots.iter().map(|slot| slot.material_id).collect();
        assert_eq!(materials, [Some(id(9)), Some(id(2)), Some(id(8))]);
        let mut short = vec![slot(0, None, None), slot(1, Some(2), Some(1))];
        load(&mut short, id(2), &needs, true).unwrap();
        assert_eq!((short[0].material_id, short[1].remaining), (None, None), "the spool that runs out is replaced");
    }
}
