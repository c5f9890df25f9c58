//! Waiting for a condition: looked at again and again until it holds; never a sleep for luck.

use std::time::Duration;

use tokio::time::Instant;

/// Long enough for anything that happens at all on a busy machine.
pub const LONG: Duration = Duration::from_secs(60);

/// Between two looks.
pub const BETWEEN: Duration = Duration::from_millis(20);

/// Looks until it gives something; panics naming what was waited for.
#[track_caller]
pub fn until<T, F: Future<Output = Option<T>>>(what: &str, mut look: impl FnMut() -> F) -> impl Future<Output = T> {
    until_seen(what, move || {
        let look = look();
        async { look.await.ok_or("") }
    })
}

/// Does what [`until`] does, for looks that see something else before: the last of it is shown as well.
#[track_caller]
pub fn until_seen<T, E: std::fmt::Display, F: Future<Output = Result<T, E>>>(
    what: &str,
    mut look: impl FnMut() -> F,
) -> impl Future<Output = T> {
    let place = std::panic::Location::caller();
    async move {
        let began = Instant::now();
        loop {
            match look().await {
                Ok(found) => return found,
                Err(seen) => assert!(began.elapsed() < LONG, "waited in vain for {what} ({place}) {seen}"),
            }
            tokio::time::sleep(BETWEEN).await;
        }
    }
}
