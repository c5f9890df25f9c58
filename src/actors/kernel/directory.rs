//! Directory for one aggregate kind: finds, reads, creates and activates the aggregates of that kind.
//!
//! Finding or reading an aggregate in memory is a lookup in a concurrent map, without a message and without a lock that
//! a crashed actor could hold. Reading an aggregate that is not in memory queries the database and activates nothing.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use futures::FutureExt;
use futures::future::BoxFuture;
use ractor::rpc::CallResult;
use ractor::{Actor, ActorCell, ActorRef, SpawnErr};

use crate::actor::Activator;
use crate::effects::Effects;
use crate::entry::{ActorSummary, DirectoryEntry, SupervisorMsg, SupervisorRef};
use crate::envelope::{AnyAnswer, CommandAnswer, CommandOrigin, PendingCommand};
use crate::environment::Environment;
use crate::handle::{AskError, Handle, typed};
use crate::restart_policy::RestartPolicy;
use crate::root::{RootMsg, keep};
use crate::supervisor::{Entries, Supervisor, SupervisorArgs};
use domain::aggregate::{Command, Versioned};
use domain::id::Id;
use domain::refusal::Refusal;
use platform::shared::Shared;
use store::load::LoadedAggregate;
use store::rows::LoadError;
use store::{Store, StoredAggregate, Unavailable};

pub use crate::handle::ASK_TIMEOUT;

/// Pause before resending a message to a crashed supervisor: about the time that the supervisor takes to restart.
const SUPERVISOR_RETRY: Duration = Duration::from_millis(10);

/// Directory for one aggregate kind. It is cloned for each request, so all of its parts have a single reference count.
pub struct Directory<T: StoredAggregate>(Shared<DirectoryParts<T>>);

struct DirectoryParts<T: StoredAggregate> {
    entries: Entries<T>,
    supervisor: SupervisorRef<T>,
    args: DirectoryArgs,
}

impl<T: StoredAggregate> Clone for Directory<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Arguments for creating a directory, which are the same for every kind.
#[derive(Clone)]
pub struct DirectoryArgs {
    /// Store, which writes commits and loads aggregates in commit order.
    pub store: Store,
    /// Clock, IDs and settings for the domain rules.
    pub environment: Arc<Environment>,
    /// Policy for restarting, parking and unloading actors.
    pub policy: RestartPolicy,
    /// Maximum number of commands waiting for an aggregate; further commands are rejected as `overloaded`.
    pub max_waiting: usize,
}

/// Summary of a kind's aggregates in memory.
#[derive(Clone, Debug, Default)]
pub struct KindSummary {
    /// Name of the kind; see [`domain::aggregate::Aggregate::KIND`].
    pub kind: &'static str,
    /// Number of aggregates by status (`running`, `resting`, `parked` …).
    pub statuses: BTreeMap<&'static str, u64>,
    /// Number of commands waiting, being decided or being written.
    pub waiting: u64,
    /// Number of actor crashes since the process started.
    pub crashes: u64,
    /// Number of commands rejected because too many were waiting, since the process started.
    pub overloaded: u64,
}

/// Type-erased view of a directory, for code that handles every kind (start, close, health, metrics).
pub trait AnyDirectory: Send + Sync {
    /// Returns the name of the kind; see [`domain::aggregate::Aggregate::KIND`].
    fn kind(&self) -> &'static str;
    /// Loads the residents of the kind and starts their actors; see [`Directory::start_resident`].
    fn start_resident(&self) -> BoxFuture<'_, Result<usize, LoadError>>;
    /// Starts the actor of an aggregate that is only on disk; see [`Directory::activate`].
    fn activate(&self, id: Id);
    /// Counts the aggregates in memory, for health and metrics; see [`Directory::summary`].
    fn summary(&self) -> KindSummary;
    /// Returns one entry per aggregate in memory, for `/api/system/actors`; see [`Directory::observe`].
    fn observe(&self) -> Vec<ActorSummary>;
    /// Drains the kind and stops its actors, waiting for at most `within`; see [`Directory::close`].
    fn close(&self, within: Duration) -> BoxFuture<'_, ()>;
}

