//! API client for everyone in the simulation. A request without a response is repeated with the same key until there is
//! one; acknowledged commands are recorded, to be repeated once more at the end.

use std::fmt;
use std::mem::take;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::multipart::{Form, Part};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::json::text;

/// Maximum time to connect to the server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum duration of one request; longer than the server is ever frozen.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(15);
/// Pause before a request is repeated.
const RETRY_PAUSE: Duration = Duration::from_millis(100);
/// Interval at which an awaited condition is checked.
const LOOK_PAUSE: Duration = Duration::from_millis(150);

/// Unexpected response, or no response in time.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ApiFault(pub String);

/// Refusal of a request.
#[derive(Clone, Debug)]
pub struct ApiRejection {
    /// HTTP status.
    pub status: u16,
    /// Error code of the API.
    pub code: String,
    message: String,
}

impl fmt::Display for ApiRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.status, self.code, self.message)
    }
}

/// Successful response to a request.
#[derive(Clone, Debug)]
struct Acceptance {
    body: Value,
    /// Value of the `ETag` header; empty if there is none.
    version: String,
    /// `true` if the response is the stored one to an earlier request with the same key.
    is_replayed: bool,
}

/// Final response to a request.
type ApiReply = Result<Acceptance, ApiRejection>;

/// Command that the server has acknowledged.
#[derive(Clone, Debug)]
pub struct AcceptedCommand {
    path: String,
    key: String,
    body: Value,
    version: String,
}

/// Client of one server with one API key. Clones share the acknowledged commands.
#[derive(Clone, Debug)]
pub struct ChaosClient {
    client: Client,
    base: String,
    api_key: String,
    /// Time after which requests without a response are no longer repeated.
    deadline: Instant,
    acknowledgements: Arc<Mutex<Vec<AcceptedCommand>>>,
}

impl ChaosClient {
    /// Creates a client that repeats requests without a response until the deadline.
    #[expect(clippy::disallowed_methods, reason = "the one place that builds a client")]
    pub fn new(base: String, api_key: String, deadline: Instant) -> Result<Self, ApiFault> {
        let client = Client::builder().no_proxy().redirect(Policy::none()).retry(reqwest::retry::never());
        let client = client.connect_timeout(CONNECT_TIMEOUT).timeout(REQUEST_TIMEOUT).build();
        let client = client.map_err(|error| ApiFault(format!("no HTTP client: {error}")))?;
        Ok(Self { client, base, api_key, deadline, acknowledgements: Arc::default() })
    }

    /// Returns the same client with a different deadline.
    pub fn with_deadline(&self, deadline: Instant) -> Self {
        Self { deadline, ..self.clone() }
    }

