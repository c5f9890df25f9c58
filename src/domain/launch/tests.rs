#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::*;
use crate::testing::id;

fn needs(materials: &[(u32, i64)]) -> LaunchNeeds {
    let materials =
        materials.iter().map(|(n, grams)| MaterialNeed { material_id: id(*n), need: Amount::units(*grams) });
    LaunchNeeds {
        machine_type: MachineType::FdmStandard,
        dimensions: None,
        form: GcodeForm::Text,
        sliced_for: SlicingTarget::default(),
        materials: materials.collect(),
    }
}

const ALL_FORMS: [GcodeForm; 3] = [GcodeForm::Text, GcodeForm::Binary, GcodeForm::Package];

fn of_type(maps_slots: bool, slots: &[(Option<u32>, Option<i64>)]) -> LaunchFacts {
    let slots = slots.iter().enumerate().map(|(n, (material, left))| SlotFacts {
        slot: n as u32,
        material_id: material.map(id),
        remaining: left.map(Amount::units),
        reported: true,
    });
    let facts = TypeFacts { forms: ALL_FORMS.to_vec(), maps_slots, ..TypeFacts::default() };
    LaunchFacts::new(facts, MachineType::FdmStandard, None, slots.collect())
}

/// Builds a printer of a type that maps slots, with the given slots reported by the printer.
fn printer(slots: &[(Option<u32>, Option<i64>)]) -> LaunchFacts {
    of_type(true, slots)
}

/// Builds a printer of a type that does not map slots.
fn unmapped(slots: &[(Option<u32>, Option<i64>)]) -> LaunchFacts {
    of_type(false, slots)
}

/// Returns the same as [`needs`], with filament n of the file assigned to the given materials.
fn using(materials: &[(u32, i64)], filaments: &[(u32, u32)]) -> LaunchNeeds {
    let used = |(filament, material): &(u32, u32)| UsedFilament {
        filament: *filament,
        material_id: id(*material),
        grams: None,
    };
    let sliced_for = SlicingTarget { filaments: filaments.iter().map(used).collect(), ..SlicingTarget::default() };
    LaunchNeeds { sliced_for, ..needs(materials) }
}

fn words(needs: &LaunchNeeds, facts: &LaunchFacts) -> String {
    fit(needs, facts).words(&|_| ("PLA".to_owned(), "g".to_owned()))
}

#[test]
fn what_is_unknown_fits_and_what_differs_does_not() {
    let mut job = needs(&[(1, 10)]);
    job.sliced_for = SlicingTarget {
        plate: 1,
        nozzle_diameter: Some(0.4),
        bed_type: Some("Textured PEI Plate".into()),
        printer_model: Some("MK4".into()),
        filaments: Vec::new(),
    };
    let unknown = printer(&[(None, None)]);
    assert_eq!(words(&job, &unknown), "");
    assert_eq!(words(&job, &unknown.clone().equipped(Some(0.4), Some("textured_pei"))), "", "another spelling");
    let other = unknown.clone().equipped(Some(0.6), Some("Cool Plate"));
    assert_eq!(words(&job, &unknown.clone().of_model(Some("mk-4"))), "", "the same model");
    let mini = unknown.clone().of_model(Some("MINI"));
    assert_eq!(words(&job, &mini), "its model is MINI, but the file was sliced for MK4");
    assert_eq!(words(&needs(&[(1, 10)]), &mini), "", "a file that does not say");
    assert_eq!(
        words(&job, &other),
        "its nozzle is 0.6 mm instead of 0.4 mm, its build plate is Cool Plate instead of Textured PEI Plate"
    );
    job.sliced_for = SlicingTarget::default();
    assert_eq!(words(&job, &other), "", "a file that does not say");
    job.form = GcodeForm::Package;
    let plain = LaunchFacts::new(TypeFacts::default(), MachineType::FdmStandard, None, unknown.slots);
    assert_eq!(words(&job, &plain), ".gcode.3mf files are not accepted");
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
    let job = using(&[(1, 10), (2, 5)], &[(0, 1), (1, 2)]);
    let chosen = fit(&job, &printer(&[(Some(3), None), (Some(2), None), (Some(1), Some(50))]));
    assert_eq!(chosen.slots.iter().map(|one| one.slot).collect::<Vec<_>>(), [2, 1]);
    let without = fit(&job, &printer(&[(Some(1), None), (Some(3), None)]));
    assert_eq!(without.missing, [Mismatch::NotLoaded(id(2))]);
    let blind = needs(&[(1, 10), (2, 5)]);
    let both = printer(&[(Some(1), None), (Some(2), None)]);
    assert_eq!(words(&blind, &both), "it is unknown which material each filament in the file needs");
}

