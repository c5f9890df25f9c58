//! Waiting for a condition: looked at again and again until it holds; never a sleep for luck.

use std::time::Duration;

use tokio::time::Instant;

/// Long enough for anything that happens at all on a busy machine.
pub const LONG: Duration = Duration::from_secs(60);

/// Time between two looks.
pub const BETWEEN: Duration = Duration::from_millis(20);

/// Longest time between two looks. What takes seconds is looked at less often: each look costs the server a request.
const LONGEST_BETWEEN: Duration = Duration::from_millis(60);

/// The part of the time waited so far after which the next look comes.
const WAITED_PART: u32 = 40;

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
                Ok(outcome) => return outcome,
                Err(state) => assert!(began.elapsed() < LONG, "waited in vain for {what} ({place}) {state}"),
            }
            tokio::time::sleep((began.elapsed() / WAITED_PART).clamp(BETWEEN, LONGEST_BETWEEN)).await;
        }
    }
}
