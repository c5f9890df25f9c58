//! Calls to a printer's HTTP server: time limits, size limits and error conversion. Each adapter interprets the status
//! codes itself.

pub(super) mod digest;
mod words;

use std::sync::Arc;

use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::multipart::Form;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::Value;
use tokio::sync::OwnedMutexGuard;

use self::digest::Digest;
use self::words::words;
use crate::PrinterType;
use crate::adapter::{PrinterError, Source};
use crate::adapter_parts::{AdapterParts, MakeError, Settings, SharedParts};
use crate::network;
use crate::upload::{self, AcceptedBytes};
use crate::upload_locks::UploadLocks;
use domain::printer::denied_host;
use platform::network_fault::chain;

/// Maximum size of a response in bytes, so that a broken printer cannot exhaust memory.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// Brand-specific function that converts an unsuccessful status code to an error.
pub(super) type ErrorOfStatus = fn(u16, String) -> PrinterError;

/// Part of a file stored on a printer.
pub(super) struct FilePart {
    /// `true` if this is the requested range, `false` if it is the beginning of the whole file.
    pub(super) partial: bool,
    /// Total file size in bytes; `None` if not reported.
    pub(super) total: Option<u64>,
    /// Bytes read, at most [`upload::EDGE_BYTES`].
    pub(super) bytes: Vec<u8>,
}

/// HTTP client for a printer's server.
#[derive(Clone)]
pub(super) struct PrinterHttpClient {
    /// Printer type declaration.
    pub(super) declared: &'static PrinterType,
    pub(super) base: Url,
    pub(super) settings: Settings,
    pub(super) api_key: Option<String>,
    client: Client,
    emergency: Client,
    headers: HeaderMap,
    /// Digest authentication, for types whose key may consist of a user name and a password.
    digest: Option<Arc<Digest>>,
    judge: ErrorOfStatus,
    turns: Arc<UploadLocks>,
}

