//! Parses the processor's responses. Only the fields in use are read. A field with an unexpected type invalidates the
//! whole response, because it may concern money.

use serde_json::Value;

use super::{
    PaymentMethod, ProcessorCustomer, ProcessorError, ProcessorSession, REFUND_ID, Refund, SessionStatus, Subscription,
    SubscriptionInvoice, SubscriptionItem,
};
use domain::bounds::MAX_CENTS;
use domain::time::Timestamp;

/// Maximum length of an ID or a code, in characters.
const MAX_ID_CHARS: usize = 255;
/// Maximum length of a name, in characters.
const MAX_NAME_CHARS: usize = 500;
/// Maximum length of a URL, in characters.
const MAX_URL_CHARS: usize = 4096;
/// Maximum number of subscription items read.
const MAX_ITEMS: usize = 20;

/// Reader for one object in a response.
pub(super) struct AnswerReader<'a> {
    value: &'a Value,
    what: &'static str,
}

impl<'a> AnswerReader<'a> {
    /// Creates a reader; `what` names the object in error messages.
    pub(super) const fn new(value: &'a Value, what: &'static str) -> Self {
        Self { value, what }
    }

    fn wrong(&self, name: &str) -> ProcessorError {
        ProcessorError::Unavailable(format!("invalid response: {} without a valid {name:?}", self.what))
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        self.value.get(name).filter(|value| !value.is_null())
    }

    fn child(&self, name: &str, what: &'static str) -> Option<Self> {
        self.get(name).filter(|value| value.is_object()).map(|value| AnswerReader::new(value, what))
    }

    fn text(&self, name: &str, most: usize) -> Result<Option<String>, ProcessorError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) if text.chars().nth(most).is_none() && !text.contains(char::is_control) => {
                Ok(Some(text.clone()))
            }
            Some(_) => Err(self.wrong(name)),
        }
    }

    fn word(&self, name: &str) -> Result<String, ProcessorError> {
        self.text(name, MAX_ID_CHARS)?.filter(|word| !word.is_empty()).ok_or_else(|| self.wrong(name))
    }

    /// Returns the object's ID.
    pub(super) fn id(&self) -> Result<String, ProcessorError> {
        self.word("id")
    }

    /// Returns a URL that browsers can open.
    pub(super) fn url(&self, name: &str) -> Result<String, ProcessorError> {
        self.address(name)?.ok_or_else(|| self.wrong(name))
    }

    fn address(&self, name: &str) -> Result<Option<String>, ProcessorError> {
        let text = self.text(name, MAX_URL_CHARS)?;
        let web = |text: &String| text.starts_with("https://") || text.starts_with("http://");
        if text.as_ref().is_none_or(web) { Ok(text) } else { Err(self.wrong(name)) }
    }

    /// Returns the ID of a referenced object, even if the response contains the whole object instead of its ID.
    fn reference(&self, name: &str) -> Result<Option<String>, ProcessorError> {
        match self.child(name, "a thing") {
            Some(whole) => whole.id().map(Some),
            None => self.text(name, MAX_ID_CHARS),
        }
    }

    fn cents(&self, name: &str) -> Result<Option<i64>, ProcessorError> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => value
                .as_i64()
                .filter(|cents| (-MAX_CENTS..=MAX_CENTS).contains(cents))
                .map(Some)
                .ok_or_else(|| self.wrong(name)),
        }
    }

    fn moment(&self, name: &str) -> Result<Option<Timestamp>, ProcessorError> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => {
                let seconds = value.as_i64().ok_or_else(|| self.wrong(name))?;
                Ok(Some(Timestamp(0).plus_ms(seconds.saturating_mul(1000))))
            }
        }
    }

    fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    fn entries(&self, name: &str) -> &'a [Value] {
        self.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

/// One page of a list.
pub(super) struct ProcessorList<'a> {
    pub(super) entries: &'a [Value],
    pub(super) has_more: bool,
}

/// Parses a response that is a list or a search result.
pub(super) fn page(answer: &Value) -> Result<ProcessorList<'_>, ProcessorError> {
    let list = AnswerReader::new(answer, "a list");
    let entries = answer["data"].as_array().ok_or_else(|| list.wrong("data"))?;
    Ok(ProcessorList { entries, has_more: list.flag("has_more") })
}

pub(super) fn session(read: &AnswerReader<'_>) -> Result<ProcessorSession, ProcessorError> {
    let status = match read.word("status")?.as_str() {
        "open" => SessionStatus::Open,
        "complete" => SessionStatus::Complete,
        "expired" => SessionStatus::Expired,
        _ => return Err(read.wrong("status")),
    };
    // A session that waits for a slow payment, and one whose slow payment failed, differ in their intent alone.
    let intent = read.child("payment_intent", "a payment").map_or(Ok(None), |one| one.text("status", MAX_ID_CHARS))?;
    let failed = matches!(intent.as_deref(), Some("requires_payment_method" | "canceled"));
    Ok(ProcessorSession {
        id: read.id()?,
        url: read.address("url")?,
        status,
        payment_failed: failed && status == SessionStatus::Complete,
        paid: match read.word("payment_status")?.as_str() {
            "paid" | "no_payment_required" => true,
            "unpaid" => false,
            _ => return Err(read.wrong("payment_status")),
        },
        amount_cents: read.cents("amount_total")?,
        currency: read.text("currency", MAX_ID_CHARS)?,
        intent: read.reference("payment_intent")?,
        expires_at: read.moment("expires_at")?.ok_or_else(|| read.wrong("expires_at"))?,
    })
}

