//! Model of a material and its entry in another system, with all failures that may occur between them.

use std::collections::{BTreeMap, BTreeSet};

use super::prints::Print;
use crate::aggregate::{Command, Decision};
use crate::amount::Amount;
use crate::id::Id;
use crate::material::{LinkAnswer, Material, MaterialCommand, MaterialRow};
use crate::parts_sync::{
    Booking, BookingVerdict, ConflictKind, ItemReading, LinkCommand, LinkRound, MAX_GIVEN_UP, Quantities, RightSide,
    SendOutcome, StockLink, StockReading, StockSystem, StockUnit, SyncMove,
};
use crate::refusal::Refusal;
use crate::testing::samples::pla;
use crate::testing::{Bench, id};

pub(super) const IT: u32 = 7;
pub(super) const ENTRY: i64 = 12;

/// Simulated other system: items with their amounts and their total use.
pub(super) struct There {
    pub(super) items: BTreeMap<i64, (Amount, Amount)>,
    /// References that came with bookings; a system that stores none forgets them immediately.
    pub(super) references: BTreeSet<Id>,
    pub(super) keeps_references: bool,
    /// Last booking on each item, for systems that store no references; none for an item whose amount was set by hand.
    pub(super) stamps: BTreeMap<i64, Id>,
    /// Number of uses of each item; setting its amount by hand does not count.
    pub(super) uses: BTreeMap<i64, u32>,
    /// Delayed requests that arrive later.
    pub(super) on_their_way: Vec<Booking>,
    /// Items on which nothing can be booked.
    pub(super) fixed: BTreeSet<i64>,
    pub(super) gone: bool,
    pub(super) unit: StockUnit,
    pub(super) server: &'static str,
}

impl There {
    pub(super) fn look(&self) -> StockReading {
        let room = |used: &Amount| (!self.keeps_references).then_some(*used);
        let item_of = |(item, (holds, used)): (&i64, &(Amount, Amount))| {
            (
                *item,
                ItemReading {
                    quantity: Some(*holds),
                    room: room(used),
                    mark: *used,
                    trace: Some(self.trace(*item)),
                    fixed: self.fixed.contains(item),
                },
            )
        };
        let items = if self.gone { BTreeMap::new() } else { self.items.iter().map(item_of).collect() };
        let name = (!self.gone).then(|| "PLA".to_owned());
        StockReading { server: self.server.to_owned(), name, unit: self.unit, items }
    }

    /// Simulates a use of an item in the other system, or a return to it.
    pub(super) fn change(&mut self, item: i64, delta: Amount) {
        self.set(item, delta);
        *self.uses.entry(item).or_default() += 1;
    }

    /// Simulates setting the amount of an item in the other system by hand.
    fn set(&mut self, item: i64, delta: Amount) {
        if let Some((holds, used)) = self.items.get_mut(&item) {
            (*holds, *used) = (*holds + delta, *used - delta);
        }
    }

    /// Returns the observable state of an item besides its amounts.
    fn trace(&self, item: i64) -> String {
        let stamp = self.stamps.get(&item).map_or_else(String::new, ToString::to_string);
        format!("{stamp} {}", self.uses.get(&item).copied().unwrap_or_default())
    }

    pub(super) fn book(&mut self, booking: &Booking) {
        self.change(booking.item, booking.delta);
        if self.keeps_references {
            assert!(self.references.insert(booking.id), "booked twice");
        } else {
            self.stamps.insert(booking.item, booking.id);
        }
    }

    /// Returns the verdict on a booking some time after it was sent.
    pub(super) fn verdict(&self, booking: &Booking) -> BookingVerdict {
        if self.keeps_references {
            let booked = self.references.contains(&booking.id);
            return if booked { BookingVerdict::Booked } else { BookingVerdict::NotBooked };
        }
        if self.stamps.get(&booking.item) == Some(&booking.id) {
            return BookingVerdict::Booked;
        }
        let (before, now) = (booking.trace.clone().unwrap_or_default(), self.trace(booking.item));
        let stamp = |trace: &str| trace.split(' ').next().unwrap_or_default().to_owned();
        let bare = stamp(&before).is_empty() && now != before;
        if stamp(&now) == stamp(&before) && !bare && self.items.contains_key(&booking.item) {
            return BookingVerdict::NotBooked;
        }
        BookingVerdict::Unclear("it changed meanwhile".to_owned())
    }

