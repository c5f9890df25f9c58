//! Virtual printer that speaks SDCP over a WebSocket (printer type `sdcp`), like Elegoo's Centauri Carbon: there is no
//! key, files are uploaded in chunks over HTTP, and everything else uses the socket.
//!
//! The printer supports only a few sockets. One socket too many makes it hang until it is power-cycled, as does a start
//! with missing fields or an unknown command.

use std::sync::{Arc, Mutex, PoisonError, atomic::AtomicUsize};

use axum::{
    Json, Router,
    extract::DefaultBodyLimit,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::json;

use crate::{Protocol, wire};

mod files;
mod socket;
mod status;

/// Maximum number of concurrent sockets.
const MAX_SOCKETS: usize = 4;

/// SDCP protocol declaration.
pub(crate) const PROTOCOL: Protocol = Protocol {
    word: "sdcp",
    about: "printers that use the SDCP protocol (Elegoo)",
    serial_prefix: "SIMSD",
    key_chars: 32,
    prints_packages: false,
    reconnects: true,
    serve: |printer, options| SdcpHost::serve(printer, options, SdcpHost::router, error),
};

type SdcpHost = wire::Host<SdcpState>;

/// State that the request handlers need besides the printer.
#[derive(Clone, Default)]
struct SdcpState {
    sockets: Arc<AtomicUsize>,
    /// Chunked upload in progress.
    upload: Arc<Mutex<Option<files::UploadChunks>>>,
}

impl SdcpHost {
    fn router(self) -> Router {
        Router::new()
            .route("/websocket", get(socket::upgrade))
            .route("/uploadFile/upload", post(files::upload).layer(DefaultBodyLimit::disable()))
            .fallback(|| async { error(StatusCode::NOT_FOUND, "Not Found") })
            .with_state(self)
    }

    /// Crashes the printer's program: it no longer responds, and a print in progress is lost.
    fn crash(&self) {
        self.printer.update_faults(|faults| faults.hang = true);
        self.printer.with(|machine| machine.reboot(true));
    }

    fn pieces(&self) -> std::sync::MutexGuard<'_, Option<files::UploadChunks>> {
        self.state.upload.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn error(status: StatusCode, message: &str) -> Response {
    (status, Json(json!({"error": message}))).into_response()
}
