//! `/api/connection`: the serial port to the printer.

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::json;

use super::{OctoprintHost, done, error, printer::state_text};
use crate::printer::Controller;
use crate::wire::JsonBody;

pub(super) async fn show(State(host): State<OctoprintHost>) -> Response {
    let (open, text) = host.printer.with(|machine| {
        (matches!(machine.controller(), Controller::Ready | Controller::Starting), state_text(machine))
    });
    // This resource says Closed where the job resource says Offline.
    let text = if text == "Offline" { "Closed" } else { text };
    Json(json!({
        "current": {
            "state": text,
            "port": open.then_some("VIRTUAL"),
            "baudrate": open.then_some(115_200),
            "printerProfile": "_default",
        },
        "options": {
            "ports": ["VIRTUAL"],
            "baudrates": [250_000, 230_400, 115_200, 57_600, 38_400, 19_200, 9_600],
            "printerProfiles": [{"id": "_default", "name": "Default"}],
            "portPreference": "VIRTUAL",
            "baudratePreference": 115_200,
            "printerProfilePreference": "_default",
            "autoconnect": false,
        },
    }))
    .into_response()
}

pub(super) async fn command(State(host): State<OctoprintHost>, JsonBody(body): JsonBody) -> Response {
    match body["command"].as_str() {
        Some("connect") => {
            if body.get("port").is_some_and(|port| !port.is_null() && port != "VIRTUAL" && port != "AUTO") {
                return error(StatusCode::BAD_REQUEST, "Invalid port");
            }
            host.printer.with(crate::printer::Machine::connect);
            done()
        }
        Some("disconnect") => {
            host.printer.with(crate::printer::Machine::disconnect);
            done()
        }
        Some("fake_ack") => done(),
        _ => error(StatusCode::BAD_REQUEST, "Unknown command"),
    }
}
