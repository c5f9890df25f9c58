//! JSON requests to a configured server, within limits.

use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use super::StockError;
use crate::peer_client::{NoPeerResponse, PeerClient, PeerHttp, PeerSettingError, TokenForm, reason};
use platform::http::read_beginning;

/// Time limit for a response.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of one response in bytes.
const ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// Maximum length of a displayed server message, in characters.
const WORDS_CHARS: usize = 200;

/// JSON client for one server.
pub(super) struct Rest {
    peer: PeerClient,
}

/// Complete, successful response.
pub(super) struct RestResponse {
    pub(super) headers: HeaderMap,
    pub(super) value: Value,
}

impl Rest {
    /// Creates a client for the server at the given address, which receives the token in the given form; an empty token
    /// is not sent.
    pub(super) fn new(
        http: impl Into<PeerHttp>,
        url: &str,
        form: TokenForm<'_>,
        token: &str,
    ) -> Result<Self, PeerSettingError> {
        Ok(Self { peer: PeerClient::new(http, url, form, token)? })
    }

    /// Returns the base address.
    pub(super) fn address(&self) -> String {
        self.peer.address().below("").to_string()
    }

    /// Sends a GET request.
    pub(super) async fn get(&self, path: &str, query: &[(&str, String)]) -> Result<RestResponse, StockError> {
        self.send(self.request(Method::GET, path).query(query)).await
    }

    /// Reads one object; `None` if it does not exist.
    pub(super) async fn find(&self, path: &str) -> Result<Option<Value>, StockError> {
        match self.get(path, &[]).await {
            Ok(answer) => Ok(Some(answer.value)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends a request with a JSON body.
    pub(super) async fn send_json(&self, method: Method, path: &str, body: &Value) -> Result<RestResponse, StockError> {
        self.send(self.request(method, path).json(body)).await
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.peer.below(method, path).timeout(ANSWER_TIMEOUT).header("accept", "application/json")
    }

    async fn send(&self, request: RequestBuilder) -> Result<RestResponse, StockError> {
        let mut answer = self.peer.exchange(request).await.map_err(|NoPeerResponse { words, is_unsent }| {
            if is_unsent { StockError::Unreachable(words) } else { StockError::NoAnswer(words) }
        })?;
        let status = answer.status().as_u16();
        let headers = answer.headers().clone();
        let (body, broken) = read_beginning(&mut answer, ANSWER_BYTES + 1, ANSWER_BYTES + 1).await;
        if let Some(error) = broken {
            return Err(StockError::NoAnswer(reason(error)));
        }
        if body.len() > ANSWER_BYTES {
            return Err(StockError::Nonsense(format!("longer than {ANSWER_BYTES} bytes")));
        }
        match status {
            200..=299 if body.is_empty() => Ok(RestResponse { headers, value: Value::Null }),
            200..=299 => {
                let value = bounded_json::read(&body, bounded_json::ANSWER)
                    .map_err(|error| StockError::Nonsense(error.to_string()))?;
                Ok(RestResponse { headers, value })
            }
            401 | 403 => Err(StockError::Credentials(status)),
            // What a gateway before it says tells nothing of what became of the question.
            408 | 500..=599 => Err(StockError::NoAnswer(format!("status {status}: {}", words(&body)))),
            _ => Err(StockError::Refused { status, words: words(&body) }),
        }
    }
}

/// Extracts the server's message from an error response.
fn words(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(WORDS_CHARS).collect()
}
