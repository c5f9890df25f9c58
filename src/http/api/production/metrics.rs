//! Metrics for monitoring, in the text formats of Prometheus and `OpenMetrics`. Label values are from a fixed set and
//! never IDs, so their number does not grow with the shop's activity.
//!
//! The values are counted elsewhere, in atomics; this module only collects and names them. To add a metric, add a line
//! to `gathered`, or a function like those below it.

mod tallies;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;
use tokio::time::timeout;

pub use self::tallies::Tallies;
use self::tallies::zeros;
use super::health;
use actors::app::KindsOverview;
use actors::app::customer_space::CustomerSpace;
use actors::endpoints::DeliveryMeter;
use actors::integrations::Integrations;
use domain::endpoint::Endpoint;
use domain::kept_payment_event::KeptPaymentEvent;
use domain::mail::{Mail, MailState};
use domain::material::Material;
use domain::principal::Role;
use domain::printer::Printer;
use domain::printer_status::{Activity, Connection};
use http::access::RequiredAccess;
use http::admission::Admission;
use http::audit_sampling::RefusalSampler;
use http::error::ApiError;
use http::handler::Reply;
use http::handles::handles;
use http::limits::RateLimiter;
use http::meter::RouteMeters;
use http::metrics_page::MetricsPage;
use http::operation::{DescribedContent, DescribedOperation};
use http::routes::ResourceRoutes;
use http::wire::Components;
use kernel::directory::Directory;
use kernel::root;
use platform::observe::process::ProcessNumbers;
use printers::connections::PrinterConnections;
use services::redis::Redis;
use store::outbox::Outbox;
use store::queries::Queries;
use store::writer::WriterCounters;

const OPEN_METRICS: &str = "application/openmetrics-text";
const PROMETHEUS: &str = "text/plain";
/// Empty label set, for a family with a single sample.
const NONE: [(&str, &str); 0] = [];

handles! {
    /// Dependencies of the metrics route.
    pub struct MetricsHandles {
        meters: Arc<RouteMeters>,
        refusals: Arc<RefusalSampler>,
        admission: Arc<Admission>,
        limits: Arc<RateLimiter>,
        redis: Option<Arc<Redis>>,
        outbox: Arc<Outbox>,
        writer: Arc<WriterCounters>,
        kinds: KindsOverview,
        printers: Directory<Printer>,
        mails: Directory<Mail>,
        materials: Directory<Material>,
        endpoints: Directory<Endpoint>,
        payment_events: Directory<KeptPaymentEvent>,
        components: root::HealthRegistry,
        printer_connections: Arc<PrinterConnections>,
        deliveries: Arc<DeliveryMeter>,
        integrations: Arc<Integrations>,
        tallies: Arc<Tallies>,
        queries: Queries,
        space: Arc<CustomerSpace>,
    }
}

/// Returns the metrics route, which is open to operators, or to everyone if the setting `metrics.public` is on.
pub fn routes(public: bool) -> ResourceRoutes {
    let access = if public { RequiredAccess::Open } else { RequiredAccess::Role(Role::Operator) };
    ResourceRoutes::new(health::TAG, health::ABOUT, "actor").get(access, "/metrics", show, |op| {
        op.named("getMetrics", "Retrieve metrics").about(
            "Returns metrics in the Prometheus text format, or as OpenMetrics if `Accept` requests it. Public if the \
             settings allow it.",
        )
    })
}

/// Metrics, rendered in one of the two text formats.
struct MetricNumbers {
    text: String,
    open_metrics: bool,
}

impl IntoResponse for MetricNumbers {
    fn into_response(self) -> Response {
        let media = if self.open_metrics {
            "application/openmetrics-text; version=1.0.0; charset=utf-8"
        } else {
            "text/plain; version=0.0.4; charset=utf-8"
        };
        ([(header::CONTENT_TYPE, media), (header::VARY, "Accept")], self.text).into_response()
    }
}

impl Reply for MetricNumbers {
    fn describe(operation: &mut DescribedOperation, _: &mut Components) {
        operation.answer = (
            200,
            DescribedContent::Texts(&[
                (PROMETHEUS, "# TYPE printfloor_orders gauge\n"),
                (OPEN_METRICS, "# TYPE printfloor_orders gauge\n# EOF\n"),
            ]),
        );
    }
}

async fn show(State(app): State<MetricsHandles>, headers: HeaderMap) -> Result<MetricNumbers, ApiError> {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let open_metrics = accepted.flat_map(|value| value.split(',')).any(|one| one.trim().starts_with(OPEN_METRICS));
    let page = gathered(&app).await;
    let text = if open_metrics { page.open_metrics() } else { page.prometheus() };
    Ok(MetricNumbers { text: text.map_err(ApiError::internal)?, open_metrics })
}

