//! Effects of webhook endpoints: read the events after the cursor, refill the delivery window from the backlog, replay
//! past deliveries and deliver events.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dashmap::DashMap;
use tokio::sync::Semaphore;

use domain::aggregate::Versioned;
use domain::endpoint::envelope::due;
use domain::endpoint::{DELIVERY_WINDOW, DeliveryAttempt, Endpoint, EndpointEffect, EndpointNews, ReplayProgress};
use domain::id::Id;
use kernel::directory::ASK_TIMEOUT;
use kernel::effects::{Effects, report};
use kernel::envelope::CommandOrigin;
use kernel::environment::Environment;
use kernel::handle::Handle;
use platform::observe::meters::{Counter, Histogram};
use platform::secrets::encryption::SecretCipher;
use services::webhook::{OutgoingDelivery, Sender};
use store::Store;
use store::event_follower::EventFollower;
use store::outbox::Outbox;

/// Maximum number of events read at a time.
const EVENTS_PER_READ: usize = 256;
/// Number of events after which the cursor is saved even if none of them was for the endpoint. Limits how many events
/// are read again after a restart.
const MAX_UNWRITTEN_EVENTS: i64 = 2000;

/// Counters of webhook delivery attempts since the process started.
#[derive(Debug)]
pub struct DeliveryMeter {
    /// Attempts that the endpoint acknowledged in time with a 2xx status.
    pub delivered: Counter,
    /// Attempts that received any other status or timed out.
    pub failed: Counter,
    /// Duration of the attempts.
    pub took: Histogram,
}

impl Default for DeliveryMeter {
    fn default() -> Self {
        Self { delivered: Counter::default(), failed: Counter::default(), took: Histogram::of_seconds() }
    }
}

/// Effects of webhook endpoints, which follow the events for each endpoint and deliver them.
pub struct EndpointEffects {
    /// Committed events; the newest are in memory.
    pub outbox: Arc<Outbox>,
    /// Store that older events and the delivery backlog are read from.
    pub store: Store,
    /// Clock used to determine when deliveries are due.
    pub environment: Arc<Environment>,
    /// Cipher that decrypts endpoints' signing secrets.
    pub cipher: Arc<SecretCipher>,
    /// Counters and durations of delivery attempts.
    pub meter: Arc<DeliveryMeter>,
    /// Client that signs and sends the requests.
    pub sender: Arc<Sender>,
    /// Maximum number of concurrent deliveries per endpoint.
    pub concurrency: usize,
    /// Semaphore per endpoint, with one permit per delivery in flight.
    pub permits: DashMap<Id, Arc<Semaphore>>,
}

#[async_trait]
impl Effects<Endpoint> for EndpointEffects {
    async fn run(&self, effect: EndpointEffect, of: Handle<Endpoint>) {
        match effect {
            EndpointEffect::Follow { cursor } => self.follow(&of, cursor).await,
            EndpointEffect::Refill { number } => self.refill(&of, number).await,
            EndpointEffect::Replay(replaying) => self.replay(&of, &replaying).await,
            EndpointEffect::Deliver { delivery, number, at } => {
                self.environment.wait_until(at, self.longest_wait(&of, delivery)).await;
                // In the order in which they are due; a turn is given back when the attempt is over, however it ends.
                let permits =
                    self.permits.entry(of.id()).or_insert_with(|| Arc::new(Semaphore::new(self.concurrency))).clone();
                let Ok(permit) = permits.acquire_owned().await else { return };
                let Some(tried) = self.deliver(&of, delivery, number).await else { return };
                drop(permit);
                // What was answered is not sent again: only the outcome is told until it is written.
                let _ = report(&of, tried).await;
            }
        }
    }

    fn committed(&self, of: &Handle<Endpoint>, state: &Arc<Versioned<Endpoint>>) {
        if state.state.as_ref().is_some_and(|endpoint| endpoint.archived) {
            self.permits.remove(&of.id());
        }
    }
}

/// Maximum number of past deliveries read at a time for a replay.
const REPLAY_PAGE: u64 = 200;

async fn tell(of: &Handle<Endpoint>, news: EndpointNews) {
    if let Err(error) = of.ask(CommandOrigin::system(), news, ASK_TIMEOUT).await {
        tracing::debug!(endpoint = %of.id(), %error, "cannot update the state of an endpoint; retrying");
    }
}

