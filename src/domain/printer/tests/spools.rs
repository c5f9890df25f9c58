//! Tests of the spools in a printer's slots: how they are recognised, bound and weighed.

use super::*;
use crate::launch::{FilamentSlot, KnownTypes, ReportedSpool, TypeFacts};
use crate::material::{Material, MaterialCommand, MaterialFields};
use crate::printer_status::ReportedSlot;
use crate::testing::samples::pla;

fn spool(material: Option<u32>, left: Option<i64>) -> Spool {
    Spool { material_id: material.map(id), color: None, remaining: left.map(Amount::units), spool: None }
}

fn load(shop: &mut PrinterFixture, slot: u32, spool: Spool) {
    shop.ask(PrinterCommand::LoadSlot { slot, spool, expected: None }).unwrap();
}

fn reported(slot: u32, code: Option<&str>, left: Option<i64>) -> ReportedSlot {
    let (vendor_code, remaining) = (code.map(str::to_owned), left.map(Amount::units));
    ReportedSlot { slot, vendor_code, remaining, ..ReportedSlot::default() }
}

/// Lets the printer report its slots; its own bindings are taken from the shop.
fn report(shop: &mut PrinterFixture, slots: &[ReportedSlot]) -> Decision<Printer> {
    let (slots, bindings) = (slots.to_vec(), shop.p().bindings().cloned().collect());
    shop.ask(PrinterNews::SlotsReported { slots, bindings }).unwrap()
}

fn materials(shop: &PrinterFixture) -> Vec<Option<Id>> {
    shop.p().slots().iter().map(|slot| slot.material_id).collect()
}

fn left(shop: &PrinterFixture, slot: usize) -> Option<Amount> {
    shop.p().slots()[slot].remaining
}

#[test]
fn slots_are_numbered_from_0_to_63() {
    let mut shop = PrinterFixture::idle();
    load(&mut shop, 63, spool(Some(24), None));
    let beyond = PrinterCommand::LoadSlot { slot: 64, spool: spool(Some(24), None), expected: None };
    let refusal = shop.ask(beyond).unwrap_err();
    assert_eq!((&*refusal.code, &*refusal.message), ("no_such_slot", "slots are numbered from 0 to 63"));
    report(&mut shop, &[reported(62, Some("A"), None), reported(64, Some("B"), None)]);
    assert_eq!(shop.p().slots().iter().map(|slot| slot.slot).collect::<Vec<_>>(), [0, 62, 63]);
}

#[test]
fn of_two_reports_about_one_slot_the_first_counts() {
    let mut shop = PrinterFixture::idle();
    report(&mut shop, &[reported(1, Some("A"), None), reported(1, Some("B"), None), reported(2, Some("C"), None)]);
    let codes: Vec<_> = shop.p().slots().into_iter().map(|slot| (slot.slot, slot.vendor_code.unwrap())).collect();
    assert_eq!(codes, [(1, "A".to_owned()), (2, "C".to_owned())]);
}

#[test]
fn spools_of_one_kind_are_bound_together_unless_they_are_bound_already() {
    let mut shop = PrinterFixture::idle();
    let of = |material: Option<u32>| material.map(id);
    let codes = [(0, Some("A")), (1, Some("A")), (2, Some("B")), (3, None)];
    report(&mut shop, &codes.map(|(slot, code)| reported(slot, code, None)));
    load(&mut shop, 0, spool(Some(24), None));
    assert_eq!(materials(&shop), [Some(24), Some(24), None, None].map(of));
    load(&mut shop, 1, spool(Some(25), None));
    assert_eq!(materials(&shop), [Some(24), Some(25), None, None].map(of));
    load(&mut shop, 9, spool(None, None));
    load(&mut shop, 3, spool(Some(26), None));
    let expected = [Some(24), Some(25), None, Some(26), None].map(of);
    assert_eq!(materials(&shop), expected, "a slot that the printer does not report is no empty one of it");
}

