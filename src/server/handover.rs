//! Handover on request: a server stops in favour of the standby.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use tokio_util::sync::CancellationToken;

use crate::app::own_secrets;
use crate::config::Config;
use crate::http::error::ApiError;
use crate::store::lease;

/// Path on the control socket at which a handover is requested. It is no part of the API.
pub(crate) const HANDOVER_PATH: &str = "/control/handover";

/// Maximum time for requests to be decided and recorded before the lead is given back.
pub(super) const COMMIT_TIME: Duration = Duration::from_secs(5);
/// Time for which new connections are told that another server is active, after the lead was given back: as long as the
/// other server may take to be ready.
pub const FAREWELL_TIME: Duration = Duration::from_secs(5);

/// Receiver of the request to hand over.
#[derive(Clone)]
pub(super) struct HandoverDesk {
    config: Arc<Config>,
    /// `true` if another server can use the database.
    has_lease: bool,
    requested: CancellationToken,
}

impl HandoverDesk {
    /// Creates the desk; `requested` is cancelled by a request that can be met.
    pub(super) fn new(config: Arc<Config>, has_lease: bool, requested: CancellationToken) -> Self {
        Self { config, has_lease, requested }
    }

    /// Returns the route of the control socket.
    pub(super) fn routes(self) -> Router {
        Router::new().route(HANDOVER_PATH, post(request)).with_state(self)
    }
}

async fn request(State(desk): State<HandoverDesk>) -> Result<StatusCode, ApiError> {
    if !desk.has_lease {
        return Err(ApiError::conflict("no_standby", "handover requires PostgreSQL and a standby server"));
    }
    match lease::is_followed(&own_secrets::database_settings(&desk.config)).await {
        Ok(true) => {
            desk.requested.cancel();
            Ok(StatusCode::ACCEPTED)
        }
        Ok(false) => Err(ApiError::conflict("no_standby", "no standby server is ready to take over")),
        Err(error) => Err(ApiError::unavailable("unavailable", error.to_string(), 5)),
    }
}
