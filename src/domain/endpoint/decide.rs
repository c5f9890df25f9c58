//! Rules for an endpoint.
//!
//! Deleting an endpoint cancels the deliveries in the window immediately. Those in the backlog are cancelled as they
//! are loaded: a deleted endpoint with a backlog still requires [`EndpointEffect::Refill`] until none are left.

use std::collections::BTreeMap;

use crate::aggregate::{Aggregate, Command, Decision, DecisionContext, DecisionResult};
use crate::audit::AuditedAct;
use crate::endpoint::{
    DELIVERY_WINDOW, Delivery, DeliveryAnswer, DeliveryCommand, DeliveryState, DueEvent, Endpoint, EndpointAnswer,
    EndpointCommand, EndpointEffect, EndpointState,
};
use crate::event;
use crate::id::Id;
use crate::mail::Mail;
use crate::refusal::{Faults, Refusal};
use crate::time::DAY_MS;

/// Reason shown for an endpoint that an operator has disabled.
const DISABLED_BY_HAND: &str = "disabled manually";
/// Time, in milliseconds, for which deliveries are also signed with the previous secret after a rotation.
const FORMER_SECRET_MS: i64 = DAY_MS;

type EndpointDecision = Result<Decision<Endpoint, EndpointAnswer>, Refusal>;

impl Aggregate for Endpoint {
    const KIND: &'static str = "endpoint";
    type Row = Delivery;
    type Created = Mail;
    type Effect = EndpointEffect;

    fn is_archived(&self) -> bool {
        self.archived
    }

    fn revision(&self) -> Option<i64> {
        // An endpoint that was stored before changes were counted has 0.
        Some(self.revision.max(1))
    }

    fn effects(&self) -> Vec<EndpointEffect> {
        let active = !self.archived && self.state == EndpointState::Active;
        let mut effects = Vec::new();
        if !self.archived {
            effects.push(EndpointEffect::Follow { cursor: self.cursor });
        }
        // Refill when half of the window is free: one query for each single delivery would cost more than the
        // deliveries.
        if self.backlog && self.window.size() <= DELIVERY_WINDOW / 2 && (active || self.archived) {
            effects.push(EndpointEffect::Refill { number: self.refills });
        }
        if let Some(replaying) = &self.replaying {
            effects.push(EndpointEffect::Replay(replaying.clone()));
        }
        if active {
            effects.extend(self.deliver());
        }
        effects
    }

    /// Returns `false`: endpoints stay in memory because each follows the outbox.
    fn at_rest(&self) -> bool {
        self.archived && !self.backlog
    }
}

/// Returns the endpoint that an operator's command applies to; rejected if it was deleted or never existed.
pub(super) fn existing(this: Option<&Endpoint>) -> Result<&Endpoint, Refusal> {
    this.filter(|endpoint| !endpoint.archived).ok_or_else(|| Refusal::not_found(Endpoint::KIND))
}

impl Command<Endpoint> for EndpointCommand {
    type Answer = EndpointAnswer;

