//! A signed payment event that matched no order yet. It may arrive before its order or its payment is known, so it is
//! kept and tried again, at every new order, every payment and every hour, for 30 days.
//!
//! The operators are told at once when money moved and nobody knows for what, and once more when the event is given up.

use std::convert::Infallible;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::aggregate::{Aggregate, Decision, DecisionContext};
use crate::domain::event::Event;
use crate::domain::event::data::PaymentUnmatchedData;
use crate::domain::id::Id;
use crate::domain::mail::Mail;
use crate::domain::mail::alert::AlertKind;
use crate::domain::payment_event::{OrderLinks, PaymentEffect, PaymentEvent};
use crate::domain::refusal::Refusal;
use crate::domain::time::{DAY_MS, Timestamp};

/// How many days an unmatched event is tried again before it is given up.
const TRIED_DAYS: i64 = 30;

/// Delay between tries without a new order or payment.
pub const RETRY_AFTER: Duration = Duration::from_hours(1);

/// What an unmatched event says happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnmatchedKind {
    /// Money was paid to the shop.
    Payment,
    /// Money was paid back.
    Refund,
    /// Somebody tried to pay, and the processor got no money.
    PaymentFailed,
    /// A checkout session expired unpaid.
    SessionExpired,
    /// The payment of an invoice of a subscription was named.
    PaymentNamed,
}

/// What an unmatched event says, for the person who looks for what it belongs to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Unmatched {
    /// What happened to the money.
    pub kind: UnmatchedKind,
    /// The amount that was paid, or all that was paid back so far, in minor units; `None` if none is named.
    pub amount_cents: Option<i64>,
    /// ISO 4217 code in lower case, if one is named.
    pub currency: Option<String>,
    /// `client_reference_id` of the event.
    pub client_reference_id: Option<String>,
    /// `metadata.orderId` of the event.
    pub order_id: Option<String>,
    /// `metadata.invoiceId` of the event.
    #[serde(default)]
    pub invoice_id: Option<String>,
    /// The payment intent that the event names.
    pub payment_intent: Option<String>,
    /// The checkout session that the event names.
    pub session: Option<String>,
}

impl Unmatched {
    /// What this event says; `None` if nothing in it concerns an order.
    pub fn of(event: &PaymentEvent) -> Option<Self> {
        let (kind, amount_cents, currency) = match &event.effect {
            PaymentEffect::Paid { amount_cents, currency, .. } => {
                (UnmatchedKind::Payment, *amount_cents, currency.clone())
            }
            PaymentEffect::Refunded { amount_refunded_cents, currency, .. } => {
                (UnmatchedKind::Refund, Some(*amount_refunded_cents), currency.clone())
            }
            PaymentEffect::Failed { .. } => (UnmatchedKind::PaymentFailed, None, None),
            PaymentEffect::SessionExpired => (UnmatchedKind::SessionExpired, None, None),
            PaymentEffect::PeriodPaid(period) => {
                (UnmatchedKind::Payment, Some(period.amount_cents), Some(period.currency.clone()))
            }
            PaymentEffect::RefundFailed { amount_cents, .. } => (UnmatchedKind::Refund, Some(*amount_cents), None),
            PaymentEffect::Disputed(news) => (UnmatchedKind::Refund, Some(news.amount_cents), None),
            PaymentEffect::PeriodPaymentNamed { .. } => (UnmatchedKind::PaymentNamed, None, None),
            PaymentEffect::Unpaid | PaymentEffect::SubscriptionChanged { .. } | PaymentEffect::Ignored { .. } => {
                return None;
            }
        };
        let OrderLinks { client_reference_id, order_id, invoice_id, payment_intent, session } = event.links.clone();
        Some(Self { kind, amount_cents, currency, client_reference_id, order_id, invoice_id, payment_intent, session })
    }

