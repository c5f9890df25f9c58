//! Webhook receiver that records requests exactly, verifies signatures, and can be made to misbehave.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    body::to_bytes,
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use jiff::Timestamp;
use tokio::sync::watch;

use crate::{
    payments::hmac_sha256,
    printer::ConditionTimeout,
    wire::{ConnectionGate, SimServer},
};

/// Maximum difference between a Standard Webhooks timestamp and the current time, in seconds in either direction.
const TOLERANCE_SECONDS: i64 = 300;

/// Response behaviour of the webhook receiver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SinkMode {
    /// Responds to each request with 200.
    #[default]
    Ok,
    /// Responds with the given status; a 3xx response has a `Location` that points back to the receiver.
    Status(u16),
    /// Never responds: the request is accepted, and the connection remains open.
    Hang,
    /// Responds with 200 after the given delay.
    Slow(Duration),
    /// Responds with 500 the given number of times, then with 200.
    FailFirst(usize),
    /// Closes the connection after accepting the request.
    Drop,
    /// Responds with 200 once a different mode is set.
    Hold,
}

/// Result of verifying a request's signatures; a field is `None` if no secret was set or its header is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignatureVerdict {
    /// Result for the scheme `X-Service-Signature: sha256=<hex>` over the body.
    pub service: Option<bool>,
    /// Result for the three headers of Standard Webhooks.
    pub standard: Option<bool>,
}

/// Webhook request as received.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    /// Time at which the request was received.
    pub at: Timestamp,
    /// HTTP method of the request.
    pub method: String,
    /// Path and query, as in the request line.
    pub uri: String,
    /// All headers of the request, by name.
    pub headers: HeaderMap,
    /// Exact bytes of the request body.
    pub body: Bytes,
    /// Result of verifying the request's signatures.
    pub verdict: SignatureVerdict,
    /// Response status; `None` if there was no response.
    pub answered: Option<u16>,
    /// Connection number, which is the same for all requests on a connection.
    pub connection: u64,
}

impl ReceivedRequest {
    /// Returns the value of a header as text; `None` if it is missing or not text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns the body as JSON; null if it is not JSON.
    pub fn json(&self) -> serde_json::Value {
        bounded_json::read(&self.body, bounded_json::REQUEST).unwrap_or_default()
    }
}

#[derive(Debug, Default)]
struct SinkState {
    mode: SinkMode,
    secret: Option<String>,
    trusts_timestamps: bool,
    failures: usize,
    received: Vec<ReceivedRequest>,
}

#[derive(Clone, Debug)]
struct SharedSink {
    inside: Arc<Mutex<SinkState>>,
    changed: watch::Sender<usize>,
    mode_set: watch::Sender<u64>,
}

