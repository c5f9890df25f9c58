//! Plate data from the small files that accompany the G-code in a package: times and filaments (`slice_info.config`),
//! names (`model_settings.config`), the build plate and the extents (`plate_1.json`).

use std::collections::BTreeMap;

use bounded_json::{Bounds, read};
use serde_json::Value;

use super::comment::number;
use super::tags::{PackageTag, tags};
use super::tools::{colour, one_nozzle, word};
use crate::bounds::{filament_mm, grams, length_mm, nozzle_mm, print_seconds};
use crate::file::{MAX_FILAMENTS, MAX_PLATES, Plate, PlateFilament};

/// Limits for the JSON that describes a plate, which contains lists of objects and their bounding boxes.
const PLATE_JSON: Bounds = Bounds { depth: 16, values: 50_000 };

/// Plates by number, to the extent that the small files in the package describe them.
pub(super) type Plates = BTreeMap<u32, Plate>;

fn numbered(tag: &PackageTag<'_>) -> Option<u32> {
    tag.get("value")?.trim().parse().ok()
}

/// Parses `slice_info.config`, in which each `<plate>` contains its number, time, nozzles and machine as `<metadata>`
/// elements, and its filaments.
pub(super) fn slice_info(text: &str) -> Plates {
    let (mut plates, mut open) = (Plates::new(), None::<Plate>);
    for tag in tags(text) {
        if tag.name == "plate" {
            if let Some(plate) = open.take().filter(|plate| plate.plate > 0 && plates.len() < MAX_PLATES) {
                plates.insert(plate.plate, plate);
            }
            open = (!tag.ends).then(Plate::default);
        }
        let Some(plate) = &mut open else { continue };
        match (tag.name, tag.get("key"), tag.get("value")) {
            ("metadata", Some("index"), _) => plate.plate = numbered(&tag).unwrap_or(0),
            ("metadata", Some("prediction"), Some(value)) => plate.seconds = number(value).and_then(print_seconds),
            ("metadata", Some("nozzle_diameters"), Some(value)) => plate.nozzle_diameter = one_nozzle(value),
            ("metadata", Some("printer_model_id"), Some(value)) => plate.printer_model = word(value),
            ("filament", ..) if plate.filaments.len() < MAX_FILAMENTS => plate.filaments.extend(filament(&tag)),
            _ => {}
        }
    }
    plates
}

/// Parses a filament tag such as `<filament id="1" type="PLA" color="#F2754E" used_m="1.00" used_g="3.00"/>`. The IDs
/// start at 1.
fn filament(tag: &PackageTag<'_>) -> Option<PlateFilament> {
    let id: u32 = tag.get("id")?.trim().parse().ok()?;
    let metres = tag.get("used_m").and_then(number);
    Some(PlateFilament {
        index: id.checked_sub(1)?,
        kind: tag.get("type").and_then(word),
        color: tag.get("color").and_then(colour),
        grams: tag.get("used_g").and_then(number).and_then(grams),
        mm: metres.and_then(|metres| filament_mm(metres * 1000.0)).filter(|mm| *mm > 0.0),
    })
}

/// Reads plate names from `model_settings.config`.
pub(super) fn names(text: &str) -> BTreeMap<u32, String> {
    let (mut plate_names, mut open) = (BTreeMap::new(), None::<(u32, Option<String>)>);
    for tag in tags(text) {
        if tag.name == "plate" {
            if let Some((number, Some(name))) = open.take()
                && number > 0
                && plate_names.len() < MAX_PLATES
            {
                plate_names.insert(number, name);
            }
            open = (!tag.ends).then_some((0, None));
        }
        let Some((number, name)) = &mut open else { continue };
        match (tag.get("key"), tag.get("value")) {
            (Some("plater_id"), _) => *number = numbered(&tag).unwrap_or(0),
            (Some("plater_name"), Some(value)) => *name = word(value),
            _ => {}
        }
    }
    plate_names
}

/// Adds the build plate and nozzle from `plate_1.json`. Returns the lengths of the print along x and y in millimetres.
pub(super) fn plate_json(plate: &mut Plate, json: &[u8]) -> Option<[f64; 2]> {
    let fields = read(json, PLATE_JSON).ok()?;
    let bed = fields.get("bed_type").and_then(Value::as_str).map(bed_name).and_then(|name| word(&name));
    plate.bed_type = plate.bed_type.take().or(bed);
    let nozzle = fields.get("nozzle_diameter").and_then(Value::as_f64).and_then(nozzle_mm);
    plate.nozzle_diameter = plate.nozzle_diameter.or(nozzle);
    let corners: Vec<f64> = fields.get("bbox_all")?.as_array()?.iter().filter_map(Value::as_f64).collect();
    match corners[..] {
        [left, front, right, back] => Some([length_mm(right - left)?, length_mm(back - front)?]),
        _ => None,
    }
}

