#![expect(clippy::unwrap_used, reason = "tests")]

mod dropped;
mod model;
mod prints;
mod random;

use std::collections::BTreeSet;

use self::model::{Fault, Shop};
use super::*;
use crate::material::MaterialCommand;
use crate::parts_sync::{BookingVerdict, ConflictKind, total};

#[test]
fn nothing_moves_before_a_person_agreed_to_the_beginning() {
    let mut shop = Shop::new(StockSystem::Parts, 100, &[70]);
    assert_eq!(shop.agree(RightSide::Theirs).unwrap_err().code, "nothing_to_decide", "nothing was read yet");
    shop.quiet_down();
    assert_eq!((shop.now().quantity, shop.there.total()), (Amount::units(100), Amount::units(70)));
    assert_eq!(shop.current_link().last_amounts.as_ref().map(total), Some(Amount::units(70)), "the preview");
    shop.agree(RightSide::Theirs).unwrap();
    assert_eq!(shop.now().quantity, Amount::units(70));
    shop.quiet_down();
    assert_eq!((shop.ledger, shop.there.total()), (Amount::units(70), Amount::units(70)));
}

#[test]
fn what_both_sides_took_beyond_what_there_was_waits_for_a_person() {
    let mut shop = Shop::new(StockSystem::Parts, 100, &[100]);
    shop.round(Fault::None, None);
    shop.agree(RightSide::Ours).unwrap();
    shop.adjust(Amount::units(-90));
    shop.they_change(1, Amount::units(-50));
    shop.quiet_down();
    assert_eq!(shop.conflict(), Some(ConflictKind::Negative));
    assert_eq!((shop.now().quantity, shop.there.total()), (Amount::units(10), Amount::units(50)), "nothing moved");
    shop.agree(RightSide::Ours).unwrap();
    shop.quiet_down();
    assert_eq!((shop.conflict(), shop.there.total()), (None, Amount::units(10)));
}

#[test]
fn deleted_items_that_held_stock_wait_for_a_person_and_merged_ones_do_not() {
    let mut shop = Shop::new(StockSystem::Parts, 100, &[60, 30, 10]);
    shop.round(Fault::None, None);
    shop.agree(RightSide::Ours).unwrap();
    // The third is merged into the first: nobody is asked.
    shop.there.items.remove(&3);
    shop.there.change(1, Amount::units(10));
    shop.quiet_down();
    assert_eq!((shop.conflict(), shop.now().quantity), (None, Amount::units(100)));
    shop.there.items.remove(&2);
    shop.quiet_down();
    assert_eq!((shop.conflict(), shop.now().quantity), (Some(ConflictKind::ItemsGone), Amount::units(100)));
    shop.agree(RightSide::Theirs).unwrap();
    shop.quiet_down();
    assert_eq!((shop.conflict(), shop.now().quantity), (None, Amount::units(70)));
    shop.there.gone = true;
    shop.quiet_down();
    assert_eq!(shop.conflict(), Some(ConflictKind::EntryGone));
    shop.there.gone = false;
    shop.quiet_down();
    assert_eq!(shop.conflict(), None, "it was restored");
}

#[test]
fn at_another_address_everything_begins_anew() {
    let mut shop = Shop::new(StockSystem::Parts, 100, &[100]);
    shop.round(Fault::None, None);
    shop.agree(RightSide::Ours).unwrap();
    shop.there.server = "http://elsewhere/";
    shop.they_change(1, Amount::units(-60));
    shop.quiet_down();
    assert_eq!(
        (shop.now().quantity, shop.current_link().agreed.is_none()),
        (Amount::units(100), true),
        "a preview again"
    );
    shop.agree(RightSide::Theirs).unwrap();
    shop.quiet_down();
    assert_eq!((shop.now().quantity, shop.conflict()), (Amount::units(40), None));
}

#[test]
fn another_unit_is_never_converted() {
    let mut shop = Shop::new(StockSystem::Parts, 100, &[100]);
    shop.there.unit = StockUnit::Other;
    shop.quiet_down();
    assert_eq!(shop.conflict(), Some(ConflictKind::WrongUnit));
    assert!(shop.agree(RightSide::Theirs).is_err());
}

#[test]
fn what_no_item_can_take_is_a_conflict_and_theirs_still_comes_in() {
    let mut shop = Shop::new(StockSystem::Spools, 100, &[100]);
    shop.there.items.insert(1, (Amount::units(100), Amount::units(5)));
    shop.round(Fault::None, None);
    shop.agree(RightSide::Ours).unwrap();
    shop.adjust(Amount::units(20));
    shop.quiet_down();
    assert_eq!((shop.conflict(), shop.there.total()), (Some(ConflictKind::NoRoom), Amount::units(105)));
    shop.they_change(1, Amount::units(-1));
    shop.quiet_down();
    assert_eq!(shop.now().quantity, Amount::units(119));
}