impl SharedSink {
    fn with<T>(&self, act: impl FnOnce(&mut SinkState) -> T) -> T {
        act(&mut self.inside.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Running webhook receiver, which accepts every path and method; stops when dropped.
#[derive(Debug)]
pub struct Sink {
    shared: SharedSink,
    server: SimServer,
}

impl Sink {
    /// Starts the receiver on a free loopback port.
    pub async fn start() -> std::io::Result<Self> {
        Self::start_on(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await
    }

    /// Starts the receiver on the given address.
    pub async fn start_on(addr: SocketAddr) -> std::io::Result<Self> {
        let shared =
            SharedSink { inside: Arc::default(), changed: watch::Sender::new(0), mode_set: watch::Sender::new(0) };
        let router = Router::new().fallback(receive).with_state(shared.clone());
        Ok(Self { shared, server: SimServer::start(addr, router).await? })
    }

    /// Returns the URL to which webhooks should be sent.
    pub fn url(&self) -> String {
        format!("{}/hook", self.server.base_url())
    }

    /// Sets how the receiver responds to subsequent requests.
    pub fn set_mode(&self, mode: SinkMode) {
        self.shared.with(|inside| {
            inside.mode = mode;
            inside.failures = 0;
        });
        self.shared.mode_set.send_modify(|count| *count += 1);
    }

    /// Verifies the signatures of subsequent requests with the given secret. Requests with a wrong or missing signature
    /// are rejected with 401.
    pub fn verify_with(&self, secret: impl Into<String>) {
        self.shared.with(|inside| inside.secret = Some(secret.into()));
    }

    /// Accepts the timestamps of all subsequent requests, regardless of the sender's clock.
    pub fn trust_timestamps(&self) {
        self.shared.with(|inside| inside.trusts_timestamps = true);
    }

    /// Returns all requests received so far, in order.
    pub fn received(&self) -> Vec<ReceivedRequest> {
        self.shared.with(|inside| inside.received.clone())
    }

    /// Waits until the received requests satisfy a condition, and returns them; returns an error after `within`.
    pub async fn wait_until(
        &self,
        mut condition: impl FnMut(&[ReceivedRequest]) -> bool,
        within: Duration,
    ) -> Result<Vec<ReceivedRequest>, ConditionTimeout> {
        let mut changed = self.shared.changed.subscribe();
        let reached = async {
            loop {
                changed.borrow_and_update();
                if let Some(all) =
                    self.shared.with(|inside| condition(&inside.received).then(|| inside.received.clone()))
                {
                    return all;
                }
                // Cannot fail, because the sender lives as long as `self`.
                let _ = changed.changed().await;
            }
        };
        tokio::time::timeout(within, reached).await.map_err(|_| ConditionTimeout(within))
    }

    /// Stops listening and cuts all connections.
    pub fn shutdown(&self) {
        self.server.stop();
    }
}

/// Reaction to a request after it has been recorded.
enum Reaction {
    Answer(StatusCode),
    After(Duration),
    WhenModeIsSet(watch::Receiver<u64>),
    Never,
    HangUp,
}

async fn receive(
    State(shared): State<SharedSink>,
    ConnectInfo(peer): ConnectInfo<ConnectionGate>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, 64 * 1024 * 1024).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let at = Timestamp::now();
    let reaction = shared.with(|inside| {
        let verdict = inside
            .secret
            .as_deref()
            .map(|secret| {
                let timestamp =
                    head.headers.get("webhook-timestamp").and_then(|value| value.to_str().ok()?.parse().ok());
                let now = timestamp.filter(|_| inside.trusts_timestamps).unwrap_or(at.as_second());
                verify(secret, &head.headers, &body, now)
            })
            .unwrap_or_default();
        let unsigned = inside.secret.is_some() && verdict == SignatureVerdict::default();
        let forged = verdict.service == Some(false) || verdict.standard == Some(false);
        let reaction = if unsigned || forged {
            Reaction::Answer(StatusCode::UNAUTHORIZED)
        } else {
            inside.react(&shared.mode_set)
        };
        let answered = match &reaction {
            Reaction::Answer(status) => Some(status.as_u16()),
            Reaction::After(_) | Reaction::WhenModeIsSet(_) => Some(200),
            Reaction::Never | Reaction::HangUp => None,
        };
        inside.received.push(ReceivedRequest {
            at,
            method: head.method.to_string(),
            uri: head.uri.to_string(),
            headers: head.headers,
            body,
            verdict,
            answered,
            connection: peer.connection(),
        });
        reaction
    });
    shared.changed.send_modify(|count| *count += 1);
    match reaction {
        Reaction::Answer(status) if status.is_redirection() => {
            (status, [("location", head.uri.to_string())]).into_response()
        }
        Reaction::Answer(status) => (status, "received").into_response(),
        Reaction::After(delay) => {
            tokio::time::sleep(delay).await;
            (StatusCode::OK, "received").into_response()
        }
        Reaction::WhenModeIsSet(mut mode_set) => {
            // Cannot fail, because `shared` has the sender.
            let _ = mode_set.changed().await;
            (StatusCode::OK, "received").into_response()
        }
        Reaction::Never => std::future::pending().await,
        Reaction::HangUp => peer.hang_up(),
    }
}

impl SinkState {
    fn react(&mut self, mode_set: &watch::Sender<u64>) -> Reaction {
        match self.mode {
            SinkMode::Hold => Reaction::WhenModeIsSet(mode_set.subscribe()),
            SinkMode::Status(status) => {
                Reaction::Answer(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
            }
            SinkMode::Hang => Reaction::Never,
            SinkMode::Slow(delay) => Reaction::After(delay),
            SinkMode::FailFirst(times) if self.failures < times => {
                self.failures += 1;
                Reaction::Answer(StatusCode::INTERNAL_SERVER_ERROR)
            }
            SinkMode::Ok | SinkMode::FailFirst(_) => Reaction::Answer(StatusCode::OK),
            SinkMode::Drop => Reaction::HangUp,
        }
    }
}

/// Verifies the signatures of a request; `now` is in Unix seconds.
pub fn verify(secret: &str, headers: &HeaderMap, body: &[u8], now: i64) -> SignatureVerdict {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let service = header("x-service-signature")
        .map(|signature| signature == format!("sha256={}", hex::encode(hmac_sha256(secret.as_bytes(), body))));
    let standard = header("webhook-signature").map(|signature| {
        let (Some(id), Some(time)) = (header("webhook-id"), header("webhook-timestamp")) else {
            return false;
        };
        let fresh = time.parse::<i64>().is_ok_and(|time| (now - time).abs() <= TOLERANCE_SECONDS);
        fresh && signature.split(' ').any(|one| one == standard_signature(secret, id, time, body))
    });
    SignatureVerdict { service, standard }
}

/// Computes a Standard Webhooks signature of the form `v1,<base64>`. The key is the decoded base64 after `whsec_` or,
/// without that prefix, the secret's own bytes.
pub fn standard_signature(secret: &str, id: &str, timestamp: &str, body: &[u8]) -> String {
    let key = secret
        .strip_prefix("whsec_")
        .and_then(|encoded| STANDARD.decode(encoded).ok())
        .unwrap_or_else(|| secret.as_bytes().to_vec());
    let mut message = format!("{id}.{timestamp}.").into_bytes();
    message.extend_from_slice(body);
    format!("v1,{}", STANDARD.encode(hmac_sha256(&key, &message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_webhooks_test_vector() {
        let body = br#"{"email":"test@example.com","username":"test_user"}"#;
        let signature = standard_signature(
            "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
            "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk",
            "1649367553",
            body,
        );
        assert_eq!(signature, "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=");
    }
}
