//! Supervises the actors of one kind: starts, restarts, parks, rests. It routes nothing.

use crate::actors::environment::Environment;
use crate::actors::policy::{Next, Policy};
use crate::actors::shell::{Args, Msg, Shell, Waker};
use crate::actors::slot::{KeeperRef, Place, Slot};
use crate::actors::world::World;
use crate::domain::durable::{Durable, Versioned};
use crate::domain::id::Id;
use crate::store::{Key, Store, Thing};
use dashmap::DashMap;
use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, RpcReplyPort, SupervisionEvent};
use std::collections::{HashMap, VecDeque};
use std::marker::PhantomData;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// The places of one kind.
pub type Slots<T> = Arc<DashMap<Id, Arc<Slot<T>>>>;

/// What a keeper is told.
pub enum KeeperMsg<T: Durable> {
    /// Bring it up, unless it is up.
    Start(Id, Arc<Slot<T>>),
    /// Bring these up with their states, and answer when all are up (bulk start, fresh ids).
    StartKnown(Vec<(Id, Arc<Versioned<T>>)>, RpcReplyPort<()>),
    /// A restart that was due after a fall.
    Restart(Id, u64),
    /// The thing asks to leave memory.
    Passivate(Id, u64),
    /// Looks again for places that nobody holds any more.
    Sweep,
    /// The server leaves: all finish what they were told, answer when they are gone.
    Close(RpcReplyPort<()>),
    /// For fall tests.
    #[cfg(any(test, debug_assertions))]
    Fall,
}

/// The keeper actor.
pub struct Keeper<T>(pub(super) PhantomData<fn() -> T>);

/// What a keeper is made with.
pub struct KeeperArgs<T: Durable> {
    pub(super) me: KeeperRef<T>,
    pub(super) slots: Slots<T>,
    pub(super) store: Store,
    pub(super) world: Arc<dyn World<T>>,
    pub(super) waker: Arc<dyn Waker>,
    pub(super) environment: Arc<Environment>,
    pub(super) policy: Policy,
}

impl<T: Durable> Clone for KeeperArgs<T> {
    fn clone(&self) -> Self {
        Self {
            me: self.me.clone(),
            slots: self.slots.clone(),
            store: self.store.clone(),
            world: self.world.clone(),
            waker: self.waker.clone(),
            environment: self.environment.clone(),
            policy: self.policy,
        }
    }
}

struct Child {
    falls: VecDeque<Duration>,
    generation: u64,
}

/// Its state.
pub struct KeeperState<T: Durable> {
    args: KeeperArgs<T>,
    children: HashMap<Id, Child>,
    by_actor: HashMap<ActorId, Id>,
    /// At rest, told to stop, not gone yet.
    leaving: HashMap<ActorId, Id>,
    /// At rest and gone, but somebody holds a handle.
    lingering: Vec<Id>,
    sweeping: bool,
    began: Instant,
    closed: bool,
    closing: Option<RpcReplyPort<()>>,
}

impl<T: Thing> Actor for Keeper<T> {
    type Msg = KeeperMsg<T>;
    type State = KeeperState<T>;
    type Arguments = KeeperArgs<T>;

    /// After a fall of the keeper its children are gone with it: all that were up come up again.
    async fn pre_start(
        &self,
        me: ActorRef<KeeperMsg<T>>,
        args: KeeperArgs<T>,
    ) -> Result<KeeperState<T>, ActorProcessingErr> {
        let mut lingering = Vec::new();
        for slot in args.slots.iter() {
            let mut up = false;
            slot.place.send_modify(|place| {
                up = !matches!(place.1, Place::Resting | Place::Closed);
                if up {
                    place.1 = Place::Starting;
                }
            });
            if up {
                let _ = me.cast(KeeperMsg::Start(slot.id, slot.clone()));
            } else {
                lingering.push(slot.id);
            }
        }
        let _ = me.cast(KeeperMsg::Sweep);
        args.me.set(me);
        Ok(KeeperState {
            args,
            children: HashMap::new(),
            by_actor: HashMap::new(),
            leaving: HashMap::new(),
            lingering,
            sweeping: true,
            began: Instant::now(),
            closed: false,
            closing: None,
        })
    }

