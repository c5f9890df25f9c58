//! The directory of one kind: finds, reads, creates; nothing is asked of the supervisor to find a resident thing.

use crate::actors::kernel::actor::Activator;
use crate::actors::kernel::effects::Effects;
use crate::actors::kernel::entry::{DirectoryEntry, Observed, SupervisorRef};
use crate::actors::kernel::envelope::{Answered, CommandOrigin};
use crate::actors::kernel::environment::Environment;
use crate::actors::kernel::handle::{AskError, Handle};
use crate::actors::kernel::restart_policy::Policy;
use crate::actors::kernel::root::{RootMsg, keep};
use crate::actors::kernel::supervisor::{Entries, Supervisor, SupervisorArgs, SupervisorMsg};
use crate::domain::aggregate::Versioned;
use crate::domain::id::Id;
use crate::domain::refusal::Refusal;
use crate::store::rows::LoadError;
use crate::store::{Store, StoredAggregate, Unavailable};
use dashmap::DashMap;
use futures::FutureExt;
use ractor::rpc::CallResult;
use ractor::{Actor, ActorCell, ActorRef, SpawnErr};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// How long a caller waits for an answer before it hears 503.
pub const WITHIN: Duration = Duration::from_secs(15);
/// A supervisor that fell is back after about this long.
const AGAIN: Duration = Duration::from_millis(10);

/// The directory of one kind.
pub struct Directory<T: StoredAggregate> {
    entries: Entries<T>,
    supervisor: SupervisorRef<T>,
    store: Store,
    environment: Arc<Environment>,
    most_waiting: usize,
}

/// What a directory is made with.
pub struct ThingsArgs<T: StoredAggregate> {
    /// The writer.
    pub store: Store,
    /// What carries out its wants.
    pub world: Arc<dyn Effects<T>>,
    /// Where created things of other kinds are woken.
    pub activator: Arc<dyn Activator>,
    /// Clock, ids, settings.
    pub environment: Arc<Environment>,
    /// How it is kept.
    pub policy: Policy,
}

/// All things of a kind together.
#[derive(Clone, Debug, Default)]
pub struct KindSeen {
    /// Kind of thing.
    pub kind: &'static str,
    /// How many are at each status (`running`, `resting`, `parked` …).
    pub places: BTreeMap<&'static str, u64>,
    /// Commands that wait or are under way.
    pub waiting: u64,
    /// Falls since the start.
    pub falls: u64,
    /// Commands refused since the start because too many waited.
    pub overloaded: u64,
}

impl<T: StoredAggregate> Directory<T> {
    /// Starts the supervisor under the root.
    pub async fn start(root: &ActorRef<RootMsg>, args: ThingsArgs<T>) -> Result<Self, SpawnErr> {
        let entries: Entries<T> = Arc::new(DashMap::new());
        let supervisor = SupervisorRef::default();
        let keeper_args = SupervisorArgs {
            me: supervisor.clone(),
            entries: entries.clone(),
            store: args.store.clone(),
            world: args.world,
            activator: args.activator,
            environment: args.environment.clone(),
            policy: args.policy,
        };
        let starter = move |root: ActorCell| {
            let args = keeper_args.clone();
            async move {
                let (supervisor, _) = Supervisor::spawn_linked(None, Supervisor(PhantomData), args, root).await?;
                Ok(supervisor.get_cell())
            }
            .boxed()
        };
        keep(root, T::KIND, Arc::new(starter)).await?;
        Ok(Self {
            entries,
            supervisor,
            store: args.store,
            environment: args.environment,
            most_waiting: args.policy.most_waiting,
        })
    }

    /// Brings up what must be resident.
    pub async fn start_resident(&self) -> Result<usize, LoadError> {
        let all = self.store.reader().load_resident::<T>().await?;
        let count = all.len();
        let known = all.into_iter().map(|(id, state)| (id, Arc::new(state))).collect();
        self.start_known(known).await;
        Ok(count)
    }

