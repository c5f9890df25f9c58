//! A webhook endpoint: a URL of a customer's program to which events are delivered, and its deliveries.
//!
//! An endpoint follows the outbox, the numbered log of all events, by a cursor. Moving the cursor and making the
//! deliveries for the subscribed events is one commit, so that each event is delivered at least once and none is
//! skipped. A delivery that fails is retried by a fixed schedule; when the last retry fails, the endpoint is disabled
//! and keeps its events until an operator enables it.
//!
//! `decide` has the rules, `window` the deliveries in memory, `replay` sends past events again, `envelope` makes the
//! body.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::id::Id;
use crate::domain::time::Timestamp;

mod decide;
pub mod envelope;
mod replay;
#[cfg(test)]
mod tests;
mod window;

pub use replay::Replaying;

/// Number of pending deliveries of an endpoint held in memory; further ones are the backlog, which stays in the
/// database.
pub const DELIVERY_WINDOW: usize = 32;

/// The state of a delivery. The API also shows `sending`: a pending delivery whose attempt is under way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// To be sent at `next_at`.
    Pending,
    /// The endpoint answered with a status 2xx.
    Delivered,
    /// Given up after its last retry failed. Sent again when the endpoint, which is disabled by it, is enabled.
    Failed,
    /// Given up because its endpoint was deleted.
    Cancelled,
}

/// The delivery of one event to one endpoint, with all its attempts. Unique by endpoint, event and replay number, so
/// that the same event is never delivered twice by mistake.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// Identifier of the delivery, sent as `X-Service-Delivery`.
    pub id: Id,
    /// The endpoint to deliver to.
    pub endpoint_id: Id,
    /// The event, in the envelope and sent as `webhook-id`; equal on every redelivery, so that receivers recognise
    /// repeats.
    pub event_id: Id,
    /// The event's number in the outbox; 0 for a test event, which is not in it.
    pub event_seq: i64,
    /// Type of the event, such as `order.paid`.
    pub event: String,
    /// 0 for the first delivery of an event; a redelivery or replay carries the number that [`Endpoint::replays`] had
    /// then.
    pub replay: u32,
    /// The body of every attempt, byte for byte.
    pub body: String,
    /// Where the delivery stands.
    pub state: DeliveryState,
    /// Number of attempts made; set back to 0 when a disabled endpoint is enabled.
    pub attempts: u32,
    /// When the next attempt is due.
    pub next_at: Timestamp,
    /// HTTP status of the last attempt; `None` if there was no answer.
    pub last_status: Option<u16>,
    /// Why the last attempt failed, in words for people; `None` if it did not.
    pub last_error: Option<String>,
    /// The beginning of the last answer's body, at most 1 KiB.
    pub last_excerpt: Option<String>,
    /// Duration of the last attempt in milliseconds.
    pub last_duration_ms: Option<i64>,
    /// When the delivery was made.
    pub created_at: Timestamp,
    /// When it was last attempted; `None` before the first attempt. Never before the moment at which the endpoint was
    /// last enabled, even when the wall clock was set back.
    pub attempted_at: Option<Timestamp>,
}

impl Delivery {
    /// The longest time until the next attempt by the schedule of `retries` and its `jitter`, all in
    /// milliseconds. The wall clock may be set back after `next_at` was chosen; nothing waits longer for that.
    pub fn longest_wait(&self, retries: &[i64], jitter: i64) -> Duration {
        let Some(failed) = self.attempts.checked_sub(1) else {
            return Duration::ZERO;
        };
        // A schedule that was shortened meanwhile has no such retry: its longest counts.
        let retry = retries.get(failed as usize).or_else(|| retries.iter().max()).copied().unwrap_or(0);
        Duration::from_millis(retry.saturating_add(jitter).unsigned_abs())
    }
}

/// Whether deliveries are sent to an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndpointState {
    /// Deliveries are sent as they become due.
    Active,
    /// All retries of a delivery failed, or somebody paused it: nothing is sent, and new events wait as pending
    /// deliveries until somebody enables it.
    Disabled,
}

