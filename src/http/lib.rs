//! HTTP edge: parses a request, sends one aggregate a command or runs one query, and maps the result to a response.
//! This crate works with handles and queries, never with tables. It contains no business rules, and only `error`
//! decides the status code of a rejection. Every route declares the access that it requires ([`routes`]).

extern crate self as http;

pub mod access;
pub mod admission;
pub mod agent_token;
mod answer_headers;
pub mod audit_sampling;
pub mod bodies;
pub mod command_request;
pub mod compression;
pub mod csrf;
mod docs;
pub mod dropped_cookie;
pub mod edge;
pub mod error;
pub mod handler;
pub mod handles;
pub mod hashing;
pub mod idempotency;
mod json_text;
pub mod language;
pub mod last_used;
pub mod limits;
pub mod local_sign_in;
pub mod meter;
pub mod metrics_page;
mod middleware;
pub mod model_upload;
pub mod multipart;
pub mod next_path;
pub mod openapi;
pub mod operation;
pub mod page;
pub mod part_heads;
pub mod path_id;
pub mod paths;
pub mod photo_form;
pub mod reply;
pub mod request_id;
pub mod resource_state;
pub mod return_paths;
mod route_guard;
pub mod routes;
mod serve;
pub mod setup_desk;
pub mod sse;
mod state_cache;
mod state_parts;
pub mod stream_auth;
mod unread_body;
pub mod wire;
pub mod written_answers;

use std::ops::Deref;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use tokio_util::sync::CancellationToken;

use crate::edge::{Edge, ResponseRewriter};
use crate::error::ApiError;
use crate::middleware::MiddlewareLayer;
use actors::app::App;
use config::Config;
use platform::shared::Shared;

#[cfg(feature = "fuzzing")]
pub use serve::HeadScan;
pub use serve::{Acceptor, serve_control, serve_standby, start_tcp};

/// Shared server state for the middleware around the handlers. Handlers extract only the `handles` that they use. A
/// single reference count covers all parts because the state is cloned for every request.
#[derive(Clone)]
pub struct AppState(Shared<AppParts>);

impl Deref for AppState {
    type Target = AppParts;
    fn deref(&self) -> &AppParts {
        &self.0
    }
}

impl Deref for AppParts {
    type Target = App;
    fn deref(&self) -> &App {
        &self.app
    }
}

/// Contents of an [`AppState`].
pub struct AppParts {
    /// Directories, store queries and all other components behind the HTTP edge.
    pub app: Arc<App>,
    /// Configuration loaded at startup.
    pub config: Arc<Config>,
    /// Scopes of idempotency keys whose first request is still running.
    pub running: idempotency::RunningKeys,
    /// API keys that were checked against the current state of access.
    checked_keys: Arc<access::CheckedKeys>,
    /// Times at which API keys and sessions were last used, not written to the database yet.
    last_used: Arc<last_used::LastUsed>,
    /// Counter and sampler of rejected attempts for the audit log.
    pub refusals: Arc<audit_sampling::RefusalSampler>,
    /// One-time setup code and the setup session.
    pub setup: Arc<setup_desk::SetupService>,
    /// Link with which a demo signs in a user on the same machine.
    pub local_sign_in: Arc<local_sign_in::LocalSignInHolder>,
    /// Limit on concurrent password hashing.
    hashing: hashing::Hashing,
    /// Request counts by route and status.
    pub meters: Arc<meter::RouteMeters>,
    /// Rate limits for all callers.
    pub limits: Arc<limits::RateLimiter>,
    /// Request bodies being received, and their limits.
    pub bodies: Arc<bodies::UnfinishedBodies>,
    /// Open connections and in-flight requests, and their limits.
    admission: Arc<admission::Admission>,
    /// State of single resources, such as caches.
    resource_states: resource_state::ResourceStates,
    /// Streams opened by customers, counted per customer.
    streams: Arc<sse::OpenStreams>,
    /// Cancelled on shutdown, which ends all streams.
    pub leaving: CancellationToken,
    /// OpenAPI descriptions of the served routes.
    descriptions: Arc<openapi::Descriptions>,
}

impl AppState {
    /// Creates the state of a started app.
    pub fn new(app: Arc<App>, config: Arc<Config>, leaving: CancellationToken) -> Self {
        Self(Shared::new(AppParts {
            limits: Arc::new(limits::RateLimiter::new(&config, app.redis.clone())),
            bodies: Arc::new(bodies::UnfinishedBodies::new(&config.server)),
            admission: Arc::new(admission::Admission::new(&config.server)),
            running: Arc::default(),
            checked_keys: Arc::default(),
            last_used: Arc::default(),
            refusals: Arc::default(),
            setup: Arc::default(),
            local_sign_in: Arc::default(),
            hashing: hashing::Hashing::default(),
            meters: Arc::default(),
            app,
            config,
            resource_states: resource_state::ResourceStates::default(),
            streams: Arc::default(),
            leaving,
            descriptions: Arc::default(),
        }))
    }
}

impl AppState {
    /// Sets the generator of the API descriptions; each description is generated on the first request for it.
    pub fn describe_with(&self, generator: openapi::Generator) {
        self.descriptions.set_generator(generator);
    }

    /// Generates the one-time setup code for the machine's owner; returns `None` once the setup is complete.
    pub fn make_setup_code(&self) -> Option<String> {
        let completed = access::with_access(&self.access, |access| access.setup_completed_at.is_some());
        (completed == Ok(false)).then(|| self.setup.make_code(self.environment.now()))
    }
}

/// Adds responses for unknown paths and methods, and the middleware around all routes ([`edge`]).
pub fn with_edge(routes: Router<AppState>, state: AppState, rewriter: Box<dyn ResponseRewriter>) -> Router {
    let edge = Edge::new(&state, rewriter);
    routes
        .merge(docs::routes())
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        .layer(MiddlewareLayer::new(edge))
        .with_state(state)
}

async fn no_such_path(State(app): State<AppState>) -> ApiError {
    app.meters.unmatched.counted(404);
    error::no_such_path().await
}

async fn no_such_method(State(app): State<AppState>) -> ApiError {
    app.meters.unmatched.counted(405);
    error::no_such_method()
}
