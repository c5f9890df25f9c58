//! What endpoints want of the outside: the events beyond their cursor, their backlog, and delivery.

use crate::actors::kernel::directory::WITHIN;
use crate::actors::kernel::effects::Effects;
use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::kernel::handle::Handle;
use crate::app::{App, AppRef};
use crate::domain::aggregate::Versioned;
use crate::domain::endpoint::envelope::due;
use crate::domain::endpoint::{Endpoint, EndpointCommand, EndpointEffect, Replaying, WINDOW};
use crate::domain::event::Numbered;
use crate::domain::id::Id;
use crate::observe::meters::{Counter, Histogram};
use crate::services::webhook::{Delivery, Sender};
use crate::store::queries::EventFilter;
use async_trait::async_trait;
use dashmap::DashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Events looked at in one go.
const AT_ONCE: usize = 256;
/// The cursor is written at least this often, even when no event is for the endpoint: bounds what a restart reads again.
const WRITE_CURSOR_EVERY: i64 = 2000;

/// Attempts of deliveries.
#[derive(Debug)]
pub struct DeliveryMeter {
    /// Answered 2xx in time.
    pub delivered: Counter,
    /// Anything else.
    pub failed: Counter,
    /// How long an attempt took.
    pub took: Histogram,
}

impl Default for DeliveryMeter {
    fn default() -> Self {
        Self { delivered: Counter::default(), failed: Counter::default(), took: Histogram::of_seconds() }
    }
}

/// The outside of endpoints.
pub struct EndpointWorld {
    /// Outbox, clock, cipher.
    pub shop: AppRef,
    /// Speaks HTTP.
    pub sender: Arc<Sender>,
    /// Most deliveries under way at one endpoint.
    pub concurrency: usize,
    /// The turns of each endpoint.
    pub turns: DashMap<Id, Arc<Semaphore>>,
}

#[async_trait]
impl Effects<Endpoint> for EndpointWorld {
    async fn run(&self, want: EndpointEffect, of: Handle<Endpoint>) {
        let Some(shop) = self.shop.get() else { return };
        match want {
            EndpointEffect::Follow { cursor } => follow(&shop, &of, cursor).await,
            EndpointEffect::Refill => refill(&shop, &of).await,
            EndpointEffect::Replay(replaying) => replay(&shop, &of, &replaying).await,
            EndpointEffect::Deliver { delivery, number, at } => {
                shop.environment.wait_until(at).await;
                // In the order in which they are due; a turn is given back when the attempt is over, however it ends.
                let turns =
                    self.turns.entry(of.id()).or_insert_with(|| Arc::new(Semaphore::new(self.concurrency))).clone();
                let Ok(_turn) = turns.acquire_owned().await else { return };
                self.deliver(&shop, &of, delivery, number).await;
            }
        }
    }

    fn committed(&self, of: &Handle<Endpoint>, state: &Arc<Versioned<Endpoint>>) {
        if state.state.as_ref().is_some_and(|endpoint| endpoint.archived) {
            self.turns.remove(&of.id());
        }
    }
}

/// Past deliveries read in one go.
const PART: u64 = 200;

async fn tell(of: &Handle<Endpoint>, command: EndpointCommand) {
    if let Err(error) = of.ask(CommandOrigin::system(), command, WITHIN).await {
        tracing::debug!(endpoint = %of.id(), %error, "not told, is told again");
    }
}

/// Waits for events beyond the cursor; asks when some are for this endpoint. The want changes with the cursor, so this ends then.
async fn follow(shop: &App, of: &Handle<Endpoint>, cursor: i64) {
    let mut last = shop.outbox.last();
    let follower = shop.outbox.followers.add("endpoint", cursor);
    let mut at = cursor;
    loop {
        follower.has_read(at);
        if last.wait_for(|last| *last > at).await.is_err() {
            return;
        }
        let events: Vec<Arc<Numbered>> = match shop.outbox.after(at, AT_ONCE) {
            Some(events) => events,
            None => match shop.store.queries().events_after(at, &EventFilter::default(), AT_ONCE as u64).await {
                Ok(events) => events.into_iter().map(Arc::new).collect(),
                Err(error) => {
                    tracing::warn!(%error, "events cannot be read");
                    return;
                }
            },
        };
        let Some(upto) = events.last().map(|event| event.seq) else { return };
        at = upto;
        let state = of.read();
        let Some(endpoint) = &state.state else { return };
        let due = due(endpoint, events.iter().map(|event| &**event));
        if !due.is_empty() || at - cursor >= WRITE_CURSOR_EVERY {
            tell(of, EndpointCommand::Follow { upto, due }).await;
            return;
        }
    }
}

async fn refill(shop: &App, of: &Handle<Endpoint>) {
    let limit = WINDOW as u64 * 2 + 1;
    match shop.store.queries().pending_deliveries(of.id(), None, limit).await {
        Ok(rows) => {
            let more = rows.len() as u64 == limit;
            tell(of, EndpointCommand::Refilled { rows, more }).await;
        }
        Err(error) => tracing::warn!(endpoint = %of.id(), %error, "backlog cannot be read"),
    }
}

async fn replay(shop: &App, of: &Handle<Endpoint>, replaying: &Replaying) {
    match shop.store.queries().past_deliveries(of.id(), replaying, PART).await {
        Ok(past) => {
            let end = (past.len() as u64) < PART;
            tell(of, EndpointCommand::Replayed { after: replaying.after, past, end }).await;
        }
        Err(error) => tracing::warn!(endpoint = %of.id(), %error, "the log cannot be read"),
    }
}

impl EndpointWorld {
    async fn deliver(&self, shop: &App, of: &Handle<Endpoint>, id: Id, number: u32) {
        let state = of.read();
        let Some(endpoint) = &state.state else { return };
        let Some(row) = endpoint.window.get(&id) else { return };
        let now = shop.environment.now();
        let opened = shop.cipher.open(&endpoint.encrypted_secret).and_then(|secret| {
            let former = match &endpoint.former {
                Some((sealed, until)) if *until > now => Some(shop.cipher.open(sealed)?),
                _ => None,
            };
            Ok((secret, former))
        });
        let (secret, former) = match opened {
            Ok(secrets) => secrets,
            Err(error) => {
                tracing::error!(endpoint = %of.id(), %error, "the secret cannot be opened: is SECRETS_KEY the one it was sealed with?");
                return;
            }
        };
        let sent = self
            .sender
            .send(
                &Delivery {
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
        let meter = &shop.deliveries;
        meter.took.took(Duration::from_millis(sent.duration_ms));
        if sent.ok { &meter.delivered } else { &meter.failed }.one();
        let tried = EndpointCommand::Tried {
            delivery: id,
            number,
            ok: sent.ok,
            status: sent.status,
            error: sent.error,
            excerpt: sent.excerpt,
            duration_ms: i64::try_from(sent.duration_ms).unwrap_or(i64::MAX),
        };
        tell(of, tried).await;
    }
}
