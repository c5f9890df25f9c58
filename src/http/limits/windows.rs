//! Rate-limit windows of this process, which are sharded, bounded in number, and removed when they end.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use dashmap::DashMap;

use super::WindowKey;
use domain::limits::{LimitKind, LimitRule, RateLimitStatus, Window};
use domain::time::Timestamp;

/// Number of windows per kind that new callers share while the maximum number of windows is in use.
const SHARED_WINDOWS: u128 = 1024;

/// All windows of this process.
pub struct Windows {
    map: DashMap<WindowKey, Window>,
    /// Approximate number of windows; an exact count would take all locks of the map.
    held: AtomicUsize,
    most: usize,
}

impl Windows {
    /// Creates an empty table for approximately the given number of windows.
    pub fn new(most: usize) -> Self {
        Self { map: DashMap::new(), held: AtomicUsize::new(0), most }
    }

    /// Counts a request and returns the state of its rate-limit window.
    pub fn count(&self, charge: &WindowKey, rule: LimitRule, now: Timestamp) -> RateLimitStatus {
        let mut window = self.map.entry(self.place(charge)).or_insert_with(|| {
            self.held.fetch_add(1, Relaxed);
            Window::default()
        });
        rule.count(&mut window, now)
    }

    /// Returns whether a request would be rejected now; does not count one.
    pub fn is_full(&self, charge: &WindowKey, rule: LimitRule, now: Timestamp) -> bool {
        self.map.get(&self.place(charge)).is_some_and(|window| rule.is_full(*window, now))
    }

    /// Removes a request from its window because another window rejected it.
    pub fn take_back(&self, charge: &WindowKey, rule: LimitRule, now: Timestamp) {
        if let Some(mut window) = self.map.get_mut(&self.place(charge)) {
            rule.take_back(&mut window, now);
        }
    }

    /// Returns the window in which the request is counted. While the maximum number of windows is in use, callers
    /// without a window share one. Unknown clients may then be rejected because of each other, but the server keeps
    /// running, and callers with a window are not affected.
    fn place(&self, charge: &WindowKey) -> WindowKey {
        if self.held.load(Relaxed) < self.most || self.map.contains_key(charge) {
            return *charge;
        }
        WindowKey { named: charge.named, scope: u128::MAX - charge.scope % SHARED_WINDOWS }
    }

    /// Returns the approximate number of windows.
    pub fn len(&self) -> usize {
        self.held.load(Relaxed)
    }

    /// Removes windows that have ended.
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

    fn charge(scope: u128) -> WindowKey {
        WindowKey { named: LimitKind::Anonymous, scope }
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
