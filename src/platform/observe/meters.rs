//! Counters and histograms made of relaxed atomics, so that recording a value never waits.
//!
//! This module does not name them: `http/api/production/metrics.rs` reads them and names them for `/metrics`.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// Upper bounds of the duration buckets, in seconds.
pub const SECONDS: &[f64] =
    &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
/// Upper bounds of the size buckets, such as for the number of commands in a transaction.
pub const MANY: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 4096.0, 16384.0];

/// Number of shards of counters that many threads use at the same time.
pub const MAX_SHARDS: usize = 4;

/// Returns the shard of the calling thread, below [`MAX_SHARDS`]. Threads are spread over the shards as they come.
pub fn shard() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static SHARD: usize = THREADS.fetch_add(1, Relaxed) % MAX_SHARDS;
    }
    SHARD.try_with(|shard| *shard).unwrap_or(0)
}

/// Counter that only increases.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one to the count.
    pub fn one(&self) {
        self.add(1);
    }
    /// Adds `many` to the count.
    pub fn add(&self, many: u64) {
        self.0.fetch_add(many, Relaxed);
    }
    /// Returns the count since the process started.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Histogram that counts measured values by bucket and adds them up.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [f64],
    /// Number of values per bucket: one bucket for each bound, and one for values above the last bound.
    buckets: Box<[AtomicU64]>,
    /// Sum of the raw values, which are measured in `unit`.
    sum: AtomicU64,
    unit: f64,
}

/// Histogram values at a point in time.
#[derive(Clone, PartialEq, Debug)]
pub struct HistogramSnapshot {
    /// Sum of all measured values.
    pub sum: f64,
    /// Number of measured values.
    pub count: u64,
    /// Upper bound of each bucket, and the number of values in that bucket alone (not cumulative); the last bound is
    /// [`f64::MAX`].
    pub buckets: Vec<(f64, u64)>,
}

impl HistogramSnapshot {
    /// Adds the values of another shard of the same histogram.
    pub fn add(&mut self, other: &Self) {
        self.sum += other.sum;
        self.count += other.count;
        for ((_, count), (_, more)) in self.buckets.iter_mut().zip(&other.buckets) {
            *count += more;
        }
    }
}

impl Histogram {
    fn new(bounds: &'static [f64], unit: f64) -> Self {
        let buckets = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self { bounds, buckets, sum: AtomicU64::new(0), unit }
    }
    /// Creates a histogram of durations, which are reported in seconds.
    pub fn of_seconds() -> Self {
        Self::new(SECONDS, 1e-6)
    }
    /// Creates a histogram of plain numbers.
    pub fn of_numbers() -> Self {
        Self::new(MANY, 1.0)
    }
    /// Records a duration in a histogram of seconds.
    pub fn took(&self, duration: Duration) {
        self.count(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX));
    }
    /// Records a raw value: a number, or a duration in microseconds.
    pub fn count(&self, raw: u64) {
        let value = raw as f64 * self.unit;
        let at = self.bounds.iter().position(|bound| value <= *bound).unwrap_or(self.bounds.len());
        self.buckets[at].fetch_add(1, Relaxed);
        self.sum.fetch_add(raw, Relaxed);
    }
    /// Returns a snapshot of the values recorded since the process started.
    pub fn counted(&self) -> HistogramSnapshot {
        let bounds = self.bounds.iter().copied().chain([f64::MAX]);
        let buckets: Vec<_> = bounds.zip(&self.buckets).map(|(bound, count)| (bound, count.load(Relaxed))).collect();
        let count = buckets.iter().map(|(_, count)| count).sum();
        HistogramSnapshot { sum: self.sum.load(Relaxed) as f64 * self.unit, count, buckets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_falls_into_the_first_bucket_that_holds_it() {
        let some = Histogram::of_numbers();
        for many in [0, 1, 2, 3, 1024, 20_000] {
            some.count(many);
        }
        let counted = some.counted();
        assert_eq!(counted.count, 6);
        assert!((counted.sum - 21_030.0).abs() < 0.5);
        let at = |bound: f64| counted.buckets.iter().find(|(at, _)| *at >= bound).map(|(_, count)| *count);
        assert_eq!([at(1.0), at(2.0), at(4.0), at(8.0), at(1024.0), at(f64::MAX)], [2, 1, 1, 0, 1, 1].map(Some));
    }

    #[test]
    fn shards_of_a_histogram_add_up() {
        let (one, other) = (Histogram::of_numbers(), Histogram::of_numbers());
        one.count(1);
        one.count(100);
        other.count(100);
        let mut sum = one.counted();
        sum.add(&other.counted());
        assert_eq!((sum.count, sum.buckets[0], sum.buckets[7]), (3, (1.0, 1), (128.0, 2)));
        assert!((sum.sum - 201.0).abs() < 1e-9);
    }

    #[test]
    fn a_thread_stays_with_its_shard() {
        let threads = [(); 4 * MAX_SHARDS].map(|()| std::thread::spawn(|| [shard(), shard()]));
        let shards = threads.map(|thread| thread.join().unwrap_or_default());
        assert!(shards.iter().all(|[first, second]| first == second && *first < MAX_SHARDS), "{shards:?}");
    }

    #[test]
    fn durations_are_shown_in_seconds() {
        let some = Histogram::of_seconds();
        some.took(Duration::from_millis(2));
        some.took(Duration::from_secs(60));
        let counted = some.counted();
        assert!((counted.sum - 60.002).abs() < 1e-9, "{counted:?}");
        assert_eq!(counted.buckets.iter().find(|(_, count)| *count > 0), Some(&(0.0025, 1)));
        assert_eq!(counted.buckets.last(), Some(&(f64::MAX, 1)));
    }
}
