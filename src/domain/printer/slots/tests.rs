#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::super::tests::{ATTEMPT, OURS, PrinterFixture, needs, take};
use super::*;
use crate::launch::TypeFacts;
use crate::printer::{AttemptPhase, PrinterCommand, PrinterFields, PrinterNews, TakeAnswer, TakeAttempt, UploadAnswer};
use crate::printer_status::{Activity, PrintEnd, ReportedSlot};
use crate::testing::id;

fn spool(material: u32, left: Option<i64>) -> Spool {
    Spool { material_id: Some(id(material)), color: None, remaining: left.map(Amount::units), spool: None }
}

fn load(shop: &mut PrinterFixture, slot: u32, spool: Spool) {
    shop.ask(PrinterCommand::LoadSlot { slot, spool, expected: None }).unwrap();
}

fn left(shop: &PrinterFixture, slot: u32) -> Option<i64> {
    let slots = shop.p().slots();
    slots.iter().find(|one| one.slot == slot).unwrap().remaining.map(|left| left.0 / 1000)
}

fn reported(slot: u32, code: &str, left: Option<i64>) -> ReportedSlot {
    let vendor_code = Some(code.to_owned()).filter(|code| !code.is_empty());
    let color = vendor_code.as_ref().map(|_| "#FF0000".to_owned());
    ReportedSlot { slot, vendor_code, kind: None, color, remaining: left.map(Amount::units) }
}

fn report(shop: &mut PrinterFixture, slots: &[ReportedSlot]) {
    let (slots, bindings) = (slots.to_vec(), shop.p().bindings().cloned().collect());
    shop.ask(PrinterNews::SlotsReported { slots, bindings }).unwrap();
}

fn held(shop: &PrinterFixture) -> Vec<Option<Id>> {
    let materials: Vec<Option<Id>> = shop.p().slots().iter().map(|slot| slot.material_id).collect();
    assert!(shop.p().slot_materials().eq(materials.iter().copied()), "{materials:?}");
    materials
}

#[test]
fn a_printer_of_one_spool_has_one_slot_with_what_is_loaded() {
    let mut shop = PrinterFixture::idle();
    assert_eq!((held(&shop), shop.p().tracks_spools()), (vec![None], false), "nobody has said anything");
    let fields = PrinterFields { loaded_material_id: Some(id(24)), ..shop.p().fields.clone() };
    shop.ask(PrinterCommand::Update { if_version: None, fields: Box::new(fields) }).unwrap();
    assert_eq!((held(&shop), shop.p().tracks_spools()), (vec![Some(id(24))], true));
    load(&mut shop, 0, spool(25, Some(700)));
    assert_eq!((shop.p().fields.loaded_material_id, left(&shop, 0)), (Some(id(25)), Some(700)));
    let fields = PrinterFields { loaded_material_id: None, ..shop.p().fields.clone() };
    shop.ask(PrinterCommand::Update { if_version: None, fields: Box::new(fields) }).unwrap();
    assert_eq!((held(&shop), left(&shop, 0)), (vec![None], None), "another spool: nobody knows what is left on it");
}

#[test]
fn what_a_slot_names_must_not_be_deleted() {
    let mut shop = PrinterFixture::idle();
    let decision = shop.ask(PrinterCommand::LoadSlot { slot: 2, spool: spool(25, None), expected: None }).unwrap();
    assert_eq!(decision.requirements, [Requirement::not_deleted(Referenced::Material, id(25), "materialId")]);
}

#[test]
fn the_last_slot_stays() {
    let mut shop = PrinterFixture::idle();
    load(&mut shop, 3, spool(24, None));
    assert_eq!(shop.p().slots().len(), 2);
    shop.ask(PrinterCommand::RemoveSlot(0)).unwrap();
    assert_eq!(shop.p().fields.loaded_material_id, Some(id(24)), "the first slot now");
    assert_eq!(shop.ask(PrinterCommand::RemoveSlot(3)).unwrap_err().code, "last_slot");
    assert_eq!(shop.ask(PrinterCommand::RemoveSlot(0)).unwrap_err().code, "slot_not_found");
}

