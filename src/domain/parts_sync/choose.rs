//! Selection of the item in an entry that the shop's next stock change applies to.

use std::collections::BTreeSet;

use super::{Quantities, StockReading};
use crate::amount::Amount;

/// Returns the item for the next stock change and the part of the due amount that applies to it; `None` if no item can
/// take any. Removals go first to the items listed in `owed`; then to the items in slots, up to the amount drawn from
/// each; then to any item in a slot; then to the oldest item. Additions go to the newest item that has room. Items that
/// a printer is currently deducting from are skipped.
pub(super) fn choose(
    due: Amount,
    look: &StockReading,
    owed: &Quantities,
    drawn: &Quantities,
    in_use: &BTreeSet<i64>,
) -> Option<(i64, Amount)> {
    if due < Amount::ZERO {
        let from = |item: i64, most: Amount| {
            let holds = look.items.get(&item).filter(|entry| !entry.fixed && !in_use.contains(&item))?.quantity?;
            let amount = most.min(holds);
            (amount > Amount::ZERO).then_some((item, -amount))
        };
        let used_first = owed.iter().chain(drawn).find_map(|(item, used)| from(*item, (*used).min(-due)));
        let loaded_next = || drawn.keys().find_map(|item| from(*item, -due));
        let oldest = || look.items.keys().find_map(|item| from(*item, -due));
        return used_first.or_else(loaded_next).or_else(oldest);
    }
    look.items.iter().rev().find_map(|(item, entry)| {
        let amount = entry.room.map_or(due, |room| room.min(due));
        (amount > Amount::ZERO && !entry.fixed && !in_use.contains(item)).then_some((*item, amount))
    })
}