impl<T: StoredAggregate> AnyDirectory for Directory<T> {
    fn kind(&self) -> &'static str {
        T::KIND
    }
    fn start_resident(&self) -> BoxFuture<'_, Result<usize, LoadError>> {
        self.start_resident().boxed()
    }
    fn activate(&self, id: Id) {
        self.activate(id);
    }
    fn summary(&self) -> KindSummary {
        self.summary()
    }
    fn observe(&self) -> Vec<ActorSummary> {
        self.observe()
    }
    fn close(&self, within: Duration) -> BoxFuture<'_, ()> {
        self.close(within).boxed()
    }
}

impl<T: StoredAggregate> Directory<T> {
    /// Creates an empty directory without a supervisor. All directories are created before any is started, because
    /// effects refer to other kinds' directories in cycles (an order sends commands to materials, a material to
    /// orders).
    pub fn new(args: DirectoryArgs) -> Self {
        Self(Shared::new(DirectoryParts {
            entries: Arc::new(DashMap::new()),
            supervisor: SupervisorRef::default(),
            args,
        }))
    }

    /// Starts the supervisor under the root. `effects` does the external work of this kind; `activator` starts the
    /// actors of aggregates of other kinds that commits of this kind create.
    pub async fn start(
        &self,
        root: &ActorRef<RootMsg>,
        effects: Arc<dyn Effects<T>>,
        activator: Arc<dyn Activator>,
    ) -> Result<(), SpawnErr> {
        let args = SupervisorArgs {
            me: self.0.supervisor.clone(),
            entries: self.0.entries.clone(),
            store: self.0.args.store.clone(),
            effects,
            activator,
            environment: self.0.args.environment.clone(),
            policy: self.0.args.policy,
            max_waiting: self.0.args.max_waiting,
        };
        let starter = move |root: ActorCell| {
            let args = args.clone();
            async move {
                let (supervisor, _) = Supervisor::spawn_linked(None, Supervisor(PhantomData), args, root).await?;
                Ok(supervisor.get_cell())
            }
            .boxed()
        };
        keep(root, T::KIND, Arc::new(starter)).await
    }

    /// Loads and starts all aggregates that must stay in memory even while idle. Returns how many were started.
    pub async fn start_resident(&self) -> Result<usize, LoadError> {
        let all = self.0.args.store.reader().load_resident::<T>().await?;
        let (count, mut states) = (all.len(), Vec::with_capacity(all.len()));
        for LoadedAggregate { id, state } in all {
            match state {
                Ok(state) => states.push((id, Arc::new(state))),
                // Its actor finds the same and is parked. The others start all the same.
                Err(_) => drop(self.activate(id)),
            }
        }
        self.start_known(states).await;
        Ok(count)
    }

    /// Starts the actors of aggregates whose state is already loaded. Retries if the supervisor crashes in the
    /// meantime.
    async fn start_known(&self, states: Vec<(Id, Arc<Versioned<T>>)>) {
        while !self.0.supervisor.closed()
            && let Some(supervisor) = self.0.supervisor.get()
        {
            let states = states.clone();
            if let Ok(CallResult::Success(())) =
                supervisor.call(|reply| SupervisorMsg::StartKnown(states, reply), None).await
            {
                return;
            }
            tokio::time::sleep(SUPERVISOR_RETRY).await;
        }
    }

    /// Returns the handle of an aggregate in memory; `None` if it is not in memory.
    pub fn resident(&self, id: Id) -> Option<Handle<T>> {
        self.0.entries.get(&id).map(|entry| Handle(entry.clone()))
    }

