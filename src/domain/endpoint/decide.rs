//! Rules of an endpoint.
//!
//! Deleting an endpoint cancels the deliveries of the window at once. Those of the backlog are cancelled as they are
//! loaded: a deleted endpoint with a backlog still calls for [`EndpointEffect::Refill`], until none are left.

use crate::aggregate::{Aggregate, Decision, DecisionContext};
use crate::endpoint::{
    DELIVERY_WINDOW, Delivery, DeliveryState, DueEvent, Endpoint, EndpointAnswer, EndpointCommand, EndpointEffect,
    EndpointState, replay,
};
use crate::event::data::EndpointDisabledData;
use crate::event::{self, Event};
use crate::id::Id;
use crate::mail::Mail;
use crate::mail::alert::AlertKind;
use crate::refusal::{Faults, Refusal};
use crate::time::DAY_MS;

/// Disabled reason of an endpoint that an operator has paused.
const PAUSED: &str = "paused manually";
/// Time for which the previous secret signs alongside a new one, in milliseconds.
const FORMER_SECRET_MS: i64 = DAY_MS;

type EndpointDecision = Result<Decision<Endpoint>, Refusal>;

impl Aggregate for Endpoint {
    const KIND: &'static str = "endpoint";
    type Command = EndpointCommand;
    type Answer = EndpointAnswer;
    type Row = Delivery;
    type Created = Mail;
    type Effect = EndpointEffect;

    fn is_archived(&self) -> bool {
        self.archived
    }

    fn if_version(command: &EndpointCommand) -> Option<i64> {
        match command {
            EndpointCommand::Update { if_version, .. } => *if_version,
            _ => None,
        }
    }

    fn decide(this: Option<&Self>, id: Id, cx: &DecisionContext<'_>, command: &EndpointCommand) -> EndpointDecision {
        use EndpointCommand as C;
        let this = match (this, command) {
            (None, C::Create { url, events, encrypted_secret, cursor }) => {
                return create(id, cx, url, events, encrypted_secret, *cursor);
            }
            (None, _) => return Err(Refusal::not_found(Self::KIND)),
            (Some(_), C::Create { .. }) => {
                return Err(Refusal::conflict("exists", "this endpoint already exists"));
            }
            (Some(this), _) => this,
        };
        let next = || {
            let revision = this.revision.max(1) + i64::from(cx.by.is_person());
            Self { updated_at: cx.now, revision, ..this.clone() }
        };
        match command {
            C::Refilled { number, rows, more } => Ok(refilled(this, cx, *number, rows, *more)),
            C::Follow { .. } | C::Tried { .. } | C::Replayed { .. } if this.archived => {
                Ok(Decision::unchanged(EndpointAnswer::Done))
            }
            _ if this.archived => Err(Refusal::not_found(Self::KIND)),
            C::Create { .. } => Err(Refusal::conflict("exists", "this endpoint already exists")),
            C::Update { url, events, .. } => {
                let url = url.as_ref().unwrap_or(&this.url);
                let events = events.as_ref().unwrap_or(&this.events);
                check(url, events)?;
                Ok(respond(Self { url: url.clone(), events: events.clone(), ..next() }))
            }
            C::Archive => Ok(archive(next())),
            C::Enable if this.state == EndpointState::Active => Ok(Decision::unchanged(answer(this))),
            C::Enable => Ok(enable(next(), cx)),
            C::Disable if this.state == EndpointState::Disabled => Ok(Decision::unchanged(answer(this))),
            C::Disable => {
                let disabled_reason = Some(PAUSED.to_owned());
                Ok(respond(Self { state: EndpointState::Disabled, disabled_reason, ..next() }))
            }
            C::Rotate { encrypted_secret } => {
                let former = Some((this.encrypted_secret.clone(), cx.now.plus_ms(FORMER_SECRET_MS)));
                Ok(respond(Self { encrypted_secret: encrypted_secret.clone(), former, ..next() }))
            }
            C::Follow { upto, due } => Ok(follow(this, cx, *upto, due)),
            C::Tried { .. } => Ok(tried(this, cx, command)),
            C::Test(due) => {
                let delivery = delivery(cx, this.id, due, 0);
                Ok(place_delivery(this.clone(), cx, delivery))
            }
            C::Redeliver(past) => {
                if past.endpoint_id != this.id {
                    return Err(Refusal::not_found("delivery"));
                }
                if past.state == DeliveryState::Pending {
                    return Err(Refusal::conflict(
                        "delivery_pending",
                        "this delivery is still pending; only a finished delivery can be sent again",
                    ));
                }
                let next = Self { replays: this.replays + 1, ..this.clone() };
                let delivery = again(cx, past, next.replays);
                Ok(place_delivery(next, cx, delivery))
            }
            C::Replay { since, count } => replay::begin(this, cx, *since, *count),
            C::Replayed { after, past, end } => Ok(replay::part(this, cx, *after, past, *end)),
        }
    }

