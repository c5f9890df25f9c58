//! The stream of an own order: sends what its reader is shown of it, whenever that has changed.
//!
//! A look costs no question to the database: orders, forecast and sessions are read where they are kept in memory. An
//! order that is not in memory does not change. Only a commit of the order has its steps read anew.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::open_streams::{MAX_STREAMS_OF_CUSTOMER, OpenStreams, StreamPlace};
use super::{own, steps};
use crate::actors::kernel::directory::Directory;
use crate::domain::aggregate::Versioned;
use crate::domain::customer::Customer;
use crate::domain::event::Numbered;
use crate::domain::id::Id;
use crate::domain::mail::kind::minute;
use crate::domain::order::{Order, OrderStatus};
use crate::domain::time::Timestamp;
use crate::http::access::Caller;
use crate::http::error::ApiError;
use crate::http::handles::handles;
use crate::http::production::orders::OrderHandles;

/// Media type of server-sent events.
pub(super) const MEDIA: &str = "text/event-stream";
/// Time between two looks at what is in memory.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A stream without news sends a comment this often, so that nothing between takes it for dead.
const HEARTBEAT_AFTER: Duration = Duration::from_secs(15);
const HEARTBEAT_LINE: Bytes = Bytes::from_static(b":\n");
/// Longest life of a stream: the reader comes again, and its session is looked up anew.
const MAX_STREAM_LIFE: Duration = Duration::from_secs(600);
/// Readers that are cut off come back after this many milliseconds.
const RETRY_LINE: &str = "retry: 3000\n";
/// Whoever has too many streams may ask again after this many seconds.
const RETRY_SECONDS: u32 = 30;

handles! {
    /// What following an order takes.
    pub(crate) struct FollowHandles {
        orders: OrderHandles,
        customers: Directory<Customer>,
        streams: Arc<OpenStreams>,
        leaving: CancellationToken,
    }
}

/// An order as it is now.
pub(crate) struct OrderSnapshot<'a> {
    /// The order and its version.
    pub state: &'a Arc<Versioned<Order>>,
    /// When all of it is expected to be printed; `None` when it is, or nobody can tell.
    pub expected: Option<Timestamp>,
    /// The steps that its customer sees, oldest first.
    pub steps: &'a [Numbered],
}

/// Version of the order and the minute when it is expected: what the reader was sent last.
type Sent = (i64, Option<String>);

/// One open stream. `R` writes what its reader is shown.
struct OrderStream<R> {
    app: FollowHandles,
    id: Id,
    customer: Id,
    session: Option<Id>,
    /// Name of the events that carry the order.
    event: &'static str,
    render: R,
    state: Arc<Versioned<Order>>,
    steps: Vec<Numbered>,
    sent: Option<Sent>,
    over: bool,
    ends_at: Instant,
    silent_since: Instant,
    /// Held as long as the stream is open.
    _place: StreamPlace,
}

/// Returns a stream of an own order: an event of this name with what `render` shows, at once and after each change, and
/// `over` when no change will follow. Errors: 403, 404, and 429 for a customer with too many streams.
pub(crate) async fn follow<R>(
    app: FollowHandles,
    who: &Caller,
    id: Id,
    event: &'static str,
    render: R,
) -> Result<Response, ApiError>
where
    R: Fn(OrderSnapshot<'_>) -> Option<Value> + Send + 'static,
{
    let state = own(&app.orders, who, id).await?;
    let customer = who.customer()?.0;
    let place = app.streams.enter(customer).ok_or_else(too_many)?;
    let now = Instant::now();
    let stream = OrderStream {
        app,
        id,
        customer,
        session: who.session,
        event,
        render,
        state,
        steps: Vec::new(),
        sent: None,
        over: false,
        ends_at: now + MAX_STREAM_LIFE,
        silent_since: now,
        _place: place,
    };
    let headers = [
        (CONTENT_TYPE.as_str(), MEDIA),
        (CACHE_CONTROL.as_str(), "no-store"),
        ("x-accel-buffering", "no"), // nginx would hold the parts back
    ];
    let pieces = futures::stream::unfold(stream, OrderStream::next);
    Ok((headers, Body::from_stream(pieces)).into_response())
}

fn too_many() -> ApiError {
    let words = format!(
        "you have {MAX_STREAMS_OF_CUSTOMER} pages open that are kept up to date; close some of them, or load this one again \
         to see how things stand"
    );
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_streams", words).retry_after(RETRY_SECONDS)
}

impl<R: Fn(OrderSnapshot<'_>) -> Option<Value>> OrderStream<R> {
    /// Returns the next piece of the stream; `None` ends it.
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        loop {
            if self.over || self.app.leaving.is_cancelled() || Instant::now() >= self.ends_at || !self.is_signed_in() {
                return None;
            }
            if let Some(handle) = self.app.orders.orders.resident(self.id) {
                let state = handle.read();
                if state.state.is_some() {
                    self.state = state;
                }
            }
            let expected = self.app.orders.forecaster.latest().orders.get(&self.id).copied();
            let now = (self.state.version, expected.map(minute));
            if self.sent.as_ref() != Some(&now) {
                if self.sent.as_ref().is_none_or(|(version, _)| *version != now.0) {
                    self.steps = steps(&self.app.orders.queries, self.id).await.ok()?;
                }
                let first = self.sent.replace(now).is_none();
                let piece = self.piece(expected, first)?;
                self.silent_since = Instant::now();
                return Some((Ok(piece), self));
            }
            if self.silent_since.elapsed() >= HEARTBEAT_AFTER {
                self.silent_since = Instant::now();
                return Some((Ok(HEARTBEAT_LINE), self));
            }
            let leaving = self.app.leaving.clone();
            tokio::select! {
                biased; // the end of the server before another look
                () = leaving.cancelled() => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    /// Whether the session has not ended. Whoever signs out has their record brought into memory.
    fn is_signed_in(&self) -> bool {
        let Some(handle) = self.app.customers.resident(self.customer) else { return true };
        let state = handle.read();
        let Some(customer) = state.state.as_ref() else { return true };
        customer.sessions.iter().any(|session| Some(session.id) == self.session)
    }

    /// Returns the order as it is now, as the stream writes it. An order that is over does not change any more.
    fn piece(&mut self, expected: Option<Timestamp>, first: bool) -> Option<Bytes> {
        let status = self.state.state.as_ref()?.status;
        let data = (self.render)(OrderSnapshot { state: &self.state, expected, steps: &self.steps })?;
        let (begins, event) = (if first { RETRY_LINE } else { "" }, self.event);
        self.over = matches!(status, OrderStatus::Shipped | OrderStatus::Cancelled | OrderStatus::Refunded);
        let ends = if self.over { "event: over\ndata: {}\n\n" } else { "" };
        Some(format!("{begins}event: {event}\ndata: {data}\n\n{ends}").into())
    }
}
