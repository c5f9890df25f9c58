//! The edge: validates, asks one thing, maps the answer. Knows handles and queries, never entities or the database.
//!
//! Not for rules, and not for statuses outside [`error`]. Every route states who may use it ([`routes`]).

pub mod access;
pub mod admission;
pub mod audit_sampling;
pub mod body;
pub mod command_request;
pub mod csrf;
pub mod docs;
pub mod error;
pub mod hashing;
pub mod idempotency;
pub mod last_used;
pub mod limits;
pub mod meter;
pub mod openapi;
pub mod page;
pub mod path_id;
pub mod production;
pub mod reply;
pub mod request_id;
pub mod routes;
pub mod serve;
pub mod stream_auth;
pub mod wire;

use crate::app::App;
use crate::config::Config;
use crate::http::error::ApiError;
use crate::secrets::random::secret_bytes;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use dashmap::DashSet;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;

pub use serve::{serve_control, serve_tcp};

/// What every handler knows. Cloned several times with each request, so all of it is behind one count.
#[derive(Clone)]
pub struct AppState(Arc<AppParts>);

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

/// What is in an [`AppState`].
pub struct AppParts {
    /// Everything behind the edge.
    pub app: Arc<App>,
    /// The settings.
    pub config: Arc<Config>,
    /// Requests under way that carry an idempotency key.
    pub running: Arc<DashSet<String>>,
    /// Last uses of keys and sessions that are not written yet.
    pub last_used: Arc<last_used::LastUsed>,
    /// Refused attempts of this minute.
    pub refusals: Arc<audit_sampling::RefusalSampler>,
    /// Turns for hashing passwords.
    pub hashing: hashing::Hashing,
    /// Requests by route.
    pub meters: Arc<meter::RouteMeters>,
    /// What the database counted last.
    pub tallies: Arc<production::metrics::Tallies>,
    /// How often callers may ask.
    pub limits: Arc<limits::Limits>,
    /// How much is taken at a time.
    pub admission: Arc<admission::Admission>,
    /// The server leaves: streams end.
    pub leaving: CancellationToken,
    /// The description of the routes that [`router`] serves, as JSON.
    pub description: OnceLock<Bytes>,
    /// The same as OpenAPI 3.0, made when it is first asked for.
    pub description_3_0: OnceLock<Bytes>,
}

impl AppState {
    /// Over this shop.
    pub fn new(app: Arc<App>, config: Arc<Config>, leaving: CancellationToken) -> Self {
        Self(Arc::new(AppParts {
            limits: Arc::new(limits::Limits::new(&config, app.redis.clone())),
            admission: Arc::new(admission::Admission::new(&config.server)),
            app,
            config,
            running: Arc::default(),
            last_used: Arc::default(),
            refusals: Arc::default(),
            hashing: hashing::Hashing::default(),
            meters: Arc::default(),
            tallies: Arc::default(),
            leaving,
            description: OnceLock::new(),
            description_3_0: OnceLock::new(),
        }))
    }

    /// Seals a secret; an empty one stays empty.
    pub fn seal(&self, secret: &str) -> String {
        if secret.is_empty() { String::new() } else { self.app.cipher.seal(secret, secret_bytes()) }
    }
}

/// The whole API.
pub fn router(state: AppState) -> Router {
    let routes = production::routes(&state.config);
    state.description.get_or_init(|| openapi::json(&routes.served(), &state.config.public_url()).into());
    routes
        .into_router(&state)
        .merge(docs::routes())
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        // The framework's own limit of 2 MB would end uploads; every reader of a body here has a limit of its own.
        .layer(DefaultBodyLimit::disable())
        .layer(CatchPanicLayer::custom(error::panicked))
        .layer(axum::middleware::from_fn_with_state(Arc::new(state.clone()), limits::layer::bound))
        .layer(axum::middleware::from_fn_with_state(state.clone(), request_id::name))
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
