//! Virtual printer that speaks the protocol of `OctoPrint` 1.11 (printer type `server_rest`), with HTTP and the push
//! socket on one port.
//!
//! Formats, status codes and quirks are those of the real program. There is one user, `lab`, whose API key is the
//! configured one.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, Query, Request, State},
    http::{HeaderMap, StatusCode, Uri, header},
    middleware::{self, Next},
    response::{Html, IntoResponse, Response},
    routing::{get, post},
};
use serde_json::json;

use crate::{
    Protocol,
    printer::CommandError,
    wire::{self, JsonBody},
};

mod connection;
mod files;
mod job;
mod printer;
mod push;

/// User name of the only user.
const USER: &str = "lab";

/// `OctoPrint` protocol declaration.
pub(crate) const PROTOCOL: Protocol = Protocol {
    word: "server_rest",
    about: "printers with a print server (OctoPrint)",
    serial_prefix: "SIMSR",
    key_chars: 32,
    prints_packages: false,
    // A lost serial port stays closed until a client connects it.
    reconnects: false,
    serve: |printer, options| OctoprintHost::serve(printer, options, OctoprintHost::router, error),
};

type OctoprintHost = wire::Host<OctoprintState>;

/// State that the request handlers need besides the printer.
#[derive(Clone, Default)]
struct OctoprintState {
    /// Sessions opened by passive logins.
    sessions: Arc<Mutex<HashSet<String>>>,
}

impl OctoprintHost {
    fn router(self) -> Router {
        Router::new()
            .route(
                "/api/version",
                get(|| async {
                    Json(json!({"api": "0.1", "server": "1.11.8", "text": "OctoPrint 1.11.8"}))
                }),
            )
            // Real servers answer null while safe mode is off.
            .route(
                "/api/server",
                get(|| async { Json(json!({"version": "1.11.8", "safemode": null})) }),
            )
            .route("/api/settings", get(settings))
            .route("/api/login", post(login))
            .route(
                "/api/currentuser",
                get(|| async { Json(json!({"name": USER, "permissions": [], "groups": ["admins", "users"]})) }),
            )
            .route(
                "/api/connection",
                get(connection::show).post(connection::command),
            )
            .route("/api/printer", get(printer::show))
            .route("/api/printer/command", post(printer::command))
            .route("/api/printer/tool", post(printer::tool))
            .route("/api/printer/bed", post(printer::bed))
            .route("/api/printer/printhead", post(printer::printhead))
            .route("/api/job", get(job::show).post(job::command))
            .route("/api/files", get(files::list))
            .route(
                "/api/files/local",
                get(files::list)
                    .post(files::upload)
                    .layer(DefaultBodyLimit::disable()),
            )
            .route(
                "/api/files/local/{*path}",
                get(files::show).post(files::command).delete(files::delete),
            )
            .route("/downloads/files/local/{*path}", get(files::download))
            .fallback(|| async {
                error(
                    StatusCode::NOT_FOUND,
                    "The requested URL was not found on the server.",
                )
            })
            .method_not_allowed_fallback(|| async {
                error(
                    StatusCode::METHOD_NOT_ALLOWED,
                    "The method is not allowed for the requested URL.",
                )
            })
            .layer(middleware::from_fn_with_state(self.clone(), authorise))
            .route("/login/", get(|| async { Html("<html><head><title>OctoPrint Login</title></head></html>") }))
            .route("/sockjs/info", get(push::info))
            .route("/sockjs/websocket", get(push::upgrade))
            .with_state(self)
    }

    fn new_session(&self) -> String {
        let session = uuid::Uuid::now_v7().simple().to_string();
        self.state.sessions.lock().unwrap_or_else(PoisonError::into_inner).insert(session.clone());
        session
    }

    fn is_session(&self, session: &str) -> bool {
        self.state.sessions.lock().unwrap_or_else(PoisonError::into_inner).contains(session)
    }
}

/// Builds an error response: `{"error": "…"}`.
fn error(status: StatusCode, message: &str) -> Response {
    (status, Json(json!({"error": message}))).into_response()
}

/// Builds a response without a body.
fn done() -> Response {
    StatusCode::NO_CONTENT.into_response()
}

/// Builds the response to a command that the printer has executed or rejected.
fn outcome(result: Result<(), CommandError>) -> Response {
    match result {
        Ok(()) => done(),
        Err(CommandError::NotReady) => error(StatusCode::CONFLICT, "Printer is not operational"),
        Err(CommandError::Busy) => error(StatusCode::CONFLICT, "Printer is already printing, cannot start a new job"),
        Err(CommandError::Refused) => error(StatusCode::CONFLICT, "Printer refused to start the print job"),
        Err(CommandError::NoFile) => error(StatusCode::NOT_FOUND, "File not found"),
    }
}

/// Returns a request's API key: from its dedicated header, a bearer token or (for manual tests) the query.
fn given_key(headers: &HeaderMap, uri: &Uri) -> Option<String> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = header(header::AUTHORIZATION.as_str()).and_then(|value| value.strip_prefix("Bearer "));
    if let Some(key) = header("x-api-key").or(bearer) {
        return Some(key.to_owned());
    }
    let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri).ok()?;
    pairs.into_iter().find_map(|(name, value)| (name == "apikey").then_some(value))
}

async fn authorise(State(host): State<OctoprintHost>, request: Request, next: Next) -> Response {
    let key = given_key(request.headers(), request.uri());
    if host.is_key(key.as_deref()) {
        next.run(request).await
    } else {
        error(
            StatusCode::FORBIDDEN,
            "You don't have the permission to access the requested resource. It is either read-protected or not readable by the server.",
        )
    }
}

async fn settings(State(host): State<OctoprintHost>) -> Response {
    let snapshot = host.printer.camera();
    Json(json!({
        "appearance": {"name": &*host.name, "color": "default"},
        "webcam": {"webcamEnabled": snapshot.is_some(), "streamUrl": null, "snapshotUrl": snapshot},
    }))
    .into_response()
}

/// Handles a passive login, in which the API key opens the session that the push socket needs.
async fn login(State(host): State<OctoprintHost>, JsonBody(body): JsonBody) -> Response {
    if body["passive"] != json!(true) {
        return error(StatusCode::BAD_REQUEST, "CSRF validation failed");
    }
    Json(json!({
        "name": USER,
        "session": host.new_session(),
        "active": true,
        "admin": true,
        "user": true,
        "groups": ["admins", "users"],
        "needs": {"group": ["admins", "users"], "role": []},
        "permissions": [],
        "apikey": null,
        "_is_external_client": false,
        "_login_mechanism": "apikey",
    }))
    .into_response()
}