#[test]
fn a_spool_is_recognised_by_its_code_or_its_colour_alone() {
    for (code, color) in [(Some("A"), None), (None, Some("#00ff00"))] {
        let one = |slot| ReportedSlot { color: color.map(str::to_owned), ..reported(slot, code, None) };
        let mut shop = PrinterFixture::idle();
        report(&mut shop, &[one(0)]);
        load(&mut shop, 0, spool(Some(24), None));
        report(&mut shop, &[reported(0, None, None), one(1)]);
        assert_eq!(materials(&shop), [None, Some(id(24))], "{code:?} {color:?}");
    }
}

#[test]
fn what_is_reported_again_changes_nothing_and_what_the_printer_does_not_weigh_is_for_people_to_say() {
    let mut shop = PrinterFixture::idle();
    report(&mut shop, &[reported(0, Some("A"), None)]);
    load(&mut shop, 0, spool(Some(24), Some(500)));
    shop.bench.now = shop.now().plus_ms(1000);
    assert!(report(&mut shop, &[reported(0, Some("A"), None)]).next.is_none());
    assert_eq!(left(&shop, 0), Some(Amount::units(500)));
    report(&mut shop, &[reported(0, Some("A"), Some(300))]);
    assert_eq!(left(&shop, 0), Some(Amount::units(300)));
    report(&mut shop, &[reported(0, Some("A"), None)]);
    assert_eq!(left(&shop, 0), None, "what was weighed once is not what is left now");
}

#[test]
fn a_filament_is_told_the_spool_of_its_own_slot_if_the_printer_reports_it() {
    let types = KnownTypes::new([("fw_rest", TypeFacts { maps_slots: true, ..TypeFacts::default() })]);
    let mut shop = PrinterFixture::idle();
    report(&mut shop, &[reported(0, Some("A"), Some(900)), reported(1, Some("B"), Some(900))]);
    load(&mut shop, 1, spool(Some(24), None));
    shop.ask(TakeAttempt { types, ..take(ATTEMPT) }).unwrap();
    let spool_b = Some(ReportedSpool { vendor_code: Some("B".to_owned()), color: None });
    let chosen = |shop: &PrinterFixture| shop.p().in_hand.as_ref().unwrap().filament_slots.clone();
    assert_eq!(chosen(&shop), [Some(FilamentSlot { slot: 1, spool: spool_b })]);
    let mut shop = PrinterFixture::idle();
    load(&mut shop, 0, spool(Some(24), None));
    shop.ask(take(ATTEMPT)).unwrap();
    assert_eq!(chosen(&shop), [Some(FilamentSlot { slot: 0, spool: None })], "an operator said so");
}

#[test]
fn a_slot_of_unknown_content_may_turn_out_to_hold_the_material() {
    for (named, is_started) in [(None, true), (Some(24), true), (Some(25), false)] {
        let mut shop = PrinterFixture::with_attempt();
        if named.is_some() {
            load(&mut shop, 0, spool(named, None));
        }
        assert_eq!(shop.uploaded().answer == UploadAnswer::Go, is_started, "{named:?}");
    }
    let mut shop = PrinterFixture::idle();
    load(&mut shop, 0, spool(Some(24), Some(100)));
    shop.ask(take(ATTEMPT)).unwrap();
    load(&mut shop, 0, spool(None, None));
    assert_eq!(shop.uploaded().answer, UploadAnswer::Done, "the spool was taken out");
}

#[test]
fn a_spool_that_was_put_in_during_the_print_keeps_its_amount() {
    let mut shop = PrinterFixture::idle();
    load(&mut shop, 0, spool(Some(24), Some(100)));
    load(&mut shop, 1, spool(Some(24), Some(50)));
    shop.ask(take(ATTEMPT)).unwrap();
    shop.uploaded();
    shop.sees(Activity::Printing, Some(OURS), None);
    load(&mut shop, 0, spool(Some(25), Some(700)));
    shop.sees(Activity::Idle, Some(OURS), Some(PrintEnd::Finished));
    assert_eq!([left(&shop, 0), left(&shop, 1)], [700, 50].map(|units| Some(Amount::units(units))));
}

