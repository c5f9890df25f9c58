//! Webhook endpoint: a URL that events are delivered to, with its deliveries.
//!
//! An endpoint follows the outbox, the numbered log of all events, with a cursor. One commit both moves the cursor and
//! creates the deliveries for the subscribed events, so that every event is delivered at least once. A failed delivery
//! is retried on a fixed schedule; when the last retry fails, the endpoint is disabled, and its events stay pending
//! until an operator enables it.
//!
//! `decide` contains the rules, `window` the in-memory deliveries; `replay` sends past events again, and `envelope`
//! builds the body.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::time::Timestamp;

mod decide;
pub mod envelope;
mod news;
mod replay;
#[cfg(test)]
mod tests;
mod window;

pub use replay::ReplayProgress;

/// Number of an endpoint's pending deliveries held in memory; the rest form the backlog, which stays in the database.
pub const DELIVERY_WINDOW: usize = 32;

/// State of a delivery. The API also shows `sending`: a pending delivery whose attempt is in flight.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// Pending: due at `next_at`.
    Pending,
    /// Delivered: the endpoint responded with a 2xx status.
    Delivered,
    /// Failed: the last retry failed, which also disabled the endpoint. Sent again when the endpoint is enabled.
    Failed,
    /// Cancelled because its endpoint was deleted.
    Cancelled,
}

/// Delivery of one event to one endpoint, with all its attempts. The combination of endpoint, event and replay number
/// is unique, which prevents accidental duplicates.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// Identifier of the delivery, sent as `X-Service-Delivery`.
    pub id: Id,
    /// Endpoint that the event is delivered to.
    pub endpoint_id: Id,
    /// Event ID, included in the envelope and sent as `webhook-id`. It is the same for every redelivery, so that
    /// receivers can deduplicate.
    pub event_id: Id,
    /// Number of the event in the outbox; 0 for a test event, which is not in the outbox.
    pub event_seq: i64,
    /// Type of the event, such as `order.paid`.
    pub event: String,
    /// Replay number: 0 for the first delivery of an event; a redelivery or replay uses the value of
    /// [`Endpoint::replays`] at the time it was requested.
    pub replay: u32,
    /// Request body, identical byte for byte on every attempt.
    pub body: String,
    /// State of the delivery.
    pub state: DeliveryState,
    /// Number of attempts made; reset to 0 when a disabled endpoint is enabled.
    pub attempts: u32,
    /// Time at which the next attempt is due.
    pub next_at: Timestamp,
    /// HTTP status of the last attempt; `None` if there was no response.
    pub last_status: Option<u16>,
    /// Human-readable error of the last attempt; `None` if it succeeded.
    pub last_error: Option<String>,
    /// Start of the last response body, at most 1 KiB.
    pub last_excerpt: Option<String>,
    /// Duration of the last attempt in milliseconds.
    pub last_duration_ms: Option<i64>,
    /// Time at which the delivery was created.
    pub created_at: Timestamp,
    /// Time of the last attempt; `None` before the first attempt. Never earlier than the time at which the endpoint was
    /// last enabled, even if the wall clock was set back.
    pub attempted_at: Option<Timestamp>,
}

impl Delivery {
    /// Returns the longest possible wait until the next attempt, given the schedule `retries` and its `jitter`, both in
    /// milliseconds. It limits the wait even if the wall clock is set back after `next_at` was chosen.
    pub fn longest_wait(&self, retries: &[i64], jitter: i64) -> Duration {
        let Some(failed) = self.attempts.checked_sub(1) else {
            return Duration::ZERO;
        };
        // A schedule that was shortened meanwhile has no such retry: its longest counts.
        let retry = retries.get(failed as usize).or_else(|| retries.iter().max()).copied().unwrap_or(0);
        Duration::from_millis(retry.saturating_add(jitter).unsigned_abs())
    }
}

/// State of an endpoint, which determines whether deliveries are sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndpointState {
    /// Active: deliveries are sent as they become due.
    Active,
    /// Disabled because all retries of a delivery failed or an operator disabled the endpoint: nothing is sent, and new
    /// events become pending deliveries until an operator enables the endpoint.
    Disabled,
}

