//! A command on its way from a caller to its answer.
//!
//! What an [`Envelope`] guarantees: its caller hears exactly one [`CommandEnd`], and the outcome never claims more than
//! is known. Whoever holds the envelope (mailbox, actor, commit under way) may crash or be dropped at any moment; the
//! drop itself answers, by how far the command had come ([`Stage`]):
//!
//! - before its decision, or decided and not submitted: certainly nothing happened, so the command goes back to the
//!   handle, which sends it again to the restarted actor ([`CommandEnd::NotDone`]);
//! - during its decision: this very command made the actor crash. It is not sent again, or it would crash the actor
//!   until the restart policy parks it ([`CommandEnd::Poison`]);
//! - after it was submitted to the store: it may be on disk or not ([`CommandEnd::Unknown`]). The caller finds out by
//!   repeating it with its idempotency key, which is written in the same commit.
//!
//! The permit of admission travels in the envelope, so a command that is sent again is never refused as overloaded.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::domain::aggregate::Aggregate;
use crate::domain::principal::Principal;
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use crate::store::Unavailable;

/// An idempotency key as it is kept: a hash of principal, route and key, and a hash of the body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdempotencyKey {
    /// Hash of principal, method, path and key; the row's primary key.
    pub key: String,
    /// Hash of the raw body.
    pub body_hash: String,
    /// The answer is kept under its key until this moment.
    pub expires_at: Timestamp,
}

/// Who asks a command, and how a repeat of it is recognised.
#[derive(Clone, Debug)]
pub struct CommandOrigin {
    /// The principal that the rules judge and the audit log names.
    pub by: Arc<Principal>,
    /// Id of the HTTP request, for the audit log.
    pub request_id: Option<Arc<str>>,
    /// The answer is kept under this key; `None`: a repeat is a new command.
    pub key: Option<IdempotencyKey>,
}

impl CommandOrigin {
    /// The server itself, without a key.
    pub fn system() -> Self {
        Self { by: Arc::new(Principal::System), request_id: None, key: None }
    }
    /// A principal, without a key.
    pub fn new(by: Principal) -> Self {
        Self { by: Arc::new(by), request_id: None, key: None }
    }
}

/// A command and who asks it.
#[derive(Clone, Debug)]
pub struct AskedCommand<T: Aggregate> {
    /// What the aggregate is asked to do.
    pub command: T::Command,
    /// Who asks, and in which request: for the audit log.
    pub caller: CommandOrigin,
}

/// An answer and the version that it came with.
#[derive(Clone, Debug)]
pub struct Answered<T: Aggregate> {
    /// What the rules said.
    pub answer: T::Answer,
    /// The aggregate's version after the commit.
    pub version: i64,
}

/// How far an envelope is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Stage {
    /// In a mailbox or a queue.
    Waiting,
    /// Being decided: a crash now is caused by this command.
    Deciding,
    /// It was decided, but its commit is not submitted: it may be decided again.
    Decided,
    /// Its commit was submitted to the store: whether it happened is known only when the store says so.
    Submitted,
}

/// What the caller hears.
pub enum CommandEnd<T: Aggregate> {
    /// Decided, and on disk if it changed anything.
    Done(Answered<T>),
    /// The rules refused it.
    Refused(Refusal),
    /// The idempotency key is taken: the kept answer tells.
    KeyTaken,
    /// The database did not take it. Nothing happened.
    Unavailable(Unavailable),
    /// The actor crashed or left memory before this reached the store: nothing happened. The command and its permit go
    /// back to the handle, which sends it again.
    NotDone(AskedCommand<T>, OwnedSemaphorePermit),
    /// The actor crashed while deciding this very command: nothing happened, and it is not sent again.
    Poison,
    /// The actor crashed while this was being written: it may be on disk. The idempotency key tells.
    Unknown,
}

type Open<T> = (AskedCommand<T>, oneshot::Sender<CommandEnd<T>>, OwnedSemaphorePermit);

/// A command on its way to its answer. See the module for what it guarantees.
pub struct Envelope<T: Aggregate> {
    /// How far the command is; decides what a drop answers.
    pub stage: Stage,
    open: Option<Open<T>>,
}

impl<T: Aggregate> Envelope<T> {
    /// A command that waits. `permit` is its place in the admission of its aggregate.
    pub fn new(asked: AskedCommand<T>, reply: oneshot::Sender<CommandEnd<T>>, permit: OwnedSemaphorePermit) -> Self {
        Self { stage: Stage::Waiting, open: Some((asked, reply, permit)) }
    }
    /// The command and who asks it; `None` once answered.
    pub fn asked(&self) -> Option<&AskedCommand<T>> {
        self.open.as_ref().map(|(asked, ..)| asked)
    }
    /// Tells the caller the outcome.
    pub fn answer(mut self, outcome: CommandEnd<T>) {
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
                Stage::Waiting | Stage::Decided => CommandEnd::NotDone(asked, permit),
                Stage::Deciding => CommandEnd::Poison,
                Stage::Submitted => CommandEnd::Unknown,
            };
            let _ = reply.send(outcome);
        }
    }
}
