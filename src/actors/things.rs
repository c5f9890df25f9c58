//! The directory of one kind: finds, reads, creates; nothing is asked of the keeper to find a resident thing.

use crate::actors::envelope::{Answered, Caller};
use crate::actors::environment::Environment;
use crate::actors::handle::{AskError, Handle};
use crate::actors::keeper::{Keeper, KeeperArgs, KeeperMsg, Slots};
use crate::actors::policy::Policy;
use crate::actors::root::{RootMsg, keep};
use crate::actors::shell::Waker;
use crate::actors::slot::{KeeperRef, Observed, Slot};
use crate::actors::world::World;
use crate::domain::durable::Versioned;
use crate::domain::id::Id;
use crate::domain::refusal::Refusal;
use crate::store::rows::LoadError;
use crate::store::{Away, Store, Thing};
use dashmap::DashMap;
use futures::FutureExt;
use ractor::rpc::CallResult;
use ractor::{Actor, ActorCell, ActorRef, SpawnErr};
use sea_orm::DatabaseConnection;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// How long a caller waits for an answer before it hears 503.
pub const WITHIN: Duration = Duration::from_secs(15);
/// A keeper that fell is back after about this long.
const AGAIN: Duration = Duration::from_millis(10);

/// The directory of one kind.
pub struct Things<T: Thing> {
    slots: Slots<T>,
    keeper: KeeperRef<T>,
    reading: DatabaseConnection,
    environment: Arc<Environment>,
    most_waiting: usize,
}

/// What a directory is made with.
pub struct ThingsArgs<T: Thing> {
    /// The writer.
    pub store: Store,
    /// The pool for reading.
    pub reading: DatabaseConnection,
    /// What carries out its wants.
    pub world: Arc<dyn World<T>>,
    /// Where created things of other kinds are woken.
    pub waker: Arc<dyn Waker>,
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
    /// How many are at each place (`running`, `resting`, `parked` …).
    pub places: BTreeMap<&'static str, u64>,
    /// Commands that wait or are under way.
    pub waiting: u64,
    /// Falls since the start.
    pub falls: u64,
    /// Commands refused since the start because too many waited.
    pub overloaded: u64,
}

impl<T: Thing> Things<T> {
    /// Starts the keeper under the root.
    pub async fn start(root: &ActorRef<RootMsg>, args: ThingsArgs<T>) -> Result<Self, SpawnErr> {
        let slots: Slots<T> = Arc::new(DashMap::new());
        let keeper = KeeperRef::default();
        let keeper_args = KeeperArgs {
            me: keeper.clone(),
            slots: slots.clone(),
            store: args.store,
            world: args.world,
            waker: args.waker,
            environment: args.environment.clone(),
            policy: args.policy,
        };
        let starter = move |root: ActorCell| {
            let args = keeper_args.clone();
            async move {
                let (keeper, _) = Keeper::spawn_linked(None, Keeper(PhantomData), args, root).await?;
                Ok(keeper.get_cell())
            }
            .boxed()
        };
        keep(root, T::KIND, Arc::new(starter)).await?;
        Ok(Self {
            slots,
            keeper,
            reading: args.reading,
            environment: args.environment,
            most_waiting: args.policy.most_waiting,
        })
    }

    /// Brings up what must be resident.
    pub async fn start_resident(&self) -> Result<usize, LoadError> {
        let all = T::load_resident(&self.reading).await?;
        let count = all.len();
        let known = all.into_iter().map(|(id, state)| (id, Arc::new(state))).collect();
        self.start_known(known).await;
        Ok(count)
    }

