//! Simulated workflow automation with the behaviour of n8n's webhook node. A webhook exists only while its workflow is
//! active, accepts only its own method, and may require a header.

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::{Value, json};

use super::{SharedState, System};

/// Maximum size of a webhook request in bytes.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

/// State of the simulated workflow automation.
#[derive(Debug)]
pub struct WorkflowState {
    active: bool,
    header: Option<(String, String)>,
    received: Vec<Value>,
}

/// Running simulated workflow automation with one webhook, `/webhook/shop`; stops when dropped.
pub type SimWorkflowAutomation = System<WorkflowState>;

impl SimWorkflowAutomation {
    /// Starts the server on a free loopback port. If `header` (name and value) is specified, the webhook requires it.
    pub async fn start(header: Option<(&str, &str)>) -> std::io::Result<Self> {
        let header = header.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let state = WorkflowState { active: true, header, received: Vec::new() };
        Self::serve(state, "/webhook/shop", |shared| {
            Router::new()
                .route("/healthz", get(|| async { axum::Json(json!({"status": "ok"})) }))
                .fallback(webhook)
                .with_state(shared)
        })
        .await
    }

    /// Activates or deactivates the workflow.
    pub fn set_active(&self, active: bool) {
        self.shared.with(|inside| inside.active = active);
    }

    /// Returns the request bodies that started the workflow, in order.
    pub fn received(&self) -> Vec<Value> {
        self.shared.with(|inside| inside.received.clone())
    }
}

async fn webhook(State(shared): State<SharedState<WorkflowState>>, request: Request) -> Response {
    if let Some(answer) = shared.mood().await {
        return answer;
    }
    let (head, body) = request.into_parts();
    let not_registered = |message: String| {
        let hint = "The workflow must be active for a production URL to run successfully.";
        let body = json!({"code": 404, "message": message, "hint": hint});
        (StatusCode::NOT_FOUND, axum::Json(body)).into_response()
    };
    let (method, path) = (head.method.clone(), head.uri.path().to_owned());
    if path != "/webhook/shop" || !shared.with(|inside| inside.active) {
        let name = path.trim_start_matches("/webhook/");
        return not_registered(format!("The requested webhook \"{method} {name}\" is not registered."));
    }
    if method != Method::POST {
        let words =
            format!("This webhook is not registered for {method} requests. Did you mean to make a POST request?");
        return not_registered(words);
    }
    let expected = shared.with(|inside| inside.header.clone());
    if let Some((name, value)) = expected
        && head.headers.get(&name).and_then(|actual| actual.to_str().ok()) != Some(value.as_str())
    {
        return (StatusCode::FORBIDDEN, "Authorization data is wrong!").into_response();
    }
    let Ok(body) = to_bytes(body, MAX_BODY_BYTES).await else { return StatusCode::PAYLOAD_TOO_LARGE.into_response() };
    let Ok(body) = bounded_json::read(&body, bounded_json::REQUEST) else {
        return (StatusCode::UNPROCESSABLE_ENTITY, "no JSON").into_response();
    };
    shared.with(|inside| inside.received.push(body));
    axum::Json(json!({"message": "Workflow was started"})).into_response()
}
