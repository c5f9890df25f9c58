//! How the server fares, as the page for the staff shows it: what readiness is judged by, and every actor.

use tokio::time::Instant;

use super::{ComponentState, ComponentStatus, DatabaseStatus, HealthHandles, RedisStatus, judge};
use crate::actors::kernel::directory::KindSummary;
use crate::actors::kernel::entry::ActorSummary;

/// Most actors that are named one by one: those that crashed, and those out of service.
const MAX_ACTORS_NAMED: usize = 50;
/// The word of an actor that is out of service.
const PARKED_WORD: &str = "parked";

/// A component of the server.
pub(crate) struct ComponentReport {
    /// As `/readyz` names it.
    pub(crate) name: &'static str,
    /// What is wrong with it, in a word; `None` while it stands.
    pub(crate) trouble: Option<&'static str>,
    /// How often it crashed since the process started.
    pub(crate) crashes: u64,
}

/// How the whole server fares.
pub(crate) struct SystemReport {
    /// Why it cannot work, in words for people; `None` while it can.
    pub(crate) fault: Option<String>,
    /// What is wrong with the database, in words; `None` while it takes writes and answers reads.
    pub(crate) database_trouble: Option<&'static str>,
    /// Whether Redis answers; `None` where none is used.
    pub(crate) redis_up: Option<bool>,
    /// What stands directly under the root.
    pub(crate) components: Vec<ComponentReport>,
    /// In plain words, what is wrong and stops nobody.
    pub(crate) degraded: Vec<String>,
    /// The actors of each kind, in numbers.
    pub(crate) kinds: Vec<KindSummary>,
    /// Actors that crashed or are out of service, those that crashed most often first; not more than fit a page.
    pub(crate) troubled: Vec<ActorSummary>,
}

/// Looks at everything; the judgement of readiness is at most a second old.
pub(crate) async fn system_report(app: &HealthHandles) -> SystemReport {
    let judged = app.readiness.recent(Instant::now(), || judge(app)).await;
    let component = |(&name, status): (&&'static str, &ComponentStatus)| ComponentReport {
        name,
        trouble: match status.state {
            ComponentState::Up => None,
            ComponentState::Parked => Some("out of service"),
            ComponentState::Down => Some("down"),
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
            DatabaseStatus::Unavailable => Some("does not answer"),
            DatabaseStatus::DiskFull => Some("its disk is full"),
            DatabaseStatus::ReadOnly => Some("cannot be written"),
        },
        redis_up: judged.redis.map(|redis| matches!(redis, RedisStatus::Ok)),
        components: judged.components.iter().map(component).collect(),
        degraded: judged.degraded.clone(),
        kinds: app.kinds.summaries(),
        troubled,
    }
}
