//! Materials for a file's filaments if none are specified: those loaded in the printers that can print the file,
//! provided that they are unambiguous. Not used for choosing slots, which happens again at each launch.

use std::collections::{BTreeMap, BTreeSet};

use super::{Printer, Slot, SlotSource};
use crate::file::{GcodeForm, PlateFilament};
use crate::id::Id;
use crate::launch::KnownTypes;
use crate::sku::MachineType;

/// Materials by filament number in the file.
pub type FilamentMaterials = BTreeMap<u32, Id>;

/// Reason why the loaded materials do not determine a file's materials.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Undecided {
    /// No printer has a material loaded for every filament.
    NotLoaded,
    /// The result is ambiguous: printers have different materials for the filaments, or one printer has several
    /// candidates.
    Several,
}

/// Returns the materials of a file's filaments; a file without a list of filaments is treated as having filament 0
/// only. All printers of the given machine type that print such files and have a material for each filament must agree.
pub fn loaded_materials<'a>(
    filaments: &[PlateFilament],
    form: GcodeForm,
    machine_type: MachineType,
    printers: impl IntoIterator<Item = &'a Printer>,
    types: &KnownTypes,
) -> Result<FilamentMaterials, Undecided> {
    let first = [PlateFilament::default()];
    let filaments = if filaments.is_empty() { &first } else { filaments };
    let mut combinations: BTreeSet<FilamentMaterials> = BTreeSet::new();
    let mut torn = false;
    for printer in printers {
        let of_type = types.of(&printer.fields.kind);
        if printer.archived || printer.fields.machine_type != machine_type || !of_type.forms.contains(&form) {
            continue;
        }
        match loaded_in(filaments, &printer.slots(), of_type.maps_slots) {
            Ok(materials) => _ = combinations.insert(materials),
            Err(Undecided::Several) => torn = true,
            Err(Undecided::NotLoaded) => {}
        }
    }
    match combinations.pop_first() {
        Some(only) if combinations.is_empty() && !torn => Ok(only),
        None if !torn => Err(Undecided::NotLoaded),
        _ => Err(Undecided::Several),
    }
}

/// Returns the materials that a given printer has for the given filaments.
fn loaded_in(filaments: &[PlateFilament], slots: &[Slot], maps_slots: bool) -> Result<FilamentMaterials, Undecided> {
    let of = |filament: &PlateFilament| -> Result<Id, Undecided> {
        match slots {
            [only] if filaments.len() > 1 || only.material_id.is_none() => Err(Undecided::NotLoaded),
            [only] => only.material_id.ok_or(Undecided::NotLoaded),
            _ if maps_slots => by_colour(filament, slots),
            _ => {
                let own = slots.iter().find(|slot| slot.slot == filament.index);
                own.and_then(|slot| slot.material_id).ok_or(Undecided::NotLoaded)
            }
        }
    };
    filaments.iter().map(|filament| Ok((filament.index, of(filament)?))).collect()
}

