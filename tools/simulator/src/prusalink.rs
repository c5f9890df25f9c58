//! Virtual printer that speaks the protocol of `PrusaLink` (printer type `prusa_link`), Prusa's web API, version 1.
//!
//! Formats, status codes and quirks are those of the real programs. As on real printers, names are shortened to the 8.3
//! format, and the only storage is `/usb`. As in the program that runs on a small computer next to the printer,
//! `status_printer` is reported. The user name for HTTP Digest is `maker`; the password is the API key.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use axum::{
    Json, Router,
    body::to_bytes,
    extract::{DefaultBodyLimit, Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, put},
};
use serde_json::{Value, json};

use crate::{
    Protocol,
    printer::{CommandError, Controller},
    wire,
};

mod auth;
mod files;
mod job;

/// `PrusaLink` protocol declaration.
pub(crate) const PROTOCOL: Protocol = Protocol {
    word: "prusa_link",
    about: "printers with Prusa's web API (PrusaLink)",
    serial_prefix: "SIMPL",
    key_chars: 32,
    prints_packages: false,
    reconnects: true,
    serve: |printer, options| PrusalinkHost::serve(printer, options, PrusalinkHost::router, error),
};

type PrusalinkHost = wire::Host<PrusalinkState>;

/// State that the request handlers need besides the printer.
#[derive(Clone, Default)]
struct PrusalinkState {
    /// Nonces issued in authentication challenges.
    nonces: Arc<Mutex<Vec<String>>>,
    /// Upload in progress, if any; only one is accepted at a time.
    transfer: Arc<Mutex<Option<Transfer>>>,
    transfers: Arc<AtomicU64>,
}

/// Upload in progress to the printer.
#[derive(Clone)]
struct Transfer {
    id: u64,
    path: String,
    total: u64,
}

/// Guard that ends an upload when dropped, including when its connection is cut.
struct TransferEnds(PrusalinkHost);

impl Drop for TransferEnds {
    fn drop(&mut self) {
        *self.0.state.transfer.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl PrusalinkHost {
    fn router(self) -> Router {
        Router::new()
            .route("/api/version", get(version))
            .route("/api/v1/info", get(info))
            .route("/api/v1/status", get(job::status))
            .route("/api/v1/job", get(job::show))
            .route("/api/v1/job/{id}", axum::routing::delete(job::stop))
            .route("/api/v1/job/{id}/{verb}", put(job::command))
            .route("/api/v1/storage", get(files::storages))
            .route("/api/v1/transfer", get(transfer))
            .route("/api/v1/cameras/snap", get(snap))
            .route("/usb/{*path}", get(files::download))
            .route("/api/v1/files/usb", get(files::root))
            .route("/api/v1/files/usb/", get(files::root))
            .route(
                "/api/v1/files/usb/{*path}",
                get(files::show)
                    .put(files::upload)
                    .post(files::start)
                    .delete(files::delete)
                    .layer(DefaultBodyLimit::disable()),
            )
            .fallback(|| async { error(StatusCode::NOT_FOUND, "The requested URL was not found.") })
            .method_not_allowed_fallback(|| async {
                error(StatusCode::METHOD_NOT_ALLOWED, "The method is not allowed.")
            })
            .layer(middleware::from_fn_with_state(self.clone(), starting))
            .layer(middleware::from_fn_with_state(self.clone(), auth::authorise))
            .layer(middleware::from_fn(in_the_form_asked_for))
            .with_state(self)
    }

    /// Claims the only upload slot; `None` while another upload is in progress.
    fn begin_transfer(&self, path: &str, total: u64) -> Option<TransferEnds> {
        let mut transfer = self.state.transfer.lock().unwrap_or_else(PoisonError::into_inner);
        if transfer.is_some() {
            return None;
        }
        let id = self.state.transfers.fetch_add(1, Ordering::Relaxed) + 1;
        *transfer = Some(Transfer { id, path: path.to_owned(), total });
        Some(TransferEnds(self.clone()))
    }
}

/// Builds an error response: `{"title": "…", "text": "…"}`.
fn error(status: StatusCode, words: &str) -> Response {
    let title = status.canonical_reason().unwrap_or("Error");
    (status, Json(json!({"title": title, "text": words}))).into_response()
}

/// Builds a response without a body.
fn done() -> Response {
    StatusCode::NO_CONTENT.into_response()
}

/// Builds the response to a command that the printer has executed or rejected.
fn outcome(result: Result<(), CommandError>) -> Response {
    match result {
        Ok(()) => done(),
        Err(CommandError::NotReady) => error(StatusCode::CONFLICT, "The printer is not ready to print"),
        Err(CommandError::Busy) => error(StatusCode::CONFLICT, "The printer is currently printing"),
        Err(CommandError::Refused) => error(StatusCode::CONFLICT, "The printer refused to start the print job"),
        Err(CommandError::NoFile) => error(StatusCode::NOT_FOUND, "File was not found"),
    }
}

/// Converts errors to plain text for clients that do not accept JSON.
async fn in_the_form_asked_for(request: Request, next: Next) -> Response {
    let json = accepts_json(request.headers());
    let answer = next.run(request).await;
    if json || !answer.status().is_client_error() && !answer.status().is_server_error() {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let words: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("text/plain"));
    let text =
        format!("{}: {}", words["title"].as_str().unwrap_or("Error"), words["text"].as_str().unwrap_or_default());
    Response::from_parts(parts, text.into())
}

fn accepts_json(headers: &HeaderMap) -> bool {
    headers.get(header::ACCEPT).is_some_and(|accept| accept.as_bytes().starts_with(b"application/json"))
}

/// Rejects requests while the printer is starting up.
async fn starting(State(host): State<PrusalinkHost>, request: Request, next: Next) -> Response {
    if host.printer.with(|machine| *machine.controller() == Controller::Starting) {
        return error(StatusCode::SERVICE_UNAVAILABLE, "PrusaLink has not finished its initialization");
    }
    next.run(request).await
}

async fn version(State(host): State<PrusalinkHost>) -> Response {
    Json(json!({
        "api": "2.0.0", "version": "0.8.1", "printer": "1.4.0", "text": "PrusaLink 0.8.1", "firmware": "6.2.4",
        "hostname": &*host.name, "capabilities": {"upload-by-put": true},
    }))
    .into_response()
}

async fn info(State(host): State<PrusalinkHost>) -> Response {
    Json(json!({
        "name": &*host.name, "serial": &*host.name, "nozzle_diameter": 0.4, "mmu": false, "hostname": &*host.name,
        "min_extrusion_temp": 170,
    }))
    .into_response()
}

/// Returns a picture from the camera, as if taken by the printer's server itself; returns 404 if there is no camera.
async fn snap(State(host): State<PrusalinkHost>) -> Response {
    match host.printer.camera() {
        Some(_) => ([(header::CONTENT_TYPE, "image/png")], crate::gcode::sample_png()).into_response(),
        None => error(StatusCode::NOT_FOUND, "There is no camera."),
    }
}

async fn transfer(State(host): State<PrusalinkHost>) -> Response {
    let transfer = host.state.transfer.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match transfer {
        Some(Transfer { id, path, total }) => Json(json!({
            "type": "FROM_CLIENT", "id": id, "display_name": path, "path": format!("/usb/{path}"), "size": total,
            "progress": 0.0, "to_print": false,
        }))
        .into_response(),
        None => done(),
    }
}