    /// Whether money moved: only then is somebody missing something.
    fn moved_money(&self) -> bool {
        matches!(self.kind, UnmatchedKind::Payment | UnmatchedKind::Refund)
    }
}

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
    /// What it says; `None` for an event kept before this was read from it.
    #[serde(default)]
    pub about: Option<Unmatched>,
    /// Whether the operators were told that it matches nothing.
    #[serde(default)]
    pub told: bool,
    /// Whether an order took it, or it was given up.
    pub done: bool,
    /// When the next try is due.
    pub next_at: Timestamp,
    /// When it arrived here.
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
        /// What the body says.
        about: Option<Box<Unmatched>>,
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
            (None, KeptPaymentEventCommand::Keep { event_id, body, about }) => {
                let (event_id, body, about) = (event_id.clone(), body.clone(), about.as_deref().cloned());
                let (next_at, created_at) = (cx.now, cx.now);
                let kept = Self { id, event_id, body, about, told: false, done: false, next_at, created_at };
                Ok(Decision::to(kept, ()))
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
    /// Schedules the next try or, after [`TRIED_DAYS`], gives the event up. The operators are told of the first miss
    /// and of the end, because it may be somebody's money.
    fn unmatched(&self, cx: &DecisionContext<'_>) -> Decision<Self> {
        let money = self.about.as_ref().is_none_or(Unmatched::moved_money);
        let given_up = cx.now.since(self.created_at) >= TRIED_DAYS * DAY_MS;
        let tell = money && (given_up || !self.told);
        let next = Self {
            done: given_up,
            told: self.told || tell,
            next_at: if given_up { self.next_at } else { cx.now.plus_ms(RETRY_AFTER.as_millis() as i64) },
            ..self.clone()
        };
        if !tell {
            return Decision::to(next, ());
        }
        let about = self.about.as_ref();
        let data = PaymentUnmatchedData {
            event_id: self.event_id.clone(),
            amount_cents: about.and_then(|about| about.amount_cents),
            currency: about.and_then(|about| about.currency.clone()),
            payment_intent: about.and_then(|about| about.payment_intent.clone()),
        };
        let event = if given_up { "payment.given_up" } else { "payment.unmatched" };
        let happened = Event::new(cx, event, (Self::KIND, self.id), None, &data);
        let (subject, text) = self.words(given_up);
        let mail = Mail::alert(cx, AlertKind::PaymentUnmatched, &subject, &text);
        Decision::to(next, ()).events([happened]).created(mail)
    }

    /// Subject and text of the mail.
    fn words(&self, given_up: bool) -> (String, String) {
        let (event, about) = (&self.event_id, self.about.as_ref());
        let what = match about.map(|about| about.kind) {
            Some(UnmatchedKind::Refund) => "refund",
            _ => "payment",
        };
        let amount = about.and_then(|about| about.amount_cents).map(|cents| {
            let currency = about.and_then(|about| about.currency.as_deref()).unwrap_or_default();
            format!(" of {}.{:02} {}", cents / 100, cents % 100, currency.to_uppercase())
        });
        let amount = amount.unwrap_or_default();
        let named = about.map(|about| {
            let named = [
                ("client_reference_id", &about.client_reference_id),
                ("metadata.orderId", &about.order_id),
                ("metadata.invoiceId", &about.invoice_id),
                ("payment intent", &about.payment_intent),
                ("checkout session", &about.session),
            ];
            let named = named.iter().filter_map(|(what, name)| name.as_ref().map(|name| format!("{what} {name}")));
            named.collect::<Vec<_>>().join(", ")
        });
        let named =
            named.filter(|named| !named.is_empty()).map_or_else(String::new, |named| format!(" It names {named}."));
        if given_up {
            let subject = format!("A {what}{amount} matched no order in {TRIED_DAYS} days");
            let text = format!(
                "The payment event {event} matched no order in {TRIED_DAYS} days and is not tried again.{named}\n\
                 Please look it up at the payment processor.\n"
            );
            (subject, text)
        } else {
            let subject = format!("A {what}{amount} matches no order");
            let text = format!(
                "The payment processor reports a {what}{amount} that belongs to no order (event {event}).{named} It is \
                 tried again at each new order and every hour, for {TRIED_DAYS} days.\n"
            );
            (subject, text)
        }
    }
}

#[cfg(test)]
mod tests;
