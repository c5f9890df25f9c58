//! Parsing of subscription invoices issued by the processor: the items paid for a period, and the payment.

use serde_json::Value;

use super::{EventError, EventMembers, PaymentEffect};
use crate::bounds::MAX_CENTS;
use crate::refusal::shortened;

/// Maximum number of invoice lines read; the processor's events contain at most ten.
const MAX_LINES: usize = 100;
/// Maximum length of a line's description, in characters.
const MAX_WORDS_CHARS: usize = 300;

/// Paid period of a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaidPeriod {
    /// The processor's ID for the invoice, `in_...`.
    pub invoice: String,
    /// The processor's invoice number, for display.
    pub number: Option<String>,
    /// The server's ID for the customer, set when the subscription was created; `None` if the subscription was created
    /// elsewhere.
    pub our_customer: Option<String>,
    /// Amount paid, in minor units; greater than 0.
    pub amount_cents: i64,
    /// ISO 4217 code in lowercase.
    pub currency: String,
    /// The processor's ID for the payment intent, if the processor specifies it.
    pub payment_intent: Option<String>,
    /// Invoice lines; empty if the event does not contain all of them.
    pub lines: Vec<PaidLine>,
}

/// Line of an invoice issued by the processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaidLine {
    /// Description of the goods or service.
    pub description: String,
    /// Number of units.
    pub quantity: u32,
    /// Line total, in minor units; negative for the unused part of an earlier period.
    pub amount_cents: i64,
}

/// Parses a subscription change reported by an invoice.
pub(super) fn changed(object: &EventMembers<'_>) -> Result<PaymentEffect, EventError> {
    Ok(PaymentEffect::SubscriptionChanged {
        customer: object.reference("customer")?,
        subscription: subscription(object)?,
    })
}

/// Parses the period for which an invoice was paid. Returns `None` if the invoice does not belong to a subscription or
/// no money moved.
pub(super) fn paid(object: &EventMembers<'_>) -> Result<Option<PaidPeriod>, EventError> {
    let amount = object.amount("amount_paid")?.unwrap_or_default();
    if subscription(object)?.is_none() || amount == 0 {
        return Ok(None);
    }
    Ok(Some(PaidPeriod {
        invoice: object.required_text("id")?,
        number: object.text("number")?,
        our_customer: our_customer(object)?,
        amount_cents: amount,
        currency: object.currency()?.ok_or_else(|| object.wrong("currency", "a three-letter currency code"))?,
        payment_intent: object.reference("payment_intent")?,
        lines: lines(object)?,
    }))
}

/// Returns the IDs of an invoice and of the payment intent that paid it. Returns `None` if the invoice was paid in a
/// different way.
pub(super) fn payment(object: &EventMembers<'_>) -> Result<Option<(String, String)>, EventError> {
    let payment = object.child("payment")?;
    let intent = payment.map_or(Ok(None), |payment| payment.reference("payment_intent"))?;
    Ok(object.reference("invoice")?.zip(intent))
}

/// Returns the subscription details of an invoice, which newer versions of the processor's API nest under `parent`.
fn details<'a>(object: &EventMembers<'a>) -> Result<Option<EventMembers<'a>>, EventError> {
    match object.child("parent")? {
        Some(parent) => parent.child("subscription_details"),
        None => object.child("subscription_details"),
    }
}

fn subscription(object: &EventMembers<'_>) -> Result<Option<String>, EventError> {
    let named = details(object)?.map_or(Ok(None), |details| details.reference("subscription"))?;
    if named.is_some() { Ok(named) } else { object.reference("subscription") }
}

fn our_customer(object: &EventMembers<'_>) -> Result<Option<String>, EventError> {
    let metadata = details(object)?.map_or(Ok(None), |details| details.child("metadata"))?;
    metadata.map_or(Ok(None), |metadata| metadata.text("customerId"))
}

fn lines(object: &EventMembers<'_>) -> Result<Vec<PaidLine>, EventError> {
    let Some(list) = object.child("lines")? else { return Ok(Vec::new()) };
    let entries = list.get("data").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if list.get("has_more") == Some(&Value::Bool(true)) || entries.len() > MAX_LINES {
        return Ok(Vec::new());
    }
    let line = |(n, entry): (usize, &Value)| {
        let line = EventMembers::of(entry, &format!("{}lines.data.{n}", object.path))?;
        let amount = line.integer("amount")?.filter(|cents| (-MAX_CENTS..=MAX_CENTS).contains(cents));
        let words = line.any_text("description")?.unwrap_or_default();
        let plain: String = words.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let description = if plain.trim().is_empty() { "Subscription" } else { plain.trim() };
        Ok(PaidLine {
            description: shortened(description.to_owned(), MAX_WORDS_CHARS),
            quantity: line.integer("quantity")?.and_then(|count| u32::try_from(count).ok()).unwrap_or(1).max(1),
            amount_cents: amount.ok_or_else(|| line.wrong("amount", "a whole number of minor units"))?,
        })
    };
    entries.iter().enumerate().map(line).collect()
}
