//! The faults that affect every request of a protocol.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use axum::{
    Router,
    extract::{ConnectInfo, Request, State},
    http::StatusCode,
    middleware::{self, Next},
    response::Response,
};

use super::Peer;
use crate::VirtualPrinter;

/// The state of the guard.
#[derive(Clone)]
pub struct Guard {
    printer: VirtualPrinter,
    error: fn(StatusCode, &str) -> Response,
    requests: Arc<AtomicU64>,
}

/// Applies the faults that affect every request to a protocol's routes. `error` makes a response in the protocol's
/// own shape.
pub fn guarded(router: Router, printer: VirtualPrinter, error: fn(StatusCode, &str) -> Response) -> Router {
    let guard = Guard { printer, error, requests: Arc::default() };
    router.layer(middleware::from_fn_with_state(guard, strike))
}

async fn strike(
    State(guard): State<Guard>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    request: Request,
    next: Next,
) -> Response {
    peer.0.spare(false);
    guard.printer.asked();
    let (reachable, hangs, errs) = guard.printer.with(|machine| {
        let faults = machine.faults();
        (machine.reachable(), faults.hang, faults.every_second_answer_an_error)
    });
    if !reachable {
        return peer.hang_up();
    }
    if hangs {
        // When it no longer hangs, the request is too old: the connection is closed without an answer.
        guard.printer.until(|machine| !machine.faults().hang).await;
        return peer.hang_up();
    }
    if !errs {
        return next.run(request).await;
    }
    let count = guard.requests.fetch_add(1, Ordering::SeqCst) + 1;
    if count % 2 == 1 {
        return next.run(request).await;
    }
    if count.is_multiple_of(4) {
        // The request is carried out, and answered as if it were not.
        let _ = next.run(request).await;
    }
    (guard.error)(StatusCode::INTERNAL_SERVER_ERROR, "simulated fault")
}
