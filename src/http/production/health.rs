//! Whether the server lives, whether it can work, and how its actors fare.

mod cache;
mod degraded;
mod report;

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
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::actors::checkouts::Checkouts;
use crate::actors::kernel::entry::ActorSummary;
use crate::actors::kernel::root;
use crate::actors::restores::DispatchHold;
use crate::actors::slicing::Slicing;
use crate::app::KindsOverview;
use crate::app::customer_space::CustomerSpace;
use crate::domain::id::Id;
use crate::domain::principal::Role;
use crate::http::access::{AccessHandles, Credentials, RequiredAccess};
use crate::http::error::ApiError;
use crate::http::handles::handles;
use crate::http::openapi::operation::DescribedOperation;
use crate::http::reply::Plain;
use crate::http::routes::ResourceRoutes;
use crate::http::wire::{Components, Reply, ToSchema, enumeration, schema_of};
use crate::integrations::Integrations;
use crate::services::redis::Redis;
use crate::store::Unavailable;
use crate::store::queries::Queries;
use crate::store::writer::WriterCounters;

pub use self::cache::ReadinessCache;
use self::degraded::degraded;
pub(crate) use self::report::{SystemReport, system_report};

/// The readiness check waits no longer than this for the database.
const MAX_DATABASE_WAIT: Duration = Duration::from_secs(2);
/// Heading of the operations on the server itself.
pub const TAG: &str = "System";
/// What the heading says.
pub const ABOUT: &str = "Health, the server's own actors and numbers, this description.";
const READY: &str = "The database takes writes and answers reads, and every component stands. Reads, streams and emergency stop go on \
     when they do not. What is wrong and stops nobody is said under `degraded`.";

/// What strangers are told of what is wrong and stops nobody.
const UNTOLD_TROUBLE: &str = "something is wrong that stops nobody; operators can read what";

handles! {
    /// What the routes of health use.
    pub(crate) struct HealthHandles {
        writer: Arc<WriterCounters>,
        queries: Queries,
        components: root::Components,
        kinds: KindsOverview,
        redis: Option<Arc<Redis>>,
        slicing: Arc<Slicing>,
        checkouts: Checkouts,
        integrations: Arc<Integrations>,
        hold: DispatchHold,
        leaving: CancellationToken,
        access: AccessHandles,
        readiness: Arc<ReadinessCache>,
        space: Arc<CustomerSpace>,
    }
}

/// The routes of health.
pub fn routes() -> ResourceRoutes {
    let (open, operator) = (RequiredAccess::Open, RequiredAccess::Role(Role::Operator));
    ResourceRoutes::new(TAG, ABOUT, "actor")
        .get(operator, "/api/system/actors", actors, |op| op.named("listActors", "Show how each actor in memory fares"))
        .get(open, "/healthz", alive, |op| op.named("healthz", "Is the process alive?"))
        .get(open, "/readyz", ready, |op| op.named("readyz", "Does the whole server work?").about(READY))
}

/// What the process answers as long as it lives.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Alive", example = json!({"status": "ok"}))]
struct Alive {
    /// Always `ok`: a process that answers is alive.
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
}

/// Whether the database takes writes and answers reads.
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
    /// Whether the database takes writes; `unavailable` while it does not answer.
    DatabaseStatus,
    /// Whether Redis answers; `unavailable` while it does not.
    RedisStatus,
    /// Whether a component runs; `parked` is out of service after repeated crashes and tried again slowly.
    ComponentState,
}

/// How a component of the server fares. Why one crashed is for the log and for `/metrics`, not for everybody.
#[derive(Response, Serialize, Clone)]
#[serde(rename_all = "camelCase")]
#[api(name = "ComponentStatus", example = json!({"state": "up", "crashes": 0}))]
struct ComponentStatus {
    /// `up`, `parked` (out of service, tried again slowly) or `down`.
    state: ComponentState,
    /// How often it crashed.
    crashes: u64,
}

/// What readiness depends on.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "ReadinessFacts")]
struct Facts {
    /// Whether the database takes writes and answers reads.
    database: DatabaseStatus,
    /// Whether Redis answers; absent where none is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    redis: Option<RedisStatus>,
    /// Each component of the server; told to operators only, empty for others.
    components: BTreeMap<&'static str, ComponentStatus>,
    /// In plain words, what is wrong and stops nobody. Only operators are told what; others get one sentence.
    degraded: Vec<String>,
}

/// What the server answers while it can work.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Readiness", example = json!({
    "status": "ready", "database": "ok", "components": {"writer": ComponentStatus::example()}, "degraded": [],
}))]
struct Readiness {
    /// `degraded` if something is wrong that stops nobody, else `ready`.
    status: ReadyStatus,
    #[serde(flatten)]
    facts: Facts,
}

