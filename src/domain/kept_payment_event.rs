//! Signed payment event that has not been matched to an order yet. It may arrive before its order or payment is known,
//! so it is stored and retried for 30 days: at every new order, at every payment, and every hour.
//!
//! The operators are alerted immediately if money moved without a matching order, and again when the server gives up on
//! the event.

use std::convert::Infallible;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::aggregate::{Aggregate, Command, Confirmation, Decision, DecisionContext, DecisionResult};
use crate::audit::AuditedAct;
use crate::event::Event;
use crate::event::data::PaymentUnmatchedData;
use crate::id::Id;
use crate::mail::Mail;
use crate::mail::alert::AlertKind;
use crate::notation;
use crate::payment_event::{OrderLinks, PaymentEffect, PaymentEvent};
use crate::refusal::Refusal;
use crate::time::{DAY_MS, Timestamp};
use words::Language;
use words::staff::alerts as texts;

/// Number of days for which an unmatched event is retried before it is abandoned.
const TRIED_DAYS: i64 = 30;

/// Interval between retries if there is no new order or payment.
pub const RETRY_AFTER: Duration = Duration::from_hours(1);

/// Type of occurrence reported by an unmatched event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnmatchedKind {
    /// Money was paid to the shop.
    Payment,
    /// Money was refunded.
    Refund,
    /// A payment attempt failed: the processor received no money.
    PaymentFailed,
    /// A checkout session expired unpaid.
    SessionExpired,
    /// The event identified the payment of a subscription invoice.
    PaymentNamed,
}

/// Content of an unmatched event, for the operator who has to find the matching order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Unmatched {
    /// Type of occurrence.
    pub kind: UnmatchedKind,
    /// Amount paid, or the total amount refunded so far, in minor units; `None` if the event does not state it.
    pub amount_cents: Option<i64>,
    /// Currency as a lowercase ISO 4217 code, if the event states one.
    pub currency: Option<String>,
    /// `client_reference_id` of the event.
    pub client_reference_id: Option<String>,
    /// `metadata.orderId` of the event.
    pub order_id: Option<String>,
    /// `metadata.invoiceId` of the event.
    #[serde(default)]
    pub invoice_id: Option<String>,
    /// Payment intent, if the event specifies it.
    pub payment_intent: Option<String>,
    /// Checkout session, if the event specifies it.
    pub session: Option<String>,
}

impl Unmatched {
    /// Extracts the content of the given event. Returns `None` if the event does not concern an order.
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

    /// Returns whether the event reports that money moved, which is required for an alert.
    fn moved_money(&self) -> bool {
        matches!(self.kind, UnmatchedKind::Payment | UnmatchedKind::Refund)
    }
}

/// Payment event stored until it is matched to an order.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptPaymentEvent {
    /// Identifier derived from the processor's event ID, so that duplicate events reach the same aggregate.
    pub id: Id,
    /// The processor's ID for the event.
    pub event_id: String,
    /// Body of the event, with a verified signature.
    pub body: String,
    /// Content of the event; `None` if the event was stored before this field existed.
    #[serde(default)]
    pub about: Option<Unmatched>,
    /// `true` once the operators were alerted that the event could not be matched.
    #[serde(default, rename = "told")]
    pub was_alerted: bool,
    /// `true` once the event was matched or abandoned.
    pub done: bool,
    /// Time of the next attempt.
    pub next_at: Timestamp,
    /// Time at which the server received the event.
    pub created_at: Timestamp,
}

/// Commands that change an unmatched payment event.
#[derive(Clone, Debug)]
pub enum KeptPaymentEventCommand {
    /// Stores the event; a duplicate changes nothing.
    Keep {
        /// The processor's ID for the event.
        event_id: String,
        /// Body of the event, with a verified signature.
        body: String,
        /// Content of the body.
        about: Option<Box<Unmatched>>,
    },
    /// Records the outcome of a matching attempt.
    Tried {
        /// `true` if the event matched an order.
        matched: bool,
    },
}

/// Effect that searches for the order that the event belongs to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MatchOrder {
    /// Time at which the attempt is due; a new order triggers an attempt immediately.
    pub at: Timestamp,
}

impl Aggregate for KeptPaymentEvent {
    const KIND: &'static str = "inbound";
    type Row = Infallible;
    type Created = Mail;
    type Effect = MatchOrder;

    fn effects(&self) -> Vec<MatchOrder> {
        if self.done { Vec::new() } else { vec![MatchOrder { at: self.next_at }] }
    }

    fn at_rest(&self) -> bool {
        self.done
    }
}

impl Command<KeptPaymentEvent> for KeptPaymentEventCommand {
    type Answer = Confirmation;

