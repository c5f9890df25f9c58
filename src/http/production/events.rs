//! What happened: read by cursor, or followed as server-sent events (decisions §7).

use super::orders::event;
use crate::domain::event::Numbered;
use crate::domain::id::Id;
use crate::domain::refusal::Refusal;
use crate::http::AppState;
use crate::http::access::Caller;
use crate::http::error::{Answer, ApiError};
use crate::http::page::Params;
use crate::http::reply;
use crate::http::stream_auth::Standing;
use crate::store::followers::Follower;
use crate::store::queries::EventFilter;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::IntoResponse as _;
use axum::response::sse::{Event, KeepAlive, Sse};
use serde_json::json;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Events read in one go.
const BATCH: usize = 200;
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// `subject=`: `kind:id`, an id, or a kind.
pub fn subject(params: &Params) -> Result<(Option<String>, Option<Id>), ApiError> {
    let Some(subject) = params.text("subject") else { return Ok((None, None)) };
    let wrong = |_| Refusal::field("subject", "must be kind:id, an id or a kind");
    Ok(match subject.split_once(':') {
        Some((kind, id)) => (Some(kind.to_owned()), Some(id.parse().map_err(wrong)?)),
        None => match subject.parse::<Id>() {
            Ok(id) => (None, Some(id)),
            Err(_) => (Some(subject.to_owned()), None),
        },
    })
}

/// `event=` (names joined by commas) and `subject=`.
fn filter(params: &Params) -> Result<EventFilter, ApiError> {
    let mut filter = EventFilter::default();
    if let Some(names) = params.text("event") {
        filter.events = names.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    }
    (filter.subject_kind, filter.subject_id) = subject(params)?;
    Ok(filter)
}

fn takes(filter: &EventFilter, numbered: &Numbered) -> bool {
    let event = &numbered.event;
    (filter.events.is_empty() || filter.events.contains(&event.event))
        && filter.subject_kind.as_ref().is_none_or(|kind| *kind == event.subject_kind)
        && filter.subject_id.is_none_or(|id| id == event.subject_id)
}

/// `GET /api/events?after=&limit=&event=&subject=`: oldest first; `next` is the `after` of the next call.
pub async fn list(State(app): State<AppState>, params: Params) -> Answer {
    let (after, page) = (params.parsed("after", "a whole number")?.unwrap_or(0), params.page()?);
    let events = app.queries.events_after(after, &filter(&params)?, page.limit).await?;
    let next = events.last().map_or(after, |event| event.seq);
    reply::ok(json!({ "events": events.iter().map(event).collect::<Vec<_>>(), "next": next }))
}

/// `GET /api/events/stream`: from `Last-Event-ID` (or `after`) on, else from now. A cursor that is no longer kept gets
/// a `reset`.
pub async fn stream(State(app): State<AppState>, who: Caller, params: Params, headers: HeaderMap) -> Answer {
    let last = app.outbox.last();
    let cursor = match headers.get("last-event-id") {
        Some(id) => Some(read_cursor(id.to_str().unwrap_or_default())?),
        None => params.parsed("after", "a whole number")?,
    };
    let now = *last.borrow();
    let mut queue = VecDeque::new();
    let after = match cursor {
        Some(after) if !kept(&app, after, now).await? => {
            queue
                .push_back(Event::default().event("reset").id(now.to_string()).data(json!({"after": now}).to_string()));
            now
        }
        Some(after) => after,
        None => now,
    };
    let standing = Standing::new(app.clone(), who);
    let follower = app.outbox.followers.add("stream", after);
    let reader = Reader { app, standing, follower, filter: filter(&params)?, last, after, queue };
    let events = futures::stream::unfold(reader, Reader::next);
    let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response();
    response.headers_mut().insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
    Ok(response)
}

fn read_cursor(text: &str) -> Result<i64, ApiError> {
    Ok(text.parse().map_err(|_| Refusal::field("Last-Event-ID", "must be the number of an event"))?)
}

/// Whether everything after this number is still there, and the number was given out at all.
async fn kept(app: &AppState, after: i64, now: i64) -> Result<bool, ApiError> {
    if after > now || after < 0 {
        return Ok(false);
    }
    if after == now || app.outbox.after(after, 1).is_some() {
        return Ok(true);
    }
    let (first, _) = app.queries.event_range().await?;
    Ok(after + 1 >= first)
}

/// Somebody who follows.
struct Reader {
    app: AppState,
    standing: Standing,
    follower: Follower,
    filter: EventFilter,
    last: watch::Receiver<i64>,
    after: i64,
    queue: VecDeque<Event>,
}

impl Reader {
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        loop {
            // Sign-out, expiry, revocation and a change of role end the stream, whatever is still to be read.
            if !self.standing.holds() {
                return None;
            }
            if let Some(next) = self.queue.pop_front() {
                return Some((Ok(next), self));
            }
            let batch = self.read().await?;
            let Some(upto) = batch.last().map(|event| event.seq) else {
                tokio::select! {
                    biased; // the access is checked again before the next event either way
                    changed = self.last.changed() => changed.ok()?,
                    () = self.standing.again() => {}
                }
                continue;
            };
            self.after = upto;
            self.follower.has_read(upto);
            for numbered in batch.iter().filter(|numbered| takes(&self.filter, numbered)) {
                let sent = Event::default().id(numbered.seq.to_string()).event(&numbered.event.event);
                self.queue.push_back(sent.data(event(numbered).to_string()));
            }
        }
    }

    /// The next events; `None` when they cannot be read: the reader comes again with its cursor.
    async fn read(&self) -> Option<Vec<Arc<Numbered>>> {
        if let Some(events) = self.app.outbox.after(self.after, BATCH) {
            return Some(events);
        }
        let all = EventFilter::default();
        match self.app.queries.events_after(self.after, &all, BATCH as u64).await {
            Ok(events) => Some(events.into_iter().map(Arc::new).collect()),
            Err(error) => {
                tracing::warn!(%error, "a stream of events ends");
                None
            }
        }
    }
}
