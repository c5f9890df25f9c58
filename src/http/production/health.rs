//! Whether the server lives, whether it can work, and how its actors fare.

use crate::http::AppState;
use crate::http::error::{Answer, ApiError};
use crate::http::reply;
use axum::extract::State;
use serde_json::json;

/// `GET /healthz`: the process answers.
pub async fn alive() -> Answer {
    reply::ok(json!({"status": "ok"}))
}

/// `GET /readyz`: the database takes writes and answers reads; else 503. Reads, streams and emergency stop go on meanwhile.
/// Without Redis the server goes on: `degraded`, and still 200.
pub async fn ready(State(app): State<AppState>) -> Answer {
    if let Some(away) = app.shop.writer.away() {
        return Err(away.into());
    }
    if app.leaving.is_cancelled() {
        return Err(ApiError::unavailable("shutting_down", "the server is shutting down", 5));
    }
    app.shop.queries.last_seq().await?;
    let mut body = json!({"status": "ready", "database": "ok"});
    if let Some(redis) = &app.shop.redis {
        let up = redis.is_up();
        body["redis"] = json!(if up { "ok" } else { "away" });
        if !up {
            body["status"] = json!("degraded");
        }
    }
    reply::ok(body)
}

/// `GET /api/system/actors`
pub async fn actors(State(app): State<AppState>) -> Answer {
    let shop = &app.shop;
    let mut all = shop.orders.observe();
    all.extend(shop.materials.observe());
    all.extend(shop.skus.observe());
    all.extend(shop.files.observe());
    all.extend(shop.printers.observe());
    all.extend(shop.endpoints.observe());
    all.extend(shop.mails.observe());
    all.extend(shop.inbound.observe());
    all.extend(shop.access.observe());
    all.sort_by_key(|actor| (actor.kind, actor.id));
    reply::ok(json!({ "actors": all }))
}
