//! Events: outbox rows, numbered by the writer in commit order.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::decision_context::DecisionContext;
use crate::id::Id;
use crate::time::Timestamp;

pub mod data;
#[cfg(test)]
mod tests;

use data::EventData;

/// Retention period for events and for each endpoint's deliveries, in days. After that, they can be neither read nor
/// replayed.
pub const RETENTION_DAYS: i64 = 30;

/// Declares the events that programs may subscribe to, with their names.
macro_rules! outbound {
    ($($event:ident = $word:literal,)+) => {
        /// Event that programs may subscribe to.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
        #[expect(missing_docs, reason = "each event's data states when it is sent")]
        pub enum OutboundEvent {
            $(#[serde(rename = $word)] $event,)+
        }

        /// Names of the events that programs may subscribe to.
        pub const OUTBOUND: [&str; OutboundEvent::ALL.len()] = [$($word),+];

        impl OutboundEvent {
            /// All events that programs may subscribe to.
            pub const ALL: &[Self] = &[$(Self::$event,)+];

            /// Returns the event's name in payloads and in the API.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$event => $word,)+ }
            }

            /// Returns the name of the event's payload schema in the OpenAPI document, such as `OrderPaidEvent`.
            pub const fn schema_name(self) -> &'static str {
                match self { $(Self::$event => concat!(stringify!($event), "Event"),)+ }
            }
        }
    };
}
outbound! {
    OrderCreated = "order.created",
    OrderPaid = "order.paid",
    OrderPrinting = "order.printing",
    OrderReady = "order.ready",
    OrderLate = "order.late",
    OrderShipped = "order.shipped",
    OrderCancelled = "order.cancelled",
    JobFailed = "job.failed",
    JobCompleted = "job.completed",
    InventoryLow = "inventory.low",
    PrinterOffline = "printer.offline",
    ShopRestored = "shop.restored",
}

impl OutboundEvent {
    /// Returns the event with the given name, if any.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|event| event.word() == word)
    }
}

/// Event with the same payload as `inventory.low`, sent only to workflow automation.
pub const LOW_STOCK: &str = "LOW_STOCK";

/// Test event of an endpoint, which is sent to that endpoint alone and never stored in the outbox.
pub const TEST: &str = "webhook.test";

/// Event produced by the rules; the writer adds its `seq`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Identifier of the event, used as the envelope's ID on every delivery.
    pub id: Id,
    /// Name of the event, such as `order.created` or `job.failed`; [`OUTBOUND`] lists those delivered externally.
    pub event: String,
    /// Time of the decision.
    pub timestamp: Timestamp,
    /// Kind of the aggregate that the event is about: `order`, `job`, `material`, `printer`, `endpoint`.
    pub subject_kind: String,
    /// ID of the aggregate that the event is about.
    pub subject_id: Id,
    /// Order whose timeline shows the event.
    pub order_id: Option<Id>,
    /// Principal that caused the event ([`crate::principal::Principal`] as text).
    pub actor: String,
    /// Machine-readable payload: one of the structs in [`data`].
    pub data: Value,
}

impl Event {
    /// Creates an event with the decision's time and principal.
    pub fn new<D: EventData>(
        cx: &DecisionContext<'_>,
        event: &str,
        subject: (&str, Id),
        order_id: Option<Id>,
        data: &D,
    ) -> Self {
        debug_assert!(D::KINDS.iter().any(|kind| kind.name == event), "{event} does not carry this data");
        Self {
            id: cx.ids.id(),
            event: event.to_owned(),
            timestamp: cx.now,
            subject_kind: subject.0.to_owned(),
            subject_id: subject.1,
            order_id,
            actor: cx.by.to_string(),
            // Structs of plain members are always written.
            data: serde_json::to_value(data).unwrap_or_default(),
        }
    }
}

/// Event as stored in the outbox.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NumberedEvent {
    /// Position in commit order; gaps are never filled later.
    pub seq: i64,
    /// Event produced by the rules.
    #[serde(flatten)]
    pub event: Event,
}
