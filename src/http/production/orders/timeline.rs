//! What happened to an order, as it is shown. Customers see its own steps and which parts were printed.

use api_derive::Response;
use serde::Serialize;
use serde_json::{Value, json};

use super::Reader;
use crate::domain::event::Numbered;
use crate::domain::id::Id;
use crate::domain::time::Timestamp;
use crate::http::production::events::SubjectView;
use crate::http::wire::{OpenObject, Viewed};

/// The events that a customer sees of an order.
pub const CUSTOMER_STEPS: [&str; 10] = [
    "order.draft",
    "order.created",
    "order.payment_failed",
    "order.paid",
    "order.printing",
    "order.ready",
    "order.shipped",
    "order.cancelled",
    "order.refunded",
    PART_PRINTED,
];
/// A part of the order is done.
const PART_PRINTED: &str = "job.completed";

/// Members of an event's data that are the shop's own.
const OWN_TO_SHOP: [&str; 2] = ["printerId", "error"];

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
#[api(name = "TimelineEvent", many = "timeline", example = example())]
pub struct StepView<'a> {
    /// Also the `id` of what endpoints are sent.
    id: Id,
    /// Its place in the order in which events became durable.
    seq: i64,
    /// What happened: `order.paid`, `job.failed`, ...
    event: &'a str,
    timestamp: Timestamp,
    subject: SubjectView,
    /// Who did it. Customers read `shop` for whoever works there.
    actor: &'a str,
    /// Facts about it, which differ from event to event.
    data: OpenObject<'a>,
}

/// An event of an order, and who reads it.
pub struct StepFor(Numbered, Reader);

impl StepFor {
    /// The event as this reader may see it: customers learn neither who works in the shop nor where a part was made.
    pub fn new(mut step: Numbered, reader: Reader) -> Self {
        if reader == Reader::Customer
            && let Some(data) = step.event.data.as_object_mut()
        {
            data.retain(|member, _| !OWN_TO_SHOP.contains(&member.as_str()));
        }
        Self(step, reader)
    }
}

impl Viewed for StepFor {
    type View<'a> = StepView<'a>;
    fn view(&self) -> Option<StepView<'_>> {
        let Self(Numbered { seq, event }, reader) = self;
        let named = matches!(event.actor.as_str(), "system" | "payments");
        Some(StepView {
            id: event.id,
            seq: *seq,
            event: &event.event,
            timestamp: event.timestamp,
            subject: event.into(),
            actor: if *reader == Reader::Staff || named { &event.actor } else { "shop" },
            data: OpenObject(&event.data),
        })
    }
}
