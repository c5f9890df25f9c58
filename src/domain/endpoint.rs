//! A webhook endpoint: a cursor into the outbox, its deliveries, their retries (production spec §6, decisions §8).

use crate::domain::id::Id;
use crate::domain::time::Timestamp;
use serde::{Deserialize, Serialize};

mod decide;
pub mod envelope;
mod replay;
#[cfg(test)]
mod tests;
mod window;

pub use replay::Replaying;

/// Most deliveries held in memory; the backlog stays in rows.
pub const WINDOW: usize = 32;

/// Where a delivery stands; `sending` is a pending one that is in the window and under way, shown by reads only.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// To be sent at `next_at`.
    Pending,
    /// Answered 2xx.
    Delivered,
    /// Given up: five retries failed.
    Failed,
    /// Its endpoint was deleted.
    Cancelled,
}

/// One event for one endpoint; unique by (endpoint, event, replay).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// Identifier: `X-Service-Delivery`.
    pub id: Id,
    /// To whom.
    pub endpoint_id: Id,
    /// What: the envelope's id, `webhook-id`.
    pub event_id: Id,
    /// Its position in the outbox (0 for a test event).
    pub event_seq: i64,
    /// `order.paid`, …
    pub event: String,
    /// 0 first; redeliveries and replays carry the endpoint's next replay number ([`Endpoint::replays`]).
    pub replay: u32,
    /// The exact bytes of every attempt.
    pub body: String,
    /// Where it stands.
    pub state: DeliveryState,
    /// Attempts so far.
    pub attempts: u32,
    /// Not before.
    pub next_at: Timestamp,
    /// Status of the last answer.
    pub last_status: Option<u16>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// At most 1 KiB of the last answer.
    pub last_excerpt: Option<String>,
    /// How long it took, milliseconds.
    pub last_duration_ms: Option<i64>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last tried.
    pub attempted_at: Option<Timestamp>,
}

/// Whether an endpoint is sent to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndpointState {
    /// Is sent to.
    Active,
    /// Five retries of a delivery failed; holds its events as pending until enabled.
    Disabled,
}

/// An endpoint. `window` is skipped by serde: the next due deliveries; a load calls [`Endpoint::hydrate`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    /// Identifier.
    pub id: Id,
    /// Delivery target.
    pub url: String,
    /// Event kinds.
    pub events: Vec<String>,
    /// Sealed.
    pub encrypted_secret: String,
    /// Sealed former secret, signs beside the new one until this time.
    pub former: Option<(String, Timestamp)>,
    /// Whether it is sent to.
    pub state: EndpointState,
    /// Why it was disabled.
    pub disabled_reason: Option<String>,
    /// All events up to this number are turned into deliveries.
    pub cursor: i64,
    /// Pending deliveries beyond the window may exist in rows.
    pub backlog: bool,
    /// Redeliveries and replays so far: makes (endpoint, event, replay) unique.
    #[serde(default)]
    pub replays: u32,
    /// Past events that are being sent again.
    #[serde(default)]
    pub replaying: Option<Replaying>,
    /// When it was last enabled: pending deliveries last tried before count their attempts anew.
    #[serde(default)]
    pub anew_at: Option<Timestamp>,
    /// Deleted: its log stays.
    pub archived: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The next due deliveries, at most [`WINDOW`].
    #[serde(skip)]
    pub window: rpds::RedBlackTreeMapSync<Id, Delivery>,
    /// Which deliveries left the window since the last refill, so that one read before they left is not taken for news.
    #[serde(skip)]
    left: rpds::RedBlackTreeSetSync<Id>,
}

/// An event of the outbox that an endpoint subscribed to, with its envelope.
#[derive(Clone, PartialEq, Debug)]
pub struct Due {
    /// Envelope id.
    pub event_id: Id,
    /// Position.
    pub seq: i64,
    /// Kind.
    pub event: String,
    /// Envelope bytes.
    pub body: String,
}

/// What is asked of an endpoint.
#[derive(Clone, Debug)]
pub enum EndpointCommand {
    /// Registers it; follows the outbox from here.
    Create {
        /// Target; the edge has checked it.
        url: String,
        /// Kinds; checked.
        events: Vec<String>,
        /// Sealed secret.
        encrypted_secret: String,
        /// The last event of now.
        cursor: i64,
    },
    /// Changes target or kinds.
    Update {
        /// Refused as stale when the version differs.
        if_version: Option<i64>,
        /// Absent = stays.
        url: Option<String>,
        /// Absent = stays.
        events: Option<Vec<String>>,
    },
    /// Deletes it: pending deliveries are cancelled, those of the backlog as refills bring them; the log stays.
    Archive,
    /// Sends again, counts anew, also what was held while disabled.
    Enable,
    /// A new secret; the old one signs beside it for 24 h.
    Rotate {
        /// Sealed.
        encrypted_secret: String,
    },
    /// The outbox up to `upto`, with those of our kinds.
    Follow {
        /// All events up to here were looked at.
        upto: i64,
        /// Those subscribed to.
        due: Vec<Due>,
    },
    /// Pending rows, earliest `next_at` first, at least one more than [`WINDOW`] of them where there are as many (rows of the
    /// window may be among them); `more` when there are others.
    Refilled {
        /// Rows.
        rows: Vec<Delivery>,
        /// There are others.
        more: bool,
    },
    /// An attempt ended.
    Tried {
        /// Which delivery.
        delivery: Id,
        /// Which attempt of it (1, 2, …), so that a repeat is recognised.
        number: u32,
        /// 2xx.
        ok: bool,
        /// Status, if any.
        status: Option<u16>,
        /// Why it failed.
        error: Option<String>,
        /// At most 1 KiB.
        excerpt: Option<String>,
        /// Milliseconds.
        duration_ms: i64,
    },
    /// A test event (`webhook.test`) with these bytes; it follows the ordinary schedule.
    Test(Due),
    /// One past delivery again, as a new delivery with the next replay number.
    Redeliver(Box<Delivery>),
    /// Past events again, 409 while another replay is under way.
    Replay {
        /// Those first sent since then.
        since: Timestamp,
        /// How many there are, for the answer.
        count: u32,
    },
    /// The next part of what a replay sends again.
    Replayed {
        /// What was looked at before, so that a repeat is recognised.
        after: Option<(Timestamp, Id)>,
        /// First deliveries of events, oldest first.
        past: Vec<Delivery>,
        /// There are no more.
        end: bool,
    },
}

/// What an endpoint answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum EndpointAnswer {
    /// The endpoint after the change.
    Endpoint(Box<Endpoint>),
    /// The delivery that was made.
    Delivery(Box<Delivery>),
    /// How many were made.
    Count(u32),
    /// Done, or already done.
    Done,
}

/// Outside work of an endpoint.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum EndpointEffect {
    /// Watch the outbox beyond the cursor.
    Follow {
        /// From here.
        cursor: i64,
    },
    /// Bring the next pending rows into memory ([`EndpointCommand::Refilled`]); of a deleted endpoint, to cancel them.
    Refill,
    /// Bring the next part of what is sent again ([`EndpointCommand::Replayed`]).
    Replay(Replaying),
    /// Send.
    Deliver {
        /// Which delivery.
        delivery: Id,
        /// Which attempt of it.
        number: u32,
        /// Not before.
        at: Timestamp,
    },
}
