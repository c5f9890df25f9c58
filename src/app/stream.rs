//! Follows the committed events into the Redis stream. Nobody waits for it: while Redis is away it waits, and then reads
//! from the table what it missed.

use super::App;
use crate::domain::event::Numbered;
use crate::services::redis::Redis;
use crate::services::redis::stream::{EventStream, StreamEntry};
use crate::store::queries::EventFilter;
use crate::store::rows::LoadError;
use redis::RedisError;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Events added in one go.
const BATCH: usize = 256;
/// Waits after a failure: doubling from the first to the last.
const WAIT_FIRST: Duration = Duration::from_millis(100);
const WAIT_LAST: Duration = Duration::from_secs(5);

/// Why the stream stands still for now.
#[derive(Debug, thiserror::Error)]
enum Halt {
    #[error("redis: {0}")]
    Redis(#[from] RedisError),
    #[error("events cannot be read: {0}")]
    Load(#[from] LoadError),
    /// No events come any more.
    #[error("the shop is closed")]
    Closed,
}

/// How an event is shown in an entry's `json`.
pub type View = fn(&Numbered) -> Value;

/// Follows until `leaving`.
pub async fn follow(shop: Arc<App>, redis: Arc<Redis>, view: View, leaving: CancellationToken) {
    tokio::select! {
        biased; // the end of the server before further work
        () = leaving.cancelled() => {}
        () = keep(&shop, &redis, view) => {}
    }
}

async fn keep(shop: &App, redis: &Redis, view: View) {
    let (mut wait, mut said) = (WAIT_FIRST, false);
    loop {
        let began = redis.streamed();
        let Err(halt) = run(shop, redis, view).await;
        if matches!(halt, Halt::Closed) {
            return;
        }
        if redis.streamed() != began {
            (wait, said) = (WAIT_FIRST, false);
        }
        if !said {
            tracing::warn!(%halt, "the stream of events waits");
            said = true;
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(WAIT_LAST);
    }
}

async fn run(shop: &App, redis: &Redis, view: View) -> Result<std::convert::Infallible, Halt> {
    let mut stream = redis.stream().await?;
    let mut at = begin(shop, &mut stream).await?;
    redis.note_streamed(at);
    let mut last = shop.outbox.last();
    loop {
        last.wait_for(|last| *last > at).await.map_err(|_| Halt::Closed)?;
        let events = match shop.outbox.after(at, BATCH) {
            Some(events) => events,
            None => {
                let read = shop.store.queries().events_after(at, &EventFilter::default(), BATCH as u64).await?;
                read.into_iter().map(Arc::new).collect()
            }
        };
        let Some(upto) = events.last().map(|event| event.seq) else {
            // What the stream lacks is no longer kept.
            at = *last.borrow_and_update();
            continue;
        };
        let entries: Vec<StreamEntry> = events.iter().map(|event| entry(event, view)).collect();
        stream.add(&entries).await?;
        at = upto;
        redis.note_streamed(at);
    }
}

fn entry(numbered: &Numbered, view: View) -> StreamEntry {
    let event = &numbered.event;
    let (id, json) = (event.id.to_string(), view(numbered).to_string());
    StreamEntry { seq: numbered.seq, id, event: event.event.clone(), json }
}

/// The last event that is in the stream. An empty stream begins as far back as it can reach.
async fn begin(shop: &App, stream: &mut EventStream) -> Result<i64, Halt> {
    let now = *shop.outbox.last().borrow();
    match stream.last().await? {
        Some(seq) if seq <= now => Ok(seq),
        Some(seq) => {
            tracing::warn!(seq, now, "the stream of events is ahead of this database: it goes on from here");
            Ok(now)
        }
        None => Ok((now - i64::from(stream.length())).max(0)),
    }
}
