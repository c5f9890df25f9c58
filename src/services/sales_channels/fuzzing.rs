//! Entry of the fuzz target for webhooks of shops.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::ALL_TYPES;

/// Headers in which shops name the topic of a webhook.
const TOPICS: [&str; 2] = ["x-shopify-topic", "x-wc-webhook-topic"];

/// Reads a webhook of each kind of shop. The first line is the topic, the rest is the body.
pub(crate) fn parse(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or_default();
    let Ok(topic) = HeaderValue::from_bytes(&data[..end]) else { return };
    let named = TOPICS.into_iter().map(|name| (HeaderName::from_static(name), topic.clone()));
    let headers: HeaderMap = named.collect();
    let body = data.get(end + 1..).unwrap_or_default();
    for messages in ALL_TYPES.into_iter().filter_map(|kind| kind.messages.as_ref()) {
        if !(messages.is_trial)(&headers, body) {
            let _ = (messages.read)(&headers, body);
        }
    }
}
