//! Waiting of the benchmarks until something is so.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Time after which a measurement has failed.
const PATIENCE: Duration = Duration::from_secs(180);
/// Interval between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Looks in an interval until there is a value, and returns it. Fails after a time limit with the words of the last
/// look.
pub async fn poll<T>(every: Duration, within: Duration, mut look: impl AsyncFnMut() -> Result<T, String>) -> T {
    let end = Instant::now() + within;
    loop {
        match look().await {
            Ok(value) => return value,
            Err(words) => assert!(Instant::now() < end, "{words}"),
        }
        sleep(every).await;
    }
}

/// Polls until `done` returns `true`, within a time limit.
pub async fn patiently(mut done: impl AsyncFnMut() -> bool) {
    let look = async || if done().await { Ok(()) } else { Err("this takes too long".to_owned()) };
    poll(LOOK_EVERY, PATIENCE, look).await;
}
