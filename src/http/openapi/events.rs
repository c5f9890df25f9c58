//! What happened (decisions §7).

use super::operation::{Named, Operation, Resource, get};
use super::shape::{Shape, has, id, list, named, object, open_object, text, time, whole};
use serde_json::{Value, json};

/// The id that examples use for an event.
pub(super) const EXAMPLE: &str = "01890a5d-ac96-774b-bcce-b302099a8072";

pub(super) fn resource() -> Resource {
    Resource {
        tag: "Events",
        about: "What happened, numbered in the order in which it became durable. Kept for 30 days.",
        thing: "event",
        shapes: vec![Named { name: "Event", shape: shape(), example: event_example() }],
        operations: vec![
            filters(get("/api/events", "listEvents", "Read events by cursor"))
                .about("Oldest first; `next` is the `after` of the next call.")
                .limited()
                .answers(
                    object([has("events", list(named("Event"))), has("next", whole(..))]),
                    json!({"events": [event_example()], "next": 4711}),
                ),
            filters(get("/api/events/stream", "streamEvents", "Follow events"))
                .about("Server-sent events, each with its number as `id` and the event as `data`; a cursor that is no longer kept \
                        gets a `reset`. Ends when the key or session does.")
                .header("Last-Event-ID", whole(..), "The last number that was received; without it, from now on.")
                .sends("text/event-stream", Some("id: 4711\nevent: order.paid\ndata: {\"seq\":4711}\n\n")),
        ],
    }
}

fn filters(operation: Operation) -> Operation {
    operation
        .query("after", whole(..), "Those after this number.")
        .query("event", text(), "Of these kinds, joined by commas.")
        .query("subject", text(), "Of this thing: `kind:id`, an id, or a kind.")
}

fn shape() -> Shape {
    object([
        has("id", id().about("Also the `id` of what endpoints are sent.")),
        has("seq", whole(0..)),
        has("event", text().about("`order.paid`, `job.failed`, ...")),
        has("timestamp", time()),
        has("subject", object([has("kind", text()), has("id", id())])),
        has("actor", text().about("Caller did it.")),
        has("data", open_object()),
    ])
}

pub(super) fn event_example() -> Value {
    let order = crate::http::production::orders::EXAMPLE_ID;
    json!({
        "id": EXAMPLE, "seq": 4711, "event": "order.paid", "timestamp": "2026-11-02T10:00:00.000Z",
        "subject": {"kind": "order", "id": order}, "actor": "machine",
        "data": {"orderId": order, "number": "ORD-000123", "status": "paid", "totalCents": 2500, "currency": "usd"},
    })
}
