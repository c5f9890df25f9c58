//! A signed payment event that matched no order yet: kept, and tried again at each new order and hourly, 30 days.

use crate::domain::aggregate::{Aggregate, Decision, DecisionContext};
use crate::domain::event::Event;
use crate::domain::id::Id;
use crate::domain::mail::Mail;
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::convert::Infallible;

/// Days that an unmatched event is kept.
pub const KEPT_DAYS: i64 = 30;

/// Time between tries without a new order, in milliseconds.
const HOURLY_MS: i64 = 3_600_000;

/// An inbound event.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptPaymentEvent {
    /// Made from the processor's event id, so that a repeat is the same thing.
    pub id: Id,
    /// The processor's event id.
    pub event_id: String,
    /// The verified body.
    pub body: String,
    /// Matched, or given up.
    pub done: bool,
    /// Not before.
    pub next_at: Timestamp,
    /// When it came.
    pub created_at: Timestamp,
}

/// What is asked of an inbound event.
#[derive(Clone, Debug)]
pub enum KeptPaymentEventCommand {
    /// Keeps it.
    Keep {
        /// The processor's event id.
        event_id: String,
        /// The verified body.
        body: String,
    },
    /// Tried: matched or not.
    Tried {
        /// An order took it.
        matched: bool,
    },
}

/// Try to match.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Match {
    /// Not before; a new order is looked at at once.
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
    /// Tried again in an hour; after [`KEPT_DAYS`] it is given up and people are told, for it may be somebody's money.
    fn unmatched(&self, cx: &DecisionContext<'_>) -> Decision<Self> {
        if cx.now.since(self.created_at) < KEPT_DAYS * 24 * HOURLY_MS {
            return Decision::to(Self { next_at: cx.now.plus_ms(HOURLY_MS), ..self.clone() }, ());
        }
        let data = json!({ "eventId": self.event_id });
        let happened = Event::new(cx, "payment.unmatched", (Self::KIND, self.id), None, data);
        let to = cx.rules.operator_mail.clone();
        let mail = (!to.is_empty()).then(|| {
            let text = format!(
                "The payment event {} matched no order in {KEPT_DAYS} days and is not tried again.\nPlease look it up at the payment processor.\n",
                self.event_id
            );
            Mail::new(cx, to, "A payment event matched no order".to_owned(), text)
        });
        Decision::to(Self { done: true, ..self.clone() }, ()).events([happened]).created(mail)
    }
}

#[cfg(test)]
mod tests;
