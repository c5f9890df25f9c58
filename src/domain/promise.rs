//! Completion time promised to a customer once, with a margin chosen so that four out of five promises are met.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Target fraction of promises that are met.
const KEPT_SHARE: f64 = 0.8;
/// Number of most recent orders that the margin is learnt from.
const MAX_RATIOS: usize = 100;
/// Ratios of actual to expected time that are assumed until orders have been observed.
const ASSUMED_RATIOS: [f64; 10] = [0.9, 1.0, 1.0, 1.05, 1.05, 1.1, 1.15, 1.2, 1.3, 1.6];
/// Minimum expected time, in milliseconds, of an order to learn from. For a shorter time, an extra minute would be a
/// large fraction.
const LEAST_LEAD_MS: i64 = 10 * 60_000;

/// Promised completion of an order, and its outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Promise {
    /// Time at which the promise was made.
    pub made_at: Timestamp,
    /// Time at which printing was expected to be complete when the promise was made.
    pub expected_at: Timestamp,
    /// Promised time, which never changes.
    pub promised_at: Timestamp,
    /// Time at which the order was ready; `None` until then, and again while part of the order is being remade.
    #[serde(default)]
    pub met_at: Option<Timestamp>,
}

impl Promise {
    /// Returns the time by which the order must be ready: the promised time, or its due date if that is earlier.
    pub fn deadline(&self, due_at: Option<Timestamp>) -> Timestamp {
        due_at.map_or(self.promised_at, |due_at| due_at.min(self.promised_at))
    }

    /// Returns the ratio of actual to expected time. Returns `None` if the order is not ready yet, or if the expected
    /// time was too short.
    fn ratio(&self) -> Option<f64> {
        let expected = self.expected_at.since(self.made_at);
        let took = self.met_at?.since(self.made_at);
        (expected >= LEAST_LEAD_MS).then(|| took.max(0) as f64 / expected as f64)
    }
}

/// Recent ratios of actual to expected time.
#[derive(Clone, PartialEq, Debug)]
pub struct DelayRatios {
    ratios: VecDeque<f64>,
    /// Number of assumed ratios, which precede the observed ones.
    assumed: usize,
}

impl Default for DelayRatios {
    fn default() -> Self {
        Self { ratios: ASSUMED_RATIOS.into(), assumed: ASSUMED_RATIOS.len() }
    }
}

impl DelayRatios {
    /// Learns from an order that is ready. The caller must pass each order only once, oldest first.
    pub fn learn(&mut self, promise: &Promise) {
        if let Some(ratio) = promise.ratio() {
            self.ratios.push_back(ratio);
            // What was assumed stands first and makes room for what is known, one for one.
            let assumed = self.assumed > 0;
            self.assumed = self.assumed.saturating_sub(1);
            if assumed || self.ratios.len() > MAX_RATIOS {
                self.ratios.pop_front();
            }
        }
    }

    /// Returns the promise for an order expected at `expected_at`: the time by which four out of five such orders are
    /// ready, at least `least_margin_ms` milliseconds later than expected.
    pub fn promise(&self, now: Timestamp, expected_at: Timestamp, least_margin_ms: i64) -> Promise {
        let lead = expected_at.since(now).max(0);
        let stretched = (lead as f64 * self.quantile()) as i64;
        let promised_at = now.plus_ms(stretched.max(lead + least_margin_ms));
        Promise { made_at: now, expected_at, promised_at, met_at: None }
    }

    /// Returns the ratio that [`KEPT_SHARE`] of the orders did not exceed.
    fn quantile(&self) -> f64 {
        let mut sorted: Vec<f64> = self.ratios.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        // One more than are known: the next order counts as unknown too.
        let place = ((sorted.len() + 1) as f64 * KEPT_SHARE).ceil() as usize;
        sorted.get(place.saturating_sub(1).min(sorted.len().saturating_sub(1))).copied().unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);
    const HOUR: i64 = 3_600_000;
    const MARGIN: i64 = 300_000;

    fn met_after(ratio: f64) -> Promise {
        let met_at = NOW.plus_ms((HOUR as f64 * ratio) as i64);
        Promise { made_at: NOW, expected_at: NOW.plus_ms(HOUR), promised_at: NOW, met_at: Some(met_at) }
    }

    #[test]
    fn a_promise_leaves_room_before_anything_was_learnt() {
        let promise = DelayRatios::default().promise(NOW, NOW.plus_ms(10 * HOUR), MARGIN);
        assert_eq!(promise.promised_at, NOW.plus_ms(13 * HOUR), "four of five of what is assumed");
        let soon = DelayRatios::default().promise(NOW, NOW, MARGIN);
        assert_eq!(soon.promised_at, NOW.plus_ms(MARGIN));
    }

    #[test]
    fn orders_that_are_not_ready_or_were_expected_at_once_teach_nothing() {
        let mut stretch = DelayRatios::default();
        stretch.learn(&Promise { met_at: None, ..met_after(9.0) });
        stretch.learn(&Promise { expected_at: NOW.plus_ms(1000), ..met_after(9.0) });
        assert_eq!(stretch, DelayRatios::default());
    }

    #[test]
    fn an_order_of_ten_minutes_teaches_and_a_shorter_one_does_not() {
        let ratio = |expected_ms: i64, took_ms: i64| {
            let (expected_at, met_at) = (NOW.plus_ms(expected_ms), Some(NOW.plus_ms(took_ms)));
            Promise { expected_at, met_at, ..met_after(1.0) }.ratio()
        };
        assert_eq!(ratio(LEAST_LEAD_MS, 2 * LEAST_LEAD_MS), Some(2.0));
        assert_eq!(ratio(LEAST_LEAD_MS - 1, LEAST_LEAD_MS), None);
        assert_eq!(ratio(HOUR, -HOUR), Some(0.0), "a clock that was set back");
    }

    #[test]
    fn the_deadline_is_the_earlier_of_what_was_promised_and_what_is_due() {
        let promise = met_after(1.0);
        let deadline = |due_ms: Option<i64>| promise.deadline(due_ms.map(|ms| NOW.plus_ms(ms)));
        assert_eq!([None, Some(1)].map(deadline), [NOW; 2]);
        assert_eq!(deadline(Some(-1)), NOW.plus_ms(-1));
    }

    #[test]
    fn the_last_orders_count_and_no_older_ones() {
        let mut stretch = DelayRatios::default();
        (0..=MAX_RATIOS).for_each(|n| stretch.learn(&met_after(1.0 + n as f64)));
        assert_eq!(stretch.ratios.len(), MAX_RATIOS);
        assert_eq!(stretch.ratios.front(), Some(&2.0));
    }

    proptest! {
        /// Checks for any distribution of orders that four out of five orders drawn from it are ready in time.
        #[test]
        fn four_of_five_are_kept(ratios in prop::collection::vec(0.5f64..4.0, MAX_RATIOS..3 * MAX_RATIOS)) {
            let mut stretch = DelayRatios::default();
            ratios.iter().for_each(|ratio| stretch.learn(&met_after(*ratio)));
            let lately = &ratios[ratios.len() - MAX_RATIOS..];
            let promised = stretch.promise(NOW, NOW.plus_ms(HOUR), MARGIN).promised_at;
            let in_time = lately.iter().filter(|ratio| met_after(**ratio).met_at.unwrap_or_default() <= promised).count();
            prop_assert!(in_time >= 80, "{in_time} of {MAX_RATIOS}");
        }
    }
}
