//! Simulated email service like Resend. It accepts messages over HTTP, and stores the idempotency key and the body of
//! each accepted message for a day. While the key is stored, the same key with the same body returns the first
//! response, so that the message is sent only once; with a different body, the request is rejected. While the first
//! request is in flight, a request with the same key is temporarily rejected.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde_json::{Value, json};

use super::{SharedState, System, shows};
use crate::wire::ConnectionGate;

/// Maximum size of a message with its attachments, in bytes.
const MAX_BODY_BYTES: usize = 40 * 1024 * 1024;
/// Maximum length of an idempotency key, in characters.
const MAX_KEY_CHARS: usize = 256;

/// State of the simulated email service.
#[derive(Debug)]
pub struct MailServiceState {
    key: String,
    /// ID and body of each accepted message, in order.
    messages: Vec<(String, Value)>,
    /// Index into `messages`, by idempotency key.
    keys: HashMap<String, usize>,
    /// Idempotency keys of the requests in flight.
    under_way: HashSet<String>,
    /// `true` if the service accepts messages but cuts the connection instead of responding.
    loses_answers: bool,
    /// `true` if requests are kept in flight and never completed.
    holds: bool,
    requests: Vec<MailRequest>,
}

/// Request together with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailRequest {
    /// Idempotency key, if any.
    pub key: Option<String>,
    /// Message body.
    pub body: Value,
    /// Name of the error in the rejection; `None` if the request, or an earlier one with the same key, was accepted.
    pub error: Option<&'static str>,
}

/// Running simulated email service; stops when dropped.
pub type SimMailService = System<MailServiceState>;

impl SimMailService {
    /// Starts the service on a free loopback port with the given API key.
    pub async fn start(key: &str) -> std::io::Result<Self> {
        let state = MailServiceState {
            key: key.to_owned(),
            messages: Vec::new(),
            keys: HashMap::new(),
            under_way: HashSet::new(),
            loses_answers: false,
            holds: false,
            requests: Vec::new(),
        };
        Self::serve(state, "", |shared| Router::new().route("/emails", post(emails)).with_state(shared)).await
    }

    /// Sets whether the service accepts messages but cuts the connection instead of responding.
    pub fn lose_answers(&self, loses: bool) {
        self.shared.with(|inside| inside.loses_answers = loses);
    }

    /// Sets whether requests remain in flight.
    pub fn hold(&self, holds: bool) {
        self.shared.with(|inside| inside.holds = holds);
    }

    /// Returns the bodies of the sent messages in order, at most one per idempotency key.
    pub fn messages(&self) -> Vec<Value> {
        self.shared.with(|inside| inside.messages.iter().map(|(_, body)| body.clone()).collect())
    }

    /// Returns, in order, all requests that received a response, or would have received one if the connection had not
    /// been cut.
    pub fn requests(&self) -> Vec<MailRequest> {
        self.shared.with(|inside| inside.requests.clone())
    }

    /// Returns the number of in-flight requests.
    pub fn under_way(&self) -> usize {
        self.shared.with(|inside| inside.under_way.len())
    }
}

fn error(status: u16, name: &'static str, message: &str) -> (Response, Option<&'static str>) {
    let body = axum::Json(json!({"statusCode": status, "name": name, "message": message}));
    ((StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), body).into_response(), Some(name))
}

async fn emails(
    State(shared): State<SharedState<MailServiceState>>,
    ConnectInfo(peer): ConnectInfo<ConnectionGate>,
    request: Request,
) -> Response {
    if let Some(answer) = shared.mood().await {
        return answer;
    }
    let (head, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, MAX_BODY_BYTES).await else {
        return error(413, "payload_too_large", "The message is too large").0;
    };
    let work = shared.clone();
    // A request that was read is done with, also when its sender is gone.
    let answer = tokio::spawn(async move { take(&work, &head.headers, &body).await }).await;
    if shared.with(|inside| inside.loses_answers) {
        return peer.hang_up();
    }
    answer.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

async fn take(shared: &SharedState<MailServiceState>, headers: &HeaderMap, body: &[u8]) -> Response {
    let body = bounded_json::read(body, bounded_json::ANSWER).unwrap_or_default();
    let key = headers.get("idempotency-key").and_then(|key| key.to_str().ok()).map(str::to_owned);
    if let Some(answer) = refuse(shared, headers, key.as_deref(), &body) {
        let (answer, name) = answer;
        shared.with(|inside| inside.requests.push(MailRequest { key, body, error: name }));
        return answer;
    }
    while shared.with(|inside| inside.holds) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    shared.with(|inside| {
        let at = key.as_ref().and_then(|key| inside.keys.get(key).copied()).unwrap_or_else(|| {
            inside.messages.push((uuid::Uuid::now_v7().to_string(), body.clone()));
            inside.messages.len() - 1
        });
        if let Some(key) = &key {
            inside.keys.insert(key.clone(), at);
            inside.under_way.remove(key);
        }
        inside.requests.push(MailRequest { key, body, error: None });
        axum::Json(json!({"id": inside.messages[at].0})).into_response()
    })
}

/// Returns the response to a request that is not accepted; otherwise, marks the request's key as in flight.
fn refuse(
    shared: &SharedState<MailServiceState>,
    headers: &HeaderMap,
    key: Option<&str>,
    body: &Value,
) -> Option<(Response, Option<&'static str>)> {
    shared.with(|inside| {
        if !headers.contains_key("authorization") {
            return Some(error(401, "missing_api_key", "Missing API key in the authorization header."));
        }
        if !shows(headers, &inside.key) {
            return Some(error(403, "invalid_api_key", "API key is invalid"));
        }
        if !headers.contains_key("user-agent") {
            return Some(error(403, "validation_error", "A user agent is required"));
        }
        let missing = ["from", "to", "subject"].into_iter().find(|name| body[name].is_null());
        if let Some(missing) = missing {
            return Some(error(422, "missing_required_field", &format!("Missing `{missing}` field.")));
        }
        let key = key?;
        if key.is_empty() || key.chars().count() > MAX_KEY_CHARS {
            let words = "The idempotency key must be between 1 and 256 characters";
            return Some(error(400, "invalid_idempotency_key", words));
        }
        if inside.under_way.contains(key) {
            let words = "The same idempotency key is used by a request that is still in progress";
            return Some(error(409, "concurrent_idempotent_requests", words));
        }
        let other = inside.keys.get(key).is_some_and(|at| inside.messages[*at].1 != *body);
        if other {
            let words = "This idempotency key was used with a different payload within the last 24 hours";
            return Some(error(409, "invalid_idempotent_request", words));
        }
        inside.under_way.insert(key.to_owned());
        None
    })
}
