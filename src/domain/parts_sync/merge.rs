//! Merge rules for a link: they determine the link that results from a reading of the entry, from the outcome of a
//! stock change, or from an operator's decision.

use std::collections::BTreeSet;

use super::choose::choose;
use super::{
    Booking, BookingVerdict, ConflictKind, GIVEN_UP_MS, MAX_GIVEN_UP, MAX_ITEMS, MAX_UNREAD_USES, Quantities,
    RightSide, StockLink, StockReading, StockSystem, StockUnit, SyncConflict, SyncStep, UnreadUse,
};
use crate::amount::{Amount, MAX_AMOUNT};
use crate::id::Id;
use crate::time::Timestamp;

/// State of the shop's side when a link is merged.
#[derive(Clone, Copy, Debug)]
pub struct OurSide<'a> {
    /// Stock on hand.
    pub quantity: Amount,
    /// Unit in which the material is counted.
    pub unit: StockUnit,
    /// Display name of the unit.
    pub unit_name: &'a str,
    /// See [`super::LinkCommand::Looked`].
    pub drawn: &'a Quantities,
    /// See [`super::LinkCommand::Looked`].
    pub in_use: &'a BTreeSet<i64>,
    /// See [`super::LinkCommand::Looked`].
    pub overdue: &'a BTreeSet<i64>,
    /// ID for the next stock change, if the merge decides on one.
    pub booking: Id,
    /// Current time.
    pub now: Timestamp,
}

/// Returns the total quantity of all items.
pub fn total(quantities: &Quantities) -> Amount {
    quantities.values().copied().sum()
}