    pub(super) fn total(&self) -> Amount {
        self.items.values().map(|(holds, _)| *holds).sum()
    }
}

pub(super) struct Shop {
    pub(super) bench: Bench,
    pub(super) material: Option<Material>,
    pub(super) there: There,
    /// Expected amount at the end.
    pub(super) truth: Amount,
    pub(super) ledger: Amount,
    pub(super) people: u32,
    pub(super) prints: u32,
    pub(super) printing: Option<Print>,
    /// `true` while late bookings by printers may still arrive.
    pub(super) impatient: bool,
}

impl Shop {
    pub(super) fn new(system: StockSystem, ours: i64, items: &[i64]) -> Self {
        let items: BTreeMap<i64, (Amount, Amount)> =
            items.iter().zip(1..).map(|(holds, n)| (n, (Amount::units(*holds), Amount::units(500_000)))).collect();
        let there = There {
            items,
            references: BTreeSet::new(),
            keeps_references: system == StockSystem::Parts,
            stamps: BTreeMap::new(),
            uses: BTreeMap::new(),
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
            prints: 0,
            printing: None,
            impatient: false,
        };
        let fields = pla();
        shop.tell(&MaterialCommand::Create { fields: Box::new(fields), quantity: Amount::units(ours) }).unwrap();
        shop.link(LinkCommand::Link { system, entry: ENTRY, name: "PLA".to_owned() });
        shop
    }

    pub(super) fn tell<C: Command<Material>>(&mut self, command: &C) -> Result<Decision<Material, C::Answer>, Refusal> {
        let decision = self.bench.tell(&mut self.material, id(IT), command)?;
        for row in &decision.rows {
            if let MaterialRow::Movement(movement) = row {
                self.ledger += movement.delta_quantity;
            }
        }
        Ok(decision)
    }

    pub(super) fn link(&mut self, command: LinkCommand) {
        self.tell(&command).unwrap();
    }

    pub(super) fn now(&self) -> &Material {
        self.material.as_ref().unwrap()
    }

    pub(super) fn current_link(&self) -> &StockLink {
        self.now().links.values().next().unwrap()
    }

    pub(super) fn conflict(&self) -> Option<ConflictKind> {
        self.current_link().conflict.as_ref().map(|conflict| conflict.kind)
    }

    pub(super) fn apply_reading(&mut self, round: u32, look: StockReading) {
        let (system, drawn) = (self.current_link().system, Quantities::new());
        let in_use = self.printing.iter().map(|print| print.spool).collect();
        let overdue = look.items.keys().copied().filter(|_| !self.impatient).collect();
        self.link(LinkCommand::Looked { system, round, look: Box::new(look), drawn, in_use, overdue });
    }

    pub(super) fn settled(&mut self, booking: Id, verdict: BookingVerdict) {
        let system = self.current_link().system;
        self.link(LinkCommand::Settled { system, booking, verdict });
    }

    pub(super) fn agree(&mut self, right: RightSide) -> Result<Decision<Material, LinkAnswer>, Refusal> {
        let system = self.current_link().system;
        self.tell(&LinkCommand::Agree { system, right, theirs: None })
    }

    pub(super) fn adjust(&mut self, delta: Amount) {
        let reason = "test".to_owned();
        if delta != Amount::ZERO && self.tell(&MaterialCommand::Adjust { delta, reason }).is_ok() {
            self.truth += delta;
        }
    }

    /// Changes an item in the other system.
    pub(super) fn they_change(&mut self, item: i64, delta: Amount) {
        if self.there.items.contains_key(&item) {
            self.there.change(item, delta);
            self.truth += delta;
        }
    }

