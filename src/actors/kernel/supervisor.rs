//! Supervisor of a kind's actors: starts them, restarts them after crashes, parks those that crash too often, and
//! unloads those at rest.
//!
//! No command passes through the supervisor, so it is not a bottleneck, and all running aggregates remain readable
//! while it is being restarted. Its children are linked to it: if it crashes, they end as well, and the next supervisor
//! restarts all actors that were running according to the directory entries.

use std::collections::{HashMap, VecDeque};
use std::marker::PhantomData;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use dashmap::DashMap;
use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, RpcReplyPort, SupervisionEvent};
use tokio::time::Instant; // follows a paused clock of the runtime, unlike that of std

use crate::actor::{Activator, AggregateActor, Args};
use crate::effects::Effects;
use crate::entry::{ActorStatus, DirectoryEntry, SupervisorMsg, SupervisorRef};
use crate::environment::Environment;
use crate::message::Msg;
use crate::restart_policy::{CrashAction, RestartPolicy};
use domain::aggregate::{Aggregate, Versioned};
use domain::id::Id;
use store::{AggregateKey, Store, StoredAggregate};

/// Directory entries of a kind, by ID.
pub type Entries<T> = Arc<DashMap<Id, Arc<DirectoryEntry<T>>>>;

/// Actor that starts, restarts, parks and unloads the actors of a kind.
pub struct Supervisor<T>(pub(super) PhantomData<fn() -> T>);

/// Start arguments of a supervisor.
pub struct SupervisorArgs<T: Aggregate> {
    pub(super) me: SupervisorRef<T>,
    pub(super) entries: Entries<T>,
    pub(super) store: Store,
    pub(super) effects: Arc<dyn Effects<T>>,
    pub(super) activator: Arc<dyn Activator>,
    pub(super) environment: Arc<Environment>,
    pub(super) policy: RestartPolicy,
    pub(super) max_waiting: usize,
}

impl<T: Aggregate> Clone for SupervisorArgs<T> {
    fn clone(&self) -> Self {
        Self {
            me: self.me.clone(),
            entries: self.entries.clone(),
            store: self.store.clone(),
            effects: self.effects.clone(),
            activator: self.activator.clone(),
            environment: self.environment.clone(),
            policy: self.policy,
            max_waiting: self.max_waiting,
        }
    }
}

/// Returns all entries, lowest ID first. The map itself has no order, but the order in which actors start and stop
/// determines the order of their effects.
fn in_order<T: Aggregate>(entries: &Entries<T>) -> Vec<Arc<DirectoryEntry<T>>> {
    let mut all: Vec<_> = entries.iter().map(|entry| entry.clone()).collect();
    all.sort_unstable_by_key(|entry| entry.id);
    all
}

struct Child {
    crashes: VecDeque<Duration>,
    generation: u64,
}

/// State that a supervisor keeps between messages.
pub struct SupervisorState<T: Aggregate> {
    args: SupervisorArgs<T>,
    children: HashMap<Id, Child>,
    by_actor: HashMap<ActorId, Id>,
    /// Actors being stopped because their aggregates are at rest.
    leaving: HashMap<ActorId, Id>,
    /// Unloaded aggregates whose entries remain because a handle may still refer to them.
    lingering: Vec<Id>,
    sweeping: bool,
    began: Instant,
    closed: bool,
    closing: Option<RpcReplyPort<()>>,
}

/// Directory entry of an aggregate, and the actor that serves it.
type EntryWithActor<T> = (Arc<DirectoryEntry<T>>, ActorRef<Msg<T>>);

impl<T: StoredAggregate> Actor for Supervisor<T> {
    type Msg = SupervisorMsg<T>;
    type State = SupervisorState<T>;
    type Arguments = SupervisorArgs<T>;

