//! Events of the shop, read with a cursor or followed as server-sent events.

use std::collections::VecDeque;
use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};

use domain::event::data::OrderData;
use domain::event::{self, NumberedEvent};
use domain::id::Id;
use domain::principal::Role;
use domain::refusal::{Class, Refusal};
use domain::time::Timestamp;
use http::access::{Caller, RequiredAccess};
use http::error::ApiError;
use http::handles::handles;
use http::page::{DEFAULT_LIMIT, MAX_LIMIT, Query};
use http::reply::{Media, MediaType, Plain};
use http::routes::ResourceRoutes;
use http::sse::{self, LastEventId, Sse, SseSource};
use http::stream_auth::{StreamHandles, StreamPermission};
use http::wire::{JsonObject, ToSchema as _, Within};
use store::Store;
use store::event_follower::EventFollower;
use store::followers::Follower;
use store::outbox::Outbox;
use store::queries::{EventFilter, Queries};

/// Maximum number of events read at a time.
const EVENTS_PER_READ: usize = 200;
/// Delay, in milliseconds, after which disconnected clients reconnect.
const RECONNECT_MILLIS: u32 = 3000;
/// Error message for a cursor that does not belong to the shop's current history.
const CURSOR_AHEAD: &str = "the cursor is beyond the newest event, or its event was undone by a restore from a backup; \
                            reload the data that you store about the shop, then follow events from now on";
/// Example ID of an event.
pub(super) const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8072";

handles! {
    /// Dependencies of the event routes.
    pub struct EventHandles {
        outbox: Arc<Outbox>,
        queries: Queries,
        store: Store,
        stream: StreamHandles,
    }
}

/// Returns the event routes.
pub fn routes() -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    let about = "Events, numbered in the order in which they were stored. Kept for 30 days.";
    ResourceRoutes::new("Events", about, "event")
        .get(operator, "/api/events", list, |op| {
            op.named("listEvents", "List events")
                .about("Sorted oldest first. Pass `next` as `after` in the next call.")
                .error(
                    410,
                    "cursor_ahead",
                    "There is no event with this number yet, or it was undone by a restore from a backup.",
                )
        })
        .get_long(operator, "/api/events/stream", stream, |op| {
            op.named("streamEvents", "Stream events").about(
                "Server-sent events with the sequence number as `id` and the event as `data`; if the cursor is too \
                 old, the stream begins with a `reset`. The stream ends when the key or session ends.",
            )
        })
}

/// Filter and cursor for listing events.
#[derive(Request, Debug)]
pub struct EventQuery {
    #[api(flatten)]
    filter: EventChoice,
    /// Maximum number of events to return.
    #[api(Within(1..=MAX_LIMIT), default = DEFAULT_LIMIT)]
    limit: u64,
}

/// Filter and cursor for reading or following events.
#[derive(Request, Debug)]
pub struct EventChoice {
    /// Return only events with a higher sequence number than the given one.
    after: Option<i64>,
    /// Return only events of the given types, separated by commas.
    event: Option<String>,
    /// Return only events about the given subject: `kind:id`, an ID, or a kind.
    subject: Option<String>,
}

/// Subject of an event.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "EventSubject", example = json!({"kind": "order", "id": "01890a5d-ac96-774b-bcce-b302099a8065"}))]
pub struct SubjectView {
    /// Kind of the subject, such as `order`, `job`, `material` or `printer`.
    kind: String,
    /// ID of the order, job, material or other record.
    id: Id,
}

/// Event as it appears in lists, streams and timelines.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Event", example = example())]
pub struct EventView {
    /// ID of the event, also the `id` in webhook payloads.
    id: Id,
    /// Sequence number, in the order in which events were committed.
    seq: i64,
    /// Event type, such as `order.paid` or `job.failed`.
    event: String,
    /// Time at which the event happened.
    timestamp: Timestamp,
    /// Record that the event is about.
    subject: SubjectView,
    /// Actor who caused the event: a member of staff, an API key, or the server itself.
    actor: String,
    /// Event data; the fields depend on the event type and are listed at `/docs/events`.
    data: JsonObject,
}

/// Serializes an event in the format shared by the API and the integrations.
pub fn written(numbered: &NumberedEvent) -> Value {
    serde_json::to_value(EventView::from(numbered)).unwrap_or_default()
}

impl From<&event::Event> for SubjectView {
    fn from(event: &event::Event) -> Self {
        Self { kind: event.subject_kind.clone(), id: event.subject_id }
    }
}

impl From<&NumberedEvent> for EventView {
    fn from(numbered: &NumberedEvent) -> Self {
        let event = &numbered.event;
        Self {
            id: event.id,
            seq: numbered.seq,
            event: event.event.clone(),
            timestamp: event.timestamp,
            subject: event.into(),
            actor: event.actor.clone(),
            data: event.data.clone().into(),
        }
    }
}

fn example() -> Value {
    json!({
        "id": EXAMPLE_ID, "seq": 4711, "event": "order.paid", "timestamp": "2026-11-02T10:00:00.000Z",
        "subject": {"kind": "order", "id": example_data()["orderId"]}, "actor": "machine", "data": example_data(),
    })
}

/// Returns the example data of an `order.paid` event.
pub(super) fn example_data() -> Value {
    OrderData::example()
}

/// Page of events that follow a cursor.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "EventPage", example = json!({"events": [example()], "next": 4711}))]
struct EventPage {
    /// Events in ascending order of their sequence numbers.
    events: Vec<EventView>,
    /// Cursor to pass as `after` in the next request.
    next: i64,
}

/// Media type of a stream of server-sent events.
struct EventStreamMedia;