async fn gathered(app: &MetricsHandles) -> MetricsPage {
    let mut page = MetricsPage::default();
    page.gauge("info", "Version of the running server", [([("version", env!("CARGO_PKG_VERSION"))], 1)]);
    requests(app, &mut page);
    edge(app, &mut page);
    redis(app, &mut page);
    commits(app, &mut page);
    actors(app, &mut page);
    floor(app, &mut page);
    let damaged = app.queries.damaged().count() as i64;
    page.gauge("damaged_rows", "Unreadable rows, which are missing from lists", [(NONE, damaged)]);
    events(app, &mut page);
    integrations(&app.integrations, &mut page);
    files(&app.space, &mut page).await;
    work(app, &mut page).await;
    let numbers = tokio::task::spawn_blocking(ProcessNumbers::read).await.unwrap_or_default();
    process(&numbers, &mut page);
    page
}

/// Maximum time to wait for the database to report how much disk space customers' files use.
const MAX_SPACE_WAIT: Duration = Duration::from_secs(2);

/// Adds the disk usage of customers' files that the shop has not processed yet. Adds nothing if the database does not
/// respond in time.
async fn files(space: &CustomerSpace, page: &mut MetricsPage) {
    let Ok(Ok(space)) = timeout(MAX_SPACE_WAIT, space.summary()).await else { return };
    let bytes = |bytes: u64| (NONE, i64::try_from(bytes).unwrap_or(i64::MAX));
    let help = "Bytes of customers' files not handled yet: models, their G-code and photos";
    page.gauge("unclaimed_file_bytes", help, [bytes(space.stored.unclaimed_bytes)]);
    let help = "Limit on the bytes of customers' files not handled yet; 0 means no limit";
    page.gauge("unclaimed_file_bytes_limit", help, [bytes(space.limits.unclaimed_max_bytes)]);
    page.gauge("disk_free_bytes", "Free bytes on the disk with the files", space.stored.free_bytes.map(bytes));
    let refused = i64::from(space.refusal.is_some());
    page.gauge(
        "customer_uploads_refused",
        "1 if uploads from customers are rejected for lack of space",
        [(NONE, refused)],
    );
}

/// Adds the metrics for the integrations that are in use.
fn integrations(all: &Integrations, page: &mut MetricsPage) {
    let label = |name: &'static str| ("integration", name);
    let up = all.lines().map(|(name, line)| ([label(name)], i64::from(line.state().failures == 0)));
    page.gauge("integration_up", "1 if the last call of the integration succeeded and its response was usable", up);
    let calls = all.lines().flat_map(|(name, line)| {
        let meter = &line.meter;
        [("done", &meter.done), ("failed", &meter.failed), ("withheld", &meter.withheld)]
            .map(|(outcome, count)| ([label(name), ("outcome", outcome)], count.get()))
    });
    page.counter(
        "integration_calls",
        "Calls by integrations, by outcome; withheld while the circuit breaker is open",
        calls,
    );
    let took = all.lines().map(|(name, line)| ([label(name)], line.meter.took.counted()));
    page.histogram("integration_call_seconds", "Duration of calls by integrations", took);
    let crashes = all.lines().map(|(name, line)| ([label(name)], line.meter.crashes.get()));
    page.counter("integration_crashes", "Panics in integrations", crashes);
}

/// Adds the process metrics under their conventional names, without the prefix.
fn process(numbers: &ProcessNumbers, page: &mut MetricsPage) {
    let whole = |number: Option<u64>| number.map(|number| (NONE, number as i64));
    page.plain_counter("process_cpu_seconds", "Processor time used, in seconds", numbers.cpu_seconds);
    page.plain("process_resident_memory_bytes", "Resident memory in bytes", whole(numbers.resident_bytes));
    page.plain("process_virtual_memory_bytes", "Virtual memory in bytes", whole(numbers.virtual_bytes));
    page.plain("process_open_fds", "Open file descriptors", whole(numbers.open_fds));
    page.plain("process_max_fds", "Maximum number of open file descriptors", whole(numbers.max_fds));
    page.plain("process_threads", "Threads of the process", whole(numbers.threads));
    let started = numbers.started_at.map(|seconds| (NONE, seconds as i64));
    page.plain("process_start_time_seconds", "Start time of the process, in seconds since 1970", started);
}

