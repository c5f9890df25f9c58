//! Options with which any virtual printer is served.

use std::net::SocketAddr;

/// Address, credentials and name of a virtual printer's server.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Address to listen on; port 0 selects a free port.
    pub addr: SocketAddr,
    /// API key that every call requires; with `None`, every caller is trusted.
    pub api_key: Option<String>,
    /// Name that the printer reports.
    pub name: String,
}