/// Converts the name of a build plate in the JSON to its name in the G-code settings.
fn bed_name(word: &str) -> String {
    match word {
        "cool_plate" => "Cool Plate",
        "eng_plate" => "Engineering Plate",
        "hot_plate" => "High Temp Plate",
        "textured_plate" => "Textured PEI Plate",
        "supertack_plate" => "Supertack Plate",
        other => other,
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use proptest::prelude::*;

    use super::*;
    use crate::amount::Amount;

    const INFO: &str = r##"<?xml version="1.0" encoding="UTF-8"?>
<config>
  <header><header_item key="X-BBL-Client-Type" value="slicer"/></header>
  <plate>
    <metadata key="index" value="2"/>
    <metadata key="printer_model_id" value="C12"/>
    <metadata key="nozzle_diameters" value="0.4,0.4"/>
    <metadata key="prediction" value="4571"/>
    <metadata key="weight" value="63.51"/>
    <object identify_id="61" name="a &amp; b" skipped="false"/>
    <filament id="1" tray_info_idx="GFL99" type="PLA" color="#F2754EFF" used_m="1.25" used_g="3.00" />
    <filament id="4" tray_info_idx="GFG00" type="PETG" color="#00AE42" used_m="0.50" used_g="1.47" />
  </plate>
</config>"##;

    #[test]
    fn a_plate_has_its_time_nozzle_and_filaments() {
        let plates = slice_info(INFO);
        let plate = &plates[&2];
        assert_eq!(plates.len(), 1);
        assert_eq!((plate.seconds, plate.nozzle_diameter), (Some(4571), Some(0.4)));
        assert_eq!(plate.printer_model.as_deref(), Some("C12"));
        let petg = &plate.filaments[1];
        assert_eq!((petg.index, petg.kind.as_deref(), petg.color.as_deref()), (3, Some("PETG"), Some("#00ae42")));
        assert_eq!((petg.grams, petg.mm), (Some(Amount(1_470)), Some(500.0)));
        assert_eq!(plate.filaments[0].color.as_deref(), Some("#f2754e"), "without its transparency");
        assert_eq!((plate.grams(), plate.filament_mm()), (Some(Amount(4_470)), Some(1750.0)));
    }

    #[test]
    fn nozzles_that_differ_are_not_known() {
        assert_eq!(slice_info(&INFO.replace("0.4,0.4", "0.4,0.6"))[&2].nozzle_diameter, None);
    }

    #[test]
    fn plates_and_filaments_are_counted_within_bounds() {
        let plate = |n: usize| format!("<plate><metadata key=\"index\" value=\"{n}\"/></plate>");
        assert_eq!(slice_info(&(1..500).map(plate).collect::<String>()).len(), MAX_PLATES);
        let many = "<filament id=\"1\" used_g=\"1\"/>".repeat(500);
        let one = slice_info(&format!("<plate><metadata key=\"index\" value=\"1\"/>{many}</plate>"));
        assert_eq!(one[&1].filaments.len(), MAX_FILAMENTS);
    }

    #[test]
    fn names_are_those_of_the_project() {
        let text = r#"<config><object id="2"><metadata key="name" value="cube"/></object><plate>
            <metadata key="plater_id" value="1"/><metadata key="plater_name" value="Lids"/></plate>
            <plate><metadata key="plater_id" value="2"/><metadata key="plater_name" value=""/></plate></config>"#;
        assert_eq!(names(text), BTreeMap::from([(1, "Lids".to_owned())]));
        let unnumbered = "<plate><metadata key='plater_name' value='Lids'/></plate>";
        assert_eq!(names(unnumbered), BTreeMap::new());
        let plate = |n: usize| {
            format!("<plate><metadata key='plater_id' value='{n}'/><metadata key='plater_name' value='a'/></plate>")
        };
        assert_eq!(names(&(1..500).map(plate).collect::<String>()).len(), MAX_PLATES);
    }

    #[test]
    fn a_filament_of_no_length_has_none() {
        let plate = "<plate><metadata key='index' value='1'/><filament id='1' used_m='0' used_g='1'/></plate>";
        let plates = slice_info(plate);
        let filament = &plates[&1].filaments[0];
        assert_eq!((filament.mm, filament.grams), (None, Some(Amount(1_000))));
    }

    #[test]
    fn the_json_adds_what_is_not_known() {
        let json = br#"{"bbox_all":[100.0,80.5,142.0,120.5],"bed_type":"textured_plate","nozzle_diameter":0.4000000059604645}"#;
        let mut plate = Plate::default();
        assert_eq!(plate_json(&mut plate, json), Some([42.0, 40.0]));
        assert_eq!((plate.bed_type.as_deref(), plate.nozzle_diameter), (Some("Textured PEI Plate"), Some(0.4)));
        assert_eq!(plate_json(&mut plate, b"{"), None);
        assert_eq!(plate_json(&mut plate, &b"[".repeat(1_000_000)), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_within_bounds(text in "(<plate>|</plate>|<metadata key=\"(index|prediction)\" value=\"[0-9.e-]{0,12}\"/>|<filament id=\"[0-9]{0,12}\" used_(g|m)=\"[0-9.e-]{0,9}\"/>|\\PC{0,9}){0,40}") {
            for plate in slice_info(&text).values() {
                prop_assert!(plate.plate > 0 && plate.filaments.len() <= MAX_FILAMENTS);
                let json = serde_json::to_string(plate).unwrap();
                prop_assert_eq!(&serde_json::from_str::<Plate>(&json).unwrap(), plate);
            }
            names(&text);
        }
    }
}
