//! Calls to a printer's HTTP server: time limits, size limits, and what a failure means. Each adapter judges status
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
use crate::domain::printer::denied_host;
use crate::printers::PrinterType;
use crate::printers::adapter::{PrinterError, Source};
use crate::printers::registry::{AdapterParts, MakeError, Settings, SharedParts};
use crate::printers::upload::{self, Taken, UploadTurns};

/// Most bytes of an answer; a broken printer must not fill the memory.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// What a status code other than success means in a brand's API.
pub(super) type Judge = fn(u16, String) -> PrinterError;

/// A part of a file on a printer.
pub(super) struct FilePart {
    /// Whether it is the part that was asked for, not the beginning of the whole file.
    pub(super) partial: bool,
    /// Bytes of the whole file, where told.
    pub(super) total: Option<u64>,
    /// The bytes that were read, at most [`upload::EDGE_BYTES`].
    pub(super) bytes: Vec<u8>,
}

/// A printer's HTTP server.
#[derive(Clone)]
pub(super) struct Wire {
    /// The declaration of the printer's type.
    pub(super) declared: &'static PrinterType,
    pub(super) base: Url,
    pub(super) settings: Settings,
    pub(super) api_key: Option<String>,
    client: Client,
    emergency: Client,
    headers: HeaderMap,
    /// For types whose keys may be a user name and a password.
    digest: Option<Arc<Digest>>,
    judge: Judge,
    turns: Arc<UploadTurns>,
}

