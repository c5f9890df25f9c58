//! Suggestions to bind a reported spool without a material to a similar material, and suggestions of a material for a
//! sliced file.
//!
//! Similarity alone binds nothing: an operator confirms the suggestion, and the same spools are bound automatically
//! afterwards.

use std::collections::BTreeSet;

use super::Slot;
use crate::file::PlateFilament;
use crate::id::Id;
use crate::material::color::shares;
use crate::material::{Material, MaterialFields, MaterialType};
use crate::printer::Printer;

/// Names of plastics, used to match a spool with a material.
const PLASTICS: [&str; 39] = [
    "PLA", "PETG", "PET", "PCTG", "ABS", "ASA", "TPU", "TPE", "PA", "PA6", "PA66", "PA11", "PA12", "PA612", "PAHT",
    "NYLON", "PPA", "PPS", "PPSU", "PSU", "PC", "PCABS", "PP", "PE", "POM", "PBT", "PMMA", "PVDF", "PEEK", "PEKK",
    "PEI", "PVA", "BVOH", "HIPS", "SBS", "PVB", "PHA", "EVA", "PCL",
];
/// Names of fillers. Each combination of plastic and filler is a separate material, but a filler alone does not
/// identify a material.
const FILLERS: [&str; 2] = ["CF", "GF"];
/// Maximum difference in red, green or blue between two colours that are considered similar.
const MAX_COLOUR_DISTANCE: u8 = 96;

/// Spool in a slot that is similar to a material.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpoolOffer {
    /// Number of the slot, starting at 0.
    pub slot: u32,
    /// Display text for the spool: type of plastic or vendor code, and colour.
    pub spool: String,
}

/// Returns the plastics and fillers mentioned in the texts, or an empty set if they mention no plastic. If a filler
/// alone sufficed, all unlisted plastics with this filler would be treated as one material.
fn plastics(texts: &[&str]) -> BTreeSet<&'static str> {
    let words = texts.iter().flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric()));
    let name = |word: &str| PLASTICS.into_iter().chain(FILLERS).find(|name| name.eq_ignore_ascii_case(word));
    let names: BTreeSet<&'static str> = words.filter_map(name).collect();
    if names.iter().all(|name| FILLERS.contains(name)) { BTreeSet::new() } else { names }
}

/// Returns the plastics and fillers mentioned in a material's name and variant.
fn plastics_of(fields: &MaterialFields) -> BTreeSet<&'static str> {
    plastics(&[&fields.name, fields.variant.as_deref().unwrap_or_default()])
}

/// Returns the distance between two colours, or the maximum distance if one is unknown; `None` if the colours are not
/// similar.
fn distance(one: Option<&str>, other: Option<&str>) -> Option<u8> {
    match (one.and_then(shares), other.and_then(shares)) {
        (Some(one), Some(other)) => {
            let most = one.into_iter().zip(other).map(|(one, other)| one.abs_diff(other)).max();
            most.filter(|most| *most <= MAX_COLOUR_DISTANCE)
        }
        _ => Some(MAX_COLOUR_DISTANCE),
    }
}

impl Slot {
    /// Returns a display text for the reported spool.
    fn spool_words(&self) -> String {
        let label = self.kind.as_deref().or(self.vendor_code.as_deref()).unwrap_or("a spool");
        let color = self.color.as_ref().map(|color| format!(" {color}")).unwrap_or_default();
        format!("{label}{color}")
    }
}

impl Printer {
    /// Returns the spool without a material that is most similar to the given material: of the same plastic, and of the
    /// closest colour.
    pub fn spool_offer(&self, material: &Material) -> Option<SpoolOffer> {
        let required = plastics_of(&material.fields);
        if required.is_empty() || material.archived {
            return None;
        }
        let like = |slot: &&Slot| {
            let text = slot.kind.as_deref().or(slot.vendor_code.as_deref());
            slot.is_unbound() && text.is_some_and(|text| plastics(&[text]) == required)
        };
        let near = |slot: &Slot| distance(slot.color.as_deref(), material.fields.color.as_deref());
        let all = self.slots.iter().filter(like).filter_map(|slot| Some((near(slot)?, slot.slot, slot)));
        let (_, number, slot) = all.min_by_key(|(distance, number, _)| (*distance, *number))?;
        Some(SpoolOffer { slot: number, spool: slot.spool_words() })
    }
}

