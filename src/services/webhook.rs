//! Makes a single attempt to send a webhook delivery, and reports the outcome. [`domain::schedule`] decides when the
//! next attempt is made, and the endpoint's owner decides the consequences of a failure.

use std::error::Error as StdError;
use std::io;

use bytes::Bytes;
use jiff::Timestamp;
use tokio::time::Instant;

use domain::signing;
use platform::http::{BlockedHost, Outbound, read_beginning};

/// Maximum number of response bytes read.
const MAX_ANSWER_READ_BYTES: usize = 16 * 1024;
/// Maximum number of response bytes stored.
const MAX_ANSWER_KEPT_BYTES: usize = 1024;

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
    client: Outbound,
}

impl Sender {
    /// Creates a sender that uses the HTTP client for webhooks.
    pub fn new(client: Outbound) -> Self {
        Self { client }
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
        let request = match self.client.post(&delivery.url) {
            Ok(request) => signed(request, delivery, now.as_second()),
            Err(refused) => return DeliveryAttemptOutcome::failed(refused.to_string()),
        };
        let mut answer = match request.send().await {
            Ok(answer) => answer,
            Err(error) => return DeliveryAttemptOutcome::failed(self.words(&error)),
        };
        let status = answer.status();
        let (body, broken) = read_beginning(&mut answer, MAX_ANSWER_READ_BYTES, MAX_ANSWER_KEPT_BYTES).await;
        let error = match broken {
            // The time limit is for the whole answer. One that breaks off has still been given.
            Some(error) if error.is_timeout() => Some(self.words(&error)),
            _ if status.is_success() => None,
            _ if status.is_redirection() => {
                Some(format!("responded with {}; redirects are not followed", status.as_u16()))
            }
            _ => Some(format!("responded with {}", status.as_u16())),
        };
        DeliveryAttemptOutcome {
            status: Some(status.as_u16()),
            ok: error.is_none(),
            error,
            duration_ms: 0,
            excerpt: excerpt(&body),
        }
    }

    /// Describes a failure in plain language. The error's own text is not shown, because it may contain internal
    /// details.
    fn words(&self, error: &reqwest::Error) -> String {
        if let Some(blocked) = causes(error).find_map(|cause| cause.downcast_ref::<BlockedHost>()) {
            return blocked.to_string();
        }
        let words = if error.is_timeout() && error.is_connect() {
            let seconds = self.client.settings().connect_timeout.as_secs_f64();
            return format!("no connection within {seconds} s");
        } else if error.is_timeout() {
            let seconds = self.client.settings().timeout.as_secs_f64();
            return format!("no complete response within {seconds} s");
        } else if causes(error).any(is_tls) {
            "the TLS connection failed; the certificate may be invalid"
        } else if error.is_dns() {
            "the host name could not be resolved"
        } else if causes(error).any(|cause| io_kind(cause) == Some(io::ErrorKind::ConnectionRefused)) {
            "the connection was refused"
        } else if error.is_connect() {
            "the host could not be reached"
        } else if error.is_builder() {
            "the request could not be built"
        } else {
            "the connection was closed before a response arrived"
        };
        words.to_owned()
    }
}

impl DeliveryAttemptOutcome {
    fn failed(error: String) -> Self {
        Self { status: None, ok: false, error: Some(error), duration_ms: 0, excerpt: None }
    }
}

/// Adds the body and headers to a request. `stamp` is the time of the attempt in Unix seconds.
fn signed(request: reqwest::RequestBuilder, delivery: &OutgoingDelivery, stamp: i64) -> reqwest::RequestBuilder {
    let mut secrets = vec![delivery.secret.as_str()];
    secrets.extend(delivery.old_secret.as_deref());
    request
        .header("content-type", "application/json")
        .header("x-service-signature", signing::service_signature(&delivery.secret, &delivery.body))
        .header("x-service-event", &delivery.event)
        .header("x-service-delivery", &delivery.id)
        .header("webhook-id", &delivery.event_id)
        .header("webhook-timestamp", stamp.to_string())
        .header("webhook-signature", signing::webhook_signature(&secrets, &delivery.event_id, stamp, &delivery.body))
        .body(delivery.body.clone())
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

/// Iterates over the error and all its causes.
fn causes<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

fn io_kind(error: &(dyn StdError + 'static)) -> Option<io::ErrorKind> {
    error.downcast_ref().map(io::Error::kind)
}

/// Returns whether an error is a TLS error, which is usually wrapped in I/O errors that do not return it as their
/// source.
fn is_tls(error: &(dyn StdError + 'static)) -> bool {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    error.is::<rustls::Error>() || inner.is_some_and(|inner| is_tls(inner))
}

#[cfg(test)]
mod tests;
