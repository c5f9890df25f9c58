//! Relation between printer slots and the items of a link: the item that consumption is deducted from, and the amount
//! left.

use super::{Quantities, StockLink, StockSystem, total};
use crate::amount::Amount;

/// Returns the amounts that were drawn from the link's items in slots but have not been recorded yet. `slots` contains
/// the spools in slots, each with the amount left according to its slot.
pub fn drawn(link: &StockLink, slots: impl IntoIterator<Item = (i64, Option<Amount>)>) -> Quantities {
    let Some(agreed) = link.agreed.as_ref().filter(|_| link.system == StockSystem::Spools) else {
        return Quantities::new();
    };
    let drawn = slots.into_iter().filter_map(|(spool, left)| {
        let held = *agreed.get(&spool)?;
        Some((spool, (held - left.unwrap_or(held)).max(Amount::ZERO)))
    });
    drawn.collect()
}

/// Remaining amount on a spool according to a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpoolRemainder {
    /// Both sides agree on the given remaining amount, and the shop has nothing left to record.
    Settled(Amount),
    /// A stock change or conflict is still open.
    Unsettled,
}

impl StockLink {
    /// Returns the spool's remaining amount according to the link, given the shop's stock `quantity`. Returns `None` if
    /// the spool does not belong to this link.
    pub fn knows(&self, spool: i64, quantity: Amount) -> Option<SpoolRemainder> {
        let agreed = self.agreed.as_ref().filter(|_| self.system == StockSystem::Spools)?;
        let held = *agreed.get(&spool)?;
        let quiet = self.pending.is_none() && self.conflict.is_none() && total(agreed) == quantity;
        Some(if quiet { SpoolRemainder::Settled(held.max(Amount::ZERO)) } else { SpoolRemainder::Unsettled })
    }
}
