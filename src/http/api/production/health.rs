//! Liveness and readiness of the server, and the state of its actors.

mod cache;
mod degraded;
mod report;
mod standby;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use api_derive::Response;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response as HttpResponse};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use actors::app::backups::schedule::BackupSchedule;
use actors::app::customer_space::CustomerSpace;
use actors::app::{ContentSweep, KindsOverview};
use actors::checkouts::Checkouts;
use actors::integrations::Integrations;
use actors::restores::DispatchHold;
use actors::slicing::SlicingService;
use domain::id::Id;
use domain::principal::Role;
use http::access::{AccessHandles, Credentials, RequiredAccess};
use http::error::ApiError;
use http::handler::Reply;
use http::handles::handles;
use http::openapi::tags;
use http::operation::DescribedOperation;
use http::reply::Plain;
use http::routes::ResourceRoutes;
use http::wire::{Components, ToSchema, enumeration, schema_of};
use kernel::entry::ActorSummary;
use kernel::environment::Environment;
use kernel::root;
use services::redis::Redis;
use store::Unavailable;
use store::queries::Queries;
use store::writer::WriterCounters;

pub use self::cache::ReadinessCache;
use self::degraded::degraded;
pub use self::report::{ServerTrouble, SystemReport, system_report};
use self::standby::LeaderView;
pub use self::standby::{STANDBY_RETRY_SECONDS, standby_error, standby_readiness};

/// Maximum time that the readiness check waits for the database.
const MAX_DATABASE_WAIT: Duration = Duration::from_secs(2);
/// OpenAPI tag of operations on the server itself.
pub const TAG: &str = tags::SYSTEM;
/// OpenAPI description of [`TAG`].
pub const ABOUT: &str = tags::SYSTEM_ABOUT;
const READY: &str = "The server is ready if the database accepts writes and responds to reads, and every component is \
                     running. Even if it is not ready, reads, streams and emergency stops still work. Problems that do \
                     not stop the server are listed under `degraded`.";

/// Text shown to callers who are not operators, instead of the details of degraded operation.
const UNTOLD_TROUBLE: &str = "there is a problem that does not stop the server; operators can see the details";

handles! {
    /// Dependencies of the health routes.
    pub struct HealthHandles {
        environment: Arc<Environment>,
        writer: Arc<WriterCounters>,
        queries: Queries,
        components: root::HealthRegistry,
        kinds: KindsOverview,
        redis: Option<Arc<Redis>>,
        slicing: Arc<SlicingService>,
        checkouts: Checkouts,
        integrations: Arc<Integrations>,
        hold: DispatchHold,
        leaving: CancellationToken,
        access: AccessHandles,
        readiness: Arc<ReadinessCache>,
        space: Arc<CustomerSpace>,
        backup_schedule: Arc<BackupSchedule>,
        content_sweep: Arc<ContentSweep>,
    }
}

/// Returns the health routes.
pub fn routes() -> ResourceRoutes {
    let (open, operator) = (RequiredAccess::Open, RequiredAccess::Role(Role::Operator));
    ResourceRoutes::new(TAG, ABOUT, "actor")
        .get(operator, "/api/system/actors", actors, |op| op.named("listActors", "List actors in memory"))
        .get(open, "/healthz", alive, |op| op.named("healthz", "Liveness check"))
        .get(open, "/readyz", ready, |op| op.named("readyz", "Readiness check").about(READY))
}