impl PrinterHttpClient {
    /// Creates the client from the given parts. The API key is sent in the header that the type declares. If the type
    /// allows keys of the form `user:password`, such a key is used for HTTP Digest authentication instead.
    pub(super) fn new(parts: AdapterParts) -> Result<Self, MakeError> {
        let AdapterParts { declared, address, shared } = parts;
        let SharedParts { settings, client, emergency, turns } = shared;
        let base = base_url(&address.base_url, declared.default_port)?;
        let mut headers = HeaderMap::new();
        let api_key = Some(address.api_key.trim()).filter(|key| !key.is_empty()).map(str::to_owned);
        let digest = api_key.as_deref().filter(|_| declared.key_may_be_password).and_then(Digest::of).map(Arc::new);
        if let Some(key) = api_key.as_ref().filter(|_| digest.is_none()) {
            let mut value = HeaderValue::from_str(key)
                .map_err(|_| MakeError::BadKey("the API key contains invalid characters".into()))?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(declared.key_header), value);
        }
        let judge: ErrorOfStatus = |status, message| PrinterError::Refused { status, message };
        Ok(Self { declared, base, settings, api_key, client, emergency, headers, digest, judge, turns })
    }

    /// Sets the brand-specific interpretation of status codes.
    pub(super) fn judged_by(mut self, judge: ErrorOfStatus) -> Self {
        self.judge = judge;
        self
    }

    /// Requests JSON responses, for servers that report errors as JSON only on request.
    pub(super) fn asking_for_json(mut self) -> Self {
        self.headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        self
    }

    /// Returns the URL for a path below the base URL; the segments of the path are escaped.
    pub(super) fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        // Only a URL that cannot be a base has no segments, and `base_url` lets none of these in.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path.split('/').filter(|part| !part.is_empty()));
        }
        url
    }

    /// Returns the URL for an absolute path reported by the server; `None` if it points to a different server.
    pub(super) fn resolve(&self, path: &str) -> Option<Url> {
        let url = self.base.join(path).ok().filter(|_| path.starts_with('/'))?;
        (url.origin() == self.base.origin()).then_some(url)
    }

    /// Sends a GET request, which is retried once after a 5xx response, because a query changes nothing.
    pub(super) async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, PrinterError> {
        let ask = || self.finish(self.client.get(self.url(path)).query(query).timeout(self.settings.request_timeout));
        match ask().await {
            Err(PrinterError::Refused { status: 500.., .. }) => ask().await,
            answer => answer,
        }
    }

    /// Sends a GET request and returns the response unread, for content other than JSON, such as an image.
    pub(super) async fn open(&self, url: &Url) -> Result<Response, PrinterError> {
        if url.origin() != self.base.origin() {
            return Err(PrinterError::Invalid("the address belongs to a different server".into()));
        }
        self.send(self.client.get(url.clone()).timeout(self.settings.request_timeout)).await
    }

    /// Sends a command by POST, within the time limit for commands that may run macros.
    pub(super) async fn post(
        &self,
        path: &str,
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<Value, PrinterError> {
        let call = self.client.post(self.url(path)).query(query).timeout(self.settings.command_timeout);
        self.finish(with_body(call, body)).await
    }

    /// Sends a DELETE request, within the time limit for queries.
    pub(super) async fn delete(&self, path: &str) -> Result<Value, PrinterError> {
        let call = self.client.request(Method::DELETE, self.url(path)).timeout(self.settings.request_timeout);
        self.finish(call).await
    }

    /// Sends a PUT request without a body, within the time limit for commands.
    pub(super) async fn send_put(&self, path: &str) -> Result<Value, PrinterError> {
        self.finish(self.client.put(self.url(path)).timeout(self.settings.command_timeout)).await
    }

    /// Sends a request without a body through the emergency client.
    pub(super) async fn emergency(&self, method: Method, path: &str) -> Result<Value, PrinterError> {
        self.finish(self.emergency.request(method, self.url(path)).timeout(self.settings.emergency_timeout)).await
    }

    /// Sends a command by POST through the emergency client.
    pub(super) async fn post_emergency(&self, path: &str, body: Option<&Value>) -> Result<Value, PrinterError> {
        let call = self.emergency.post(self.url(path)).timeout(self.settings.emergency_timeout);
        self.finish(with_body(call, body)).await
    }

    /// Waits for the host's upload lock, for types whose uploads to one host must not overlap. The lock is released
    /// when the guard is dropped.
    pub(super) async fn upload_turn(&self) -> Option<OwnedMutexGuard<()>> {
        if !self.declared.one_upload_per_host {
            return None;
        }
        Some(self.turns.take(self.base.host_str().unwrap_or_default()).await)
    }

    /// Sends a form with a file. Aborts if the upload takes longer than its size allows, or if no byte is accepted for
    /// the time after which a printer is considered offline.
    pub(super) async fn upload(
        &self,
        path: &str,
        form: Form,
        name: &str,
        source: &Source,
    ) -> Result<Value, PrinterError> {
        let (form, progress) = upload::with_file(form, name, source).await?;
        self.send_file(self.client.post(self.url(path)).multipart(form), progress, source).await
    }

    /// Sends a file as the body of a PUT request, with additional headers. Aborts under the same conditions as
    /// [`Self::upload`].
    pub(super) async fn put_file(
        &self,
        path: &str,
        further: HeaderMap,
        source: &Source,
    ) -> Result<Value, PrinterError> {
        let (body, progress) = upload::as_body(source).await?;
        let call = self.client.put(self.url(path)).headers(further).header(header::CONTENT_LENGTH, source.sent_bytes());
        self.send_file(call.body(body), progress, source).await
    }

    /// Sends a form whose parts are in memory, within the time limit for an upload of `bytes` bytes.
    pub(super) async fn form(&self, path: &str, form: Form, bytes: u64) -> Result<Value, PrinterError> {
        let limit = self.settings.upload_timeout(bytes);
        self.finish(self.client.post(self.url(path)).multipart(form).timeout(limit)).await
    }

    async fn send_file(
        &self,
        call: RequestBuilder,
        progress: AcceptedBytes,
        source: &Source,
    ) -> Result<Value, PrinterError> {
        let Settings { offline_after, .. } = self.settings;
        let limit = self.settings.upload_timeout(source.sent_bytes());
        tokio::select! {
            biased; // an answer counts, even when it comes with the end of patience
            answer = self.finish(call.timeout(limit)) => answer,
            () = progress.stalled(offline_after) => Err(PrinterError::Stalled(offline_after)),
        }
    }

    /// Requests part of a file, specified as the value of a `Range` header; reads at most [`upload::EDGE_BYTES`].
    /// Retries the request once after a 5xx response.
    pub(super) async fn part(&self, url: &Url, range: &str) -> Result<FilePart, PrinterError> {
        match self.ask_part(url, range).await {
            Err(PrinterError::Refused { status: 500.., .. }) => self.ask_part(url, range).await,
            part => part,
        }
    }

    async fn ask_part(&self, url: &Url, range: &str) -> Result<FilePart, PrinterError> {
        let call = self.client.get(url.clone()).header(header::RANGE, range).timeout(self.settings.request_timeout);
        let mut answer = self.send(call).await?;
        let status = answer.status();
        // A file that ends before the part begins has a size, too.
        let beyond = status == StatusCode::RANGE_NOT_SATISFIABLE;
        if !status.is_success() && !beyond {
            return Err((self.judge)(status.as_u16(), status.to_string()));
        }
        let partial = beyond || status == StatusCode::PARTIAL_CONTENT;
        let content_range = answer.headers().get(header::CONTENT_RANGE).and_then(|value| value.to_str().ok());
        let total = match content_range.and_then(|range| range.rsplit_once('/')) {
            Some((_, total)) => total.parse().ok(),
            None => answer.content_length().filter(|_| !partial),
        };
        let mut bytes = Vec::new();
        while !beyond
            && bytes.len() < upload::EDGE_BYTES
            && let Some(chunk) = answer.chunk().await.map_err(failure)?
        {
            bytes.extend_from_slice(&chunk[..chunk.len().min(upload::EDGE_BYTES - bytes.len())]);
        }
        Ok(FilePart { partial, total, bytes })
    }

    /// Returns the error for a server that is not the program that runs on printers of this type.
    pub(super) fn strange(&self) -> PrinterError {
        let PrinterType { program, default_port, .. } = *self.declared;
        PrinterError::Stranger { program, address: self.base.to_string(), port: default_port }
    }

    /// Returns whether a non-JSON error body may come from the printer itself, because its server sends errors as JSON
    /// only on request.
    fn plain_words(&self, body: &[u8]) -> bool {
        self.headers.contains_key(header::ACCEPT) && !body.trim_ascii_start().starts_with(b"<")
    }

    /// Converts the failure of a query that every server of the type supports. A server that does not support it is a
    /// different program.
    pub(super) fn at_first(&self, error: PrinterError) -> PrinterError {
        match error {
            PrinterError::BadAnswer(_) | PrinterError::NotFound(_) | PrinterError::Refused { status: 405, .. } => {
                self.strange()
            }
            other => other,
        }
    }

    /// Sends a request with the common headers. A request rejected with an authentication challenge was not carried
    /// out, so it is sent once more with credentials, unless its body has already been consumed.
    async fn send(&self, call: RequestBuilder) -> Result<Response, PrinterError> {
        let call = call.headers(self.headers.clone());
        let Some(digest) = &self.digest else { return call.send().await.map_err(failure) };
        let (client, request) = call.build_split();
        let mut request = request.map_err(failure)?;
        let again = request.try_clone();
        let answered = digest.sign(&mut request);
        let answer = client.execute(request).await.map_err(failure)?;
        let refused = answer.status() == StatusCode::UNAUTHORIZED;
        let challenged = refused && digest.learn(answer.headers(), answered.as_deref());
        let Some(mut again) = again.filter(|_| challenged) else { return Ok(answer) };
        digest.sign(&mut again);
        client.execute(again).await.map_err(failure)
    }

    async fn finish(&self, call: RequestBuilder) -> Result<Value, PrinterError> {
        let answer = self.send(call).await?;
        let status = answer.status();
        let body = read(answer).await?;
        if !status.is_success() {
            let json = bounded_json::read(&body, bounded_json::ANSWER).ok();
            // Printers' servers say no in JSON. A page is from something else.
            let page = json.is_none() && !body.is_empty() && !self.plain_words(&body);
            if page && matches!(status.as_u16(), 300..=399 | 401 | 403..=405) {
                return Err(self.strange());
            }
            return Err((self.judge)(status.as_u16(), words(json.as_ref(), &body, status)));
        }
        if body.is_empty() {
            return Ok(Value::Null);
        }
        bounded_json::read(&body, bounded_json::ANSWER)
            .map_err(|error| PrinterError::BadAnswer(format!("not JSON: {error}")))
    }
}

