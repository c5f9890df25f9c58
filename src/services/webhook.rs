//! Makes a single attempt to send a webhook delivery, and reports the outcome. [`domain::schedule`] decides when the
//! next attempt is made, and the endpoint's owner decides the consequences of a failure. The request leaves through the
//! port [`WebhookTransport`].

mod transport;

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use tokio::time::Instant;

pub use transport::{WebhookFault, WebhookRequest, WebhookResponse, WebhookTransport};

use domain::signing;
use transport::MAX_ANSWER_KEPT_BYTES;

/// Event to deliver to an endpoint. It is identical on every attempt.
#[derive(Clone)]
pub struct OutgoingDelivery {
    /// Delivery ID, sent as `X-Service-Delivery`.
    pub id: String,
    /// Event ID, sent as `webhook-id` and as `id` in the envelope.
    pub event_id: String,
    /// Event type, sent as `X-Service-Event`.
    pub event: String,
    /// URL to which the event is posted.
    pub url: String,
    /// Envelope, which is sent byte for byte.
    pub body: Bytes,
    /// Current signing secret of the endpoint.
    pub secret: String,
    /// Previous signing secret; `None` unless the endpoint's secret is being rotated.
    pub old_secret: Option<String>,
}

/// Outcome of a single delivery attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryAttemptOutcome {
    /// HTTP status of the response; `None` if there was no response.
    pub status: Option<u16>,
    /// `true` for a 2xx response within the time limit.
    pub ok: bool,
    /// Reason for the failure, in plain language that may be shown to the endpoint's owner; `None` after a success.
    pub error: Option<String>,
    /// Attempt duration in milliseconds.
    pub duration_ms: u64,
    /// Beginning of the response body, at most `MAX_ANSWER_KEPT_BYTES`.
    pub excerpt: Option<String>,
}

/// Sender that signs deliveries and makes single attempts.
#[derive(Clone)]
pub struct Sender {
    transport: Arc<dyn WebhookTransport>,
}

impl Sender {
    /// Creates a sender whose requests leave through the given transport.
    pub fn new(transport: Arc<dyn WebhookTransport>) -> Self {
        Self { transport }
    }

    /// Makes a single attempt. The signature covers `now`, the time of the attempt, so that receivers can detect
    /// replayed requests. Whatever the receiver does, the result is a [`DeliveryAttemptOutcome`], never an error.
    pub async fn send(&self, delivery: &OutgoingDelivery, now: Timestamp) -> DeliveryAttemptOutcome {
        let started = Instant::now();
        let mut outcome = self.attempt(delivery, now).await;
        outcome.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        outcome
    }

    async fn attempt(&self, delivery: &OutgoingDelivery, now: Timestamp) -> DeliveryAttemptOutcome {
        let request = signed(delivery, now.as_second());
        let WebhookResponse { status, beginning, timeout } = match self.transport.post(&request).await {
            Ok(response) => response,
            Err(WebhookFault(words)) => return DeliveryAttemptOutcome::failed(words),
        };
        let error = match (timeout, status) {
            (Some(words), _) => Some(words),
            (None, 200..300) => None,
            (None, 300..400) => Some(format!("responded with {status}; redirects are not followed")),
            (None, _) => Some(format!("responded with {status}")),
        };
        DeliveryAttemptOutcome {
            status: Some(status),
            ok: error.is_none(),
            error,
            duration_ms: 0,
            excerpt: excerpt(&beginning),
        }
    }
}

impl DeliveryAttemptOutcome {
    fn failed(error: String) -> Self {
        Self { status: None, ok: false, error: Some(error), duration_ms: 0, excerpt: None }
    }
}

/// Returns the request for a delivery, with its signatures. `stamp` is the time of the attempt in Unix seconds.
fn signed(delivery: &OutgoingDelivery, stamp: i64) -> WebhookRequest {
    let OutgoingDelivery { id, event_id, event, url, body, secret, old_secret } = delivery;
    let mut secrets = vec![secret.as_str()];
    secrets.extend(old_secret.as_deref());
    let headers = vec![
        ("content-type", "application/json".to_owned()),
        ("x-service-signature", signing::service_signature(secret, body)),
        ("x-service-event", event.clone()),
        ("x-service-delivery", id.clone()),
        ("webhook-id", event_id.clone()),
        ("webhook-timestamp", stamp.to_string()),
        ("webhook-signature", signing::webhook_signature(&secrets, event_id, stamp, body)),
    ];
    WebhookRequest { url: url.clone(), headers, body: body.clone() }
}

/// Converts the stored bytes to text that any database accepts.
fn excerpt(body: &[u8]) -> Option<String> {
    if body.is_empty() {
        return None;
    }
    // A database text cannot hold NUL. What is not UTF-8 becomes three bytes long, so the length is checked again.
    let mut text = String::from_utf8_lossy(body).replace('\0', "\u{fffd}");
    text.truncate(text.floor_char_boundary(MAX_ANSWER_KEPT_BYTES));
    Some(text)
}

#[cfg(test)]
mod tests;
