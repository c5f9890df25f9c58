//! Tests of SKUs: what parts and kits must and must not have, the records their commits rely on, and their deletion.
#![expect(clippy::unwrap_used, reason = "tests")]

use serde_json::json;

use super::*;
use crate::testing::{Bench, id};

const SKU: u32 = 1;
const MATERIAL: u32 = 2;
const GCODE: u32 = 3;

/// Builds the description of a part printed from G-code.
pub(super) fn fields(code: &str) -> SkuFields {
    let all = json!({
        "code": code, "slug": code, "name": code, "description": null, "kind": null, "collections": [],
        "materialId": id(MATERIAL), "estimatedConsumption": 1, "machineType": "fdm_standard", "dimensions": null,
        "priceCents": 100, "currency": "usd", "unitsPerPlate": 1, "modelFileId": null, "gcodeFileId": id(GCODE),
        "slicerProfile": null, "estimatedSeconds": null, "images": [], "public": true, "active": true,
    });
    serde_json::from_value(all).unwrap()
}

/// Builds the description of a kit of the given SKUs, each with its quantity.
pub(super) fn kit(components: &[(u32, u32)]) -> SkuFields {
    let component = |(sku, quantity): &(u32, u32)| Component { sku_id: id(*sku), quantity: *quantity };
    SkuFields {
        components: components.iter().map(component).collect(),
        material_id: None,
        gcode_file_id: None,
        ..fields("kit")
    }
}

struct Desk {
    bench: Bench,
    sku: Option<Sku>,
}

impl Desk {
    fn new() -> Self {
        Self { bench: Bench::new(), sku: None }
    }
    fn with(fields: SkuFields) -> Self {
        let mut desk = Self::new();
        desk.create(fields).unwrap();
        desk
    }
    fn ask(&mut self, command: &SkuCommand) -> Result<Decision<Sku, Sku>, Refusal> {
        self.bench.tell(&mut self.sku, id(SKU), command)
    }
    fn create(&mut self, fields: SkuFields) -> Result<Decision<Sku, Sku>, Refusal> {
        self.ask(&SkuCommand::Create(Box::new(fields)))
    }
    fn update(&mut self, fields: SkuFields) -> Result<Decision<Sku, Sku>, Refusal> {
        self.ask(&SkuCommand::Update { if_version: 1, fields: Box::new(fields) })
    }
    fn sku(&self) -> &Sku {
        self.sku.as_ref().unwrap()
    }
}

fn paths(refusal: Refusal) -> Vec<String> {
    refusal.faults.into_iter().map(|fault| fault.path).collect()
}

#[test]
fn each_machine_type_has_its_name_and_its_noun_in_both_languages() {
    let all = [
        (MachineType::FdmStandard, "fdm_standard", "standard filament printer", "Standard-Filamentdrucker"),
        (MachineType::FdmLarge, "fdm_large", "large filament printer", "Großformat-Filamentdrucker"),
        (MachineType::ResinStandard, "resin_standard", "standard resin printer", "Standard-Harzdrucker"),
        (MachineType::ResinLarge, "resin_large", "large resin printer", "Großformat-Harzdrucker"),
        (MachineType::LaserCutter, "laser_cutter", "laser cutter", "Laserschneider"),
        (MachineType::LaserEngraver, "laser_engraver", "laser engraver", "Lasergravierer"),
    ];
    for (machine_type, word, noun, german) in all {
        assert_eq!((machine_type.word(), machine_type.noun()), (word, noun));
        assert_eq!(machine_type.noun_in(Language::English), noun);
        assert_eq!(machine_type.noun_in(Language::German), german);
        assert_eq!(json!(machine_type), json!(word), "as it is stored");
    }
}

#[test]
fn a_part_fits_a_volume_that_is_at_least_as_large_on_each_axis() {
    let volume = Dimensions { x: 10.0, y: 20.0, z: 30.0 };
    let cases = [
        ((10.0, 20.0, 30.0), true),
        ((1.0, 2.0, 3.0), true),
        ((10.1, 20.0, 30.0), false),
        ((10.0, 20.1, 30.0), false),
        ((10.0, 20.0, 30.1), false),
        ((20.0, 10.0, 30.0), false),
    ];
    for ((x, y, z), fits) in cases {
        assert_eq!(Dimensions { x, y, z }.fits_in(&volume), fits, "{x} {y} {z}");
    }
}

#[test]
fn a_part_needs_a_material_and_a_kit_neither_material_nor_files() {
    let of_its_own = SkuFields {
        material_id: Some(id(MATERIAL)),
        gcode_file_id: Some(id(GCODE)),
        model_file_id: Some(id(4)),
        ..kit(&[(7, 1)])
    };
    let cases = [
        (fields("a"), vec![]),
        (kit(&[(7, 1), (8, 2)]), vec![]),
        (SkuFields { material_id: None, ..fields("a") }, vec!["materialId"]),
        (of_its_own, vec!["materialId", "modelFileId", "gcodeFileId"]),
        (kit(&[(7, 1), (8, 1), (7, 2)]), vec!["components.2.skuId"]),
        (kit(&[(7, 1), (SKU, 1)]), vec!["components.1.skuId"]),
        (kit(&[(7, 0), (8, 1)]), vec!["components.0.quantity"]),
    ];
    for (fields, faults) in cases {
        let outcome = Desk::new().create(fields.clone());
        assert_eq!(outcome.map_or_else(paths, |_| Vec::new()), faults, "{fields:?}");
    }
}