/// Webhook endpoint: its URL, its subscriptions and its progress.
///
/// Invariants: every subscribed event up to `cursor` has a delivery; `window` holds the next pending deliveries to
/// become due, or all pending deliveries if `backlog` is false. The window is not part of the serialized endpoint:
/// [`Endpoint::hydrate`] fills it after a load.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    /// Identifier of the endpoint.
    pub id: Id,
    /// Version, starting at 1, incremented only by changes made by users; compared with `If-Match`.
    #[serde(default)]
    pub revision: i64,
    /// URL that deliveries are posted to.
    pub url: String,
    /// Event types that the endpoint is subscribed to.
    pub events: Vec<String>,
    /// Starts of subscriptions that are ahead of `cursor`: for an event type that was added, the number of the latest
    /// event at that time. Earlier events of this type are not for the endpoint, whenever the cursor passes them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub subscribed_after: BTreeMap<String, i64>,
    /// Signing secret, encrypted with `SECRETS_KEY`.
    pub encrypted_secret: String,
    /// Previous secret, encrypted, with the time at which it expires. Until then, deliveries are also signed with it,
    /// so that receivers can rotate secrets without interruption.
    pub former: Option<(String, Timestamp)>,
    /// State, which determines whether deliveries are sent.
    pub state: EndpointState,
    /// Human-readable reason why the endpoint was disabled; `None` while active.
    pub disabled_reason: Option<String>,
    /// Number of the last outbox event that was processed for this endpoint.
    pub cursor: i64,
    /// `true` if the database may hold pending deliveries in addition to those in the window.
    pub backlog: bool,
    /// Number of redeliveries and replays so far.
    #[serde(default)]
    pub replays: u32,
    /// Replay in progress, if any.
    #[serde(default)]
    pub replaying: Option<ReplayProgress>,
    /// Time at which the endpoint was last enabled. The attempt count of a pending delivery whose last attempt was
    /// earlier is reset. Always later than every attempt made before the endpoint was enabled, even if the wall clock
    /// was set back.
    #[serde(default)]
    pub anew_at: Option<Timestamp>,
    /// Time of the latest attempt.
    #[serde(default)]
    pub tried_at: Option<Timestamp>,
    /// Delivery whose last failed retry disabled the endpoint; sent again when the endpoint is enabled. `None` while
    /// the endpoint is active or disabled by an operator.
    #[serde(default)]
    pub disabled_by: Option<Box<Delivery>>,
    /// `true` if the endpoint was deleted; its delivery log is kept.
    pub archived: bool,
    /// Time at which the endpoint was created.
    pub created_at: Timestamp,
    /// Time of the last change by an operator, or of the last failure that disabled the endpoint.
    pub updated_at: Timestamp,
    /// Pending deliveries that are due next, at most [`DELIVERY_WINDOW`].
    #[serde(skip)]
    pub window: rpds::RedBlackTreeMapSync<Id, Delivery>,
    /// Deliveries that left the window since the last refill. A refill that was read before they left must not add them
    /// again.
    #[serde(skip)]
    left: rpds::RedBlackTreeSetSync<Id>,
    /// `true` if more deliveries left the window than `left` can hold: the next refill is then unreliable and is read
    /// again.
    #[serde(skip)]
    left_overflowed: bool,
    /// Number of refills since the endpoint was loaded, so that each refill is a distinct effect and an outdated one is
    /// recognised.
    #[serde(skip)]
    refills: u32,
}

/// Outbox event that an endpoint is subscribed to.
#[derive(Clone, PartialEq, Debug)]
pub struct DueEvent {
    /// Identifier of the event.
    pub event_id: Id,
    /// Number of the event in the outbox.
    pub seq: i64,
    /// Type of the event.
    pub event: String,
    /// Envelope to send, byte for byte.
    pub body: String,
}

/// Commands that operators use to change an endpoint; each returns the endpoint.
#[derive(Clone, Debug)]
pub enum EndpointCommand {
    /// Registers the endpoint, which receives the events after `cursor`.
    Create {
        /// Target URL; the HTTP layer has checked that it is allowed.
        url: String,
        /// Event types: at least one, all of them valid, without duplicates.
        events: Vec<String>,
        /// Encrypted secret for signing deliveries.
        encrypted_secret: String,
        /// Number of the latest event in the outbox.
        cursor: i64,
    },
    /// Changes the URL and the event types; `None` leaves a field unchanged.
    Update {
        /// Version that the caller read; rejected with 412 if the endpoint has changed since.
        if_version: Option<i64>,
        /// New target URL, checked by the HTTP layer.
        url: Option<String>,
        /// New list of event types. The endpoint receives the events after `newest` of those that are added.
        events: Option<Vec<String>>,
        /// Number of the latest event in the outbox.
        newest: i64,
    },
    /// Deletes the endpoint. Its pending deliveries are cancelled, including those in the backlog as refills load them;
    /// the log is kept.
    Archive,
    /// Enables the endpoint: resumes sending, including deliveries held back while it was disabled, whose attempt
    /// counts are reset.
    Enable,
    /// Disables the endpoint until an operator enables it: in the meantime, nothing is sent and its events stay
    /// pending.
    Disable,
    /// Sets a new signing secret; deliveries are also signed with the old one for 24 hours.
    Rotate {
        /// New secret, encrypted. The current secret stays valid for 24 hours.
        encrypted_secret: String,
    },
}