    /// Returns whether the deadline has passed.
    pub fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base)).header("X-API-Key", &self.api_key)
    }

    /// Sends a request until there is a final response.
    async fn persist(&self, what: &str, request: impl Fn() -> RequestBuilder) -> Result<ApiReply, ApiFault> {
        loop {
            if let Some(reply) = send(request()).await {
                return Ok(reply);
            }
            if self.is_late() {
                return Err(ApiFault(format!("{what} never got an answer")));
            }
            sleep(RETRY_PAUSE).await;
        }
    }

    /// Sends a command until there is a final response, always with the same key.
    pub async fn ask(&self, path: &str, key: &str, body: &Value) -> Result<Result<Value, ApiRejection>, ApiFault> {
        let request = || self.request(Method::POST, path).header("Idempotency-Key", key).json(body);
        let reply = self.persist(&format!("POST {path}"), request).await?;
        Ok(reply.map(|acceptance| {
            let (path, key, body) = (path.to_owned(), key.to_owned(), body.clone());
            let acknowledgement = AcceptedCommand { path, key, body, version: acceptance.version };
            self.acknowledgements.lock().unwrap_or_else(PoisonError::into_inner).push(acknowledgement);
            acceptance.body
        }))
    }

    /// Sends a command as [`Self::ask`] does; a refusal is an error.
    pub async fn insist(&self, path: &str, key: &str, body: &Value) -> Result<Value, ApiFault> {
        let outcome = self.ask(path, key, body).await?;
        outcome.map_err(|refusal| ApiFault(format!("POST {path} {body} was refused: {refusal}")))
    }

    /// Sends a POST until there is a final response; the request has no key, because repeating it is harmless.
    pub async fn ask_unkeyed(&self, path: &str, body: &Value) -> Result<Result<Value, ApiRejection>, ApiFault> {
        let reply = self.persist(&format!("POST {path}"), || self.request(Method::POST, path).json(body)).await?;
        Ok(reply.map(|acceptance| acceptance.body))
    }

    /// Uploads a file, before any fault occurs.
    pub async fn upload(&self, name: &str, content: Vec<u8>) -> Result<Value, ApiFault> {
        let form = Form::new().part("file", Part::bytes(content).file_name(name.to_owned()));
        let reply = send(self.request(Method::POST, "/api/files").multipart(form)).await;
        match reply {
            Some(Ok(acceptance)) => Ok(acceptance.body),
            Some(Err(refusal)) => Err(ApiFault(format!("the file {name} was refused: {refusal}"))),
            None => Err(ApiFault(format!("the upload of {name} got no answer"))),
        }
    }

    /// Reads a resource, repeating the request until there is a response.
    pub async fn get(&self, path: &str) -> Result<Value, ApiFault> {
        let reply = self.persist(&format!("GET {path}"), || self.request(Method::GET, path)).await?;
        let body = reply.map(|acceptance| acceptance.body);
        body.map_err(|refusal| ApiFault(format!("GET {path} was refused: {refusal}")))
    }

    /// Reads a resource once. Returns `None` if there was no final response.
    pub async fn peek(&self, path: &str) -> Option<Result<Value, ApiRejection>> {
        let reply = send(self.request(Method::GET, path)).await?;
        Some(reply.map(|acceptance| acceptance.body))
    }

    /// Reads the first page of a list once; empty if there was no response.
    pub async fn list(&self, path: &str, name: &str) -> Vec<Value> {
        match self.peek(path).await {
            Some(Ok(mut body)) => body.get_mut(name).and_then(Value::as_array_mut).map(take).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    /// Polls a resource until `look` returns a value.
    pub async fn wait<T>(&self, what: &str, path: &str, look: impl Fn(&Value) -> Option<T>) -> Result<T, ApiFault> {
        loop {
            let body = self.get(path).await?;
            if let Some(outcome) = look(&body) {
                return Ok(outcome);
            }
            if self.is_late() {
                return Err(ApiFault(format!("waited in vain for {what}: {body}")));
            }
            sleep(LOOK_PAUSE).await;
        }
    }

    /// Returns all commands acknowledged so far.
    pub fn acknowledgements(&self) -> Vec<AcceptedCommand> {
        self.acknowledgements.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Repeats an acknowledged command with its key. Returns what is wrong with the response; `None` if it is correct.
    pub async fn repeat(&self, past: &AcceptedCommand) -> Result<Option<String>, ApiFault> {
        let AcceptedCommand { path, key, body, version } = past;
        let request = || self.request(Method::POST, path).header("Idempotency-Key", key).json(body);
        let reply = self.persist(&format!("POST {path}"), request).await?;
        let problem = match reply {
            Ok(acceptance) if !acceptance.is_replayed => Some("was carried out a second time".to_owned()),
            Ok(acceptance) if acceptance.version != *version => {
                Some(format!("was acknowledged at version {version}, and is at {} now", acceptance.version))
            }
            Ok(_) => None,
            Err(refusal) => Some(format!("was acknowledged, and is refused now: {refusal}")),
        };
        Ok(problem.map(|problem| format!("POST {path} with the key {key} {problem}")))
    }
}

/// Sends a request once. Returns `None` if there was no final response.
async fn send(request: RequestBuilder) -> Option<ApiReply> {
    let response = request.send().await.ok()?;
    let status = response.status().as_u16();
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (version, waits) = (header("etag").unwrap_or_default(), header("retry-after").is_some());
    let is_replayed = header("idempotency-replayed").is_some();
    let bytes = response.bytes().await.ok()?;
    let body = bounded_json::read(&bytes, bounded_json::ANSWER).unwrap_or_default();
    match status {
        200..=299 => Some(Ok(Acceptance { body, version, is_replayed })),
        408 | 429 | 500.. => None,
        // The first request with the key is still running.
        409 if waits => None,
        _ => {
            let (code, message) = (text(&body, "code").to_owned(), text(&body, "message").to_owned());
            Some(Err(ApiRejection { status, code, message }))
        }
    }
}
