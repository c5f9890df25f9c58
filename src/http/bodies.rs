//! Reads request bodies before a request takes an in-flight permit, so that a body that never arrives does not hold up
//! other requests.
//!
//! A body that arrives together with the request head is accepted immediately. Unfinished bodies are bounded in number
//! per caller (an address, or a recognised key or session), in total bytes, in time and in rate. Uploads are written to
//! disk as they arrive; they have the same limit per caller and the same minimum rate.

use std::error::Error;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::StatusCode;
use dashmap::DashMap;
use futures::{FutureExt as _, StreamExt as _};
use hyper::body::Frame;
use tokio::time::{Instant, timeout};

use crate::error::ApiError;
use config::sections::ServerConfig;

/// Number of scheduler turns for which a request waits for a body that arrived with its head, because the connection
/// delivers the body slightly later than the head.
const MAX_TURNS: usize = 3;
/// Time after the request head before the body's minimum rate applies.
const GRACE_PERIOD: Duration = Duration::from_secs(5);
/// Maximum number of bytes of unfinished bodies in memory, across all callers.
const MAX_HELD_BYTES: usize = 256 * 1024 * 1024;
/// Maximum number of bytes of an oversized body that are still read and discarded, because a client that is cut off
/// while sending sees a connection error instead of the response.
pub const MAX_PASSED_BYTES: usize = 16 * 1024 * 1024;

/// Unfinished bodies of all callers, and their limits.
pub struct UnfinishedBodies {
    max_bytes: usize,
    within: Duration,
    rate: LeastRate,
    most_of_one: usize,
    unfinished: DashMap<u128, usize>,
    held: AtomicUsize,
}

impl UnfinishedBodies {
    /// Creates the limits from the configuration.
    pub fn new(server: &ServerConfig) -> Self {
        Self {
            max_bytes: server.json_body_max_bytes,
            within: server.request_timeout_seconds.duration(),
            rate: LeastRate(server.body_min_bytes_per_second),
            most_of_one: server.max_unfinished_bodies_per_client,
            unfinished: DashMap::new(),
            held: AtomicUsize::new(0),
        }
    }

    /// Reads a caller's body to its end; the flag states whether the body was available immediately.
    pub async fn whole(self: &Arc<Self>, body: Body, caller: u128) -> Result<(Bytes, bool), ApiError> {
        let mut read = pin!(self.read(body));
        for _ in 0..MAX_TURNS {
            if let Some(at_once) = read.as_mut().now_or_never() {
                return at_once.map(|bytes| (bytes, true));
            }
            tokio::task::yield_now().await;
        }
        let _place = self.place(caller)?;
        let late = |_| Err(too_slow("the body did not arrive in time"));
        timeout(self.within, read).await.unwrap_or_else(late).map(|bytes| (bytes, false))
    }

    /// Acquires a permit for an additional unfinished body from the caller.
    pub fn place(self: &Arc<Self>, caller: u128) -> Result<BodyPermit, ApiError> {
        let mut open = self.unfinished.entry(caller).or_insert(0);
        if *open >= self.most_of_one {
            let message = "this client has too many requests with incomplete bodies";
            return Err(ApiError::unavailable("overloaded", message, 1));
        }
        *open += 1;
        Ok(BodyPermit { bodies: self.clone(), caller })
    }

    /// Returns a body for streaming, which ends with an error if it arrives too slowly.
    pub fn paced(&self, body: Body) -> Body {
        Body::new(PacedBody { body, rate: self.rate, read: 0, began: Instant::now() })
    }

    async fn read(&self, body: Body) -> Result<Bytes, ApiError> {
        let mut pieces = self.paced(body).into_data_stream();
        let mut whole = BufferedBody { all: &self.held, counted: 0, bytes: Vec::new() };
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|error| broken(&error))?;
            if whole.bytes.len() + piece.len() > self.max_bytes {
                drop(whole);
                let mut left = MAX_PASSED_BYTES;
                while let Some(Ok(piece)) = pieces.next().await
                    && left > 0
                {
                    left = left.saturating_sub(piece.len());
                }
                return Err(ApiError::too_large(self.max_bytes as u64));
            }
            whole.add(&piece)?;
        }
        Ok(std::mem::take(&mut whole.bytes).into())
    }
}

/// Permit for one unfinished body; released when dropped.
pub struct BodyPermit {
    bodies: Arc<UnfinishedBodies>,
    caller: u128,
}

impl Drop for BodyPermit {
    fn drop(&mut self) {
        if let Some(mut open) = self.bodies.unfinished.get_mut(&self.caller) {
            *open = open.saturating_sub(1);
        }
        self.bodies.unfinished.remove_if(&self.caller, |_, open| *open == 0);
    }
}

/// Part of a body received so far, counted towards the total of all bodies.
struct BufferedBody<'a> {
    all: &'a AtomicUsize,
    counted: usize,
    bytes: Vec<u8>,
}

impl BufferedBody<'_> {
    fn add(&mut self, piece: &[u8]) -> Result<(), ApiError> {
        self.bytes.extend_from_slice(piece);
        self.counted += piece.len();
        if self.all.fetch_add(piece.len(), Relaxed) + piece.len() > MAX_HELD_BYTES {
            return Err(ApiError::unavailable("overloaded", "too many requests have incomplete bodies", 1));
        }
        Ok(())
    }
}

