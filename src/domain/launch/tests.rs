use proptest::prelude::*;

use super::*;
use crate::domain::testing::id;

fn needs(materials: &[(u32, i64)]) -> LaunchNeeds {
    let materials =
        materials.iter().map(|(n, grams)| MaterialNeed { material_id: id(*n), need: Amount::units(*grams) });
    LaunchNeeds {
        machine_type: MachineType::FdmStandard,
        dimensions: None,
        form: GcodeForm::Text,
        sliced_for: SlicedFor::default(),
        materials: materials.collect(),
    }
}

fn printer(slots: &[(Option<u32>, Option<i64>)]) -> LaunchFacts {
    let slots = slots.iter().enumerate().map(|(n, (material, left))| SlotFacts {
        slot: n as u32,
        material_id: material.map(id),
        remaining: left.map(Amount::units),
    });
    LaunchFacts::new(MachineType::FdmStandard, None, slots.collect())
}

fn words(needs: &LaunchNeeds, facts: &LaunchFacts) -> String {
    fit(needs, facts).words(&|_| ("PLA".to_owned(), "g"))
}

#[test]
fn what_is_unknown_fits_and_what_differs_does_not() {
    let mut job = needs(&[(1, 10)]);
    job.sliced_for = SlicedFor {
        plate: 1,
        nozzle_diameter: Some(0.4),
        bed_type: Some("Textured PEI Plate".into()),
        filaments: Vec::new(),
    };
    let unknown = printer(&[(None, None)]);
    assert_eq!(words(&job, &unknown), "");
    assert_eq!(words(&job, &unknown.clone().equipped(Some(0.4), Some("textured_pei"))), "", "another spelling");
    let other = unknown.clone().equipped(Some(0.6), Some("Cool Plate"));
    assert_eq!(
        words(&job, &other),
        "has a nozzle of 0.6 mm, needs 0.4 mm, has the plate Cool Plate, needs Textured PEI Plate"
    );
    job.sliced_for = SlicedFor::default();
    assert_eq!(words(&job, &other), "", "a file that does not say");
    job.form = GcodeForm::Package;
    assert_eq!(words(&job, &unknown.printing("plain", &PrintableForms::default())), "not printing .gcode.3mf files");
}

#[test]
fn an_unbound_slot_fits_only_where_it_is_the_only_one() {
    let job = needs(&[(1, 10)]);
    assert!(fit(&job, &printer(&[(None, None)])).fits());
    assert_eq!(words(&job, &printer(&[(None, None), (Some(2), None)])), "PLA is not loaded");
    assert_eq!(words(&job, &printer(&[(None, Some(9))])), "PLA is not loaded", "too little of whatever it is");
    assert_eq!(fit(&needs(&[(1, 5), (2, 5)]), &printer(&[(None, None)])).missing.len(), 2, "one spool, two materials");
}

#[test]
fn a_job_of_two_materials_needs_both_in_slots() {
    let job = needs(&[(1, 10), (2, 5)]);
    let chosen = fit(&job, &printer(&[(Some(3), None), (Some(2), None), (Some(1), Some(50))]));
    assert_eq!(chosen.slots.iter().map(|one| one.slot).collect::<Vec<_>>(), [2, 1]);
    let without = fit(&job, &printer(&[(Some(1), None), (Some(3), None)]));
    assert_eq!(without.missing, [Mismatch::NotLoaded(id(2))]);
}

#[test]
fn the_spool_that_is_used_up_best_is_taken() {
    let job = needs(&[(1, 40)]);
    let three = printer(&[(Some(1), None), (Some(1), Some(900)), (Some(1), Some(41)), (Some(1), Some(39))]);
    assert_eq!(fit(&job, &three).slots[0].slot, 2);
    assert_eq!(
        words(&job, &printer(&[(Some(1), Some(39)), (Some(1), Some(5))])),
        "39 g of PLA are left on its spool, needs 40 g"
    );
    let rank = |slots: &[(Option<u32>, Option<i64>)]| fit(&job, &printer(slots)).rank();
    let order = [
        rank(&[(Some(1), Some(40))]),
        rank(&[(Some(1), Some(900))]),
        rank(&[(Some(1), None)]),
        rank(&[(None, Some(40))]),
        rank(&[(None, None)]),
    ];
    assert!(order.is_sorted() && order[0] < order[1] && order[1] < order[2] && order[2] < order[3], "{order:?}");
}

/// Whether the printer can make the job, said once more and in the simplest way.
fn plainly(needs: &LaunchNeeds, facts: &LaunchFacts) -> bool {
    needs.materials.iter().all(|needed| {
        let enough = |slot: &SlotFacts| slot.remaining.is_none_or(|left| left >= needed.need);
        let held = facts.slots.iter().any(|slot| slot.material_id == Some(needed.material_id) && enough(slot));
        let blind = facts.slots.len() == 1 && facts.slots[0].material_id.is_none() && needs.materials.len() == 1;
        held || (blind && enough(&facts.slots[0]))
    })
}

proptest! {
    #[test]
    fn every_chosen_slot_holds_enough_of_its_material(
        wanted in prop::collection::btree_map(1u32..5, 0i64..50, 1..4),
        slots in prop::collection::vec((prop::option::of(1u32..5), prop::option::of(0i64..60)), 1..6),
    ) {
        let wanted: Vec<(u32, i64)> = wanted.into_iter().collect();
        let (job, facts) = (needs(&wanted), printer(&slots));
        let found = fit(&job, &facts);
        prop_assert_eq!(found.fits(), plainly(&job, &facts));
        prop_assert_eq!(&found, &fit(&job, &facts), "the same again");
        for chosen in &found.slots {
            let slot = facts.slots[chosen.slot as usize];
            prop_assert!(slot.remaining.is_none_or(|left| left >= chosen.needed.need));
            prop_assert_eq!(chosen.loaded, slot.material_id == Some(chosen.needed.material_id));
        }
        prop_assert_eq!(found.slots.len() + found.missing.len(), job.materials.len());
    }

    #[test]
    fn a_share_is_never_negative(end in 0usize..3, used in prop::option::of(any::<f64>()), stated in prop::option::of(any::<f64>()), progress: f64) {
        let end = [PrintEnd::Finished, PrintEnd::Cancelled, PrintEnd::Failed][end];
        prop_assert!(used_share(end, used, stated, progress) >= 0.0);
    }
}

#[test]
fn each_filament_comes_from_the_slot_of_its_material() {
    let chosen = |material: u32, slot| ChosenSlot {
        needed: MaterialNeed { material_id: id(material), need: Amount::units(1) },
        slot,
        remaining: None,
        loaded: true,
    };
    let used = |filament, material: u32| UsedFilament { filament, material_id: id(material) };
    let sliced = |filaments: Vec<UsedFilament>| SlicedFor { filaments, ..SlicedFor::default() };
    let two = [chosen(1, 5), chosen(2, 0)];
    let slots = sliced(vec![used(0, 2), used(2, 1), used(3, 2)]).slots(&two);
    assert_eq!(slots, [Some(0), None, Some(5), Some(0)], "two filaments of one material share its slot");
    assert_eq!(sliced(vec![]).slots(&two[..1]), [Some(5)], "one material needs no telling which");
    assert_eq!(sliced(vec![]).slots(&two), [], "nobody knows which is which");
    assert_eq!(sliced(vec![used(u32::MAX, 1)]).slots(&two), [], "no endless list");
}