    /// A supervisor that falls meanwhile is told again when it is back.
    async fn start_known(&self, known: Vec<(Id, Arc<Versioned<T>>)>) {
        while !self.supervisor.closed()
            && let Some(supervisor) = self.supervisor.get()
        {
            let known = known.clone();
            if let Ok(CallResult::Success(())) =
                supervisor.call(|reply| SupervisorMsg::StartKnown(known, reply), None).await
            {
                return;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// The handle of a thing that is in memory.
    pub fn resident(&self, id: Id) -> Option<Handle<T>> {
        self.entries.get(&id).map(|entry| Handle(entry.clone()))
    }

    /// All that are in memory and exist.
    pub fn all_resident(&self) -> Vec<(Id, Arc<Versioned<T>>)> {
        let states = self.entries.iter().map(|entry| (*entry.key(), entry.published.load_full()));
        let mut all: Vec<_> = states.filter(|(_, state)| state.state.is_some()).collect();
        // The map has no order of its own, and the answer reaches the dispatcher's proposals.
        all.sort_unstable_by_key(|(id, _)| *id);
        all
    }

    /// The handle of a thing that exists; an unknown id creates nothing.
    pub async fn find(&self, id: Id) -> Result<Option<Handle<T>>, LoadError> {
        if let Some(handle) = self.resident(id) {
            return Ok(Some(handle));
        }
        if self.store.reader().load::<T>(id).await?.state.is_none() {
            // The only one of its kind is there from the beginning; its first change writes it.
            if id != Id::ONLY {
                return Ok(None);
            }
            self.start_known(vec![(id, Arc::new(Versioned::nothing()))]).await;
            return Ok(self.resident(id));
        }
        Ok(Some(self.wake(id)))
    }

    /// Brings up a thing that is known to exist.
    pub fn wake(&self, id: Id) -> Handle<T> {
        let fresh = || {
            let entry = DirectoryEntry::new(id, self.supervisor.clone(), self.most_waiting);
            let _ = self.supervisor.cast(SupervisorMsg::Start(id, entry.clone()));
            entry
        };
        Handle(self.entries.entry(id).or_insert_with(fresh).clone())
    }

    /// The last committed state: of a resident thing without any query, of one at rest from the pool, without waking it.
    pub async fn read(&self, id: Id) -> Result<Option<Arc<Versioned<T>>>, LoadError> {
        if let Some(entry) = self.entries.get(&id) {
            let state = entry.published.load_full();
            if state.state.is_some() {
                return Ok(Some(state));
            }
        }
        let loaded = self.store.reader().load::<T>(id).await?;
        Ok(loaded.state.is_some().then(|| Arc::new(loaded)))
    }

    /// Asks a command of a thing that exists.
    pub async fn ask(&self, id: Id, caller: CommandOrigin, command: T::Command) -> Result<Answered<T>, AskError> {
        match self.find(id).await {
            Ok(Some(handle)) => handle.ask(caller, command, WITHIN).await,
            Ok(None) => Err(AskError::Refused(Refusal::not_found(T::KIND))),
            Err(error) => {
                tracing::warn!(kind = T::KIND, %id, %error, "cannot be read");
                Err(AskError::Unavailable(Unavailable::Database))
            }
        }
    }

    /// Makes a new thing with a fresh id.
    pub async fn create(&self, caller: CommandOrigin, command: T::Command) -> Result<(Id, Answered<T>), AskError> {
        let id = self.environment.id();
        self.create_as(id, caller, command).await.map(|answered| (id, answered))
    }

    /// Makes a new thing with this id, which must be fresh.
    pub async fn create_as(&self, id: Id, caller: CommandOrigin, command: T::Command) -> Result<Answered<T>, AskError> {
        let nothing = vec![(id, Arc::new(Versioned::nothing()))];
        if tokio::time::timeout(WITHIN, self.start_known(nothing)).await.is_err() {
            return Err(AskError::Unavailable(Unavailable::Database));
        }
        let handle = self.wake(id);
        handle.ask(caller, command, WITHIN).await
    }

    /// Lines of `/api/system/actors`.
    pub fn observe(&self) -> Vec<Observed> {
        let mut entries: Vec<_> = self.entries.iter().map(|entry| entry.clone()).collect();
        entries.sort_unstable_by_key(|entry| entry.id);
        entries.iter().map(|entry| entry.observe()).collect()
    }

    /// All of the kind together.
    pub fn kind(&self) -> KindSeen {
        let mut seen = KindSeen { kind: T::KIND, ..KindSeen::default() };
        for entry in self.entries.iter() {
            *seen.places.entry(entry.status.borrow().1.word()).or_default() += 1;
            seen.waiting += entry.waiting() as u64;
        }
        let meter = self.supervisor.meter();
        (seen.falls, seen.overloaded) = (meter.falls.get(), meter.overloaded.get());
        seen
    }

    /// How many are in memory.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// Drains all of the kind: everything told is finished, then they are gone.
    pub async fn close(&self, within: Duration) {
        if let Some(supervisor) = self.supervisor.get() {
            self.supervisor.close();
            let _ = supervisor.call(SupervisorMsg::Close, Some(within)).await;
            supervisor.stop(None);
        }
    }

    /// For fall tests: the supervisor's.
    #[cfg(any(test, debug_assertions))]
    pub fn keeper_falls(&self) {
        let _ = self.supervisor.cast(SupervisorMsg::Fall);
    }

    /// For fall tests.
    #[cfg(any(test, debug_assertions))]
    pub fn fall(&self, id: Id) {
        use crate::actors::kernel::entry::ActorStatus;
        if let Some(entry) = self.entries.get(&id)
            && let ActorStatus::Here(actor) = entry.status.borrow().1.clone()
        {
            let _ = actor.cast(crate::actors::kernel::actor::Msg::Fall);
        }
    }
}
