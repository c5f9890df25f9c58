//! Parsing of payment events. Only the required fields are read; all other fields may have any shape.

mod back;
mod period;

pub use back::DisputeUpdate;
pub use period::{PaidLine, PaidPeriod};

use serde_json::{Map, Value};

use crate::bounds::MAX_CENTS;

/// Maximum length of an accepted ID or reference, in bytes.
const MAX_ID_BYTES: usize = 255;
/// Maximum length of a failure reason, in characters; longer ones are truncated.
const MAX_REASON_CHARS: usize = 300;

/// Event from the payment processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentEvent {
    /// The processor's ID for the event, used for deduplication.
    pub id: String,
    /// Time at which the processor created the event, in Unix seconds.
    pub created: i64,
    /// Meaning of the event for an order.
    pub effect: PaymentEffect,
    /// References used to find the order.
    pub links: OrderLinks,
}

/// Meaning of an event for an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentEffect {
    /// A checkout was paid.
    Paid {
        /// Amount in minor units, if the processor specifies it.
        amount_cents: Option<i64>,
        /// ISO 4217 code in lowercase, if the processor specifies it.
        currency: Option<String>,
        /// The processor's ID for the checkout session.
        session: String,
        /// The processor's ID for the payment intent; refund and failure events contain only this ID.
        payment_intent: Option<String>,
        /// The processor's ID for the customer.
        customer: Option<String>,
    },
    /// A checkout was completed but has not been paid yet, as with slow payment methods; a further event follows.
    Unpaid,
    /// A payment failed. The failure is not final, because the customer may try again in the same session.
    Failed {
        /// The processor's reason, at most 300 characters.
        reason: String,
    },
    /// Money was refunded.
    Refunded {
        /// Total amount of this payment refunded so far, in minor units.
        amount_refunded_cents: i64,
        /// `true` if the payment was refunded in full.
        full: bool,
        /// ISO 4217 code in lowercase, if the processor specifies it.
        currency: Option<String>,
    },
    /// A refund failed, so the money has been returned to the shop.
    RefundFailed {
        /// Amount of the failed refund, in minor units.
        amount_cents: i64,
        /// The processor's reason for the failure, or a generic text if it gave none.
        reason: String,
        /// The processor's ID for the refund, `re_...`.
        refund: Option<String>,
    },
    /// The customer's bank disputes a payment, or has decided a dispute.
    Disputed(DisputeUpdate),
    /// A checkout session has expired and can no longer be paid.
    SessionExpired,
    /// A subscription changed; its current state must be read from the processor.
    SubscriptionChanged {
        /// The processor's ID for the customer.
        customer: Option<String>,
        /// The processor's ID for the subscription, `sub_...`.
        subscription: Option<String>,
    },
    /// A subscription invoice, which the processor issues each period, was paid.
    PeriodPaid(Box<PaidPeriod>),
    /// Payment intent that paid a subscription invoice; the invoice itself does not contain it.
    PeriodPaymentNamed {
        /// The processor's ID for the invoice, `in_...`.
        invoice: String,
        /// The processor's ID for the payment, `pi_...`.
        payment_intent: String,
    },
    /// The event has no meaning for this server.
    Ignored {
        /// The processor's name for the event type.
        kind: String,
    },
}

/// References used to find the order that an event belongs to; each may be absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OrderLinks {
    /// Reference that the server passed when it created the session.
    pub client_reference_id: Option<String>,
    /// Order ID from the event metadata: `metadata.orderId` or `metadata.order_id`.
    pub order_id: Option<String>,
    /// Invoice ID from the event metadata: `metadata.invoiceId` or `metadata.invoice_id`.
    pub invoice_id: Option<String>,
    /// The processor's ID for a payment, `pi_...`.
    pub payment_intent: Option<String>,
    /// The processor's ID for the checkout session.
    pub session: Option<String>,
}

/// Reason why an event cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// The body is not JSON.
    #[error("the event is not valid JSON: {detail}")]
    NotJson {
        /// Position in the body, and the cause.
        detail: String,
    },
    /// A field has the wrong shape.
    #[error("{path}: expected {expected}")]
    Shape {
        /// Dotted path of the field.
        path: String,
        /// Expected shape of the field.
        expected: &'static str,
    },
}