    /// Returns the IDs and states of all existing aggregates in memory.
    pub fn all_resident(&self) -> Vec<(Id, Arc<Versioned<T>>)> {
        let states = self.0.entries.iter().map(|entry| (*entry.key(), entry.published.load_full()));
        let mut all: Vec<_> = states.filter(|(_, state)| state.state.is_some()).collect();
        // The map has no order of its own, and the answer reaches the dispatcher's proposals.
        all.sort_unstable_by_key(|(id, _)| *id);
        all
    }

    /// Returns the states of all existing aggregates in memory that are not archived, ordered by ID.
    pub fn all_present(&self) -> Vec<Arc<Versioned<T>>> {
        let all = self.all_resident().into_iter().map(|(_, state)| state);
        all.filter(|state| state.present().is_some()).collect()
    }

    /// Returns the handle of an existing aggregate; `None` if the ID is unknown, in which case nothing is created. An
    /// aggregate that is being created, or whose creation failed, does not exist even though it has an actor.
    pub async fn find(&self, id: Id) -> Result<Option<Handle<T>>, LoadError> {
        if let Some(handle) = self.resident(id).filter(|handle| handle.read().state.is_some() || id == Id::ONLY) {
            return Ok(Some(handle));
        }
        if self.0.args.store.reader().load::<T>(id).await?.state.is_none() {
            // The only one of its kind is there from the beginning; its first change writes it.
            if id != Id::ONLY {
                return Ok(None);
            }
            self.start_known(vec![(id, Arc::new(Versioned::nothing()))]).await;
            return Ok(self.resident(id));
        }
        Ok(Some(self.activate(id)))
    }

    /// Activates an aggregate that is known to exist and returns its handle.
    pub fn activate(&self, id: Id) -> Handle<T> {
        let fresh = || {
            let entry = DirectoryEntry::new(id, self.0.supervisor.clone(), self.0.args.max_waiting);
            let _ = self.0.supervisor.cast(SupervisorMsg::Start(id, entry.clone()));
            entry
        };
        Handle(self.0.entries.entry(id).or_insert_with(fresh).clone())
    }

    /// Returns the last committed state: from memory if the aggregate is loaded, otherwise from the database without
    /// activating the aggregate.
    pub async fn read(&self, id: Id) -> Result<Option<Arc<Versioned<T>>>, LoadError> {
        if let Some(entry) = self.0.entries.get(&id) {
            let state = entry.published.load_full();
            if state.state.is_some() {
                return Ok(Some(state));
            }
        }
        let loaded = self.0.args.store.reader().load::<T>(id).await?;
        Ok(loaded.state.is_some().then(|| Arc::new(loaded)))
    }

    /// Returns the last committed state like [`Self::read`], but `None` if the aggregate is archived.
    pub async fn present(&self, id: Id) -> Result<Option<Arc<Versioned<T>>>, LoadError> {
        Ok(self.read(id).await?.filter(|state| state.present().is_some()))
    }

    /// Sends a command to an existing aggregate and waits for the response.
    pub async fn ask<C: Command<T>>(
        &self,
        id: Id,
        caller: CommandOrigin,
        command: C,
    ) -> Result<CommandAnswer<C::Answer>, AskError> {
        typed(self.send(id, PendingCommand::new(caller, command)).await)
    }