fn with_body(call: RequestBuilder, body: Option<&Value>) -> RequestBuilder {
    match body {
        Some(body) => call.json(body),
        None => call,
    }
}

/// Parses the base URL entered by an operator.
pub(super) fn base_url(text: &str, default_port: u16) -> Result<Url, MakeError> {
    let text = text.trim();
    let bad = |why: &str| MakeError::BadAddress(format!("base url {text:?}: {why}"));
    let bare = !text.contains("://");
    let mut url = if bare { Url::parse(&format!("http://{text}")) } else { Url::parse(text) }
        .map_err(|error| bad(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("the scheme must be http or https"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(bad("the host is missing"));
    }
    if let Some(range) = denied_host(&url) {
        return Err(bad(&format!("{range} is not the address of a printer")));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(MakeError::BadAddress(
            "base url: must not contain a user name or password, because it is displayed and logged".into(),
        ));
    }
    // `Url` drops a port that is the scheme's default, so the text is asked.
    let host_and_port = text.split('/').next().unwrap_or_default();
    if bare && url.port().is_none() && !host_and_port.ends_with(":80") && url.set_port(Some(default_port)).is_err() {
        return Err(bad("the port cannot be set"));
    }
    url.set_query(None);
    url.set_fragment(None);
    Ok(url)
}

/// Converts a request without a response to an error. If the connection could not be opened, the request definitely had
/// no effect; otherwise it may have had one.
fn failure(error: reqwest::Error) -> PrinterError {
    let error = error.without_url();
    if error.is_builder() {
        PrinterError::Invalid(chain(&error))
    } else if error.is_connect() {
        network::unreachable(&error)
    } else if error.is_timeout() {
        PrinterError::Timeout
    } else {
        network::lost(&error)
    }
}

async fn read(mut answer: Response) -> Result<Vec<u8>, PrinterError> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(failure)? {
        if body.len() + chunk.len() > MAX_ANSWER_BYTES {
            return Err(PrinterError::BadAnswer(format!("longer than {MAX_ANSWER_BYTES} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Checks that a file name may be used in a path: it must be relative and have no `..` components.
pub(super) fn file_name(name: &str) -> Result<&str, PrinterError> {
    let name = name.trim_start_matches('/');
    let bad = name.is_empty()
        || name.chars().any(|c| c.is_control() || c == '\\')
        || name.split('/').any(|part| matches!(part, "" | "." | ".."));
    if bad { Err(PrinterError::Invalid(format!("{name:?} is not a file name"))) } else { Ok(name) }
}