/// Adds the number of requests by route, method and status.
fn requests(app: &MetricsHandles, page: &mut MetricsPage) {
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
        let time = route.time();
        if time.count > 0 {
            times.push((vec![("method", route.method.to_owned()), ("route", route.path.clone())], time));
        }
    }
    page.counter("http_requests", "Responses to requests", counts);
    page.histogram("http_request_seconds", "Time from the headers of a request to the headers of its response", times);
    page.counter(
        "refused_attempts",
        "Requests rejected because of the caller's permissions or the state of the resource",
        [(NONE, app.refusals.all.get())],
    );
}

/// Adds the number of connections and requests that the server accepted or rejected.
fn edge(app: &MetricsHandles, page: &mut MetricsPage) {
    let load = &app.admission;
    page.gauge("http_connections", "Open connections", [(NONE, load.connections() as i64)]);
    page.gauge("http_requests_under_way", "Requests in progress", [(NONE, load.requests() as i64)]);
    page.counter("http_overloaded", "Requests rejected because too many were in progress", [(NONE, load.overloaded())]);
    page.counter("http_turned_away", "Connections closed before a request was read", [(NONE, load.turned_away())]);
    let refused = app.limits.refused().map(|(named, many)| (named.word(), many));
    page.counter("rate_limited", "Requests rejected by rate limits", labelled("window", refused));
    let sessions = app.limits.sessions_looked_up();
    let help = "Customer sessions looked up in the database before their request was counted";
    page.counter("customer_session_lookups", help, [(NONE, sessions)]);
    page.gauge("rate_windows", "Rate limit windows in memory", [(NONE, app.limits.held() as i64)]);
}

/// Adds the Redis metrics, if Redis is configured.
fn redis(app: &MetricsHandles, page: &mut MetricsPage) {
    let Some(redis) = &app.redis else { return };
    page.gauge("redis_up", "1 if Redis responds", [(NONE, i64::from(redis.is_up()))]);
    page.counter("redis_losses", "Number of lost connections to Redis", [(NONE, redis.losses())]);
    page.counter("redis_failures", "Commands to which Redis did not respond in time", [(NONE, redis.failures())]);
    let behind = (*app.outbox.last().borrow() - redis.streamed()).max(0);
    page.gauge("redis_stream_lag", "Events not yet in the Redis stream", [(NONE, behind)]);
}

/// Adds the number of transactions performed by the writer, and of the commits in them.
fn commits(app: &MetricsHandles, page: &mut MetricsPage) {
    let (writer, meter) = (&app.writer, &app.writer.meter);
    let unavailable = writer.unavailable();
    page.gauge("database_up", "1 if the database accepts writes", [(NONE, i64::from(unavailable.is_none()))]);
    let transactions = writer.transactions.load(std::sync::atomic::Ordering::Relaxed);
    page.counter("transactions", "Durable transactions", [(NONE, transactions)]);
    page.counter("commits", "Commits of aggregates, by result", labelled("result", meter.by_result()));
    page.histogram("transaction_seconds", "Duration of transactions", [(NONE, meter.took.counted())]);
    page.histogram("transaction_aggregates", "Aggregates in a transaction", [(NONE, meter.aggregates.counted())]);
    page.histogram("transaction_commands", "Commands in a transaction", [(NONE, meter.commands.counted())]);
    page.histogram("transaction_rows", "Rows in a transaction", [(NONE, meter.rows.counted())]);
}