    fn decide(
        &self,
        this: Option<&KeptPaymentEvent>,
        id: Id,
        cx: &DecisionContext<'_>,
    ) -> DecisionResult<KeptPaymentEvent> {
        match (this, self) {
            (None, KeptPaymentEventCommand::Keep { event_id, body, about }) => {
                let (event_id, body, about) = (event_id.clone(), body.clone(), about.as_deref().cloned());
                let (next_at, created_at) = (cx.now, cx.now);
                let stored = KeptPaymentEvent {
                    id,
                    event_id,
                    body,
                    about,
                    was_alerted: false,
                    done: false,
                    next_at,
                    created_at,
                };
                Ok(Decision::to(stored, Confirmation::Done))
            }
            (None, KeptPaymentEventCommand::Tried { .. }) => Err(Refusal::not_found(KeptPaymentEvent::KIND)),
            (Some(_), KeptPaymentEventCommand::Keep { .. }) => Ok(Decision::unchanged(Confirmation::Done)),
            (Some(stored), KeptPaymentEventCommand::Tried { .. }) if stored.done => {
                Ok(Decision::unchanged(Confirmation::Done))
            }
            (Some(stored), KeptPaymentEventCommand::Tried { matched: true }) => {
                Ok(Decision::to(KeptPaymentEvent { done: true, ..stored.clone() }, Confirmation::Done))
            }
            (Some(stored), KeptPaymentEventCommand::Tried { matched: false }) => Ok(stored.unmatched(cx)),
        }
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            KeptPaymentEventCommand::Keep { .. } => AuditedAct::InboundKeep,
            KeptPaymentEventCommand::Tried { .. } => AuditedAct::InboundTried,
        }
    }
}

impl KeptPaymentEvent {
    /// Schedules the next attempt or, after [`TRIED_DAYS`], gives up on the event. Operators are alerted when the first
    /// attempt fails and when the server gives up, because a customer's money may be unaccounted for.
    fn unmatched(&self, cx: &DecisionContext<'_>) -> Decision<Self> {
        let money = self.about.as_ref().is_none_or(Unmatched::moved_money);
        let given_up = cx.now.since(self.created_at) >= TRIED_DAYS * DAY_MS;
        let tell = money && (given_up || !self.was_alerted);
        let next = Self {
            done: given_up,
            was_alerted: self.was_alerted || tell,
            next_at: if given_up { self.next_at } else { cx.now.plus_ms(RETRY_AFTER.as_millis() as i64) },
            ..self.clone()
        };
        if !tell {
            return Decision::to(next, Confirmation::Done);
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
        let mail = Mail::alert(cx, AlertKind::PaymentUnmatched, |language| self.words(language, given_up));
        Decision::to(next, Confirmation::Done).events([happened]).created(mail)
    }

    /// Returns the subject and text of the alert email.
    fn words(&self, language: Language, given_up: bool) -> (String, String) {
        let (money, days) = (self.money(language), TRIED_DAYS.to_string());
        let names = self.names();
        let names = (!names.is_empty()).then(|| texts::unmatched_names(language, &names));
        if given_up {
            let sentences = [Some(texts::never_matched(language, &self.event_id, &days)), names];
            let text = sentences.into_iter().flatten().collect::<Vec<_>>().join(" ");
            let text = format!("{text}\n{}", texts::never_matched_advice(language));
            (texts::never_matched_subject(language, &money, &days), text)
        } else {
            let sentences = [
                Some(texts::unmatched(language, &money, &self.event_id)),
                names,
                Some(texts::unmatched_retries(language, &days)),
            ];
            let text = sentences.into_iter().flatten().collect::<Vec<_>>().join(" ");
            (texts::unmatched_subject(language, &money), text)
        }
    }

    /// Describes the money that the event reports: `payment of $5.00`.
    fn money(&self, language: Language) -> String {
        let about = self.about.as_ref();
        let kind = match about.map(|about| about.kind) {
            Some(UnmatchedKind::Refund) => "refund",
            _ => "payment",
        };
        let Some(cents) = about.and_then(|about| about.amount_cents) else {
            return texts::unmatched_money(language, kind);
        };
        let amount = match about.and_then(|about| about.currency.as_deref()) {
            Some(currency) => notation::amount(language, cents, currency),
            None => notation::figure(language, cents, ""),
        };
        texts::unmatched_amount(language, kind, &amount)
    }

    /// Lists the references in the event, under the payment processor's names; empty if there are none.
    fn names(&self) -> String {
        let Some(about) = &self.about else { return String::new() };
        let names = [
            ("client_reference_id", &about.client_reference_id),
            ("metadata.orderId", &about.order_id),
            ("metadata.invoiceId", &about.invoice_id),
            ("payment intent", &about.payment_intent),
            ("checkout session", &about.session),
        ];
        let names = names.iter().filter_map(|(what, name)| name.as_ref().map(|name| format!("{what} {name}")));
        names.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests;
