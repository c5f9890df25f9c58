//! Simulated systems that count stock: a parts management system ([`parts`]) and a spool management system
//! ([`spools`]).
//!
//! Each serves the real protocol with the real status codes and quirks, allows tests to edit stock as a user of the
//! system would, and can lose requests or responses, in which case only the test knows the outcome.

pub mod parts;
pub mod spools;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::json;

use crate::wire::{ConnectionGate, SimServer};

/// Network condition under which requests are handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NetworkCondition {
    /// All requests are served.
    #[default]
    Fair,
    /// Connections are cut before anything is read from them.
    Down,
    /// Requests that change something are cut off before they take effect.
    LosesRequests,
    /// Requests that change something take effect, and then their connection is cut.
    LosesAnswers,
    /// Requests receive no response.
    Hangs,
    /// Responses are sent after the given delay.
    Slow(Duration),
    /// Rejects requests whose path starts with the given prefix with a 403, as if the token lacked permission; serves
    /// all others.
    Forbids(&'static str),
    /// All requests are rejected with a 401, as if the token were wrong or expired.
    Unauthorized,
}

/// Network condition of one server, shared with its handlers.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedCondition(Arc<Mutex<NetworkCondition>>);

impl SharedCondition {
    pub(crate) fn set(&self, weather: NetworkCondition) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = weather;
    }

    fn now(&self) -> NetworkCondition {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Running simulated system; `H` is the state of its handlers. It stops when dropped.
pub struct SimStockSystem<H> {
    host: H,
    way: SharedCondition,
    server: SimServer,
}

impl<H: Clone + Send + Sync + 'static> SimStockSystem<H> {
    /// Serves the given routes on an address; port 0 selects a free port.
    async fn serve(addr: SocketAddr, host: H, routes: Router<H>) -> std::io::Result<Self> {
        let way = SharedCondition::default();
        let routes = routes.with_state(host.clone()).layer(middleware::from_fn_with_state(way.clone(), on_the_way));
        Ok(Self { host, way, server: SimServer::start(addr, routes).await? })
    }

    /// Returns the system's base URL.
    pub fn url(&self) -> String {
        self.server.base_url()
    }

    /// Sets the network condition.
    pub fn weather(&self, weather: NetworkCondition) {
        self.way.set(weather);
    }
}

/// Applies the network condition to a request.
pub(crate) async fn on_the_way(
    State(way): State<SharedCondition>,
    ConnectInfo(peer): ConnectInfo<ConnectionGate>,
    request: Request,
    next: Next,
) -> Response {
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    match way.now() {
        NetworkCondition::Down => peer.hang_up(),
        NetworkCondition::LosesRequests if changes => peer.hang_up(),
        NetworkCondition::LosesAnswers if changes => {
            let _ = next.run(request).await;
            peer.hang_up()
        }
        NetworkCondition::Hangs => std::future::pending().await,
        NetworkCondition::Slow(delay) => {
            tokio::time::sleep(delay).await;
            next.run(request).await
        }
        NetworkCondition::Forbids(path) if request.uri().path().starts_with(path) => {
            let words = "You do not have permission to perform this action.";
            (StatusCode::FORBIDDEN, Json(json!({ "detail": words }))).into_response()
        }
        NetworkCondition::Unauthorized => {
            (StatusCode::UNAUTHORIZED, Json(json!({ "detail": "Invalid token." }))).into_response()
        }
        NetworkCondition::Fair
        | NetworkCondition::LosesRequests
        | NetworkCondition::LosesAnswers
        | NetworkCondition::Forbids(_) => next.run(request).await,
    }
}

/// Returns the page of a list that `limit` and `offset` select.
pub(crate) fn cut<T>(all: Vec<T>, limit: Option<usize>, offset: Option<usize>) -> Vec<T> {
    all.into_iter().skip(offset.unwrap_or(0)).take(limit.unwrap_or(usize::MAX)).collect()
}

/// Converts an amount in thousandths to a decimal number.
pub(crate) fn decimal(thousandths: i64) -> f64 {
    thousandths as f64 / 1000.0
}