    /// Sets the amount of an item in the other system by hand.
    pub(super) fn they_set(&mut self, item: i64, delta: Amount) {
        if self.there.items.contains_key(&item) {
            self.there.set(item, delta);
            self.there.stamps.remove(&item);
            self.truth += delta;
        }
    }

    /// Runs one round of the synchronisation task with one injected fault.
    pub(super) fn round(&mut self, fault: Fault, meanwhile: Option<(i64, Amount)>) {
        if self.current_link().pending.is_some() && self.current_link().is_unclear() {
            return self.a_person_counts();
        }
        let mut round = LinkRound::default();
        loop {
            let link = self.current_link().clone();
            match round.next(&link) {
                SyncMove::Seek(booking) => {
                    let verdict = self.there.verdict(&booking);
                    if let Some(verdict) = round.sought(&link, &booking, verdict, fault != Fault::Impatient) {
                        self.settled(booking.id, verdict);
                    }
                }
                SyncMove::Look if fault == Fault::Unreachable => return,
                SyncMove::Look => {
                    let look = self.there.look();
                    if let Some((item, delta)) = meanwhile {
                        self.they_change(item, delta);
                    }
                    if fault == Fault::KilledAfterLook {
                        return;
                    }
                    self.apply_reading(link.round, look.clone());
                    if fault == Fault::OldLook {
                        self.apply_reading(link.round, look);
                    }
                }
                SyncMove::Send(booking) => {
                    if matches!(fault, Fault::KilledBeforeSending | Fault::KilledAfterSending) {
                        if fault == Fault::KilledAfterSending {
                            self.there.book(&booking);
                        }
                        return;
                    }
                    let outcome = self.sent(fault, &booking);
                    if let Some(verdict) = round.sent(outcome) {
                        self.settled(booking.id, verdict);
                    }
                }
                SyncMove::Rest(_) => return,
            }
        }
    }

    /// Sends a booking, with one injected fault.
    fn sent(&mut self, fault: Fault, booking: &Booking) -> SendOutcome {
        match fault {
            Fault::LandsLate if self.there.keeps_references => {
                // No more hang than are looked for.
                if self.there.on_their_way.len() + 1 == MAX_GIVEN_UP {
                    self.land();
                }
                self.there.on_their_way.push(booking.clone());
                SendOutcome::Unknown
            }
            Fault::LostRequest | Fault::LandsLate => SendOutcome::Unknown,
            Fault::Refused => SendOutcome::Refused("no".to_owned()),
            Fault::WrongToken => SendOutcome::NeverLeft,
            Fault::LostAnswer => {
                self.there.book(booking);
                SendOutcome::Unknown
            }
            _ => {
                self.there.book(booking);
                SendOutcome::Answered(BookingVerdict::Booked)
            }
        }
    }

    /// Resolves a booking with an unknown outcome: an operator counts the stock, enters the count in the shop, and
    /// confirms the shop's side.
    pub(super) fn a_person_counts(&mut self) {
        self.people += 1;
        let round = self.current_link().round;
        let look = self.there.look();
        self.apply_reading(round, look);
        let counted = Some(self.truth);
        self.tell(&MaterialCommand::Update { if_version: None, fields: None, quantity: counted }).unwrap();
        self.agree(RightSide::Ours).unwrap();
    }

    /// Delivers the delayed requests.
    pub(super) fn land(&mut self) {
        for booking in std::mem::take(&mut self.there.on_their_way) {
            self.there.book(&booking);
        }
    }

    pub(super) fn quiet_down(&mut self) {
        self.end_print(1000);
        self.land();
        for _ in 0..2 {
            for _ in 0..5 {
                self.round(Fault::None, None);
            }
            if self.conflict() == Some(ConflictKind::PrintNotBooked) {
                self.agree(RightSide::Theirs).unwrap();
            }
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
    WrongToken,
    /// A booking that is not found has not been abandoned yet.
    Impatient,
}
