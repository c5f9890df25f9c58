//! Time that stock changes by printers' own servers have been outstanding. Only time in this process is measured,
//! because the wall clock may be changed and the printer may not have been available before a restart.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use domain::amount::Amount;
use domain::id::Id;
use domain::parts_sync::StockLink;
use domain::time::Timestamp;

/// Key of an outstanding consumption record: the material, the first spool, and the time at which the amount was
/// deducted from the shop's stock.
type UseKey = (Id, i64, Timestamp);

/// Outstanding consumption records, each with the time since which no printer has been deducting from its spools.
#[derive(Debug, Default)]
pub(super) struct LateBookings(Mutex<BTreeMap<UseKey, Instant>>);

/// Returns a link's outstanding consumption records, each with its spools.
fn due(link: &StockLink) -> impl Iterator<Item = (UseKey, &BTreeSet<i64>)> {
    let due = link.awaited.iter().filter(|one| one.due > Amount::ZERO);
    due.filter_map(|one| Some(((link.material_id, *one.spools.first()?, one.at), &one.spools)))
}

impl LateBookings {
    /// Returns the spools whose outstanding stock changes have had at least `settle` to take effect. The time starts at
    /// the first call, and restarts when a printer has been deducting from one of the spools.
    pub(super) fn overdue(&self, link: &StockLink, in_use: &BTreeSet<i64>, settle: Duration) -> BTreeSet<i64> {
        let mut since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let idle: Vec<(UseKey, &BTreeSet<i64>)> = due(link).filter(|(_, spools)| spools.is_disjoint(in_use)).collect();
        since.retain(|key, _| key.0 != link.material_id || idle.iter().any(|(idle, _)| idle == key));
        let overdue =
            idle.into_iter().filter(|(key, _)| since.entry(*key).or_insert_with(Instant::now).elapsed() >= settle);
        overdue.flat_map(|(_, spools)| spools.iter().copied()).collect()
    }

    /// Returns whether any of the link's outstanding consumption records is being timed.
    pub(super) fn waits(&self, link: &StockLink) -> bool {
        let since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        due(link).any(|(key, _)| since.contains_key(&key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::parts_sync::{AwaitedUse, Quantities, StockSystem};
    use domain::testing::id;

    const LONG: Duration = Duration::from_secs(3_600);

    fn link(awaited: Vec<AwaitedUse>) -> StockLink {
        StockLink {
            id: id(1),
            material_id: id(2),
            system: StockSystem::Spools,
            entry: 12,
            name: "PLA".to_owned(),
            server: String::new(),
            agreed: None,
            last_amounts: None,
            pending: None,
            given_up: Vec::new(),
            unread_uses: Vec::new(),
            awaited,
            owed: Quantities::new(),
            conflict: None,
            round: 0,
            created_at: Timestamp(0),
        }
    }

    fn awaited(spools: [i64; 2], due: i64, at: i64) -> AwaitedUse {
        AwaitedUse { spools: spools.into(), due: Amount(due), missing: Amount::ZERO, at: Timestamp(at) }
    }

    #[test]
    fn a_booking_is_late_after_its_time_without_a_print() {
        let (late, none) = (LateBookings::default(), BTreeSet::new());
        let one = link(vec![awaited([7, 8], 500, 0), awaited([9, 9], 0, 0)]);
        assert!(late.overdue(&one, &BTreeSet::from([8]), Duration::ZERO).is_empty() && !late.waits(&one), "in use");
        assert!(late.overdue(&one, &none, LONG).is_empty() && late.waits(&one), "it may still arrive");
        assert_eq!(late.overdue(&one, &none, Duration::ZERO), BTreeSet::from([7, 8]));
        let another = link(vec![awaited([7, 8], 500, 1)]);
        assert!(!late.waits(&another), "a later print is waited for anew");
        assert!(late.overdue(&link(Vec::new()), &none, LONG).is_empty());
        assert!(!late.waits(&one), "what was booked is forgotten");
    }
}
