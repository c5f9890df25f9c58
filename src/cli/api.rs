//! Access to the server's own HTTP API over its control socket, whose callers have the machine owner's permissions.

use std::io;
use std::ops::Deref;
use std::path::Path;
use std::time::Duration;

use api_requests::{HttpApi, RequestError};
use reqwest::Client;

use super::CliError;
use crate::server::{CONTROL_SOCKET, SocketPath};
use platform::http::USER_AGENT;

/// Maximum duration of a request, unless the request has its own.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Client for the server that runs on a data directory.
#[derive(Debug)]
pub struct ControlApi {
    http: HttpApi,
    /// Path of the control socket; must live as long as the client.
    _socket: SocketPath,
}

impl Deref for ControlApi {
    type Target = HttpApi;

    fn deref(&self) -> &HttpApi {
        &self.http
    }
}

impl ControlApi {
    /// Connects to the server that runs on the given data directory; `None` if no server listens on its control socket.
    pub async fn open(data: &Path) -> Result<Option<Self>, CliError> {
        let opened = async {
            let socket = SocketPath::in_folder(data)?;
            socket.connect().await.map(|_| socket)
        };
        let socket = match opened.await {
            Ok(socket) => socket,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
                return Ok(None);
            }
            Err(source) => {
                let path = data.join(CONTROL_SOCKET);
                return Err(CliError::Failed(format!("{} cannot be used: {source}", path.display())));
            }
        };
        #[expect(clippy::disallowed_methods, reason = "the one client over a Unix socket; it has a time limit")]
        let client = Client::builder().unix_socket(socket.as_path()).user_agent(USER_AGENT).timeout(REQUEST_TIMEOUT);
        let client = client.build().map_err(RequestError::from)?;
        Ok(Some(Self { http: HttpApi::over_socket(client), _socket: socket }))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[tokio::test]
    async fn without_a_server_there_is_no_client() {
        platform::tls::install_provider();
        let data = tempfile::tempdir().unwrap();
        assert!(ControlApi::open(data.path()).await.unwrap().is_none(), "no socket");
        // What a killed server leaves behind.
        drop(std::os::unix::net::UnixListener::bind(data.path().join(CONTROL_SOCKET)).unwrap());
        assert!(ControlApi::open(data.path()).await.unwrap().is_none(), "nobody listens");
        assert!(ControlApi::open(&data.path().join("absent")).await.unwrap().is_none(), "no folder");
    }
}
