//! Simulated agent gateway similar to OpenClaw. Its hook accepts messages for an agent from callers that have the
//! token, and deduplicates them by idempotency key.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use serde_json::json;

use super::{SharedState, System, shows};

/// Maximum size of a hook request in bytes.
const MAX_BODY_BYTES: usize = 256 * 1024;

/// State of an agent gateway.
#[derive(Debug)]
pub struct AgentState {
    token: String,
    /// Idempotency key, if any, and message of each run of the agent.
    runs: Vec<(Option<String>, String)>,
}

/// Running simulated agent gateway; stops when dropped.
pub type SimAgentGateway = System<AgentState>;

impl SimAgentGateway {
    /// Starts the gateway on a free loopback port with the given hook token.
    pub async fn start(token: &str) -> std::io::Result<Self> {
        let state = AgentState { token: token.to_owned(), runs: Vec::new() };
        Self::serve(state, "", |shared| {
            Router::new().route("/", get(root)).route("/hooks/agent", any(hook)).with_state(shared)
        })
        .await
    }

    /// Returns the messages passed to the agent, in order.
    pub fn messages(&self) -> Vec<String> {
        self.shared.with(|inside| inside.runs.iter().map(|(_, message)| message.clone()).collect())
    }
}

/// Serves the page shown in browsers.
async fn root(State(shared): State<SharedState<AgentState>>) -> Response {
    match shared.mood().await {
        Some(answer) => answer,
        None => "<!doctype html><title>Control</title>".into_response(),
    }
}

fn wrong(status: StatusCode, words: &str) -> Response {
    (status, axum::Json(json!({"ok": false, "error": words}))).into_response()
}

/// Checks the token, which is accepted as a bearer token or in a dedicated header, but never in the URL.
fn is_admitted(headers: &HeaderMap, token: &str) -> bool {
    shows(headers, token) || headers.get("x-openclaw-token").is_some_and(|value| value.as_bytes() == token.as_bytes())
}

async fn hook(State(shared): State<SharedState<AgentState>>, request: Request) -> Response {
    if let Some(answer) = shared.mood().await {
        return answer;
    }
    let (head, body) = request.into_parts();
    if head.method != Method::POST {
        return wrong(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed");
    }
    if head.uri.query().is_some_and(|query| query.contains("token=")) {
        return wrong(StatusCode::BAD_REQUEST, "Hook token must be provided via a header");
    }
    if !shared.with(|inside| is_admitted(&head.headers, &inside.token)) {
        return wrong(StatusCode::UNAUTHORIZED, "Unauthorized");
    }
    let Ok(body) = axum::body::to_bytes(body, MAX_BODY_BYTES).await else {
        return wrong(StatusCode::PAYLOAD_TOO_LARGE, "payload too large");
    };
    let fields = bounded_json::read(&body, bounded_json::REQUEST).unwrap_or_default();
    let Some(message) = fields["message"].as_str().map(str::trim).filter(|message| !message.is_empty()) else {
        return wrong(StatusCode::BAD_REQUEST, "message required");
    };
    // Where an answer goes is said whole or not at all.
    if fields["channel"].is_string() != fields["to"].is_string() {
        return wrong(StatusCode::BAD_REQUEST, "channel and to must be specified together");
    }
    let in_header = head.headers.get("idempotency-key").and_then(|key| key.to_str().ok());
    let key = in_header.or(fields["idempotencyKey"].as_str()).map(str::to_owned);
    let run = shared.with(|inside| {
        let existing = inside.runs.iter().position(|(other, _)| key.is_some() && *other == key);
        existing.unwrap_or_else(|| {
            inside.runs.push((key, message.to_owned()));
            inside.runs.len() - 1
        })
    });
    axum::Json(json!({"ok": true, "runId": format!("run-{run}")})).into_response()
}