pub(super) fn refund(read: &AnswerReader<'_>) -> Result<Refund, ProcessorError> {
    let status = read.text("status", MAX_ID_CHARS)?.unwrap_or_default();
    Ok(Refund {
        id: read.id()?,
        amount_cents: read.cents("amount")?.ok_or_else(|| read.wrong("amount"))?,
        counts: !matches!(status.as_str(), "failed" | "canceled"),
        our_id: read
            .child("metadata", "metadata")
            .map_or(Ok(None), |metadata| metadata.text(REFUND_ID, MAX_ID_CHARS))?,
    })
}

pub(super) fn customer(read: &AnswerReader<'_>) -> Result<ProcessorCustomer, ProcessorError> {
    let settings = read.child("invoice_settings", "invoice settings");
    let default = settings.map_or(Ok(None), |settings| settings.reference("default_payment_method"))?;
    Ok(ProcessorCustomer { id: read.id()?, email: read.text("email", MAX_NAME_CHARS)?, default_method: default })
}

pub(super) fn payment_method(read: &AnswerReader<'_>) -> Result<PaymentMethod, ProcessorError> {
    let kind = read.text("type", MAX_ID_CHARS)?.unwrap_or_default();
    let card = read.child("card", "a card");
    let of_card = |name: &str| card.as_ref().and_then(|card| card.get(name)?.as_u64());
    let text = |name: &str| card.as_ref().map_or(Ok(None), |card| card.text(name, MAX_ID_CHARS));
    Ok(PaymentMethod {
        id: read.id()?,
        brand: text("brand")?.unwrap_or(kind),
        last4: text("last4")?.unwrap_or_default(),
        exp_month: of_card("exp_month").and_then(|month| u8::try_from(month).ok()).filter(|m| (1..=12).contains(m)),
        exp_year: of_card("exp_year").and_then(|year| u16::try_from(year).ok()),
    })
}

pub(super) fn subscription(read: &AnswerReader<'_>) -> Result<Subscription, ProcessorError> {
    let list = read.child("items", "an item list").ok_or_else(|| read.wrong("items"))?;
    // Older accounts have the period on the subscription, newer ones on its items.
    let period = period(read)?;
    let items = list.entries("data").iter().take(MAX_ITEMS);
    let items = items.map(|one| item(&AnswerReader::new(one, "a subscription item"), period));
    let items = items.collect::<Result<Vec<_>, _>>()?;
    if items.is_empty() {
        return Err(read.wrong("items"));
    }
    let invoice = read.child("latest_invoice", "an invoice").map(|one| invoice(&one)).transpose()?;
    let method =
        read.child("default_payment_method", "a payment method").map(|one| payment_method(&one)).transpose()?;
    Ok(Subscription {
        id: read.id()?,
        customer: read.reference("customer")?.ok_or_else(|| read.wrong("customer"))?,
        status: read.word("status")?,
        items,
        currency: read.word("currency")?,
        cancel_at_period_end: read.flag("cancel_at_period_end"),
        created_at: read.moment("created")?.ok_or_else(|| read.wrong("created"))?,
        latest_invoice: invoice,
        default_payment_method: method,
    })
}

fn item(read: &AnswerReader<'_>, of_all: Option<(Timestamp, Timestamp)>) -> Result<SubscriptionItem, ProcessorError> {
    let price = read.child("price", "a price").ok_or_else(|| read.wrong("price"))?;
    let product = price.child("product", "a product");
    let named = product.as_ref().map_or(Ok(None), |product| product.text("name", MAX_NAME_CHARS))?;
    let nickname = price.text("nickname", MAX_NAME_CHARS)?;
    let recurring = price.child("recurring", "a recurring price");
    let interval = recurring.map_or(Ok(None), |one| one.text("interval", MAX_ID_CHARS))?;
    let quantity = read.get("quantity").and_then(Value::as_u64).and_then(|count| u32::try_from(count).ok());
    Ok(SubscriptionItem {
        id: read.id()?,
        price_id: price.id()?,
        product_name: named.or(nickname).unwrap_or_default(),
        amount_cents: price.cents("unit_amount")?.unwrap_or_default(),
        quantity: quantity.unwrap_or(1),
        interval: interval.unwrap_or_default(),
        period: period(read)?.or(of_all),
    })
}

fn period(read: &AnswerReader<'_>) -> Result<Option<(Timestamp, Timestamp)>, ProcessorError> {
    Ok(read.moment("current_period_start")?.zip(read.moment("current_period_end")?))
}

fn invoice(read: &AnswerReader<'_>) -> Result<SubscriptionInvoice, ProcessorError> {
    Ok(SubscriptionInvoice {
        id: read.id()?,
        number: read.text("number", MAX_ID_CHARS)?,
        status: read.text("status", MAX_ID_CHARS)?.unwrap_or_default(),
        total_cents: read.cents("total")?.unwrap_or_default(),
        url: read.address("hosted_invoice_url")?,
    })
}
