//! Waiting for conditions: they are checked repeatedly until they hold; tests never just sleep.

use std::time::Duration;

use tokio::time::Instant;

/// Timeout that suffices for anything that happens at all on a busy machine.
pub const LONG: Duration = Duration::from_secs(60);

/// Minimum interval between two checks.
pub const BETWEEN: Duration = Duration::from_millis(20);

/// Maximum interval between two checks. Slow conditions are checked less often, because each check costs the server a
/// request.
const LONGEST_BETWEEN: Duration = Duration::from_millis(120);

/// Divisor that derives the next interval from the time already waited.
const WAITED_PART: u32 = 20;

/// Repeats a check until it returns a value; panics with the description `what` after the timeout.
#[track_caller]
pub fn until<T, F: Future<Output = Option<T>>>(what: &str, mut look: impl FnMut() -> F) -> impl Future<Output = T> {
    until_seen(what, move || {
        let look = look();
        async { look.await.ok_or("") }
    })
}

/// Repeats a check as [`until`] does; the panic message also contains the last error that the check returned.
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