/// What the server answers while it cannot work: an error with the same facts.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Unreadiness", example = json!({
    "status": "unavailable", "success": false, "message": "the database does not answer", "code": "unavailable",
    "database": "unavailable", "components": {"writer": ComponentStatus::example()}, "degraded": [],
}))]
struct Unreadiness {
    /// Always `unavailable`, the opposite of `ready`.
    status: UnreadyStatus,
    /// Always `false`, as in every error.
    success: bool,
    /// What is wrong, in plain words for people.
    message: String,
    /// A word for programs, which stays the same in later versions.
    code: String,
    #[serde(flatten)]
    facts: Facts,
}

/// 200 when the server can work, else the error with its facts.
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
        let when = "It cannot work: an error with the same facts.";
        operation.others.push((503, when, schema_of::<Unreadiness>(), Unreadiness::example()));
    }
}

/// How an actor in memory fares.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Actor", example = json!({
    "kind": "order", "id": "01890a5d-ac96-774b-bcce-b302099a8065", "status": "running", "generation": 1, "restarts": 0,
    "waiting": 0, "lastError": null,
}))]
struct ActorView {
    /// `order`, `material`, `printer`, ...
    kind: &'static str,
    /// Id of the aggregate.
    id: Id,
    /// `starting`, `running`, `resting`, `parked`.
    status: &'static str,
    /// How often its actor was started; each start is one generation.
    generation: u64,
    /// How often it crashed.
    restarts: u64,
    /// Commands that wait or are under way.
    waiting: usize,
    /// Why it crashed last.
    last_error: Option<String>,
}

impl From<ActorSummary> for ActorView {
    fn from(actor: ActorSummary) -> Self {
        let ActorSummary { kind, id, status, generation, restarts, waiting, last_error } = actor;
        Self { kind, id, status, generation, restarts, waiting, last_error }
    }
}

/// The aggregates that are in memory.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Actors", example = json!({"actors": [ActorView::example()]}))]
struct Actors {
    /// One entry for each aggregate in memory.
    actors: Vec<ActorView>,
}

async fn alive() -> Result<Plain<Alive>, ApiError> {
    Ok(Plain(Alive { status: AliveStatus::Ok }))
}

async fn ready(State(app): State<HealthHandles>, headers: HeaderMap) -> Result<ReadyReply, ApiError> {
    let judged = app.readiness.recent(Instant::now(), || judge(&app)).await;
    let operator = match Credentials::by(&app.access, &headers) {
        Credentials::Key(Ok(by)) | Credentials::Cookie(Ok((by, _))) => by.role() >= Some(Role::Operator),
        _ => false,
    };
    let Judged { database, redis, components, degraded, fault } = (*judged).clone();
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
    let (message, code) = (if operator { fault.message() } else { "the server cannot work now" }, fault.code());
    let (message, code) = (message.to_owned(), code.to_owned());
    let body = Unreadiness { status: UnreadyStatus::Unavailable, success: false, message, code, facts };
    Ok(ReadyReply::Not(Box::new((fault, body))))
}

/// What was found, for everybody who asks within a second.
#[derive(Clone)]
struct Judged {
    database: DatabaseStatus,
    redis: Option<RedisStatus>,
    components: BTreeMap<&'static str, ComponentStatus>,
    degraded: Vec<String>,
    /// Why the server cannot work.
    fault: Option<ApiError>,
}

async fn judge(app: &HealthHandles) -> Judged {
    let (database, mut fault) = database(app).await;
    let (components, crashed) = components(app);
    if let (None, Some(name)) = (&fault, crashed) {
        fault = Some(ApiError::unavailable("parked", format!("{name} is out of service"), 5));
    }
    if app.leaving.is_cancelled() {
        fault = Some(ApiError::unavailable("shutting_down", "the server is shutting down", 5));
    }
    let redis = app.redis.as_ref().map(|redis| if redis.is_up() { RedisStatus::Ok } else { RedisStatus::Unavailable });
    Judged { database, redis, components, degraded: degraded(app).await, fault }
}

/// The word for the database, and why it is not ready.
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

/// Every component by name, and the first that does not stand.
fn components(app: &HealthHandles) -> (BTreeMap<&'static str, ComponentStatus>, Option<&'static str>) {
    let mut crashed = None;
    let mut shown = BTreeMap::new();
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
        shown.insert(name, ComponentStatus { state, crashes: component.crashes });
    }
    (shown, crashed)
}

async fn actors(State(app): State<HealthHandles>) -> Result<Plain<Actors>, ApiError> {
    let mut all = app.kinds.actors();
    all.sort_by_key(|actor| (actor.kind, actor.id));
    Ok(Plain(Actors { actors: all.into_iter().map(Into::into).collect() }))
}

#[cfg(test)]
mod tests;
