//! Outcomes of an endpoint's effects: events passed by the cursor, deliveries loaded, and attempts made.

use super::decide::delivery;
use crate::aggregate::{Aggregate as _, Command, Confirmation, Decision, DecisionContext, DecisionResult};
use crate::audit::AuditedAct;
use crate::endpoint::{
    Delivery, DeliveryAttempt, DeliveryState, DueEvent, Endpoint, EndpointNews, EndpointState, replay,
};
use crate::event::Event;
use crate::event::data::EndpointDisabledData;
use crate::id::Id;
use crate::mail::Mail;
use crate::mail::alert::AlertKind;
use crate::refusal::Refusal;
use words::staff::alerts as texts;

impl Command<Endpoint> for EndpointNews {
    type Answer = Confirmation;

    fn decide(&self, this: Option<&Endpoint>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<Endpoint> {
        let this = this.ok_or_else(|| Refusal::not_found(Endpoint::KIND))?;
        Ok(match self {
            EndpointNews::Refilled { number, rows, more } => refilled(this, cx, *number, rows, *more),
            _ if this.archived => Decision::unchanged(Confirmation::Done),
            EndpointNews::Follow { upto, due } => follow(this, cx, *upto, due),
            EndpointNews::Replayed { after, past, end } => replay::part(this, cx, *after, past, *end),
        })
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            EndpointNews::Follow { .. } => AuditedAct::EndpointFollow,
            EndpointNews::Refilled { .. } => AuditedAct::EndpointRefilled,
            EndpointNews::Replayed { .. } => AuditedAct::EndpointReplayed,
        }
    }
}

impl Command<Endpoint> for DeliveryAttempt {
    type Answer = Confirmation;

    fn decide(&self, this: Option<&Endpoint>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<Endpoint> {
        let this = this.ok_or_else(|| Refusal::not_found(Endpoint::KIND))?;
        Ok(if this.archived { Decision::unchanged(Confirmation::Done) } else { tried(this, cx, self) })
    }

    fn audited_act(&self) -> AuditedAct {
        AuditedAct::EndpointTried
    }
}

/// Creates deliveries for the subscribed events that the cursor passes. The cursor only moves forward, so processing a
/// part twice creates no duplicates.
fn follow(this: &Endpoint, cx: &DecisionContext<'_>, upto: i64, due: &[DueEvent]) -> Decision<Endpoint> {
    if upto <= this.cursor {
        return Decision::unchanged(Confirmation::Done);
    }
    let mut next = this.clone();
    let mut rows = Vec::new();
    for due in due.iter().filter(|due| due.seq > this.cursor && due.seq <= upto) {
        let delivery = delivery(cx, this.id, due, 0);
        rows.push(delivery.clone());
        next.place(delivery, cx.now);
    }
    next.cursor = upto;
    next.subscribed_after.retain(|_, start| *start > upto);
    Decision::to(next, Confirmation::Done).rows(rows)
}

fn refilled(
    this: &Endpoint,
    cx: &DecisionContext<'_>,
    number: u32,
    rows: &[Delivery],
    more: bool,
) -> Decision<Endpoint> {
    if !this.backlog || number != this.refills {
        return Decision::unchanged(Confirmation::Done);
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
    Decision::to(next, Confirmation::Done).rows(changed)
}

fn tried(this: &Endpoint, cx: &DecisionContext<'_>, attempt: &DeliveryAttempt) -> Decision<Endpoint> {
    let DeliveryAttempt { delivery, number, ok, status, error, excerpt, duration_ms } = attempt;
    let Some(current) = this.window.get(delivery).filter(|current| current.attempts + 1 == *number) else {
        return Decision::unchanged(Confirmation::Done);
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
        return Decision::to(next, Confirmation::Done).rows([row]);
    }
    disable(next, cx, &tried).rows([row])
}

/// Disables the endpoint after the last retry of a delivery has failed, and notifies the operators.
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
    let mail = Mail::alert(cx, AlertKind::EndpointDisabled, |language| {
        let subject = texts::endpoint_disabled_subject(language, &last.attempts.to_string(), &next.url);
        (subject, texts::endpoint_disabled(language, &next.url, &reason))
    });
    Decision::to(next, Confirmation::Done).events([happened]).created(mail)
}