#[test]
fn without_a_mapping_each_filament_is_in_the_slot_of_its_number() {
    let two = using(&[(1, 10), (2, 5)], &[(0, 1), (2, 2)]);
    let slots = |facts: &LaunchFacts| fit(&two, facts).slots.iter().map(|one| one.slot).collect::<Vec<_>>();
    assert_eq!(slots(&unmapped(&[(Some(1), None), (Some(1), None), (Some(2), None)])), [0, 2]);
    let exchanged = unmapped(&[(Some(2), None), (Some(1), None), (Some(1), None)]);
    assert_eq!(
        words(&two, &exchanged),
        "PLA is not in slot 1, the only place this file can take it from, PLA is not in slot 3, the only place this file can take it from"
    );
    assert!(fit(&two, &printer(&[(Some(2), None), (Some(1), None), (Some(1), None)])).fits(), "a mapping helps");
    let absent = unmapped(&[(Some(1), None), (Some(1), None), (None, None)]);
    assert_eq!(fit(&two, &absent).missing, [Mismatch::NotLoaded(id(2))]);
    // One slot is the only place that a filament of whatever number can come from.
    let second = using(&[(1, 10)], &[(1, 1)]);
    assert_eq!(fit(&second, &unmapped(&[(Some(1), None)])).slots[0].slot, 0);
    assert_eq!(fit(&second, &unmapped(&[(Some(1), None), (Some(2), None)])).missing.len(), 1);
    // A file of which nobody wrote down the filaments prints with its first tool.
    let old = needs(&[(1, 10)]);
    assert_eq!(fit(&old, &unmapped(&[(Some(1), None), (Some(2), None)])).slots[0].slot, 0);
    assert!(!fit(&old, &unmapped(&[(Some(2), None), (Some(1), None)])).fits());
}

#[test]
fn two_filaments_of_one_material_come_from_two_spools_of_it() {
    let mut job = using(&[(1, 10)], &[(0, 1), (1, 1)]);
    let assignments = |job: &LaunchNeeds, slots: &[(Option<u32>, Option<i64>)]| {
        let outcome = fit(job, &unmapped(slots));
        let slots = outcome.slots.iter().map(|one| (one.slot, one.needed.need.0 / 1000)).collect::<Vec<_>>();
        (outcome.missing.len(), slots)
    };
    assert_eq!(assignments(&job, &[(Some(1), Some(5)), (Some(1), Some(5))]), (0, vec![(0, 5), (1, 5)]));
    for (filament, grams) in job.sliced_for.filaments.iter_mut().zip([2, 8]) {
        filament.grams = Some(Amount::units(grams));
    }
    assert_eq!(assignments(&job, &[(Some(1), Some(5)), (Some(1), Some(8))]), (0, vec![(0, 2), (1, 8)]));
    assert_eq!(assignments(&job, &[(Some(1), Some(5)), (Some(1), Some(7))]).0, 1);
    assert_eq!(assignments(&job, &[(Some(1), Some(5)), (Some(2), None)]).0, 1, "the second is of another material");
}