/// Prints a job on the printer that uses the given number of millimetres out of the 1000 stated in the file.
fn print(shop: &mut PrinterFixture, grams: &[(u32, i64)], end: PrintEnd, used: Option<f64>, percent: f64) {
    let job = TakeAttempt { needs: Box::new(needs(grams)), ..take(ATTEMPT) };
    assert_eq!(shop.ask(job).unwrap().answer, TakeAnswer::Accepted);
    shop.uploaded();
    shop.sees(Activity::Printing, Some(OURS), None);
    let over = crate::printer_status::Status {
        state: Activity::Idle,
        connection: crate::printer_status::Connection::Connected,
        file: Some(OURS.to_owned()),
        ended: Some(end),
        progress: percent,
        filament_mm: used,
        updated_at: shop.bench.now,
        ..Default::default()
    };
    shop.ask(PrinterNews::Progressed { attempt: id(ATTEMPT), progress: percent / 100.0 }).unwrap();
    shop.ask(PrinterNews::Seen(Box::new(over))).unwrap();
}

#[test]
fn a_print_lowers_what_is_left_in_each_slot_that_it_used() {
    for (end, used, percent, expected) in [
        (PrintEnd::Finished, None, 100.0, [Some(60), Some(5)]),
        (PrintEnd::Finished, Some(1500.0), 100.0, [Some(40), Some(3)]),
        (PrintEnd::Finished, Some(4000.0), 100.0, [Some(0), Some(0)]),
        (PrintEnd::Failed, None, 50.0, [Some(80), Some(7)]),
    ] {
        let mut shop = PrinterFixture::idle();
        load(&mut shop, 0, spool(24, Some(100)));
        load(&mut shop, 1, spool(25, None));
        load(&mut shop, 2, spool(26, Some(9)));
        print(&mut shop, &[(24, 40), (26, 4)], end, used, percent);
        assert_eq!([left(&shop, 0), left(&shop, 2)], expected, "{end:?} {used:?}");
        assert_eq!(left(&shop, 1), None);
    }
}

#[test]
fn a_job_that_its_slots_cannot_feed_is_not_taken() {
    let mut shop = PrinterFixture::idle();
    load(&mut shop, 0, spool(24, Some(9)));
    let answer = shop.ask(take(ATTEMPT)).unwrap().answer;
    assert!(matches!(&answer, TakeAnswer::NotTaken(why) if why.contains("9 units")), "{answer:?}");
    // Its file prints from the first slot alone.
    load(&mut shop, 1, spool(24, Some(11)));
    let answer = shop.ask(take(ATTEMPT + 1)).unwrap().answer;
    assert!(matches!(&answer, TakeAnswer::NotTaken(why) if why.contains("9 units")), "{answer:?}");
    let mapped = |attempt: u32| {
        let types = KnownTypes::new([("fw_rest", TypeFacts { maps_slots: true, ..TypeFacts::default() })]);
        TakeAttempt { types, ..take(attempt) }
    };
    let answer = shop.ask(mapped(ATTEMPT + 2)).unwrap().answer;
    assert!(matches!(answer, TakeAnswer::NotTaken(_)), "both are beside a changer");
    let mut shop = PrinterFixture::idle();
    report(&mut shop, &[reported(0, "A", Some(9)), reported(1, "A", Some(11))]);
    load(&mut shop, 0, spool(24, None));
    assert!(matches!(shop.ask(mapped(ATTEMPT + 3)).unwrap().answer, TakeAnswer::Accepted));
    let in_hand = shop.p().in_hand.clone().unwrap();
    assert_eq!(in_hand.used_slots[0].slot, 1, "where the printer can be told which");
    let spool = Some(ReportedSpool { vendor_code: Some("A".into()), color: Some("#ff0000".into()) });
    assert_eq!(in_hand.filament_slots, [Some(FilamentSlot { slot: 1, spool })]);
}

