//! Payload of events about late orders.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::{EventData, EventKind, OrderData, order_example};
use crate::time::Timestamp;

/// Data for an event about an order that will not be ready in time.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderLateEventData", example = order_example(json!({
    "status": "printing", "promisedAt": "2026-11-03T17:00:00.000Z", "dueAt": null,
    "expectedAt": "2026-11-05T10:00:00.000Z",
    "message": "promised for 3 Nov 2026 17:00, now expected 5 Nov 2026 10:00",
    "remedy": "Load PLA black into Ada 2: the order is then expected 3 Nov 2026 16:40.",
})))]
pub struct OrderLateData {
    #[serde(flatten)]
    pub(crate) order: OrderData,
    /// Completion time promised to the customer.
    pub(crate) promised_at: Timestamp,
    /// Requested completion date, if any; otherwise null.
    pub(crate) due_at: Option<Timestamp>,
    /// Expected completion time when the event occurred; null if it could not be forecast.
    pub(crate) expected_at: Option<Timestamp>,
    /// Human-readable description of the delay, with times in the shop's time zone.
    pub(crate) message: String,
    /// Human-readable action that, as of the time of the event, would have made the order ready on time, or a note
    /// that no single action would have, with times in the shop's time zone. Null if it was not determined.
    pub(crate) remedy: Option<String>,
}
carried_by! { OrderLateData:
    "order.late",
    "An order is expected after its promised time or its due date, whichever is earlier, or that time has passed. Sent \
     once, and again if the order is on time in between.";
}
