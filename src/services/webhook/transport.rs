//! Port through which webhook requests reach their receivers, and its implementation over HTTP.
//!
//! Whatever decides the outcome of a delivery stays in front of the port: the signatures, the judgement of a response,
//! retries. Behind it are the dial guard and the time limit, so simulations pass a transport without sockets.

use std::error::Error as StdError;
use std::io;

use async_trait::async_trait;
use bytes::Bytes;

use platform::http::{BlockedHost, Outbound, read_beginning};

/// Maximum number of response bytes read.
const MAX_ANSWER_READ_BYTES: usize = 16 * 1024;
/// Maximum number of response bytes stored.
pub(super) const MAX_ANSWER_KEPT_BYTES: usize = 1024;

/// Signed request, which is posted as it is.
#[derive(Clone, Debug)]
pub struct WebhookRequest {
    /// URL of the endpoint.
    pub url: String,
    /// Names and values of the headers.
    pub headers: Vec<(&'static str, String)>,
    /// Body, byte for byte as it was signed.
    pub body: Bytes,
}

/// Response from a receiver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WebhookResponse {
    /// HTTP status.
    pub status: u16,
    /// Beginning of the body, at most `MAX_ANSWER_KEPT_BYTES`.
    pub beginning: Vec<u8>,
    /// Plain-language description of the time limit that the response exceeded; `None` if the response completed or the
    /// connection was lost.
    pub timeout: Option<String>,
}

/// Reason that no response arrived, in plain language that may be shown to the endpoint's owner.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct WebhookFault(pub String);

/// Transport of webhook requests.
#[async_trait]
pub trait WebhookTransport: Send + Sync + 'static {
    /// Posts a request once, without following redirects.
    async fn post(&self, request: &WebhookRequest) -> Result<WebhookResponse, WebhookFault>;
}

#[async_trait]
impl WebhookTransport for Outbound {
    async fn post(&self, request: &WebhookRequest) -> Result<WebhookResponse, WebhookFault> {
        let WebhookRequest { url, headers, body } = request;
        // Not the method of this trait: it builds a request if calls to the URL are allowed.
        let call = Outbound::post(self, url).map_err(|refused| WebhookFault(refused.to_string()))?;
        let call = headers.iter().fold(call, |call, (name, value)| call.header(*name, value));
        let sent = call.body(body.clone()).send().await;
        let mut answer = sent.map_err(|error| WebhookFault(words(self, &error)))?;
        let status = answer.status().as_u16();
        let (beginning, broken) = read_beginning(&mut answer, MAX_ANSWER_READ_BYTES, MAX_ANSWER_KEPT_BYTES).await;
        // The time limit is for the whole answer. One that breaks off has still been given.
        let timeout = broken.filter(reqwest::Error::is_timeout).map(|error| words(self, &error));
        Ok(WebhookResponse { status, beginning, timeout })
    }
}

/// Describes a failure in plain language. The error's own text is not shown, because it may contain internal details.
fn words(client: &Outbound, error: &reqwest::Error) -> String {
    if let Some(blocked) = causes(error).find_map(|cause| cause.downcast_ref::<BlockedHost>()) {
        return blocked.to_string();
    }
    let words = if error.is_timeout() && error.is_connect() {
        let seconds = client.settings().connect_timeout.as_secs_f64();
        return format!("no connection within {seconds} s");
    } else if error.is_timeout() {
        let seconds = client.settings().timeout.as_secs_f64();
        return format!("no complete response within {seconds} s");
    } else if causes(error).any(is_tls) {
        "the TLS connection failed; the certificate may be invalid"
    } else if error.is_dns() {
        "the host name could not be resolved"
    } else if causes(error).any(|cause| io_kind(cause) == Some(io::ErrorKind::ConnectionRefused)) {
        "the connection was refused"
    } else if error.is_connect() {
        "the host could not be reached"
    } else if error.is_builder() {
        "the request could not be built"
    } else {
        "the connection was closed before a response arrived"
    };
    words.to_owned()
}

/// Iterates over the error and all its causes.
fn causes<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

fn io_kind(error: &(dyn StdError + 'static)) -> Option<io::ErrorKind> {
    error.downcast_ref().map(io::Error::kind)
}

/// Returns whether an error is a TLS error, which is usually wrapped in I/O errors that do not return it as their
/// source.
fn is_tls(error: &(dyn StdError + 'static)) -> bool {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    error.is::<rustls::Error>() || inner.is_some_and(|inner| is_tls(inner))
}
