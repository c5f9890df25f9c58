//! Consumption of a print from the spools in a printer's slots.

use super::{AttemptPhase, Printer, Slot};
use crate::amount::Amount;
use crate::launch::used_share;
use crate::time::Timestamp;

impl Printer {
    /// Deducts the consumption of the print that has just ended from the remaining amounts in its slots, if these are
    /// known and not reported by the printer itself. A slot that now holds a different material is left unchanged.
    pub(super) fn use_up(&mut self, now: Timestamp) {
        let Some(in_hand) = &mut self.in_hand else { return };
        // Nobody looked while it printed: the spool that was active before or after is the best that is known.
        if in_hand.booked_on.is_empty() {
            in_hand.book_on(self.books_on.map(|booking| booking.spool));
        }
        let AttemptPhase::Ended { end, filament_mm, progress, .. } = in_hand.phase else { return };
        let share = used_share(end, filament_mm, in_hand.stated_mm, progress);
        for used in &in_hand.used_slots {
            let of_it = |one: &&mut Slot| one.slot == used.slot && one.material_id == Some(used.needed.material_id);
            let Some(slot) = self.slots.iter_mut().find(of_it).filter(|one| !one.weighed) else { continue };
            if let Some(left) = slot.remaining {
                slot.remaining = Some((left - used.needed.need.scaled(share)).max(Amount::ZERO));
                slot.updated_at = now;
            }
        }
    }
}