/// Returns the material that is most similar to the filament of a sliced file: the only one of its plastic, or the one
/// of the closest colour. Returns `None` if no material matches or several are equally close, because nothing is
/// guessed.
pub fn suggest_material<'a>(filament: &PlateFilament, materials: impl IntoIterator<Item = &'a Material>) -> Option<Id> {
    let required = plastics(&[filament.kind.as_deref()?]);
    if required.is_empty() {
        return None;
    }
    let like = |material: &&Material| {
        let fields = &material.fields;
        !material.archived && fields.kind == MaterialType::Filament && plastics_of(fields) == required
    };
    let near = |material: &Material| distance(filament.color.as_deref(), material.fields.color.as_deref());
    let all = materials.into_iter().filter(like);
    // A slicer writes some colour even if nobody has chosen one: another colour is further away, and not ruled out.
    let mut all: Vec<(u8, Id)> = all.map(|material| (near(material).unwrap_or(u8::MAX), material.id)).collect();
    all.sort_unstable();
    match all.as_slice() {
        [(_, only)] => Some(*only),
        [(first, nearest), (second, _), ..] if first < second => Some(*nearest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::amount::Amount;
    use crate::material::MaterialCommand;
    use crate::printer::SlotSource;
    use crate::sku::MachineType;
    use crate::testing::samples::{idle_printer, pla, printer_fields};
    use crate::testing::{Bench, id};
    use crate::time::Timestamp;

    /// Builds a printer whose slots report the given type, colour and material.
    fn printer(reported: &[(&str, &str, Option<u32>)]) -> Printer {
        let slot = |(n, (kind, color, bound)): (usize, &(&str, &str, Option<u32>))| Slot {
            slot: n as u32,
            material_id: bound.map(id),
            color: Some((*color).to_owned()).filter(|color| !color.is_empty()),
            remaining: None,
            source: SlotSource::Printer,
            vendor_code: Some("X1".to_owned()),
            kind: Some((*kind).to_owned()),
            weighed: false,
            spool: None,
            updated_at: Timestamp(0),
        };
        let fields = printer_fields("one", MachineType::FdmStandard);
        idle_printer(1, fields, Timestamp(0)).with_slots(reported.iter().enumerate().map(slot).collect())
    }

    fn offered(reported: &[(&str, &str, Option<u32>)], name: &str, color: Option<&str>) -> Option<u32> {
        let fields = MaterialFields { name: name.to_owned(), color: color.map(str::to_owned), ..pla() };
        let create = MaterialCommand::Create { fields: Box::new(fields), quantity: Amount::units(1) };
        let mut material = None;
        Bench::new().tell(&mut material, id(2), &create).unwrap();
        printer(reported).spool_offer(&material.unwrap()).map(|offer| offer.slot)
    }

    /// Returns the number of the material that is suggested for a filament, among those with these names and colours.
    fn suggested(kind: &str, color: Option<&str>, stock: &[(&str, Option<&str>)]) -> Option<u32> {
        let material = |(n, (name, color)): (usize, &(&str, Option<&str>))| {
            let fields = MaterialFields { name: (*name).to_owned(), color: color.map(str::to_owned), ..pla() };
            let create = MaterialCommand::Create { fields: Box::new(fields), quantity: Amount::units(1) };
            let mut material = None;
            Bench::new().tell(&mut material, id(n as u32 + 1), &create).unwrap();
            material.unwrap()
        };
        let all: Vec<Material> = stock.iter().enumerate().map(material).collect();
        let (kind, color) = (Some(kind.to_owned()), color.map(str::to_owned));
        let suggestion = suggest_material(&PlateFilament { kind, color, ..PlateFilament::default() }, &all);
        (0..stock.len() as u32).find(|n| suggestion == Some(id(*n + 1)))
    }

    #[test]
    fn a_file_suggests_the_material_of_its_plastic_and_the_nearest_colour() {
        let black = ("PLA black", Some("#000000"));
        let white = ("PLA white", Some("#ffffff"));
        assert_eq!(suggested("PLA", Some("#ff8000"), &[("PETG", None), black]), Some(1), "the only one of its plastic");
        assert_eq!(suggested("pla", Some("#101010"), &[white, black]), Some(1));
        assert_eq!(suggested("PLA", None, &[white, black]), None, "both are equally near");
        assert_eq!(suggested("PLA", Some("#ff0000"), &[white, black]), None, "neither is near");
        assert_eq!(suggested("PETG-CF", None, &[("PETG", None)]), None, "what is in it counts");
        assert_eq!(suggested("unknown", None, &[("unknown", None)]), None, "no plastic is named");
        assert_eq!(suggested("PLA", None, &[]), None);
    }

    #[test]
    fn a_spool_is_offered_by_its_plastic_and_the_nearest_colour() {
        let spools =
            [("PLA", "#000000", None), ("petg", "#ff0000", None), ("PETG", "#ff7a1a", None), ("PETG-CF", "", None)];
        assert_eq!(offered(&spools, "PETG signal orange", Some("#ff8000")), Some(2));
        assert_eq!(offered(&spools, "Generic PETG", None), Some(1), "the first of unknown colours");
        assert_eq!(offered(&spools, "PETG blue", Some("#0000ff")), None, "another colour");
        assert_eq!(offered(&spools, "PETG CF", None), Some(3), "what is in it counts");
        assert_eq!(offered(&spools, "ABS", None), None);
        assert_eq!(offered(&spools, "the good one", None), None, "no plastic is named");
    }

    #[test]
    fn each_plastic_is_another_material_with_and_without_its_filler() {
        let kinds: Vec<String> = PLASTICS
            .iter()
            .flat_map(|plastic| [(*plastic).to_owned(), format!("{plastic}-CF"), format!("{plastic}-GF")])
            .collect();
        for kind in kinds.iter().map(String::as_str) {
            let same = |other: &&str| plastics(&[other]) == plastics(&[kind]);
            assert_eq!(kinds.iter().map(String::as_str).filter(same).collect::<Vec<_>>(), [kind]);
            assert_eq!(offered(&[(kind, "", None)], kind, None), Some(0), "{kind}");
        }
        assert_eq!(offered(&[("PPS-CF", "", None), ("PAHT-CF", "", None)], "PAHT-CF black", None), Some(1));
        assert_eq!(offered(&[("PPS-CF", "", None)], "PAHT-CF", None), None);
    }

    #[test]
    fn a_filler_alone_names_no_plastic() {
        assert_eq!(offered(&[("XYZ-CF", "", None)], "UVW-CF", None), None, "neither is in the list");
        assert_eq!(offered(&[("XYZ-CF", "", None)], "CF", None), None);
        assert_eq!(offered(&[("PETG-CF", "", None)], "Carbon CF", None), None);
    }

    #[test]
    fn materials_that_are_deleted_or_no_filament_are_neither_offered_nor_suggested() {
        let create = |kind| {
            let fields = MaterialFields { name: "PETG".to_owned(), kind, ..pla() };
            let create = MaterialCommand::Create { fields: Box::new(fields), quantity: Amount::units(1) };
            let mut material = None;
            Bench::new().tell(&mut material, id(2), &create).unwrap();
            material.unwrap()
        };
        let filament: Material = create(MaterialType::Filament);
        let mut deleted = filament.clone();
        deleted.archived = true;
        let petg = PlateFilament { kind: Some("PETG".to_owned()), ..PlateFilament::default() };
        let suggestion = |material: &Material| suggest_material(&petg, [material]);
        assert_eq!(suggestion(&filament), Some(id(2)));
        assert_eq!((suggestion(&deleted), suggestion(&create(MaterialType::Resin))), (None, None));
        let spools = printer(&[("PETG", "", None)]);
        assert!(spools.spool_offer(&filament).is_some() && spools.spool_offer(&deleted).is_none());
    }

    #[test]
    fn a_spool_that_is_of_a_material_is_not_offered() {
        assert_eq!(offered(&[("PETG", "", Some(9)), ("PETG", "", None)], "PETG", None), Some(1));
        assert_eq!(offered(&[("PETG", "", Some(9))], "PETG", None), None);
        assert_eq!(printer(&[("PETG", "#ff7a1a", None)]).slots[0].spool_words(), "PETG #ff7a1a");
    }
}
