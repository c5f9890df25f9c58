//! Mail service of the simulated world, at the port of its client.
//!
//! It keeps the idempotency keys of messages for a day, as real ones do: a message resent under its key is not
//! delivered again. If its content has changed meanwhile, the client sends it under another key, and so it is delivered
//! twice. A message that it rejects permanently is rejected each time it is resent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::time::sleep;

use crate::chance::branch;
use crate::clock::WorldClock;
use crate::downtime::Downtime;
use crate::faults::{FaultKind, FaultPlan};
use crate::plan::Plan;
use crate::plants::{Plant, Planter};
use crate::power::Power;
use crate::size::Size;
use crate::story::Story;
use domain::time::DAY_MS;
use services::mail::{MailError, Mailer, Message};

/// Maximum additional delay of the service, in milliseconds.
const MAX_DELAY_MS: u64 = 90_000;
/// Timeout for a message without a response.
const PATIENCE: Duration = Duration::from_secs(30);
/// Share of the messages affected by a fault of the highest frequency, except refusals.
const SHARE: f64 = 0.5;
/// Share of permanently rejected messages where such rejections are most frequent.
const REJECTED_SHARE: f64 = 0.3;

/// Reason that the service gives for permanently rejecting a message.
pub const REJECTION: &str = "550 5.1.1 there is no such mailbox";

/// Mail service, which stores the messages that it delivers.
pub struct PostOffice {
    seed: u64,
    size: Size,
    clock: Arc<WorldClock>,
    story: Arc<Story>,
    power: Arc<Power>,
    planter: Arc<Planter>,
    state: Mutex<PostState>,
}

struct PostState {
    /// Random generator for refusals.
    chance: Rng,
    refused: f64,
    /// Chance of rejections.
    rejection_chance: Rng,
    rejected: f64,
    /// Random generator for network faults.
    way_chance: Rng,
    lost: f64,
    slow: f64,
    downtime: Downtime,
    /// Accepted messages by key, each with the time of acceptance in milliseconds.
    accepted: BTreeMap<String, (i64, Message)>,
    /// Keys of messages whose acceptance has been reported to the server.
    answered: BTreeSet<String>,
    /// Delivered messages, each with its key as its ID.
    deliveries: Vec<Message>,
    /// Permanently rejected messages, by key.
    rejections: BTreeMap<String, Message>,
}

/// Fate of a message and its response on the network.
struct MailWay {
    delay: Duration,
    is_down: bool,
    loses_answer: bool,
}

impl PostOffice {
    /// Creates a working service without messages.
    pub fn new(
        plan: &Plan,
        clock: Arc<WorldClock>,
        story: Arc<Story>,
        power: Arc<Power>,
        planter: Arc<Planter>,
    ) -> Self {
        let Plan { seed, size, .. } = *plan;
        let state = PostState {
            chance: branch(seed, "mail"),
            refused: 0.0,
            rejection_chance: branch(seed, "rejected mails"),
            rejected: 0.0,
            way_chance: branch(seed, "way of mails"),
            lost: 0.0,
            slow: 0.0,
            downtime: Downtime::default(),
            accepted: BTreeMap::new(),
            answered: BTreeSet::new(),
            deliveries: Vec::new(),
            rejections: BTreeMap::new(),
        };
        Self { seed, size, clock, story, power, planter, state: Mutex::new(state) }
    }

    /// Sets the rates of failures according to a plan.
    pub fn set_rates(&self, plan: &FaultPlan) {
        let mut state = self.state();
        state.refused = plan.rate(FaultKind::MailRefused);
        state.rejected = plan.rate(FaultKind::MailRejected) * REJECTED_SHARE;
        state.lost = plan.rate(FaultKind::MailLost) * SHARE;
        state.slow = plan.rate(FaultKind::MailSlow) * SHARE;
        state.downtime = Downtime::draw(self.seed, self.size, FaultKind::MailDown, plan);
    }

    /// Returns the delivered messages, each with the key under which it was accepted as its ID.
    pub fn deliveries(&self) -> Vec<Message> {
        self.state().deliveries.clone()
    }