    async fn handle(
        &self,
        me: ActorRef<KeeperMsg<T>>,
        message: KeeperMsg<T>,
        s: &mut KeeperState<T>,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            KeeperMsg::Start(id, slot) => s.start(id, &slot, None, &me).await,
            KeeperMsg::StartKnown(known, reply) => {
                for (id, state) in known {
                    let slot = s.slot(id);
                    s.start(id, &slot, Some(state), &me).await;
                }
                let _ = reply.send(());
            }
            KeeperMsg::Restart(id, generation) => {
                let slot = s.args.slots.get(&id).map(|slot| slot.clone());
                if let Some(slot) = slot
                    && s.children.get(&id).is_some_and(|child| child.generation == generation)
                {
                    s.start(id, &slot, None, &me).await;
                }
            }
            KeeperMsg::Passivate(id, generation) => s.passivate(id, generation),
            KeeperMsg::Sweep => s.sweep(&me),
            KeeperMsg::Close(reply) => s.close(reply),
            #[cfg(any(test, debug_assertions))]
            KeeperMsg::Fall => panic!("asked to fall"),
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        me: ActorRef<KeeperMsg<T>>,
        event: SupervisionEvent,
        s: &mut KeeperState<T>,
    ) -> Result<(), ActorProcessingErr> {
        let (cell, why) = match event {
            SupervisionEvent::ActorFailed(cell, error) => (cell, error.to_string()),
            SupervisionEvent::ActorTerminated(cell, state, why) => {
                drop(state); // it holds its place
                (cell, why.unwrap_or_else(|| "stopped".to_owned()))
            }
            _ => return Ok(()),
        };
        if let Some(id) = s.leaving.remove(&cell.get_id()) {
            s.lingering.extend((!s.evicted(id)).then_some(id));
            s.sweep_later(&me);
        }
        if let Some(id) = s.by_actor.remove(&cell.get_id()) {
            if !s.closed {
                s.fell(id, &why, &me);
            }
            if s.by_actor.is_empty()
                && let Some(reply) = s.closing.take()
            {
                let _ = reply.send(());
            }
        }
        Ok(())
    }
}

impl<T: Thing> KeeperState<T> {
    fn slot(&self, id: Id) -> Arc<Slot<T>> {
        let fresh = || Slot::new(id, self.args.me.clone(), self.args.policy.most_waiting);
        self.args.slots.entry(id).or_insert_with(fresh).clone()
    }

    async fn start(
        &mut self,
        id: Id,
        asked: &Arc<Slot<T>>,
        known: Option<Arc<Versioned<T>>>,
        me: &ActorRef<KeeperMsg<T>>,
    ) {
        // The slot may have been evicted while somebody held its handle: it goes back, unless another one is there.
        let slot = self.args.slots.entry(id).or_insert_with(|| asked.clone()).clone();
        if !Arc::ptr_eq(&slot, asked) {
            asked.place.send_modify(|place| *place = (place.0 + 1, Place::Closed));
        }
        if self.closed {
            slot.place.send_modify(|place| place.1 = Place::Closed);
            return;
        }
        if matches!(slot.place.borrow().1, Place::Here(_)) {
            return;
        }
        let last = slot.place.borrow().0;
        let child = self.children.entry(id).or_insert(Child { falls: VecDeque::new(), generation: last });
        child.generation += 1;
        let generation = child.generation;
        let args = Args {
            slot: slot.clone(),
            store: self.args.store.clone(),
            world: self.args.world.clone(),
            waker: self.args.waker.clone(),
            environment: self.args.environment.clone(),
            policy: self.args.policy,
            generation,
            keeper: self.args.me.clone(),
            known,
        };
        // pre_start only enqueues a load, so awaiting the spawn costs microseconds whatever the database does.
        match Shell::spawn_linked(None, Shell(PhantomData), args, me.get_cell()).await {
            Ok((actor, _)) => {
                self.by_actor.insert(actor.get_id(), id);
                slot.place.send_replace((generation, Place::Here(actor)));
            }
            Err(error) => self.fell(id, &error.to_string(), me),
        }
    }

