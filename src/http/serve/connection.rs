//! A single connection: serves it, checks its request heads, and enforces a timeout for each phase.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::header::{CONNECTION, EXPECT, HOST, HeaderValue, TRANSFER_ENCODING};
use axum::http::{Request, StatusCode, Version};
use axum::response::{IntoResponse as _, Response};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1::Builder;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::Watcher;
use tokio::io::{AsyncRead, AsyncWrite};
use tower::Service as _;

use super::idle_timer::IdleTimer;
use super::prefixed::PrefixedStream;
use super::retry_pause::RetryPause;
use super::timeout_stream::{LingerLimits, RequestPhase, TimeoutStream};
use crate::admission::{AcceptSlot, RemoteAddress};
use crate::error::ApiError;
use crate::limits::layer::is_always_heard;
use crate::unread_body::UnreadBody;
use config::sections::ServerConfig;

/// Timeout for a connection that is limited to a single request.
const ONCE_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum time to wait for the remaining body of a rejected request, so that the connection can be kept open.
const READ_AWAY_TIMEOUT: Duration = Duration::from_secs(1);

/// Limits on reading the rest of a request: shorter than the default time for a shutdown, which waits for it.
const LINGER: LingerLimits =
    LingerLimits { idle: Duration::from_secs(5), total: Duration::from_secs(15), bytes: 128 * 1024 * 1024 };
/// The same on the thread that always has to serve stops and health checks.
const SHORT_LINGER: LingerLimits = LingerLimits { idle: ONCE_TIMEOUT, total: ONCE_TIMEOUT, bytes: 64 * 1024 };

/// Limits on the request heads of a connection, and timeouts for its phases.
#[derive(Clone, Copy, Debug)]
pub struct HeadLimits {
    /// Maximum time for a request head to arrive.
    pub head: Duration,
    /// Maximum time without a request.
    pub idle: Duration,
    /// Maximum time for which a client may fail to read any of a response.
    pub response_idle: Duration,
    /// Maximum size of a request head, in bytes.
    pub max_bytes: usize,
    /// Maximum number of headers.
    pub max_headers: usize,
    /// Limits on reading the rest of a request whose response has been sent.
    pub linger: LingerLimits,
}

impl HeadLimits {
    /// Returns the limits from the settings.
    pub fn of(server: &ServerConfig) -> Self {
        Self {
            head: server.header_timeout_seconds.duration(),
            idle: server.keep_alive_timeout_seconds.duration(),
            response_idle: server.body_idle_timeout_seconds.duration(),
            max_bytes: server.header_max_bytes,
            max_headers: server.max_headers,
            linger: LINGER,
        }
    }

    /// Returns the limits for a connection that is limited to a single request.
    pub fn short(mut self) -> Self {
        (self.head, self.idle) = (self.head.min(ONCE_TIMEOUT), self.idle.min(ONCE_TIMEOUT));
        self.linger = SHORT_LINGER;
        self
    }
}

/// Connection to serve.
pub struct HttpConnection {
    /// Router with all routes and the layers around them.
    pub routes: Router,
    /// Client's address; `None` on the control socket.
    pub peer: Option<IpAddr>,
    /// `true` if the connection may carry requests from many clients.
    pub is_shared: bool,
    /// The connection's slot, which the request keeps once it is admitted; `None` if newer connections cannot take it.
    pub place: Option<AcceptSlot>,
    /// `true` if only one request is served.
    pub once: bool,
    /// Limits on the connection's request heads, and its timeouts.
    pub limits: HeadLimits,
}

