//! Calls to a printer's HTTP server: time limits, size limits, and what a failure means. Each adapter judges status
//! codes itself.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Response, Url};
use serde_json::Value;

use crate::printers::adapter::PrinterError;
use crate::printers::registry::{AdapterParts, MakeError, PrinterAddress, Settings};

/// Most bytes of an answer; a broken printer must not fill the memory.
const MAX_ANSWER: usize = 16 * 1024 * 1024;
/// Most characters that are kept of an error answer that is not JSON.
const MAX_WORDS: usize = 300;

/// What a status code other than success means in a brand's API.
pub(super) type Judge = fn(u16, String) -> PrinterError;

/// A printer's HTTP server.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    pub(super) base: Url,
    pub(super) settings: Settings,
    pub(super) api_key: Option<String>,
    client: Client,
    emergency: Client,
    headers: HeaderMap,
    judge: Judge,
}

impl Wire {
    /// `key_header` is the header that carries the API key, if there is one.
    pub(super) fn new(
        parts: &AdapterParts,
        address: &PrinterAddress,
        default_port: u16,
        key_header: &'static str,
    ) -> Result<Self, MakeError> {
        let base = base_url(&address.base_url, default_port)?;
        let mut headers = HeaderMap::new();
        let api_key = Some(address.api_key.trim()).filter(|key| !key.is_empty()).map(str::to_owned);
        if let Some(key) = &api_key {
            let mut value = HeaderValue::from_str(key)
                .map_err(|_| MakeError::BadAddress("the api key has characters that no header can carry".into()))?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(key_header), value);
        }
        Ok(Self {
            base,
            settings: parts.settings.clone(),
            api_key,
            client: parts.client.clone(),
            emergency: parts.emergency.clone(),
            headers,
            judge: |status, message| PrinterError::Refused { status, message },
        })
    }

    /// With the brand's reading of status codes.
    pub(super) fn judged_by(mut self, judge: Judge) -> Self {
        self.judge = judge;
        self
    }

    /// The URL of a path below the base; parts of the path are escaped.
    pub(super) fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        // Only a URL that cannot be a base has no segments, and `base_url` lets none of these in.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path.split('/').filter(|part| !part.is_empty()));
        }
        url
    }

    /// Asks a question; once more when the server answers 5xx, since a question changes nothing.
    pub(super) async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, PrinterError> {
        let ask = || self.finish(self.client.get(self.url(path)).query(query).timeout(self.settings.request_timeout));
        match ask().await {
            Err(PrinterError::Refused { status: 500.., .. }) => ask().await,
            answer => answer,
        }
    }

    /// Sends a command, within the time of a command that may run macros.
    pub(super) async fn post(
        &self,
        path: &str,
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<Value, PrinterError> {
        let call = self.client.post(self.url(path)).query(query).timeout(self.settings.command_timeout);
        self.finish(with_body(call, body)).await
    }

    /// Deletes, within the time of a question.
    pub(super) async fn delete(&self, path: &str) -> Result<Value, PrinterError> {
        let call = self.client.request(Method::DELETE, self.url(path)).timeout(self.settings.request_timeout);
        self.finish(call).await
    }

    /// Sends a command on the client kept for emergencies.
    pub(super) async fn post_emergency(&self, path: &str, body: Option<&Value>) -> Result<Value, PrinterError> {
        let call = self.emergency.post(self.url(path)).timeout(self.settings.emergency_timeout);
        self.finish(with_body(call, body)).await
    }

    /// Sends a form that holds a file.
    pub(super) async fn post_form(
        &self,
        path: &str,
        form: reqwest::multipart::Form,
        timeout: Duration,
    ) -> Result<Value, PrinterError> {
        self.finish(self.client.post(self.url(path)).multipart(form).timeout(timeout)).await
    }

    async fn finish(&self, call: reqwest::RequestBuilder) -> Result<Value, PrinterError> {
        let answer = call.headers(self.headers.clone()).send().await.map_err(failure)?;
        let status = answer.status();
        let body = read(answer).await?;
        if !status.is_success() {
            return Err((self.judge)(status.as_u16(), words(&body, status)));
        }
        if body.is_empty() {
            return Ok(Value::Null);
        }
        bounded_json::read(&body, bounded_json::ANSWER)
            .map_err(|error| PrinterError::BadAnswer(format!("not json: {error}")))
    }
}

fn with_body(call: reqwest::RequestBuilder, body: Option<&Value>) -> reqwest::RequestBuilder {
    match body {
        Some(body) => call.json(body),
        None => call,
    }
}

/// The base URL as the operator wrote it.
pub(super) fn base_url(text: &str, default_port: u16) -> Result<Url, MakeError> {
    let text = text.trim();
    let bad = |why: &str| MakeError::BadAddress(format!("base url {text:?}: {why}"));
    let bare = !text.contains("://");
    let mut url = if bare { Url::parse(&format!("http://{text}")) } else { Url::parse(text) }
        .map_err(|error| bad(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("only http and https"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(bad("no host"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(MakeError::BadAddress("base url: no user name or password in it, it is shown and logged".into()));
    }
    // `Url` drops a port that is the scheme's default, so the text is asked.
    let host_and_port = text.split('/').next().unwrap_or_default();
    if bare && url.port().is_none() && !host_and_port.ends_with(":80") && url.set_port(Some(default_port)).is_err() {
        return Err(bad("no port possible"));
    }
    url.set_query(None);
    url.set_fragment(None);
    Ok(url)
}

/// What a call that brought no answer means. Only where the connection was not even opened it is certain that nothing happened.
fn failure(error: reqwest::Error) -> PrinterError {
    let error = error.without_url();
    if error.is_builder() {
        PrinterError::Invalid(chain(&error))
    } else if error.is_connect() {
        PrinterError::Unreachable(chain(&error))
    } else if error.is_timeout() {
        PrinterError::Timeout
    } else {
        PrinterError::Lost(chain(&error))
    }
}

/// An error with its causes; the outermost text of an HTTP client says little.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

async fn read(mut answer: Response) -> Result<Vec<u8>, PrinterError> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(failure)? {
        if body.len() + chunk.len() > MAX_ANSWER {
            return Err(PrinterError::BadAnswer(format!("longer than {MAX_ANSWER} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The printer's own words of an error answer: `{"error": {"message": text}}` (`fw_rest`), `{"error": text}` (`server_rest`), or the text as it is.
fn words(body: &[u8], status: reqwest::StatusCode) -> String {
    let told = bounded_json::read(body, bounded_json::ANSWER).ok().and_then(|json| {
        let error = json.get("error")?;
        error.as_str().or_else(|| error.get("message")?.as_str()).map(str::to_owned)
    });
    told.filter(|text| !text.is_empty()).unwrap_or_else(|| {
        let text: String = String::from_utf8_lossy(body).trim().chars().take(MAX_WORDS).collect();
        if text.is_empty() { status.to_string() } else { text }
    })
}

/// A file name that may be put into a path: relative, without parts that climb.
pub(super) fn file_name(name: &str) -> Result<&str, PrinterError> {
    let name = name.trim_start_matches('/');
    let bad = name.is_empty()
        || name.chars().any(|c| c.is_control() || c == '\\')
        || name.split('/').any(|part| matches!(part, "" | "." | ".."));
    if bad { Err(PrinterError::Invalid(format!("{name:?} is not a file name"))) } else { Ok(name) }
}
