//! Staff who manage webhook endpoints: they create, change, disable and delete them as planned, and re-enable endpoints
//! that the server has disabled, once the receiver works. Unacknowledged requests are repeated.

use axum::http::Method;
use serde_json::{Value, json};

use crate::acknowledgements::{Errand, ShopReply};
use crate::agenda::Agenda;
use crate::endpoints::{EndpointPlan, EndpointStep};
use crate::error::SimError;
use crate::receivers::url_of;
use crate::shop::Shop;
use crate::size::Size;
use crate::world::World;

/// Point in a story.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Virtual time in milliseconds since the start of the simulation.
    pub ms: i64,
    /// Number of the last event on the disk.
    pub seq: i64,
}

impl Moment {
    fn now(world: &World) -> Self {
        Self { ms: world.clock.elapsed_ms(), seq: world.disk.tables().last_seq() }
    }
}

/// Completed step, which took effect between two points.
#[derive(Clone, Debug)]
pub struct PastStep {
    /// Step.
    pub step: EndpointStep,
    /// Point at which the step was first requested.
    pub from: Moment,
    /// Point at which the step was acknowledged.
    pub to: Moment,
}

/// Endpoint as known to the staff.
pub struct SimSubscriber {
    /// Plan of the endpoint.
    pub plan: EndpointPlan,
    /// ID of the endpoint; `None` until its creation is acknowledged.
    pub id: Option<String>,
    /// Completed steps, in order.
    pub history: Vec<PastStep>,
    /// Number of completed planned steps.
    steps: usize,
    /// Point at which the next planned step was first requested; `None` if it has not been requested.
    requested: Option<Moment>,
    /// Point at which re-enabling the endpoint was first requested after the server disabled it; `None` otherwise.
    enabling: Option<Moment>,
    looks: Agenda,
}

/// Returns the nth secret of an endpoint. Every second one is a base64 key.
fn secret_of(endpoint: usize, number: usize) -> String {
    let digits = endpoint * 100 + number;
    if number.is_multiple_of(2) { format!("whsec_{digits:032}") } else { format!("secret {digits} with plain letters") }
}

impl SimSubscriber {
    /// Creates the record of an endpoint that does not exist yet.
    pub fn new(plan: EndpointPlan, size: Size) -> Self {
        let looks = Agenda::new(size.look_every_ms());
        Self { plan, id: None, history: Vec::new(), steps: 0, requested: None, enabling: None, looks }
    }

    /// Returns whether all planned steps were acknowledged.
    pub fn is_done(&self) -> bool {
        self.steps == self.plan.steps.len()
    }

    /// Returns the API path of the endpoint; `None` if it does not exist.
    pub fn path(&self) -> Option<String> {
        let id = self.id.as_ref().filter(|_| !self.is_deleted())?;
        Some(format!("/api/webhooks/endpoints/{id}"))
    }

    /// Returns whether the staff has deleted the endpoint.
    pub fn is_deleted(&self) -> bool {
        self.history.iter().any(|entry| entry.step == EndpointStep::Delete)
    }

    /// Returns the last step that decided whether deliveries are sent; `None` if the endpoint does not exist yet.
    pub fn last_switch(&self) -> Option<&EndpointStep> {
        use EndpointStep::{Move, Rotate, Subscribe};
        let mut steps = self.history.iter().rev().map(|entry| &entry.step);
        steps.find(|step| !matches!(step, Subscribe(_) | Move(_) | Rotate(_)))
    }

    /// Takes the next step, if it is due, or looks after the endpoint.
    pub async fn step(&mut self, world: &World, shop: &Shop) -> Result<(), SimError> {
        if self.enabling.is_some() {
            return self.enable(world, shop).await;
        }
        match self.plan.steps.get(self.steps).cloned() {
            Some((at, step)) if world.clock.elapsed_ms() >= at => self.take(world, shop, step).await,
            _ => self.look_after(world, shop).await,
        }
    }

    async fn take(&mut self, world: &World, shop: &Shop, step: EndpointStep) -> Result<(), SimError> {
        let from = *self.requested.get_or_insert_with(|| Moment::now(world));
        let is_done = match &step {
            EndpointStep::Create(events) => self.create(world, shop, events).await?,
            step => self.change(world, shop, step).await?,
        };
        if is_done {
            world.story.tell(format!("staff: endpoint {}: {step:?}", self.plan.number));
            self.history.push(PastStep { step, from, to: Moment::now(world) });
            self.requested = None;
            self.steps += 1;
        }
        Ok(())
    }

    fn errand(&self, path: String, body: Value) -> Errand {
        Errand { path, key: format!("endpoint-{}-{}", self.plan.number, self.steps), body }
    }

