//! Faults that affect every request to a protocol.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use axum::{
    Router,
    body::to_bytes,
    extract::{ConnectInfo, Request, State},
    http::{
        Method, StatusCode,
        header::{CONTENT_LENGTH, CONTENT_TYPE},
    },
    middleware::{self, Next},
    response::Response,
};

use super::ConnectionGate;
use crate::{VirtualPrinter, faults::make_absurd, printer::Machine};

/// State that the guard needs for each request.
#[derive(Clone)]
struct GuardState {
    printer: VirtualPrinter,
    error: fn(StatusCode, &str) -> Response,
    requests: Arc<AtomicU64>,
}

/// Makes faults that affect every request apply to a protocol's routes. `error` builds a response in the protocol's own
/// format.
pub(super) fn guarded(router: Router, printer: VirtualPrinter, error: fn(StatusCode, &str) -> Response) -> Router {
    let guard = GuardState { printer, error, requests: Arc::default() };
    router.layer(middleware::from_fn_with_state(guard, strike))
}

async fn strike(
    State(guard): State<GuardState>,
    ConnectInfo(peer): ConnectInfo<ConnectionGate>,
    request: Request,
    next: Next,
) -> Response {
    peer.0.spare(false);
    guard.printer.count_request();
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
    if guard.printer.with(Machine::loses_request) {
        // Until the client gives up and closes the connection.
        pending::<()>().await;
    }
    if !errs {
        let is_query = request.method() == Method::GET;
        let answer = next.run(request).await;
        if is_query {
            guard.printer.answer_query().await;
        }
        return if guard.printer.faults().absurd_numbers { absurd(answer).await } else { answer };
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

/// Applies [`make_absurd`] to the response if it is JSON.
async fn absurd(answer: Response) -> Response {
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with("application/json")) {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    parts.headers.remove(CONTENT_LENGTH);
    match serde_json::from_slice(&bytes) {
        Ok(mut value) => {
            make_absurd(&mut value);
            Response::from_parts(parts, value.to_string().into())
        }
        Err(_) => Response::from_parts(parts, bytes.into()),
    }
}
