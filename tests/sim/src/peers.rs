//! Other systems of the world by their hosts, at the port of their clients.

use std::sync::Arc;

use async_trait::async_trait;
use reqwest::{Request, Response};

use crate::other_shops::SimulatedShops;
use crate::spool_manager::{SPOOLS_HOST, SpoolManager};
use services::peer_client::{NoPeerResponse, PeerTransport};

/// Transport to all other systems.
pub struct Peers {
    /// Other shops.
    pub other_shops: Arc<SimulatedShops>,
    /// Spool manager.
    pub spool_manager: Arc<SpoolManager>,
}

#[async_trait]
impl PeerTransport for Peers {
    async fn exchange(&self, request: Request) -> Result<Response, NoPeerResponse> {
        if request.url().host_str() == Some(SPOOLS_HOST) {
            self.spool_manager.exchange(request).await
        } else {
            self.other_shops.exchange(request).await
        }
    }
}
