//! Material that planned prints leave on the spools of the printers, and the first printer on which too little is left.

use std::collections::{BTreeMap, HashMap};

use crate::amount::Amount;
use crate::id::Id;
use crate::launch::MaterialNeed;
use crate::printer::Printer;
use crate::sku::MachineType;
use crate::time::Timestamp;

/// Amount of each material left on a printer's spools; `None` if the amount on one of them is unknown.
pub(super) struct SpoolsLeft(BTreeMap<Id, Option<Amount>>);

impl SpoolsLeft {
    pub(super) fn of(printer: &Printer) -> Self {
        let mut left: BTreeMap<Id, Option<Amount>> = BTreeMap::new();
        for slot in printer.slots() {
            let Some(material) = slot.material_id else { continue };
            let sum = left.entry(material).or_insert(Some(Amount::ZERO));
            *sum = sum.zip(slot.remaining).map(|(sum, more)| sum + more);
        }
        Self(left)
    }

    /// Subtracts the material that prints use.
    pub(super) fn take(&mut self, needs: &[MaterialNeed]) {
        for need in needs {
            if let Some(Some(left)) = self.0.get_mut(&need.material_id) {
                *left -= need.need;
            }
        }
    }

    /// Subtracts the material that the current print has yet to use; returns the materials that run short. The amount
    /// on a spool that its printer weighs falls during the print, on any other spool when the print ends.
    pub(super) fn take_current(&mut self, printer: &Printer) -> Vec<Id> {
        let Some(hand) = printer.in_hand.as_ref().filter(|hand| !hand.over()) else { return Vec::new() };
        let slots = printer.slots();
        let needs = hand.used_slots.iter().map(|used| {
            let is_weighed = slots.iter().any(|slot| slot.slot == used.slot && slot.weighed);
            let share = if is_weighed { 1.0 - hand.progress } else { 1.0 };
            MaterialNeed { need: used.needed.need.part(share), ..used.needed }
        });
        let needs: Vec<MaterialNeed> = needs.collect();
        self.take(&needs);
        self.0.iter().filter(|(_, left)| left.is_some_and(|left| left < Amount::ZERO)).map(|(id, _)| *id).collect()
    }

    /// Returns the materials that are too scarce for these needs; `None` if there is enough, or if one of them is not
    /// loaded.
    fn short_for(&self, needs: &[MaterialNeed]) -> Option<Vec<Id>> {
        let mut short = Vec::new();
        for need in needs {
            if self.0.get(&need.material_id)?.is_some_and(|left| left < need.need) {
                short.push(need.material_id);
            }
        }
        Some(short).filter(|short| !short.is_empty())
    }
}

/// Printer with the time at which it will be free for a job, and the amounts left on its spools by then.
type FreePrinter<'a> = (Timestamp, &'a Printer, SpoolsLeft);
/// Printers that have less of a material left than every printer before them, by position, with the amount.
type SpoolLows = Vec<(usize, Amount)>;

/// Spools of the printers that will be free for a job, indexed so that a job's needs are looked up instead of being
/// compared with each printer.
pub(super) struct FreeSpools<'a> {
    /// Printers, in order of availability.
    printers: Vec<FreePrinter<'a>>,
    /// Positions of the printers, by machine type and material that they hold, in order.
    holders: HashMap<(MachineType, Id), Vec<usize>>,
    /// Lows of each material in a set, among the printers of a machine type that hold the whole set. Added as needed.
    lows: HashMap<(MachineType, Vec<Id>), Vec<SpoolLows>>,
}

impl<'a> FreeSpools<'a> {
    /// Indexes the spools of the printers.
    pub(super) fn new(mut printers: Vec<FreePrinter<'a>>) -> Self {
        printers.sort_by_key(|(at, printer, _)| (*at, printer.id));
        let mut holders: HashMap<(MachineType, Id), Vec<usize>> = HashMap::new();
        for (position, (_, printer, left)) in printers.iter().enumerate() {
            for material in left.0.keys() {
                holders.entry((printer.fields.machine_type, *material)).or_default().push(position);
            }
        }
        Self { printers, holders, lows: HashMap::new() }
    }

    /// Returns the earliest free printer that holds all materials of these needs but too little of some, with the time
    /// at which it is free and the scarce materials; `None` if there is no such printer.
    pub(super) fn first_short_for(
        &mut self,
        machine: MachineType,
        needs: &[MaterialNeed],
    ) -> Option<(Timestamp, Id, Vec<Id>)> {
        let key = (machine, needs.iter().map(|need| need.material_id).collect());
        let (printers, holders) = (&self.printers, &self.holders);
        let lows = self.lows.entry(key).or_insert_with_key(|(machine, materials)| {
            let rarest =
                materials.iter().map(|id| holders.get(&(*machine, *id)).map(Vec::as_slice).unwrap_or_default());
            lows(printers, rarest.min_by_key(|positions| positions.len()).unwrap_or_default(), materials)
        });
        let first = needs.iter().zip(lows.iter()).filter_map(|(need, lows)| {
            let before = lows.partition_point(|(_, left)| *left >= need.need);
            lows.get(before).map(|(position, _)| *position)
        });
        let (at, printer, left) = printers.get(first.min()?)?;
        Some((*at, printer.id, left.short_for(needs)?))
    }
}

