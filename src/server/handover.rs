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
use crate::store::connect::OpenError;
use crate::store::lease;

/// Path on the control socket at which a handover is requested. It is not part of the API.
pub(crate) const HANDOVER_PATH: &str = "/control/handover";

/// Maximum time for requests to be decided and recorded before the lead is given back.
pub(super) const COMMIT_TIME: Duration = Duration::from_secs(5);
/// Time for which new connections are told that another server is active, after the lead was released: as long as the
/// other server may take to become ready.
pub const FAREWELL_TIME: Duration = Duration::from_secs(5);

/// Reason why a server does not hand over.
#[derive(Debug, thiserror::Error)]
pub enum HandoverRefusal {
    /// No other server can use the database.
    #[error("handover requires PostgreSQL and a standby server")]
    NoLease,
    /// No server is on standby, or the one that is cannot take over yet.
    #[error("no standby server is ready to take over")]
    NoStandby,
    /// The database cannot be asked whether a server is on standby.
    #[error(transparent)]
    Database(OpenError),
}

/// Receiver of requests to hand over, which come over the control socket or by a signal.
#[derive(Clone)]
pub(super) struct HandoverDesk {
    config: Arc<Config>,
    /// `true` if another server can use the database.
    has_lease: bool,
    /// Token cancelled by a request that can be fulfilled.
    requested: CancellationToken,
}

impl HandoverDesk {
    /// Creates the desk of a server.
    pub(super) fn new(config: Arc<Config>, has_lease: bool) -> Self {
        Self { config, has_lease, requested: CancellationToken::new() }
    }

    /// Requests the handover. Refuses if no standby server is ready to take over.
    pub(super) async fn request(&self) -> Result<(), HandoverRefusal> {
        if !self.has_lease {
            return Err(HandoverRefusal::NoLease);
        }
        let settings = own_secrets::database_settings(&self.config);
        if !lease::is_followed(&settings).await.map_err(HandoverRefusal::Database)? {
            return Err(HandoverRefusal::NoStandby);
        }
        self.requested.cancel();
        Ok(())
    }

    /// Waits for a request that can be fulfilled.
    pub(super) async fn wait_for_request(&self) {
        self.requested.cancelled().await;
    }

    /// Returns the route of the control socket.
    pub(super) fn routes(self) -> Router {
        Router::new().route(HANDOVER_PATH, post(request)).with_state(self)
    }
}

async fn request(State(desk): State<HandoverDesk>) -> Result<StatusCode, ApiError> {
    match desk.request().await {
        Ok(()) => Ok(StatusCode::ACCEPTED),
        Err(error @ HandoverRefusal::Database(_)) => Err(ApiError::unavailable("unavailable", error.to_string(), 5)),
        Err(refusal) => Err(ApiError::conflict("no_standby", refusal.to_string())),
    }
}