    /// Starts all actors that were running before a crash of the supervisor, which stopped them.
    async fn pre_start(
        &self,
        me: ActorRef<SupervisorMsg<T>>,
        args: SupervisorArgs<T>,
    ) -> Result<SupervisorState<T>, ActorProcessingErr> {
        let mut lingering = Vec::new();
        for entry in in_order(&args.entries) {
            let mut up = false;
            entry.status.send_modify(|status| {
                up = !matches!(status.1, ActorStatus::Resting | ActorStatus::Closed);
                if up {
                    status.1 = ActorStatus::Starting;
                }
            });
            if up {
                let _ = me.cast(SupervisorMsg::Start(entry.id, entry.clone()));
            } else {
                lingering.push(entry.id);
            }
        }
        let _ = me.cast(SupervisorMsg::Sweep);
        args.me.set(me);
        Ok(SupervisorState {
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
        me: ActorRef<SupervisorMsg<T>>,
        message: SupervisorMsg<T>,
        s: &mut SupervisorState<T>,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            SupervisorMsg::Start(id, entry) => s.start(id, &entry, None, &me).await,
            SupervisorMsg::StartKnown(states, reply) => {
                for (id, state) in states {
                    let entry = s.entry(id);
                    s.start(id, &entry, Some(state), &me).await;
                }
                let _ = reply.send(());
            }
            SupervisorMsg::Restart(id, generation) => {
                let entry = s.args.entries.get(&id).map(|entry| entry.clone());
                if let Some(entry) = entry
                    && s.children.get(&id).is_some_and(|child| child.generation == generation)
                {
                    s.start(id, &entry, None, &me).await;
                }
            }
            SupervisorMsg::Passivate(id, generation) => s.passivate(id, generation),
            SupervisorMsg::Park(id, generation, why) => s.park(id, generation, &why, &me),
            SupervisorMsg::Sweep => s.sweep(&me),
            SupervisorMsg::Close(reply) => s.close(reply),
            #[cfg(any(test, debug_assertions))]
            SupervisorMsg::Crash => panic!("crash requested by a test"),
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        me: ActorRef<SupervisorMsg<T>>,
        event: SupervisionEvent,
        s: &mut SupervisorState<T>,
    ) -> Result<(), ActorProcessingErr> {
        let (cell, why) = match event {
            SupervisionEvent::ActorFailed(cell, error) => (cell, error.to_string()),
            SupervisionEvent::ActorTerminated(cell, state, why) => {
                drop(state); // it holds its status
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
                s.crashed(id, &why, &me);
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

impl<T: StoredAggregate> SupervisorState<T> {
    fn entry(&self, id: Id) -> Arc<DirectoryEntry<T>> {
        let fresh = || DirectoryEntry::new(id, self.args.me.clone(), self.args.max_waiting);
        self.args.entries.entry(id).or_insert_with(fresh).clone()
    }

    async fn start(
        &mut self,
        id: Id,
        origin_entry: &Arc<DirectoryEntry<T>>,
        initial: Option<Arc<Versioned<T>>>,
        me: &ActorRef<SupervisorMsg<T>>,
    ) {
        // The entry may have been evicted while somebody held its handle: it goes back, unless another one is there.
        let entry = self.args.entries.entry(id).or_insert_with(|| origin_entry.clone()).clone();
        if !Arc::ptr_eq(&entry, origin_entry) {
            origin_entry.status.send_modify(|status| *status = (status.0 + 1, ActorStatus::Closed));
        }
        if self.closed {
            entry.status.send_modify(|status| status.1 = ActorStatus::Closed);
            return;
        }
        if matches!(entry.status.borrow().1, ActorStatus::Here(_)) {
            return;
        }
        let last = entry.status.borrow().0;
        let child = self.children.entry(id).or_insert(Child { crashes: VecDeque::new(), generation: last });
        child.generation += 1;
        let generation = child.generation;
        let args = Args {
            entry: entry.clone(),
            store: self.args.store.clone(),
            effects: self.args.effects.clone(),
            activator: self.args.activator.clone(),
            environment: self.args.environment.clone(),
            policy: self.args.policy,
            generation,
            supervisor: self.args.me.clone(),
            initial,
        };
        // pre_start only enqueues a load, so awaiting the spawn costs microseconds whatever the database does.
        match AggregateActor::spawn_linked(None, AggregateActor(PhantomData), args, me.get_cell()).await {
            Ok((actor, _)) => {
                self.by_actor.insert(actor.get_id(), id);
                entry.status.send_replace((generation, ActorStatus::Here(actor)));
            }
            Err(error) => self.crashed(id, &error.to_string(), me),
        }
    }

    /// Changes the status of a running generation of an aggregate. Returns its entry and its actor, which the caller
    /// must stop; `None` if that generation is no longer running.
    fn withdraw(&mut self, id: Id, generation: u64, next: ActorStatus<T>) -> Option<EntryWithActor<T>> {
        let entry = self.args.entries.get(&id).map(|entry| entry.clone())?;
        let mut gone = None;
        entry.status.send_if_modified(|status| {
            if status.0 != generation || !matches!(status.1, ActorStatus::Here(_)) {
                return false;
            }
            if let ActorStatus::Here(actor) = std::mem::replace(&mut status.1, next) {
                gone = Some(actor);
            }
            true
        });
        let actor = gone?;
        self.by_actor.remove(&actor.get_id()); // asked for: not a crash
        Some((entry, actor))
    }

    fn passivate(&mut self, id: Id, generation: u64) {
        let Some((_, actor)) = self.withdraw(id, generation, ActorStatus::Resting) else { return };
        self.leaving.insert(actor.get_id(), id);
        self.children.remove(&id);
        actor.stop(None); // the queue is dropped; every envelope in it goes back to its caller
        self.args.store.forget(AggregateKey(T::KIND, id));
    }

    /// Takes an aggregate out of service that has not crashed but cannot be read. Waiting commands fail because the
    /// aggregate is parked.
    fn park(&mut self, id: Id, generation: u64, why: &str, me: &ActorRef<SupervisorMsg<T>>) {
        let Some((entry, actor)) = self.withdraw(id, generation, ActorStatus::Parked) else { return };
        let mut last_error = entry.last_error.lock().unwrap_or_else(PoisonError::into_inner);
        // Said once, and again when it is another row.
        if last_error.as_deref() != Some(why) {
            tracing::error!(kind = T::KIND, %id, why, "unreadable; out of service until repaired");
            *last_error = Some(why.to_owned());
        }
        drop(last_error);
        actor.stop(None);
        me.send_after(self.args.policy.probe, move || SupervisorMsg::Restart(id, generation));
    }

    /// Removes a resting aggregate's entry, unless a handle still refers to it. Returns whether the entry needs no
    /// further sweep, because it was removed or the aggregate is active again.
    fn evicted(&self, id: Id) -> bool {
        let rests = |entry: &Arc<DirectoryEntry<T>>| matches!(entry.status.borrow().1, ActorStatus::Resting);
        self.args.entries.remove_if(&id, |_, entry| Arc::strong_count(entry) == 1 && rests(entry));
        self.args.entries.get(&id).is_none_or(|entry| !rests(&entry))
    }

    fn sweep(&mut self, me: &ActorRef<SupervisorMsg<T>>) {
        self.sweeping = false;
        let lingering = std::mem::take(&mut self.lingering);
        self.lingering = lingering.into_iter().filter(|id| !self.evicted(*id)).collect();
        self.sweep_later(me);
    }

    fn sweep_later(&mut self, me: &ActorRef<SupervisorMsg<T>>) {
        if !self.sweeping && !self.lingering.is_empty() {
            self.sweeping = true;
            me.send_after(self.args.policy.rest_after, || SupervisorMsg::Sweep);
        }
    }

    fn crashed(&mut self, id: Id, why: &str, me: &ActorRef<SupervisorMsg<T>>) {
        let Some(entry) = self.args.entries.get(&id).map(|entry| entry.clone()) else { return };
        let Some(child) = self.children.get_mut(&id) else { return };
        self.args.me.meter().crashes.one();
        entry.restarts.fetch_add(1, Relaxed);
        *entry.last_error.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.to_owned());
        let chance = self.args.environment.chance();
        let delay = match self.args.policy.after(&mut child.crashes, self.began.elapsed(), chance) {
            CrashAction::RestartAfter(delay) => {
                tracing::error!(kind = T::KIND, %id, why, ?delay, "crashed; restarting");
                entry.status.send_modify(|status| status.1 = ActorStatus::Starting);
                delay
            }
            CrashAction::ParkAndProbeAfter(delay) => {
                tracing::error!(kind = T::KIND, %id, why, crashes = child.crashes.len(), "crashed too often; parked");
                entry.status.send_modify(|status| status.1 = ActorStatus::Parked);
                delay
            }
        };
        let generation = child.generation;
        me.send_after(delay, move || SupervisorMsg::Restart(id, generation));
    }

    /// Closes the kind: every child finishes the accepted commands and stops, and then `reply` is sent.
    fn close(&mut self, reply: RpcReplyPort<()>) {
        self.closed = true;
        for entry in in_order(&self.args.entries) {
            let before = entry.status.borrow().1.clone();
            if let ActorStatus::Here(actor) = before {
                let _ = actor.cast(Msg::Leave);
            }
            entry.status.send_modify(|status| status.1 = ActorStatus::Closed);
        }
        if self.by_actor.is_empty() {
            let _ = reply.send(());
        } else {
            self.closing = Some(reply);
        }
    }
}
