//! What happened: outbox rows, numbered by the writer in commit order.

use crate::domain::aggregate::DecisionContext;
use crate::domain::id::Id;
use crate::domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The events that programs may subscribe to (production spec §6), in the order of its table.
pub const OUTBOUND: [&str; 10] = [
    "order.created",
    "order.paid",
    "order.printing",
    "order.ready",
    "order.shipped",
    "order.cancelled",
    "job.failed",
    "job.completed",
    "inventory.low",
    "printer.offline",
];

/// The test event of an endpoint (decisions §8); never stored in the outbox.
pub const TEST: &str = "webhook.test";

/// Something that happened, as the rules say it; the writer adds `seq`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// The envelope's id on every delivery.
    pub id: Id,
    /// `order.created`, `job.failed`, …; see [`OUTBOUND`] for those that leave the house.
    pub event: String,
    /// When it was decided.
    pub timestamp: Timestamp,
    /// The kind of thing it happened to (`order`, `job`, `material`, `printer`, `endpoint`).
    pub subject_kind: String,
    /// The thing it happened to.
    pub subject_id: Id,
    /// The order whose timeline shows it.
    pub order_id: Option<Id>,
    /// Who did it ([`crate::domain::principal::Principal`] as text).
    pub actor: String,
    /// Facts for programs; decisions §8 names the members for outbound events.
    pub data: Value,
}

impl Event {
    /// An event of now, by whoever asks.
    pub fn new(cx: &DecisionContext<'_>, event: &str, subject: (&str, Id), order_id: Option<Id>, data: Value) -> Self {
        Self {
            id: cx.ids.id(),
            event: event.to_owned(),
            timestamp: cx.now,
            subject_kind: subject.0.to_owned(),
            subject_id: subject.1,
            order_id,
            actor: cx.by.to_string(),
            data,
        }
    }
}

/// An event as it stands in the outbox.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Numbered {
    /// Position in commit order; no holes that fill later.
    pub seq: i64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}