/// Response to an [`EndpointCommand`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EndpointAnswer {
    /// Endpoint after the change.
    #[serde(rename = "Endpoint")]
    pub endpoint: Box<Endpoint>,
}

/// Deliveries requested by operators.
#[derive(Clone, Debug)]
pub enum DeliveryCommand {
    /// Sends a test event (`webhook.test`), with the usual retries.
    Test(DueEvent),
    /// Sends a past delivery again, as a new delivery.
    Redeliver(Box<Delivery>),
}

/// Response to a [`DeliveryCommand`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DeliveryAnswer {
    /// Created delivery.
    #[serde(rename = "Delivery")]
    pub delivery: Box<Delivery>,
}

/// Command that replays past events; rejected with 409 while another replay is in progress.
#[derive(Clone, Debug)]
pub struct ReplayEvents {
    /// Start of the range: an event is replayed if its first delivery was created at or after this time.
    pub since: Timestamp,
    /// Number of events to replay, returned in the response.
    pub count: u32,
}

/// Response to [`ReplayEvents`].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ReplayAnswer {
    /// Number of events that the replay covers.
    #[serde(rename = "Count")]
    pub count: u32,
}

/// Outcomes of the endpoint's effects.
#[derive(Clone, Debug)]
pub enum EndpointNews {
    /// Advances the cursor and creates deliveries for the subscribed events that it passes.
    Follow {
        /// Number of the last event examined.
        upto: i64,
        /// Subscribed events among those examined.
        due: Vec<DueEvent>,
    },
    /// Loads pending deliveries from the database, earliest `next_at` first. Reads more than [`DELIVERY_WINDOW`]
    /// deliveries if that many exist, because they may include some that are already in the window.
    Refilled {
        /// Number of the refill, from its effect; an outdated refill changes nothing.
        number: u32,
        /// Deliveries read, ordered by due time.
        rows: Vec<Delivery>,
        /// `true` if the database has more pending deliveries.
        more: bool,
    },
    /// Processes the next part of the delivery log for the replay in progress.
    Replayed {
        /// Position after which the part was read; used to ignore duplicate parts.
        after: Option<(Timestamp, Id)>,
        /// Deliveries from the log, oldest first.
        past: Vec<Delivery>,
        /// `true` if this is the last part.
        end: bool,
    },
}

/// Outcome of a delivery attempt.
#[derive(Clone, Debug)]
pub struct DeliveryAttempt {
    /// Attempted delivery.
    pub delivery: Id,
    /// Number of the attempt, starting at 1; used to ignore duplicate reports.
    pub number: u32,
    /// `true` if the response had a 2xx status.
    pub ok: bool,
    /// HTTP status; `None` if there was no response.
    pub status: Option<u16>,
    /// Human-readable error.
    pub error: Option<String>,
    /// Start of the response body, at most 1 KiB.
    pub excerpt: Option<String>,
    /// Duration of the attempt in milliseconds.
    pub duration_ms: i64,
}

/// External work required by the state of an endpoint. Each effect is retried, even after a restart, until the state no
/// longer requires it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum EndpointEffect {
    /// Watches the outbox for events after the cursor.
    Follow {
        /// Number of the last event processed.
        cursor: i64,
    },
    /// Reads the next pending deliveries from the database for [`EndpointNews::Refilled`]. If the endpoint is deleted,
    /// they are read to be cancelled.
    Refill {
        /// Number of the refill, so that the next refill is a different effect and starts immediately.
        number: u32,
    },
    /// Reads the next part of the delivery log, for [`EndpointNews::Replayed`].
    Replay(ReplayProgress),
    /// Attempts a delivery when it is due.
    Deliver {
        /// Identifier of the delivery, which is in the window.
        delivery: Id,
        /// Number of the attempt.
        number: u32,
        /// Time at which the attempt is due.
        at: Timestamp,
    },
}
