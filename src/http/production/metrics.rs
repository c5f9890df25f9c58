//! The numbers of the shop for monitoring, in the text format of `OpenMetrics`. Labels are words of ours and never ids, so
//! that there are no more of them the more the shop does.
//!
//! Counting happens elsewhere, in atomics; here the numbers are only gathered and named. One more is one more line in
//! `gathered`, or one more function like those below it.

mod page;
mod tallies;

pub use page::{Kind, Page};
pub use tallies::Tallies;

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::header;
use serde::Serialize;
use serde_json::json;

use super::health;
use crate::domain::aggregate::Versioned;
use crate::domain::kept_payment_event::KeptPaymentEvent;
use crate::domain::mail::MailState;
use crate::domain::principal::Role;
use crate::http::AppState;
use crate::http::access::RequiredAccess;
use crate::http::error::ApiError;
use crate::http::reply::{Media, MediaType};
use crate::http::routes::ResourceRoutes;

const MEDIA: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Of a family that has one sample only.
const NONE: [(&str, &str); 0] = [];

/// The route of metrics: for operators, and for everybody when the settings say so (`metrics.public`).
pub fn routes(public: bool) -> ResourceRoutes {
    let access = if public { RequiredAccess::Open } else { RequiredAccess::Role(Role::Operator) };
    ResourceRoutes::new(health::TAG, health::ABOUT, "actor").get(access, "/metrics", show, |op| {
        op.named("getMetrics", "Show the server's numbers")
            .about("As OpenMetrics, for Prometheus. Open to everybody where the settings say so.")
    })
}

/// The text format of `OpenMetrics`.
struct OpenMetrics;

impl MediaType for OpenMetrics {
    const MEDIA: &'static str = "application/openmetrics-text";
    const EXAMPLE: Option<&'static str> = Some("# TYPE printfloor_orders gauge\n# EOF\n");
}

async fn show(State(app): State<AppState>) -> Result<Media<OpenMetrics>, ApiError> {
    let text = gathered(&app).await.text().map_err(ApiError::internal)?;
    Ok(Media::new(([(header::CONTENT_TYPE, MEDIA)], text)))
}

async fn gathered(app: &AppState) -> Page {
    let mut page = Page::default();
    page.gauge("info", "The version that runs", [([("version", env!("CARGO_PKG_VERSION"))], 1)]);
    requests(app, &mut page);
    edge(app, &mut page);
    redis(app, &mut page);
    commits(app, &mut page);
    actors(app, &mut page);
    floor(app, &mut page);
    events(app, &mut page);
    work(app, &mut page).await;
    page
}

/// Requests by route.
fn requests(app: &AppState, page: &mut Page) {
    let routes = app.meters.all();
    let (mut counts, mut times) = (Vec::new(), Vec::new());
    for route in routes.iter().filter(|route| route.by_status().next().is_some()) {
        for (status, count) in route.by_status() {
            let status = if status == 0 { "other".to_owned() } else { status.to_string() };
            counts.push((
                vec![("method", route.method.to_owned()), ("route", route.path.clone()), ("status", status)],
                count,
            ));
        }
        let time = route.time.counted();
        if time.count > 0 {
            times.push((vec![("method", route.method.to_owned()), ("route", route.path.clone())], time));
        }
    }
    page.counter("http_requests", "Requests answered", counts);
    page.histogram("http_request_seconds", "From the head of a request to the head of its answer", times);
    page.counter(
        "refused_attempts",
        "Requests refused for who asked or what state things were in",
        [(NONE, app.refusals.all.get())],
    );
}

/// What the server took in, and what it would not.
fn edge(app: &AppState, page: &mut Page) {
    let load = &app.admission;
    page.gauge("http_connections", "Connections that are open", [(NONE, load.connections() as i64)]);
    page.gauge("http_requests_under_way", "Requests worked on", [(NONE, load.requests() as i64)]);
    page.counter("http_overloaded", "Requests refused because too many were under way", [(NONE, load.overloaded())]);
    page.counter("http_turned_away", "Connections closed unheard", [(NONE, load.turned_away())]);
    let refused = app.limits.refused().map(|(named, many)| (named.word(), many));
    page.counter("rate_limited", "Requests refused because their caller asked too often", labelled("window", refused));
    page.gauge("rate_windows", "Windows of callers in memory", [(NONE, app.limits.held() as i64)]);
}

/// Redis, where there is one.
fn redis(app: &AppState, page: &mut Page) {
    let Some(redis) = &app.redis else { return };
    page.gauge("redis_up", "Whether Redis answers", [(NONE, i64::from(redis.is_up()))]);
    page.counter("redis_losses", "How often Redis was lost", [(NONE, redis.losses())]);
    page.counter("redis_failures", "Questions that Redis did not answer", [(NONE, redis.failures())]);
    let behind = (*app.outbox.last().borrow() - redis.streamed()).max(0);
    page.gauge("redis_stream_lag", "Events that are not in the Redis stream yet", [(NONE, behind)]);
}