    /// Sends a command of any type to an existing aggregate, as [`Self::ask`] does.
    pub fn send(
        &self,
        id: Id,
        request: PendingCommand<T>,
    ) -> BoxFuture<'_, Result<CommandAnswer<AnyAnswer>, AskError>> {
        async move {
            match self.find(id).await {
                Ok(Some(handle)) => handle.send(request, ASK_TIMEOUT).await,
                Ok(None) => Err(AskError::Refused(Refusal::not_found(T::KIND))),
                Err(LoadError::Damaged(damaged)) => {
                    tracing::error!(kind = T::KIND, %id, %damaged, "cannot read an aggregate");
                    Err(AskError::Parked)
                }
                Err(LoadError::Db(error)) => {
                    tracing::warn!(kind = T::KIND, %id, %error, "cannot read an aggregate");
                    Err(AskError::Unavailable(Unavailable::Database))
                }
            }
        }
        .boxed()
    }

    /// Creates an aggregate with a new ID.
    pub async fn create<C: Command<T>>(
        &self,
        caller: CommandOrigin,
        command: C,
    ) -> Result<(Id, CommandAnswer<C::Answer>), AskError> {
        let (id, outcome) = self.send_new(PendingCommand::new(caller, command)).await;
        typed(outcome).map(|answered| (id, answered))
    }

    /// Creates an aggregate with a new ID by a command of any type, as [`Self::create`] does. Returns the ID as well.
    pub async fn send_new(&self, request: PendingCommand<T>) -> (Id, Result<CommandAnswer<AnyAnswer>, AskError>) {
        let id = self.0.args.environment.id();
        (id, self.send_as(id, request).await)
    }

    /// Creates an aggregate with the given ID, which must be new.
    pub async fn create_as<C: Command<T>>(
        &self,
        id: Id,
        caller: CommandOrigin,
        command: C,
    ) -> Result<CommandAnswer<C::Answer>, AskError> {
        typed(self.send_as(id, PendingCommand::new(caller, command)).await)
    }

    fn send_as(&self, id: Id, request: PendingCommand<T>) -> BoxFuture<'_, Result<CommandAnswer<AnyAnswer>, AskError>> {
        async move {
            let nothing = vec![(id, Arc::new(Versioned::nothing()))];
            if tokio::time::timeout(ASK_TIMEOUT, self.start_known(nothing)).await.is_err() {
                return Err(AskError::Unavailable(Unavailable::Database));
            }
            self.activate(id).send(request, ASK_TIMEOUT).await
        }
        .boxed()
    }

    /// Returns one entry per aggregate in memory, as listed by `/api/system/actors`.
    pub fn observe(&self) -> Vec<ActorSummary> {
        let mut entries: Vec<_> = self.0.entries.iter().map(|entry| entry.clone()).collect();
        entries.sort_unstable_by_key(|entry| entry.id);
        entries.iter().map(|entry| entry.observe()).collect()
    }

    /// Summarises the aggregates of this kind that are in memory.
    pub fn summary(&self) -> KindSummary {
        let mut summary = KindSummary { kind: T::KIND, ..KindSummary::default() };
        for entry in self.0.entries.iter() {
            *summary.statuses.entry(entry.status.borrow().1.word()).or_default() += 1;
            summary.waiting += entry.waiting() as u64;
        }
        let meter = self.0.supervisor.meter();
        (summary.crashes, summary.overloaded) = (meter.crashes.get(), meter.overloaded.get());
        summary
    }

    /// Returns the number of aggregates in memory.
    pub fn count(&self) -> usize {
        self.0.entries.len()
    }

    /// Drains the kind: finishes accepted commands, then stops the actors.
    pub async fn close(&self, within: Duration) {
        if let Some(supervisor) = self.0.supervisor.get() {
            self.0.supervisor.close();
            let _ = supervisor.call(SupervisorMsg::Close, Some(within)).await;
            supervisor.stop(None);
        }
    }

    /// Crashes the supervisor on purpose, for tests.
    #[cfg(any(test, debug_assertions))]
    pub fn crash_supervisor(&self) {
        let _ = self.0.supervisor.cast(SupervisorMsg::Crash);
    }

    /// Crashes the actor of an aggregate on purpose, for tests.
    #[cfg(any(test, debug_assertions))]
    pub fn crash(&self, id: Id) {
        use crate::entry::ActorStatus;
        if let Some(entry) = self.0.entries.get(&id)
            && let ActorStatus::Here(actor) = entry.status.borrow().1.clone()
        {
            let _ = actor.cast(crate::message::Msg::Crash);
        }
    }
}
