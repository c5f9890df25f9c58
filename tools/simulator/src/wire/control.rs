//! Control routes of a virtual printer.

use axum::{
    Json, Router,
    extract::{ConnectInfo, Query, Request, State},
    http::StatusCode,
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ConnectionGate, JsonBody};
use crate::VirtualPrinter;

/// Builds the routes `/_sim/…` for one printer. They bypass the guard, so that they work regardless of the printer's
/// faults.
pub fn control_routes(printer: VirtualPrinter) -> Router {
    Router::new()
        .route("/_sim/log", get(log))
        .route("/_sim/requests", get(requests))
        .route("/_sim/faults", get(faults).post(change_faults))
        .route("/_sim/speed", get(speed).post(change_speed))
        .route("/_sim/reboot", post(reboot))
        .layer(middleware::from_fn(spare))
        .with_state(printer)
}

/// Marks the connection as carrying a control request, so that faults do not affect it.
async fn spare(ConnectInfo(peer): ConnectInfo<ConnectionGate>, request: Request, next: Next) -> Response {
    peer.0.spare(true);
    next.run(request).await
}

fn bad(message: impl std::fmt::Display) -> Response {
    (StatusCode::BAD_REQUEST, Json(json!({"error": message.to_string()}))).into_response()
}

#[derive(Deserialize)]
struct DelayQuery {
    after: Option<u64>,
}

async fn log(State(printer): State<VirtualPrinter>, Query(query): Query<DelayQuery>) -> Response {
    let entries: Vec<_> =
        printer.log().into_iter().filter(|entry| query.after.is_none_or(|after| entry.seq > after)).collect();
    Json(json!({"log": entries})).into_response()
}

async fn requests(State(printer): State<VirtualPrinter>) -> Response {
    Json(json!({"requests": printer.requests()})).into_response()
}

async fn faults(State(printer): State<VirtualPrinter>) -> Response {
    Json(printer.faults()).into_response()
}

async fn change_faults(State(printer): State<VirtualPrinter>, JsonBody(change): JsonBody) -> Response {
    let Value::Object(change) = change else { return bad("the body must be an object") };
    let changed = printer.with(|machine| {
        let faults = machine.faults().merged(&change)?;
        machine.set_faults(faults.clone());
        Ok::<_, crate::faults::FaultsError>(faults)
    });
    match changed {
        Ok(faults) => Json(faults).into_response(),
        Err(error) => bad(error),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SpeedQuery {
    speed: f64,
}

async fn speed(State(printer): State<VirtualPrinter>) -> Response {
    Json(json!({"speed": printer.speed()})).into_response()
}

async fn change_speed(State(printer): State<VirtualPrinter>, Json(SpeedQuery { speed }): Json<SpeedQuery>) -> Response {
    if !(speed.is_finite() && speed > 0.0) {
        return bad("speed must be above 0");
    }
    printer.set_speed(speed);
    Json(json!({"speed": speed})).into_response()
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RebootQuery {
    forget: bool,
}

async fn reboot(State(printer): State<VirtualPrinter>, body: Option<Json<RebootQuery>>) -> Response {
    printer.reboot(body.is_some_and(|Json(body)| body.forget));
    Json(json!({"ok": true})).into_response()
}