    fn passivate(&mut self, id: Id, generation: u64) {
        let Some(slot) = self.args.slots.get(&id).map(|slot| slot.clone()) else { return };
        let mut gone = None;
        slot.place.send_if_modified(|place| {
            if place.0 != generation || !matches!(place.1, Place::Here(_)) {
                return false;
            }
            if let Place::Here(actor) = std::mem::replace(&mut place.1, Place::Resting) {
                gone = Some(actor);
            }
            true
        });
        let Some(actor) = gone else { return };
        self.by_actor.remove(&actor.get_id()); // asked for: not a fall
        self.leaving.insert(actor.get_id(), id);
        self.children.remove(&id);
        actor.stop(None); // the queue is dropped; every envelope in it goes back to its caller
        self.args.store.forget(Key(T::KIND, id));
    }

    /// Out of the directory, unless it is awake again or somebody holds a handle: a handle never goes stale.
    fn evicted(&self, id: Id) -> bool {
        let rests = |slot: &Arc<Slot<T>>| matches!(slot.place.borrow().1, Place::Resting);
        self.args.slots.remove_if(&id, |_, slot| Arc::strong_count(slot) == 1 && rests(slot));
        self.args.slots.get(&id).is_none_or(|slot| !rests(&slot))
    }

    fn sweep(&mut self, me: &ActorRef<KeeperMsg<T>>) {
        self.sweeping = false;
        let lingering = std::mem::take(&mut self.lingering);
        self.lingering = lingering.into_iter().filter(|id| !self.evicted(*id)).collect();
        self.sweep_later(me);
    }

    fn sweep_later(&mut self, me: &ActorRef<KeeperMsg<T>>) {
        if !self.sweeping && !self.lingering.is_empty() {
            self.sweeping = true;
            me.send_after(self.args.policy.rest_after, || KeeperMsg::Sweep);
        }
    }

    fn fell(&mut self, id: Id, why: &str, me: &ActorRef<KeeperMsg<T>>) {
        let Some(slot) = self.args.slots.get(&id).map(|slot| slot.clone()) else { return };
        let Some(child) = self.children.get_mut(&id) else { return };
        self.args.me.meter().falls.one();
        slot.restarts.fetch_add(1, Relaxed);
        *slot.last_error.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.to_owned());
        let chance = self.args.environment.chance();
        let delay = match self.args.policy.after(&mut child.falls, self.began.elapsed(), chance) {
            Next::RestartAfter(delay) => {
                tracing::error!(kind = T::KIND, %id, why, ?delay, "fell, starts again");
                slot.place.send_modify(|place| place.1 = Place::Starting);
                delay
            }
            Next::ParkAndProbeAfter(delay) => {
                tracing::error!(kind = T::KIND, %id, why, falls = child.falls.len(), "fell too often: parked");
                slot.place.send_modify(|place| place.1 = Place::Parked);
                delay
            }
        };
        let generation = child.generation;
        me.send_after(delay, move || KeeperMsg::Restart(id, generation));
    }

    /// Every child finishes what it has been told; then they are gone.
    fn close(&mut self, reply: RpcReplyPort<()>) {
        self.closed = true;
        for slot in self.args.slots.iter() {
            let before = slot.place.borrow().1.clone();
            if let Place::Here(actor) = before {
                let _ = actor.cast(Msg::Leave);
            }
            slot.place.send_modify(|place| place.1 = Place::Closed);
        }
        if self.by_actor.is_empty() {
            let _ = reply.send(());
        } else {
            self.closing = Some(reply);
        }
    }
}
