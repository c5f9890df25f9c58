//! Handles the store's response to the commit in flight, and responds to the callers.

use std::sync::Arc;

use ractor::ActorRef;

use super::{ActorState, CommitInFlight, MAX_SUPERSEDED, Msg};
use crate::envelope::{AskFailure, Envelope, Stage};
#[cfg(any(test, debug_assertions))]
use crate::test_panics::{self, Point};
use domain::aggregate::{Aggregate, Versioned};
use domain::refusal::{Class, Refusal};
use store::{Settlement, StoredAggregate, Unavailable};

impl<T: StoredAggregate> ActorState<T> {
    /// Settles the commit in flight with the store's response. Returns the number of commands settled.
    pub(super) fn settle(&mut self, settlement: Settlement, me: &ActorRef<Msg<T>>) -> usize {
        let Some(CommitInFlight { next, decided, created }) = self.flight.take() else { return 0 };
        let many = decided.len();
        match settlement {
            Settlement::Durable => {
                #[cfg(any(test, debug_assertions))]
                test_panics::reached(T::KIND, Point::Settle);
                let revision = next.revision();
                self.superseded = 0;
                self.adopt(next, me);
                created.iter().for_each(|(kind, id)| self.args.activator.activate(kind, *id));
                reply(decided, revision);
            }
            // Refusals too: they may have been judged on a state that never came to be.
            Settlement::NotDurable(why) => {
                decided.into_iter().for_each(|e| e.fail(AskFailure::Unavailable(why)));
            }
            Settlement::Clash { at, constraint } => self.blame(decided, at, || {
                if constraint.starts_with("idempotency") {
                    AskFailure::KeyTaken
                } else {
                    AskFailure::Refused(T::clash(&constraint))
                }
            }),
            Settlement::Unmet { at, requirement } => {
                self.blame(decided, Some(at), || AskFailure::Refused(requirement.refusal()));
            }
            Settlement::BadValue { at } => self.blame(decided, at, || {
                let words = "a value cannot be stored: shorten it or remove control characters";
                AskFailure::Refused(Refusal::new(Class::Invalid, "validation_failed", words))
            }),
            // Certainly not on disk: decided again on what is.
            Settlement::Superseded => {
                self.superseded += 1;
                if self.superseded > MAX_SUPERSEDED {
                    decided.into_iter().for_each(|e| e.fail(AskFailure::Unavailable(Unavailable::Database)));
                } else {
                    self.wait_again(decided);
                }
                self.reload(me);
            }
            // Nobody can say what happened, but the disk can: keep the flight until the load answers.
            Settlement::Lost => {
                self.flight = Some(CommitInFlight { next, decided, created });
                self.reload(me);
            }
        }
        many
    }

    /// Reports a failure to the caller of the command that caused it, and queues the other commands to be decided
    /// again. If it is unknown which command caused the failure, they are decided one per commit.
    fn blame(&mut self, mut decided: Vec<Envelope<T>>, guilty: Option<usize>, failure: impl FnOnce() -> AskFailure) {
        let many = decided.len();
        let guilty = guilty.filter(|at| *at < many).map(|at| decided.remove(at));
        if guilty.is_none() {
            self.alone = many;
        }
        self.wait_again(decided);
        if let Some(guilty) = guilty {
            guilty.fail(failure());
        }
    }

    fn wait_again(&mut self, decided: Vec<Envelope<T>>) {
        for mut envelope in decided.into_iter().rev() {
            envelope.set_stage(Stage::Waiting);
            self.waiting.push_front(envelope);
        }
    }

    /// Adopts a loaded state, and settles the commit in flight, if any. Since at most one is in flight, the version on
    /// disk shows whether it was written. A commit that only wrote other rows (stored rejections) leaves no trace in
    /// the version; its callers get [`AskFailure::Unknown`] and can use their idempotency key to find out the outcome.
    pub(super) fn loaded(&mut self, loaded: Arc<Versioned<T>>, me: &ActorRef<Msg<T>>) {
        let flight = self.flight.take();
        let before = self.args.entry.published.load().version;
        let (version, revision) = (loaded.version, loaded.revision());
        self.adopt(loaded, me);
        let Some(flight) = flight else { return };
        if flight.next.version == before {
            flight.decided.into_iter().for_each(|e| e.fail(AskFailure::Unknown));
        } else if flight.next.version == version {
            flight.created.iter().for_each(|(kind, id)| self.args.activator.activate(kind, *id));
            reply(flight.decided, revision);
        } else {
            flight.decided.into_iter().for_each(|e| e.fail(AskFailure::Unavailable(Unavailable::Database)));
        }
    }
}

/// Sends the results of decided commands to their callers.
pub(super) fn reply<T: Aggregate>(decided: Vec<Envelope<T>>, version: i64) {
    decided.into_iter().for_each(|envelope| envelope.reply(version));
}