impl HttpConnection {
    /// Serves the connection until it closes. `begin` contains the bytes that have already been read from it.
    pub async fn serve<S>(self, stream: S, begin: Vec<u8>, watcher: Watcher)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Self { routes, peer, is_shared, place, once, limits } = self;
        let turns = Arc::new(RequestPhase::default());
        let (requests, pause) = (turns.clone(), Arc::new(RetryPause::new(is_shared)));
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            requests.begin();
            let fault = head_fault(&request, &requests, limits.max_bytes);
            let must_close = request.headers().contains_key(TRANSFER_ENCODING);
            let waits_to_send = request.headers().contains_key(EXPECT);
            let unread = (!request.body().is_end_stream()).then(UnreadBody::default);
            let answer = fault.is_none().then(|| {
                let mut request = request.map(|body| match &unread {
                    Some(unread) => unread.watch(Body::new(body)),
                    None => Body::empty(),
                });
                if let Some(peer) = peer {
                    request.extensions_mut().insert(RemoteAddress(peer));
                }
                if let Some(place) = place.clone() {
                    request.extensions_mut().insert(place);
                }
                answer(routes.clone(), request, pause.clone())
            });
            let requests = requests.clone();
            async move {
                let mut response: Response = match (fault, answer) {
                    (Some(fault), _) => fault.into_response(),
                    (None, Some(answer)) => answer.await?,
                    (None, None) => StatusCode::BAD_REQUEST.into_response(),
                };
                let is_refused = response.status().is_client_error() || response.status().is_server_error();
                let patience = if is_refused { READ_AWAY_TIMEOUT } else { Duration::ZERO };
                let is_read = match unread {
                    None => true,
                    // Whoever asks before it sends a body is not told to send one that nobody wants.
                    Some(unread) if waits_to_send => unread.is_finished(),
                    Some(unread) => unread.read_away(patience).await,
                };
                if !is_read {
                    requests.note_unread();
                }
                if must_close || !is_read || requests.is_malformed() {
                    // Where the next head begins cannot be told with certainty.
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                requests.end();
                Ok::<_, Infallible>(response)
            }
        });
        let stream = PrefixedStream::new(begin, stream);
        let stream = TimeoutStream::new(stream, limits.head, limits.response_idle, limits.linger, turns);
        let connection = Builder::new()
            .timer(IdleTimer::default())
            // Bounds how long a connection may idle between requests; how long a head may take is bounded by
            // `TimeoutStream`.
            .header_read_timeout(limits.idle)
            .max_headers(limits.max_headers)
            .max_buf_size(limits.max_bytes)
            .keep_alive(!once)
            .serve_connection(TokioIo::new(stream), service);
        if let Err(error) = watcher.watch(connection).await {
            tracing::debug!(%error, "a connection was closed");
        }
    }
}

/// Routes a request and returns the response. A request that arrives too soon after a rejection is delayed first.
async fn answer(mut routes: Router, request: Request<Body>, pause: Arc<RetryPause>) -> Result<Response, Infallible> {
    if !is_always_heard(request.uri().path()) {
        pause.wait().await;
    }
    let response = routes.call(request).await?;
    pause.note(&response);
    Ok(response)
}

/// Returns the error for a request head that the HTTP library accepts but this server does not.
fn head_fault(request: &Request<Incoming>, turns: &RequestPhase, max_bytes: usize) -> Option<ApiError> {
    let malformed = |message: &str| {
        turns.note_malformed();
        Some(ApiError::bad_request("malformed_request", message))
    };
    if turns.is_malformed() {
        return malformed("the lines of the request head must end with CR LF");
    }
    let hosts = request.headers().get_all(HOST).iter().count();
    if hosts > 1 || (hosts == 0 && request.version() == Version::HTTP_11) {
        return malformed("a request must have exactly one Host header");
    }
    // The library counts in the pieces that it reads, so it lets somewhat larger heads pass.
    let line = request.method().as_str().len() + request.uri().path_and_query().map_or(1, |path| path.as_str().len());
    let headers = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    if line + "  HTTP/1.1\r\n\r\n".len() + headers.sum::<usize>() > max_bytes {
        turns.note_malformed();
        let message = format!("the request head is larger than {max_bytes} bytes");
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        return Some(ApiError::new(status, "header_too_large", message));
    }
    None
}
