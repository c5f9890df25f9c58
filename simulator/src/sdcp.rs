//! A virtual printer that speaks SDCP over a web socket (printer type `sdcp`), as the Centauri Carbon of Elegoo does:
//! no key, files in pieces over HTTP, everything else on the socket.
//!
//! It bears a few sockets. One more and it hangs until it is switched off and on; so it does when it is told to start a
//! print with members missing, or sent a command that it does not know.

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

/// Sockets that it bears at once.
const MAX_SOCKETS: usize = 4;

/// The declaration of the protocol.
pub(crate) const PROTOCOL: Protocol = Protocol {
    word: "sdcp",
    about: "printers with a web socket of the SDCP kind (Elegoo)",
    serial_prefix: "SIMSD",
    key_chars: 32,
    prints_packages: false,
    reconnects: true,
    serve: |printer, options| Host::serve(printer, options, Host::router, error),
};

type Host = wire::Host<SdcpState>;

/// What the handlers share besides the printer.
#[derive(Clone, Default)]
struct SdcpState {
    sockets: Arc<AtomicUsize>,
    /// The upload whose pieces arrive.
    upload: Arc<Mutex<Option<files::Pieces>>>,
}

impl Host {
    fn router(self) -> Router {
        Router::new()
            .route("/websocket", get(socket::upgrade))
            .route("/uploadFile/upload", post(files::upload).layer(DefaultBodyLimit::disable()))
            .fallback(|| async { error(StatusCode::NOT_FOUND, "Not Found") })
            .with_state(self)
    }

    /// Its program ends: nothing answers, and a print is lost.
    fn crash(&self) {
        self.printer.update_faults(|faults| faults.hang = true);
        self.printer.with(|machine| machine.reboot(true));
    }

    fn pieces(&self) -> std::sync::MutexGuard<'_, Option<files::Pieces>> {
        self.state.upload.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn error(status: StatusCode, message: &str) -> Response {
    (status, Json(json!({"error": message}))).into_response()
}
