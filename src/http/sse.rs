//! Server-sent events: all streams have the same headers, heartbeats, cursors and endings. Each stream supplies the due
//! events and waits for more ([`SseSource`]); [`Sse`] is the response.

mod open_streams;

use std::convert::Infallible;
use std::fmt::Display;
use std::time::Duration;

use api_schema::shape::whole;
use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use tokio::time::Instant;

use crate::error::ApiError;
use crate::handler::Argument;
use crate::operation::DescribedOperation;
use crate::wire::Components;
use domain::refusal::Refusal;

pub use open_streams::{MAX_STREAMS_OF_CUSTOMER, OpenStreams, StreamPermit};

/// Media type of server-sent events.
pub const MEDIA: &str = "text/event-stream";
/// Last event of a stream whose subject will not change again; it tells clients not to reconnect.
pub const OVER: &str = "event: over\ndata: {}\n\n";
/// Idle time after which a stream sends a comment, so that proxies do not close the connection.
const HEARTBEAT_AFTER: Duration = Duration::from_secs(15);
/// Heartbeat: a comment line without a blank line. A blank line would end the event, and some clients would dispatch it
/// without content.
const HEARTBEAT_LINE: Bytes = Bytes::from_static(b":\n");
/// Maximum duration of a page's stream; the browser reconnects afterwards.
const MAX_PAGE_STREAM_LIFE: Duration = Duration::from_secs(600);
/// Header that contains the number of the last event received.
const LAST_EVENT_ID: &str = "Last-Event-ID";

/// Formats an event. Names of events and compact JSON contain no line breaks.
pub fn event(name: &str, data: &impl Display) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// Formats an event with the number from which a client can resume.
pub fn numbered_event(id: i64, name: &str, data: &impl Display) -> String {
    format!("id: {id}\nevent: {name}\ndata: {data}\n\n")
}

/// Supplier of a stream's events.
pub trait SseSource: Send + Sized + 'static {
    /// Returns whether the reader may continue and the server is not shutting down. Checked before each chunk.
    fn may_continue(&mut self) -> bool;

    /// Returns the due events as text, which may be empty; `None` ends the stream.
    fn due(&mut self) -> impl Future<Output = Option<String>> + Send;

    /// Waits until events may be due or the permission should be checked again. The wait may be cancelled to send a
    /// heartbeat; no event may be lost because of that.
    fn wait(&mut self) -> impl Future<Output = ()> + Send;
}

/// Response that streams a source's events until the source ends, the reader loses permission, or the server shuts
/// down.
pub struct Sse<S> {
    source: S,
    retry_millis: Option<u32>,
    ends_at: Option<Instant>,
    silent_since: Instant,
}

impl<S: SseSource> Sse<S> {
    /// Creates a stream that lasts as long as its source.
    pub fn new(source: S) -> Self {
        Self { source, retry_millis: None, ends_at: None, silent_since: Instant::now() }
    }

    /// Makes disconnected clients reconnect after the given number of milliseconds.
    pub fn retry_after(mut self, millis: u32) -> Self {
        self.retry_millis = Some(millis);
        self
    }

    /// Ends the stream after ten minutes. Intended for pages, which reconnect automatically.
    pub fn for_page(mut self) -> Self {
        self.ends_at = Some(self.silent_since + MAX_PAGE_STREAM_LIFE);
        self
    }

    /// Returns the next chunk of the stream; `None` ends it.
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        loop {
            if self.ends_at.is_some_and(|end| Instant::now() >= end) || !self.source.may_continue() {
                return None;
            }
            if let Some(millis) = self.retry_millis.take() {
                // Without a blank line, it belongs to the block of the first event.
                return Some((Ok(format!("retry: {millis}\n").into()), self));
            }
            let text = self.source.due().await?;
            if !text.is_empty() {
                self.silent_since = Instant::now();
                return Some((Ok(text.into()), self));
            }
            if self.silent_since.elapsed() >= HEARTBEAT_AFTER {
                self.silent_since = Instant::now();
                return Some((Ok(HEARTBEAT_LINE), self));
            }
            tokio::select! {
                biased; // events before a heartbeat; the permission is checked again before either
                () = self.source.wait() => {}
                () = tokio::time::sleep_until(self.silent_since + HEARTBEAT_AFTER) => {}
            }
        }
    }
}

