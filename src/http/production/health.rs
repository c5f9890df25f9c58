//! Whether the server lives, whether it can work, and how its actors fare.

use crate::domain::id::Id;
use crate::http::AppState;
use crate::http::error::{Answer, ApiError};
use crate::http::reply;
use crate::store::Unavailable;
use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio::time::timeout;

/// Whoever asks whether we are ready does not wait longer for the database.
const WITHIN: Duration = Duration::from_secs(2);

/// `GET /healthz`: the process answers.
pub async fn alive() -> Answer {
    reply::ok(json!({"status": "ok"}))
}

/// `GET /readyz`: 200 when the database takes writes and answers reads and every component stands; else 503. What fares badly
/// and stops nobody is said under `degraded`. Reads, streams and emergency stop go on meanwhile.
pub async fn ready(State(app): State<AppState>) -> Answer {
    let (database, mut fault) = database(&app).await;
    let (parts, fallen) = parts(&app);
    if let (None, Some(name)) = (&fault, fallen) {
        fault = Some(ApiError::unavailable("parked", format!("{name} is out of service"), 5));
    }
    if app.leaving.is_cancelled() {
        fault = Some(ApiError::unavailable("shutting_down", "the server is shutting down", 5));
    }
    let degraded = degraded(&app);
    let status = if degraded.is_empty() { "ready" } else { "degraded" };
    let mut facts = json!({"database": database, "parts": parts, "degraded": degraded});
    if let Some(redis) = &app.redis {
        facts["redis"] = json!(if redis.is_up() { "ok" } else { "away" });
    }
    let Some(fault) = fault else {
        return reply::ok(merged(json!({"status": status}), facts));
    };
    let body = merged(merged(json!({"status": "unavailable"}), fault.body()), facts);
    let mut response = fault.into_response();
    *response.body_mut() = Json(body).into_response().into_body();
    response.headers_mut().remove(axum::http::header::CONTENT_LENGTH);
    Ok(response)
}

fn merged(first: Value, second: Value) -> Value {
    match (first, second) {
        (Value::Object(first), Value::Object(second)) => first.into_iter().chain(second).collect::<Map<_, _>>().into(),
        (_, second) => second,
    }
}

/// The word for the database, and why it is not ready.
async fn database(app: &AppState) -> (&'static str, Option<ApiError>) {
    let word = |away: Unavailable| match away {
        Unavailable::Database => "away",
        Unavailable::DiskFull => "disk_full",
        Unavailable::ReadOnly => "read_only",
    };
    match app.writer.unavailable() {
        Some(away) => (word(away), Some(away.into())),
        None => match timeout(WITHIN, app.queries.last_seq()).await {
            Ok(Ok(_)) => ("ok", None),
            Ok(Err(error)) => ("away", Some(error.into())),
            Err(_) => ("away", Some(Unavailable::Database.into())),
        },
    }
}

/// Every component by name, and the first that does not stand. Why one fell is for the log and for `/metrics`, not for everybody.
fn parts(app: &AppState) -> (Value, Option<&'static str>) {
    let mut fallen = None;
    let mut shown = Map::new();
    for (name, component) in app.components.all() {
        // Without users and keys nobody can ask anything.
        let parked = name == "access" && app.access.resident(Id::ONLY).is_some_and(|handle| handle.is_parked());
        let state = match (component.up, parked) {
            (false, _) => "down",
            (true, true) => "parked",
            (true, false) => "up",
        };
        if state != "up" {
            fallen = fallen.or(Some(name));
        }
        shown.insert(name.to_owned(), json!({"state": state, "falls": component.crashes}));
    }
    (Value::Object(shown), fallen)
}

/// In plain words what fares badly and stops nobody.
fn degraded(app: &AppState) -> Vec<String> {
    let parked = app.directories.summaries().into_iter().filter_map(|seen| {
        let parked = seen.statuses.get("parked").copied().unwrap_or(0);
        (parked > 0).then(|| format!("{parked} of kind {} are out of service after repeated faults", seen.kind))
    });
    let redis = app.redis.iter().filter(|redis| !redis.is_up());
    parked.chain(redis.map(|_| "redis is away: limits are counted in this process".to_owned())).collect()
}

/// `GET /api/system/actors`
pub async fn actors(State(app): State<AppState>) -> Answer {
    let mut all = app.directories.actors();
    all.sort_by_key(|actor| (actor.kind, actor.id));
    reply::ok(json!({ "actors": all }))
}