/// Selects the material of a filament that can come from any slot by the filament's colour. If no slot has that colour,
/// only one material may be loaded.
fn by_colour(filament: &PlateFilament, slots: &[Slot]) -> Result<Id, Undecided> {
    let reported = || slots.iter().filter(|slot| slot.source == SlotSource::Printer);
    let alike = |slot: &&Slot| match (&slot.color, &filament.color) {
        (Some(is), Some(required)) => is.eq_ignore_ascii_case(required),
        _ => false,
    };
    let of_colour: BTreeSet<Id> = reported().filter(alike).filter_map(|slot| slot.material_id).collect();
    let any: BTreeSet<Id> = reported().filter_map(|slot| slot.material_id).collect();
    let candidates = if of_colour.is_empty() { any } else { of_colour };
    match candidates.len() {
        0 => Err(Undecided::NotLoaded),
        1 => candidates.into_iter().next().ok_or(Undecided::NotLoaded),
        _ => Err(Undecided::Several),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::TypeFacts;
    use crate::testing::id;
    use crate::testing::samples::{idle_printer, printer_fields};
    use crate::time::Timestamp;

    const MAPPING: &str = "mapping";

    fn printer(kind: &str, slots: &[(Option<u32>, &str)]) -> Printer {
        let mut fields = printer_fields("one", MachineType::FdmStandard);
        kind.clone_into(&mut fields.kind);
        let slot = |(n, (material, colour)): (usize, &(Option<u32>, &str))| Slot {
            slot: n as u32,
            material_id: material.map(id),
            spool: None,
            color: Some((*colour).to_owned()).filter(|colour| !colour.is_empty()),
            remaining: None,
            source: if kind == MAPPING { SlotSource::Printer } else { SlotSource::Manual },
            vendor_code: None,
            kind: None,
            weighed: false,
            updated_at: Timestamp(0),
        };
        idle_printer(1, fields, Timestamp(0)).with_slots(slots.iter().enumerate().map(slot).collect())
    }

    fn filaments(colours: &[&str]) -> Vec<PlateFilament> {
        let one = |(n, colour): (usize, &&str)| PlateFilament {
            index: n as u32,
            color: Some((*colour).to_owned()),
            ..PlateFilament::default()
        };
        colours.iter().enumerate().map(one).collect()
    }

    fn decided(filaments: &[PlateFilament], printers: &[Printer]) -> Result<Vec<(u32, u32)>, Undecided> {
        let mapping = TypeFacts { maps_slots: true, ..TypeFacts::default() };
        let packages = TypeFacts { forms: vec![GcodeForm::Package], ..TypeFacts::default() };
        let types = KnownTypes::new([(MAPPING, mapping), ("packages", packages)]);
        let materials = loaded_materials(filaments, GcodeForm::Text, MachineType::FdmStandard, printers, &types)?;
        let number = |material: Id| (1..10).find(|n| id(*n) == material).unwrap_or(0);
        Ok(materials.into_iter().map(|(filament, material)| (filament, number(material))).collect())
    }

    #[test]
    fn printers_of_one_spool_decide_what_a_file_of_one_filament_is_of() {
        let [one, other, unknown] = [Some(1), Some(2), None].map(|material| printer("plain", &[(material, "")]));
        assert_eq!(decided(&[], &[one.clone(), unknown.clone()]), Ok(vec![(0, 1)]));
        assert_eq!(decided(&[], &[one.clone(), other]), Err(Undecided::Several));
        assert_eq!(decided(&[], &[unknown]), Err(Undecided::NotLoaded));
        assert_eq!(decided(&filaments(&["", ""]), &[one]), Err(Undecided::NotLoaded), "one spool, two filaments");
    }

    #[test]
    fn a_printer_of_one_spool_prints_any_filament_from_it() {
        let second = PlateFilament { index: 1, ..PlateFilament::default() };
        assert_eq!(decided(&[second], &[printer("plain", &[(Some(1), "")])]), Ok(vec![(1, 1)]));
    }

    #[test]
    fn only_printers_that_could_print_the_file_have_a_say() {
        let [one, other] = [1, 2].map(|material| printer("plain", &[(Some(material), "")]));
        let archived = Printer { archived: true, ..other.clone() };
        let mut large = other.clone();
        large.fields.machine_type = MachineType::FdmLarge;
        assert_eq!(decided(&[], &[one.clone(), other]), Err(Undecided::Several));
        for stranger in [archived, large, printer("packages", &[(Some(2), "")])] {
            assert_eq!(decided(&[], &[one.clone(), stranger]), Ok(vec![(0, 1)]));
        }
    }

    #[test]
    fn without_a_mapping_the_slot_of_the_filaments_number_decides() {
        let two = filaments(&["#000000", "#ffffff"]);
        let right = printer("plain", &[(Some(1), "#ffffff"), (Some(2), "#000000")]);
        assert_eq!(decided(&two, std::slice::from_ref(&right)), Ok(vec![(0, 1), (1, 2)]), "whatever the colours");
        let half = printer("plain", &[(Some(3), ""), (None, "")]);
        assert_eq!(decided(&two, &[right.clone(), half]), Ok(vec![(0, 1), (1, 2)]), "it could not print it");
        let turned = printer("plain", &[(Some(2), ""), (Some(1), "")]);
        assert_eq!(decided(&two, &[right, turned]), Err(Undecided::Several));
    }

    #[test]
    fn with_a_mapping_the_colour_decides_or_the_only_material() {
        let two = filaments(&["#000000", "#ffffff"]);
        let changer = printer(MAPPING, &[(Some(2), "#FFFFFF"), (Some(1), "#000000"), (None, "#ff0000")]);
        assert_eq!(decided(&two, std::slice::from_ref(&changer)), Ok(vec![(0, 1), (1, 2)]));
        assert_eq!(decided(&filaments(&["#123456"]), &[changer]), Err(Undecided::Several), "no spool of this colour");
        let plain = printer(MAPPING, &[(Some(1), "#FFFFFF"), (Some(1), "#000000"), (None, "")]);
        assert_eq!(decided(&filaments(&["#123456"]), &[plain]), Ok(vec![(0, 1)]));
        let empty = printer(MAPPING, &[(None, "#000000"), (None, "")]);
        assert_eq!(decided(&filaments(&["#000000"]), &[empty]), Err(Undecided::NotLoaded));
        let variants = printer(MAPPING, &[(Some(1), "#000000"), (Some(2), "#000000")]);
        assert_eq!(decided(&filaments(&["#000000"]), &[variants]), Err(Undecided::Several));
    }
}
