//! Simulated FDM Monster, limited to its list of printers.

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::{Value, json};

use super::{SharedState, System, shows};

/// State of the simulated FDM Monster.
#[derive(Debug)]
pub struct FarmUiState {
    /// API key; `None` if no authentication is required.
    key: Option<String>,
    printers: Vec<Value>,
}

/// Running simulated FDM Monster; stops when dropped.
pub type SimFarmUi = System<FarmUiState>;

impl SimFarmUi {
    /// Starts the server on a free loopback port; requires the API key if one is given.
    pub async fn start(key: Option<&str>) -> std::io::Result<Self> {
        let state = FarmUiState { key: key.map(str::to_owned), printers: Vec::new() };
        Self::serve(state, "", |shared| {
            Router::new()
                .route("/api/v2/auth/login-required", get(login_required))
                .route("/api/v2/printer/", get(printers))
                .with_state(shared)
        })
        .await
    }

    /// Adds a printer in the format of FDM Monster's list,
    /// `{name, printerURL, printerType, apiKey, username, password, enabled}`, and assigns it the next ID.
    pub fn add(&self, mut printer: Value) {
        self.shared.with(|inside| {
            printer["id"] = (inside.printers.len() + 1).into();
            inside.printers.push(printer);
        });
    }
}

async fn login_required(State(shared): State<SharedState<FarmUiState>>) -> Response {
    if let Some(answer) = shared.mood().await {
        return answer;
    }
    let required = shared.with(|inside| inside.key.is_some());
    let body = json!({
        "loginRequired": required, "registration": false, "wizardState": {"wizardCompleted": true}, "isDemoMode": false,
        "instanceLabel": "",
    });
    axum::Json(body).into_response()
}

async fn printers(State(shared): State<SharedState<FarmUiState>>, headers: HeaderMap) -> Response {
    if let Some(answer) = shared.mood().await {
        return answer;
    }
    let (key, printers) = shared.with(|inside| (inside.key.clone(), inside.printers.clone()));
    if key.is_some_and(|key| !shows(&headers, &key)) {
        return (StatusCode::UNAUTHORIZED, axum::Json(json!({"error": "Not authenticated"}))).into_response();
    }
    axum::Json(Value::Array(printers)).into_response()
}