/// Parses an event. The caller must have verified its signature against the raw bytes.
pub fn parse(body: &[u8]) -> Result<PaymentEvent, EventError> {
    let event = bounded_json::read(body, bounded_json::REQUEST)
        .map_err(|error| EventError::NotJson { detail: error.to_string() })?;
    let event = EventMembers::of(&event, "event")?;
    let id = event.required_text("id")?;
    let kind = event.required_text("type")?;
    let Some(reading) = EventGroup::of(&kind) else {
        // The newer "thin" events have a date here and no object; none of them is used.
        let created = match event.get("created") {
            Some(Value::String(_)) => 0,
            _ => event.integer("created")?.unwrap_or_default(),
        };
        return Ok(PaymentEvent { id, created, effect: PaymentEffect::Ignored { kind }, links: OrderLinks::default() });
    };
    let created = event.integer("created")?.ok_or_else(|| event.wrong("created", "an integer"))?;
    let data = event.child("data")?.ok_or_else(|| event.wrong("data", "an object"))?;
    let object = data.child("object")?.ok_or_else(|| data.wrong("object", "an object"))?;
    let (effect, links) = reading.read(&kind, &object)?;
    Ok(PaymentEvent { id, created, effect, links })
}

/// Event types in use, grouped by how they are parsed.
#[derive(Debug, Clone, Copy)]
enum EventGroup {
    SessionCompleted,
    SessionPaid,
    SessionFailed,
    SessionExpired,
    IntentFailed,
    ChargeRefunded,
    RefundUpdated,
    Dispute,
    Subscription,
    InvoicePaid,
    InvoicePayment,
    Invoice,
}

impl EventGroup {
    fn of(kind: &str) -> Option<Self> {
        Some(match kind {
            "checkout.session.completed" => Self::SessionCompleted,
            "checkout.session.async_payment_succeeded" => Self::SessionPaid,
            "checkout.session.async_payment_failed" => Self::SessionFailed,
            "checkout.session.expired" => Self::SessionExpired,
            "payment_intent.payment_failed" => Self::IntentFailed,
            "charge.refunded" => Self::ChargeRefunded,
            "refund.failed" | "refund.updated" | "charge.refund.updated" => Self::RefundUpdated,
            _ if kind.starts_with("charge.dispute.") => Self::Dispute,
            _ if kind.starts_with("customer.subscription.") => Self::Subscription,
            "invoice.paid" => Self::InvoicePaid,
            "invoice_payment.paid" => Self::InvoicePayment,
            _ if kind.starts_with("invoice.") => Self::Invoice,
            _ => return None,
        })
    }

    fn read(self, kind: &str, object: &EventMembers<'_>) -> Result<(PaymentEffect, OrderLinks), EventError> {
        let mut links = links(object)?;
        let effect = match self {
            Self::SessionCompleted | Self::SessionPaid | Self::SessionFailed | Self::SessionExpired => {
                let session = object.required_text("id")?;
                links.session = Some(session.clone());
                links.payment_intent = object.reference("payment_intent")?;
                match object.text("mode")?.as_deref() {
                    None | Some("payment") => self.session(object, session, &links)?,
                    Some("subscription") => PaymentEffect::SubscriptionChanged {
                        customer: object.reference("customer")?,
                        subscription: object.reference("subscription")?,
                    },
                    Some(_) => PaymentEffect::Ignored { kind: kind.to_owned() },
                }
            }
            Self::IntentFailed => {
                links.payment_intent = Some(object.required_text("id")?);
                PaymentEffect::Failed { reason: failure(object)? }
            }
            Self::ChargeRefunded => {
                links.payment_intent = object.reference("payment_intent")?;
                PaymentEffect::Refunded {
                    amount_refunded_cents: object
                        .amount("amount_refunded")?
                        .ok_or_else(|| object.wrong("amount_refunded", AMOUNT))?,
                    full: object.flag("refunded")?,
                    currency: object.currency()?,
                }
            }
            Self::RefundUpdated => {
                links.payment_intent = object.reference("payment_intent")?;
                back::refund(kind, object)?
            }
            Self::Dispute => {
                links.payment_intent = object.reference("payment_intent")?;
                PaymentEffect::Disputed(back::dispute(object)?)
            }
            Self::Subscription => PaymentEffect::SubscriptionChanged {
                customer: object.reference("customer")?,
                subscription: Some(object.required_text("id")?),
            },
            Self::InvoicePaid => match period::paid(object)? {
                Some(period) => PaymentEffect::PeriodPaid(Box::new(period)),
                None => period::changed(object)?,
            },
            Self::InvoicePayment => match period::payment(object)? {
                Some((invoice, payment_intent)) => PaymentEffect::PeriodPaymentNamed { invoice, payment_intent },
                None => PaymentEffect::Ignored { kind: kind.to_owned() },
            },
            Self::Invoice => period::changed(object)?,
        };
        Ok((effect, links))
    }