impl Wire {
    /// The server at the address of the parts. The API key goes in the header that the type declares; where the type
    /// says that it may be `user:password`, such a one is used for HTTP Digest instead.
    pub(super) fn new(parts: AdapterParts) -> Result<Self, MakeError> {
        let AdapterParts { declared, address, shared } = parts;
        let SharedParts { settings, client, emergency, turns } = shared;
        let base = base_url(&address.base_url, declared.default_port)?;
        let mut headers = HeaderMap::new();
        let api_key = Some(address.api_key.trim()).filter(|key| !key.is_empty()).map(str::to_owned);
        let digest = api_key.as_deref().filter(|_| declared.key_may_be_password).and_then(Digest::of).map(Arc::new);
        if let Some(key) = api_key.as_ref().filter(|_| digest.is_none()) {
            let mut value = HeaderValue::from_str(key)
                .map_err(|_| MakeError::BadKey("the api key has characters that no header can carry".into()))?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(declared.key_header), value);
        }
        let judge: Judge = |status, message| PrinterError::Refused { status, message };
        Ok(Self { declared, base, settings, api_key, client, emergency, headers, digest, judge, turns })
    }

    /// With the brand's reading of status codes.
    pub(super) fn judged_by(mut self, judge: Judge) -> Self {
        self.judge = judge;
        self
    }

    /// Asking for answers in JSON: a server that does not say its errors in it of its own accord does so then.
    pub(super) fn asking_for_json(mut self) -> Self {
        self.headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
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

    /// The URL of a path from the root that the server told; `None` for one that leads to another server.
    pub(super) fn told(&self, path: &str) -> Option<Url> {
        let url = self.base.join(path).ok().filter(|_| path.starts_with('/'))?;
        (url.origin() == self.base.origin()).then_some(url)
    }

    /// Asks a question; once more when the server answers 5xx, since a question changes nothing.
    pub(super) async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, PrinterError> {
        let ask = || self.finish(self.client.get(self.url(path)).query(query).timeout(self.settings.request_timeout));
        match ask().await {
            Err(PrinterError::Refused { status: 500.., .. }) => ask().await,
            answer => answer,
        }
    }

    /// Opens the answer to a question that is answered with something else than JSON, such as a picture.
    pub(super) async fn open(&self, url: &Url) -> Result<Response, PrinterError> {
        if url.origin() != self.base.origin() {
            return Err(PrinterError::Invalid("this is an address of another server".into()));
        }
        self.send(self.client.get(url.clone()).timeout(self.settings.request_timeout)).await
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

    /// Sends a command that puts something in place, within the time of a command.
    pub(super) async fn put(&self, path: &str) -> Result<Value, PrinterError> {
        self.finish(self.client.put(self.url(path)).timeout(self.settings.command_timeout)).await
    }

    /// Asks or commands without a body on the client kept for emergencies.
    pub(super) async fn emergency(&self, method: Method, path: &str) -> Result<Value, PrinterError> {
        self.finish(self.emergency.request(method, self.url(path)).timeout(self.settings.emergency_timeout)).await
    }

    /// Sends a command on the client kept for emergencies.
    pub(super) async fn post_emergency(&self, path: &str, body: Option<&Value>) -> Result<Value, PrinterError> {
        let call = self.emergency.post(self.url(path)).timeout(self.settings.emergency_timeout);
        self.finish(with_body(call, body)).await
    }

    /// Waits for the turn to upload to this host, for types whose uploads to one host must not overlap. The turn ends
    /// when the guard is dropped.
    pub(super) async fn upload_turn(&self) -> Option<OwnedMutexGuard<()>> {
        if !self.declared.one_upload_per_host {
            return None;
        }
        Some(self.turns.take(self.base.host_str().unwrap_or_default()).await)
    }

    /// Sends a form with a file. It is given up when it takes longer than its size allows, and when no byte is taken
    /// for the time after which a printer counts as offline.
    pub(super) async fn upload(
        &self,
        path: &str,
        form: Form,
        name: &str,
        source: &Source,
    ) -> Result<Value, PrinterError> {
        let (form, taken) = upload::with_file(form, name, source).await?;
        self.send_file(self.client.post(self.url(path)).multipart(form), taken, source).await
    }

    /// Puts a file in place as the body of the call, with further headers. It is given up like [`Self::upload`].
    pub(super) async fn put_file(
        &self,
        path: &str,
        further: HeaderMap,
        source: &Source,
    ) -> Result<Value, PrinterError> {
        let (body, taken) = upload::as_body(source).await?;
        let call = self.client.put(self.url(path)).headers(further).header(header::CONTENT_LENGTH, source.sent_bytes());
        self.send_file(call.body(body), taken, source).await
    }

    /// Sends a form whose parts are in memory, within the time of an upload of so many bytes.
    pub(super) async fn form(&self, path: &str, form: Form, bytes: u64) -> Result<Value, PrinterError> {
        let limit = self.settings.upload_timeout(bytes);
        self.finish(self.client.post(self.url(path)).multipart(form).timeout(limit)).await
    }

    async fn send_file(&self, call: RequestBuilder, taken: Taken, source: &Source) -> Result<Value, PrinterError> {
        let Settings { offline_after, .. } = self.settings;
        let limit = self.settings.upload_timeout(source.sent_bytes());
        tokio::select! {
            biased; // an answer counts, even when it comes with the end of patience
            answer = self.finish(call.timeout(limit)) => answer,
            () = taken.stalled(offline_after) => Err(PrinterError::Stalled(offline_after)),
        }
    }

    /// A part of a file, as the value of a `Range` header names it; at most [`upload::EDGE_BYTES`] are read. Asked for
    /// once more when the server answers 5xx.
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
        let told = answer.headers().get(header::CONTENT_RANGE).and_then(|value| value.to_str().ok());
        let total = match told.and_then(|range| range.rsplit_once('/')) {
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

    /// That something else answers than the program of the printer's type.
    pub(super) fn strange(&self) -> PrinterError {
        let PrinterType { program, default_port, .. } = *self.declared;
        PrinterError::Stranger { program, address: self.base.to_string(), port: default_port }
    }

    /// Whether an error that is not JSON may be the printer's own, because its server had to be asked for JSON.
    fn plain_words(&self, body: &[u8]) -> bool {
        self.headers.contains_key(header::ACCEPT) && !body.trim_ascii_start().starts_with(b"<")
    }

    /// What a failed question means that every server of the type answers: one that does not know it is another
    /// program.
    pub(super) fn at_first(&self, error: PrinterError) -> PrinterError {
        match error {
            PrinterError::BadAnswer(_) | PrinterError::NotFound(_) | PrinterError::Refused { status: 405, .. } => {
                self.strange()
            }
            other => other,
        }
    }

    /// Sends a call with the headers of all calls. One that is refused with a challenge was not carried out, and is
    /// sent once more with the answer to it, unless its body is gone.
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
            let told = bounded_json::read(&body, bounded_json::ANSWER).ok();
            // Printers' servers say no in JSON. A page is from something else.
            let page = told.is_none() && !body.is_empty() && !self.plain_words(&body);
            if page && matches!(status.as_u16(), 300..=399 | 401 | 403..=405) {
                return Err(self.strange());
            }
            return Err((self.judge)(status.as_u16(), words(told.as_ref(), &body, status)));
        }
        if body.is_empty() {
            return Ok(Value::Null);
        }
        bounded_json::read(&body, bounded_json::ANSWER)
            .map_err(|error| PrinterError::BadAnswer(format!("not json: {error}")))
    }
}

fn with_body(call: RequestBuilder, body: Option<&Value>) -> RequestBuilder {
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
    if let Some(range) = denied_host(&url) {
        return Err(bad(&format!("this is {range}, not a printer")));
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

/// What a call that brought no answer means. Only where the connection was not even opened it is certain that nothing
/// happened.
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
        if body.len() + chunk.len() > MAX_ANSWER_BYTES {
            return Err(PrinterError::BadAnswer(format!("longer than {MAX_ANSWER_BYTES} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// A file name that may be put into a path: relative, without parts that climb.
pub(super) fn file_name(name: &str) -> Result<&str, PrinterError> {
    let name = name.trim_start_matches('/');
    let bad = name.is_empty()
        || name.chars().any(|c| c.is_control() || c == '\\')
        || name.split('/').any(|part| matches!(part, "" | "." | ".."));
    if bad { Err(PrinterError::Invalid(format!("{name:?} is not a file name"))) } else { Ok(name) }
}