/// Returns the lows of each material among the printers at `positions` that hold all the materials. A spool whose
/// remaining amount is unknown is not a low.
fn lows(printers: &[FreePrinter<'_>], positions: &[usize], materials: &[Id]) -> Vec<SpoolLows> {
    let mut all: Vec<SpoolLows> = vec![Vec::new(); materials.len()];
    for position in positions {
        let Some((_, _, left)) = printers.get(*position) else { continue };
        let amounts: Option<Vec<Option<Amount>>> = materials.iter().map(|id| left.0.get(id).copied()).collect();
        for (lows, amount) in all.iter_mut().zip(amounts.into_iter().flatten()) {
            if let Some(amount) = amount.filter(|amount| lows.last().is_none_or(|(_, low)| amount < low)) {
                lows.push((*position, amount));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::id;
    use crate::testing::samples::{idle_printer, printer_fields};

    const NOW: Timestamp = Timestamp(1_763_719_200_000);

    fn need(material: u32, units: i64) -> MaterialNeed {
        MaterialNeed { material_id: id(material), need: Amount::units(units) }
    }

    fn printer(number: u32, is_large: bool) -> Printer {
        let machine = if is_large { MachineType::FdmLarge } else { MachineType::ResinLarge };
        idle_printer(number, printer_fields("printer", machine), NOW)
    }

    fn left(amounts: &[Option<Option<i64>>]) -> SpoolsLeft {
        let held = (1u32..).zip(amounts).filter_map(|(number, left)| Some((id(number), (*left)?.map(Amount::units))));
        SpoolsLeft(held.collect())
    }

    #[test]
    fn needs_of_the_same_materials_are_looked_up_together() {
        let printers: Vec<Printer> = (1..=50).map(|number| printer(number, true)).collect();
        let free = printers.iter().map(|printer| (NOW, printer, left(&[Some(Some(100)), Some(None)]))).collect();
        let mut spools = FreeSpools::new(free);
        for units in 1..=200 {
            let short = spools.first_short_for(MachineType::FdmLarge, &[need(1, units)]);
            assert_eq!(short, (units > 100).then(|| (NOW, id(1), vec![id(1)])), "{units}");
        }
        assert_eq!(spools.lows.len(), 1);
        let lows: Vec<SpoolLows> = spools.lows.into_values().flatten().collect();
        assert_eq!(lows, [[(0, Amount::units(100))]], "the other printers have as much left");
    }

    proptest! {
        /// Checks for arbitrary spools that the printer found is the earliest free one with too little material.
        #[test]
        fn the_first_printer_with_too_little_is_found(
            // For each printer: the time at which it is free, whether it is large, and the amounts left of materials 1
            // to 3: `None` for a material that is not loaded, `Some(None)` if the amount is unknown.
            floor in prop::collection::vec(
                (0i64..4, any::<bool>(), prop::collection::vec(prop::option::of(prop::option::of(0i64..6)), 3)), 0..8
            ),
            needs in prop::collection::vec(prop::collection::btree_map(1u32..4, 1i64..6, 1..4), 1..6),
        ) {
            let machines = (1u32..).zip(&floor).map(|(number, (_, is_large, _))| printer(number, *is_large));
            let printers: Vec<Printer> = machines.collect();
            let free = || {
                floor.iter().zip(&printers).map(|((at, _, amounts), one)| (Timestamp(*at), one, left(amounts)))
            };
            let mut sorted: Vec<FreePrinter<'_>> = free().collect();
            sorted.sort_by_key(|(at, printer, _)| (*at, printer.id));
            let mut spools = FreeSpools::new(free().collect());
            for needs in needs {
                let needs = needs.into_iter().map(|(material, units)| need(material, units));
                let needs: Vec<MaterialNeed> = needs.collect();
                for machine in [MachineType::FdmLarge, MachineType::ResinLarge] {
                    let mut suitable = sorted.iter().filter(|(_, printer, _)| printer.fields.machine_type == machine);
                    let first = suitable.find_map(|(at, one, left)| Some((*at, one.id, left.short_for(&needs)?)));
                    prop_assert_eq!(spools.first_short_for(machine, &needs), first);
                }
            }
        }
    }
}