    /// Returns the permanently rejected messages.
    pub fn rejections(&self) -> Vec<Message> {
        self.state().rejections.values().cloned().collect()
    }

    fn draw_way(&self) -> MailWay {
        let now_ms = self.clock.elapsed_ms();
        let mut state = self.state();
        // Always as many draws, so that the story without one of the faults has the others at the same messages.
        let (lost, slow, ms) = (state.way_chance.f64(), state.way_chance.f64(), state.way_chance.u64(..MAX_DELAY_MS));
        let delay = Duration::from_millis(if slow < state.slow { ms } else { 0 });
        MailWay { delay, is_down: state.downtime.is_on(now_ms), loses_answer: lost < state.lost }
    }

    /// Sends a message over the network, and waits for the response.
    async fn carry(&self, message: &Message) -> Result<(), MailError> {
        let way = self.draw_way();
        let unanswered = || Err(MailError::Transient { reason: "no response".to_owned() });
        if way.is_down {
            sleep(PATIENCE).await;
            return unanswered();
        }
        if !way.delay.is_zero() {
            sleep(way.delay).await;
            self.power.hold().await;
        }
        self.accept(message)?;
        if way.loses_answer {
            sleep(PATIENCE).await;
            return unanswered();
        }
        Ok(())
    }

    fn accept(&self, message: &Message) -> Result<(), MailError> {
        let now_ms = self.clock.elapsed_ms();
        let mut state = self.state();
        // Always as many draws, so that the story without one of the faults has the others at the same messages.
        let (refused, rejected) = (state.chance.f64(), state.rejection_chance.f64());
        if refused < state.refused {
            return Err(MailError::Transient { reason: "try again later".to_owned() });
        }
        let is_rejected = rejected < state.rejected
            || state.rejections.contains_key(&message.id)
            || self.planter.strikes(Plant::HiddenRejection);
        if is_rejected && !state.accepted.contains_key(&message.id) {
            return self.reject(&mut state, message);
        }
        let mut key = message.id.clone();
        if state.accepted.get(&key).is_some_and(|(at_ms, _)| now_ms - *at_ms >= DAY_MS) {
            if !state.answered.contains(&key) {
                // The server never heard that it was accepted, and for a day nobody could tell it.
                self.story.tell(format!("mail to {} a day later again: {}", message.to.join(", "), message.subject));
                return Ok(());
            }
            key.push_str(".forgotten");
        }
        let is_same = state.accepted.get(&key).map(|(_, earlier)| earlier == message);
        if is_same == Some(false) {
            key.push_str(".changed");
        }
        if state.accepted.contains_key(&key) {
            self.story.tell(format!("mail to {} was accepted before: {}", message.to.join(", "), message.subject));
            return Ok(());
        }
        self.story.tell(format!("mail to {}: {}", message.to.join(", "), message.subject));
        if !self.planter.strikes(Plant::LostMail) {
            state.deliveries.push(Message { id: key.clone(), ..message.clone() });
        }
        if self.planter.strikes(Plant::DoubledMail) {
            state.deliveries.push(Message { id: format!("{key}-again"), ..message.clone() });
        }
        state.accepted.insert(key, (now_ms, message.clone()));
        Ok(())
    }

    fn reject(&self, state: &mut PostState, message: &Message) -> Result<(), MailError> {
        self.story.tell(format!("mail to {} is rejected for good: {}", message.to.join(", "), message.subject));
        state.rejections.insert(message.id.clone(), message.clone());
        if self.planter.has(Plant::HiddenRejection) {
            return Ok(());
        }
        Err(MailError::Rejected { reason: REJECTION.to_owned() })
    }

    fn state(&self) -> MutexGuard<'_, PostState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mailer for PostOffice {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<(), MailError>> {
        async move {
            self.power.pass().await;
            let result = self.carry(message).await;
            self.power.pass().await;
            if result.is_ok() {
                self.state().answered.insert(message.id.clone());
            }
            result
        }
        .boxed()
    }
}