impl EndpointEffects {
    /// Waits for events after the cursor. Reports them to the endpoint if it is subscribed to any of them, or once many
    /// have passed that it is not subscribed to. The report moves the cursor and so changes the effect, which ends this
    /// call.
    async fn follow(&self, of: &Handle<Endpoint>, cursor: i64) {
        let mut events = EventFollower::new(&self.outbox, &self.store, cursor);
        let follower = self.outbox.followers.add("endpoint", cursor);
        loop {
            follower.has_read(events.position());
            let read = match events.next(EVENTS_PER_READ).await {
                Ok(Some(read)) => read,
                Ok(None) => return,
                Err(error) => return tracing::warn!(%error, "cannot read events"),
            };
            let state = of.read();
            let Some(endpoint) = &state.state else { return };
            let due = due(endpoint, read.iter().map(|event| &**event));
            let upto = events.position();
            if !due.is_empty() || upto - cursor >= MAX_UNWRITTEN_EVENTS {
                tell(of, EndpointNews::Follow { upto, due }).await;
                return;
            }
        }
    }

    async fn refill(&self, of: &Handle<Endpoint>, number: u32) {
        let limit = DELIVERY_WINDOW as u64 * 2 + 1;
        match self.store.queries().pending_deliveries(of.id(), None, limit).await {
            Ok(rows) => {
                let more = rows.len() as u64 == limit;
                tell(of, EndpointNews::Refilled { number, rows, more }).await;
            }
            Err(error) => tracing::warn!(endpoint = %of.id(), %error, "cannot read the backlog"),
        }
    }

    async fn replay(&self, of: &Handle<Endpoint>, replaying: &ReplayProgress) {
        match self.store.queries().past_deliveries(of.id(), replaying, REPLAY_PAGE).await {
            Ok(past) => {
                let end = (past.len() as u64) < REPLAY_PAGE;
                tell(of, EndpointNews::Replayed { after: replaying.after, past, end }).await;
            }
            Err(error) => tracing::warn!(endpoint = %of.id(), %error, "cannot read past events"),
        }
    }

    /// Returns the longest possible delay before the next attempt at a delivery, according to the retry schedule.
    fn longest_wait(&self, of: &Handle<Endpoint>, id: Id) -> Duration {
        let rules = &self.environment.rules;
        let state = of.read();
        let row = state.state.as_ref().and_then(|endpoint| endpoint.window.get(&id));
        row.map_or(Duration::ZERO, |row| row.longest_wait(&rules.webhook_schedule_ms, rules.webhook_jitter_ms))
    }

    /// Makes one delivery attempt; `None` means that the delivery should no longer be sent.
    async fn deliver(&self, of: &Handle<Endpoint>, id: Id, number: u32) -> Option<DeliveryAttempt> {
        let state = of.read();
        let endpoint = state.state.as_ref()?;
        let row = endpoint.window.get(&id)?;
        let now = self.environment.now();
        let opened = self.cipher.decrypt(&endpoint.encrypted_secret).and_then(|secret| {
            let former = match &endpoint.former {
                Some((encrypted, until)) if *until > now => Some(self.cipher.decrypt(encrypted)?),
                _ => None,
            };
            Ok((secret, former))
        });
        let (secret, former) = match opened {
            Ok(secrets) => secrets,
            // A failure like any other: retried by the schedule, and in the end the endpoint is disabled and operators
            // are told.
            Err(error) => {
                let why =
                    "its signing secret cannot be decrypted: SECRETS_KEY is not the key that it was encrypted with";
                tracing::error!(endpoint = %of.id(), %error, "cannot sign a delivery: {why}");
                let error = Some(why.to_owned());
                return Some(DeliveryAttempt {
                    delivery: id,
                    number,
                    ok: false,
                    status: None,
                    error,
                    excerpt: None,
                    duration_ms: 0,
                });
            }
        };
        let sent = self
            .sender
            .send(
                &OutgoingDelivery {
                    id: row.id.to_string(),
                    event_id: row.event_id.to_string(),
                    event: row.event.clone(),
                    url: endpoint.url.clone(),
                    body: row.body.clone().into(),
                    secret,
                    old_secret: former,
                },
                now.jiff(),
            )
            .await;
        let meter = &self.meter;
        meter.took.took(Duration::from_millis(sent.duration_ms));
        if sent.ok { &meter.delivered } else { &meter.failed }.one();
        Some(DeliveryAttempt {
            delivery: id,
            number,
            ok: sent.ok,
            status: sent.status,
            error: sent.error,
            excerpt: sent.excerpt,
            duration_ms: i64::try_from(sent.duration_ms).unwrap_or(i64::MAX),
        })
    }
}
