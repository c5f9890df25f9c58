//! Requests to the HTTP API by programs outside the server: over its control socket, where the caller is treated as the
//! machine's owner, or over TCP with an API key.

use std::time::Duration;

use reqwest::multipart::Form;
use reqwest::{Client, Method, RequestBuilder, Response};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Maximum duration of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Largest page size that the server's lists allow.
const PAGE_ENTRIES: usize = 200;

/// Reason why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The server rejected the request.
    #[error("{message}")]
    Refused {
        /// HTTP status of the response.
        status: u16,
        /// Error message, or the errors in all fields if the server lists them.
        message: String,
    },
    /// The server did not respond.
    #[error("the server did not respond: {0}")]
    Unavailable(#[from] reqwest::Error),
    /// The response has an unexpected form.
    #[error("the server sent an unexpected response: {0}")]
    Unexpected(String),
}

impl RequestError {
    /// Returns the HTTP status if the server rejected the request.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }
}

/// HTTP client for one server.
#[derive(Clone, Debug)]
pub struct HttpApi {
    client: Client,
    base: String,
    /// API key sent with each request; `None` when using the control socket.
    key: Option<String>,
}

impl HttpApi {
    /// Builds a client that sends its requests over the server's control socket.
    pub fn over_socket(client: Client) -> Self {
        // The host is not looked up: everything goes to the socket.
        Self { client, base: "http://localhost".to_owned(), key: None }
    }

    /// Builds a client for the server at a base URL (without a trailing slash) that authenticates with an API key.
    pub fn over_tcp(client: Client, base: impl Into<String>, key: impl Into<String>) -> Self {
        Self { client, base: base.into(), key: Some(key.into()) }
    }

    /// Prepares a request that carries the API key, if any.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.base)).timeout(REQUEST_TIMEOUT);
        match &self.key {
            Some(key) => request.header("X-API-Key", key),
            None => request,
        }
    }

    /// Reads the resource at a path.
    pub async fn get(&self, path: &str) -> Result<Value, RequestError> {
        json_of(self.request(Method::GET, path).send().await?).await
    }

    /// Sends a POST request with a JSON body.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, RequestError> {
        json_of(self.request(Method::POST, path).json(body).send().await?).await
    }

    /// Sends a POST request with a JSON body and an idempotency key; a retry with the same key returns the original
    /// response.
    pub async fn post_once(&self, path: &str, key: &str, body: &Value) -> Result<Value, RequestError> {
        json_of(self.request(Method::POST, path).header("Idempotency-Key", key).json(body).send().await?).await
    }

    /// Sends a POST request with a multipart form that contains files.
    pub async fn upload(&self, path: &str, form: Form) -> Result<Value, RequestError> {
        json_of(self.request(Method::POST, path).multipart(form).send().await?).await
    }

    /// Updates some fields of a resource with PATCH.
    pub async fn patch(&self, path: &str, body: &Value) -> Result<Value, RequestError> {
        json_of(self.request(Method::PATCH, path).json(body).send().await?).await
    }

    /// Deletes the resource at a path.
    pub async fn delete(&self, path: &str) -> Result<(), RequestError> {
        json_of(self.request(Method::DELETE, path).send().await?).await.map(drop)
    }

    /// Fetches all entries of a list, page by page. `path` must not have a query; `name` is the field that contains the
    /// entries.
    pub async fn list<T: DeserializeOwned>(&self, path: &str, name: &str) -> Result<Vec<T>, RequestError> {
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
pub fn parsed<T: DeserializeOwned>(value: Value) -> Result<T, RequestError> {
    serde_json::from_value(value).map_err(|error| RequestError::Unexpected(error.to_string()))
}

/// Returns the body of a successful response (null if it is empty), or an error if the server rejected the request.
pub async fn json_of(answer: Response) -> Result<Value, RequestError> {
    let status = answer.status();
    let body = answer.bytes().await?;
    if !status.is_success() {
        let error = bounded_json::read(&body, bounded_json::ANSWER).unwrap_or_default();
        return Err(refusal(status.as_u16(), &error));
    }
    if body.is_empty() {
        return Ok(Value::Null);
    }
    bounded_json::read(&body, bounded_json::ANSWER).map_err(|error| RequestError::Unexpected(error.to_string()))
}

/// Converts an error response from the API to an error that contains the problems in all fields if the response lists
/// them, and its message otherwise.
fn refusal(status: u16, body: &Value) -> RequestError {
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let faults = body["errors"].as_array().into_iter().flatten();
    let faults: Vec<_> = faults.map(|fault| format!("{}: {}", text(fault, "path"), text(fault, "message"))).collect();
    let message = match body["message"].as_str() {
        _ if !faults.is_empty() => faults.join("; "),
        Some(words) => words.to_owned(),
        None => format!("the server responded with {status}"),
    };
    RequestError::Refused { status, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_every_fault() {
        let faults = json!([{"path": "email", "message": "must be an email address"}, {"path": "role", "message": "is missing"}]);
        let failure =
            refusal(400, &json!({"success": false, "message": "wrong", "code": "validation", "errors": faults}));
        assert_eq!(failure.to_string(), "email: must be an email address; role: is missing");
        assert_eq!(failure.status(), Some(400));
        assert_eq!(refusal(409, &json!({"message": "taken", "code": "x"})).to_string(), "taken");
        assert_eq!(refusal(502, &Value::Null).to_string(), "the server responded with 502");
    }
}
