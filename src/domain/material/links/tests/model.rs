//! A material here and its entry in another system, with everything that may go wrong between them.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::aggregate::Decision;
use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::material::{Material, MaterialCommand, MaterialRow};
use crate::domain::parts_sync::{
    Booking, BookingVerdict, ConflictKind, LinkCommand, MAX_GIVEN_UP, Quantities, RightSide, SeenItem, StockLink,
    StockLook, StockSystem, StockUnit,
};
use crate::domain::refusal::Refusal;
use crate::domain::testing::samples::pla;
use crate::domain::testing::{Bench, id};

pub(super) const IT: u32 = 7;
pub(super) const ENTRY: i64 = 12;

/// The other system: items with what they hold, and with what was used of them.
pub(super) struct There {
    pub(super) items: BTreeMap<i64, (Amount, Amount)>,
    /// The references that came with bookings; a system that keeps none forgets them at once.
    pub(super) references: BTreeSet<Id>,
    pub(super) keeps_references: bool,
    /// Requests that hang somewhere and arrive later.
    pub(super) on_their_way: Vec<Booking>,
    /// Items on which nothing can be booked.
    pub(super) fixed: BTreeSet<i64>,
    pub(super) gone: bool,
    pub(super) unit: StockUnit,
    pub(super) server: &'static str,
}

impl There {
    pub(super) fn look(&self) -> StockLook {
        let room = |used: &Amount| (!self.keeps_references).then_some(*used);
        let seen = |(item, (holds, used)): (&i64, &(Amount, Amount))| {
            (
                *item,
                SeenItem { quantity: Some(*holds), room: room(used), mark: *used, fixed: self.fixed.contains(item) },
            )
        };
        let items = if self.gone { BTreeMap::new() } else { self.items.iter().map(seen).collect() };
        let name = (!self.gone).then(|| "PLA".to_owned());
        StockLook { server: self.server.to_owned(), name, unit: self.unit, items }
    }

    pub(super) fn change(&mut self, item: i64, delta: Amount) {
        if let Some((holds, used)) = self.items.get_mut(&item) {
            (*holds, *used) = (*holds + delta, *used - delta);
        }
    }

    pub(super) fn book(&mut self, booking: &Booking) {
        self.change(booking.item, booking.delta);
        if self.keeps_references {
            assert!(self.references.insert(booking.id), "booked twice");
        }
    }

    /// What is known of a booking some time later.
    pub(super) fn verdict(&self, booking: &Booking) -> BookingVerdict {
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

    pub(super) fn total(&self) -> Amount {
        self.items.values().map(|(holds, _)| *holds).sum()
    }
}

pub(super) struct Shop {
    pub(super) bench: Bench,
    pub(super) material: Option<Material>,
    pub(super) there: There,
    /// What must be there in the end.
    pub(super) truth: Amount,
    pub(super) ledger: Amount,
    pub(super) people: u32,
}

impl Shop {
    pub(super) fn new(system: StockSystem, ours: i64, items: &[i64]) -> Self {
        let items: BTreeMap<i64, (Amount, Amount)> =
            items.iter().zip(1..).map(|(holds, n)| (n, (Amount::units(*holds), Amount::units(500_000)))).collect();
        let there = There {
            items,
            references: BTreeSet::new(),
            keeps_references: system == StockSystem::Parts,
            on_their_way: Vec::new(),
            fixed: BTreeSet::new(),
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

    pub(super) fn tell(&mut self, command: &MaterialCommand) -> Result<Decision<Material>, Refusal> {
        let decision = self.bench.tell(&mut self.material, id(IT), command)?;
        for row in &decision.rows {
            if let MaterialRow::Movement(movement) = row {
                self.ledger += movement.delta_quantity;
            }
        }
        Ok(decision)
    }

    pub(super) fn link(&mut self, command: LinkCommand) {
        self.tell(&MaterialCommand::Link(command)).unwrap();
    }

    pub(super) fn now(&self) -> &Material {
        self.material.as_ref().unwrap()
    }

    pub(super) fn known(&self) -> &StockLink {
        self.now().links.values().next().unwrap()
    }

    pub(super) fn conflict(&self) -> Option<ConflictKind> {
        self.known().conflict.as_ref().map(|conflict| conflict.kind)
    }

    pub(super) fn looked(&mut self, round: u32, look: StockLook) {
        let (system, drawn) = (self.known().system, Quantities::new());
        self.link(LinkCommand::Looked { system, round, look: Box::new(look), drawn });
    }

    pub(super) fn settled(&mut self, booking: Id, verdict: BookingVerdict) {
        let system = self.known().system;
        self.link(LinkCommand::Settled { system, booking, verdict });
    }

    pub(super) fn agree(&mut self, right: RightSide) -> Result<Decision<Material>, Refusal> {
        let system = self.known().system;
        self.tell(&MaterialCommand::Link(LinkCommand::Agree { system, right }))
    }

    pub(super) fn adjust(&mut self, delta: Amount) {
        let reason = "test".to_owned();
        if delta != Amount::ZERO && self.tell(&MaterialCommand::Adjust { delta, reason }).is_ok() {
            self.truth += delta;
        }
    }

    /// Somebody changes an item there; by a little more where a system without references could not tell it from our
    /// own booking.
    pub(super) fn they_change(&mut self, item: i64, mut delta: Amount) {
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
    pub(super) fn round(&mut self, fault: Fault, meanwhile: Option<(i64, Amount)>) {
        for _ in 0..100 {
            if let Some(pending) = self.known().pending.clone() {
                if self.known().is_unclear() {
                    return self.a_person_counts();
                }
                let verdict = match self.there.verdict(&pending) {
                    BookingVerdict::NotBooked => BookingVerdict::GivenUp,
                    known => known,
                };
                self.settled(pending.id, verdict);
                continue;
            }
            let arrived = |lost: &&Booking| self.there.verdict(lost) == BookingVerdict::Booked;
            if let Some(lost) = self.known().given_up.iter().find(arrived).cloned() {
                self.settled(lost.id, BookingVerdict::Booked);
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
                Fault::LandsLate if self.there.keeps_references => {
                    // No more hang than are looked for.
                    if self.there.on_their_way.len() + 1 == MAX_GIVEN_UP {
                        self.land();
                    }
                    self.there.on_their_way.push(pending);
                    return;
                }
                Fault::KilledBeforeSending | Fault::LostRequest | Fault::LandsLate => return,
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
    pub(super) fn a_person_counts(&mut self) {
        self.people += 1;
        let round = self.known().round;
        let look = self.there.look();
        self.looked(round, look);
        let counted = Some(self.truth);
        self.tell(&MaterialCommand::Update { if_version: None, fields: None, quantity: counted }).unwrap();
        self.agree(RightSide::Ours).unwrap();
    }

    /// What hung somewhere arrives.
    pub(super) fn land(&mut self) {
        for booking in std::mem::take(&mut self.there.on_their_way) {
            self.there.book(&booking);
        }
    }

    pub(super) fn quiet_down(&mut self) {
        self.land();
        for _ in 0..5 {
            self.round(Fault::None, None);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    Unreachable,
    KilledAfterLook,
    KilledBeforeSending,
    LostRequest,
    LandsLate,
    LostAnswer,
    KilledAfterSending,
    OldLook,
    Refused,
}
