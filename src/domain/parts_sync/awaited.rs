//! Tracking of consumption that a printer's own server is expected to deduct from spools. A server that loses track,
//! for example because the firmware restarted, never deducts the consumption, and nothing else does either. Returning
//! that amount to the shop's stock would overstate the stock, so an operator decides.

use std::collections::BTreeSet;

use super::{AwaitedUse, ConflictKind, OurSide, Quantities, RightSide, StockLink, SyncConflict};
use crate::amount::Amount;
use crate::time::Timestamp;

/// Largest difference that is always ignored, no matter how small the print is.
const NEGLIGIBLE: Amount = Amount(100);
/// Largest difference that is attributed to priming, purging and rounding if [`EXPLAINED_SHARE`] allows less.
const EXPLAINED: Amount = Amount::units(1);
/// Fraction of a print's consumption by which the printer's measurement may differ from the amount stated in the file,
/// for example because of the filament's density.
const EXPLAINED_SHARE: f64 = 0.05;

/// Returns the amount by which a deduction may fall short of the given consumption before the rest is considered
/// missing. For a very small print, it is at most half of the consumption, unless [`NEGLIGIBLE`] allows more.
fn tolerance(used: Amount) -> Amount {
    used.part(0.5).clamp(NEGLIGIBLE, EXPLAINED).max(used.part(EXPLAINED_SHARE))
}

/// Returns the amount by which a spool's content exceeds the agreed amount; negative if the spool holds less.
fn surplus(now: &Quantities, agreed: &Quantities, spool: i64) -> Amount {
    let held = |side: &Quantities| side.get(&spool).copied().unwrap_or_default();
    held(now) - held(agreed)
}

impl AwaitedUse {
    /// Updates the due and missing amounts from the amount not deducted yet. An amount that was already missing takes
    /// precedence.
    fn judge(&mut self, unbooked: Amount, overdue: bool) {
        let before = unbooked.min(self.missing);
        let fresh = unbooked - before;
        self.missing = if before <= tolerance(self.missing) { Amount::ZERO } else { before };
        if fresh <= tolerance(self.due) {
            self.due = Amount::ZERO;
        } else if overdue {
            self.missing += fresh;
            self.due = Amount::ZERO;
        }
    }

    /// Returns the part of the unrecorded amount that must not be returned to the shop's stock: the missing amount, and
    /// the amount that may still be recorded.
    fn held_back(&self, unbooked: Amount) -> Amount {
        if self.due > Amount::ZERO { unbooked } else { unbooked.min(self.missing) }
    }
}

impl StockLink {
    /// Expects the printer's server to deduct a print's consumption from the given spools. The consumption of prints
    /// that use the same spool is merged.
    pub(super) fn await_use(&mut self, spools: BTreeSet<i64>, used: Amount, now: Timestamp) {
        let mut whole = AwaitedUse { spools, due: used, missing: Amount::ZERO, at: now };
        self.awaited.retain(|other| {
            let apart = other.spools.is_disjoint(&whole.spools);
            if !apart {
                whole.spools.extend(&other.spools);
                whole.due += other.due;
                whole.missing += other.missing;
            }
            apart
        });
        self.awaited.push(whole);
    }

    /// Settles awaited consumption from the quantities just read (`now`), and returns those quantities without the
    /// missing or not yet deducted amounts. Awaited consumption is not evaluated while a printer is deducting from one
    /// of its spools, because the deduction cannot be attributed to a print.
    pub(super) fn without_awaited(
        &mut self,
        mut now: Quantities,
        agreed: &Quantities,
        ours: &OurSide<'_>,
    ) -> Quantities {
        for one in &mut self.awaited {
            one.spools.retain(|spool| now.contains_key(spool));
            let more: Amount = one.spools.iter().map(|spool| surplus(&now, agreed, *spool)).sum();
            let unbooked = more.min(one.due + one.missing).max(Amount::ZERO);
            let mut left = unbooked;
            if one.spools.is_disjoint(ours.in_use) {
                one.judge(unbooked, !one.spools.is_disjoint(ours.overdue));
                left = one.held_back(unbooked);
            }
            for spool in &one.spools {
                let part = surplus(&now, agreed, *spool).min(left).max(Amount::ZERO);
                if let Some(holds) = now.get_mut(spool) {
                    *holds -= part;
                    left -= part;
                }
            }
        }
        self.awaited.retain(|one| !one.spools.is_empty() && one.due + one.missing > Amount::ZERO);
        now
    }

    /// Adds the missing amounts to the quantities. The result is displayed to the operator as the basis for a decision.
    pub(super) fn with_missing(&self, mut now: Quantities) -> Quantities {
        for one in &self.awaited {
            if let Some(holds) = one.spools.last().and_then(|spool| now.get_mut(spool)) {
                *holds += one.missing;
            }
        }
        now
    }

    /// Returns the conflict that describes the missing consumption, if any is missing.
    pub(super) fn missing_use(&self, unit: &str) -> Option<SyncConflict> {
        let missing = self.awaited.iter().filter(|one| one.missing > Amount::ZERO);
        let parts: Vec<String> = missing
            .map(|one| {
                let numbers: Vec<String> = one.spools.iter().map(ToString::to_string).collect();
                let spools = if numbers.len() == 1 { "spool" } else { "spools" };
                format!("{} {unit} of {spools} {}", one.missing, numbers.join(", "))
            })
            .collect();
        let words = format!(
            "prints used {}, but the printer's own server did not record it there, for example because its firmware \
             restarted: record it there (`ours`), or keep the count there (`theirs`)",
            parts.join(" and ")
        );
        (!parts.is_empty()).then(|| SyncConflict::new(ConflictKind::PrintNotBooked, words))
    }

    /// Returns the amount that was not deducted from a spool in time, if any.
    pub fn missing_from(&self, spool: i64) -> Option<Amount> {
        let of_it = self.awaited.iter().find(|one| one.spools.contains(&spool))?;
        Some(of_it.missing).filter(|missing| *missing > Amount::ZERO)
    }

    /// Resolves missing amounts by an operator's decision: if the shop's side is right, they are deducted from their
    /// spools.
    pub(super) fn decide_missing(&mut self, right: RightSide) {
        self.owed.clear();
        for one in &mut self.awaited {
            let missing = std::mem::take(&mut one.missing);
            if let Some(spool) = one.spools.last().filter(|_| right == RightSide::Ours && missing > Amount::ZERO) {
                *self.owed.entry(*spool).or_default() += missing;
            }
        }
        self.awaited.retain(|one| one.due > Amount::ZERO);
    }

    /// Deducts a stock change to an item from the amount owed to that item; `moved` is negative for a removal.
    pub(super) fn pay_owed(&mut self, item: i64, moved: Amount) {
        if let Some(owed) = self.owed.get_mut(&item) {
            *owed += moved.min(Amount::ZERO);
        }
        self.owed.retain(|_, owed| *owed > Amount::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_and_purging_are_explained_and_a_lost_print_is_not() {
        for (used, explained) in
            [(0, 100), (150, 100), (800, 400), (1_490, 745), (10_000, 1_000), (20_000, 1_000), (100_000, 5_000)]
        {
            assert_eq!(tolerance(Amount(used)), Amount(explained), "{used}");
        }
        // What is missing already stays missing when nothing of it arrives.
        for used in (101..40_000).step_by(7) {
            assert!(tolerance(Amount(used)) < Amount(used), "{used}");
        }
    }
}
