//! Clients for the server's HTTP API, over its control socket or over TCP.

use std::time::Duration;

use api_requests::{HttpApi, RequestError};
use reqwest::{Client, ClientBuilder};

/// File name of the server's control socket in its data directory. The demo uses that directory as its working
/// directory, so the path is always short enough for a socket.
pub const CONTROL_SOCKET: &str = "control.sock";

/// Value of the `User-Agent` header.
const USER_AGENT: &str = concat!("printfloor-demo/", env!("CARGO_PKG_VERSION"));
/// Maximum time to connect to the server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum time between reads of a response; the event stream is never silent for longer than that.
const READ_TIMEOUT: Duration = Duration::from_secs(90);

/// Builds a client for the control socket in the working directory.
pub fn over_socket() -> Result<HttpApi, RequestError> {
    Ok(HttpApi::over_socket(builder().unix_socket(CONTROL_SOCKET).build()?))
}

/// Builds a client for the server at a base URL (without a trailing slash) that authenticates with an API key.
pub fn over_tcp(base: impl Into<String>, key: impl Into<String>) -> Result<HttpApi, RequestError> {
    Ok(HttpApi::over_tcp(builder().build()?, base, key))
}

/// Returns a builder for clients that follow no redirects, use no proxy, and never retry a request. The timeout for an
/// entire exchange is set on each request.
#[expect(clippy::disallowed_methods, reason = "the one place that builds clients")]
fn builder() -> ClientBuilder {
    Client::builder()
        .user_agent(USER_AGENT)
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(READ_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .retry(reqwest::retry::never())
}
