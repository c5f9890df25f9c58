//! Actor type behind every aggregate. It decides commands one at a time, and makes each change durable before anyone
//! can observe it.
//!
//! Commands are collected in a queue. When no commit is in flight, the waiting commands (up to a limit) are decided one
//! at a time, each based on the state left by the previous one, and submitted to the store as one commit (group
//! commit). When the store confirms that the commit is on disk, the actor adopts the new state, publishes it and
//! responds to all of the callers. This includes callers of rejected commands, because these may have been decided on a
//! state that was not committed yet.
//!
//! Invariants:
//! - Each aggregate has at most one commit in flight. After a lost connection, the version on disk therefore shows
//!   exactly whether that commit happened.
//! - No uncommitted state is visible: published state, responses and effects follow the commit.
//! - The actor awaits nothing while it handles a message. Loads and commits come back as messages, so it cannot
//!   deadlock with another actor and never delays a shutdown.
//! - The generation (one per start of the actor) is part of each commit. The store rejects commits from generations
//!   older than the last load, so a crashed actor's late commit cannot overtake its successor.
//! - When the database is unavailable, the actor stays up and reports it. An outage must not use up the restart
//!   budget.

mod decide;
mod settle;

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::task::AbortHandle;

use crate::effects::{Effects, keep_running};
use crate::entry::{DirectoryEntry, SupervisorMsg, SupervisorRef};
use crate::envelope::{AskFailure, Envelope};
use crate::environment::Environment;
use crate::handle::Handle;
use crate::message::Msg;
use crate::restart_policy::RestartPolicy;
use domain::aggregate::{Aggregate, Versioned};
use domain::id::Id;
use store::ordered_work::LoadAnswer;
use store::rows::DamagedRow;
use store::{AggregateKey, Store, StoredAggregate, Unavailable};

/// Pause before loading the state again after the store was unavailable.
const RELOAD_AFTER: Duration = Duration::from_millis(200);
/// Number of times that the actor yields to the scheduler after responding, so that callers that immediately send a new
/// command can be part of the next commit.
const GATHER_YIELDS: usize = 4;
/// Number of consecutive superseded commits after which commands are not retried, because a different writer is
/// changing the aggregate.
const MAX_SUPERSEDED: u32 = 3;

/// Starter of actors for aggregates that a commit creates.
pub trait Activator: Send + Sync + 'static {
    /// Starts the actor of an aggregate that a commit created.
    fn activate(&self, kind: &'static str, id: Id);
}

/// Start arguments of an actor.
pub struct Args<T: Aggregate> {
    pub(super) entry: Arc<DirectoryEntry<T>>,
    pub(super) store: Store,
    pub(super) effects: Arc<dyn Effects<T>>,
    pub(super) activator: Arc<dyn Activator>,
    pub(super) environment: Arc<Environment>,
    pub(super) policy: RestartPolicy,
    pub(super) generation: u64,
    pub(super) supervisor: SupervisorRef<T>,
    /// Initial state, if the starter already has it (bulk start, new ID); `None` if it must be loaded from the store.
    pub(super) initial: Option<Arc<Versioned<T>>>,
}

struct CommitInFlight<T: Aggregate> {
    next: Arc<Versioned<T>>,
    decided: Vec<Envelope<T>>,
    /// Kind and ID of each aggregate created by the commit.
    created: Vec<(&'static str, Id)>,
}

/// State that an aggregate's actor keeps between messages.
pub struct ActorState<T: Aggregate> {
    args: Args<T>,
    /// Last committed state; `None` while it is being loaded.
    committed: Option<Arc<Versioned<T>>>,
    waiting: VecDeque<Envelope<T>>,
    flight: Option<CommitInFlight<T>>,
    gathering: bool,
    /// `true` once the actor has asked to be unloaded; later commands are returned to their handle when the actor
    /// stops.
    leaving: bool,
    /// `true` once the server is shutting down.
    closing: bool,
    /// Number of commands that must still be decided one per commit, because a snapshot row that several of them
    /// contributed to violated a constraint and it is unknown which command caused this.
    alone: usize,
    /// Number of consecutive commits superseded by a different version on disk.
    superseded: u32,
    /// Running effects and their tasks, in the order in which they began. They are also aborted in this order, because
    /// an aborted task wakes those that wait for it.
    under_way: Vec<(T::Effect, AbortHandle)>,
    ask_count: u64,
    quiet_set: bool,
}

impl<T: Aggregate> Drop for ActorState<T> {
    fn drop(&mut self) {
        self.under_way.iter().for_each(|(_, task)| task.abort());
    }
}

/// Actor type behind every aggregate. All its data is in [`ActorState`].
pub struct AggregateActor<T>(pub(super) PhantomData<fn() -> T>);

impl<T: StoredAggregate> Actor for AggregateActor<T> {
    type Msg = Msg<T>;
    type State = ActorState<T>;
    type Arguments = Args<T>;