impl Drop for BufferedBody<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(self.counted, Relaxed);
    }
}

/// Minimum average rate of a body, in bytes per second, enforced after a grace period.
#[derive(Clone, Copy, Debug)]
struct LeastRate(u64);

impl LeastRate {
    /// Returns whether a body is too slow if only `bytes` of it arrived within `after`.
    fn is_missed(self, bytes: u64, after: Duration) -> bool {
        (bytes as f64) < after.saturating_sub(GRACE_PERIOD).as_secs_f64() * self.0 as f64
    }
}

/// Error for a body that arrives too slowly.
#[derive(Debug, thiserror::Error)]
#[error("the body arrives too slowly")]
struct TooSlow;

/// Body whose rate is checked with each chunk; its timeout ends a stalled body.
struct PacedBody {
    body: Body,
    rate: LeastRate,
    read: u64,
    began: Instant,
}

impl HttpBody for PacedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if let Some(data) = frame.as_ref().and_then(|frame| frame.as_ref().ok()).and_then(Frame::data_ref) {
            self.read += data.len() as u64;
            if self.rate.is_missed(self.read, self.began.elapsed()) {
                return Poll::Ready(Some(Err(axum::Error::new(TooSlow))));
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.body.size_hint()
    }
}

fn too_slow(message: &str) -> ApiError {
    ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", message)
}

fn broken(error: &(dyn Error + 'static)) -> ApiError {
    silent(error).unwrap_or_else(|| ApiError::bad_request("incomplete_body", "the body is incomplete"))
}

/// Returns a 408 error if the body ended because data arrived too slowly or not at all.
pub fn silent(error: &(dyn Error + 'static)) -> Option<ApiError> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.is::<tower_http::timeout::TimeoutError>() {
            return Some(too_slow("no data of the body has arrived for too long"));
        }
        if error.is::<TooSlow>() {
            return Some(too_slow("the body arrives too slowly"));
        }
        cause = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use tokio::sync::mpsc;

    use super::*;
    use config::Config;

    fn bodies(most_of_one: usize) -> Arc<UnfinishedBodies> {
        let mut server = Config::default().server;
        (server.max_unfinished_bodies_per_client, server.body_min_bytes_per_second) = (most_of_one, 100);
        Arc::new(UnfinishedBodies::new(&server))
    }

    /// Creates a body whose chunks are sent by the test.
    fn body() -> (mpsc::UnboundedSender<&'static str>, Body) {
        let (sender, pieces) = mpsc::unbounded_channel::<&'static str>();
        let pieces = futures::stream::unfold(pieces, |mut pieces| async move {
            pieces.recv().await.map(|piece| (Ok::<_, std::io::Error>(Bytes::from(piece)), pieces))
        });
        (sender, Body::from_stream(pieces))
    }

    #[tokio::test]
    async fn unfinished_bodies_of_one_caller_are_bounded_and_those_that_are_there_are_not() {
        let bodies = bodies(1);
        let (sender, unfinished) = body();
        let (holder, reads) = (bodies.clone(), sender);
        let reading = tokio::spawn(async move { holder.whole(unfinished, 7).await });
        while bodies.unfinished.is_empty() {
            tokio::task::yield_now().await;
        }
        let (_open, second) = body();
        assert_eq!(bodies.whole(second, 7).await.unwrap_err().status(), 503);
        assert_eq!(bodies.whole(Body::from("{}"), 7).await.unwrap(), (Bytes::from("{}"), true));
        let (other, another) = body();
        drop(other);
        assert!(bodies.whole(another, 8).await.is_ok(), "another caller");
        reads.send("abc").unwrap();
        drop(reads);
        assert_eq!(reading.await.unwrap().unwrap(), (Bytes::from("abc"), false));
        assert!(bodies.unfinished.is_empty());
        assert_eq!(bodies.held.load(Relaxed), 0);
    }

    #[test]
    fn a_body_must_come_at_the_least_rate_after_a_grace() {
        let (rate, second) = (LeastRate(100), Duration::from_secs(1));
        assert!(!rate.is_missed(1, GRACE_PERIOD), "slow beginnings are forgiven");
        assert!(rate.is_missed(99, GRACE_PERIOD + second) && !rate.is_missed(100, GRACE_PERIOD + second));
        assert!(rate.is_missed(5900, GRACE_PERIOD + 60 * second) && !rate.is_missed(6000, GRACE_PERIOD + 60 * second));
    }

    #[tokio::test]
    async fn too_much_is_refused_after_some_of_it_was_passed_over() {
        let mut server = Config::default().server;
        server.json_body_max_bytes = 4;
        let bodies = Arc::new(UnfinishedBodies::new(&server));
        assert_eq!(bodies.whole(Body::from("12345"), 1).await.unwrap_err().status(), StatusCode::PAYLOAD_TOO_LARGE);
        assert_eq!(bodies.whole(Body::from("1234"), 1).await.unwrap().0, "1234");
        assert_eq!(bodies.held.load(Relaxed), 0);
    }
}
