//! What a payment event says. Only the members we need are read; the rest may be anything.

use serde_json::{Map, Value};

/// The longest id or reference believed, in bytes.
const ID_MAX_BYTES: usize = 255;
/// How much of a reason for a failure is kept, in characters.
const REASON_MAX_CHARS: usize = 300;

/// One event of the payment processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentEvent {
    /// The processor's id of the event: the same event may come several times.
    pub id: String,
    /// When the processor made it, Unix seconds.
    pub created: i64,
    /// What it means for an order.
    pub effect: PaymentEffect,
    /// By what the order is found.
    pub links: OrderLinks,
}

/// What an event means for an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentEffect {
    /// The checkout is paid for.
    Paid {
        /// The whole amount in minor units, where the processor named it.
        amount_cents: Option<i64>,
        /// ISO 4217 in lower case, where the processor named it.
        currency: Option<String>,
        /// The checkout session.
        session: String,
        /// The payment, to be stored: refunds and failures name nothing else.
        payment_intent: Option<String>,
        /// The processor's customer.
        customer: Option<String>,
    },
    /// The checkout is complete but not paid yet (a slow payment method): wait for a later event.
    Unpaid,
    /// A payment failed. Not final: the customer may try again in the same session.
    Failed {
        /// The processor's words, at most 300 characters.
        reason: String,
    },
    /// Money went back.
    Refunded {
        /// All refunds of this payment together, in minor units.
        amount_refunded_cents: i64,
        /// True when nothing of the payment is left.
        full: bool,
        /// ISO 4217 in lower case, where the processor named it.
        currency: Option<String>,
    },
    /// The checkout session can no longer be paid.
    SessionExpired,
    /// Something about a subscription changed; it is read anew from the processor.
    SubscriptionChanged {
        /// The processor's customer.
        customer: Option<String>,
        /// The subscription.
        subscription: Option<String>,
    },
    /// Nothing that we use.
    Ignored {
        /// The processor's name of the event.
        kind: String,
    },
}

/// By what an order is found. Any of them may be absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OrderLinks {
    /// The reference given when the session was made.
    pub client_reference_id: Option<String>,
    /// `metadata.orderId` (or `order_id`).
    pub order_id: Option<String>,
    /// `metadata.invoiceId` (or `invoice_id`).
    pub invoice_id: Option<String>,
    /// The payment intent.
    pub payment_intent: Option<String>,
    /// The checkout session.
    pub session: Option<String>,
}

/// Why an event cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// The body is not JSON.
    #[error("the event is not valid JSON: {detail}")]
    NotJson {
        /// Where and why.
        detail: String,
    },
    /// A member has the wrong shape.
    #[error("{path}: expected {expected}")]
    Shape {
        /// The dotted path of the member.
        path: String,
        /// What should be there.
        expected: &'static str,
    },
}