/// A webhook endpoint: where events are sent, which of them, and how far it is.
///
/// Invariants: every subscribed event up to `cursor` has its delivery; `window` holds the pending deliveries that are
/// due next, and all pending deliveries if `backlog` is false. The window is not part of the serialized endpoint:
/// [`Endpoint::hydrate`] fills it after a load.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    /// Identifier of the endpoint.
    pub id: Id,
    /// Counts the changes that people made, from 1; shown as the endpoint's version and compared with `If-Match`.
    #[serde(default)]
    pub revision: i64,
    /// The URL that deliveries are posted to.
    pub url: String,
    /// The types of event that it subscribes to.
    pub events: Vec<String>,
    /// The signing secret, encrypted with `SECRETS_KEY`.
    pub encrypted_secret: String,
    /// The previous secret, encrypted, and until when it signs beside the new one; so receivers can change over
    /// without a gap.
    pub former: Option<(String, Timestamp)>,
    /// Whether deliveries are sent.
    pub state: EndpointState,
    /// Why it was disabled, in words for people; `None` while active.
    pub disabled_reason: Option<String>,
    /// The number of the last outbox event that was considered for this endpoint.
    pub cursor: i64,
    /// Whether pending deliveries besides those of the window may be in the database.
    pub backlog: bool,
    /// Number of redeliveries and replays so far.
    #[serde(default)]
    pub replays: u32,
    /// The replay under way; `None` if there is none.
    #[serde(default)]
    pub replaying: Option<Replaying>,
    /// When it was last enabled. A pending delivery that was last attempted before counts its attempts anew. Later than
    /// every attempt before it, even when the wall clock was set back.
    #[serde(default)]
    pub anew_at: Option<Timestamp>,
    /// The latest moment of an attempt.
    #[serde(default)]
    pub tried_at: Option<Timestamp>,
    /// The delivery whose last retry failed and so disabled the endpoint; enabling sends it again. `None` while active,
    /// and while somebody has paused it.
    #[serde(default)]
    pub disabled_by: Option<Box<Delivery>>,
    /// Whether it was deleted; the delivery log stays.
    pub archived: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed by an operator or was disabled.
    pub updated_at: Timestamp,
    /// The pending deliveries that are due next, at most [`DELIVERY_WINDOW`].
    #[serde(skip)]
    pub window: rpds::RedBlackTreeMapSync<Id, Delivery>,
    /// Deliveries that left the window since the last refill. A refill that was read before they left must not bring
    /// them back.
    #[serde(skip)]
    left: rpds::RedBlackTreeSetSync<Id>,
    /// Whether more left than `left` remembers: then the next refill is not to be trusted, and is read again.
    #[serde(skip)]
    left_overflowed: bool,
    /// Counts the refills since the endpoint was loaded, so that each is an effect of its own and a late one is
    /// recognised.
    #[serde(skip)]
    refills: u32,
}

/// An event of the outbox that an endpoint subscribed to.
#[derive(Clone, PartialEq, Debug)]
pub struct Due {
    /// Identifier of the event.
    pub event_id: Id,
    /// Number of the event in the outbox.
    pub seq: i64,
    /// Type of the event.
    pub event: String,
    /// The envelope to send, byte for byte.
    pub body: String,
}

