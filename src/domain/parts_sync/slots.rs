//! What the slots of printers have to do with the items of a link: which use is booked where, and what is left.

use super::{Quantities, StockLink, StockSystem, total};
use crate::domain::amount::Amount;

/// What was drawn from the items of a link that are in slots, and is not booked yet. `slots` are the spools in slots
/// with what the slots say is left on them.
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

/// What a link knows of a spool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpoolKnown {
    /// Both sides agree that so much is left on it, and nothing of ours is to be booked.
    Settled(Amount),
    /// Something is still on its way.
    Unsettled,
}

impl StockLink {
    /// What is known of a spool, when our stock is `quantity`; `None` when it is no spool of this link.
    pub fn knows(&self, spool: i64, quantity: Amount) -> Option<SpoolKnown> {
        let agreed = self.agreed.as_ref().filter(|_| self.system == StockSystem::Spools)?;
        let held = *agreed.get(&spool)?;
        let quiet = self.pending.is_none() && self.conflict.is_none() && total(agreed) == quantity;
        Some(if quiet { SpoolKnown::Settled(held.max(Amount::ZERO)) } else { SpoolKnown::Unsettled })
    }
}
