//! Server status for the staff page: the facts that determine readiness, and every actor.

use super::{ComponentState, ComponentStatus, DatabaseStatus, HealthHandles, RedisStatus, judge};
use kernel::directory::KindSummary;
use kernel::entry::ActorSummary;

/// Maximum number of crashed or parked actors listed individually.
const MAX_ACTORS_NAMED: usize = 50;
/// Status name of an actor that is out of service.
const PARKED_WORD: &str = "parked";

/// Problem with the database, Redis or a component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerTrouble {
    /// It does not respond.
    NoResponse,
    /// The disk of the database is full.
    DiskFull,
    /// The database cannot be written.
    ReadOnly,
    /// The component crashed repeatedly and is restarted at long intervals.
    OutOfService,
    /// The component is down.
    Down,
}

/// Server component.
pub struct ComponentReport {
    /// Name of the component, as in `/readyz`.
    pub name: &'static str,
    /// Problem with it; `None` while the component is up.
    pub trouble: Option<ServerTrouble>,
    /// Number of crashes since the process started.
    pub crashes: u64,
}

/// Status of the whole server.
pub struct SystemReport {
    /// Reason the server is not ready; `None` if it is ready.
    pub fault: Option<String>,
    /// Problem with the database; `None` while it accepts writes and responds to reads.
    pub database_trouble: Option<ServerTrouble>,
    /// `true` if Redis responds; `None` if Redis is not used.
    pub redis_up: Option<bool>,
    /// Components directly under the root supervisor.
    pub components: Vec<ComponentReport>,
    /// Problems that do not stop the server, in plain language.
    pub degraded: Vec<String>,
    /// Number of actors of each kind, by state.
    pub kinds: Vec<KindSummary>,
    /// Actors that crashed or are out of service, most crashes first; limited to as many as fit on a page.
    pub troubled: Vec<ActorSummary>,
}

/// Collects the server's status; the readiness part is at most one second old.
pub async fn system_report(app: &HealthHandles) -> SystemReport {
    let judged = app.readiness.recent(|| judge(app)).await;
    let component = |(&name, status): (&&'static str, &ComponentStatus)| ComponentReport {
        name,
        trouble: match status.state {
            ComponentState::Up => None,
            ComponentState::Parked => Some(ServerTrouble::OutOfService),
            ComponentState::Down => Some(ServerTrouble::Down),
        },
        crashes: status.crashes,
    };
    let mut troubled = app.kinds.actors();
    troubled.retain(|actor| actor.restarts > 0 || actor.status == PARKED_WORD);
    troubled.sort_by_key(|actor| (std::cmp::Reverse(actor.restarts), actor.kind, actor.id));
    troubled.truncate(MAX_ACTORS_NAMED);
    SystemReport {
        fault: judged.fault.as_ref().map(|fault| fault.message().to_owned()),
        database_trouble: match judged.database {
            DatabaseStatus::Ok => None,
            DatabaseStatus::Unavailable => Some(ServerTrouble::NoResponse),
            DatabaseStatus::DiskFull => Some(ServerTrouble::DiskFull),
            DatabaseStatus::ReadOnly => Some(ServerTrouble::ReadOnly),
        },
        redis_up: judged.redis.map(|redis| matches!(redis, RedisStatus::Ok)),
        components: judged.components.iter().map(component).collect(),
        degraded: judged.degraded.clone(),
        kinds: app.kinds.summaries(),
        troubled,
    }
}