impl MediaType for EventStreamMedia {
    const MEDIA: &'static str = sse::MEDIA;
    const EXAMPLE: Option<&'static str> = Some("id: 4711\nevent: order.paid\ndata: {\"seq\":4711}\n\n");
}

/// Parses a `subject` query parameter: `kind:id`, an ID, or a kind.
pub fn subject(text: Option<&str>) -> Result<(Option<String>, Option<Id>), ApiError> {
    let Some(subject) = text else { return Ok((None, None)) };
    let wrong = |_| Refusal::field("subject", "must be kind:id, an ID or a kind");
    Ok(match subject.split_once(':') {
        Some((kind, id)) => (Some(kind.to_owned()), Some(id.parse().map_err(wrong)?)),
        None => match subject.parse::<Id>() {
            Ok(id) => (None, Some(id)),
            Err(_) => (Some(subject.to_owned()), None),
        },
    })
}

impl EventChoice {
    fn filter(&self) -> Result<EventFilter, ApiError> {
        let names = self.event.iter().flat_map(|names| names.split(','));
        let events = names.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
        let (subject_kind, subject_id) = subject(self.subject.as_deref())?;
        Ok(EventFilter { events, subject_kind, subject_id })
    }
}

fn takes(filter: &EventFilter, numbered: &NumberedEvent) -> bool {
    let event = &numbered.event;
    (filter.events.is_empty() || filter.events.contains(&event.event))
        && filter.subject_kind.as_ref().is_none_or(|kind| *kind == event.subject_kind)
        && filter.subject_id.is_none_or(|id| id == event.subject_id)
}

async fn list(State(app): State<EventHandles>, Query(query): Query<EventQuery>) -> Result<Plain<EventPage>, ApiError> {
    let EventQuery { filter: choice, limit } = query;
    let after = choice.after.unwrap_or(0);
    // The number of now is read anew: an event may be on disk that is not published yet.
    if app.outbox.is_undone(after) || (app.outbox.is_ahead(after) && after > app.queries.last_seq().await?) {
        return Err(Refusal::new(Class::Gone, "cursor_ahead", CURSOR_AHEAD).into());
    }
    let events = app.queries.events_after(after, &choice.filter()?, limit).await?;
    let next = events.last().map_or(after, |event| event.seq);
    Ok(Plain(EventPage { events: events.iter().map(EventView::from).collect(), next }))
}

/// Streams events after `Last-Event-ID` or `after`, or only new events if neither is set. If events after the cursor
/// are no longer available, the stream begins with a `reset` event.
async fn stream(
    State(app): State<EventHandles>,
    who: Caller,
    Query(choice): Query<EventChoice>,
    LastEventId(last_event_id): LastEventId,
) -> Result<Media<EventStreamMedia>, ApiError> {
    let filter = choice.filter()?;
    let cursor = last_event_id.or(choice.after);
    let now = *app.outbox.last().borrow();
    let mut queue = VecDeque::new();
    let after = match cursor {
        Some(after) if !is_retained(&app, after, now).await? => {
            queue.push_back(sse::numbered_event(now, "reset", &json!({"after": now})));
            now
        }
        Some(after) => after,
        None => now,
    };
    let standing = StreamPermission::new(app.stream.clone(), who);
    let follower = app.outbox.followers.add("stream", after);
    let events = EventFollower::new(&app.outbox, &app.store, after);
    let reader = EventReader { standing, follower, filter, events, queue, ended: false };
    Ok(Media::new(Sse::new(reader).retry_after(RECONNECT_MILLIS)))
}

/// Returns whether the cursor `after` was ever issued and all events after it are still available.
async fn is_retained(app: &EventHandles, after: i64, now: i64) -> Result<bool, ApiError> {
    if after > now || after < 0 || app.outbox.is_undone(after) {
        return Ok(false);
    }
    if after == now || app.outbox.after(after, 1).is_some() {
        return Ok(true);
    }
    let (first, _) = app.queries.event_range().await?;
    Ok(after + 1 >= first)
}

/// Open event stream with its pending output.
struct EventReader {
    standing: StreamPermission,
    follower: Follower,
    filter: EventFilter,
    events: EventFollower,
    /// Pending output.
    queue: VecDeque<String>,
    /// `true` if no more events can be read.
    ended: bool,
}

impl SseSource for EventReader {
    fn may_continue(&mut self) -> bool {
        // Sign-out, expiry, revocation and a change of role end the stream, whatever is still to be read.
        self.standing.holds()
    }

    async fn due(&mut self) -> Option<String> {
        if self.ended { None } else { Some(self.queue.pop_front().unwrap_or_default()) }
    }

    async fn wait(&mut self) {
        tokio::select! {
            biased; // the access is checked again before each event
            read = self.events.next(EVENTS_PER_READ) => match read {
                Ok(Some(read)) => self.write(&read),
                Ok(None) => self.ended = true,
                Err(error) => {
                    tracing::warn!(%error, "cannot read events; closing an event stream");
                    self.ended = true;
                }
            },
            () = self.standing.again() => {}
        }
    }
}

impl EventReader {
    fn write(&mut self, read: &[Arc<NumberedEvent>]) {
        self.follower.has_read(self.events.position());
        for numbered in read.iter().filter(|numbered| takes(&self.filter, numbered)) {
            match serde_json::to_string(&EventView::from(&**numbered)) {
                Ok(data) => self.queue.push_back(sse::numbered_event(numbered.seq, &numbered.event.event, &data)),
                Err(error) => tracing::error!(%error, seq = numbered.seq, "an event cannot be serialized"),
            }
        }
    }
}
