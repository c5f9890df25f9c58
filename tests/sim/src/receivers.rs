//! Receivers of webhooks: external programs that verify deliveries with their secret, store what they accept, and fail
//! for a while.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use fastrand::Rng;
use futures::future::pending;
use serde_json::Value;
use simulator::sink::{standard_signature, verify};
use tokio::time::sleep;

use crate::chance::branch;
use crate::clock::WorldClock;
use crate::endpoints::{EndpointPlan, Spell};
use crate::faults::{FaultKind, FaultPlan};
use crate::plants::{Plant, Planter};
use crate::power::Power;
use crate::story::Story;
use services::webhook::{WebhookFault, WebhookRequest, WebhookResponse, WebhookTransport};

/// Round-trip time of a request to a receiver.
const WAY: Duration = Duration::from_millis(20);
/// Timeout for a request, as in the default settings.
const PATIENCE: Duration = Duration::from_secs(15);
/// Maximum delay of a slow receiver, in milliseconds; below the timeout.
const MAX_SLOW_MS: u64 = 14_000;

/// Receivers of all endpoints of a story.
pub struct Receivers {
    clock: Arc<WorldClock>,
    story: Arc<Story>,
    power: Arc<Power>,
    planter: Arc<Planter>,
    /// Receivers by the numbers of their endpoints.
    state: Mutex<BTreeMap<usize, Receiver>>,
}

/// Receiver of one endpoint.
struct Receiver {
    chance: Rng,
    spells: Vec<Spell>,
    /// Probability that the response to an accepted request is lost.
    answer_lost: f64,
    /// Secret used for verification.
    secret: String,
    /// New secret, while the staff does not know whether the server already uses it.
    next_secret: Option<String>,
    /// `true` if a request to the receiver has failed.
    has_failed: bool,
    arrivals: Vec<Arrival>,
}

/// Request to a receiver, including one that did not actually arrive.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// Virtual time in milliseconds since the start of the simulation.
    pub at_ms: i64,
    /// URL to which it was posted.
    pub url: String,
    /// Event ID in the headers.
    pub event_id: String,
    /// Event type in the headers.
    pub event: String,
    /// Delivery ID in the headers.
    pub delivery_id: String,
    /// Body.
    pub body: Value,
    /// `true` if the signatures match the receiver's secret.
    pub is_signed: bool,
    /// `true` if the receiver has accepted the request, whether or not the server received the response.
    pub is_accepted: bool,
}

/// Response to a request, with its delay.
type TimedAnswer = (Duration, Result<WebhookResponse, WebhookFault>);

/// Returns the URL with the given number at an endpoint's receiver.
pub fn url_of(endpoint: usize, number: usize) -> String {
    format!("https://receiver-{endpoint}.example.org/hooks/{number}")
}

/// Returns the number of the endpoint whose receiver has this URL; `None` if there is none.
fn endpoint_of(url: &str) -> Option<usize> {
    url.strip_prefix("https://receiver-")?.split('.').next()?.parse().ok()
}

fn response(status: u16, text: &str) -> WebhookResponse {
    WebhookResponse { status, beginning: text.into(), timeout: None }
}

fn fault(words: impl Into<String>) -> WebhookFault {
    WebhookFault(words.into())
}

/// Returns the value of a request header.
fn header<'a>(request: &'a WebhookRequest, name: &str) -> &'a str {
    request.headers.iter().find(|(one, _)| *one == name).map_or("", |(_, value)| value.as_str())
}

/// Replaces a header of a request.
fn set_header(request: &mut WebhookRequest, name: &str, text: String) {
    if let Some((_, value)) = request.headers.iter_mut().find(|(one, _)| *one == name) {
        *value = text;
    }
}

