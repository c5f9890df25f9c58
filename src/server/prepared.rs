//! First steps of a start: the locks, the listener, and the lead of the database.

use std::fs::File;
use std::net;

use tokio::net::TcpListener;

use super::lead::Lead;
use super::standby::{StandbyFront, lead_or_wait};
use super::{Server, StartError, data_folder};
use crate::actors::kernel::environment::Clock;
use crate::config::Config;

/// Lead of the database, for the server that waited for it.
pub struct DatabaseLead {
    pub(super) lead: Lead,
    /// Page about the former leader, which is served until this server is ready.
    pub(super) front: Option<StandbyFront>,
}

/// Server that has its data directory and its address, and has not started yet.
pub struct PreparedServer {
    config: Config,
    lock: File,
    listener: net::TcpListener,
    stands_by: bool,
}

impl PreparedServer {
    /// Opens the listener and locks the data directory. A start that fails because of a conflict leaves nothing behind.
    pub(super) async fn new(config: Config) -> Result<Self, StartError> {
        let listen = config.server.listen.to_string();
        let refused = |source| StartError::Listen { address: listen.clone(), source };
        // A server that holds the directory also has the port: its process is told rather than "in use".
        let lock = data_folder::lock_again(&config.server.data_dir, &listen)?;
        let listener = TcpListener::bind(&listen).await.map_err(refused)?;
        let lock = lock.map_or_else(|| data_folder::lock(&config.server.data_dir, &listen), Ok)?;
        let listener = listener.into_std().map_err(refused)?;
        Ok(Self { config, lock, listener, stands_by: false })
    }

    /// Waits until this server may use the database. If another server uses it, this one stands by, or refuses to
    /// start, depending on the settings. Can be dropped at any time.
    pub async fn lead(&mut self) -> Result<DatabaseLead, StartError> {
        let lead = lead_or_wait(&self.config, &self.lock, &self.listener, &mut self.stands_by);
        let (lead, front) = Box::pin(lead).await?;
        Ok(DatabaseLead { lead, front })
    }

    /// Returns whether this server has waited for another one.
    pub fn stands_by(&self) -> bool {
        self.stands_by
    }

    /// Starts the app and serves it.
    pub async fn start(self, lead: DatabaseLead, clock: Clock) -> Result<Server, StartError> {
        let Self { config, lock, listener, .. } = self;
        Box::pin(Server::start_prepared((config, clock), (lock, listener), lead)).await
    }
}
