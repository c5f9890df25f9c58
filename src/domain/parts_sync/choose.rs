//! On which item of an entry our next booking goes.

use std::collections::BTreeSet;

use super::{Quantities, StockLook};
use crate::domain::amount::Amount;

/// The item for the next booking, and how much of what is due it takes. Use goes to the items that are `owed` it first,
/// then to the items in slots, as much as was drawn from each; then to what is in a slot; then to the oldest. What came
/// in goes to the newest that has room. Items on which somebody else is booking just now are passed over.
pub(super) fn choose(
    due: Amount,
    look: &StockLook,
    owed: &Quantities,
    drawn: &Quantities,
    in_use: &BTreeSet<i64>,
) -> Option<(i64, Amount)> {
    if due < Amount::ZERO {
        let from = |item: i64, most: Amount| {
            let holds = look.items.get(&item).filter(|seen| !seen.fixed && !in_use.contains(&item))?.quantity?;
            let amount = most.min(holds);
            (amount > Amount::ZERO).then_some((item, -amount))
        };
        let used_first = owed.iter().chain(drawn).find_map(|(item, used)| from(*item, (*used).min(-due)));
        let loaded_next = || drawn.keys().find_map(|item| from(*item, -due));
        let oldest = || look.items.keys().find_map(|item| from(*item, -due));
        return used_first.or_else(loaded_next).or_else(oldest);
    }
    look.items.iter().rev().find_map(|(item, seen)| {
        let amount = seen.room.map_or(due, |room| room.min(due));
        (amount > Amount::ZERO && !seen.fixed && !in_use.contains(item)).then_some((*item, amount))
    })
}
