//! Reading what other shops say of orders: within bounds, and forgiving where nothing depends on it.

use serde_json::Value;

use super::MessageError;
use crate::domain::access::normal_email;
use crate::domain::address::{Address, NO_POSTAL_CODE};
use crate::domain::bounds::MAX_QUANTITY;
use crate::domain::channel_order::{SoldContent, variant_name};
use crate::domain::currency;
use crate::domain::refusal::shortened;
use crate::domain::time::Timestamp;

/// Most characters of names, numbers and codes.
const MAX_WORD_CHARS: usize = 200;
/// Most characters of what a customer wrote.
const MAX_NOTES_CHARS: usize = 1_000;

/// A fault of a message, with the member that is wrong.
pub(super) fn malformed(what: &str) -> MessageError {
    MessageError::Malformed(format!("{what} is missing, or not as it should be"))
}

/// What was sold, or why it cannot be read: a shop switches messages off that are refused, and the order was paid.
pub(super) fn kept(content: Result<SoldContent, MessageError>) -> (Option<SoldContent>, Option<String>) {
    match content {
        Ok(content) => (Some(content), None),
        Err(error) => (None, Some(error.to_string())),
    }
}

/// Reads a signed body within bounds.
pub(super) fn read_body(body: &[u8]) -> Result<Value, MessageError> {
    bounded_json::read(body, bounded_json::REQUEST).map_err(|error| MessageError::Malformed(error.to_string()))
}

/// As one line of bounded length, without what databases and mails do not take.
pub(super) fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    shortened(plain.trim().to_owned(), MAX_WORD_CHARS)
}

/// A text that says something; `None` for anything else.
pub(super) fn word(value: &Value) -> Option<String> {
    value.as_str().map(one_line).filter(|text| !text.is_empty())
}

/// What somebody called what they sold, as the map takes it; `None` where nothing is said.
pub(super) fn title(value: &Value) -> Option<String> {
    value.as_str().map(variant_name).filter(|name| !name.is_empty())
}

/// An id, as a number or a text; 0 is none.
pub(super) fn id(value: &Value) -> Option<String> {
    let number = value.as_u64().filter(|id| *id > 0).map(|id| id.to_string());
    number.or_else(|| word(value)).filter(|id| id != "0")
}

/// What somebody wrote; lines are kept.
pub(super) fn notes(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let plain: String = text.chars().filter(|c| !c.is_control() || *c == '\n').collect();
    Some(shortened(plain.trim().to_owned(), MAX_NOTES_CHARS)).filter(|text| !text.is_empty())
}

/// An amount, written as a text or a number.
pub(super) fn cents(value: &Value, currency: &str) -> Option<i64> {
    match value {
        Value::String(text) => currency::parse(text, currency),
        Value::Number(number) => currency::parse(&number.to_string(), currency),
        _ => None,
    }
}

/// How many were sold.
pub(super) fn quantity(value: &Value) -> Option<u32> {
    let quantity = value.as_u64().and_then(|quantity| u32::try_from(quantity).ok());
    quantity.filter(|quantity| (1..=MAX_QUANTITY).contains(quantity))
}

/// A rate of tax in basis points, of a share of 1 or of 100.
pub(super) fn rate_bps(value: &Value, whole: f64) -> f64 {
    let share = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).unwrap_or(0.0);
    (share / whole * 10_000.0).clamp(0.0, 10_000.0)
}

/// The sum of rates, rounded to basis points.
pub(super) fn whole_bps(rates: impl Iterator<Item = f64>) -> i64 {
    rates.sum::<f64>().clamp(0.0, 10_000.0).round() as i64
}

/// A moment, with a zone or in UTC.
pub(super) fn moment(value: &Value) -> Option<Timestamp> {
    let text = value.as_str()?.trim();
    text.parse().ok().or_else(|| format!("{text}Z").parse().ok())
}

/// An e-mail address in its normal form.
pub(super) fn email(value: &Value) -> Option<String> {
    normal_email(value.as_str()?).ok()
}

/// A postal address, if it is whole enough to send something there.
pub(super) fn address(of: &Value, names: [&str; 6]) -> Option<Address> {
    let [line1, line2, city, region, postal_code, country] = names.map(|name| word(&of[name]));
    Some(Address {
        line1: line1?,
        line2,
        city: city?,
        region,
        postal_code: postal_code.unwrap_or_else(|| NO_POSTAL_CODE.to_owned()),
        country: country.filter(|code| code.len() == 2)?.to_uppercase(),
    })
}
