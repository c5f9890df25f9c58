//! One connection and how it is served: what a head must be, and how long each part may take.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::header::{CONNECTION, EXPECT, HOST, HeaderValue, TRANSFER_ENCODING};
use axum::http::{Request, StatusCode, Version};
use axum::response::{IntoResponse as _, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::Watcher;
use tokio::io::{AsyncRead, AsyncWrite};
use tower::Service as _;

use super::patient::{Patient, Turns};
use super::prefixed::Prefixed;
use super::retry_pause::RetryPause;
use crate::config::sections::Server;
use crate::http::admission::{FrontPlace, Peer};
use crate::http::error::ApiError;
use crate::http::limits::layer::is_always_heard;
use crate::http::unread_body::UnreadBody;

/// How long a connection may take that is served one request only.
const ONCE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the rest of a body is waited for whose request is refused, so that the connection can be kept.
const READ_AWAY_TIMEOUT: Duration = Duration::from_secs(1);

/// Limits on the heads of a connection, and on the time of its parts.
#[derive(Clone, Copy, Debug)]
pub struct HeadLimits {
    /// Longest time for a head to arrive.
    pub head: Duration,
    /// Longest time without a request.
    pub idle: Duration,
    /// Longest time that a client takes nothing of an answer.
    pub taken: Duration,
    /// Largest size of a head, in bytes.
    pub max_bytes: usize,
    /// Largest number of headers.
    pub max_headers: usize,
}

impl HeadLimits {
    /// Those of the settings.
    pub fn of(server: &Server) -> Self {
        Self {
            head: server.header_timeout_seconds.duration(),
            idle: server.keep_alive_timeout_seconds.duration(),
            taken: server.body_idle_timeout_seconds.duration(),
            max_bytes: server.header_max_bytes,
            max_headers: server.max_headers,
        }
    }

    /// For a connection that is served one request only.
    pub fn short(mut self) -> Self {
        (self.head, self.idle) = (self.head.min(ONCE_TIMEOUT), self.idle.min(ONCE_TIMEOUT));
        self
    }
}

/// A connection that may be served.
pub struct HttpConnection {
    /// Every route, with the layers around them.
    pub routes: Router,
    /// The client's address; none on the control socket.
    pub peer: Option<IpAddr>,
    /// Whether requests of many clients may come on it.
    pub is_shared: bool,
    /// Its place at the front, which its request keeps when it is admitted; `None` where no newcomer takes it.
    pub place: Option<FrontPlace>,
    /// Whether it is served one request only.
    pub once: bool,
    /// Limits on its heads and times.
    pub limits: HeadLimits,
}

impl HttpConnection {
    /// Serves it to its end. `begin` was read of it already.
    pub async fn serve<S>(self, stream: S, begin: Vec<u8>, watcher: Watcher)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Self { routes, peer, is_shared, place, once, limits } = self;
        let turns = Arc::new(Turns::default());
        let (requests, pause) = (turns.clone(), Arc::new(RetryPause::new(is_shared)));
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            requests.begin();
            let fault = head_fault(&request, &requests, limits.max_bytes);
            let must_close = request.headers().contains_key(TRANSFER_ENCODING);
            let waits_to_send = request.headers().contains_key(EXPECT);
            let unread = UnreadBody::default();
            let answer = fault.is_none().then(|| {
                let mut request = request.map(|body| unread.watch(Body::new(body)));
                if let Some(peer) = peer {
                    request.extensions_mut().insert(Peer(peer));
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
                // Whoever asks before it sends a body is not told to send one that nobody wants.
                let is_read = if waits_to_send { unread.is_finished() } else { unread.read_away(patience).await };
                if must_close || !is_read || requests.is_malformed() {
                    // Where the next head begins cannot be told with certainty.
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                requests.end();
                Ok::<_, Infallible>(response)
            }
        });
        let stream = Patient::new(Prefixed::new(begin, stream), limits.head, limits.taken, turns);
        let connection = Builder::new()
            .timer(TokioTimer::new())
            // Bounds how long a connection may idle between requests; how long a head may take is bounded by
            // `Patient`.
            .header_read_timeout(limits.idle)
            .max_headers(limits.max_headers)
            .max_buf_size(limits.max_bytes)
            .keep_alive(!once)
            .serve_connection(TokioIo::new(stream), service);
        if let Err(error) = watcher.watch(connection).await {
            tracing::debug!(%error, "a connection ended");
        }
    }
}

/// Answers a request by its route. One that comes too soon after a refusal waits first.
async fn answer(mut routes: Router, request: Request<Body>, pause: Arc<RetryPause>) -> Result<Response, Infallible> {
    if !is_always_heard(request.uri().path()) {
        pause.wait().await;
    }
    let response = routes.call(request).await?;
    pause.note(&response);
    Ok(response)
}

/// What is wrong with a head that the HTTP library takes.
fn head_fault(request: &Request<Incoming>, turns: &Turns, max_bytes: usize) -> Option<ApiError> {
    let malformed = |message: &str| {
        turns.note_malformed();
        Some(ApiError::bad_request("malformed_request", message))
    };
    if turns.is_malformed() {
        return malformed("the lines of a request's head must end in CR LF");
    }
    let hosts = request.headers().get_all(HOST).iter().count();
    if hosts > 1 || (hosts == 0 && request.version() == Version::HTTP_11) {
        return malformed("a request needs one Host header");
    }
    // The library counts in the pieces that it reads, so it lets somewhat larger heads pass.
    let line = request.method().as_str().len() + request.uri().path_and_query().map_or(1, |path| path.as_str().len());
    let headers = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    if line + "  HTTP/1.1\r\n\r\n".len() + headers.sum::<usize>() > max_bytes {
        turns.note_malformed();
        let message = format!("the head of the request is larger than {max_bytes} bytes");
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        return Some(ApiError::new(status, "header_too_large", message));
    }
    None
}
