//! Copies committed events to the Redis stream. Nothing depends on the copy: copying pauses while Redis is unavailable,
//! and then catches up from the event table.

use std::sync::Arc;
use std::time::Duration;

use redis::RedisError;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::App;
use domain::event::NumberedEvent;
use domain::schedule::Delays;
use services::redis::Redis;
use services::redis::stream::{EventStream, StreamEntry};
use store::event_follower::EventFollower;
use store::rows::LoadError;

/// Maximum number of events added to the stream at a time.
const EVENTS_PER_READ: usize = 256;
/// Backoff after consecutive failures.
const RETRY_DELAYS: Delays = Delays { first: Duration::from_millis(100), longest: Duration::from_secs(5) };

/// Reason that copying has stopped for now.
#[derive(Debug, thiserror::Error)]
enum StreamPause {
    #[error("redis: {0}")]
    Redis(#[from] RedisError),
    #[error("cannot read events: {0}")]
    Load(#[from] LoadError),
    /// The event source has been closed.
    #[error("the server is shutting down")]
    Closed,
}

/// Function that renders an event as the `json` field of a stream entry.
pub type View = fn(&NumberedEvent) -> Value;

/// Copies committed events to the Redis stream until `leaving` is cancelled.
pub async fn follow(app: Arc<App>, redis: Arc<Redis>, view: View, leaving: CancellationToken) {
    tokio::select! {
        biased; // the end of the server before further work
        () = leaving.cancelled() => {}
        () = keep(&app, &redis, view) => {}
    }
}

async fn keep(app: &App, redis: &Redis, view: View) {
    let (mut failures, mut was_logged) = (0, false);
    loop {
        let began = redis.streamed();
        let Err(halt) = run(app, redis, view).await;
        if matches!(halt, StreamPause::Closed) {
            return;
        }
        if redis.streamed() != began {
            (failures, was_logged) = (0, false);
        }
        if !was_logged {
            tracing::warn!(%halt, "the event stream in Redis is paused");
            was_logged = true;
        }
        tokio::time::sleep(RETRY_DELAYS.next(failures, app.environment.chance())).await;
        failures += 1;
    }
}

async fn run(app: &App, redis: &Redis, view: View) -> Result<std::convert::Infallible, StreamPause> {
    let mut stream = redis.stream().await?;
    let position = begin(app, &mut stream).await?;
    redis.note_streamed(position);
    let mut events = EventFollower::new(&app.outbox, &app.store, position);
    loop {
        let read = events.next(EVENTS_PER_READ).await?.ok_or(StreamPause::Closed)?;
        if !read.is_empty() {
            let entries: Vec<StreamEntry> = read.iter().map(|event| entry(event, view)).collect();
            stream.add(&entries).await?;
            redis.note_streamed(events.position());
        }
    }
}

fn entry(numbered: &NumberedEvent, view: View) -> StreamEntry {
    let event = &numbered.event;
    let (id, json) = (event.id.to_string(), view(numbered).to_string());
    StreamEntry { seq: numbered.seq, id, event: event.event.clone(), json }
}

/// Returns the number of the event after which copying starts, which is the last event in the stream. If the stream is
/// empty, copying starts as many events back as the stream can hold.
async fn begin(app: &App, stream: &mut EventStream) -> Result<i64, StreamPause> {
    let now = *app.outbox.last().borrow();
    match stream.last().await? {
        Some(seq) if seq <= now => Ok(seq),
        Some(seq) => {
            tracing::warn!(
                seq,
                now,
                "the event stream in Redis is ahead of this database; resuming with the next event"
            );
            Ok(now)
        }
        None => Ok((now - i64::from(stream.length())).max(0)),
    }
}
