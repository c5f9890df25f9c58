//! Entries of the fuzz targets: they read what other systems send, as the clients do. Not part of the server.

use serde_json::Value;

use crate::{accounting, mail, parts, payments, sales_channels, storefront};

/// Reads a response from the payment processor as each of its objects.
pub fn processor_answer(data: &[u8]) {
    with_answer(data, payments::fuzzing::parse);
}

/// Reads a response from each system that counts parts and spools.
pub fn stock_answer(data: &[u8]) {
    with_answer(data, parts::parse_answer);
}

/// Reads a response from the accounting system.
pub fn accounting_answer(data: &[u8]) {
    with_answer(data, accounting::fuzzing::parse);
}

/// Reads a product and a collection of the storefront.
pub fn storefront_answer(data: &[u8]) {
    with_answer(data, storefront::parse_answer);
}

/// Reads a webhook of each kind of shop, whose signature is valid. The first line of the input is its topic.
pub fn shop_order(data: &[u8]) {
    sales_channels::fuzzing::parse(data);
}

/// Composes an email with text from an outsider.
pub fn mail_texts(subject: &str, text: &str, html: &str) {
    mail::fuzzing::compose_with(subject, text, html);
}

/// Reads bytes as JSON, within the bounds of responses.
fn with_answer(data: &[u8], parse: fn(&Value)) {
    if let Ok(answer) = bounded_json::read(data, bounded_json::ANSWER) {
        parse(&answer);
    }
}