    /// Parses a checkout session in payment mode.
    fn session(
        self,
        object: &EventMembers<'_>,
        session: String,
        links: &OrderLinks,
    ) -> Result<PaymentEffect, EventError> {
        let paid = match self {
            Self::SessionFailed => {
                return Ok(PaymentEffect::Failed { reason: failure(object)? });
            }
            Self::SessionExpired => return Ok(PaymentEffect::SessionExpired),
            Self::SessionPaid => true,
            _ => match object.required_text("payment_status")?.as_str() {
                "paid" | "no_payment_required" => true,
                "unpaid" => false,
                // An unknown status is an error rather than a guess about money; the processor then sends the event
                // again.
                _ => {
                    return Err(object.wrong("payment_status", "paid, unpaid or no_payment_required"));
                }
            },
        };
        if !paid {
            return Ok(PaymentEffect::Unpaid);
        }
        Ok(PaymentEffect::Paid {
            amount_cents: object.amount("amount_total")?,
            currency: object.currency()?,
            session,
            payment_intent: links.payment_intent.clone(),
            customer: object.reference("customer")?,
        })
    }
}

fn links(object: &EventMembers<'_>) -> Result<OrderLinks, EventError> {
    let mut links = OrderLinks { client_reference_id: object.text("client_reference_id")?, ..OrderLinks::default() };
    if let Some(metadata) = object.child("metadata")? {
        links.order_id = metadata.text("orderId")?.or(metadata.text("order_id")?);
        links.invoice_id = metadata.text("invoiceId")?.or(metadata.text("invoice_id")?);
    }
    Ok(links)
}

/// Returns the processor's reason for a failed payment, truncated and cleaned for display.
fn failure(object: &EventMembers<'_>) -> Result<String, EventError> {
    let mut reason = None;
    if let Some(error) = object.child("last_payment_error")? {
        for name in ["message", "decline_code", "code"] {
            reason = reason.or(error.any_text(name)?);
        }
    }
    let reason: String = reason
        .unwrap_or_default()
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(MAX_REASON_CHARS)
        .collect();
    Ok(if reason.trim().is_empty() { "the payment failed".to_owned() } else { reason.trim().to_owned() })
}

const AMOUNT: &str = "a whole number of minor units, not negative";

/// Fields of a JSON object, with the object's path for error messages.
struct EventMembers<'a> {
    path: String,
    object: &'a Map<String, Value>,
}

impl<'a> EventMembers<'a> {
    fn of(value: &'a Value, path: &str) -> Result<Self, EventError> {
        let object =
            value.as_object().ok_or_else(|| EventError::Shape { path: path.to_owned(), expected: "an object" })?;
        // Members of the event itself have no prefix.
        let path = if path == "event" { String::new() } else { format!("{path}.") };
        Ok(Self { path, object })
    }

    fn wrong(&self, name: &str, expected: &'static str) -> EventError {
        EventError::Shape { path: format!("{}{name}", self.path), expected }
    }

    /// Returns the field with the given name; null is treated as absent.
    fn get(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    fn child(&self, name: &str) -> Result<Option<EventMembers<'a>>, EventError> {
        self.get(name).map(|value| EventMembers::of(value, &format!("{}{name}", self.path))).transpose()
    }

    fn any_text(&self, name: &str) -> Result<Option<String>, EventError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.wrong(name, "a string")),
        }
    }

    /// Returns an ID or any other short text; empty text is treated as absent.
    fn text(&self, name: &str) -> Result<Option<String>, EventError> {
        match self.any_text(name)? {
            Some(text) if text.len() > MAX_ID_BYTES || text.contains(char::is_control) => {
                Err(self.wrong(name, "a string of at most 255 bytes without control characters"))
            }
            text => Ok(text),
        }
    }

    fn required_text(&self, name: &str) -> Result<String, EventError> {
        self.text(name)?.ok_or_else(|| self.wrong(name, "a string that is not empty"))
    }

    /// Returns the ID of a referenced object, regardless of whether the processor sent only the ID or the expanded
    /// object.
    fn reference(&self, name: &str) -> Result<Option<String>, EventError> {
        match self.get(name) {
            Some(Value::Object(_)) => self.child(name)?.map(|child| child.required_text("id")).transpose(),
            _ => self.text(name),
        }
    }

    fn integer(&self, name: &str) -> Result<Option<i64>, EventError> {
        self.get(name).map(|value| value.as_i64().ok_or_else(|| self.wrong(name, "an integer"))).transpose()
    }

    fn amount(&self, name: &str) -> Result<Option<i64>, EventError> {
        self.get(name)
            .map(|value| {
                value.as_i64().filter(|cents| (0..=MAX_CENTS).contains(cents)).ok_or_else(|| self.wrong(name, AMOUNT))
            })
            .transpose()
    }

    fn flag(&self, name: &str) -> Result<bool, EventError> {
        self.get(name).and_then(Value::as_bool).ok_or_else(|| self.wrong(name, "true or false"))
    }

    fn currency(&self) -> Result<Option<String>, EventError> {
        match self.text("currency")? {
            None => Ok(None),
            Some(code) if code.len() == 3 && code.bytes().all(|b| b.is_ascii_alphabetic()) => {
                Ok(Some(code.to_ascii_lowercase()))
            }
            Some(_) => Err(self.wrong("currency", "a three-letter currency code")),
        }
    }
}

#[cfg(test)]
mod tests;
