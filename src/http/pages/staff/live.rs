//! The event stream behind the staff pages, one per browser: it sends the parts of the floor page that changed since
//! the version that the page has, and a notice whenever something happened in the shop, on which other pages reload.
//!
//! A stream never queries the database, and the parts are rendered once for all streams ([`super::board`]).

use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use api_derive::Request;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::Instant;

use super::board::{BoardHandles, LOOK_EVERY};
use super::card::card_id;
use super::shell::StaffViewer;
use config::Config;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http::stream_auth::{ReadingRight, StreamHandles};
use store::outbox::Outbox;

/// Idle time after which the stream sends a comment, so that no proxy closes it as dead.
const HEARTBEAT_AFTER: Duration = Duration::from_secs(15);
const HEARTBEAT_LINE: Bytes = Bytes::from_static(b":\n");
/// Minimum time between two notices that something happened, because pages query the database on each.
const FRESH_EVERY: Duration = Duration::from_secs(1);
/// Maximum duration of a stream; the browser reconnects afterwards.
const MAX_STREAM_LIFE: Duration = Duration::from_secs(600);
/// First line of a stream: it makes disconnected browsers reconnect after 2,000 milliseconds.
const RETRY_LINE: &str = "retry: 2000\n\n";
/// Header with the last received version, which browsers send on reconnecting.
const LAST_EVENT_ID: &str = "last-event-id";

handles! {
    /// Dependencies of the event stream.
    pub(crate) struct LiveHandles {
        board: BoardHandles,
        outbox: Arc<Outbox>,
        stream: StreamHandles,
        config: Arc<Config>,
    }
}

/// Query of the event stream.
#[derive(Request, Debug)]
pub(super) struct LiveQuery {
    /// Version of the floor that the page has.
    #[api(default = 0)]
    after: i64,
}

/// An open event stream.
struct FloorStream {
    standing: ReadingRight,
    viewer: StaffViewer,
    board: BoardHandles,
    /// Number of the shop's latest event.
    last: watch::Receiver<i64>,
    /// Event number of the last notice sent to the page.
    told_last: i64,
    told_at: Option<Instant>,
    /// Number of commits of all materials at the last look.
    stock_commits: i64,
    /// `true` if something happened of which the page has not been notified.
    stale: bool,
    /// Version of the floor that the page has.
    version: i64,
    begun: bool,
    ends_at: Instant,
    silent_since: Instant,
}

/// Opens the event stream.
pub(super) async fn live(
    State(app): State<LiveHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<LiveQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let returns = headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok()?.parse::<i64>().ok());
    let (now, last) = (Instant::now(), app.outbox.last());
    let told_last = *last.borrow();
    let stream = FloorStream {
        standing: ReadingRight::new(app.stream.clone(), who),
        viewer,
        board: app.board.clone(),
        last,
        told_last,
        // What was missed while the stream was cut off is not known.
        told_at: None,
        stock_commits: 0,
        stale: false,
        version: query.after.max(returns.unwrap_or(0)),
        begun: false,
        ends_at: now + MAX_STREAM_LIFE,
        silent_since: now,
    };
    let headers = [
        (CONTENT_TYPE.as_str(), "text/event-stream"),
        (CACHE_CONTROL.as_str(), "no-store"),
        ("x-accel-buffering", "no"), // nginx would hold the parts back
    ];
    let pieces = futures::stream::unfold(stream, FloorStream::next);
    Ok((headers, Body::from_stream(pieces)).into_response())
}

impl FloorStream {
    /// Returns the next chunk of the stream; `None` ends it.
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        loop {
            if !self.standing.holds() || Instant::now() >= self.ends_at {
                return None;
            }
            let piece = self.piece();
            if !piece.is_empty() {
                self.silent_since = Instant::now();
                return Some((Ok(piece.into()), self));
            }
            if self.silent_since.elapsed() >= HEARTBEAT_AFTER {
                self.silent_since = Instant::now();
                return Some((Ok(HEARTBEAT_LINE), self));
            }
            tokio::select! {
                biased; // the end of the right before another look
                () = self.standing.again() => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    /// Returns the changes that the page does not have yet, as server-sent events; empty if nothing changed.
    fn piece(&mut self) -> String {
        let mut text = if self.begun { String::new() } else { RETRY_LINE.to_owned() };
        let view = self.board.view();
        let mut states_changed = false;
        // Parts come before the order that names them.
        for parts in view.printers.values() {
            // By itself too: pages without the card show it.
            if parts.state.version > self.version {
                self.write(&mut text, &parts.state.id, parts.state.version, &parts.state.html);
                states_changed |= self.begun;
            }
            if parts.card.version > self.version {
                self.write(&mut text, &parts.card.id, parts.card.version, &parts.whole());
            } else if parts.gauge.version > self.version {
                self.write(&mut text, &parts.gauge.id, parts.gauge.version, &parts.gauge.html);
            }
        }
        if view.summary.version > self.version {
            self.write(&mut text, &view.summary.id, view.summary.version, &view.summary.html);
        }
        if view.order_version > self.version {
            let ids: Vec<String> = view.order.iter().map(|id| card_id(*id)).collect();
            let _ = write!(text, "event: order\ndata: {}\n\n", json!({"ids": ids}));
        }
        if view.version > self.version && !text.is_empty() {
            let _ = write!(text, "id: {}\nevent: at\ndata: {{}}\n\n", view.version);
        }
        self.version = self.version.max(view.version);
        let last = *self.last.borrow();
        let waited = self.told_at.is_none_or(|at| at.elapsed() >= FRESH_EVERY);
        let stock_changed = view.stock_commits != std::mem::replace(&mut self.stock_commits, view.stock_commits);
        // What a printer does by itself and most bookings in the stock are no events of the shop, and what pages show and
        // offer changes all the same.
        self.stale |= last != self.told_last || states_changed || stock_changed || !self.begun;
        if waited && self.stale {
            self.stale = false;
            (self.told_last, self.told_at) = (last, Some(Instant::now()));
            text.push_str("event: fresh\ndata: {}\n\n");
        }
        self.begun = true;
        text
    }

    fn write(&self, text: &mut String, id: &str, version: i64, html: &str) {
        // JSON in one piece has no line breaks.
        let part = json!({"id": id, "v": version, "html": self.viewer.own(html)});
        let _ = write!(text, "event: part\ndata: {part}\n\n");
    }
}