    fn decide(&self, this: Option<&Endpoint>, id: Id, cx: &DecisionContext<'_>) -> EndpointDecision {
        use EndpointCommand as C;
        let this = match (this, self) {
            (None, C::Create { url, events, encrypted_secret, cursor }) => {
                return create(id, cx, url, events, encrypted_secret, *cursor);
            }
            (Some(_), C::Create { .. }) => {
                return Err(Refusal::conflict("exists", "this endpoint already exists"));
            }
            (this, _) => existing(this)?,
        };
        let next = || {
            let revision = this.revision.max(1) + i64::from(cx.by.is_person());
            Endpoint { updated_at: cx.now, revision, ..this.clone() }
        };
        match self {
            C::Create { .. } => Err(Refusal::conflict("exists", "this endpoint already exists")),
            C::Update { url, events, newest, .. } => {
                let url = url.as_ref().unwrap_or(&this.url);
                let events = events.as_ref().unwrap_or(&this.events);
                check(url, events)?;
                let subscribed_after = subscription_starts(this, events, *newest);
                Ok(respond(Endpoint { url: url.clone(), events: events.clone(), subscribed_after, ..next() }))
            }
            C::Archive => Ok(archive(next())),
            C::Enable if this.state == EndpointState::Active => Ok(Decision::unchanged(answer(this))),
            C::Enable => Ok(enable(next(), cx)),
            C::Disable if this.state == EndpointState::Disabled => Ok(Decision::unchanged(answer(this))),
            C::Disable => {
                let disabled_reason = Some(DISABLED_BY_HAND.to_owned());
                Ok(respond(Endpoint { state: EndpointState::Disabled, disabled_reason, ..next() }))
            }
            C::Rotate { encrypted_secret } => {
                let former = Some((this.encrypted_secret.clone(), cx.now.plus_ms(FORMER_SECRET_MS)));
                Ok(respond(Endpoint { encrypted_secret: encrypted_secret.clone(), former, ..next() }))
            }
        }
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            EndpointCommand::Create { .. } => AuditedAct::EndpointCreate,
            EndpointCommand::Update { .. } => AuditedAct::EndpointUpdate,
            EndpointCommand::Archive => AuditedAct::EndpointDelete,
            EndpointCommand::Enable => AuditedAct::EndpointEnable,
            EndpointCommand::Disable => AuditedAct::EndpointDisable,
            EndpointCommand::Rotate { .. } => AuditedAct::EndpointRotateSecret,
        }
    }

    fn if_version(&self) -> Option<i64> {
        match self {
            EndpointCommand::Update { if_version, .. } => *if_version,
            _ => None,
        }
    }
}

impl Command<Endpoint> for DeliveryCommand {
    type Answer = DeliveryAnswer;

    fn decide(
        &self,
        this: Option<&Endpoint>,
        _: Id,
        cx: &DecisionContext<'_>,
    ) -> DecisionResult<Endpoint, Self::Answer> {
        let this = existing(this)?;
        match self {
            DeliveryCommand::Test(due) => {
                let delivery = delivery(cx, this.id, due, 0);
                Ok(place_delivery(this.clone(), cx, delivery))
            }
            DeliveryCommand::Redeliver(past) => {
                if past.endpoint_id != this.id {
                    return Err(Refusal::not_found("delivery"));
                }
                if past.state == DeliveryState::Pending {
                    return Err(Refusal::conflict(
                        "delivery_pending",
                        "this delivery is still pending; only a finished delivery can be sent again",
                    ));
                }
                let next = Endpoint { replays: this.replays + 1, ..this.clone() };
                let delivery = again(cx, past, next.replays);
                Ok(place_delivery(next, cx, delivery))
            }
        }
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            DeliveryCommand::Test(_) => AuditedAct::EndpointTest,
            DeliveryCommand::Redeliver(_) => AuditedAct::EndpointRedeliver,
        }
    }
}

fn answer(endpoint: &Endpoint) -> EndpointAnswer {
    EndpointAnswer { endpoint: Box::new(endpoint.clone()) }
}

fn respond(next: Endpoint) -> Decision<Endpoint, EndpointAnswer> {
    let answer = answer(&next);
    Decision::to(next, answer)
}

fn check(url: &str, events: &[String]) -> Result<(), Refusal> {
    let mut faults = Faults::default();
    faults.check(!url.is_empty(), "url", "must not be empty");
    faults.check(!events.is_empty(), "events", "must have at least one event");
    for (at, kind) in events.iter().enumerate() {
        let path = format!("events.{at}");
        let is_known = event::OUTBOUND.contains(&kind.as_str());
        faults.check(is_known, &path, format!("must be one of {}", event::OUTBOUND.join(", ")));
        faults.check(!events[..at].contains(kind), &path, "is listed twice");
    }
    faults.refuse()
}

