//! Event stream for a customer's own order: sends the customer's view of the order whenever it changes.
//!
//! Polling needs no database query: orders, forecasts and sessions are read from memory, and an order that is not in
//! memory does not change. The stream rereads the timeline only after the order has been committed.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{own, steps};
use crate::production::orders::OrderHandles;
use domain::aggregate::Versioned;
use domain::customer::{Customer, CustomerSession};
use domain::event::NumberedEvent;
use domain::id::Id;
use domain::order::Order;
use domain::time::Timestamp;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http::sse::{self, MAX_STREAMS_OF_CUSTOMER, OpenStreams, Sse, SseSource, StreamPermit};
use kernel::directory::Directory;

/// Interval at which the in-memory state is polled.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Delay, in milliseconds, after which disconnected clients reconnect.
const RECONNECT_MILLIS: u32 = 3000;
/// `Retry-After` value, in seconds, for a customer with too many open streams.
const RETRY_SECONDS: u32 = 30;

handles! {
    /// Dependencies of the order stream.
    pub struct FollowHandles {
        orders: OrderHandles,
        customers: Directory<Customer>,
        streams: Arc<OpenStreams>,
        leaving: CancellationToken,
    }
}

/// Current state of an order.
pub struct OrderSnapshot<'a> {
    /// Order and its version.
    pub state: &'a Arc<Versioned<Order>>,
    /// Time by which the whole order is expected to be printed; `None` if it is already printed or there is no
    /// forecast.
    pub expected: Option<Timestamp>,
    /// Timeline steps visible to the customer, oldest first.
    pub steps: &'a [NumberedEvent],
}

/// Number of milliseconds in a minute.
const MINUTE_MS: i64 = 60_000;

/// State last sent to the client: the version of the order and the expected completion time, in minutes since the
/// epoch.
type SentSnapshot = (i64, Option<i64>);

/// Open stream for one order; `R` renders the order for its reader.
struct OrderStream<R> {
    app: FollowHandles,
    id: Id,
    /// Session of the customer who reads the stream.
    session: Arc<CustomerSession>,
    /// Name of the events that contain the order.
    event: &'static str,
    render: R,
    state: Arc<Versioned<Order>>,
    steps: Vec<NumberedEvent>,
    sent: Option<SentSnapshot>,
    over: bool,
    /// Permit for the stream, held while the stream is open.
    _place: StreamPermit,
}

/// Returns a stream for the customer's own order: an event with the given name and the output of `render`, immediately
/// and after each change, and `over` once the order is over ([`Order::is_over`]). Fails with 403 or 404 or, for a
/// customer with too many streams, 429.
pub async fn follow<R>(
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
    let session = session_of(&app, customer, who.session).await?;
    let place = app.streams.enter(customer).ok_or_else(too_many)?;
    let stream = OrderStream {
        app,
        id,
        session,
        event,
        render,
        state,
        steps: Vec::new(),
        sent: None,
        over: false,
        _place: place,
    };
    Ok(Sse::new(stream).retry_after(RECONNECT_MILLIS).for_page().into_response())
}

/// Returns the customer's session with the given ID; fails with 401 if it has just ended.
async fn session_of(app: &FollowHandles, customer: Id, id: Option<Id>) -> Result<Arc<CustomerSession>, ApiError> {
    let state = app.customers.read(customer).await?;
    let customer = state.as_ref().and_then(|state| state.state.as_ref());
    let session = customer.and_then(|customer| customer.sessions.iter().find(|session| Some(session.id) == id));
    session.cloned().ok_or_else(|| ApiError::unauthorized("the session has ended; sign in again"))
}

fn too_many() -> ApiError {
    let words = format!(
        "you have {MAX_STREAMS_OF_CUSTOMER} pages with live updates open; close some of them, or reload this page to \
         see the current status"
    );
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_streams", words).retry_after(RETRY_SECONDS)
}

impl<R: Fn(OrderSnapshot<'_>) -> Option<Value> + Send + 'static> SseSource for OrderStream<R> {
    fn may_continue(&mut self) -> bool {
        !self.app.leaving.is_cancelled() && self.is_signed_in()
    }

    async fn due(&mut self) -> Option<String> {
        if self.over {
            return None;
        }
        if let Some(handle) = self.app.orders.orders.resident(self.id) {
            let state = handle.read();
            if state.state.is_some() {
                self.state = state;
            }
        }
        let expected = self.app.orders.forecaster.latest().orders.get(&self.id).copied();
        let now = (self.state.version, expected.map(|at| at.0.div_euclid(MINUTE_MS)));
        if self.sent.as_ref() == Some(&now) {
            return Some(String::new());
        }
        if self.sent.as_ref().is_none_or(|(version, _)| *version != now.0) {
            self.steps = steps(&self.app.orders.queries, self.id).await.ok()?;
        }
        self.sent = Some(now);
        self.text(expected)
    }

    async fn wait(&mut self) {
        tokio::select! {
            biased; // the end of the server before another look
            () = self.app.leaving.cancelled() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

impl<R: Fn(OrderSnapshot<'_>) -> Option<Value>> OrderStream<R> {
    /// Returns whether the session is still open. A customer who is not in memory has not signed out, because that
    /// loads the customer record.
    fn is_signed_in(&self) -> bool {
        if self.session.over(self.app.orders.environment.now()) {
            return false;
        }
        let Some(handle) = self.app.customers.resident(self.session.customer_id) else { return true };
        let state = handle.read();
        let Some(customer) = state.state.as_ref() else { return true };
        customer.sessions.iter().any(|session| session.id == self.session.id)
    }

    /// Formats the current state of the order as an event, followed by the event `over` once the order is over.
    fn text(&mut self, expected: Option<Timestamp>) -> Option<String> {
        let is_over = self.state.state.as_ref()?.is_over();
        let data = (self.render)(OrderSnapshot { state: &self.state, expected, steps: &self.steps })?;
        self.over = is_over;
        let mut text = sse::event(self.event, &data);
        if is_over {
            text.push_str(sse::OVER);
        }
        Some(text)
    }
}
