#![expect(clippy::unwrap_used, reason = "tests")]

use serde_json::json;

use super::super::tests::{ATTEMPT, OURS, PrinterFixture, take};
use super::*;
use crate::amount::Amount;
use crate::material::{Material, MaterialCommand};
use crate::order::Report;
use crate::printer::{Evidence, PrinterCommand, Spool};
use crate::printer_status::{Activity, PastPrint, PrintEnd};
use crate::testing::samples::pla;
use crate::testing::{Bench, id};
use crate::time::Timestamp;

impl PrinterFixture {
    fn sees_on(&mut self, spool: Option<i64>, state: Activity, ended: Option<PrintEnd>) {
        let books_on = spool.map(|spool| SpoolBooking { spool, connected: true, unreported: false });
        let status = Status { books_on, ..self.status(state, Some(OURS), ended) };
        self.tell(status);
    }
}

fn booked_on(shop: &PrinterFixture) -> Vec<i64> {
    match shop.report() {
        Report::Ended { booked_on, .. } => booked_on,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_order_hears_on_which_spools_the_printer_booked_the_print() {
    let mut shop = PrinterFixture::started();
    assert!(shop.p().spools_in_use().is_empty());
    for spool in [7, 7, 8] {
        shop.sees_on(Some(spool), Activity::Printing, None);
    }
    assert_eq!(shop.p().spools_in_use(), [7, 8, 8], "what they hold changes by the print");
    shop.sees_on(Some(8), Activity::Idle, Some(PrintEnd::Finished));
    assert_eq!(booked_on(&shop), [7, 8]);
    assert_eq!(shop.p().seen_print(id(ATTEMPT)).booked_on, [7, 8], "also when a person decides");
    shop.acknowledge(false);
    assert!(shop.p().spools_in_use().is_empty());
    shop.sees_on(Some(9), Activity::Printing, None);
    assert!(shop.p().spools_in_use().is_empty(), "a person's own print is no use of our stock");
}

#[test]
fn a_printer_without_an_active_spool_books_nothing() {
    let mut shop = PrinterFixture::printing();
    shop.sees_on(None, Activity::Printing, None);
    shop.sees_on(None, Activity::Idle, Some(PrintEnd::Finished));
    assert!(booked_on(&shop).is_empty());
}

#[test]
fn of_a_print_that_nobody_saw_the_history_tells_or_else_the_spool_of_now() {
    let past = |booked_on: Vec<i64>| PastPrint {
        file: OURS.into(),
        ended: Some(PrintEnd::Finished),
        cut_off: false,
        filament_mm: None,
        started_at: None,
        ended_at: None,
        booked_on,
    };
    for (history, expected) in [(vec![5, 6], vec![5, 6]), (Vec::new(), vec![4])] {
        let mut shop = PrinterFixture::idle();
        shop.sees_on(Some(4), Activity::Idle, None);
        shop.ask(take(ATTEMPT)).unwrap();
        shop.uploaded();
        shop.judged(Evidence::Remembers(past(history)));
        assert_eq!(booked_on(&shop), expected);
    }
}

#[test]
fn what_may_be_counted_wrongly_is_told_at_the_slot() {
    let mut shop = PrinterFixture::idle();
    let load = |shop: &mut PrinterFixture, slot: u32, spool: Option<i64>| {
        let spool = Spool { material_id: None, color: None, remaining: None, spool };
        shop.ask(PrinterCommand::LoadSlot { slot, spool, expected: None }).unwrap();
    };
    let warning = |shop: &PrinterFixture| {
        let slot = &shop.p().slots()[0];
        (shop.p().books_itself(slot), shop.p().spool_warning(slot, None, SlotLabels::default()))
    };
    load(&mut shop, 0, Some(7));
    assert_eq!(warning(&shop), (false, None), "it books nothing");
    shop.sees_on(Some(7), Activity::Idle, None);
    assert_eq!(warning(&shop), (true, None));
    for unreported in [false, true] {
        let lost = Some(SpoolBooking { spool: 7, connected: false, unreported });
        let status = Status { books_on: lost, ..shop.status(Activity::Idle, Some(OURS), None) };
        shop.tell(status);
        assert!(warning(&shop).1.unwrap().contains("cannot reach"));
        assert_eq!(!shop.p().spools_in_use().is_empty(), unreported, "only what it has still to book changes");
    }
    shop.sees_on(Some(8), Activity::Idle, None);
    let (itself, words) = warning(&shop);
    assert!(!itself && words.unwrap().contains("spool 7 is set for slot 1"));
    load(&mut shop, 0, None);
    assert!(warning(&shop).1.unwrap().contains("set this spool for slot 1"));
    load(&mut shop, 1, Some(8));
    assert!(warning(&shop).1.unwrap().contains("changes its active spool"));
}

#[test]
fn only_a_print_that_may_be_on_is_booked_on_at_most_sixteen_spools() {
    let mut shop = PrinterFixture::with_attempt();
    let booked = |shop: &PrinterFixture| shop.p().in_hand.as_ref().unwrap().booked_on.clone();
    shop.sees_on(Some(99), Activity::Idle, None);
    assert!(booked(&shop).is_empty(), "nothing was sent yet");
    shop.uploaded();
    (1..=17).for_each(|spool| shop.sees_on(Some(spool), Activity::Printing, None));
    assert_eq!(booked(&shop), (1..=16).collect::<Vec<i64>>());
    let mut shop = PrinterFixture::printing();
    shop.sees_on(Some(4), Activity::Idle, Some(PrintEnd::Finished));
    shop.sees_on(Some(5), Activity::Idle, Some(PrintEnd::Finished));
    assert_eq!(booked(&shop), [4], "it is over");
}

#[test]
fn a_printer_that_nobody_uses_changes_no_spool() {
    let mut shop = PrinterFixture::printing();
    shop.sees_on(Some(7), Activity::Printing, None);
    assert_eq!(shop.p().spools_in_use(), [7, 7]);
    assert!(Printer { disconnected: true, ..shop.p().clone() }.spools_in_use().is_empty());
    assert!(Printer { archived: true, ..shop.p().clone() }.spools_in_use().is_empty());
    let status = shop.status(Activity::Offline, None, None);
    shop.tell(Status { connection: Connection::FirmwareDisconnected, ..status });
    assert_eq!(shop.p().spools_in_use(), [7, 7], "what was said last holds");
}

#[test]
fn a_slot_that_may_be_booked_on_another_spool_or_of_another_material_says_so() {
    let mut shop = PrinterFixture::idle();
    for (slot, spool) in [(0, 7), (1, 8)] {
        let spool = Spool { material_id: Some(id(77)), color: None, remaining: None, spool: Some(spool) };
        shop.ask(PrinterCommand::LoadSlot { slot, spool, expected: None }).unwrap();
    }
    shop.sees_on(Some(8), Activity::Idle, None);
    let mut material: Option<Material> = None;
    let (fields, quantity) = (Box::new(pla()), Amount::units(300));
    Bench::new().tell(&mut material, id(77), &MaterialCommand::Create { fields, quantity }).unwrap();
    let mut material = material.unwrap();
    let warning = |material: &Material, slot: usize| {
        shop.p().spool_warning(&shop.p().slots()[slot], Some(material), SlotLabels::default())
    };
    assert!(warning(&material, 0).unwrap().contains("changes its active spool with the slot"));
    assert_eq!(warning(&material, 1), None);
    for (agreed, is_warned) in [(json!({"8": 5}), false), (json!({"9": 5}), true), (json!(null), false)] {
        let link = json!({
            "id": id(78), "materialId": id(77), "system": "spools", "entry": 12, "name": "PLA Red", "agreed": agreed,
            "seen": null, "pending": null, "conflict": null, "round": 0, "createdAt": Timestamp(0),
        });
        material.links.insert_mut(StockSystem::Spools, serde_json::from_value(link).unwrap());
        let warning = warning(&material, 1);
        assert_eq!(warning.is_some_and(|words| words.contains("which does not hold PLA Red")), is_warned, "{agreed}");
    }
}

#[test]
fn what_nobody_booked_is_told_at_the_slot_until_a_person_decided() {
    let mut shop = PrinterFixture::idle();
    let mut material: Option<Material> = None;
    let (fields, quantity) = (Box::new(pla()), Amount::units(300));
    Bench::new().tell(&mut material, id(77), &MaterialCommand::Create { fields, quantity }).unwrap();
    let mut material = material.unwrap();
    let link = |missing: i64| {
        let text = json!({
            "id": id(78), "materialId": id(77), "system": "spools", "entry": 12, "name": "PLA", "agreed": null, "seen": null,
            "pending": null, "conflict": null, "round": 0, "createdAt": Timestamp(0),
            "awaited": [{"spools": [7, 8], "due": 5, "missing": missing, "at": Timestamp(0)}],
        });
        serde_json::from_value(text).unwrap()
    };
    let spool = Spool { material_id: Some(id(77)), color: None, remaining: None, spool: Some(7) };
    shop.ask(PrinterCommand::LoadSlot { slot: 0, spool, expected: None }).unwrap();
    for (missing, words) in [(30, Some("prints used 30 g of spool 7")), (0, None)] {
        material.links.insert_mut(StockSystem::Spools, link(missing));
        let warning = shop.p().spool_warning(&shop.p().slots()[0], Some(&material), SlotLabels::default());
        assert_eq!(warning.is_some(), words.is_some(), "{warning:?}");
        assert!(words.is_none_or(|words| warning.unwrap().contains(words)));
    }
}
