//! The stream behind the page of an order: sends the part that changes, whenever it has changed.
//!
//! A look costs no question to the database: orders, forecast and sessions are read where they are kept in memory. An
//! order that is not in memory does not change. Only a commit of the order has its steps read anew.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use serde_json::json;
use tokio::time::Instant;

use super::open_streams::{MAX_STREAMS_OF_CUSTOMER, StreamPlace};
use super::progress::LivePart;
use super::{OrderPageHandles, own, steps};
use crate::domain::aggregate::Versioned;
use crate::domain::event::Numbered;
use crate::domain::id::Id;
use crate::domain::mail::kind::minute;
use crate::domain::order::{Order, OrderStatus};
use crate::domain::tracking::TrackingPage;
use crate::http::access::Caller;
use crate::http::error::ApiError;
use crate::http::pages::frame::Viewer;
use crate::http::path_id::PathId;

/// Time between two looks at what is in memory.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A stream without news sends a comment this often, so that nothing between takes it for dead.
const HEARTBEAT_AFTER: Duration = Duration::from_secs(15);
const HEARTBEAT_LINE: Bytes = Bytes::from_static(b":\n");
/// Longest life of a stream: the browser comes again, and its session is looked up anew.
const MAX_STREAM_LIFE: Duration = Duration::from_secs(600);
/// Browsers that are cut off come back after this many milliseconds.
const RETRY_LINE: &str = "retry: 3000\n";
/// Whoever has too many streams may ask again after this many seconds.
const RETRY_SECONDS: u32 = 30;

/// What was sent last: the order's version, and to the minute when it is expected.
type Told = (i64, Option<String>);

/// One open stream.
struct OrderStream {
    app: OrderPageHandles,
    id: Id,
    customer: Id,
    session: Option<Id>,
    viewer: Viewer,
    tracking: Vec<TrackingPage>,
    state: Arc<Versioned<Order>>,
    steps: Vec<Numbered>,
    told: Option<Told>,
    over: bool,
    ends_at: Instant,
    silent_since: Instant,
    /// Held as long as the stream is open.
    _place: StreamPlace,
}

/// Answers GET of the stream of an own order.
pub(in crate::http::pages) async fn live(
    State(app): State<OrderPageHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    let state = own(&app.own.orders, &who, id).await?;
    let customer = who.customer()?.0;
    let place = app.streams.enter(customer).ok_or_else(too_many)?;
    let now = Instant::now();
    let stream = OrderStream {
        id,
        customer,
        session: who.session,
        viewer: Viewer::new(&who, &app.config)?,
        tracking: app.config.shipping.tracking_pages(),
        state,
        steps: Vec::new(),
        told: None,
        over: false,
        ends_at: now + MAX_STREAM_LIFE,
        silent_since: now,
        _place: place,
        app,
    };
    let headers = [
        (CONTENT_TYPE.as_str(), "text/event-stream"),
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

impl OrderStream {
    /// The next piece of the stream; `None` ends it.
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        loop {
            if self.over || self.app.leaving.is_cancelled() || Instant::now() >= self.ends_at || !self.is_signed_in() {
                return None;
            }
            if let Some(handle) = self.app.own.orders.orders.resident(self.id) {
                let state = handle.read();
                if state.state.is_some() {
                    self.state = state;
                }
            }
            let expected = self.app.own.orders.forecaster.latest().orders.get(&self.id).copied();
            let now = (self.state.version, expected.map(minute));
            if self.told.as_ref() != Some(&now) {
                if self.told.as_ref().is_none_or(|(version, _)| *version != now.0) {
                    self.steps = steps(&self.app.own.orders.queries, self.id).await.ok()?;
                }
                let first = self.told.replace(now).is_none();
                let piece = self.part(expected, first)?;
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

    /// The part of the page as it is now, as the stream writes it. An order that is over has no other one.
    fn part(&mut self, expected: Option<crate::domain::time::Timestamp>, first: bool) -> Option<Bytes> {
        let order = self.state.state.as_ref()?;
        let part = LivePart { order, expected, steps: &self.steps, tracking: &self.tracking, viewer: &self.viewer };
        let data = json!({"html": part.html().into_string(), "said": part.said()});
        let begins = if first { RETRY_LINE } else { "" };
        self.over = matches!(order.status, OrderStatus::Shipped | OrderStatus::Cancelled | OrderStatus::Refunded);
        let ends = if self.over { "event: over\ndata: {}\n\n" } else { "" };
        Some(format!("{begins}event: part\ndata: {data}\n\n{ends}").into())
    }
}