/// What can be asked of an endpoint.
#[derive(Clone, Debug)]
pub enum EndpointCommand {
    /// Registers the endpoint; it receives the events after `cursor`.
    Create {
        /// Target URL; the edge has checked that it may be sent to.
        url: String,
        /// Types of event, at least one, each known and named once.
        events: Vec<String>,
        /// The secret that deliveries are signed with, encrypted.
        encrypted_secret: String,
        /// The number of the newest event in the outbox.
        cursor: i64,
    },
    /// Edits target and types; `None` leaves a member as it is.
    Update {
        /// The version that the caller read; refused with 412 if the endpoint has changed since.
        if_version: Option<i64>,
        /// New target URL, checked by the edge.
        url: Option<String>,
        /// New types of event.
        events: Option<Vec<String>>,
    },
    /// Deletes the endpoint. Its pending deliveries are cancelled, those of the backlog as refills bring them in; the
    /// log stays.
    Archive,
    /// Enables the endpoint: sends again, also what was kept while it was disabled, with attempts counted anew.
    Enable,
    /// Disables the endpoint until somebody enables it: nothing is sent meanwhile, and its events are kept.
    Disable,
    /// Sets a new signing secret; the old one signs beside it for 24 hours.
    Rotate {
        /// Takes the place of the present secret, which stays valid for 24 hours.
        encrypted_secret: String,
    },
    /// Moves the cursor on and makes deliveries for the events passed.
    Follow {
        /// The number up to which events were considered.
        upto: i64,
        /// The events among them that the endpoint subscribed to.
        due: Vec<Due>,
    },
    /// Brings pending deliveries from the database, earliest `next_at` first. They must be more than
    /// [`DELIVERY_WINDOW`] if there are as many, because deliveries of the window may be among them.
    Refilled {
        /// Number of the refill, from its effect; one that comes late changes nothing.
        number: u32,
        /// The deliveries that were read, in the order in which they are due.
        rows: Vec<Delivery>,
        /// Whether the database has further ones.
        more: bool,
    },
    /// The outcome of an attempt.
    Tried {
        /// The delivery that was attempted.
        delivery: Id,
        /// Number of the attempt, from 1; an outcome that is reported twice is recognised by it.
        number: u32,
        /// Whether the answer was a status 2xx.
        ok: bool,
        /// HTTP status; `None` if there was no answer.
        status: Option<u16>,
        /// Why it failed, in words for people.
        error: Option<String>,
        /// The beginning of the answer's body, at most 1 KiB.
        excerpt: Option<String>,
        /// How long the attempt took, in milliseconds.
        duration_ms: i64,
    },
    /// Sends a test event (`webhook.test`), with the ordinary retries.
    Test(Due),
    /// Delivers one past delivery again, as a new delivery.
    Redeliver(Box<Delivery>),
    /// Delivers past events again; refused with 409 while another replay is under way.
    Replay {
        /// Events whose first delivery was made from this moment on.
        since: Timestamp,
        /// Number of them, for the answer.
        count: u32,
    },
    /// The next part of the delivery log for the replay under way.
    Replayed {
        /// The position after which the part was read; a part that comes twice is recognised by it.
        after: Option<(Timestamp, Id)>,
        /// Deliveries of the log, oldest first.
        past: Vec<Delivery>,
        /// Whether this is the last part.
        end: bool,
    },
}

/// An endpoint's answer to a command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum EndpointAnswer {
    /// The endpoint after the change.
    Endpoint(Box<Endpoint>),
    /// The delivery that was made.
    Delivery(Box<Delivery>),
    /// The number of events that the replay covers.
    Count(u32),
    /// Done now, or done before.
    Done,
}

/// Work outside the endpoint that its state calls for. Each effect is repeated, also after a restart, until the state
/// no longer calls for it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum EndpointEffect {
    /// Watch the outbox for events after the cursor.
    Follow {
        /// The number of the last event considered.
        cursor: i64,
    },
    /// Read the next pending deliveries from the database, for [`EndpointCommand::Refilled`]; of a deleted endpoint,
    /// to cancel them.
    Refill {
        /// Counts refills, so that the next one is another effect and begins at once.
        number: u32,
    },
    /// Read the next part of the delivery log, for [`EndpointCommand::Replayed`].
    Replay(Replaying),
    /// Make one attempt of a delivery when it is due.
    Deliver {
        /// Its identifier; the delivery is in the window.
        delivery: Id,
        /// Number of the attempt.
        number: u32,
        /// When it is due.
        at: Timestamp,
    },
}