    fn revision(&self) -> Option<i64> {
        // An endpoint that was stored before changes were counted has 0.
        Some(self.revision.max(1))
    }

    fn name(command: &EndpointCommand) -> &'static str {
        match command {
            EndpointCommand::Create { .. } => "endpoint.create",
            EndpointCommand::Update { .. } => "endpoint.update",
            EndpointCommand::Archive => "endpoint.delete",
            EndpointCommand::Enable => "endpoint.enable",
            EndpointCommand::Disable => "endpoint.disable",
            EndpointCommand::Rotate { .. } => "endpoint.rotate_secret",
            EndpointCommand::Follow { .. } => "endpoint.follow",
            EndpointCommand::Refilled { .. } => "endpoint.refilled",
            EndpointCommand::Tried { .. } => "endpoint.tried",
            EndpointCommand::Test(_) => "endpoint.test",
            EndpointCommand::Redeliver(_) => "endpoint.redeliver",
            EndpointCommand::Replay { .. } => "endpoint.replay",
            EndpointCommand::Replayed { .. } => "endpoint.replayed",
        }
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

fn answer(endpoint: &Endpoint) -> EndpointAnswer {
    EndpointAnswer::Endpoint(Box::new(endpoint.clone()))
}

fn respond(next: Endpoint) -> Decision<Endpoint> {
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
fn delivery(cx: &DecisionContext<'_>, endpoint: Id, due: &DueEvent, replay: u32) -> Delivery {
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

fn place_delivery(mut next: Endpoint, cx: &DecisionContext<'_>, delivery: Delivery) -> Decision<Endpoint> {
    next.place(delivery.clone(), cx.now);
    let row = delivery.clone();
    Decision::to(next, EndpointAnswer::Delivery(Box::new(delivery))).rows([row])
}

fn archive(mut next: Endpoint) -> Decision<Endpoint> {
    let cancelled = |d: &Delivery| Delivery { state: DeliveryState::Cancelled, ..d.clone() };
    let rows: Vec<Delivery> = next.window.values().map(cancelled).collect();
    next.window = Default::default();
    next.replaying = None;
    next.disabled_by = None;
    next.archived = true;
    respond(next).rows(rows)
}

/// Enables sending, including the delivery that disabled the endpoint. Deliveries of the window restart their attempt
/// counts now, those of the backlog when a refill loads them.
fn enable(mut next: Endpoint, cx: &DecisionContext<'_>) -> Decision<Endpoint> {
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

/// Creates deliveries for the events passed. The cursor only moves forward, so that a repeated part creates none twice.
fn follow(this: &Endpoint, cx: &DecisionContext<'_>, upto: i64, due: &[DueEvent]) -> Decision<Endpoint> {
    if upto <= this.cursor {
        return Decision::unchanged(EndpointAnswer::Done);
    }
    let mut next = this.clone();
    let mut rows = Vec::new();
    for due in due.iter().filter(|due| due.seq > this.cursor && due.seq <= upto) {
        let delivery = delivery(cx, this.id, due, 0);
        rows.push(delivery.clone());
        next.place(delivery, cx.now);
    }
    next.cursor = upto;
    Decision::to(next, EndpointAnswer::Done).rows(rows)
}

fn refilled(
    this: &Endpoint,
    cx: &DecisionContext<'_>,
    number: u32,
    rows: &[Delivery],
    more: bool,
) -> Decision<Endpoint> {
    if !this.backlog || number != this.refills {
        return Decision::unchanged(EndpointAnswer::Done);
    }
    let mut next = this.clone();
    let (news, passed_over) = next.news(rows);
    next.backlog = more || passed_over;
    let mut changed = Vec::new();
    for row in news {
        if this.archived {
            changed.push(Delivery { state: DeliveryState::Cancelled, ..row.clone() });
            continue;
        }
        let delivery = next.anew(row.clone(), cx.now);
        if delivery != *row {
            changed.push(delivery.clone());
        }
        next.place(delivery, cx.now);
    }
    Decision::to(next, EndpointAnswer::Done).rows(changed)
}

fn tried(this: &Endpoint, cx: &DecisionContext<'_>, command: &EndpointCommand) -> Decision<Endpoint> {
    let EndpointCommand::Tried { delivery, number, ok, status, error, excerpt, duration_ms } = command else {
        return Decision::unchanged(EndpointAnswer::Done);
    };
    let Some(current) = this.window.get(delivery).filter(|current| current.attempts + 1 == *number) else {
        return Decision::unchanged(EndpointAnswer::Done);
    };
    let retry = cx.rules.webhook_schedule_ms.get(current.attempts as usize).copied();
    let disabled = this.state == EndpointState::Disabled;
    let state = match (ok, retry) {
        (true, _) => DeliveryState::Delivered,
        (false, Some(_)) => DeliveryState::Pending,
        // Its attempt was under way when another delivery disabled the endpoint: held like all others.
        (false, None) if disabled => DeliveryState::Pending,
        (false, None) => DeliveryState::Failed,
    };
    let attempted_at = this.anew_at.map_or(cx.now, |anew| cx.now.max(anew));
    let jitter = (cx.ids.chance() * cx.rules.webhook_jitter_ms as f64) as i64;
    let tried = Delivery {
        state,
        attempts: *number,
        next_at: if state == DeliveryState::Pending {
            cx.now.plus_ms(retry.unwrap_or(0) + jitter)
        } else {
            current.next_at
        },
        last_status: *status,
        last_error: error.clone(),
        last_excerpt: excerpt.clone(),
        last_duration_ms: Some(*duration_ms),
        attempted_at: Some(attempted_at),
        ..current.clone()
    };
    let mut next = this.clone();
    next.tried_at = this.tried_at.max(Some(attempted_at));
    if state == DeliveryState::Pending && !next.backlog {
        next.window.insert_mut(tried.id, tried.clone());
    } else {
        next.leave(tried.id);
    }
    let row = tried.clone();
    if state != DeliveryState::Failed {
        return Decision::to(next, EndpointAnswer::Done).rows([row]);
    }
    disable(next, cx, &tried).rows([row])
}

/// Disables the endpoint after the last retry of a delivery failed, and notifies the operators.
fn disable(mut next: Endpoint, cx: &DecisionContext<'_>, last: &Delivery) -> Decision<Endpoint> {
    let why = match (last.last_status, last.last_error.as_deref()) {
        (_, Some(error)) => error.to_owned(),
        (Some(status), None) => format!("it responded with {status}"),
        (None, None) => "it did not respond".to_owned(),
    };
    let reason = format!("{} was attempted {} times: {why}", last.event, last.attempts);
    next.state = EndpointState::Disabled;
    next.disabled_reason = Some(reason.clone());
    next.disabled_by = Some(Box::new(last.clone()));
    next.updated_at = cx.now;
    let (url, reason_told) = (next.url.clone(), reason.clone());
    let data = EndpointDisabledData { endpoint_id: next.id, url, reason: reason_told, delivery_id: last.id };
    let happened = Event::new(cx, "endpoint.disabled", (Endpoint::KIND, next.id), None, &data);
    let text = format!(
        "Deliveries to {} have stopped: {reason}.\nIts events are kept and will be sent when the endpoint {} is \
         enabled again.\n",
        next.url, next.id
    );
    let subject = format!("Webhook endpoint disabled after {} attempts: {}", last.attempts, next.url);
    let mail = Mail::alert(cx, AlertKind::EndpointDisabled, &subject, &text);
    Decision::to(next, EndpointAnswer::Done).events([happened]).created(mail)
}