#[test]
fn only_new_images_are_checked() {
    let images = |all: &[&str]| SkuFields { images: all.iter().map(|&one| one.to_owned()).collect(), ..fields("a") };
    let new = images(&["https://cdn.example/a.png", "javascript:alert(1)", "/b.png"]);
    assert_eq!(paths(Desk::new().create(new).unwrap_err()), ["images.1"]);
    let mut desk = Desk::with(fields("a"));
    desk.sku.as_mut().unwrap().fields = images(&["kept from before"]);
    desk.update(images(&["a.png", "kept from before"])).unwrap();
    let refused = desk.update(images(&["another one", "kept from before"])).unwrap_err();
    assert_eq!(paths(refused), ["images.0"]);
}

#[test]
fn a_commit_relies_on_all_that_the_sku_names() {
    let picture = id(9);
    let part = SkuFields {
        materials: vec![SkuMaterial { material_id: id(5), estimated_consumption: Amount::units(1), filament: 1 }],
        model_file_id: Some(id(4)),
        images: vec!["/a.png".to_owned(), picture.to_string()],
        ..fields("a")
    };
    let named = |what, n, member: &str| Requirement::not_deleted(what, id(n), member);
    let of_part = [
        named(Referenced::Material, MATERIAL, "materialId"),
        named(Referenced::Material, 5, "materials.0.materialId"),
        named(Referenced::File, 4, "modelFileId"),
        named(Referenced::File, GCODE, "gcodeFileId"),
        named(Referenced::File, 9, "images.1"),
    ];
    let mut desk = Desk::new();
    assert_eq!(desk.create(part.clone()).unwrap().requirements, of_part);
    assert_eq!(desk.update(part).unwrap().requirements, of_part);
    let of_component = |at: u32| {
        let (sku, member) = (id(7 + at), format!("components.{at}.skuId"));
        [Requirement::not_deleted(Referenced::Sku, sku, member.clone()), Requirement::NoKit { sku, member }]
    };
    let of_kit = [of_component(0), of_component(1)].concat();
    let unused = Requirement::Unused { what: Referenced::Sku, id: id(SKU) };
    let two = || kit(&[(7, 1), (8, 1)]);
    assert_eq!(Desk::new().create(two()).unwrap().requirements, of_kit, "nobody can have ordered it");
    let becoming = [&of_kit[..], std::slice::from_ref(&unused)].concat();
    assert_eq!(desk.update(two()).unwrap().requirements, becoming, "as a kit, it is not printed any more");
    assert_eq!(desk.update(two()).unwrap().requirements, of_kit, "it is one already");
    assert_eq!(desk.ask(&SkuCommand::Archive).unwrap().requirements, [unused]);
}

#[test]
fn a_sku_is_created_once_edited_as_a_whole_and_gone_once_it_is_deleted() {
    let mut desk = Desk::new();
    for command in [SkuCommand::Archive, SkuCommand::Update { if_version: 1, fields: Box::new(fields("a")) }] {
        assert_eq!(desk.ask(&command).unwrap_err().code, "sku_not_found", "{command:?}");
    }
    let created = desk.bench.now;
    let mut expected =
        Sku { id: id(SKU), fields: fields("a"), archived: false, created_at: created, updated_at: created };
    assert_eq!(desk.create(fields("a")).unwrap().answer, expected);
    assert_eq!(desk.create(fields("a")).unwrap_err().code, "exists");
    desk.bench.now = created.plus_ms(1000);
    (expected.fields, expected.updated_at) = (fields("b"), created.plus_ms(1000));
    assert_eq!(desk.update(fields("b")).unwrap().answer, expected);
    assert!(!desk.sku().is_archived());
    desk.bench.now = created.plus_ms(2000);
    (expected.archived, expected.updated_at) = (true, created.plus_ms(2000));
    assert_eq!(desk.ask(&SkuCommand::Archive).unwrap().answer, expected);
    assert!(desk.sku().is_archived());
    assert_eq!(desk.update(fields("c")).unwrap_err().code, "sku_not_found");
}

#[test]
fn only_an_edit_has_the_version_that_it_was_merged_into() {
    let edit = SkuCommand::Update { if_version: 7, fields: Box::new(fields("a")) };
    assert_eq!(edit.if_version(), Some(7));
    assert_eq!(SkuCommand::Archive.if_version(), None);
    assert_eq!(SkuCommand::Create(Box::new(fields("a"))).if_version(), None);
}

#[test]
fn a_value_in_use_is_refused_by_its_name() {
    for (constraint, code) in [("skus_code", "code_taken"), ("skus_slug", "slug_taken"), ("skus", "conflict")] {
        assert_eq!(Sku::clash(constraint).code, code);
    }
}

#[test]
fn what_is_printed_comes_from_g_code_or_is_sliced_from_a_model_with_a_profile() {
    assert_eq!(fields("a").plate, 1, "a file that says nothing of plates has one");
    let profile = || Some("PLA".to_owned());
    let sliced = SkuFields {
        gcode_file_id: None,
        model_file_id: Some(id(4)),
        slicer_profile: profile(),
        units_per_plate: 6,
        ..fields("a")
    };
    let source = |copies| Some(SliceSource { model_file_id: id(4), profile: "PLA".to_owned(), copies });
    let cases = [
        (fields("a"), true, None),
        (sliced.clone(), true, source(6)),
        (SkuFields { units_per_plate: 0, ..sliced.clone() }, true, source(1)),
        (SkuFields { gcode_file_id: Some(id(GCODE)), ..sliced.clone() }, true, None),
        (SkuFields { slicer_profile: None, ..sliced.clone() }, true, None),
        (SkuFields { model_file_id: None, ..sliced }, false, None),
    ];
    for (sku, orderable, source) in cases {
        assert_eq!((sku.orderable(), sku.source()), (orderable, source), "{sku:?}");
    }
}