    async fn pre_start(&self, me: ActorRef<Msg<T>>, mut args: Args<T>) -> Result<ActorState<T>, ActorProcessingErr> {
        let initial = args.initial.take();
        let mut live = ActorState {
            args,
            committed: None,
            waiting: VecDeque::new(),
            flight: None,
            gathering: false,
            leaving: false,
            closing: false,
            alone: 0,
            superseded: 0,
            under_way: Vec::new(),
            ask_count: 0,
            quiet_set: false,
        };
        match initial {
            Some(state) => live.adopt(state, &me),
            None => live.reload(&me),
        }
        Ok(live)
    }

    async fn handle(
        &self,
        me: ActorRef<Msg<T>>,
        message: Msg<T>,
        live: &mut ActorState<T>,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            Msg::Do(envelope) => {
                live.ask_count += 1;
                live.waiting.push_back(envelope);
            }
            Msg::Loaded(LoadAnswer::Found(loaded)) => live.loaded(loaded, &me),
            Msg::Loaded(LoadAnswer::Damaged(damaged)) => live.park(&damaged),
            // The database is unavailable: say so, stay, ask again.
            Msg::Loaded(LoadAnswer::Unavailable) => {
                live.waiting.drain(..).for_each(|e| e.fail(AskFailure::Unavailable(Unavailable::Database)));
                me.send_after(RELOAD_AFTER, || Msg::Reload);
            }
            Msg::Reload => live.reload(&me),
            Msg::Settled(settlement) => {
                if live.settle(settlement, &me) > 1 {
                    live.gather(&me);
                }
            }
            Msg::Decide => live.gathering = false,
            Msg::Quiet(ask_count) => live.quiet(ask_count, &me),
            Msg::Leave => live.closing = true,
            #[cfg(any(test, debug_assertions))]
            Msg::Crash => panic!("crash requested by a test"),
        }
        while live.decide(&me) {}
        if live.closing && live.waiting.is_empty() && live.flight.is_none() {
            me.stop(None);
        }
        Ok(())
    }
}

impl<T: StoredAggregate> ActorState<T> {
    fn gather(&mut self, me: &ActorRef<Msg<T>>) {
        self.gathering = true;
        let later = me.clone();
        tokio::spawn(async move {
            for _ in 0..GATHER_YIELDS {
                tokio::task::yield_now().await;
            }
            let _ = later.cast(Msg::Decide);
        });
    }

    fn reload(&mut self, me: &ActorRef<Msg<T>>) {
        self.committed = None;
        let me = me.clone();
        self.args.store.load::<T>(AggregateKey(T::KIND, self.args.entry.id), self.args.generation, move |loaded| {
            let _ = me.cast(Msg::Loaded(loaded));
        });
    }

    /// Asks the supervisor to take the aggregate out of service until the damaged row is repaired.
    fn park(&mut self, damaged: &DamagedRow) {
        self.leaving = true;
        let park = SupervisorMsg::Park(self.args.entry.id, self.args.generation, damaged.to_string());
        let _ = self.args.supervisor.cast(park);
    }

    /// Asks the supervisor to unload the aggregate if it is at rest and idle. A command that arrives too late is
    /// returned to its handle, which activates the aggregate again.
    fn quiet(&mut self, ask_count: u64, me: &ActorRef<Msg<T>>) {
        self.quiet_set = false;
        let idle = self.waiting.is_empty() && self.flight.is_none() && self.under_way.is_empty();
        let rests = self.committed.as_ref().is_some_and(|c| c.state.as_ref().is_none_or(T::at_rest));
        if !rests {
            return;
        }
        if idle && ask_count == self.ask_count {
            self.leaving = true;
            let _ = self.args.supervisor.cast(SupervisorMsg::Passivate(self.args.entry.id, self.args.generation));
        } else {
            self.quiet_later(me);
        }
    }

    fn quiet_later(&mut self, me: &ActorRef<Msg<T>>) {
        if !self.quiet_set {
            self.quiet_set = true;
            let ask_count = self.ask_count;
            me.send_after(self.args.policy.rest_after, move || Msg::Quiet(ask_count));
        }
    }

    fn adopt(&mut self, state: Arc<Versioned<T>>, me: &ActorRef<Msg<T>>) {
        self.args.entry.publish(state.clone(), self.args.generation);
        self.run_due_effects(&state);
        if state.state.is_some() {
            self.args.effects.committed(&Handle(self.args.entry.clone()), &state);
        }
        if state.state.as_ref().is_none_or(T::at_rest) {
            self.quiet_later(me);
        }
        self.committed = Some(state);
    }

    /// Starts the effects that the state calls for, and aborts those that it no longer calls for.
    fn run_due_effects(&mut self, state: &Versioned<T>) {
        let due = state.state.as_ref().map(T::effects).unwrap_or_default();
        self.under_way.retain(|(effect, task)| {
            let stays = due.contains(effect);
            if !stays {
                task.abort();
            }
            stays
        });
        for effect in due {
            if self.under_way.iter().all(|(running, _)| *running != effect) {
                let (of, effects) = (Handle(self.args.entry.clone()), self.args.effects.clone());
                let leadership = self.args.environment.leadership().clone();
                let task = keep_running(effects, effect.clone(), of, leadership);
                self.under_way.push((effect, task));
            }
        }
    }
}
