//! Client for the server's own HTTP API over its control socket, whose callers have the machine owner's permissions.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder, Response};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::server::{CONTROL_SOCKET, SocketPath};
use platform::http::USER_AGENT;

/// Maximum duration of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Largest page size that the server's lists allow.
const PAGE_ENTRIES: usize = 200;

/// Reason that a request failed.
#[derive(Debug, thiserror::Error)]
pub enum ApiFailure {
    /// The server rejected the request.
    #[error("{message}")]
    Refused {
        /// HTTP status of the response.
        status: u16,
        /// Error code.
        code: String,
        /// Error message, or the errors in all fields if the server lists them.
        message: String,
    },
    /// The server did not respond.
    #[error("the server did not respond: {0}")]
    Unavailable(#[from] reqwest::Error),
    /// The response has an unexpected form.
    #[error("the server sent an unexpected response: {0}")]
    Unexpected(String),
    /// The control socket exists but cannot be used.
    #[error("{} cannot be used: {source}", path.display())]
    Socket {
        /// Socket path.
        path: PathBuf,
        /// Underlying operating system error.
        source: io::Error,
    },
}

/// HTTP client for a server.
#[derive(Clone, Debug)]
pub struct HttpApi {
    client: Client,
    /// Path of the control socket; must live as long as the client.
    _socket: Arc<SocketPath>,
}

impl HttpApi {
    /// Connects to the server that runs on the given data directory; `None` if no server listens on its control socket.
    pub async fn over_socket(data: &Path) -> Result<Option<Self>, ApiFailure> {
        let opened = async {
            let socket = SocketPath::in_folder(data)?;
            socket.connect().await.map(|_| socket)
        };
        let socket = match opened.await {
            Ok(socket) => socket,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
                return Ok(None);
            }
            Err(source) => return Err(ApiFailure::Socket { path: data.join(CONTROL_SOCKET), source }),
        };
        #[expect(clippy::disallowed_methods, reason = "the one client over a Unix socket; it has a time limit")]
        let client =
            Client::builder().unix_socket(socket.as_path()).user_agent(USER_AGENT).timeout(REQUEST_TIMEOUT).build()?;
        Ok(Some(Self { client, _socket: Arc::new(socket) }))
    }

    /// Prepares a request.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        // The host is not looked up: everything goes to the socket.
        self.client.request(method, format!("http://localhost{path}")).timeout(REQUEST_TIMEOUT)
    }

    /// Reads the resource at a path.
    pub async fn get(&self, path: &str) -> Result<Value, ApiFailure> {
        json_of(self.request(Method::GET, path).send().await?).await
    }

    /// Sends a POST request with a JSON body.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, ApiFailure> {
        json_of(self.request(Method::POST, path).json(body).send().await?).await
    }

    /// Updates some fields of a resource with PATCH.
    pub async fn patch(&self, path: &str, body: &Value) -> Result<Value, ApiFailure> {
        json_of(self.request(Method::PATCH, path).json(body).send().await?).await
    }

    /// Deletes the resource at a path.
    pub async fn delete(&self, path: &str) -> Result<(), ApiFailure> {
        json_of(self.request(Method::DELETE, path).send().await?).await.map(drop)
    }

    /// Fetches all entries of a list, page by page. `path` must not have a query; `name` is the field that contains the
    /// entries.
    pub async fn list<T: DeserializeOwned>(&self, path: &str, name: &str) -> Result<Vec<T>, ApiFailure> {
        let mut all = Vec::new();
        loop {
            let mut page = self.get(&format!("{path}?limit={PAGE_ENTRIES}&offset={}", all.len())).await?;
            let entries: Vec<T> = parsed(page.get_mut(name).map(Value::take).unwrap_or_default())?;
            let (empty, more) = (entries.is_empty(), page["pagination"]["hasMore"] == json!(true));
            all.extend(entries);
            if empty || !more {
                return Ok(all);
            }
        }
    }
}

/// Deserializes a JSON value.
pub fn parsed<T: DeserializeOwned>(value: Value) -> Result<T, ApiFailure> {
    serde_json::from_value(value).map_err(|error| ApiFailure::Unexpected(error.to_string()))
}

/// Returns the body of a successful response (null if it is empty), or an error if the server rejected the request.
pub async fn json_of(answer: Response) -> Result<Value, ApiFailure> {
    let status = answer.status();
    let body = answer.bytes().await?;
    if !status.is_success() {
        let error = bounded_json::read(&body, bounded_json::ANSWER).unwrap_or_default();
        return Err(refusal(status.as_u16(), &error));
    }
    if body.is_empty() {
        return Ok(Value::Null);
    }
    bounded_json::read(&body, bounded_json::ANSWER).map_err(|error| ApiFailure::Unexpected(error.to_string()))
}

/// Converts an error response from the API to an error that contains the problems in all fields if the response lists
/// them, and its message otherwise.
fn refusal(status: u16, body: &Value) -> ApiFailure {
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let faults = body["errors"].as_array().into_iter().flatten();
    let faults: Vec<_> = faults.map(|fault| format!("{}: {}", text(fault, "path"), text(fault, "message"))).collect();
    let message = match body["message"].as_str() {
        _ if !faults.is_empty() => faults.join("; "),
        Some(words) => words.to_owned(),
        None => format!("the server responded with {status}"),
    };
    ApiFailure::Refused { status, code: text(body, "code"), message }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_refusal_names_every_fault() {
        let faults = json!([{"path": "email", "message": "must be an email address"}, {"path": "role", "message": "is missing"}]);
        let failure =
            refusal(400, &json!({"success": false, "message": "wrong", "code": "validation", "errors": faults}));
        assert_eq!(failure.to_string(), "email: must be an email address; role: is missing");
        assert!(matches!(failure, ApiFailure::Refused { status: 400, .. }));
        assert_eq!(refusal(409, &json!({"message": "taken", "code": "x"})).to_string(), "taken");
        assert_eq!(refusal(502, &Value::Null).to_string(), "the server responded with 502");
    }

    #[tokio::test]
    async fn without_a_server_there_is_no_client() {
        platform::tls::install_provider();
        let data = tempfile::tempdir().unwrap();
        assert!(HttpApi::over_socket(data.path()).await.unwrap().is_none(), "no socket");
        // What a killed server leaves behind.
        drop(std::os::unix::net::UnixListener::bind(data.path().join(CONTROL_SOCKET)).unwrap());
        assert!(HttpApi::over_socket(data.path()).await.unwrap().is_none(), "nobody listens");
        assert!(HttpApi::over_socket(&data.path().join("absent")).await.unwrap().is_none(), "no folder");
    }
}