impl SyncConflict {
    pub(super) fn new(kind: ConflictKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// Formats a quantity with an explicit sign for display.
fn signed(amount: Amount) -> String {
    if amount > Amount::ZERO { format!("+{amount}") } else { amount.to_string() }
}

impl StockLink {
    /// Returns whether synchronisation is paused until an operator's decision or a later read resolves the conflict.
    pub fn rests(&self) -> bool {
        self.conflict.as_ref().is_some_and(|conflict| conflict.kind.stops())
    }

    /// Returns whether the outcome of the pending stock change cannot be determined.
    pub fn is_unclear(&self) -> bool {
        self.conflict.as_ref().is_some_and(|conflict| conflict.kind == ConflictKind::Unclear)
    }

    /// Merges a new reading of the entry: applies the outside system's changes and decides which of the shop's changes
    /// to record next.
    pub fn merge_reading(&self, look: &StockReading, ours: &OurSide<'_>) -> SyncStep {
        if self.server != look.server {
            // Nothing that was agreed on with another server holds: a preview again.
            let (server, round) = (look.server.clone(), self.round.wrapping_add(1));
            let (given_up, unread_uses, awaited) = (Vec::new(), Vec::new(), Vec::new());
            let anew = Self {
                server,
                round,
                agreed: None,
                last_amounts: None,
                pending: None,
                given_up,
                unread_uses,
                awaited,
                owed: Quantities::new(),
                conflict: None,
                ..self.clone()
            };
            return anew.merge_reading(look, ours);
        }
        let mut next = self.clone();
        next.given_up.retain(|lost| ours.now.since(lost.at) < GIVEN_UP_MS);
        if let Some(name) = &look.name {
            next.name.clone_from(name);
        }
        if self.is_unclear() {
            // Only a person settles it; what is read is what they decide by.
            next.last_amounts = readable(look, ours).ok();
            return SyncStep { link: next, delta: Amount::ZERO };
        }
        if self.pending.is_some() {
            return SyncStep { link: self.clone(), delta: Amount::ZERO };
        }
        let now = match readable(look, ours) {
            Ok(now) => now,
            Err(conflict) => {
                (next.last_amounts, next.conflict) = (None, Some(conflict));
                return SyncStep { link: next, delta: Amount::ZERO };
            }
        };
        next.read_uses(&now);
        let Some(agreed) = next.agreed.clone() else {
            (next.last_amounts, next.conflict) = (Some(now), None);
            return SyncStep { link: next, delta: Amount::ZERO };
        };
        let now = next.without_awaited(now, &agreed, ours);
        let now = without_unfinished(now, &agreed, ours.in_use);
        if self.agreed.as_ref() != Some(&agreed) {
            next.round = self.round.wrapping_add(1);
        }
        match theirs(&agreed, &now, ours) {
            Ok(delta) => {
                if agreed != now {
                    (next.agreed, next.round) = (Some(now.clone()), self.round.wrapping_add(1));
                }
                next.book(look, ours, ours.quantity + delta);
                if next.conflict.is_none() {
                    next.conflict = next.missing_use(ours.unit_name);
                }
                // Kept while somebody may have to decide by it.
                next.last_amounts = next.conflict.is_some().then(|| next.with_missing(now));
                SyncStep { link: next, delta }
            }
            Err(conflict) => {
                (next.last_amounts, next.conflict) = (Some(next.with_missing(now)), Some(conflict));
                // What is agreed on stays, and with it what is waited for.
                next.awaited.clone_from(&self.awaited);
                SyncStep { link: next, delta: Amount::ZERO }
            }
        }
    }

    /// Decides which of the shop's changes to record next, if any.
    fn book(&mut self, look: &StockReading, ours: &OurSide<'_>, quantity: Amount) {
        let due = quantity - self.agreed.as_ref().map_or(Amount::ZERO, total);
        if due >= Amount::ZERO {
            self.owed.clear();
        }
        if due == Amount::ZERO {
            self.conflict = None;
            return;
        }
        let Some((item, delta)) = choose(due, look, &self.owed, ours.drawn, ours.in_use) else {
            // An item that can take it is in use: it is booked when the print is over.
            if choose(due, look, &self.owed, ours.drawn, &BTreeSet::new()).is_some() {
                self.conflict = None;
                return;
            }
            let (amount, unit) = (due.max(-due), ours.unit_name);
            let words = if due > Amount::ZERO {
                format!(
                    "this shop counts {amount} {unit} more than the other system, but no item there can take them: add \
                     an item there, or decide which side is correct"
                )
            } else {
                format!(
                    "this shop counts {amount} {unit} less than the other system, but no item there has that much to \
                     deduct: decide which side is correct"
                )
            };
            self.conflict = Some(SyncConflict::new(ConflictKind::NoRoom, words));
            return;
        };
        let Some(entry) = look.items.get(&item) else { return };
        self.conflict.take_if(|conflict| conflict.kind != ConflictKind::Refused);
        self.pending = Some(Booking {
            id: ours.booking,
            item,
            delta,
            before: entry.quantity.unwrap_or_default(),
            mark: entry.mark,
            trace: entry.trace.clone(),
            at: ours.now,
        });
        self.round = self.round.wrapping_add(1);
    }

    /// Records that a print consumed the given amount of the shop's stock and that its printer deducts the consumption
    /// from one of the given spools. The agreed quantities change together with the shop's stock, so that the shop does
    /// not deduct the consumption as well. The printer's deduction is awaited; if it differs slightly, the difference
    /// appears as a change in the outside system. Returns `None` if the consumption is not from a spool of this link.
    pub fn used_there(&self, used: Amount, booked_on: &[i64], now: Timestamp) -> Option<Self> {
        let agreed = self.agreed.as_ref().filter(|_| used > Amount::ZERO && !booked_on.is_empty())?;
        let known_spool = booked_on.iter().rev().find(|spool| agreed.contains_key(spool));
        // What a person decides by is read anew: nobody knows how much of the print it showed.
        let mut next = Self { round: self.round.wrapping_add(1), last_amounts: None, ..self.clone() };
        match known_spool {
            Some(spool) => {
                let spools = booked_on.iter().copied().filter(|spool| agreed.contains_key(spool)).collect();
                *next.agreed.as_mut()?.entry(*spool).or_default() -= used;
                next.await_use(spools, used, now);
            }
            // Nobody knows what they held before, so nobody can tell what was booked.
            None => {
                if next.unread_uses.len() >= MAX_UNREAD_USES {
                    next.unread_uses.remove(0);
                }
                next.unread_uses.push(UnreadUse { spools: booked_on.to_vec(), used });
            }
        }
        Some(next)
    }

    /// Assigns consumption from spools that had not been read before. If the spools turn out to belong to this entry,
    /// the consumption is already recorded.
    fn read_uses(&mut self, now: &Quantities) {
        for UnreadUse { spools, used } in std::mem::take(&mut self.unread_uses) {
            let of_it = spools.iter().rev().find(|spool| now.contains_key(spool));
            if let Some((agreed, spool)) = self.agreed.as_mut().zip(of_it) {
                *agreed.entry(*spool).or_default() -= used;
            }
        }
    }

    /// Records that an abandoned stock change took effect after all. The agreed quantities change by its amount, so
    /// that it is not mistaken for a change in the outside system; the change sent in its place appears as a change by
    /// the shop and is reversed.
    fn arrived_late(&self, booking: Id, verdict: &BookingVerdict) -> Option<Self> {
        let at = self.given_up.iter().position(|lost| lost.id == booking)?;
        let mut next = Self { round: self.round.wrapping_add(1), ..self.clone() };
        let lost = next.given_up.remove(at);
        let moved = match verdict {
            BookingVerdict::Booked => lost.delta,
            BookingVerdict::Partly(moved) => *moved,
            _ => return None,
        };
        *next.agreed.as_mut()?.entry(lost.item).or_default() += moved;
        Some(next)
    }

    /// Applies the amount by which a stock change altered an item to the agreed quantities.
    fn moved_there(&mut self, item: i64, moved: Amount) {
        *self.agreed.get_or_insert_default().entry(item).or_default() += moved;
        self.pay_owed(item, moved);
        // What was read before is older than the booking.
        self.last_amounts = None;
    }

    /// Applies the outcome of a stock change. Returns `None` if the change was already settled, that is, if it is
    /// neither pending nor abandoned with a chance of still arriving.
    pub fn settled(&self, booking: Id, verdict: &BookingVerdict) -> Option<Self> {
        let Some(pending) = self.pending.as_ref().filter(|pending| pending.id == booking) else {
            return self.arrived_late(booking, verdict);
        };
        if self.is_unclear() && matches!(verdict, BookingVerdict::Unclear(_)) {
            return None;
        }
        // What a printer's server did not book still waits for a person.
        let conflict = self.conflict.clone().filter(|conflict| conflict.kind == ConflictKind::PrintNotBooked);
        let mut next = Self { pending: None, conflict, round: self.round.wrapping_add(1), ..self.clone() };
        match verdict {
            BookingVerdict::Booked => next.moved_there(pending.item, pending.delta),
            BookingVerdict::Partly(moved) => next.moved_there(pending.item, *moved),
            BookingVerdict::GivenUp if self.system == StockSystem::Parts => {
                if next.given_up.len() >= MAX_GIVEN_UP {
                    next.given_up.remove(0);
                }
                next.given_up.push(pending.clone());
            }
            // Without a reference it could not be told from what somebody else does.
            BookingVerdict::NotBooked | BookingVerdict::GivenUp => {}
            BookingVerdict::Refused(words) => {
                let (delta, item) = (signed(pending.delta), pending.item);
                let words = format!("the other system refused to record {delta} on item {item}: {words}");
                next.conflict = Some(SyncConflict::new(ConflictKind::Refused, words));
            }
            BookingVerdict::Unclear(why) => {
                let words = format!(
                    "it is unknown whether {} was recorded on item {}: {why}; check there and decide which side is \
                     correct",
                    signed(pending.delta),
                    pending.item
                );
                next.pending.clone_from(&self.pending);
                next.conflict = Some(SyncConflict::new(ConflictKind::Unclear, words));
                // What was read before may be older than the booking.
                next.last_amounts = None;
            }
        }
        Some(next)
    }

    /// Applies an operator's decision about which side is right, based on the quantities last read. Returns `None` if
    /// nothing usable has been read yet, or while a stock change by the shop whose outcome can still be determined is
    /// in flight.
    pub fn agree(&self, right: RightSide, quantity: Amount) -> Option<SyncStep> {
        let observed = self.last_amounts.clone().filter(|_| self.pending.is_none() || self.is_unclear())?;
        let there = total(&observed);
        let delta = match right {
            RightSide::Ours => Amount::ZERO,
            RightSide::Theirs => there - quantity,
        };
        if quantity + delta < Amount::ZERO || quantity + delta > MAX_AMOUNT {
            return None;
        }
        let mut link = Self {
            round: self.round.wrapping_add(1),
            last_amounts: None,
            pending: None,
            conflict: None,
            ..self.clone()
        };
        // What arrived late by now is in what was seen, as are the prints of spools that it shows; what arrives later
        // is a change of theirs.
        link.given_up.clear();
        link.unread_uses.retain(|one| !one.spools.iter().any(|spool| observed.contains_key(spool)));
        link.decide_missing(right);
        if self.is_unclear() {
            // What was seen was taken as it stood there.
            link.awaited.clear();
        }
        link.agreed = Some(observed);
        Some(SyncStep { link, delta })
    }
}

/// Returns the quantity of each item, or the conflict that prevents the entry from being counted.
fn readable(look: &StockReading, ours: &OurSide<'_>) -> Result<Quantities, SyncConflict> {
    let conflict = |kind, words: String| Err(SyncConflict::new(kind, words));
    if look.name.is_none() {
        return conflict(
            ConflictKind::EntryGone,
            "the entry was deleted in the other system; restore it there, or remove the link".to_owned(),
        );
    }
    if look.unit != ours.unit {
        let words =
            format!("the other system does not count the entry in {}, and amounts are never converted", ours.unit_name);
        return conflict(ConflictKind::WrongUnit, words);
    }
    if look.items.len() > MAX_ITEMS {
        let words = format!("the entry has {} items there; at most {MAX_ITEMS} can be synchronised", look.items.len());
        return conflict(ConflictKind::TooManyItems, words);
    }
    let mut now = Quantities::new();
    for (item, entry) in &look.items {
        match entry.quantity {
            Some(quantity) => now.insert(*item, quantity),
            None => {
                let words = format!("the other system has no amount for item {item}; enter its weight there");
                return conflict(ConflictKind::UnknownQuantity, words);
            }
        };
    }
    Ok(now)
}

/// Returns the quantities without the deductions that printers are currently making for prints whose consumption has
/// not been deducted from the shop's stock yet.
fn without_unfinished(mut now: Quantities, agreed: &Quantities, in_use: &BTreeSet<i64>) -> Quantities {
    for spool in in_use {
        if let Some((holds, before)) = now.get_mut(spool).zip(agreed.get(spool)) {
            *holds = (*holds).max(*before);
        }
    }
    now
}

/// Returns the outside system's total change since the last agreement, or the conflict that prevents it from being
/// applied.
fn theirs(agreed: &Quantities, now: &Quantities, ours: &OurSide<'_>) -> Result<Amount, SyncConflict> {
    let delta = total(now) - total(agreed);
    let gone: Vec<String> = agreed
        .iter()
        .filter(|(item, quantity)| **quantity != Amount::ZERO && !now.contains_key(item))
        .map(|(item, _)| item.to_string())
        .collect();
    let unit = ours.unit_name;
    // Items that were split or merged leave the total as it was.
    if delta < Amount::ZERO && !gone.is_empty() {
        let words = format!(
            "items with stock were deleted in the other system ({}), {} {unit} in all: decide which side is correct",
            gone.join(", "),
            signed(delta)
        );
        return Err(SyncConflict::new(ConflictKind::ItemsGone, words));
    }
    let after = ours.quantity + delta;
    if after < Amount::ZERO {
        let words = format!(
            "the changes of {} {unit} in the other system and {} {unit} in this shop since both agreed on {} {unit} \
             would make the stock negative: count the stock and decide which side is correct",
            signed(delta),
            signed(ours.quantity - total(agreed)),
            total(agreed)
        );
        return Err(SyncConflict::new(ConflictKind::Negative, words));
    }
    if after > MAX_AMOUNT {
        let words = format!("the combined stock would exceed {MAX_AMOUNT} {unit}; correct it in the other system");
        return Err(SyncConflict::new(ConflictKind::TooMuch, words));
    }
    Ok(delta)
}