#[test]
fn a_form_of_file_that_the_type_does_not_print_is_not_taken() {
    let mut shop = PrinterFixture::idle();
    let mut job = take(ATTEMPT);
    job.needs.form = crate::file::GcodeForm::Binary;
    let answer = shop.ask(job).unwrap().answer;
    assert!(matches!(&answer, TakeAnswer::NotTaken(why) if why.contains(".bgcode")), "{answer:?}");
}

#[test]
fn a_spool_that_is_swapped_while_the_file_is_sent_keeps_the_print_from_its_start() {
    for (swapped, started) in [(spool(24, Some(700)), true), (spool(25, None), false), (spool(24, Some(9)), false)] {
        let mut shop = PrinterFixture::idle();
        load(&mut shop, 0, spool(24, Some(100)));
        assert!(matches!(shop.ask(take(ATTEMPT)).unwrap().answer, TakeAnswer::Accepted));
        load(&mut shop, 0, swapped);
        assert_eq!(matches!(shop.uploaded().answer, UploadAnswer::Go), started);
        if !started {
            let phase = shop.p().in_hand.clone().unwrap().phase;
            let AttemptPhase::NotStarted { start_sent, counts, reason } = phase else { panic!("{phase:?}") };
            assert_eq!((start_sent, counts), (false, false), "no fault of the job or the printer");
            assert!(reason.contains("slot 1 no longer holds"), "{reason}");
        }
    }
}

#[test]
fn a_reported_spool_is_bound_once_and_then_by_itself() {
    let mut shop = PrinterFixture::idle();
    report(&mut shop, &[reported(0, "GFA00", Some(800)), reported(1, "", None)]);
    assert_eq!((held(&shop), left(&shop, 0)), (vec![None, None], Some(800)));
    // The operator says which material it is; what the printer weighed stays.
    load(&mut shop, 0, spool(24, Some(1)));
    assert_eq!((held(&shop), left(&shop, 0)), (vec![Some(id(24)), None], Some(800)));
    report(&mut shop, &[reported(0, "GFB99", None), reported(1, "GFA00", Some(990))]);
    assert_eq!(held(&shop), [None, Some(id(24))], "by itself, in another slot");
    report(&mut shop, &[reported(0, "GFB99", None), reported(1, "", None)]);
    assert_eq!(held(&shop), [None, None], "an empty slot holds nothing");
    // What is said of a spool anew counts from then on.
    report(&mut shop, &[reported(1, "GFA00", None)]);
    load(&mut shop, 1, spool(25, None));
    report(&mut shop, &[reported(1, "GFB99", None)]);
    report(&mut shop, &[reported(1, "GFA00", None)]);
    assert_eq!(held(&shop), [Some(id(25))]);
}

#[test]
fn the_shop_knows_spools_that_this_printer_never_saw() {
    let mut shop = PrinterFixture::idle();
    let binding = SpoolBinding { vendor_code: Some("GFA00".into()), color: Some("#ff0000".into()), material_id: id(7) };
    let slots = vec![reported(0, "GFA00", None)];
    let decision = shop.ask(PrinterNews::SlotsReported { slots: slots.clone(), bindings: vec![binding] }).unwrap();
    assert_eq!(held(&shop), [Some(id(7))]);
    assert_eq!(decision.requirements.len(), 1, "it must not be deleted");
    assert!(!shop.p().slots_matter(&slots), "nothing new");
}

