//! Counts what happens while the demo runs.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Counts of one run.
#[derive(Debug, Default)]
pub struct Tally {
    pub ordered: AtomicUsize,
    pub paid: AtomicUsize,
    pub printed: AtomicUsize,
    pub failed: AtomicUsize,
    pub shipped: AtomicUsize,
    pub restocked: AtomicUsize,
}

/// Adds one to a counter.
pub fn count(counter: &AtomicUsize) {
    counter.fetch_add(1, Relaxed);
}

impl Tally {
    /// One line that is printed when the demo stops.
    pub fn summary(&self, webhooks: usize) -> String {
        let n = |counter: &AtomicUsize| counter.load(Relaxed);
        format!(
            "orders placed {}, paid {}, shipped {}; parts printed {}, failed {}; material deliveries {}; webhooks received {}",
            n(&self.ordered),
            n(&self.paid),
            n(&self.shipped),
            n(&self.printed),
            n(&self.failed),
            n(&self.restocked),
            webhooks,
        )
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
        assert!(summary.starts_with("orders placed 1, paid 0, shipped 0; parts printed 2,"), "{summary}");
        assert!(summary.ends_with("webhooks received 5"), "{summary}");
    }
}