/// Returns [`Endpoint::subscribed_after`] for a new list of event types; added ones start after event number `newest`.
fn subscription_starts(this: &Endpoint, events: &[String], newest: i64) -> BTreeMap<String, i64> {
    let start_of = |kind: &String| {
        let start = if this.events.contains(kind) { *this.subscribed_after.get(kind)? } else { newest };
        (start > this.cursor).then(|| (kind.clone(), start))
    };
    events.iter().filter_map(start_of).collect()
}

fn create(
    id: Id,
    cx: &DecisionContext<'_>,
    url: &str,
    events: &[String],
    encrypted_secret: &str,
    cursor: i64,
) -> EndpointDecision {
    check(url, events)?;
    Ok(respond(Endpoint {
        id,
        revision: 1,
        url: url.to_owned(),
        events: events.to_vec(),
        subscribed_after: BTreeMap::new(),
        encrypted_secret: encrypted_secret.to_owned(),
        former: None,
        state: EndpointState::Active,
        disabled_reason: None,
        cursor,
        backlog: false,
        replays: 0,
        replaying: None,
        anew_at: None,
        tried_at: None,
        disabled_by: None,
        archived: false,
        created_at: cx.now,
        updated_at: cx.now,
        window: Default::default(),
        left: Default::default(),
        left_overflowed: false,
        refills: 0,
    }))
}

/// Builds a new delivery, due now.
pub(super) fn delivery(cx: &DecisionContext<'_>, endpoint: Id, due: &DueEvent, replay: u32) -> Delivery {
    Delivery {
        id: cx.ids.id(),
        endpoint_id: endpoint,
        event_id: due.event_id,
        event_seq: due.seq,
        event: due.event.clone(),
        replay,
        body: due.body.clone(),
        state: DeliveryState::Pending,
        attempts: 0,
        next_at: cx.now,
        last_status: None,
        last_error: None,
        last_excerpt: None,
        last_duration_ms: None,
        created_at: cx.now,
        attempted_at: None,
    }
}

/// Builds a new delivery with the same body as a past one.
pub(super) fn again(cx: &DecisionContext<'_>, past: &Delivery, replay: u32) -> Delivery {
    let due =
        DueEvent { event_id: past.event_id, seq: past.event_seq, event: past.event.clone(), body: past.body.clone() };
    delivery(cx, past.endpoint_id, &due, replay)
}

fn place_delivery(
    mut next: Endpoint,
    cx: &DecisionContext<'_>,
    delivery: Delivery,
) -> Decision<Endpoint, DeliveryAnswer> {
    next.place(delivery.clone(), cx.now);
    let row = delivery.clone();
    Decision::to(next, DeliveryAnswer { delivery: Box::new(delivery) }).rows([row])
}

fn archive(mut next: Endpoint) -> Decision<Endpoint, EndpointAnswer> {
    let cancelled = |d: &Delivery| Delivery { state: DeliveryState::Cancelled, ..d.clone() };
    let rows: Vec<Delivery> = next.window.values().map(cancelled).collect();
    next.window = Default::default();
    next.replaying = None;
    next.disabled_by = None;
    next.archived = true;
    respond(next).rows(rows)
}

/// Enables sending, including the delivery that disabled the endpoint. The attempt counts of deliveries in the window
/// are reset now, those of deliveries in the backlog when a refill loads them.
fn enable(mut next: Endpoint, cx: &DecisionContext<'_>) -> Decision<Endpoint, EndpointAnswer> {
    next.state = EndpointState::Active;
    next.disabled_reason = None;
    next.anew_at = Some(next.tried_at.map_or(cx.now, |tried| cx.now.max(tried.plus_ms(1))));
    let disabled_by = next.disabled_by.take().map(|failed| *failed);
    let held = next.window.values().cloned().chain(disabled_by);
    let anew = |d: Delivery| Delivery { state: DeliveryState::Pending, attempts: 0, next_at: cx.now, ..d };
    let held: Vec<Delivery> = held.map(anew).collect();
    for delivery in &held {
        next.place(delivery.clone(), cx.now);
    }
    respond(next).rows(held)
}