#[test]
fn an_ended_print_is_deducted_once() {
    let mut shop = PrinterFixture::idle();
    load(&mut shop, 0, spool(Some(24), Some(100)));
    shop.ask(take(ATTEMPT)).unwrap();
    shop.uploaded();
    shop.sees(Activity::Printing, Some(OURS), None);
    shop.sees(Activity::Idle, Some(OURS), Some(PrintEnd::Finished));
    shop.silent();
    shop.sees(Activity::Idle, Some(OURS), Some(PrintEnd::Finished));
    assert_eq!(left(&shop, 0), Some(Amount::units(90)), "however often it is seen");
}

#[test]
fn the_balance_of_a_spool_counts_only_for_the_slot_as_it_was_read() {
    let numbered = |material| Spool { spool: Some(7), ..spool(material, Some(100)) };
    let loaded = |material| {
        let mut shop = PrinterFixture::idle();
        load(&mut shop, 0, numbered(material));
        shop
    };
    let fresh = SpoolBalance {
        slot: 0,
        spool: 7,
        was: Some(Amount::units(100)),
        left: Amount::units(80),
        material: Some(id(25)),
    };
    let outcome = |mut shop: PrinterFixture, balance: SpoolBalance| {
        let decision = shop.ask(PrinterNews::SpoolLeft(balance)).unwrap();
        decision.next.map(|next| (next.slots()[0].remaining, next.slots()[0].material_id, decision.requirements.len()))
    };
    let lighter = Some(Amount::units(80));
    assert_eq!(outcome(loaded(Some(24)), fresh), Some((lighter, Some(id(24)), 0)));
    assert_eq!(outcome(loaded(None), fresh), Some((lighter, Some(id(25)), 1)), "bound to what the system says");
    let same = SpoolBalance { left: Amount::units(100), ..fresh };
    assert_eq!(outcome(loaded(Some(24)), same), None, "nothing new");
    assert_eq!(outcome(loaded(None), same), Some((same.was, Some(id(25)), 1)));
    for stale in [
        SpoolBalance { slot: 1, ..fresh },
        SpoolBalance { spool: 8, ..fresh },
        SpoolBalance { was: Some(Amount::units(99)), ..fresh },
        SpoolBalance { was: None, ..fresh },
    ] {
        assert_eq!(outcome(loaded(Some(24)), stale), None, "{stale:?}");
    }
    let mut weighed = PrinterFixture::idle();
    report(&mut weighed, &[reported(0, Some("A"), Some(100))]);
    load(&mut weighed, 0, numbered(Some(24)));
    assert_eq!(outcome(weighed, fresh), None, "the printer weighs it itself");
    let mut busy = loaded(Some(24));
    busy.ask(take(ATTEMPT)).unwrap();
    assert_eq!(outcome(busy, fresh), None, "a print is using it");
}

#[test]
fn a_material_binds_its_own_spools_by_their_code_and_colour() {
    let (vendor_code, color) = (Some("GFA00".to_owned()), Some("#FF00AA".to_owned()));
    let create = MaterialCommand::Create {
        fields: Box::new(MaterialFields { vendor_code: vendor_code.clone(), color, ..pla() }),
        quantity: Amount::units(1),
    };
    let mut material: Option<Material> = None;
    Bench::new().tell(&mut material, id(7), &create).unwrap();
    let mut material = material.unwrap();
    let binding = SpoolBinding { vendor_code, color: Some("#ff00aa".to_owned()), material_id: id(7) };
    assert_eq!(SpoolBinding::of(&material), Some(binding));
    material.archived = true;
    assert_eq!(SpoolBinding::of(&material), None);
    (material.archived, material.fields.vendor_code) = (false, None);
    assert_eq!(SpoolBinding::of(&material), None);
}
