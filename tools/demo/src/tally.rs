//! Event counters for a demo run.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Counters for one demo run.
#[derive(Debug, Default)]
pub struct Tally {
    pub ordered: AtomicUsize,
    pub paid: AtomicUsize,
    pub printed: AtomicUsize,
    pub failed: AtomicUsize,
    pub shipped: AtomicUsize,
    pub restocked: AtomicUsize,
    /// Number of mishaps caused on the floor.
    pub mishaps: AtomicUsize,
    /// Number of mishaps from which the shop recovered.
    pub rescued: AtomicUsize,
    /// Number of prints signed off as bad.
    pub rejected: AtomicUsize,
    /// Number of orders that were ready by the promised time.
    pub promises_kept: AtomicUsize,
    /// Number of orders that were ready later than promised.
    pub missed: AtomicUsize,
}

/// Adds one to a counter.
pub fn count(counter: &AtomicUsize) {
    counter.fetch_add(1, Relaxed);
}

impl Tally {
    /// Formats how many orders were placed, paid and shipped.
    pub fn orders(&self) -> String {
        let n = |counter: &AtomicUsize| counter.load(Relaxed);
        format!("orders placed {}, paid {}, shipped {}", n(&self.ordered), n(&self.paid), n(&self.shipped))
    }

    /// Formats the results of prints, promises, restocks and mishaps.
    pub fn parts(&self) -> String {
        let n = |counter: &AtomicUsize| counter.load(Relaxed);
        format!(
            "prints finished {}, failed {}, bad {}; promises kept {}, missed {}; restocks {}; mishaps {}, rescued {}",
            n(&self.printed),
            n(&self.failed),
            n(&self.rejected),
            n(&self.promises_kept),
            n(&self.missed),
            n(&self.restocked),
            n(&self.mishaps),
            n(&self.rescued),
        )
    }

    /// Formats the one-line summary printed when the demo stops.
    pub fn summary(&self, webhooks: usize) -> String {
        format!("{}; {}; webhooks received {webhooks}", self.orders(), self.parts())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_names_every_count() {
        let tally = Tally::default();
        count(&tally.ordered);
        count(&tally.printed);
        count(&tally.printed);
        let summary = tally.summary(5);
        assert!(summary.starts_with("orders placed 1, paid 0, shipped 0; prints finished 2,"), "{summary}");
        assert!(summary.ends_with("webhooks received 5"), "{summary}");
    }
}
