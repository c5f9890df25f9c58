//! Calls in JSON to a configured server, within bounds.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;
use url::Url;

use super::StockError;
use crate::domain::printer::denied_host;
use crate::services::http::read_beginning;

/// Longest time for one answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Most bytes of one answer.
const ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// Most characters of a server's words that are told on.
const WORDS_CHARS: usize = 200;

/// Speaks to one server.
pub(super) struct Rest {
    client: Client,
    base: Url,
    authorization: Option<HeaderValue>,
}

/// A whole answer that said yes.
pub(super) struct Answer {
    pub(super) headers: HeaderMap,
    pub(super) value: Value,
}

impl Rest {
    /// `authorization` is the whole value of the header; empty for none.
    pub(super) fn new(client: Client, url: &str, authorization: &str) -> Result<Self, StockError> {
        let address = |words: &str| StockError::Address(words.to_owned());
        let mut base = Url::parse(url.trim()).map_err(|error| StockError::Address(error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") || base.cannot_be_a_base() {
            return Err(address("it must begin with http:// or https://"));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(address("it must not contain a password"));
        }
        // Names are judged when they are dialled.
        if let Some(range) = denied_host(&base) {
            return Err(StockError::Address(format!("{range} is not allowed")));
        }
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        base.set_query(None);
        let authorization = if authorization.is_empty() {
            None
        } else {
            let mut value = HeaderValue::from_str(authorization).map_err(|_| address("the token is no plain text"))?;
            value.set_sensitive(true);
            Some(value)
        };
        Ok(Self { client, base, authorization })
    }

    /// Its base address.
    pub(super) fn address(&self) -> String {
        self.base.to_string()
    }

    /// A question.
    pub(super) async fn get(&self, path: &str, query: &[(&str, String)]) -> Result<Answer, StockError> {
        self.send(self.request(Method::GET, path)?.query(query)).await
    }

    /// A change.
    pub(super) async fn send_json(&self, method: Method, path: &str, body: &Value) -> Result<Answer, StockError> {
        self.send(self.request(method, path)?.json(body)).await
    }

    fn request(&self, method: Method, path: &str) -> Result<RequestBuilder, StockError> {
        let url = self.base.join(path).map_err(|error| StockError::Address(error.to_string()))?;
        let request = self.client.request(method, url).timeout(ANSWER_TIMEOUT).header("accept", "application/json");
        Ok(match &self.authorization {
            Some(value) => request.header(AUTHORIZATION, value.clone()),
            None => request,
        })
    }

    async fn send(&self, request: RequestBuilder) -> Result<Answer, StockError> {
        let mut answer = request.send().await.map_err(|error| {
            // Before there is a connection nothing can have been sent.
            let (unsent, words) = (error.is_connect() || error.is_builder(), error.without_url().to_string());
            if unsent { StockError::Unreachable(words) } else { StockError::NoAnswer(words) }
        })?;
        let status = answer.status().as_u16();
        let headers = answer.headers().clone();
        let (body, broken) = read_beginning(&mut answer, ANSWER_BYTES + 1, ANSWER_BYTES + 1).await;
        if let Some(error) = broken {
            return Err(StockError::NoAnswer(error.without_url().to_string()));
        }
        if body.len() > ANSWER_BYTES {
            return Err(StockError::Nonsense(format!("it is longer than {ANSWER_BYTES} bytes")));
        }
        match status {
            200..=299 if body.is_empty() => Ok(Answer { headers, value: Value::Null }),
            200..=299 => {
                let value = bounded_json::read(&body, bounded_json::ANSWER)
                    .map_err(|error| StockError::Nonsense(error.to_string()))?;
                Ok(Answer { headers, value })
            }
            401 | 403 => Err(StockError::Credentials(status)),
            // What a gateway before it says tells nothing of what became of the question.
            408 | 500..=599 => Err(StockError::NoAnswer(format!("status {status}: {}", words(&body)))),
            _ => Err(StockError::Refused { status, words: words(&body) }),
        }
    }
}

/// The server's own words.
fn words(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(WORDS_CHARS).collect()
}
