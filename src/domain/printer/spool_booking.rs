//! Printers whose own server deducts their prints in the spool management system: the spools that a print was deducted
//! from, so that it is not deducted twice, and the warnings for operators.

use super::{CurrentAttempt, Printer, Slot};
use crate::material::Material;
use crate::parts_sync::StockSystem;
use crate::printer_status::{Connection, SpoolBooking, Status};
use crate::slot_label::SlotLabels;
use words::Language;

/// Maximum number of spools stored per print.
const MAX_BOOKED_SPOOLS: usize = 16;

impl CurrentAttempt {
    /// Adds spools that the print was deducted from.
    pub(super) fn book_on(&mut self, spools: impl IntoIterator<Item = i64>) {
        for spool in spools {
            if !self.booked_on.contains(&spool) && self.booked_on.len() < MAX_BOOKED_SPOOLS {
                self.booked_on.push(spool);
            }
        }
    }
}

impl Printer {
    /// Updates, from a status, the spools that the printer deducts its prints from. The last report of an unreachable
    /// printer remains valid.
    pub(super) fn booking_seen(&mut self, status: &Status) {
        if status.connection != Connection::Connected {
            return;
        }
        self.books_on = status.books_on;
        if let (Some(booking), Some(in_hand)) = (self.books_on, &mut self.in_hand)
            && in_hand.may_print()
        {
            in_hand.book_on([booking.spool]);
        }
    }

    /// Returns the spools from which the printer is deducting, or has yet to deduct, a print started by the server.
    /// Changes to them are not final.
    pub fn spools_in_use(&self) -> Vec<i64> {
        let Some(SpoolBooking { spool, unreported, .. }) =
            self.books_on.filter(|_| !self.archived && !self.disconnected)
        else {
            return Vec::new();
        };
        let used = self.in_hand.iter().flat_map(|in_hand| in_hand.booked_on.iter().copied());
        let active = (self.in_hand.is_some() || unreported).then_some(spool);
        used.chain(active).collect()
    }

    /// Returns whether the printer itself currently deducts its prints from the given slot.
    pub fn books_itself(&self, slot: &Slot) -> bool {
        self.books_on.is_some_and(|booking| slot.spool == Some(booking.spool))
    }

    /// Returns a human-readable warning if consumption from a slot may be, or was, counted incorrectly in the spool
    /// management system. `material` is the slot's content, if known; `labels` are the printer type's slot labels.
    pub fn spool_warning(&self, slot: &Slot, material: Option<&Material>, labels: SlotLabels) -> Option<String> {
        let missing =
            material.zip(slot.spool).and_then(|(material, spool)| material.missing_booking(Language::English, spool));
        missing.or_else(|| self.booking_warning(slot, material, labels))
    }

    /// Returns a warning if the next prints' consumption from a slot may be counted incorrectly.
    fn booking_warning(&self, slot: &Slot, material: Option<&Material>, labels: SlotLabels) -> Option<String> {
        let SpoolBooking { spool, connected, .. } = self.books_on?;
        let (place, single) = (self.slot_label(slot.slot, labels).noun(), self.slots().len() == 1);
        let link = material.and_then(|material| material.links.get(&StockSystem::Spools));
        let of_another = link.filter(|link| link.agreed.as_ref().is_some_and(|agreed| !agreed.contains_key(&spool)));
        match slot.spool {
            Some(slot_spool) if slot_spool != spool && single => Some(format!(
                "the printer itself records its consumption for spool {spool}, but spool {slot_spool} is set for \
                 {place}: select the correct spool at the printer, or correct the slot"
            )),
            None if single => Some(format!(
                "the printer itself records its consumption for spool {spool}: set this spool for {place}, or \
                 select another one at the printer"
            )),
            Some(slot_spool) if slot_spool == spool => match of_another {
                Some(link) => Some(format!(
                    "the printer itself records its consumption for spool {spool}, which does not hold {}: the \
                     consumption is recorded there and here, so load the correct material into {place}, or \
                     select another spool",
                    link.name
                )),
                None if connected => None,
                None => Some(format!(
                    "the printer cannot reach the spool system: its consumption from spool {spool} is recorded there \
                     later, or never if its server restarts before that"
                )),
            },
            _ => Some(format!(
                "the printer itself records its consumption for spool {spool}: consumption from {place} is \
                 recorded there too, unless the printer changes its active spool with the slot"
            )),
        }
    }
}

#[cfg(test)]
mod tests;