impl Receivers {
    /// Creates the receivers of planned endpoints, which have no secrets yet.
    pub fn new(
        seed: u64,
        plans: &[EndpointPlan],
        clock: Arc<WorldClock>,
        story: Arc<Story>,
        power: Arc<Power>,
        planter: Arc<Planter>,
    ) -> Self {
        let receiver = |plan: &EndpointPlan| {
            let receiver = Receiver {
                chance: branch(seed, &format!("receiver {}", plan.number)),
                spells: plan.spells.clone(),
                answer_lost: 0.0,
                secret: String::new(),
                next_secret: None,
                has_failed: false,
                arrivals: Vec::new(),
            };
            (plan.number, receiver)
        };
        let state = Mutex::new(plans.iter().map(receiver).collect());
        Self { clock, story, power, planter, state }
    }

    /// Sets the rate of lost responses according to a plan.
    pub fn set_rates(&self, plan: &FaultPlan) {
        let rate = plan.rate(FaultKind::ReceiverAnswerLost) / 2.0;
        self.state().values_mut().for_each(|receiver| receiver.answer_lost = rate);
    }

    /// Gives an endpoint's receiver the secret that the server is about to sign with.
    pub fn offer_secret(&self, endpoint: usize, secret: &str) {
        self.with(endpoint, |receiver| receiver.next_secret = Some(secret.to_owned()));
    }

    /// Makes a receiver verify with the last secret that it was given.
    pub fn use_offered_secret(&self, endpoint: usize) {
        self.with(endpoint, |receiver| {
            if let Some(secret) = receiver.next_secret.take() {
                receiver.secret = secret;
            }
        });
    }

    /// Returns whether an endpoint's receiver has permanently stopped working.
    pub fn is_gone(&self, endpoint: usize) -> bool {
        self.fault_now(endpoint) == Some(FaultKind::ReceiverGone)
    }

    /// Returns the current fault in an endpoint's receiver; `None` if it works.
    pub fn fault_now(&self, endpoint: usize) -> Option<FaultKind> {
        let now = self.clock.elapsed_ms();
        self.with(endpoint, |receiver| receiver.fault_at(now)).flatten()
    }

    /// Returns all requests to an endpoint's receiver, in order.
    pub fn arrivals(&self, endpoint: usize) -> Vec<Arrival> {
        self.with(endpoint, |receiver| receiver.arrivals.clone()).unwrap_or_default()
    }

    /// Returns the number of requests to all receivers.
    pub fn count(&self) -> usize {
        self.state().values().map(|receiver| receiver.arrivals.len()).sum()
    }

    /// Alters a request, where a plant does so.
    fn altered(&self, endpoint: usize, request: &WebhookRequest) -> WebhookRequest {
        let mut request = request.clone();
        if self.planter.strikes(Plant::ForgedSignature) {
            set_header(&mut request, "webhook-signature", "v1,AAAA".to_owned());
        }
        if self.planter.strikes(Plant::RenamedDelivery) {
            let secret = self.with(endpoint, |receiver| receiver.secret.clone()).unwrap_or_default();
            let id = format!("{}-again", header(&request, "webhook-id"));
            let signature = standard_signature(&secret, &id, header(&request, "webhook-timestamp"), &request.body);
            set_header(&mut request, "webhook-id", id);
            set_header(&mut request, "webhook-signature", signature);
        }
        request
    }

    /// Delivers a request to a receiver, and returns its response; `None` if there is no such receiver.
    fn receive(&self, endpoint: usize, request: &WebhookRequest) -> Option<TimedAnswer> {
        let (at_ms, seconds) = (self.clock.elapsed_ms(), self.clock.now().0 / 1000);
        let (arrival, answer) = self.with(endpoint, |receiver| receiver.receive(request, at_ms, seconds))?;
        let outcome = if arrival.is_accepted { "accepted" } else { "not accepted" };
        self.story.tell(format!("receiver {endpoint}: {} is {outcome}", arrival.event));
        Some(answer)
    }

    fn with<T>(&self, endpoint: usize, act: impl FnOnce(&mut Receiver) -> T) -> Option<T> {
        self.state().get_mut(&endpoint).map(act)
    }