#[test]
fn a_removal_that_found_less_than_it_was_to_take_is_not_taken_for_whole() {
    let mut shop = Shop::new(StockSystem::Parts, 100, &[100]);
    shop.round(Fault::None, None);
    shop.agree(RightSide::Ours).unwrap();
    shop.adjust(Amount::units(-100));
    let (round, look) = (shop.current_link().round, shop.there.look());
    shop.apply_reading(round, look);
    let pending = shop.current_link().pending.clone().unwrap();
    // Between the look and our booking somebody there takes 80, so ours finds 20.
    shop.there.items.insert(1, (Amount::ZERO, Amount::ZERO));
    shop.settled(pending.id, BookingVerdict::Partly(Amount::units(-20)));
    shop.round(Fault::None, None);
    assert_eq!(shop.conflict(), Some(ConflictKind::Negative), "both took more than there was");
    assert_eq!(shop.now().quantity, Amount::ZERO);
}

#[test]
fn nothing_is_booked_on_an_item_that_takes_no_bookings() {
    let mut shop = Shop::new(StockSystem::Parts, 30, &[10, 20]);
    shop.there.fixed.insert(1);
    shop.round(Fault::None, None);
    shop.agree(RightSide::Ours).unwrap();
    shop.adjust(Amount::units(-20));
    shop.quiet_down();
    assert_eq!((shop.there.items[&1].0, shop.there.items[&2].0), (Amount::units(10), Amount::ZERO));
    shop.adjust(Amount::units(-5));
    shop.quiet_down();
    assert_eq!(shop.conflict(), Some(ConflictKind::NoRoom));
}

#[test]
fn use_is_booked_on_the_spools_that_it_was_drawn_from() {
    let mut shop = Shop::new(StockSystem::Spools, 300, &[100, 100, 100]);
    shop.round(Fault::None, None);
    shop.agree(RightSide::Ours).unwrap();
    shop.adjust(Amount::units(-30));
    let drawn = Quantities::from([(2, Amount::ZERO), (3, Amount::units(25))]);
    let mut booked = Vec::new();
    for drawn in [drawn, Quantities::from([(2, Amount::ZERO)])] {
        let (round, look) = (shop.current_link().round, Box::new(shop.there.look()));
        let (system, in_use, overdue) = (StockSystem::Spools, BTreeSet::new(), BTreeSet::new());
        shop.link(LinkCommand::Looked { system, round, look, drawn, in_use, overdue });
        let pending = shop.current_link().pending.clone().unwrap();
        shop.there.book(&pending);
        shop.settled(pending.id, BookingVerdict::Booked);
        booked.push((pending.item, pending.delta));
    }
    assert_eq!(booked, [(3, Amount::units(-25)), (2, Amount::units(-5))]);
}

#[test]
fn a_linked_material_is_not_deleted_and_has_one_entry_in_each_system() {
    let mut shop = Shop::new(StockSystem::Parts, 100, &[100]);
    assert_eq!(shop.tell(&MaterialCommand::Archive).unwrap_err().code, "material_in_use");
    let another = LinkCommand::Link { system: StockSystem::Parts, entry: 13, name: "PETG".to_owned() };
    assert_eq!(shop.tell(&another).unwrap_err().code, "already_linked");
    shop.tell(&UnlinkStock(StockSystem::Parts)).unwrap();
    shop.tell(&MaterialCommand::Archive).unwrap();
}

#[test]
fn a_person_decides_by_what_was_shown() {
    let mut shop = Shop::new(StockSystem::Parts, 100, &[70]);
    shop.quiet_down();
    shop.they_change(1, Amount::units(-5));
    shop.quiet_down();
    let agree = |theirs: i64| {
        let (system, right) = (StockSystem::Parts, RightSide::Theirs);
        LinkCommand::Agree { system, right, theirs: Some(Amount::units(theirs)) }
    };
    assert_eq!(shop.tell(&agree(70)).unwrap_err().code, "theirs_changed");
    assert_eq!(shop.now().quantity, Amount::units(100), "nothing moved");
    shop.tell(&agree(65)).unwrap();
    assert_eq!(shop.now().quantity, Amount::units(65));
}

#[test]
fn a_refusal_a_wrong_token_and_a_lost_request_are_told_apart() {
    let mut shop = Shop::new(StockSystem::Parts, 100, &[100]);
    shop.round(Fault::None, None);
    shop.agree(RightSide::Ours).unwrap();
    shop.adjust(Amount::units(-10));
    shop.round(Fault::Refused, None);
    assert_eq!((shop.current_link().pending.clone(), shop.conflict()), (None, Some(ConflictKind::Refused)));
    shop.round(Fault::WrongToken, None);
    assert_eq!((shop.current_link().pending.clone(), shop.conflict()), (None, None), "it certainly was not booked");
    shop.round(Fault::LostRequest, None);
    let lost = shop.current_link().pending.clone();
    assert!(lost.is_some());
    shop.round(Fault::Impatient, None);
    assert_eq!(shop.current_link().pending, lost, "it may yet arrive");
    shop.round(Fault::None, None);
    assert_eq!(
        (shop.current_link().pending.clone(), shop.current_link().given_up.len()),
        (None, 1),
        "decided anew, and still looked for"
    );
    assert_eq!((shop.now().quantity, shop.there.total()), (Amount::units(90), Amount::units(90)));
}