/// Response of the liveness check.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Alive", example = json!({"status": "ok"}))]
struct Alive {
    /// Always `ok`: a process that responds is alive.
    status: AliveStatus,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AliveStatus {
    Ok,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReadyStatus {
    Ready,
    Degraded,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum UnreadyStatus {
    Unavailable,
    Standby,
}

/// State of the database: ready for reads and writes, or the reason it is not.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DatabaseStatus {
    Ok,
    Unavailable,
    DiskFull,
    ReadOnly,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RedisStatus {
    Ok,
    Unavailable,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ComponentState {
    Up,
    Parked,
    Down,
}
enumeration!(AliveStatus, ReadyStatus, UnreadyStatus);
enumeration! {
    /// State of the database: `unavailable` while it does not respond.
    DatabaseStatus,
    /// State of Redis: `unavailable` while it does not respond.
    RedisStatus,
    /// State of a component. A `parked` component is out of service after repeated crashes and is restarted at long
    /// intervals.
    ComponentState,
}

/// State of a server component. The reason for a crash appears only in the log and in `/metrics`.
#[derive(Response, Serialize, Clone)]
#[serde(rename_all = "camelCase")]
#[api(name = "ComponentStatus", example = json!({"state": "up", "crashes": 0}))]
struct ComponentStatus {
    /// `up`, `parked` (out of service, restarted at long intervals) or `down`.
    state: ComponentState,
    /// Number of crashes.
    crashes: u64,
}

/// Facts that determine readiness.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "ReadinessFacts")]
struct Facts {
    /// State of the database.
    database: DatabaseStatus,
    /// State of Redis; absent if Redis is not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    redis: Option<RedisStatus>,
    /// State of each server component; empty for callers who are not operators.
    components: BTreeMap<&'static str, ComponentStatus>,
    /// Problems that do not stop the server, in plain language. Callers who are not operators get only a generic
    /// sentence.
    degraded: Vec<String>,
}

/// Response while the server is ready.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Readiness", example = json!({
    "status": "ready", "database": "ok", "components": {"writer": ComponentStatus::example()}, "degraded": [],
}))]
struct Readiness {
    /// `degraded` if there are problems that do not stop the server; otherwise `ready`.
    status: ReadyStatus,
    #[serde(flatten)]
    facts: Facts,
}

/// Response while the server is not ready: an error with the same facts as the response of a ready server.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Unreadiness", example = json!({
    "status": "unavailable", "success": false, "message": "the database does not respond", "code": "unavailable",
    "database": "unavailable", "components": {"writer": ComponentStatus::example()}, "degraded": [],
}))]
struct Unreadiness {
    /// `standby` if the server waits until it takes over from another one; otherwise `unavailable`.
    status: UnreadyStatus,
    /// Always `false`, as in every error.
    success: bool,
    /// Human-readable description of the problem.
    message: String,
    /// Machine-readable error code, stable across versions.
    code: String,
    /// Active server; absent unless this server is on standby.
    #[serde(skip_serializing_if = "Option::is_none")]
    leader: Option<LeaderView>,
    #[serde(flatten)]
    facts: Facts,
}

/// Readiness response: status 200 if the server is ready, otherwise an error with the same facts.
enum ReadyReply {
    Ready(Readiness),
    Not(Box<(ApiError, Unreadiness)>),
}

impl IntoResponse for ReadyReply {
    fn into_response(self) -> HttpResponse {
        let (error, body) = match self {
            Self::Ready(body) => return Plain(body).into_response(),
            Self::Not(both) => *both,
        };
        let mut response = error.into_response();
        *response.body_mut() = Json(body).into_response().into_body();
        response.headers_mut().remove(axum::http::header::CONTENT_LENGTH);
        response
    }
}

impl Reply for ReadyReply {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        <Plain<Readiness> as Reply>::describe(operation, components);
        components.add::<Unreadiness>();
        let when = "Not ready: an error with the same details.";
        operation.others.push((503, when, schema_of::<Unreadiness>(), Unreadiness::example()));
    }
}

/// State of an in-memory actor.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Actor", example = json!({
    "kind": "order", "id": "01890a5d-ac96-774b-bcce-b302099a8065", "status": "running", "generation": 1, "restarts": 0,
    "waiting": 0, "lastError": null,
}))]
struct ActorView {
    /// Kind of aggregate, such as `order`, `material` or `printer`.
    kind: &'static str,
    /// ID of the aggregate.
    id: Id,
    /// `starting`, `running`, `resting` or `parked`.
    status: &'static str,
    /// Number of times the actor has been started.
    generation: u64,
    /// Number of crashes.
    restarts: u64,
    /// Number of commands that are queued or in progress.
    waiting: usize,
    /// Error message of the last crash.
    last_error: Option<String>,
}

impl From<ActorSummary> for ActorView {
    fn from(actor: ActorSummary) -> Self {
        let ActorSummary { kind, id, status, generation, restarts, waiting, last_error } = actor;
        Self { kind, id, status, generation, restarts, waiting, last_error }
    }
}

/// Actors of the aggregates in memory.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Actors", example = json!({"actors": [ActorView::example()]}))]
struct Actors {
    /// Actors, one per aggregate in memory.
    actors: Vec<ActorView>,
}

async fn alive() -> Result<Plain<Alive>, ApiError> {
    Ok(Plain(Alive { status: AliveStatus::Ok }))
}

