//! Envelope that carries a command from its caller to its answer.
//!
//! An [`Envelope`] guarantees that its caller receives exactly one [`CommandEnd`], and that this outcome never claims
//! more than is known. The holder of the envelope (mailbox, actor, commit in flight) may crash or be dropped at any
//! moment; the drop itself answers, depending on how far the command had come ([`Stage`]):
//!
//! - before its decision, or decided and not submitted: nothing happened, so the command goes back to the handle, which
//!   sends it again to the restarted actor ([`CommandEnd::NotDone`]);
//! - during its decision: this command made the actor crash. It is not sent again, or it would crash the actor until
//!   the restart policy parks it ([`CommandEnd::Poison`]);
//! - after it was submitted to the store: it may be on disk or not ([`CommandEnd::Unknown`]). The caller finds out by
//!   repeating it with its idempotency key, which is written in the same commit.
//!
//! The admission permit travels in the envelope, so a command that is sent again is never refused as overloaded.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use domain::aggregate::Aggregate;
use domain::principal::Principal;
use domain::refusal::Refusal;
use domain::time::Timestamp;
use store::Unavailable;

/// Idempotency key in its stored form: a hash of principal, route and key, and a hash of the body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdempotencyKey {
    /// Hash of principal, method, path and key, which is the row's primary key.
    pub key: String,
    /// Hash of the raw request body.
    pub body_hash: String,
    /// Time until which the answer is stored under the key.
    pub expires_at: Timestamp,
}

/// Origin of a command: the principal, the HTTP request, and the key by which retries are recognised.
#[derive(Clone, Debug)]
pub struct CommandOrigin {
    /// Principal on whose behalf the command is decided; recorded in the audit log.
    pub by: Arc<Principal>,
    /// Id of the HTTP request, for the audit log.
    pub request_id: Option<Arc<str>>,
    /// Key under which the answer is stored; if `None`, a retry is a new command.
    pub key: Option<IdempotencyKey>,
}

impl CommandOrigin {
    /// Returns the origin for the server's own commands, without an idempotency key.
    pub fn system() -> Self {
        Self { by: Arc::new(Principal::System), request_id: None, key: None }
    }
    /// Creates the origin for a principal's command, without an idempotency key.
    pub fn new(by: Principal) -> Self {
        Self { by: Arc::new(by), request_id: None, key: None }
    }
}

/// Command with its origin.
#[derive(Clone, Debug)]
pub struct AttributedCommand<T: Aggregate> {
    /// Command for the aggregate.
    pub command: T::Command,
    /// Principal and request of the command.
    pub caller: CommandOrigin,
}

/// Answer to a command, with the version of the aggregate.
#[derive(Clone, Debug)]
pub struct CommandAnswer<T: Aggregate> {
    /// Answer of the rules.
    pub answer: T::Answer,
    /// Version of the aggregate after the commit.
    pub version: i64,
}

/// Progress of a command.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Stage {
    /// Waiting in a mailbox or a queue.
    Waiting,
    /// Being decided: a crash at this point is caused by this command.
    Deciding,
    /// Decided, but its commit is not submitted: it may be decided again.
    Decided,
    /// Its commit was submitted to the store: only the store's answer tells whether it happened.
    Submitted,
}

/// Outcome of a command.
pub enum CommandEnd<T: Aggregate> {
    /// Decided, and on disk if it changed anything.
    Done(CommandAnswer<T>),
    /// The rules refused it.
    Refused(Refusal),
    /// The idempotency key is already in use: its stored answer is the outcome.
    KeyTaken,
    /// The database did not accept the commit. Nothing happened.
    Unavailable(Unavailable),
    /// The actor crashed or was unloaded before the command reached the store: nothing happened. The command and its
    /// permit go back to the handle, which sends it again.
    NotDone(AttributedCommand<T>, OwnedSemaphorePermit),
    /// The actor crashed while deciding this command: nothing happened, and it is not sent again.
    Poison,
    /// The actor crashed while the commit was being written: it may be on disk. A retry with the idempotency key
    /// reveals the outcome.
    Unknown,
}

type Open<T> = (AttributedCommand<T>, oneshot::Sender<CommandEnd<T>>, OwnedSemaphorePermit);

/// Command on its way to its answer. See the module for its guarantees.
pub struct Envelope<T: Aggregate> {
    /// Progress of the command; determines the answer sent on drop.
    pub stage: Stage,
    open: Option<Open<T>>,
}

impl<T: Aggregate> Envelope<T> {
    /// Wraps a waiting command. `permit` is its admission permit for the aggregate.
    pub fn new(
        request: AttributedCommand<T>,
        reply: oneshot::Sender<CommandEnd<T>>,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        Self { stage: Stage::Waiting, open: Some((request, reply, permit)) }
    }
    /// Returns the command and its origin; `None` once it is answered.
    pub fn request(&self) -> Option<&AttributedCommand<T>> {
        self.open.as_ref().map(|(request, ..)| request)
    }
    /// Sends the outcome to the caller.
    pub fn answer(mut self, outcome: CommandEnd<T>) {
        if let Some((_, reply, permit)) = self.open.take() {
            drop(permit); // before the answer: whoever hears it may ask again at once
            let _ = reply.send(outcome);
        }
    }
}

impl<T: Aggregate> Drop for Envelope<T> {
    fn drop(&mut self) {
        if let Some((request, reply, permit)) = self.open.take() {
            let outcome = match self.stage {
                Stage::Waiting | Stage::Decided => CommandEnd::NotDone(request, permit),
                Stage::Deciding => CommandEnd::Poison,
                Stage::Submitted => CommandEnd::Unknown,
            };
            let _ = reply.send(outcome);
        }
    }
}
