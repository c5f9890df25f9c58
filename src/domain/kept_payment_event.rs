//! A signed payment event that matched no order yet. It may arrive before its order is known, so it is kept and tried
//! again, at every new order and every hour, for 30 days.

use std::convert::Infallible;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::aggregate::{Aggregate, Decision, DecisionContext};
use crate::domain::event::Event;
use crate::domain::event::data::PaymentUnmatchedData;
use crate::domain::id::Id;
use crate::domain::mail::Mail;
use crate::domain::mail::alert::AlertKind;
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;

/// How many days an unmatched event is tried again before it is given up.
pub const RETENTION_DAYS: i64 = 30;

/// Delay between tries without a new order.
pub const RETRY_AFTER: Duration = Duration::from_hours(1);
const HOUR_MS: i64 = RETRY_AFTER.as_millis() as i64;

/// A payment event that is kept until an order takes it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptPaymentEvent {
    /// Derived from the processor's event id, so that a repeated event is the same aggregate.
    pub id: Id,
    /// The processor's id of the event.
    pub event_id: String,
    /// The body, whose signature was checked.
    pub body: String,
    /// Whether an order took it, or it was given up.
    pub done: bool,
    /// When the next try is due.
    pub next_at: Timestamp,
    /// When it arrived.
    pub created_at: Timestamp,
}

/// What can be asked of an event that matched no order yet.
#[derive(Clone, Debug)]
pub enum KeptPaymentEventCommand {
    /// Keeps the event; a repeat changes nothing.
    Keep {
        /// The processor's id of the event.
        event_id: String,
        /// The body, whose signature was checked.
        body: String,
    },
    /// The outcome of a try.
    Tried {
        /// Whether an order took it.
        matched: bool,
    },
}

/// The effect: look for an order that takes the event.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Match {
    /// When it is due; a new order is tried at once.
    pub at: Timestamp,
}

impl Aggregate for KeptPaymentEvent {
    const KIND: &'static str = "inbound";
    type Command = KeptPaymentEventCommand;
    type Answer = ();
    type Row = Infallible;
    type Created = Mail;
    type Effect = Match;

    fn decide(
        this: Option<&Self>,
        id: Id,
        cx: &DecisionContext<'_>,
        command: &KeptPaymentEventCommand,
    ) -> Result<Decision<Self>, Refusal> {
        match (this, command) {
            (None, KeptPaymentEventCommand::Keep { event_id, body }) => {
                let (event_id, body) = (event_id.clone(), body.clone());
                Ok(Decision::to(Self { id, event_id, body, done: false, next_at: cx.now, created_at: cx.now }, ()))
            }
            (None, KeptPaymentEventCommand::Tried { .. }) => Err(Refusal::not_found(Self::KIND)),
            (Some(_), KeptPaymentEventCommand::Keep { .. }) => Ok(Decision::unchanged(())),
            (Some(kept), KeptPaymentEventCommand::Tried { .. }) if kept.done => Ok(Decision::unchanged(())),
            (Some(kept), KeptPaymentEventCommand::Tried { matched: true }) => {
                Ok(Decision::to(Self { done: true, ..kept.clone() }, ()))
            }
            (Some(kept), KeptPaymentEventCommand::Tried { matched: false }) => Ok(kept.unmatched(cx)),
        }
    }

    fn name(command: &KeptPaymentEventCommand) -> &'static str {
        match command {
            KeptPaymentEventCommand::Keep { .. } => "inbound.keep",
            KeptPaymentEventCommand::Tried { .. } => "inbound.tried",
        }
    }

    fn effects(&self) -> Vec<Match> {
        if self.done { Vec::new() } else { vec![Match { at: self.next_at }] }
    }

    fn at_rest(&self) -> bool {
        self.done
    }
}

impl KeptPaymentEvent {
    /// Schedules the next try or, after [`RETENTION_DAYS`], gives the event up and tells the operators, because it
    /// may be somebody's money.
    fn unmatched(&self, cx: &DecisionContext<'_>) -> Decision<Self> {
        if cx.now.since(self.created_at) < RETENTION_DAYS * 24 * HOUR_MS {
            return Decision::to(Self { next_at: cx.now.plus_ms(HOUR_MS), ..self.clone() }, ());
        }
        let data = PaymentUnmatchedData { event_id: self.event_id.clone() };
        let happened = Event::new(cx, "payment.unmatched", (Self::KIND, self.id), None, &data);
        let text = format!(
            "The payment event {} matched no order in {RETENTION_DAYS} days and is not tried again. Please look it up \
             at the payment processor.\n",
            self.event_id
        );
        let subject = format!("Payment event {} matched no order in {RETENTION_DAYS} days", self.event_id);
        let mail = Mail::alert(cx, AlertKind::PaymentUnmatched, &subject, &text);
        Decision::to(Self { done: true, ..self.clone() }, ()).events([happened]).created(mail)
    }
}

#[cfg(test)]
mod tests;