/// Reads an event. Verify its signature first, over the raw bytes.
pub fn parse(body: &[u8]) -> Result<PaymentEvent, EventError> {
    let event = bounded_json::read(body, bounded_json::REQUEST)
        .map_err(|error| EventError::NotJson { detail: error.to_string() })?;
    let event = Members::of(&event, "event")?;
    let id = event.required_text("id")?;
    let kind = event.required_text("type")?;
    let Some(reading) = Reading::of(&kind) else {
        // The newer "thin" events write a date here and carry no object; we use none of them.
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

/// The kinds of event that we use, by how they are read.
#[derive(Debug, Clone, Copy)]
enum Reading {
    SessionCompleted,
    SessionPaid,
    SessionFailed,
    SessionExpired,
    IntentFailed,
    ChargeRefunded,
    Subscription,
    Invoice,
}

impl Reading {
    fn of(kind: &str) -> Option<Self> {
        Some(match kind {
            "checkout.session.completed" => Self::SessionCompleted,
            "checkout.session.async_payment_succeeded" => Self::SessionPaid,
            "checkout.session.async_payment_failed" => Self::SessionFailed,
            "checkout.session.expired" => Self::SessionExpired,
            "payment_intent.payment_failed" => Self::IntentFailed,
            "charge.refunded" => Self::ChargeRefunded,
            _ if kind.starts_with("customer.subscription.") => Self::Subscription,
            _ if kind.starts_with("invoice.") => Self::Invoice,
            _ => return None,
        })
    }

    fn read(self, kind: &str, object: &Members<'_>) -> Result<(PaymentEffect, OrderLinks), EventError> {
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
            Self::Subscription => PaymentEffect::SubscriptionChanged {
                customer: object.reference("customer")?,
                subscription: Some(object.required_text("id")?),
            },
            Self::Invoice => PaymentEffect::SubscriptionChanged {
                customer: object.reference("customer")?,
                subscription: invoice_subscription(object)?,
            },
        };
        Ok((effect, links))
    }

    /// A session in payment mode.
    fn session(self, object: &Members<'_>, session: String, links: &OrderLinks) -> Result<PaymentEffect, EventError> {
        let paid = match self {
            Self::SessionFailed => {
                return Ok(PaymentEffect::Failed { reason: failure(object)? });
            }
            Self::SessionExpired => return Ok(PaymentEffect::SessionExpired),
            Self::SessionPaid => true,
            _ => match object.required_text("payment_status")?.as_str() {
                "paid" | "no_payment_required" => true,
                "unpaid" => false,
                // Better to be asked again than to guess about money.
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

fn links(object: &Members<'_>) -> Result<OrderLinks, EventError> {
    let mut links = OrderLinks { client_reference_id: object.text("client_reference_id")?, ..OrderLinks::default() };
    if let Some(metadata) = object.child("metadata")? {
        links.order_id = metadata.text("orderId")?.or(metadata.text("order_id")?);
        links.invoice_id = metadata.text("invoiceId")?.or(metadata.text("invoice_id")?);
    }
    Ok(links)
}

/// The processor's words for a failed payment, made fit to be shown.
fn failure(object: &Members<'_>) -> Result<String, EventError> {
    let mut said = None;
    if let Some(error) = object.child("last_payment_error")? {
        for name in ["message", "decline_code", "code"] {
            said = said.or(error.any_text(name)?);
        }
    }
    let said: String =
        said.unwrap_or_default().chars().map(|c| if c.is_control() { ' ' } else { c }).take(REASON_MAX_CHARS).collect();
    Ok(if said.trim().is_empty() { "the payment failed".to_owned() } else { said.trim().to_owned() })
}

/// Newer versions of the processor name the subscription of an invoice under `parent`, older ones directly.
fn invoice_subscription(object: &Members<'_>) -> Result<Option<String>, EventError> {
    if let Some(parent) = object.child("parent")?
        && let Some(details) = parent.child("subscription_details")?
        && let Some(subscription) = details.reference("subscription")?
    {
        return Ok(Some(subscription));
    }
    object.reference("subscription")
}

const AMOUNT: &str = "a whole number of minor units, not negative";

/// The members of one JSON object and where it stands, for error messages.
struct Members<'a> {
    path: String,
    object: &'a Map<String, Value>,
}

impl<'a> Members<'a> {
    fn of(value: &'a Value, path: &str) -> Result<Self, EventError> {
        let object =
            value.as_object().ok_or_else(|| EventError::Shape { path: path.to_owned(), expected: "an object" })?;
        // Members of the event itself are named without a prefix.
        let path = if path == "event" { String::new() } else { format!("{path}.") };
        Ok(Self { path, object })
    }

    fn wrong(&self, name: &str, expected: &'static str) -> EventError {
        EventError::Shape { path: format!("{}{name}", self.path), expected }
    }

    /// The member, where null counts as absent.
    fn get(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    fn child(&self, name: &str) -> Result<Option<Members<'a>>, EventError> {
        self.get(name).map(|value| Members::of(value, &format!("{}{name}", self.path))).transpose()
    }

    fn any_text(&self, name: &str) -> Result<Option<String>, EventError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.wrong(name, "a string")),
        }
    }

    /// An id or another short text; the empty one counts as absent.
    fn text(&self, name: &str) -> Result<Option<String>, EventError> {
        match self.any_text(name)? {
            Some(text) if text.len() > ID_MAX_BYTES || text.contains(char::is_control) => {
                Err(self.wrong(name, "a string of at most 255 bytes without control characters"))
            }
            text => Ok(text),
        }
    }

    fn required_text(&self, name: &str) -> Result<String, EventError> {
        self.text(name)?.ok_or_else(|| self.wrong(name, "a string that is not empty"))
    }

    /// A reference to another object: its id, or the object itself when it was asked for.
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
            .map(|value| value.as_i64().filter(|cents| *cents >= 0).ok_or_else(|| self.wrong(name, AMOUNT)))
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
            Some(_) => Err(self.wrong("currency", "a currency code of three letters")),
        }
    }
}

#[cfg(test)]
mod tests;