/// The writer's transactions.
fn commits(app: &AppState, page: &mut Page) {
    let (writer, meter) = (&app.writer, &app.writer.meter);
    let away = writer.unavailable();
    page.gauge("database_up", "Whether the database takes writes", [(NONE, i64::from(away.is_none()))]);
    let transactions = writer.transactions.load(std::sync::atomic::Ordering::Relaxed);
    page.counter("transactions", "Transactions on disk", [(NONE, transactions)]);
    page.counter("commits", "Commits of things by what became of them", labelled("result", meter.by_result()));
    page.histogram("transaction_seconds", "How long transactions took", [(NONE, meter.took.counted())]);
    page.histogram("transaction_things", "Aggregates in a transaction", [(NONE, meter.aggregates.counted())]);
    page.histogram("transaction_commands", "Commands in a transaction", [(NONE, meter.commands.counted())]);
    page.histogram("transaction_rows", "Rows in a transaction", [(NONE, meter.rows.counted())]);
}

/// Directory in memory, and what they are made of.
fn actors(app: &AppState, page: &mut Page) {
    let all = app.directories.summaries();
    let places = all.iter().flat_map(|seen| {
        let of = |(place, count): (&&'static str, &u64)| ([("kind", seen.kind), ("place", *place)], *count as i64);
        seen.statuses.iter().map(of).collect::<Vec<_>>()
    });
    page.gauge("actors", "Directory in memory by kind and place", places);
    let by_kind = |number: fn(&crate::actors::kernel::directory::KindSummary) -> u64| {
        all.iter().map(move |seen| ([("kind", seen.kind)], number(seen))).collect::<Vec<_>>()
    };
    page.counter("actor_restarts", "Falls of things by kind", by_kind(|seen| seen.crashes));
    page.counter("commands_overloaded", "Commands refused because too many waited", by_kind(|seen| seen.overloaded));
    let waiting = all.iter().map(|seen| ([("kind", seen.kind)], seen.waiting as i64));
    page.gauge("commands_waiting", "Commands that wait or are under way", waiting);
    let components = app.components.all();
    page.gauge(
        "component_up",
        "Whether a component stands",
        components.iter().map(|(name, one)| ([("component", *name)], i64::from(one.up))),
    );
    page.counter(
        "component_restarts",
        "Falls of components",
        components.iter().map(|(name, one)| ([("component", *name)], one.crashes)),
    );
}

/// Printers and mails, which are all in memory.
fn floor(app: &AppState, page: &mut Page) {
    let (mut states, mut connections, mut attention) = (BTreeMap::new(), BTreeMap::new(), 0);
    for (id, seen) in app.printers.all_resident() {
        let Some(printer) = seen.state.as_ref().filter(|printer| !printer.archived) else { continue };
        let connection = app.printer_connections.status(id).map(|status| status.connection).unwrap_or_default();
        *states.entry(word(&printer.activity)).or_insert(0) += 1;
        *connections.entry(word(&connection)).or_insert(0) += 1;
        attention += i64::from(!printer.attention().is_empty());
    }
    page.gauge("printers", "Printers by what they do", labelled("state", states));
    page.gauge("printer_connections", "Printers by how they are reached", labelled("connection", connections));
    page.gauge("printers_attention", "Printers that wait for somebody", [(NONE, attention)]);
    let mails = app.mails.all_resident();
    let queued = |mail: &crate::domain::mail::Mail| mail.state == MailState::Queued;
    let queued = mails.iter().filter(|(_, seen)| seen.state.as_ref().is_some_and(queued)).count();
    let waits = |seen: &Versioned<KeptPaymentEvent>| seen.state.as_ref().is_some_and(|kept| !kept.done);
    let unmatched = app.inbound.all_resident().iter().filter(|(_, seen)| waits(seen)).count();
    page.gauge("payments_unmatched", "Payment events that match no order yet", [(NONE, unmatched as i64)]);
    page.gauge("mails_pending", "Mails to be sent", [(NONE, queued as i64)]);
}

/// The outbox, who follows it, and what is delivered of it.
fn events(app: &AppState, page: &mut Page) {
    let (outbox, deliveries) = (&app.outbox, &app.deliveries);
    let last = *outbox.last().borrow();
    page.gauge("events_last_seq", "Number of the last event", [(NONE, last)]);
    let kinds = ["endpoint", "stream"].map(|kind| (kind, outbox.followers.of(kind, last)));
    let many = kinds.map(|(kind, (many, _))| ([("kind", kind)], many as i64));
    page.gauge("event_followers", "Caller follows the events", many);
    page.gauge(
        "event_lag",
        "Events that the slowest follower has not read",
        kinds.map(|(kind, (_, lag))| ([("kind", kind)], lag)),
    );
    let results = [("delivered", deliveries.delivered.get()), ("failed", deliveries.failed.get())];
    page.counter("webhook_attempts", "Attempts of webhook deliveries by result", labelled("result", results));
    page.histogram("webhook_attempt_seconds", "How long an attempt took", [(NONE, deliveries.took.counted())]);
}

/// What only the database can count; asked now and then, not each time.
async fn work(app: &AppState, page: &mut Page) {
    let Some(tallies) = app.tallies.recent(&app.queries).await else { return };
    page.gauge("orders", "Orders by status", labelled("status", tallies.orders.clone()));
    page.gauge("jobs", "Jobs by state", labelled("state", tallies.jobs.clone()));
    page.gauge(
        "deliveries",
        "Webhook deliveries that have not arrived, by state",
        labelled("state", tallies.deliveries.clone()),
    );
}

/// Samples told apart by one label.
fn labelled<L: Into<String>, N>(
    name: &'static str,
    all: impl IntoIterator<Item = (L, N)>,
) -> Vec<([(&'static str, String); 1], N)> {
    all.into_iter().map(|(label, number)| ([(name, label.into())], number)).collect()
}

/// The word that the API has for it.
fn word(value: &impl Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}
