//! A command on its way. Whatever becomes of the actor, dropping the envelope tells the caller the truth.

use crate::domain::aggregate::Aggregate;
use crate::domain::principal::Principal;
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use crate::store::Unavailable;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

/// An idempotency key as it is kept: a hash of principal, route and key, and a hash of the body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdempotencyKey {
    /// Hash of principal, method, path and key; the row's primary key.
    pub key: String,
    /// Hash of the raw body.
    pub body_hash: String,
    /// Kept until.
    pub expires_at: Timestamp,
}

/// Who asks, and how a repeat is recognised.
#[derive(Clone, Debug)]
pub struct CommandOrigin {
    /// Who.
    pub by: Arc<Principal>,
    /// Of the request, for the audit log.
    pub request_id: Option<Arc<str>>,
    /// The answer is kept under this key.
    pub key: Option<IdempotencyKey>,
}

impl CommandOrigin {
    /// The server itself.
    pub fn system() -> Self {
        Self { by: Arc::new(Principal::System), request_id: None, key: None }
    }
    /// Somebody, without a key.
    pub fn new(by: Principal) -> Self {
        Self { by: Arc::new(by), request_id: None, key: None }
    }
}

/// A command and who asks it.
#[derive(Clone, Debug)]
pub struct Asked<T: Aggregate> {
    /// What.
    pub command: T::Command,
    /// By whom.
    pub caller: CommandOrigin,
}

/// An answer and the version that it came with.
#[derive(Clone, Debug)]
pub struct Answered<T: Aggregate> {
    /// What the rules said.
    pub answer: T::Answer,
    /// The thing's version after the commit.
    pub version: i64,
}

/// How far an envelope is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Stage {
    /// In a mailbox or a queue.
    Waiting,
    /// In the rules' hands: a fall now is this command's doing.
    Deciding,
    /// Decided, not submitted.
    Decided,
    /// At the store.
    Submitted,
}

/// What the caller hears.
pub enum Outcome<T: Aggregate> {
    /// Aggregate.
    Done(Answered<T>),
    /// The rules said no.
    Refused(Refusal),
    /// The idempotency key is taken: the kept answer tells.
    KeyTaken,
    /// The database did not take it. NoEffects happened.
    Unavailable(Unavailable),
    /// The actor fell before this reached the store: nothing happened, the handle sends it again. Admitted stays
    /// admitted.
    NotDone(Asked<T>, OwnedSemaphorePermit),
    /// The actor fell while deciding this very command: nothing happened, and it is not sent again.
    Poison,
    /// The actor fell while this was being written. The idempotency key decides.
    Unknown,
}

type Open<T> = (Asked<T>, oneshot::Sender<Outcome<T>>, OwnedSemaphorePermit);

/// A command on its way to its answer.
pub struct Envelope<T: Aggregate> {
    /// How far it is.
    pub stage: Stage,
    open: Option<Open<T>>,
}

impl<T: Aggregate> Envelope<T> {
    /// On its way.
    pub fn new(asked: Asked<T>, reply: oneshot::Sender<Outcome<T>>, permit: OwnedSemaphorePermit) -> Self {
        Self { stage: Stage::Waiting, open: Some((asked, reply, permit)) }
    }
    /// What is asked; `None` once answered.
    pub fn asked(&self) -> Option<&Asked<T>> {
        self.open.as_ref().map(|(asked, ..)| asked)
    }
    /// Answers.
    pub fn answer(mut self, outcome: Outcome<T>) {
        if let Some((_, reply, permit)) = self.open.take() {
            drop(permit); // before the answer: whoever hears it may ask again at once
            let _ = reply.send(outcome);
        }
    }
}

impl<T: Aggregate> Drop for Envelope<T> {
    fn drop(&mut self) {
        if let Some((asked, reply, permit)) = self.open.take() {
            let outcome = match self.stage {
                Stage::Waiting | Stage::Decided => Outcome::NotDone(asked, permit),
                Stage::Deciding => Outcome::Poison,
                Stage::Submitted => Outcome::Unknown,
            };
            let _ = reply.send(outcome);
        }
    }
}
