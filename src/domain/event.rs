//! What happened: outbox rows, numbered by the writer in commit order.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::decision_context::DecisionContext;
use crate::domain::id::Id;
use crate::domain::time::Timestamp;

pub mod data;

use data::EventData;

/// How many days the log keeps an event, and each endpoint's deliveries. What is older can be neither read nor
/// replayed.
pub const RETENTION_DAYS: i64 = 30;

/// Declares the events that programs may subscribe to, with their words.
macro_rules! outbound {
    ($($event:ident = $word:literal,)+) => {
        /// An event that programs may subscribe to.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
        #[expect(missing_docs, reason = "when each is sent stands with its data")]
        pub enum OutboundEvent {
            $(#[serde(rename = $word)] $event,)+
        }

        /// The words of the events that programs may subscribe to.
        pub const OUTBOUND: [&str; OutboundEvent::ALL.len()] = [$($word),+];

        impl OutboundEvent {
            /// Every event that programs may subscribe to.
            pub const ALL: &[Self] = &[$(Self::$event,)+];

            /// As events and the API spell it.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$event => $word,)+ }
            }

            /// The name of what is sent, in the description of the API: `OrderPaidEvent`.
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
    OrderShipped = "order.shipped",
    OrderCancelled = "order.cancelled",
    JobFailed = "job.failed",
    JobCompleted = "job.completed",
    InventoryLow = "inventory.low",
    PrinterOffline = "printer.offline",
    ShopRestored = "shop.restored",
}

impl OutboundEvent {
    /// The event with this word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|event| event.word() == word)
    }
}

/// The event that tells workflow automation, and it alone, of what `inventory.low` tells.
pub const LOW_STOCK: &str = "LOW_STOCK";

/// The test event of an endpoint; it is sent to one endpoint alone and never stored in the outbox.
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
    /// The kind of aggregate it happened to (`order`, `job`, `material`, `printer`, `endpoint`).
    pub subject_kind: String,
    /// The aggregate it happened to.
    pub subject_id: Id,
    /// The order whose timeline shows it.
    pub order_id: Option<Id>,
    /// Who did it ([`crate::domain::principal::Principal`] as text).
    pub actor: String,
    /// Facts for programs: one of the structs of [`data`].
    pub data: Value,
}

impl Event {
    /// An event of now, by whoever asks.
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

/// An event as it stands in the outbox.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Numbered {
    /// Position in commit order; no holes that fill later.
    pub seq: i64,
    /// The event as the rules made it.
    #[serde(flatten)]
    pub event: Event,
}
