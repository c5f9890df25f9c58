//! Rate limit windows in this process: in shards, bounded in number, swept when they end.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use dashmap::DashMap;

use super::Charge;
use crate::domain::limits::{LimitKind, LimitRule, Standing, Window};
use crate::domain::time::Timestamp;

/// While memory is full, new callers share this many windows of each kind.
const SHARED_WINDOWS: u128 = 1024;

/// All windows of this process.
pub struct Windows {
    map: DashMap<Charge, Window>,
    /// Their approximate number; counting the map exactly would take all of its locks.
    held: AtomicUsize,
    most: usize,
}

impl Windows {
    /// With room for about this many.
    pub fn new(most: usize) -> Self {
        Self { map: DashMap::new(), held: AtomicUsize::new(0), most }
    }

    /// Counts a request; says how its window stands.
    pub fn count(&self, charge: &Charge, rule: LimitRule, now: Timestamp) -> Standing {
        let mut window = self.map.entry(self.place(charge)).or_insert_with(|| {
            self.held.fetch_add(1, Relaxed);
            Window::default()
        });
        rule.count(&mut window, now)
    }

    /// Whether a request would be refused now. Counts nothing.
    pub fn is_full(&self, charge: &Charge, rule: LimitRule, now: Timestamp) -> bool {
        self.map.get(&self.place(charge)).is_some_and(|window| rule.is_full(*window, now))
    }

    /// Takes back a request that was counted here and refused by another window.
    pub fn take_back(&self, charge: &Charge, rule: LimitRule, now: Timestamp) {
        if let Some(mut window) = self.map.get_mut(&self.place(charge)) {
            rule.take_back(&mut window, now);
        }
    }

    /// While memory is full, callers without a window share one: strangers may then be refused for each other, but the
    /// server goes on, and callers with a window notice nothing.
    fn place(&self, charge: &Charge) -> Charge {
        if self.held.load(Relaxed) < self.most || self.map.contains_key(charge) {
            return *charge;
        }
        Charge { named: charge.named, scope: u128::MAX - charge.scope % SHARED_WINDOWS }
    }

    /// About how many windows there are.
    pub fn len(&self) -> usize {
        self.held.load(Relaxed)
    }

    /// Forgets windows that have ended.
    pub fn sweep(&self, rule: impl Fn(LimitKind) -> LimitRule, now: Timestamp) {
        self.map.retain(|charge, window| {
            let keep = !rule(charge.named).over(*window, now);
            if !keep {
                self.held.fetch_sub(1, Relaxed);
            }
            keep
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: LimitRule = LimitRule { limit: 2, period_ms: 1000 };

    fn charge(scope: u128) -> Charge {
        Charge { named: LimitKind::Anonymous, scope }
    }

    #[test]
    fn windows_that_are_over_leave_memory() {
        let windows = Windows::new(1000);
        for scope in 0..100 {
            windows.count(&charge(scope), RULE, Timestamp(500 + 10 * scope as i64));
        }
        assert_eq!(windows.len(), 100);
        windows.sweep(|_| RULE, Timestamp(1100));
        assert_eq!(windows.len(), 50);
        windows.sweep(|_| RULE, Timestamp(2000));
        assert!(windows.len() == 0 && windows.map.is_empty());
    }

    #[test]
    fn a_flood_of_strangers_fills_no_more_than_its_share_and_leaves_the_known_alone() {
        let windows = Windows::new(10);
        let now = Timestamp(0);
        for scope in 0..100_000 {
            windows.count(&charge(scope), RULE, now);
        }
        assert!(windows.len() <= 10 + SHARED_WINDOWS as usize, "{}", windows.len());
        assert!(windows.count(&charge(50_000), RULE, now).refused);
        assert!(!windows.count(&charge(3), RULE, now).refused);
        assert!(windows.count(&charge(3), RULE, now).refused);
    }
}
