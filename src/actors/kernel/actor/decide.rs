//! Decides the waiting commands and submits their changes as one commit.

use std::collections::HashSet;
use std::sync::Arc;

use ractor::ActorRef;

use super::settle::reply;
use super::{ActorState, CommitInFlight, Msg};
use crate::envelope::Stage;
use domain::aggregate::{NewAggregate, Versioned};
use store::rows::StoredRow;
use store::{AggregateKey, CommandWrites, CommitOwner, StoredAggregate, Submission};

impl<T: StoredAggregate> ActorState<T> {
    /// Decides waiting commands as one commit. Returns `true` if the callers got responses without a commit, so that
    /// the remaining commands can be decided immediately.
    pub(super) fn decide(&mut self, me: &ActorRef<Msg<T>>) -> bool {
        let Some(committed) = self.committed.clone() else { return false };
        if self.flight.is_some() || self.gathering || self.leaving || self.waiting.is_empty() {
            return false;
        }
        let many = self.commands_of_next_commit();
        let (id, environment) = (self.args.entry.id, self.args.environment.clone());
        let (mut next, mut written): (Option<T>, bool) = (None, false);
        let (mut flight, mut groups, mut created) = (Vec::with_capacity(many), Vec::with_capacity(many), Vec::new());
        // What people compare with, after the commands that are decided already.
        let revision = |next: Option<&T>| revision_after(&committed, next);
        for mut envelope in self.waiting.drain(..many) {
            let Some(by) = envelope.principal() else { continue };
            let cx = environment.cx(&by);
            let mut group = CommandWrites::default();
            let this = next.as_ref().or(committed.state.as_ref());
            if let Some(decision) = envelope.decide(this, id, &cx, revision(next.as_ref())) {
                if let Some(state) = decision.next {
                    next = Some(state);
                    written = true;
                    group.audit = envelope.audit(id, &cx);
                }
                written |= !decision.rows.is_empty() || !decision.events.is_empty() || !decision.created.is_empty();
                let boxed = |row| Box::new(row) as Box<dyn StoredRow>;
                group.rows = decision.rows.into_iter().map(boxed).collect();
                group.events = decision.events;
                group.requirements = decision.requirements;
                for new in decision.created {
                    created.push((new.kind(), new.id()));
                    group.rows.push(Box::new(new));
                }
            }
            if let Some(stored) = envelope.stored_answer(id, revision(next.as_ref()), &cx) {
                written = true;
                match stored {
                    Ok(stored) => group.idempotent_answer = Some(stored),
                    Err(error) => tracing::error!(kind = T::KIND, %id, %error, "cannot store an answer"),
                }
            }
            groups.push(group);
            flight.push(envelope);
        }
        let state = Arc::new(state_after(&committed, next));
        if !written {
            reply(flight, committed.revision()); // nothing to write, judged on committed state
            return true;
        }
        let changed = state.state.as_ref().filter(|_| state.version > committed.version);
        let snapshot =
            match changed.map(|aggregate| aggregate.snapshot(id, state.version, aggregate.at_rest())).transpose() {
                Ok(snapshot) => snapshot,
                Err(error) => {
                    tracing::error!(kind = T::KIND, %id, %error, "cannot store the state");
                    flight.iter_mut().for_each(|envelope| envelope.set_stage(Stage::Deciding));
                    return true;
                }
            };
        flight.iter_mut().for_each(|envelope| envelope.set_stage(Stage::Submitted));
        let key = AggregateKey(T::KIND, id);
        self.submit(me, Submission { key, generation: self.args.generation, snapshot, commands: groups });
        self.flight = Some(CommitInFlight { next: state, decided: flight, created });
        false
    }

    /// Returns the number of waiting commands to include in the next commit. Two commands with the same idempotency key
    /// are never in one commit: the first one's response is on disk before the second one is found to repeat it.
    fn commands_of_next_commit(&mut self) -> usize {
        let most = if self.alone > 0 { 1 } else { self.args.policy.max_commands_per_commit };
        self.alone = self.alone.saturating_sub(1);
        let mut keys = HashSet::new();
        let mut count = 0;
        for envelope in self.waiting.iter().take(most) {
            if envelope.key().is_some_and(|key| !keys.insert(key)) {
                break;
            }
            count += 1;
        }
        count
    }

    /// Passes a commit to the store, whose response arrives as a message.
    fn submit(&self, me: &ActorRef<Msg<T>>, submission: Submission) {
        let me = me.clone();
        self.args.store.commit(
            submission,
            CommitOwner::new(move |settlement| {
                let _ = me.cast(Msg::Settled(settlement));
            }),
        );
    }
}

/// Returns the revision of the next state, if any, or else of the committed state.
fn revision_after<T: StoredAggregate>(committed: &Versioned<T>, next: Option<&T>) -> i64 {
    match next {
        Some(state) => state.revision().unwrap_or(committed.version + 1),
        None => committed.revision(),
    }
}

/// Returns the state that the next commit stores; the committed state if there is no next state.
fn state_after<T: StoredAggregate>(committed: &Versioned<T>, next: Option<T>) -> Versioned<T> {
    match next {
        Some(next) => Versioned { version: committed.version + 1, state: Some(next) },
        None => committed.clone(),
    }
}
