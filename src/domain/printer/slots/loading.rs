//! Hypothetical state of a printer after the spools that a job lacks have been loaded. Nothing is actually loaded;
//! forecasts use it to compare the consequences.

use super::{Slot, SlotSource};
use crate::id::Id;
use crate::launch::{KnownTypes, LaunchNeeds, fit};
use crate::printer::{AttemptPhase, Printer};
use crate::printer_status::Activity;

impl Printer {
    /// Returns the printer as it would be with full spools of the materials that a job lacks, in the slots from which
    /// the job would take them. A spool with too little left is replaced, then empty slots are used, then slots whose
    /// material the job does not need; never one that a print needs meanwhile. Returns `None` if loading spools does
    /// not suffice.
    pub fn loaded_for(&self, needs: &LaunchNeeds, types: &KnownTypes) -> Option<Self> {
        let maps_slots = types.of(&self.fields.kind).maps_slots;
        let mut slots = self.slots();
        for mismatch in &fit(needs, &self.launch_facts(types)).missing {
            load(&mut slots, mismatch.spool()?, needs, maps_slots, &|slot| self.can_swap_spool(slot))?;
        }
        let mut loaded = self.clone();
        loaded.put_slots(slots);
        fit(needs, &loaded.launch_facts(types)).fits().then_some(loaded)
    }

    /// Returns whether the spool in any of the slots can be swapped now because no print needs it.
    pub fn can_swap_spools(&self) -> bool {
        self.slots().iter().any(|slot| self.can_swap_spool(slot.slot))
    }

    /// Returns whether the spool in a slot can be swapped now: no print needs it, as far as is known. The needs of a
    /// print outside of jobs are unknown, and a paused print may have run out of any material.
    fn can_swap_spool(&self, slot: u32) -> bool {
        if self.foreign_print() || self.manual.is_some() || self.activity == Activity::Paused {
            return false;
        }
        let Some(in_hand) = self.in_hand.as_ref().filter(|in_hand| !in_hand.over()) else { return true };
        let is_paused = matches!(in_hand.phase, AttemptPhase::Paused { .. });
        // Attempts that predate the field do not say which slots they use.
        !is_paused && !in_hand.used_slots.is_empty() && in_hand.used_slots.iter().all(|used| used.slot != slot)
    }
}

