#![expect(clippy::unwrap_used, reason = "tests")]

mod random;

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::domain::aggregate::Decision;
use crate::domain::id::Id;
use crate::domain::material::{MaterialCommand, MaterialRow};
use crate::domain::parts_sync::{Booking, BookingVerdict, ConflictKind, SeenItem, total};
use crate::domain::testing::samples::pla;
use crate::domain::testing::{Bench, id};

const IT: u32 = 7;
const ENTRY: i64 = 12;

/// The other system: items with what they hold, and with what was used of them.
struct There {
    items: BTreeMap<i64, (Amount, Amount)>,
    /// The references that came with bookings; a system that keeps none forgets them at once.
    references: BTreeSet<Id>,
    keeps_references: bool,
    gone: bool,
    unit: StockUnit,
    server: &'static str,
}

impl There {
    fn look(&self) -> StockLook {
        let room = |used: &Amount| (!self.keeps_references).then_some(*used);
        let seen = |(item, (holds, used)): (&i64, &(Amount, Amount))| {
            (*item, SeenItem { quantity: Some(*holds), room: room(used), mark: *used })
        };
        let items = if self.gone { BTreeMap::new() } else { self.items.iter().map(seen).collect() };
        let name = (!self.gone).then(|| "PLA".to_owned());
        StockLook { server: self.server.to_owned(), name, unit: self.unit, items }
    }

    fn change(&mut self, item: i64, delta: Amount) {
        if let Some((holds, used)) = self.items.get_mut(&item) {
            (*holds, *used) = (*holds + delta, *used - delta);
        }
    }

    fn book(&mut self, booking: &Booking) {
        self.change(booking.item, booking.delta);
        if self.keeps_references {
            assert!(self.references.insert(booking.id), "booked twice");
        }
    }

    /// What is known of a booking some time later.
    fn verdict(&self, booking: &Booking) -> BookingVerdict {
        if self.keeps_references {
            let booked = self.references.contains(&booking.id);
            return if booked { BookingVerdict::Booked } else { BookingVerdict::NotBooked };
        }
        match self.items.get(&booking.item) {
            Some((_, used)) if *used == booking.mark => BookingVerdict::NotBooked,
            Some((_, used)) if *used == booking.mark - booking.delta => BookingVerdict::Booked,
            _ => BookingVerdict::Unclear("it changed meanwhile".to_owned()),
        }
    }

    fn total(&self) -> Amount {
        self.items.values().map(|(holds, _)| *holds).sum()
    }
}

struct Shop {
    bench: Bench,
    material: Option<Material>,
    there: There,
    /// What must be there in the end.
    truth: Amount,
    ledger: Amount,
    people: u32,
}

impl Shop {
    fn new(system: StockSystem, ours: i64, items: &[i64]) -> Self {
        let items: BTreeMap<i64, (Amount, Amount)> =
            items.iter().zip(1..).map(|(holds, n)| (n, (Amount::units(*holds), Amount::units(500_000)))).collect();
        let there = There {
            items,
            references: BTreeSet::new(),
            keeps_references: system == StockSystem::Parts,
            gone: false,
            unit: StockUnit::Gram,
            server: "http://there/",
        };
        let mut shop = Self {
            bench: Bench::new(),
            material: None,
            there,
            truth: Amount::units(ours),
            ledger: Amount::ZERO,
            people: 0,
        };
        let fields = pla();
        shop.tell(&MaterialCommand::Create { fields: Box::new(fields), quantity: Amount::units(ours) }).unwrap();
        shop.link(LinkCommand::Link { system, entry: ENTRY, name: "PLA".to_owned() });
        shop
    }

    fn tell(&mut self, command: &MaterialCommand) -> Result<Decision<Material>, Refusal> {
        let decision = self.bench.tell(&mut self.material, id(IT), command)?;
        for row in &decision.rows {
            if let MaterialRow::Movement(movement) = row {
                self.ledger += movement.delta_quantity;
            }
        }
        Ok(decision)
    }

    fn link(&mut self, command: LinkCommand) {
        self.tell(&MaterialCommand::Link(command)).unwrap();
    }

    fn now(&self) -> &Material {
        self.material.as_ref().unwrap()
    }

    fn known(&self) -> &StockLink {
        self.now().links.values().next().unwrap()
    }

    fn conflict(&self) -> Option<ConflictKind> {
        self.known().conflict.as_ref().map(|conflict| conflict.kind)
    }

    fn looked(&mut self, round: u32, look: StockLook) {
        let (system, drawn) = (self.known().system, Quantities::new());
        self.link(LinkCommand::Looked { system, round, look: Box::new(look), drawn });
    }

    fn settled(&mut self, booking: Id, verdict: BookingVerdict) {
        let system = self.known().system;
        self.link(LinkCommand::Settled { system, booking, verdict });
    }