impl<S: SseSource> IntoResponse for Sse<S> {
    fn into_response(self) -> Response {
        let headers = [
            (CONTENT_TYPE.as_str(), MEDIA),
            (CACHE_CONTROL.as_str(), "no-store"),
            ("x-accel-buffering", "no"), // nginx would hold the chunks back
        ];
        (headers, Body::from_stream(futures::stream::unfold(self, Self::next))).into_response()
    }
}

/// Number of the last event received, which browsers send when they reconnect.
pub struct LastEventId(pub Option<i64>);

impl<S: Sync> FromRequestParts<S> for LastEventId {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let Some(text) = parts.headers.get(LAST_EVENT_ID) else { return Ok(Self(None)) };
        let number = text.to_str().unwrap_or_default().parse();
        Ok(Self(Some(number.map_err(|_| Refusal::field(LAST_EVENT_ID, "must be the number of an event"))?)))
    }
}

impl Argument for LastEventId {
    fn describe(operation: &mut DescribedOperation, _: &mut Components) {
        let about = "Number of the last event received; if omitted, the stream starts with new events.";
        operation.add_header(LAST_EVENT_ID, whole(..), about);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::collections::VecDeque;

    use futures::StreamExt as _;
    use serde_json::json;

    use super::*;

    /// Source of prepared chunks; an empty chunk stands for a moment when nothing is due, and after the last chunk the
    /// source waits forever.
    struct Prepared {
        chunks: VecDeque<&'static str>,
        is_signed_in: bool,
        ends: bool,
    }

    impl SseSource for Prepared {
        fn may_continue(&mut self) -> bool {
            self.is_signed_in
        }
        async fn due(&mut self) -> Option<String> {
            match self.chunks.pop_front() {
                Some(chunk) => Some(chunk.to_owned()),
                None if self.ends => None,
                None => Some(String::new()),
            }
        }
        async fn wait(&mut self) {
            if self.chunks.is_empty() {
                std::future::pending::<()>().await;
            }
        }
    }

    fn prepared(chunks: &[&'static str], ends: bool) -> Prepared {
        Prepared { chunks: chunks.iter().copied().collect(), is_signed_in: true, ends }
    }

    async fn all(response: Response) -> String {
        let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[test]
    fn events_are_blocks_of_lines() {
        assert_eq!(event("part", &json!({"a": 1})), "event: part\ndata: {\"a\":1}\n\n");
        assert_eq!(numbered_event(7, "at", &"{}"), "id: 7\nevent: at\ndata: {}\n\n");
    }

    #[tokio::test]
    async fn a_stream_says_when_to_come_back_and_ends_with_its_source() {
        let response = Sse::new(prepared(&["a", "", "b"], true)).retry_after(3000).into_response();
        assert_eq!(response.headers()[CONTENT_TYPE], MEDIA);
        assert_eq!(response.headers()[CACHE_CONTROL], "no-store");
        assert_eq!(all(response).await, "retry: 3000\nab");
        let signed_out = Prepared { is_signed_in: false, ..prepared(&["a"], true) };
        assert_eq!(all(Sse::new(signed_out).retry_after(3000).into_response()).await, "");
    }

    #[tokio::test]
    async fn an_idle_stream_sends_comments_and_that_of_a_page_ends() {
        let silent_for = |age, chunks| {
            let silent_since = Instant::now().checked_sub(age).unwrap();
            Sse { silent_since, ..Sse::new(prepared(chunks, false)) }
        };
        let mut chunks = silent_for(HEARTBEAT_AFTER, &["", "a"]).into_response().into_body().into_data_stream();
        assert_eq!(chunks.next().await.unwrap().unwrap(), ":\n");
        assert_eq!(chunks.next().await.unwrap().unwrap(), "a");
        assert_eq!(all(silent_for(MAX_PAGE_STREAM_LIFE, &["a"]).for_page().into_response()).await, "");
    }
}
