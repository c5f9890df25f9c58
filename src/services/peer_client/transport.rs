//! Port through which requests reach the other systems, and its implementation over HTTP.
//!
//! Everything that determines what is requested from a system, and how its answer is interpreted, stays in front of the
//! port: tokens, retries, time limits for calls, circuit breakers. Behind it is the network with the dial guard, so
//! simulations pass a transport without sockets.

use std::sync::Arc;

use async_trait::async_trait;
use reqwest::{Client, Method, Request, RequestBuilder, Response, Url};

use super::reason;
use crate::peer_fault::PeerFault;

/// Reason that no response arrived.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{words}")]
pub struct NoPeerResponse {
    /// Short sentence about the system.
    pub words: String,
    /// `true` if there was no connection yet, so that nothing can have been sent.
    pub is_unsent: bool,
}

impl NoPeerResponse {
    /// Converts it into a fault in the system that is called `who` in error messages.
    pub(crate) fn fault(self, who: &str) -> PeerFault {
        PeerFault::new(format!("{who} does not respond")).saying(self.words)
    }
}

impl From<reqwest::Error> for NoPeerResponse {
    fn from(error: reqwest::Error) -> Self {
        Self { is_unsent: error.is_connect() || error.is_builder(), words: reason(error) }
    }
}

/// Transport of requests to other systems.
#[async_trait]
pub trait PeerTransport: Send + Sync + 'static {
    /// Sends a request once, without following redirects.
    async fn exchange(&self, request: Request) -> Result<Response, NoPeerResponse>;
}

#[async_trait]
impl PeerTransport for Client {
    async fn exchange(&self, request: Request) -> Result<Response, NoPeerResponse> {
        Ok(self.execute(request).await?)
    }
}

/// HTTP client for configured services. The requests that it builds leave through a transport, which is the client
/// itself except in simulations.
#[derive(Clone)]
pub struct PeerHttp {
    client: Client,
    transport: Arc<dyn PeerTransport>,
}

impl From<Client> for PeerHttp {
    fn from(client: Client) -> Self {
        Self { transport: Arc::new(client.clone()), client }
    }
}

impl PeerHttp {
    /// Creates a client whose requests leave through the given transport.
    pub fn through(client: Client, transport: Arc<dyn PeerTransport>) -> Self {
        Self { client, transport }
    }

    /// Returns the HTTP client, for connection tests, which leave through no other transport.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Builds a request.
    pub(crate) fn request(&self, method: Method, url: Url) -> RequestBuilder {
        self.client.request(method, url)
    }

    /// Sends a request that this client has built.
    pub(crate) async fn send(&self, call: RequestBuilder) -> Result<Response, NoPeerResponse> {
        self.execute(call.build()?).await
    }

    /// Sends a request.
    pub(crate) async fn execute(&self, request: Request) -> Result<Response, NoPeerResponse> {
        self.transport.exchange(request).await
    }
}