    /// A keeper that falls meanwhile is told again when it is back.
    async fn start_known(&self, known: Vec<(Id, Arc<Versioned<T>>)>) {
        while !self.keeper.closed()
            && let Some(keeper) = self.keeper.get()
        {
            let known = known.clone();
            if let Ok(CallResult::Success(())) = keeper.call(|reply| KeeperMsg::StartKnown(known, reply), None).await {
                return;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// The handle of a thing that is in memory.
    pub fn resident(&self, id: Id) -> Option<Handle<T>> {
        self.slots.get(&id).map(|slot| Handle(slot.clone()))
    }

    /// All that are in memory and exist.
    pub fn all_resident(&self) -> Vec<(Id, Arc<Versioned<T>>)> {
        let states = self.slots.iter().map(|slot| (*slot.key(), slot.published.load_full()));
        states.filter(|(_, state)| state.state.is_some()).collect()
    }

    /// The handle of a thing that exists; an unknown id creates nothing.
    pub async fn find(&self, id: Id) -> Result<Option<Handle<T>>, LoadError> {
        if let Some(handle) = self.resident(id) {
            return Ok(Some(handle));
        }
        if T::load(&self.reading, id).await?.state.is_none() {
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
            let slot = Slot::new(id, self.keeper.clone(), self.most_waiting);
            let _ = self.keeper.cast(KeeperMsg::Start(id, slot.clone()));
            slot
        };
        Handle(self.slots.entry(id).or_insert_with(fresh).clone())
    }

    /// The last committed state: of a resident thing without any query, of one at rest from the pool, without waking it.
    pub async fn read(&self, id: Id) -> Result<Option<Arc<Versioned<T>>>, LoadError> {
        if let Some(slot) = self.slots.get(&id) {
            let state = slot.published.load_full();
            if state.state.is_some() {
                return Ok(Some(state));
            }
        }
        let loaded = T::load(&self.reading, id).await?;
        Ok(loaded.state.is_some().then(|| Arc::new(loaded)))
    }

    /// Asks a command of a thing that exists.
    pub async fn ask(&self, id: Id, caller: Caller, command: T::Command) -> Result<Answered<T>, AskError> {
        match self.find(id).await {
            Ok(Some(handle)) => handle.ask(caller, command, WITHIN).await,
            Ok(None) => Err(AskError::Refused(Refusal::not_found(T::KIND))),
            Err(error) => {
                tracing::warn!(kind = T::KIND, %id, %error, "cannot be read");
                Err(AskError::Unavailable(Away::Database))
            }
        }
    }

    /// Makes a new thing with a fresh id.
    pub async fn create(&self, caller: Caller, command: T::Command) -> Result<(Id, Answered<T>), AskError> {
        let id = self.environment.id();
        self.create_as(id, caller, command).await.map(|answered| (id, answered))
    }

    /// Makes a new thing with this id, which must be fresh.
    pub async fn create_as(&self, id: Id, caller: Caller, command: T::Command) -> Result<Answered<T>, AskError> {
        let nothing = vec![(id, Arc::new(Versioned::nothing()))];
        if tokio::time::timeout(WITHIN, self.start_known(nothing)).await.is_err() {
            return Err(AskError::Unavailable(Away::Database));
        }
        let handle = self.wake(id);
        handle.ask(caller, command, WITHIN).await
    }

    /// Lines of `/api/system/actors`.
    pub fn observe(&self) -> Vec<Observed> {
        self.slots.iter().map(|slot| slot.observe()).collect()
    }

    /// All of the kind together.
    pub fn kind(&self) -> KindSeen {
        let mut seen = KindSeen { kind: T::KIND, ..KindSeen::default() };
        for slot in self.slots.iter() {
            *seen.places.entry(slot.place.borrow().1.word()).or_default() += 1;
            seen.waiting += slot.waiting() as u64;
        }
        let meter = self.keeper.meter();
        (seen.falls, seen.overloaded) = (meter.falls.get(), meter.overloaded.get());
        seen
    }

    /// How many are in memory.
    pub fn count(&self) -> usize {
        self.slots.len()
    }

    /// Drains all of the kind: everything told is finished, then they are gone.
    pub async fn close(&self, within: Duration) {
        if let Some(keeper) = self.keeper.get() {
            self.keeper.close();
            let _ = keeper.call(KeeperMsg::Close, Some(within)).await;
            keeper.stop(None);
        }
    }

    /// For fall tests: the keeper's.
    #[cfg(any(test, debug_assertions))]
    pub fn keeper_falls(&self) {
        let _ = self.keeper.cast(KeeperMsg::Fall);
    }

    /// For fall tests.
    #[cfg(any(test, debug_assertions))]
    pub fn fall(&self, id: Id) {
        use crate::actors::slot::Place;
        if let Some(slot) = self.slots.get(&id)
            && let Place::Here(actor) = slot.place.borrow().1.clone()
        {
            let _ = actor.cast(crate::actors::shell::Msg::Fall);
        }
    }
}
