//! [`RecentValue`]: a value that is computed at most once within a period, no matter how many tasks ask for it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

/// Last result of a costly computation, which is shared by all tasks until it is too old.
#[derive(Debug)]
pub struct RecentValue<T> {
    max_age: Duration,
    /// Last result, with the time at which its computation began.
    last: Mutex<Option<(Instant, Arc<T>)>>,
}

impl<T> RecentValue<T> {
    /// Creates a holder without a value; each value is reused for `max_age`.
    pub fn new(max_age: Duration) -> Self {
        Self { max_age, last: Mutex::new(None) }
    }

    /// Returns the last value, or computes a new one if the last one is too old. Tasks that ask meanwhile wait for the
    /// new one.
    pub async fn get<F: Future<Output = T>>(&self, now: Instant, compute: impl FnOnce() -> F) -> Arc<T> {
        let mut last = self.last.lock().await;
        if let Some((at, value)) = &*last
            && now.duration_since(*at) < self.max_age
        {
            return value.clone();
        }
        let value = Arc::new(compute().await);
        *last = Some((now, value.clone()));
        value
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;

    #[tokio::test]
    async fn a_value_serves_everybody_who_asks_within_a_second() {
        let (recent, computed, began) = (RecentValue::new(Duration::from_secs(1)), AtomicUsize::new(0), Instant::now());
        let compute = || async { computed.fetch_add(1, Relaxed) };
        for (after_ms, computations) in [(0, 1), (1, 1), (500, 1), (999, 1), (1000, 2), (1500, 2), (2001, 3)] {
            let value = recent.get(began + Duration::from_millis(after_ms), compute).await;
            assert_eq!((*value, computed.load(Relaxed)), (computations - 1, computations), "after {after_ms} ms");
        }
        // Many at the same moment wait for one computation.
        let later = began + Duration::from_secs(10);
        let values = futures::future::join_all((0..50).map(|_| recent.get(later, compute))).await;
        assert!(values.iter().all(|value| **value == 3));
        assert_eq!(computed.load(Relaxed), 4);
    }
}