#[test]
fn a_spool_that_was_there_before_is_bound_once_the_shop_knows_it() {
    let mut shop = PrinterFixture::idle();
    let slots = vec![reported(0, "GFA00", Some(800)), reported(1, "GFB99", None), reported(2, "", None)];
    report(&mut shop, &slots);
    assert_eq!((held(&shop), shop.p().has_unbound_spools()), (vec![None, None, None], true));
    let coded = |code: &str, material| SpoolBinding {
        vendor_code: Some(code.to_owned()),
        color: Some("#ff0000".to_owned()),
        material_id: id(material),
    };
    assert!(!shop.p().binds(&[coded("GFC11", 7)]), "another spool");
    let bindings = vec![coded("GFA00", 7)];
    assert!(shop.p().binds(&bindings));
    let decision = shop.ask(PrinterNews::SlotsReported { slots: slots.clone(), bindings: bindings.clone() }).unwrap();
    assert_eq!((held(&shop), left(&shop, 0)), (vec![Some(id(7)), None, None], Some(800)));
    assert_eq!(decision.requirements.len(), 1, "it must not be deleted");
    assert!(!shop.p().binds(&bindings), "done");
    // What an operator said of a spool stays, whatever code is given to which material.
    load(&mut shop, 1, spool(24, None));
    assert!(!shop.p().binds(&[coded("GFB99", 7)]));
    shop.ask(PrinterNews::SlotsReported { slots, bindings: vec![coded("GFB99", 7)] }).unwrap();
    assert_eq!(held(&shop), [Some(id(7)), Some(id(24)), None]);
}

#[test]
fn a_spool_beside_the_changer_stays_what_an_operator_said() {
    let mut shop = PrinterFixture::idle();
    load(&mut shop, 9, spool(24, Some(5)));
    report(&mut shop, &[reported(0, "GFA00", None)]);
    assert_eq!(held(&shop), [None, Some(id(24))]);
    report(&mut shop, &[reported(3, "GFA00", None)]);
    assert_eq!(shop.p().slots().iter().map(|slot| slot.slot).collect::<Vec<_>>(), [3, 9]);
}

proptest! {
    #[test]
    fn nothing_is_bound_but_what_an_operator_bound(
        script in prop::collection::vec((any::<bool>(), 0u32..4, 0usize..4, 1u32..4), 0..60),
    ) {
        let codes = ["", "A", "B", "C"];
        let mut shop = PrinterFixture::idle();
        let mut assignments: std::collections::BTreeMap<&str, Id> = std::collections::BTreeMap::new();
        let mut inside = [0usize; 4];
        let mut is_reported = false;
        for (by_hand, slot, code, material) in script {
            if by_hand && is_reported {
                load(&mut shop, slot, spool(material, None));
                let code = codes[inside[slot as usize]];
                if !code.is_empty() {
                    assignments.insert(code, id(material));
                }
            } else {
                let is_another = inside[slot as usize] != code;
                inside[slot as usize] = code;
                is_reported = true;
                let all: Vec<_> = (0..4).map(|n| reported(n, codes[inside[n as usize]], None)).collect();
                report(&mut shop, &all);
                prop_assert!(!shop.p().slots_matter(&all));
                let swapped = &shop.p().slots()[slot as usize];
                if is_another {
                    prop_assert_eq!(swapped.material_id, assignments.get(codes[code]).copied());
                }
            }
            let printer = shop.p();
            prop_assert_eq!(printer.fields.loaded_material_id, printer.slots()[0].material_id);
        }
    }
}

#[test]
fn the_only_slot_that_no_changer_reports_is_the_external_spool() {
    let mut shop = PrinterFixture::idle();
    let label = |shop: &PrinterFixture, slot, labels: SlotLabels| shop.p().slot_label(slot, labels).to_string();
    assert_eq!(label(&shop, 0, SlotLabels::Changers), "External", "a printer without a changer");
    assert_eq!(label(&shop, 0, SlotLabels::Tools), "T0");
    assert_eq!(label(&shop, 0, SlotLabels::Numbers), "1");
    let slots = vec![reported(0, "GFA00", None), reported(5, "GFA01", None)];
    shop.ask(PrinterNews::SlotsReported { slots, bindings: Vec::new() }).unwrap();
    assert_eq!([0, 5].map(|slot| label(&shop, slot, SlotLabels::Changers)), ["A1", "B2"]);
    load(&mut shop, 16, spool(24, None));
    assert_eq!([0, 5, 16].map(|slot| label(&shop, slot, SlotLabels::Changers)), ["A1", "B2", "External"]);
    load(&mut shop, 17, spool(24, None));
    assert_eq!([16, 17].map(|slot| label(&shop, slot, SlotLabels::Changers)), ["E1", "E2"], "two cannot both be it");
}