    async fn create(&mut self, world: &World, shop: &Shop, events: &[&'static str]) -> Result<bool, SimError> {
        let number = self.plan.number;
        let secret = secret_of(number, 0);
        // Deliveries may arrive before the acknowledgement.
        world.receivers.offer_secret(number, &secret);
        world.receivers.use_offered_secret(number);
        let body = json!({"url": url_of(number, 0), "events": events, "secret": secret});
        match shop.ask(&self.errand("/api/webhooks/endpoints".to_owned(), body)).await? {
            ShopReply::Done(endpoint) => {
                self.id = endpoint["id"].as_str().map(str::to_owned);
                Ok(true)
            }
            ShopReply::Unanswered => Ok(false),
            ShopReply::Refused(code) => Err(SimError::Broken(format!("an endpoint was refused: {code}"))),
        }
    }

    async fn change(&self, world: &World, shop: &Shop, step: &EndpointStep) -> Result<bool, SimError> {
        let number = self.plan.number;
        let Some(path) = self.path() else { return Ok(true) };
        let act = |word: &str| self.errand(format!("{path}/{word}"), json!({}));
        let reply = match step {
            EndpointStep::Create(_) | EndpointStep::Fail => return Ok(true),
            EndpointStep::Subscribe(events) => shop.change(Method::PATCH, &path, &json!({"events": events})).await?,
            EndpointStep::Move(to) => shop.change(Method::PATCH, &path, &json!({"url": url_of(number, *to)})).await?,
            EndpointStep::Disable => shop.ask(&act("disable")).await?,
            EndpointStep::Enable => shop.ask(&act("enable")).await?,
            EndpointStep::Delete => shop.change(Method::DELETE, &path, &Value::Null).await?,
            EndpointStep::Rotate(to) => {
                let secret = secret_of(number, *to);
                world.receivers.offer_secret(number, &secret);
                let reply = shop.ask(&Errand { body: json!({"secret": secret}), ..act("rotate-secret") }).await?;
                if let ShopReply::Done(_) = reply {
                    world.receivers.use_offered_secret(number);
                }
                reply
            }
        };
        match reply {
            ShopReply::Done(_) => Ok(true),
            ShopReply::Unanswered => Ok(false),
            // It was deleted before, and the acknowledgement was lost.
            ShopReply::Refused(code) if *step == EndpointStep::Delete && code.ends_with("not_found") => Ok(true),
            ShopReply::Refused(code) => Err(SimError::Broken(format!("{step:?} of an endpoint was refused: {code}"))),
        }
    }

    /// Checks whether the server has disabled the endpoint, and re-enables it once its receiver works.
    async fn look_after(&mut self, world: &World, shop: &Shop) -> Result<(), SimError> {
        let Some((id, path)) = self.id.clone().zip(self.path()) else { return Ok(()) };
        // When the server disables it, an event tells.
        let (now, mark) = (world.clock.elapsed_ms(), world.journal.last_event(&id));
        if self.last_switch() == Some(&EndpointStep::Disable) || !self.looks.is_due(&id, now, mark) {
            return Ok(());
        }
        let Some(endpoint) = shop.read(&path).await? else { return Ok(()) };
        self.looks.look(&id, now, mark);
        if endpoint["state"] != "disabled" {
            return Ok(());
        }
        self.looks.wake(&id, now);
        if endpoint["disabledReason"].as_str().is_none_or(str::is_empty) {
            return Err(SimError::Broken(format!("an endpoint is disabled without a reason: {endpoint}")));
        }
        if self.last_switch() != Some(&EndpointStep::Fail) {
            world.story.tell(format!("endpoint {} is disabled: {}", self.plan.number, endpoint["disabledReason"]));
            let now = Moment::now(world);
            self.history.push(PastStep { step: EndpointStep::Fail, from: now, to: now });
        }
        if world.receivers.fault_now(self.plan.number).is_some() {
            return Ok(());
        }
        self.enable(world, shop).await
    }

    /// Re-enables an endpoint that the server has disabled.
    async fn enable(&mut self, world: &World, shop: &Shop) -> Result<(), SimError> {
        let Some(path) = self.path() else { return Ok(()) };
        let from = *self.enabling.get_or_insert_with(|| Moment::now(world));
        let key = format!("enable-{}-{}", self.plan.number, self.history.len());
        match shop.ask(&Errand { path: format!("{path}/enable"), key, body: json!({}) }).await? {
            ShopReply::Done(_) => {
                world.story.tell(format!("staff: endpoint {} is enabled again", self.plan.number));
                self.history.push(PastStep { step: EndpointStep::Enable, from, to: Moment::now(world) });
                self.enabling = None;
                Ok(())
            }
            ShopReply::Unanswered => Ok(()),
            ShopReply::Refused(code) => Err(SimError::Broken(format!("an endpoint was not enabled: {code}"))),
        }
    }
}
