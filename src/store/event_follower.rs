//! Follower that reads committed events in order as they arrive, starting after a given position.

use std::sync::Arc;

use crate::Store;
use crate::event_filter::EventFilter;
use crate::outbox::Outbox;
use crate::rows::LoadError;
use domain::event::NumberedEvent;
use platform::watch::WatchReceiver;

/// Reader for committed events, with its position. The newest events come from memory; older ones are read from the
/// table.
pub struct EventFollower {
    outbox: Arc<Outbox>,
    store: Store,
    last: WatchReceiver<i64>,
    position: i64,
}

impl EventFollower {
    /// Creates a follower that reads the events after number `position`.
    pub fn new(outbox: &Arc<Outbox>, store: &Store, position: i64) -> Self {
        Self { last: outbox.last(), outbox: outbox.clone(), store: store.clone(), position }
    }

    /// Returns the number of the last event read or skipped.
    pub const fn position(&self) -> i64 {
        self.position
    }

    /// Waits for events after the position, and reads at most `limit` of them. Events that the retention rules have
    /// already deleted are skipped, so the result may be empty; the position advances in any case. Returns `None` if
    /// the server is stopping and no more events will arrive.
    pub async fn next(&mut self, limit: usize) -> Result<Option<Vec<Arc<NumberedEvent>>>, LoadError> {
        let position = self.position;
        if self.last.wait_for(|last| *last > position).await.is_err() {
            return Ok(None);
        }
        let events = match self.outbox.after(position, limit) {
            Some(events) => events,
            None => {
                let read = self.store.queries().events_after(position, &EventFilter::default(), limit as u64).await?;
                read.into_iter().map(Arc::new).collect()
            }
        };
        self.position = match events.last() {
            Some(event) => event.seq,
            None => *self.last.borrow_and_update(),
        };
        Ok(Some(events))
    }
}