    fn agree(&mut self, right: RightSide) -> Result<Decision<Material>, Refusal> {
        let system = self.known().system;
        self.tell(&MaterialCommand::Link(LinkCommand::Agree { system, right }))
    }

    fn adjust(&mut self, delta: Amount) {
        let reason = "test".to_owned();
        if delta != Amount::ZERO && self.tell(&MaterialCommand::Adjust { delta, reason }).is_ok() {
            self.truth += delta;
        }
    }

    /// Somebody changes an item there; by a little more where a system without references could not tell it from our
    /// own booking.
    fn they_change(&mut self, item: i64, mut delta: Amount) {
        if let (Some(pending), Some((_, used))) = (&self.known().pending, self.there.items.get(&item))
            && pending.item == item
        {
            while [pending.mark, pending.mark - pending.delta].contains(&(*used - delta)) {
                delta += Amount(1);
            }
        }
        if self.there.items.contains_key(&item) {
            self.there.change(item, delta);
            self.truth += delta;
        }
    }

    /// As the task does it, with one fault.
    fn round(&mut self, fault: Fault, meanwhile: Option<(i64, Amount)>) {
        for _ in 0..100 {
            if let Some(pending) = self.known().pending.clone() {
                if self.known().is_unclear() {
                    return self.a_person_counts();
                }
                let verdict = self.there.verdict(&pending);
                self.settled(pending.id, verdict);
                continue;
            }
            if fault == Fault::Unreachable {
                return;
            }
            let (round, look) = (self.known().round, self.there.look());
            if let Some((item, delta)) = meanwhile {
                self.they_change(item, delta);
            }
            if fault == Fault::KilledAfterLook {
                return;
            }
            self.looked(round, look.clone());
            if fault == Fault::OldLook {
                self.looked(round, look);
            }
            let Some(pending) = self.known().pending.clone() else { return };
            match fault {
                Fault::KilledBeforeSending | Fault::LostRequest => return,
                Fault::Refused => {
                    self.settled(pending.id, BookingVerdict::Refused("no".to_owned()));
                    return;
                }
                Fault::LostAnswer | Fault::KilledAfterSending => {
                    self.there.book(&pending);
                    return;
                }
                _ => self.there.book(&pending),
            }
            self.settled(pending.id, BookingVerdict::Booked);
        }
    }

    /// Nobody can tell what became of a booking: a person counts, writes it here, and says that it is right.
    fn a_person_counts(&mut self) {
        self.people += 1;
        let round = self.known().round;
        let look = self.there.look();
        self.looked(round, look);
        let counted = Some(self.truth);
        self.tell(&MaterialCommand::Update { if_version: None, fields: None, quantity: counted }).unwrap();
        self.agree(RightSide::Ours).unwrap();
    }

    fn quiet_down(&mut self) {
        for _ in 0..5 {
            self.round(Fault::None, None);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    None,
    Unreachable,
    KilledAfterLook,
    KilledBeforeSending,
    LostRequest,
    LostAnswer,
    KilledAfterSending,
    OldLook,
    Refused,
}

#[test]
fn nothing_moves_before_a_person_agreed_to_the_beginning() {
    let mut shop = Shop::new(StockSystem::Parts, 100, &[70]);
    assert_eq!(shop.agree(RightSide::Theirs).unwrap_err().code, "nothing_to_decide", "nothing was read yet");
    shop.quiet_down();
    assert_eq!((shop.now().quantity, shop.there.total()), (Amount::units(100), Amount::units(70)));
    assert_eq!(shop.known().seen.as_ref().map(total), Some(Amount::units(70)), "the preview");
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
    assert_eq!((shop.now().quantity, shop.known().agreed.is_none()), (Amount::units(100), true), "a preview again");
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
fn use_is_booked_on_the_spools_that_it_was_drawn_from() {
    let mut shop = Shop::new(StockSystem::Spools, 300, &[100, 100, 100]);
    shop.round(Fault::None, None);
    shop.agree(RightSide::Ours).unwrap();
    shop.adjust(Amount::units(-30));
    let drawn = Quantities::from([(2, Amount::ZERO), (3, Amount::units(25))]);
    let mut booked = Vec::new();
    for drawn in [drawn, Quantities::from([(2, Amount::ZERO)])] {
        let (round, look) = (shop.known().round, Box::new(shop.there.look()));
        shop.link(LinkCommand::Looked { system: StockSystem::Spools, round, look, drawn });
        let pending = shop.known().pending.clone().unwrap();
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
    assert_eq!(shop.tell(&MaterialCommand::Link(another)).unwrap_err().code, "already_linked");
    shop.link(LinkCommand::Unlink(StockSystem::Parts));
    shop.tell(&MaterialCommand::Archive).unwrap();
}