/// Puts a full spool of a material into the slots from which the job takes it, if the spools in them can be swapped;
/// `None` if there is no such slot.
fn load(
    slots: &mut [Slot],
    material: Id,
    needs: &LaunchNeeds,
    maps_slots: bool,
    can_swap: &dyn Fn(u32) -> bool,
) -> Option<()> {
    let filaments = needs.sliced_for.filaments.iter().filter(|used| used.material_id == material);
    let numbers: Vec<u32> = filaments.map(|used| used.filament).collect();
    let fill = |slot: &mut Slot| (slot.material_id, slot.remaining) = (Some(material), None);
    if slots.len() > 1 && !maps_slots && !numbers.is_empty() {
        slots.iter_mut().filter(|slot| numbers.contains(&slot.slot) && can_swap(slot.slot)).for_each(fill);
        return Some(());
    }
    let is_needed = |id: Id| id != material && needs.materials.iter().any(|one| one.material_id == id);
    let is_usable = |slot: &&mut Slot| can_swap(slot.slot) && slot.material_id.is_none_or(|id| !is_needed(id));
    let usable = slots.iter_mut().filter(is_usable);
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
    use crate::launch::UsedFilament;
    use crate::printer::TakeAttempt;
    use crate::sku::MachineType;
    use crate::testing::samples::{idle_printer, printer_fields, sliced_job};
    use crate::testing::{Bench, id};
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
        load(&mut slots, id(2), &needs, true, &|_| true).unwrap();
        let materials: Vec<Option<Id>> = slots.iter().map(|slot| slot.material_id).collect();
        assert_eq!(materials, [Some(id(9)), Some(id(2)), Some(id(8))]);
        let mut short = vec![slot(0, None, None), slot(1, Some(2), Some(1))];
        load(&mut short, id(2), &needs, true, &|_| true).unwrap();
        assert_eq!((short[0].material_id, short[1].remaining), (None, None), "the spool that runs out is replaced");
    }

    /// Builds a printer with these slots that has just taken a job that needs the material 9.
    fn busy(slots: Vec<Slot>) -> Printer {
        let mut bench = Bench::new();
        bench.now = NOW;
        let printer = idle_printer(5, printer_fields("printer", MachineType::FdmLarge), NOW).with_slots(slots);
        let mut needs = sliced_job(21, 20, NOW).launch_needs();
        needs.materials.iter_mut().for_each(|needed| needed.material_id = id(9));
        needs.sliced_for.filaments = vec![UsedFilament { filament: 0, material_id: id(9), grams: None }];
        let take = TakeAttempt {
            attempt: id(50),
            job: id(21),
            order: id(20),
            file_id: id(3),
            file_name: "a.gcode".into(),
            claimed_at: NOW,
            needs: Box::new(needs),
            types: KnownTypes::default(),
            stated_mm: None,
            estimated_seconds: Some(3600),
        };
        let mut busy = Some(printer);
        bench.tell(&mut busy, id(5), &take).unwrap();
        busy.unwrap()
    }

    /// Returns the material in each slot of a printer after it was loaded for a job that takes the material 2 from the
    /// slot with the given number; `None` if it cannot be loaded.
    fn loaded_at(printer: &Printer, filament: u32) -> Option<Vec<Option<Id>>> {
        let mut needs = sliced_job(11, 10, NOW).launch_needs();
        needs.sliced_for.filaments = vec![UsedFilament { filament, material_id: id(2), grams: None }];
        let loaded = printer.loaded_for(&needs, &KnownTypes::default())?;
        Some(loaded.slot_materials().collect())
    }

    #[test]
    fn a_slot_from_which_the_printer_prints_is_not_loaded() {
        let printer = busy(vec![slot(0, Some(9), Some(40)), slot(1, Some(8), None)]);
        assert_eq!(printer.in_hand.as_ref().unwrap().used_slots[0].slot, 0);
        assert_eq!(loaded_at(&printer, 0), None);
        assert_eq!(loaded_at(&printer, 1), Some(vec![Some(id(9)), Some(id(2))]), "the print does not use the other");
        let single = busy(vec![slot(0, Some(9), Some(40))]);
        assert_eq!(loaded_at(&single, 0), None, "it has no other");
        assert_eq!([&printer, &single].map(Printer::can_swap_spools), [true, false]);
        let mut over = printer.clone();
        let phase = AttemptPhase::Stopped { reason: String::new() };
        over.in_hand.iter_mut().for_each(|in_hand| in_hand.phase = phase.clone());
        assert_eq!(loaded_at(&over, 0), Some(vec![Some(id(2)), Some(id(8))]), "the print is over");
        let mut old = printer;
        old.in_hand.iter_mut().for_each(|in_hand| in_hand.used_slots.clear());
        assert_eq!(loaded_at(&old, 1), None, "nobody knows which slots it uses");
    }

    #[test]
    fn nothing_is_loaded_during_a_print_of_which_nobody_knows_what_it_needs() {
        let slots = || vec![slot(0, Some(9), Some(40)), slot(1, Some(8), None)];
        let idle = || idle_printer(5, printer_fields("printer", MachineType::FdmLarge), NOW).with_slots(slots());
        assert!(loaded_at(&idle(), 1).is_some());
        let foreign = Printer { activity: Activity::Printing, ..idle() };
        assert!(foreign.foreign_print() && loaded_at(&foreign, 1).is_none(), "a print that is no job's");
        let with_file = Printer { shows: Some("other.gcode".to_owned()), ..idle() };
        assert!(with_file.foreign_print() && loaded_at(&with_file, 1).is_none());
        let mut paused = busy(slots());
        let phase = AttemptPhase::Paused { at: NOW };
        paused.in_hand.iter_mut().for_each(|in_hand| in_hand.phase = phase.clone());
        assert_eq!(loaded_at(&paused, 1), None, "a paused one");
    }
}