    fn state(&self) -> MutexGuard<'_, BTreeMap<usize, Receiver>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Receiver {
    fn fault_at(&self, ms: i64) -> Option<FaultKind> {
        self.spells.iter().find(|spell| (spell.from_ms..spell.until_ms).contains(&ms)).map(|spell| spell.fault)
    }

    /// Returns whether a request is signed with the receiver's secret. While the staff replaces the secret, the
    /// signature over the body alone may use either one.
    fn is_signed(&self, request: &WebhookRequest, seconds: i64) -> bool {
        let headers: HeaderMap = request
            .headers
            .iter()
            .filter_map(|(name, value)| Some((HeaderName::from_static(name), HeaderValue::from_str(value).ok()?)))
            .collect();
        let verdict = |secret: &str| verify(secret, &headers, &request.body, seconds);
        let current = verdict(&self.secret);
        let is_next = || self.next_secret.as_deref().is_some_and(|next| verdict(next).service == Some(true));
        current.standard == Some(true) && (current.service == Some(true) || is_next())
    }

    /// Receives a request; returns its record and the response.
    fn receive(&mut self, request: &WebhookRequest, at_ms: i64, seconds: i64) -> (Arrival, TimedAnswer) {
        let is_signed = self.is_signed(request, seconds);
        // Always as many draws, so that the story without one of the faults is otherwise the same.
        let (is_lost, slow_ms) = (self.chance.f64() < self.answer_lost, self.chance.u64(1_000..MAX_SLOW_MS));
        let fault_now = self.fault_at(at_ms);
        let is_up = fault_now.is_none_or(|fault| fault == FaultKind::ReceiverSlow);
        let is_accepted = is_up && is_signed;
        let (wait, answer) = match fault_now {
            Some(FaultKind::ReceiverDown) => (WAY, Err(fault("the connection was refused"))),
            Some(FaultKind::ReceiverHangs) => {
                (PATIENCE, Err(fault(format!("no complete response within {} s", PATIENCE.as_secs()))))
            }
            Some(FaultKind::ReceiverFails) => (WAY, Ok(response(500, "something went wrong"))),
            Some(FaultKind::ReceiverRedirects) => (WAY, Ok(response(308, ""))),
            Some(FaultKind::ReceiverGone) => (WAY, Ok(response(410, "nobody listens here any more"))),
            _ if !is_signed => (WAY, Ok(response(401, "the signature is wrong"))),
            _ if is_lost => (WAY, Err(fault("the connection was closed before a response arrived"))),
            Some(_) => (Duration::from_millis(slow_ms), Ok(response(200, ""))),
            None => (WAY, Ok(response(204, ""))),
        };
        self.has_failed |= !answer.as_ref().is_ok_and(|response: &WebhookResponse| response.status < 300);
        let [event_id, event, delivery_id] =
            ["webhook-id", "x-service-event", "x-service-delivery"].map(|name| header(request, name).to_owned());
        let body = bounded_json::read(&request.body, bounded_json::REQUEST).unwrap_or_default();
        let url = request.url.clone();
        let arrival = Arrival { at_ms, url, event_id, event, delivery_id, body, is_signed, is_accepted };
        self.arrivals.push(arrival.clone());
        (arrival, (wait, answer))
    }
}

#[async_trait]
impl WebhookTransport for Receivers {
    async fn post(&self, request: &WebhookRequest) -> Result<WebhookResponse, WebhookFault> {
        self.power.pass().await;
        let unknown_host = || fault("the host name could not be resolved");
        let endpoint = endpoint_of(&request.url).ok_or_else(unknown_host)?;
        let has_failed = self.with(endpoint, |receiver| receiver.has_failed).unwrap_or_default();
        if has_failed && self.planter.has(Plant::StoppedEndpoint) {
            pending::<()>().await;
        }
        if self.planter.strikes(Plant::LostDelivery) {
            return Ok(response(200, ""));
        }
        let request = self.altered(endpoint, request);
        let (wait, answer) = self.receive(endpoint, &request).ok_or_else(unknown_host)?;
        sleep(wait).await;
        self.power.pass().await;
        answer
    }
}
