//! Root of the supervision tree, which starts the store, the supervisors and the dispatcher, and restarts any of them
//! that crashes.
//!
//! The root has few children, and all their state is on disk or in shared memory, so a restart is the same as a start.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use ractor::{Actor, ActorCell, ActorId, ActorProcessingErr, ActorRef, RpcReplyPort, SpawnErr, SupervisionEvent};
use tokio::time::Instant; // follows a paused clock of the runtime, unlike that of std

use domain::schedule::Delays;

/// Function that starts a child linked to the given supervisor and publishes its address.
pub type Starter = Arc<dyn Fn(ActorCell) -> BoxFuture<'static, Result<ActorCell, SpawnErr>> + Send + Sync>;

/// Health of a component, which is a child of the root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComponentHealth {
    /// `true` if the component has started and not crashed since.
    pub up: bool,
    /// Number of crashes since the process started.
    pub crashes: u64,
    /// Reason for the last crash.
    pub last_error: Option<String>,
}

/// Health of all children of the root; written only by the root.
#[derive(Clone, Debug, Default)]
pub struct HealthRegistry(Arc<Mutex<BTreeMap<&'static str, ComponentHealth>>>);

impl HealthRegistry {
    /// Returns the health of all components by name, as shown by `/readyz`.
    pub fn all(&self) -> BTreeMap<&'static str, ComponentHealth> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    fn up(&self, name: &'static str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_default().up = true;
    }
    fn crashed(&self, name: &'static str, why: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let component = all.entry(name).or_default();
        (component.up, component.crashes, component.last_error) = (false, component.crashes + 1, Some(why.to_owned()));
    }
}

/// Message to the root.
pub enum RootMsg {
    /// Start a component, and restart it after each crash.
    Keep(&'static str, Starter, RpcReplyPort<Result<(), SpawnErr>>),
    /// A restart after a crash is due.
    Restart(&'static str),
    /// Stop restarting children. A reply is required, because exits of children overtake messages that expect none.
    Closing(RpcReplyPort<()>),
}

/// Actor that starts the store, the supervisors and the dispatcher, and restarts any of them that crashes.
pub struct Root;

/// State of the root between messages.
#[derive(Default)]
pub struct RootState {
    starters: HashMap<&'static str, Starter>,
    by_actor: HashMap<ActorId, &'static str>,
    /// Number of recent crashes of each component, and the time of the last crash.
    crashes: HashMap<&'static str, (u32, Instant)>,
    components: HealthRegistry,
    closing: bool,
}

/// Backoff before a component is restarted.
const RESTART_DELAYS: Delays = Delays { first: Duration::from_millis(10), longest: Duration::from_secs(5) };
/// Time without a crash after which a component's backoff is reset.
const CRASH_MEMORY: Duration = Duration::from_secs(60);

impl Actor for Root {
    type Msg = RootMsg;
    type State = RootState;
    type Arguments = HealthRegistry;

    async fn pre_start(
        &self,
        _: ActorRef<RootMsg>,
        components: HealthRegistry,
    ) -> Result<RootState, ActorProcessingErr> {
        Ok(RootState { components, ..RootState::default() })
    }

    async fn handle(
        &self,
        me: ActorRef<RootMsg>,
        message: RootMsg,
        s: &mut RootState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            RootMsg::Keep(name, starter, reply) => {
                let started = starter(me.get_cell()).await;
                if let Ok(cell) = &started {
                    s.by_actor.insert(cell.get_id(), name);
                    s.starters.insert(name, starter);
                    s.components.up(name);
                }
                let _ = reply.send(started.map(|_| ()));
            }
            RootMsg::Restart(name) if !s.closing => s.restart(name, &me).await,
            RootMsg::Restart(_) => {}
            RootMsg::Closing(reply) => {
                s.closing = true;
                let _ = reply.send(());
            }
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        me: ActorRef<RootMsg>,
        event: SupervisionEvent,
        s: &mut RootState,
    ) -> Result<(), ActorProcessingErr> {
        let (cell, why) = match event {
            SupervisionEvent::ActorFailed(cell, error) => (cell, error.to_string()),
            SupervisionEvent::ActorTerminated(cell, _, why) => (cell, why.unwrap_or_else(|| "stopped".to_owned())),
            _ => return Ok(()),
        };
        if let Some(name) = s.by_actor.remove(&cell.get_id())
            && !s.closing
        {
            s.components.crashed(name, &why);
            let now = Instant::now();
            let (crashes, last) = s.crashes.entry(name).or_insert((0, now));
            *crashes = if now.duration_since(*last) > CRASH_MEMORY { 1 } else { *crashes + 1 };
            *last = now;
            let wait = RESTART_DELAYS.next(*crashes - 1, 1.0);
            tracing::error!(name, why, ?wait, "a component crashed; restarting");
            me.send_after(wait, move || RootMsg::Restart(name));
        }
        Ok(())
    }
}

impl RootState {
    async fn restart(&mut self, name: &'static str, me: &ActorRef<RootMsg>) {
        let Some(starter) = self.starters.get(name).cloned() else { return };
        match starter(me.get_cell()).await {
            Ok(cell) => {
                self.by_actor.insert(cell.get_id(), name);
                self.components.up(name);
            }
            Err(error) => {
                tracing::error!(name, %error, "starting a component failed; retrying");
                me.send_after(RESTART_DELAYS.longest, move || RootMsg::Restart(name));
            }
        }
    }
}

/// Starts a child under the root and restarts it after each crash.
pub async fn keep(root: &ActorRef<RootMsg>, name: &'static str, starter: Starter) -> Result<(), SpawnErr> {
    match ractor::call!(root, |reply| RootMsg::Keep(name, starter, reply)) {
        Ok(started) => started,
        Err(error) => Err(SpawnErr::StartupFailed(error.to_string().into())),
    }
}
