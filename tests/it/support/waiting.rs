//! Waiting for a condition: looked at again and again until it holds; never a sleep for luck.

use std::time::Duration;
use tokio::time::Instant;

/// Long enough for anything that happens at all on a busy machine.
pub const LONG: Duration = Duration::from_secs(60);

const BETWEEN: Duration = Duration::from_millis(20);

/// Looks until it gives something; panics naming what was waited for.
#[track_caller]
pub fn until<T, F: Future<Output = Option<T>>>(what: &str, mut look: impl FnMut() -> F) -> impl Future<Output = T> {
    let place = std::panic::Location::caller();
    async move {
        let began = Instant::now();
        loop {
            if let Some(found) = look().await {
                return found;
            }
            assert!(began.elapsed() < LONG, "waited in vain for {what} ({place})");
            tokio::time::sleep(BETWEEN).await;
        }
    }
}
