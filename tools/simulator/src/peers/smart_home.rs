//! Simulated HTTP interface of Home Assistant, limited to states. Callers that have the token can set states; a restart
//! drops all states.

use std::collections::BTreeMap;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::{Value, json};

use super::{SharedState, System, shows};
use crate::wire::JsonBody;

/// Maximum length of a state, in characters.
const MAX_STATE_CHARS: usize = 255;

/// State of the simulated Home Assistant.
#[derive(Debug)]
pub struct SmartHomeState {
    token: String,
    states: BTreeMap<String, Value>,
    written: usize,
}

/// Running simulated Home Assistant; stops when dropped.
pub type SimSmartHome = System<SmartHomeState>;

impl SimSmartHome {
    /// Starts the server on a free loopback port, with the given long-lived administrator token.
    pub async fn start(token: &str) -> std::io::Result<Self> {
        let state = SmartHomeState { token: token.to_owned(), states: BTreeMap::new(), written: 0 };
        Self::serve(state, "", |shared| {
            Router::new()
                .route("/api/", get(|| async { axum::Json(json!({"message": "API running."})) }))
                .route("/api/states/{entity}", get(read).post(write).delete(remove))
                .layer(axum::middleware::from_fn_with_state(shared.clone(), admit))
                .with_state(shared)
        })
        .await
    }

    /// Returns all states, by entity.
    pub fn states(&self) -> BTreeMap<String, Value> {
        self.shared.with(|inside| inside.states.clone())
    }

    /// Returns the number of state updates.
    pub fn written(&self) -> usize {
        self.shared.with(|inside| inside.written)
    }

    /// Restarts the server, so that states set over HTTP are lost.
    pub fn restart(&self) {
        self.shared.with(|inside| inside.states.clear());
    }
}

async fn admit(State(shared): State<SharedState<SmartHomeState>>, request: Request, next: Next) -> Response {
    if let Some(answer) = shared.mood().await {
        return answer;
    }
    if !shows_token(&shared, request.headers()) {
        return (StatusCode::UNAUTHORIZED, "401: Unauthorized").into_response();
    }
    next.run(request).await
}

fn shows_token(shared: &SharedState<SmartHomeState>, headers: &HeaderMap) -> bool {
    let token = shared.with(|inside| inside.token.clone());
    shows(headers, &token)
}

async fn read(State(shared): State<SharedState<SmartHomeState>>, Path(entity): Path<String>) -> Response {
    match shared.with(|inside| inside.states.get(&entity).cloned()) {
        Some(state) => axum::Json(state).into_response(),
        None => not_found(),
    }
}

fn not_found() -> Response {
    (StatusCode::NOT_FOUND, axum::Json(json!({"message": "Entity not found."}))).into_response()
}

async fn write(
    State(shared): State<SharedState<SmartHomeState>>,
    Path(entity): Path<String>,
    JsonBody(body): JsonBody,
) -> Response {
    let bad = |words: &str| (StatusCode::BAD_REQUEST, axum::Json(json!({ "message": words }))).into_response();
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let well_named = entity.split_once('.').is_some_and(|(domain, object)| {
        !domain.is_empty() && !object.is_empty() && domain.chars().all(is_allowed) && object.chars().all(is_allowed)
    });
    if !well_named {
        return bad("Invalid entity ID specified.");
    }
    let Some(state) = body["state"].as_str() else { return bad("No state specified.") };
    if state.chars().count() > MAX_STATE_CHARS {
        return bad("Invalid state specified.");
    }
    let entry = json!({"entity_id": entity, "state": state, "attributes": body["attributes"]});
    let fresh = shared.with(|inside| {
        inside.written += 1;
        inside.states.insert(entity, entry.clone()).is_none()
    });
    (if fresh { StatusCode::CREATED } else { StatusCode::OK }, axum::Json(entry)).into_response()
}

async fn remove(State(shared): State<SharedState<SmartHomeState>>, Path(entity): Path<String>) -> Response {
    match shared.with(|inside| inside.states.remove(&entity)) {
        Some(_) => axum::Json(json!({"message": "Entity removed."})).into_response(),
        None => not_found(),
    }
}
