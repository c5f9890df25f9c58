//! Logs the events committed by the shop.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::App;
use platform::observe::story;
use store::event_follower::EventFollower;

/// Maximum number of events read at a time.
const EVENTS_PER_READ: usize = 256;
/// Pause after a failure to read events.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// Logs each event committed from now on, until `leaving` is cancelled.
pub async fn tell(app: Arc<App>, leaving: CancellationToken) {
    let now = *app.outbox.last().borrow();
    let mut events = EventFollower::new(&app.outbox, &app.store, now);
    loop {
        let read = tokio::select! {
            biased; // the end of the server before further lines
            () = leaving.cancelled() => return,
            read = events.next(EVENTS_PER_READ) => read,
        };
        match read {
            Ok(Some(read)) => read.iter().for_each(|numbered| story::tell(&numbered.event)),
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, "cannot read events for the log; retrying");
                tokio::time::sleep(RETRY_AFTER).await;
            }
        }
    }
}