/// Adds the metrics for the aggregates in memory and the components that run them.
fn actors(app: &MetricsHandles, page: &mut MetricsPage) {
    let all = app.kinds.summaries();
    let statuses = all.iter().flat_map(|summary| {
        let of =
            |(status, count): (&&'static str, &u64)| ([("kind", summary.kind), ("status", *status)], *count as i64);
        summary.statuses.iter().map(of).collect::<Vec<_>>()
    });
    page.gauge("actors", "Aggregates in memory by kind and status", statuses);
    let by_kind = |number: fn(&kernel::directory::KindSummary) -> u64| {
        all.iter().map(move |summary| ([("kind", summary.kind)], number(summary))).collect::<Vec<_>>()
    };
    page.counter("actor_restarts", "Crashes of actors by kind", by_kind(|summary| summary.crashes));
    page.counter(
        "commands_overloaded",
        "Commands rejected because too many were queued",
        by_kind(|summary| summary.overloaded),
    );
    let waiting = all.iter().map(|summary| ([("kind", summary.kind)], summary.waiting as i64));
    page.gauge("commands_waiting", "Commands queued or in progress", waiting);
    let components = app.components.all();
    page.gauge(
        "component_up",
        "1 if the component is running",
        components.iter().map(|(name, one)| ([("component", *name)], i64::from(one.up))),
    );
    page.counter(
        "component_restarts",
        "Crashes of components",
        components.iter().map(|(name, one)| ([("component", *name)], one.crashes)),
    );
}

/// Adds the metrics for printers, stock, webhook endpoints, unmatched payments and emails, all of which are held in
/// memory.
fn floor(app: &MetricsHandles, page: &mut MetricsPage) {
    let (mut states, mut connections, mut attention) = (zeros::<Activity>(), zeros::<Connection>(), 0);
    for (id, versioned) in app.printers.all_resident() {
        let Some(printer) = versioned.present() else { continue };
        let connection = app.printer_connections.status(id).map(|status| status.connection).unwrap_or_default();
        *states.entry(word(&printer.activity)).or_insert(0) += 1;
        *connections.entry(word(&connection)).or_insert(0) += 1;
        attention += i64::from(!printer.attention().is_empty());
    }
    page.gauge("printers", "Printers by activity", labelled("state", states));
    page.gauge("printer_connections", "Printers by connection status", labelled("connection", connections));
    page.gauge("printers_attention", "Printers that need attention", [(NONE, attention)]);
    let mails = app.mails.all_resident();
    let queued = |mail: &Mail| mail.state == MailState::Queued;
    let queued = mails.iter().filter(|(_, versioned)| versioned.state.as_ref().is_some_and(queued)).count();
    page.gauge("mails_pending", "Queued emails", [(NONE, queued as i64)]);
    let stock = app.materials.all_resident();
    let is_low = |material: &&Material| !material.archived && material.available() < material.fields.reorder_point;
    let low = stock.iter().filter_map(|(_, versioned)| versioned.state.as_ref()).filter(is_low).count();
    page.gauge("materials_low", "Materials below their reorder point", [(NONE, low as i64)]);
    let mut endpoints = BTreeMap::from([("active".to_owned(), 0), ("disabled".to_owned(), 0)]);
    for (_, versioned) in app.endpoints.all_resident() {
        let Some(endpoint) = versioned.present() else { continue };
        *endpoints.entry(word(&endpoint.state)).or_insert(0) += 1;
    }
    page.gauge("webhook_endpoints", "Webhook endpoints by state", labelled("state", endpoints));
    let payment_events = app.payment_events.all_resident();
    let unmatched = payment_events
        .iter()
        .filter(|(_, versioned)| versioned.state.as_ref().is_some_and(|event| !event.done))
        .count();
    page.gauge("payments_unmatched", "Payment events that do not match any order", [(NONE, unmatched as i64)]);
}

/// Adds the metrics for the outbox, its followers and its deliveries.
fn events(app: &MetricsHandles, page: &mut MetricsPage) {
    let (outbox, deliveries) = (&app.outbox, &app.deliveries);
    let last = *outbox.last().borrow();
    page.gauge("events_last_seq", "Sequence number of the last event", [(NONE, last)]);
    let kinds = ["endpoint", "stream"].map(|kind| (kind, outbox.followers.of(kind, last)));
    let many = kinds.map(|(kind, (many, _))| ([("kind", kind)], many as i64));
    page.gauge("event_followers", "Followers of the event log by kind", many);
    page.gauge(
        "event_lag",
        "Events not yet read by the slowest follower",
        kinds.map(|(kind, (_, lag))| ([("kind", kind)], lag)),
    );
    let results = [("delivered", deliveries.delivered.get()), ("failed", deliveries.failed.get())];
    page.counter("webhook_attempts", "Webhook delivery attempts, by result", labelled("result", results));
    page.histogram("webhook_attempt_seconds", "Duration of delivery attempts", [(NONE, deliveries.took.counted())]);
}

/// Adds the counts that only the database can provide. They are cached and not queried on every request.
async fn work(app: &MetricsHandles, page: &mut MetricsPage) {
    let Some(tallies) = app.tallies.recent(&app.queries).await else { return };
    page.gauge("orders", "Orders by status", labelled("status", tallies.orders.clone()));
    page.gauge("orders_flagged", "Orders that need review, by flag", labelled("flag", tallies.flags.clone()));
    page.gauge("jobs", "Jobs by state", labelled("state", tallies.jobs.clone()));
    page.gauge("deliveries", "Undelivered webhook deliveries by state", labelled("state", tallies.deliveries.clone()));
}

/// Returns samples that differ only in the value of a single label.
fn labelled<L: Into<String>, N>(
    name: &'static str,
    all: impl IntoIterator<Item = (L, N)>,
) -> Vec<([(&'static str, String); 1], N)> {
    all.into_iter().map(|(label, number)| ([(name, label.into())], number)).collect()
}

/// Returns the API name of an enumeration value.
fn word(value: &impl Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}
