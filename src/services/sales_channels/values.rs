//! Parses values in other shops' orders: within limits, and leniently for values that nothing depends on.

use serde_json::Value;

use super::MessageError;
use domain::access::normal_email;
use domain::address::{Address, NO_POSTAL_CODE};
use domain::bounds::MAX_QUANTITY;
use domain::channel_order::{SoldContent, variant_name};
use domain::currency;
use domain::refusal::shortened;
use domain::time::Timestamp;

/// Maximum length of names, numbers and codes, in characters.
const MAX_WORD_CHARS: usize = 200;
/// Maximum length of a customer's notes, in characters.
const MAX_NOTES_CHARS: usize = 1_000;

/// Returns the error for a webhook in which `what` is invalid.
pub(super) fn malformed(what: &str) -> MessageError {
    MessageError::Malformed(format!("{what} is missing or invalid"))
}

/// Splits a parsing result into the contents of the order and the reason why they cannot be read. A webhook with
/// unreadable contents is not rejected, because shops disable rejected webhooks and the order has been paid.
pub(super) fn split_content(content: Result<SoldContent, MessageError>) -> (Option<SoldContent>, Option<String>) {
    match content {
        Ok(content) => (Some(content), None),
        Err(error) => (None, Some(error.to_string())),
    }
}

/// Parses the body of a signed webhook within limits.
pub(super) fn read_body(body: &[u8]) -> Result<Value, MessageError> {
    bounded_json::read(body, bounded_json::REQUEST).map_err(|error| MessageError::Malformed(error.to_string()))
}

/// Reduces a string to one line of limited length, without characters that databases and emails reject.
pub(super) fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    shortened(plain.trim().to_owned(), MAX_WORD_CHARS)
}

/// Returns a non-empty string; `None` for anything else.
pub(super) fn word(value: &Value) -> Option<String> {
    value.as_str().map(one_line).filter(|text| !text.is_empty())
}

/// Returns the title of a sold product in the form used by the variant map; `None` if it is empty.
pub(super) fn title(value: &Value) -> Option<String> {
    value.as_str().map(variant_name).filter(|name| !name.is_empty())
}

/// Returns an ID, which may be a number or a string; `None` if it is 0.
pub(super) fn id(value: &Value) -> Option<String> {
    let number = value.as_u64().filter(|id| *id > 0).map(|id| id.to_string());
    number.or_else(|| word(value)).filter(|id| id != "0")
}

/// Returns a customer's notes, including line breaks.
pub(super) fn notes(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let plain: String = text.chars().filter(|c| !c.is_control() || *c == '\n').collect();
    Some(shortened(plain.trim().to_owned(), MAX_NOTES_CHARS)).filter(|text| !text.is_empty())
}

/// Parses an amount of money, which may be a string or a number, to minor units of the currency.
pub(super) fn cents(value: &Value, currency: &str) -> Option<i64> {
    match value {
        Value::String(text) => currency::parse(text, currency),
        Value::Number(number) => currency::parse(&number.to_string(), currency),
        _ => None,
    }
}

/// Parses a quantity.
pub(super) fn quantity(value: &Value) -> Option<u32> {
    let quantity = value.as_u64().and_then(|quantity| u32::try_from(quantity).ok());
    quantity.filter(|quantity| (1..=MAX_QUANTITY).contains(quantity))
}

/// Parses a tax rate to basis points; `whole` is the value that means 100 %.
pub(super) fn rate_bps(value: &Value, whole: f64) -> f64 {
    let share = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).unwrap_or(0.0);
    (share / whole * 10_000.0).clamp(0.0, 10_000.0)
}

/// Sums tax rates and rounds to basis points.
pub(super) fn whole_bps(rates: impl Iterator<Item = f64>) -> i64 {
    rates.sum::<f64>().clamp(0.0, 10_000.0).round() as i64
}

/// Parses a timestamp; a timestamp without a time zone is treated as UTC.
pub(super) fn moment(value: &Value) -> Option<Timestamp> {
    let text = value.as_str()?.trim();
    text.parse().ok().or_else(|| format!("{text}Z").parse().ok())
}

/// Returns a normalised email address; `None` if it is invalid.
pub(super) fn email(value: &Value) -> Option<String> {
    normal_email(value.as_str()?).ok()
}

/// Parses a postal address; `None` unless it is complete enough for shipping.
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