async fn ready(State(app): State<HealthHandles>, headers: HeaderMap) -> Result<ReadyReply, ApiError> {
    let judged = app.readiness.recent(|| judge(&app)).await;
    let operator = match Credentials::by(&app.access, &headers) {
        Credentials::Key(Ok(by)) => by.role() >= Some(Role::Operator),
        Credentials::Cookie(Ok(signed_in)) => signed_in.by.role() >= Some(Role::Operator),
        _ => false,
    };
    let ReadinessResult { database, redis, components, degraded, fault } = (*judged).clone();
    let status = if degraded.is_empty() { ReadyStatus::Ready } else { ReadyStatus::Degraded };
    let facts = if operator {
        Facts { database, redis, components, degraded }
    } else {
        // Strangers learn whether it works; which components it has is not theirs to know.
        let degraded = if degraded.is_empty() { degraded } else { vec![UNTOLD_TROUBLE.to_owned()] };
        Facts { database, redis: None, components: BTreeMap::new(), degraded }
    };
    let Some(fault) = fault else {
        return Ok(ReadyReply::Ready(Readiness { status, facts }));
    };
    let (message, code) = (if operator { fault.message() } else { "the server is not ready" }, fault.code());
    let (message, code) = (message.to_owned(), code.to_owned());
    let status = UnreadyStatus::Unavailable;
    let body = Unreadiness { status, success: false, message, code, leader: None, facts };
    Ok(ReadyReply::Not(Box::new((fault, body))))
}

/// Result of a readiness check, shared by all requests within a second.
#[derive(Clone)]
struct ReadinessResult {
    database: DatabaseStatus,
    redis: Option<RedisStatus>,
    components: BTreeMap<&'static str, ComponentStatus>,
    degraded: Vec<String>,
    /// Reason the server is not ready; `None` if it is ready.
    fault: Option<ApiError>,
}

async fn judge(app: &HealthHandles) -> ReadinessResult {
    let (database, mut fault) = database(app).await;
    let (components, crashed) = components(app);
    if let (None, Some(name)) = (&fault, crashed) {
        fault = Some(ApiError::unavailable("parked", format!("{name} is out of service"), 5));
    }
    if app.leaving.is_cancelled() {
        fault = Some(ApiError::unavailable("shutting_down", "the server is shutting down", 5));
    }
    let redis = app.redis.as_ref().map(|redis| if redis.is_up() { RedisStatus::Ok } else { RedisStatus::Unavailable });
    ReadinessResult { database, redis, components, degraded: degraded(app).await, fault }
}

/// Checks the database. Returns its status, and an error if it is not ready.
async fn database(app: &HealthHandles) -> (DatabaseStatus, Option<ApiError>) {
    let word = |why: Unavailable| match why {
        Unavailable::Database => DatabaseStatus::Unavailable,
        Unavailable::DiskFull => DatabaseStatus::DiskFull,
        Unavailable::ReadOnly => DatabaseStatus::ReadOnly,
    };
    match app.writer.unavailable() {
        Some(why) => (word(why), Some(why.into())),
        None => match timeout(MAX_DATABASE_WAIT, app.queries.last_seq()).await {
            Ok(Ok(_)) => (DatabaseStatus::Ok, None),
            Ok(Err(error)) => (DatabaseStatus::Unavailable, Some(error.into())),
            Err(_) => (DatabaseStatus::Unavailable, Some(Unavailable::Database.into())),
        },
    }
}

/// Returns the status of every component by name, and the first component that is not up, if any.
fn components(app: &HealthHandles) -> (BTreeMap<&'static str, ComponentStatus>, Option<&'static str>) {
    let mut crashed = None;
    let mut statuses = BTreeMap::new();
    for (name, component) in app.components.all() {
        // Without users and keys nobody can ask anything.
        let users = app.access.access.resident(Id::ONLY);
        let parked = name == "access" && users.is_some_and(|handle| handle.is_parked());
        let state = match (component.up, parked) {
            (false, _) => ComponentState::Down,
            (true, true) => ComponentState::Parked,
            (true, false) => ComponentState::Up,
        };
        if state != ComponentState::Up {
            crashed = crashed.or(Some(name));
        }
        statuses.insert(name, ComponentStatus { state, crashes: component.crashes });
    }
    (statuses, crashed)
}

async fn actors(State(app): State<HealthHandles>) -> Result<Plain<Actors>, ApiError> {
    let mut all = app.kinds.actors();
    all.sort_by_key(|actor| (actor.kind, actor.id));
    Ok(Plain(Actors { actors: all.into_iter().map(Into::into).collect() }))
}
