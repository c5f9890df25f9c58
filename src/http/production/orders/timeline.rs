//! What happened to an order, as it is shown.

use api_derive::Response;
use serde::Serialize;
use serde_json::{Value, json};

use crate::domain::event::Numbered;
use crate::domain::id::Id;
use crate::domain::time::Timestamp;
use crate::http::wire::{JsonObject, Viewed};

fn example() -> Value {
    let order = super::EXAMPLE_ID;
    json!({
        "id": "01890a5d-ac96-774b-bcce-b302099a8072", "seq": 4711, "event": "order.paid",
        "timestamp": "2026-11-02T10:00:00.000Z", "subject": {"kind": "order", "id": order}, "actor": "machine",
        "data": {"orderId": order, "number": "ORD-000123", "status": "paid", "totalCents": 2500, "currency": "usd"},
    })
}

/// Something that happened.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Event", example = example())]
pub struct EventView<'a> {
    /// Also the `id` of what endpoints are sent.
    id: Id,
    /// Its place in the order in which events became durable.
    seq: i64,
    /// What happened: `order.paid`, `job.failed`, ...
    event: &'a str,
    timestamp: Timestamp,
    subject: Subject<'a>,
    /// Who did it.
    actor: &'a str,
    /// Facts about it, which differ from event to event.
    data: JsonObject<&'a Value>,
}

/// What an event happened to.
#[derive(Response, Serialize)]
#[api(name = "EventSubject", example = json!({"kind": "order", "id": super::EXAMPLE_ID}))]
struct Subject<'a> {
    /// `order`, `job`, `material`, `printer` or `endpoint`.
    kind: &'a str,
    id: Id,
}

impl<'a> EventView<'a> {
    /// The view of an event.
    pub fn new(numbered: &'a Numbered) -> Self {
        let event = &numbered.event;
        Self {
            id: event.id,
            seq: numbered.seq,
            event: &event.event,
            timestamp: event.timestamp,
            subject: Subject { kind: &event.subject_kind, id: event.subject_id },
            actor: &event.actor,
            data: JsonObject(&event.data),
        }
    }
}

/// Everything that happened to an order.
#[derive(Response, Serialize)]
#[api(name = "Timeline", example = json!({"timeline": [example()]}))]
pub struct TimelineView<'a> {
    /// Oldest first.
    timeline: Vec<EventView<'a>>,
}

/// The events of an order, oldest first.
pub struct Timeline(pub Vec<Numbered>);

impl Viewed for Timeline {
    type View<'a> = TimelineView<'a>;
    fn view(&self) -> Option<TimelineView<'_>> {
        Some(TimelineView { timeline: self.0.iter().map(EventView::new).collect() })
    }
}