#[test]
fn beside_the_slots_that_a_printer_maps_there_is_one_spool() {
    let beside = |facts: LaunchFacts, from: usize| {
        let slots = facts.slots.iter().enumerate().map(|(n, one)| SlotFacts { reported: n < from, ..*one }).collect();
        LaunchFacts { slots, ..facts }
    };
    let one = needs(&[(1, 10)]);
    let changer = printer(&[(Some(2), None), (Some(3), None), (Some(1), None)]);
    assert_eq!(fit(&one, &beside(changer.clone(), 2)).slots[0].slot, 2);
    let two = using(&[(1, 10), (2, 5)], &[(0, 1), (1, 2)]);
    assert_eq!(
        words(&two, &beside(changer.clone(), 2)),
        "PLA must be in the filament changer: the external spool cannot be selected"
    );
    assert_eq!(
        fit(&one, &beside(changer, 1)).missing,
        [Mismatch::OutOfReach(id(1))],
        "which of two it is nobody knows"
    );
}

#[test]
fn the_spool_that_is_used_up_best_is_taken() {
    let job = needs(&[(1, 40)]);
    let three = printer(&[(Some(1), None), (Some(1), Some(900)), (Some(1), Some(41)), (Some(1), Some(39))]);
    assert_eq!(fit(&job, &three).slots[0].slot, 2);
    assert_eq!(
        words(&job, &printer(&[(Some(1), Some(39)), (Some(1), Some(5))])),
        "its spool has 39 g of PLA left, but the job needs 40 g"
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

/// Matches in the simplest way, as a reference implementation: returns whether the printer can print the job.
fn plainly(needs: &LaunchNeeds, facts: &LaunchFacts) -> bool {
    let slots = &facts.slots;
    let filaments = &needs.sliced_for.filaments;
    needs.materials.iter().all(|needed| {
        let has = |slot: &SlotFacts| slot.material_id == Some(needed.material_id);
        let enough = |slot: &SlotFacts, need: Amount| slot.remaining.is_none_or(|left| left >= need);
        let blind = slots.len() == 1 && slots[0].material_id.is_none() && needs.materials.len() == 1;
        if facts.maps_slots || slots.len() == 1 {
            return slots.iter().any(|slot| (has(slot) || blind) && enough(slot, needed.need));
        }
        // The property test gives each material one filament.
        let tool = filaments.iter().find(|used| used.material_id == needed.material_id).unwrap().filament;
        slots.get(tool as usize).is_some_and(|slot| has(slot) && enough(slot, needed.need))
    })
}

proptest! {
    #[test]
    fn every_chosen_slot_holds_enough_of_its_material_and_is_the_tools_own_where_nothing_is_mapped(
        needs in prop::collection::btree_map(1u32..5, 0i64..50, 1..4),
        tools in Just((0u32..6).collect::<Vec<_>>()).prop_shuffle(),
        slots in prop::collection::vec((prop::option::of(1u32..5), prop::option::of(0i64..60)), 1..6),
        maps_slots: bool,
    ) {
        let needs: Vec<(u32, i64)> = needs.into_iter().collect();
        let filaments: Vec<(u32, u32)> = needs.iter().zip(&tools).map(|((material, _), tool)| (*tool, *material)).collect();
        let (job, facts) = (using(&needs, &filaments), of_type(maps_slots, &slots));
        let outcome = fit(&job, &facts);
        prop_assert_eq!(outcome.fits(), plainly(&job, &facts));
        prop_assert_eq!(&outcome, &fit(&job, &facts), "the same again");
        for chosen in &outcome.slots {
            let slot = facts.slots[chosen.slot as usize];
            prop_assert!(slot.remaining.is_none_or(|left| left >= chosen.needed.need));
            prop_assert_eq!(chosen.loaded, slot.material_id == Some(chosen.needed.material_id));
        }
        prop_assert_eq!(outcome.slots.len() + outcome.missing.len(), job.materials.len());
        if outcome.fits() {
            let from = job.sliced_for.slots(&outcome.slots);
            for (tool, material) in &filaments {
                let slot = from[*tool as usize];
                prop_assert_eq!(slot.map(|slot| facts.slots[slot as usize].material_id.unwrap_or(id(*material))), Some(id(*material)));
                if !maps_slots && slots.len() > 1 {
                    prop_assert_eq!(slot, Some(*tool), "it cannot come from anywhere else");
                }
            }
        }
    }

    /// Checks that no part of a need is lost when it is distributed over the filaments of its material.
    #[test]
    fn the_shares_of_a_need_are_the_need(
        need in 0i64..1_000_000,
        grams in prop::collection::vec(prop::option::of(0i64..1000), 1..6),
    ) {
        let mut job = using(&[(1, 0)], &(0..grams.len() as u32).map(|n| (n, 1)).collect::<Vec<_>>());
        job.materials[0].need = Amount(need);
        for (used, grams) in job.sliced_for.filaments.iter_mut().zip(&grams) {
            used.grams = grams.map(Amount::units);
        }
        let outcome = fit(&job, &unmapped(&vec![(Some(1), None); grams.len().max(2)]));
        prop_assert!(outcome.fits());
        prop_assert_eq!(outcome.slots.iter().map(|one| one.needed.need.0).sum::<i64>(), need);
        prop_assert!(outcome.slots.iter().all(|one| one.needed.need.0 >= 0));
    }

    #[test]
    fn a_share_is_never_negative(end in 0usize..3, used in prop::option::of(any::<f64>()), stated in prop::option::of(any::<f64>()), progress: f64) {
        let end = [PrintEnd::Finished, PrintEnd::Cancelled, PrintEnd::Failed][end];
        prop_assert!(used_share(end, used, stated, progress) >= 0.0);
    }
}

#[test]
fn a_print_that_ended_early_used_what_was_seen_of_it_or_what_its_printer_measured() {
    let percent =
        |used, progress| format!("{:.2}", 100.0 * used_share(PrintEnd::Cancelled, used, Some(1000.0), progress));
    assert_eq!(percent(None, 0.16), "16.00");
    assert_eq!(percent(Some(0.0), 0.16), "16.00", "the printer does not measure it");
    assert_eq!(percent(Some(550.0), 0.4), "55.00", "it ended after the last look");
    assert_eq!(percent(Some(50.0), 0.4), "40.00");
    assert_eq!(percent(Some(5_000.0), 0.4), "100.00");
}

#[test]
fn each_filament_comes_from_the_slot_of_its_material() {
    let chosen = |material: u32, slot| ChosenSlot {
        needed: MaterialNeed { material_id: id(material), need: Amount::units(1) },
        slot,
        remaining: None,
        loaded: true,
        filament: None,
    };
    let used = |filament, material: u32| UsedFilament { filament, material_id: id(material), grams: None };
    let sliced = |filaments: Vec<UsedFilament>| SlicingTarget { filaments, ..SlicingTarget::default() };
    let two = [chosen(1, 5), chosen(2, 0)];
    let slots = sliced(vec![used(0, 2), used(2, 1), used(3, 2)]).slots(&two);
    assert_eq!(slots, [Some(0), None, Some(5), Some(0)], "two filaments of one material share its slot");
    assert_eq!(sliced(vec![]).slots(&two[..1]), [Some(5)], "one material needs no telling which");
    assert_eq!(sliced(vec![]).slots(&two), [], "nobody knows which is which");
    assert_eq!(sliced(vec![used(u32::MAX, 1)]).slots(&two), [], "no endless list");
    let of = |filament, slot| ChosenSlot { filament: Some(filament), ..chosen(1, slot) };
    let own = sliced(vec![used(0, 1), used(2, 1)]).slots(&[of(0, 0), of(2, 2)]);
    assert_eq!(own, [Some(0), None, Some(2)], "each of its own, where the printer cannot choose");
}

#[test]
fn slots_of_attempts_from_before_their_spools_were_kept_are_read() {
    let read = |text: &str| serde_json::from_str::<Vec<Option<FilamentSlot>>>(text).unwrap();
    let spool = Some(ReportedSpool { vendor_code: Some("GFA00".into()), color: None });
    let now = vec![Some(FilamentSlot { slot: 3, spool }), None];
    assert_eq!(read(&serde_json::to_string(&now).unwrap()), now);
    assert_eq!(read("[3, null]"), [Some(FilamentSlot { slot: 3, spool: None }), None]);
}

#[test]
fn a_finished_print_used_its_need_unless_its_printer_measured_more_or_less() {
    let share = |end, used, stated, progress| Some(used_share(end, used, stated, progress));
    let finished = |used, stated| share(PrintEnd::Finished, used, stated, 0.5);
    assert_eq!(finished(None, Some(1000.0)), Some(1.0));
    assert_eq!(finished(Some(1500.0), Some(1000.0)), Some(1.5));
    assert_eq!([finished(Some(0.0), Some(1000.0)), finished(Some(1500.0), Some(0.0))], [Some(1.0); 2], "not measured");
    for end in [PrintEnd::Cancelled, PrintEnd::Failed] {
        assert_eq!(share(end, None, None, f64::NAN), Some(1.0), "nobody knows how far it came");
    }
}

#[test]
fn what_differs_is_told_in_the_language_of_the_page() {
    let cube = |side: f64| Some(Dimensions { x: side, y: side, z: 9.5 });
    let job = LaunchNeeds { machine_type: MachineType::ResinLarge, dimensions: cube(20.0), ..needs(&[]) };
    let facts = LaunchFacts::new(TypeFacts::default(), MachineType::FdmStandard, cube(10.0), printer(&[]).slots);
    let outcome = fit(&job, &facts);
    let in_language = |language| -> Vec<String> {
        let material = |_: Id| (String::new(), String::new());
        outcome.missing.iter().map(|missing| missing.words(language, &material)).collect()
    };
    let english = in_language(words::Language::English);
    let volume = "its build volume of 10 × 10 × 9.5 mm is too small for a print of 20 × 20 × 9.5 mm";
    assert_eq!(english, ["its machine type is not resin_large", volume]);
    let german = in_language(words::Language::German);
    assert!(german[0].contains(&MachineType::ResinLarge.noun_in(words::Language::German)), "{german:?}");
    assert!(german[1].contains("9,5"), "{german:?}");
}

#[test]
fn nozzles_of_nearly_one_diameter_are_the_same() {
    for (is, is_same) in [(0.41, true), (0.39, true), (0.42, false), (0.38, false)] {
        let mut job = needs(&[(1, 10)]);
        job.sliced_for.nozzle_diameter = Some(0.4);
        assert_eq!(fit(&job, &printer(&[(None, None)]).equipped(Some(is), None)).fits(), is_same, "{is}");
    }
}

#[test]
fn a_material_that_is_missing_for_two_filaments_is_named_once() {
    let job = using(&[(1, 10)], &[(0, 1), (1, 1)]);
    assert_eq!(fit(&job, &unmapped(&[(Some(2), None), (Some(3), None)])).missing, [Mismatch::NotLoaded(id(1))]);
    let mut unweighed = job;
    unweighed.sliced_for.filaments.iter_mut().for_each(|used| used.grams = Some(Amount::ZERO));
    let chosen = fit(&unweighed, &unmapped(&[(Some(1), None), (Some(1), None)])).slots;
    assert_eq!(chosen.iter().map(|one| one.needed.need).collect::<Vec<_>>(), [Amount::units(5); 2], "in equal parts");
}

#[test]
fn filaments_are_numbered_from_0_to_63() {
    let slots = |filament| {
        let filaments = vec![UsedFilament { filament, material_id: id(1), grams: None }];
        let needed = MaterialNeed { material_id: id(1), need: Amount::units(1) };
        let chosen = ChosenSlot { needed, slot: 5, remaining: None, loaded: true, filament: None };
        SlicingTarget { filaments, ..SlicingTarget::default() }.slots(&[chosen])
    };
    assert_eq!((slots(63).len(), slots(63)[63]), (64, Some(5)));
    assert_eq!(slots(64), []);
}

#[test]
fn what_is_no_slot_is_not_read_as_one() {
    let error = |text: &str| serde_json::from_str::<FilamentSlot>(text).unwrap_err().to_string();
    let expected = "expected the number of a slot, or a slot with what was in it";
    assert!(error("\"A1\"").contains(expected) && error("-1").contains(expected), "{}", error("-1"));
    assert!(error("4294967296").contains("no number of a slot"));
}
