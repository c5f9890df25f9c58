//! Order timeline as shown in responses. Customers see the order's own steps and the printed parts.

use api_derive::Response;
use serde::Serialize;
use serde_json::{Value, json};

use crate::production::events::SubjectView;
use domain::event::NumberedEvent;
use domain::id::Id;
use domain::time::Timestamp;
use http::access::Caller;
use http::wire::{JsonObject, Viewed};

/// Order events visible to the customer.
pub const CUSTOMER_STEPS: [&str; 11] = [
    "order.draft",
    "order.created",
    "order.payment_failed",
    "order.paid",
    "order.printing",
    "order.ready",
    "order.part_shipped",
    "order.shipped",
    "order.cancelled",
    "order.refunded",
    PART_PRINTED,
];
/// Event sent when a job is completed, that is, when parts of the order have been printed.
const PART_PRINTED: &str = "job.completed";

/// Fields of the event data that are hidden from customers.
const OWN_TO_SHOP: [&str; 2] = ["printerId", "error"];
/// Actors, other than staff and the shop's programs, shown to customers by name.
const SPOKEN_OF: [&str; 2] = ["system", "payments"];

fn example() -> Value {
    let order = super::EXAMPLE_ID;
    json!({
        "id": "01890a5d-ac96-774b-bcce-b302099a8072", "seq": 4711, "event": "order.paid",
        "timestamp": "2026-11-02T10:00:00.000Z", "subject": {"kind": "order", "id": order}, "actor": "machine",
        "data": {"orderId": order, "number": "ORD-000123", "status": "paid", "totalCents": 2500, "currency": "usd"},
    })
}

/// Event in the history of an order or job, with its time and data.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "TimelineEvent", many = "timeline", example = example())]
pub struct StepView<'a> {
    /// ID of the event; also the `id` in webhook deliveries.
    id: Id,
    /// Sequence number, in the order in which events were committed.
    seq: i64,
    /// Name of the event, such as `order.paid` or `job.failed`.
    event: &'a str,
    /// Time at which the event happened.
    timestamp: Timestamp,
    /// Order or job that the event is about.
    subject: SubjectView,
    /// Actor that caused the event. Customers see `customer` for themselves and `shop` for the shop's staff.
    actor: &'a str,
    /// Event data, which depends on the event type.
    data: JsonObject<&'a Value>,
}

/// Event on an order's timeline, filtered for its reader.
pub struct StepFor(NumberedEvent);

impl StepFor {
    /// Builds the step as seen by a caller. Customers cannot see which member of staff acted or on which printer a part
    /// was made.
    pub fn new(mut step: NumberedEvent, who: &Caller) -> Self {
        if who.is_customer() {
            let event = &mut step.event;
            if let Some(data) = event.data.as_object_mut() {
                data.retain(|member, _| !OWN_TO_SHOP.contains(&member.as_str()));
            }
            if event.actor == who.by.to_string() {
                "customer".clone_into(&mut event.actor);
            } else if !SPOKEN_OF.contains(&event.actor.as_str()) {
                "shop".clone_into(&mut event.actor);
            }
        }
        Self(step)
    }
}

impl Viewed for StepFor {
    type View<'a> = StepView<'a>;
    fn view(&self) -> Option<StepView<'_>> {
        let Self(NumberedEvent { seq, event }) = self;
        Some(StepView {
            id: event.id,
            seq: *seq,
            event: &event.event,
            timestamp: event.timestamp,
            subject: event.into(),
            actor: &event.actor,
            data: JsonObject(&event.data),
        })
    }
}
