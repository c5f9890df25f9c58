//! Event stream for the staff pages, one per browser and language. It sends the parts of the floor page that have
//! changed since the version that the page has, in the language of the page. It also sends a notice whenever something
//! has happened in the shop, so that all other pages reload.
//!
//! Streams never query the database, and the parts are rendered once for all streams ([`super::board`]). They have the
//! open tasks counted, beside them and once for all ([`super::task_counter`]).

use std::sync::Arc;
use std::time::Duration;

use api_derive::Request;
use axum::extract::State;
use serde_json::json;
use tokio::time::Instant;

use super::board::{BoardHandles, LOOK_EVERY};
use super::card::card_id;
use super::shell::StaffViewer;
use super::to_do::{ToDoHandles, keep_counted};
use crate::times::fill;
use config::Config;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http::sse::{self, LastEventId, Sse, SseSource};
use http::stream_auth::{StreamHandles, StreamPermission};
use kernel::environment::Environment;
use platform::watch::WatchReceiver;
use store::outbox::Outbox;
use words::Language;

/// Minimum time between two notices that something has happened, because pages query the database after each notice.
const FRESH_EVERY: Duration = Duration::from_secs(1);
/// Delay, in milliseconds, after which a disconnected browser reconnects.
const RECONNECT_MILLIS: u32 = 2000;

handles! {
    /// Dependencies of the event stream.
    pub(crate) struct LiveHandles {
        board: BoardHandles,
        to_do: ToDoHandles,
        outbox: Arc<Outbox>,
        stream: StreamHandles,
        environment: Arc<Environment>,
        config: Arc<Config>,
    }
}

/// Query parameters of the event stream.
#[derive(Request, Debug)]
pub(super) struct LiveQuery {
    /// Version of the floor that the page already has.
    #[api(default = 0)]
    after: i64,
    /// Language of the page, `en` or `de`; anything else is the viewer's.
    language: Option<String>,
}

/// Open event stream for a staff page.
pub(super) struct FloorEventStream {
    standing: StreamPermission,
    viewer: StaffViewer,
    /// Language of the page.
    language: Language,
    environment: Arc<Environment>,
    board: BoardHandles,
    to_do: ToDoHandles,
    /// Number of the shop's latest event.
    last: WatchReceiver<i64>,
    /// Event number of the last notice sent to the page.
    told_last: i64,
    told_at: Option<Instant>,
    /// Number of commits that are hardly events at the last check.
    quiet_commits: i64,
    /// `true` if something has happened about which the page has not been notified yet.
    stale: bool,
    /// Version of the floor that the page already has.
    version: i64,
    begun: bool,
}

/// Opens the event stream.
pub(super) async fn live(
    State(app): State<LiveHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<LiveQuery>,
    LastEventId(last_version): LastEventId,
) -> Result<Sse<FloorEventStream>, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let language = query.language.as_deref().and_then(Language::of_tag).unwrap_or(viewer.language());
    let last = app.outbox.last();
    let told_last = *last.borrow();
    let stream = FloorEventStream {
        standing: StreamPermission::new(app.stream.clone(), who),
        viewer,
        language,
        environment: app.environment.clone(),
        board: app.board.clone(),
        to_do: app.to_do.clone(),
        last,
        told_last,
        // What was missed while the stream was cut off is not known.
        told_at: None,
        quiet_commits: 0,
        stale: false,
        version: query.after.max(last_version.unwrap_or(0)),
        begun: false,
    };
    Ok(Sse::new(stream).retry_after(RECONNECT_MILLIS).for_page())
}

impl SseSource for FloorEventStream {
    fn may_continue(&mut self) -> bool {
        self.standing.holds()
    }

    async fn due(&mut self) -> Option<String> {
        keep_counted(&self.to_do, *self.last.borrow());
        Some(self.changes())
    }

    async fn wait(&mut self) {
        tokio::select! {
            biased; // the end of the right before another look
            () = self.standing.again() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

impl FloorEventStream {
    /// Returns the changes that the page does not have yet, as server-sent events; empty if nothing has changed.
    fn changes(&mut self) -> String {
        let mut text = String::new();
        let view = self.board.view_in(self.language);
        let own = view.parts(self.language);
        let mut states_changed = false;
        // Parts come before the order that names them.
        for parts in own.printers.values() {
            // By itself too: pages without the card show it.
            if parts.state.version > self.version {
                self.write(&mut text, &parts.state.id, parts.state.version, &parts.state.html);
                states_changed |= self.begun;
            }
            if parts.card.version > self.version {
                self.write(&mut text, &parts.card.id, parts.card.version, &parts.whole());
                continue;
            }
            for part in [&parts.gauge, &parts.next].into_iter().filter(|part| part.version > self.version) {
                self.write(&mut text, &part.id, part.version, &part.html);
            }
        }
        let summary = view.summary_part(self.language);
        let shared = [&own.next_free, &own.up_next, &own.next_hours];
        for part in summary.into_iter().chain(shared).filter(|part| part.version > self.version) {
            self.write(&mut text, &part.id, part.version, &part.html);
        }
        if view.order_version > self.version {
            let ids: Vec<String> = view.order.iter().map(|(_, id)| card_id(*id)).collect();
            text.push_str(&sse::event("order", &json!({"ids": ids})));
        }
        if view.version > self.version && !text.is_empty() {
            text.push_str(&sse::numbered_event(view.version, "at", &"{}"));
        }
        self.version = self.version.max(view.version);
        let last = *self.last.borrow();
        let waited = self.told_at.is_none_or(|at| at.elapsed() >= FRESH_EVERY);
        let quietly_changed = view.quiet_commits != std::mem::replace(&mut self.quiet_commits, view.quiet_commits);
        // What a printer does by itself, most bookings in the stock and undelivered emails are no events of the shop,
        // and what pages show and offer changes all the same.
        self.stale |= last != self.told_last || states_changed || quietly_changed || !self.begun;
        if waited && self.stale {
            self.stale = false;
            (self.told_last, self.told_at) = (last, Some(Instant::now()));
            text.push_str(&sse::event("fresh", &"{}"));
        }
        self.begun = true;
        text
    }

    fn write(&self, text: &mut String, id: &str, version: i64, html: &str) {
        let html = fill(&self.viewer.own(html), &self.environment.rules.clock, self.environment.now());
        text.push_str(&sse::event("part", &json!({"id": id, "v": version, "html": html})));
    }
}
