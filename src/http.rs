//! HTTP edge: parses a request, sends one aggregate a command or runs one query, and maps the result to a response. It
//! works with handles and queries, never with tables. It contains no business rules, and only `error` decides the
//! status code of a refusal. Every route declares who may use it ([`routes`]).

mod access;
mod admission;
mod agent_token;
mod answer_headers;
mod audit_sampling;
pub mod billing;
mod bodies;
mod command_request;
mod compression;
mod csrf;
mod docs;
mod dropped_cookie;
mod error;
mod handles;
mod hashing;
pub mod idempotency;
mod last_used;
mod limits;
pub(crate) mod local_sign_in;
mod meter;
mod model_upload;
mod multipart;
pub mod openapi;
mod page;
mod pages;
mod part_heads;
mod path_id;
pub mod production;
mod reply;
mod request_id;
mod return_paths;
pub mod routes;
mod serve;
mod setup_desk;
mod stream_auth;
mod unread_body;
mod wire;

use std::ops::Deref;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRef as _, State};
use axum::middleware::{from_fn, from_fn_with_state};
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;

use crate::app::App;
use crate::config::Config;
use crate::http::error::ApiError;
use crate::shared::Shared;

pub use serve::{Front, serve_control, start_tcp};

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

/// The parts of an [`AppState`].
pub struct AppParts {
    /// Directories, store queries and everything else behind the HTTP edge.
    pub app: Arc<App>,
    /// Configuration as loaded at startup.
    pub config: Arc<Config>,
    /// Scopes of idempotency keys whose first request is still running.
    pub running: idempotency::RunningKeys,
    /// Last use of API keys and sessions that has not been written to the database yet.
    last_used: Arc<last_used::LastUsed>,
    /// Counter and sampler of rejected attempts for the audit log.
    pub refusals: Arc<audit_sampling::RefusalSampler>,
    /// One-time setup code and the setup session.
    pub setup: Arc<setup_desk::SetupDesk>,
    /// Link with which a demo signs in the operator of its own machine.
    pub(crate) local_sign_in: Arc<local_sign_in::LocalSignInDesk>,
    /// Limit on concurrent password hashing.
    hashing: hashing::Hashing,
    /// Request counts by route and status.
    pub meters: Arc<meter::RouteMeters>,
    /// Numbers that `/metrics` last read from the database.
    pub tallies: Arc<production::metrics::Tallies>,
    /// Rate limits of all callers.
    pub limits: Arc<limits::Limits>,
    /// Request bodies still being received, and their limits.
    pub bodies: Arc<bodies::Bodies>,
    /// Open connections and in-flight requests, and their limits.
    admission: Arc<admission::Admission>,
    /// Cache of the product catalogue.
    pub catalog: Arc<billing::catalog::CatalogCache>,
    /// Cached result of `/readyz`.
    pub readiness: Arc<production::health::ReadinessCache>,
    /// Cached board of the shop floor for the staff pages.
    board: Arc<pages::Board>,
    /// Streams that customers have open, counted per customer.
    streams: Arc<billing::orders::OpenStreams>,
    /// Cancelled on shutdown, which ends all streams.
    pub leaving: CancellationToken,
    /// OpenAPI description of the routes that [`router`] serves.
    descriptions: Arc<openapi::Descriptions>,
}

impl AppState {
    /// Creates the state of a started app.
    pub fn new(app: Arc<App>, config: Arc<Config>, leaving: CancellationToken) -> Self {
        Self(Shared::new(AppParts {
            limits: Arc::new(limits::Limits::new(&config, app.redis.clone())),
            bodies: Arc::new(bodies::Bodies::new(&config.server)),
            admission: Arc::new(admission::Admission::new(&config.server)),
            running: Arc::default(),
            last_used: Arc::default(),
            refusals: Arc::default(),
            setup: Arc::default(),
            local_sign_in: Arc::default(),
            hashing: hashing::Hashing::default(),
            meters: Arc::default(),
            tallies: Arc::default(),
            catalog: Arc::new(billing::catalog::cache_of(&app, &config)),
            app,
            config,
            readiness: Arc::default(),
            board: Arc::default(),
            streams: Arc::default(),
            leaving,
            descriptions: Arc::default(),
        }))
    }
}

impl AppState {
    /// Generates the one-time setup code for the owner of the machine; `None` once the setup is complete.
    pub fn make_setup_code(&self) -> Option<String> {
        let completed = access::with_access(&self.access, |access| access.setup_completed_at.is_some());
        (completed == Ok(false)).then(|| self.setup.make_code(self.environment.now()))
    }
}

/// Builds the router of the whole API.
pub fn router(state: AppState) -> Router {
    let (routes, of_customers) = (production::routes(&state.config), billing::routes());
    state.descriptions.set_routes(|| openapi::DescribedRoutes {
        production: routes.served(),
        billing: of_customers.served(),
        public_url: state.config.public_url(),
    });
    let origins = answer_headers::AllowedOrigins::new(&state.config.server.cors_origins);
    routes
        .into_router(&state)
        .merge(of_customers.into_router(&state))
        .merge(pages::routes(&state))
        .merge(docs::routes())
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        // The framework's own limit of 2 MB would cut uploads; every reader of a body here has a limit of its own.
        .layer(DefaultBodyLimit::disable())
        .layer(CatchPanicLayer::custom(error::panicked))
        .layer(from_fn_with_state(Arc::new(limits::layer::BoundHandles::from_ref(&state)), limits::layer::bound))
        .layer(from_fn(billing::answered_by_contract))
        .layer(from_fn(pages::answered_as_page))
        .layer(from_fn(compression::gzip))
        .layer(from_fn_with_state(Arc::new(origins), answer_headers::tell))
        .layer(from_fn_with_state(state.clone(), request_id::name))
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
