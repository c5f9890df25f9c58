//! Envelope that carries a command from the caller until the caller gets a response.
//!
//! An [`Envelope`] guarantees that its caller receives exactly one [`CommandEnd`], and that this outcome never claims
//! more than is known. The holder of the envelope (mailbox, actor, commit in flight) may crash or be dropped at any
//! time. Dropping the envelope sends a response that depends on the command's progress ([`Stage`]):
//!
//! - before the decision, or after it but before submission: nothing was changed, so the command is returned to the
//!   handle, which sends it again to the restarted actor ([`CommandEnd::NotDone`]);
//! - during the decision: the command caused the actor to crash. It is not sent again, because it would crash the
//!   actor until the restart policy parks it ([`AskFailure::Poison`]);
//! - after submission to the store: the command may or may not be on disk ([`CommandEnd::Interrupted`]). The caller
//!   can find out by retrying with the idempotency key, which is written in the same commit. The handle reports this
//!   only after the restarted actor has published the state on disk, so that a caller who learns that the command was
//!   carried out also sees its result.
//!
//! The admission permit stays in the envelope, so a resent command is never rejected as `overloaded`.
//!
//! An actor accepts commands of several types, each with its own response type ([`Command::Answer`]). A
//! [`PendingCommand`] hides the type and holds the response from the decision until the commit, so that responses
//! cannot be mixed up and each caller receives the response to its own command. Only the two ends of the path know the
//! type; everything in between is compiled once for each aggregate kind instead of once for each command.

mod records;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, oneshot};

#[cfg(any(test, debug_assertions))]
use crate::test_panics::{self, Point};
use domain::aggregate::{Aggregate, Command, Decision, DecisionContext};
use domain::id::Id;
use domain::principal::Principal;
use domain::refusal::{Class, Refusal};
use domain::time::Timestamp;
use store::Unavailable;
use store::rows::{Audit, IdempotentAnswer};

/// Idempotency key in its stored form: a hash of the principal, route and key, and a hash of the body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdempotencyKey {
    /// Hash of the principal, method, path and key, which is the row's primary key.
    pub key: String,
    /// Hash of the raw request body.
    pub body_hash: String,
    /// Time at which the response stored under the key expires.
    pub expires_at: Timestamp,
}

/// Origin of a command: the principal, the HTTP request, and the key for recognising retries.
#[derive(Clone, Debug)]
pub struct CommandOrigin {
    /// Principal on whose behalf the command is decided; recorded in the audit log.
    pub by: Arc<Principal>,
    /// ID of the HTTP request, for the audit log.
    pub request_id: Option<Arc<str>>,
    /// Key under which the response is stored; if `None`, a retry is a new command.
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

/// Command of any type with its origin, and with its response once it has been decided.
pub struct PendingCommand<T: Aggregate> {
    command: Box<dyn AnyCommand<T>>,
    caller: CommandOrigin,
}

impl<T: Aggregate> PendingCommand<T> {
    /// Creates a command that has not been decided.
    pub fn new<C: Command<T>>(caller: CommandOrigin, command: C) -> Self {
        Self { command: Box::new(TypedCommand::<T, C> { command, verdict: None }), caller }
    }
}

/// Response of any type; see [`CommandAnswer::typed`].
pub type AnyAnswer = Box<dyn Any + Send>;

/// Response to a command, with the aggregate's version after the commit.
#[derive(Clone, Debug)]
pub struct CommandAnswer<A> {
    /// Response from the domain rules.
    pub answer: A,
    /// Aggregate version after the commit.
    pub version: i64,
}

impl CommandAnswer<AnyAnswer> {
    /// Returns the response with its type; `None` if it belongs to a command with a different type of response.
    pub fn typed<A: 'static>(self) -> Option<CommandAnswer<A>> {
        let Self { answer, version } = self;
        answer.downcast().ok().map(|answer| CommandAnswer { answer: *answer, version })
    }
}

/// Stage of a command.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Stage {
    /// Waiting in a mailbox or a queue.
    Waiting,
    /// Being decided; a crash in this state was caused by the command.
    Deciding,
    /// Decided but not submitted to the store; may be decided again.
    Decided,
    /// Submitted to the store in a commit; only the store's response shows whether the commit succeeded.
    Submitted,
}

/// Outcome of a command to an aggregate of type `T`.
pub enum CommandEnd<T: Aggregate> {
    /// Decided and, if the command changed anything, written to disk.
    Done(CommandAnswer<AnyAnswer>),
    /// Not carried out, or the outcome is unknown.
    Failed(AskFailure),
    /// The actor crashed or was unloaded before the command reached the store, so nothing was changed. The command and
    /// its permit are returned to the handle, which sends the command again.
    NotDone(PendingCommand<T>, OwnedSemaphorePermit),
    /// The actor crashed after the command was submitted to the store, so it may or may not be on disk. The state that
    /// the actor last published may be older than the state on disk.
    Interrupted,
}

/// Reason that a command has no response.
#[derive(Debug)]
pub enum AskFailure {
    /// The rules rejected the command.
    Refused(Refusal),
    /// The idempotency key is already in use; the outcome is the response stored for it.
    KeyTaken,
    /// The database did not accept the commit. Nothing was changed.
    Unavailable(Unavailable),
    /// The actor crashed while deciding the command. Nothing was changed, and the command is not sent again.
    Poison,
    /// The store's response was lost, and the state on disk does not show whether the commit happened. A retry with the
    /// idempotency key reveals the outcome.
    Unknown,
}

/// Command in transit, together with the channel for its response. The module documentation describes the guarantees.
pub struct Envelope<T: Aggregate> {
    stage: Stage,
    /// Command with its permit and the channel to its caller; `None` once the caller has received a response.
    open: Option<OpenCommand<T>>,
}

type OpenCommand<T> = (PendingCommand<T>, oneshot::Sender<CommandEnd<T>>, OwnedSemaphorePermit);

impl<T: Aggregate> Envelope<T> {
    /// Creates the envelope for a waiting command. `permit` is the command's admission permit for the aggregate.
    pub fn new(
        request: PendingCommand<T>,
        reply: oneshot::Sender<CommandEnd<T>>,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        Self { stage: Stage::Waiting, open: Some((request, reply, permit)) }
    }

    /// Records the progress of the command, which determines the outcome sent if the envelope is dropped.
    pub fn set_stage(&mut self, stage: Stage) {
        self.stage = stage;
    }

    /// Returns the command's idempotency key; `None` if it has none, or after the caller has received a response.
    pub fn key(&self) -> Option<&str> {
        let (request, ..) = self.open.as_ref()?;
        request.caller.key.as_ref().map(|key| key.key.as_str())
    }

    /// Returns the command's principal; `None` after the caller has received a response.
    pub fn principal(&self) -> Option<Arc<Principal>> {
        self.open.as_ref().map(|(request, ..)| request.caller.by.clone())
    }

    /// Decides the command on the given state, whose displayed version is `revision`, and stores the response or
    /// rejection. Returns the rest of the decision; `None` if the command is rejected.
    pub fn decide(
        &mut self,
        this: Option<&T>,
        id: Id,
        cx: &DecisionContext<'_>,
        revision: i64,
    ) -> Option<Decision<T, ()>> {
        let (request, ..) = self.open.as_mut()?;
        self.stage = Stage::Deciding;
        #[cfg(any(test, debug_assertions))]
        test_panics::reached(T::KIND, Point::Decide);
        let decision = request.command.decide(this, id, cx, revision);
        self.stage = Stage::Decided;
        decision
    }

    /// Builds the audit log entry for the decided command; `None` if the command was rejected or is the server's own.
    pub fn audit(&self, id: Id, cx: &DecisionContext<'_>) -> Option<Audit> {
        let (request, ..) = self.open.as_ref()?;
        request.command.audit(&request.caller, id, cx)
    }

    /// Builds the response or rejection to store for the idempotency key; `None` if there is no key, or if a retry of
    /// the command must be decided again.
    pub fn stored_answer(
        &self,
        id: Id,
        version: i64,
        cx: &DecisionContext<'_>,
    ) -> Option<Result<IdempotentAnswer, serde_json::Error>> {
        let (request, ..) = self.open.as_ref()?;
        let key = request.caller.key.as_ref()?;
        let verdict = request.command.verdict_to_store()?;
        Some(verdict.map(|verdict| records::stored_answer(T::KIND, key, id, version, verdict, cx)))
    }

    /// Sends the response or rejection to the caller, with the aggregate version.
    pub fn reply(mut self, version: i64) {
        match self.open.as_mut().and_then(|(request, ..)| request.command.take_verdict()) {
            Some(Ok(answer)) => self.end(CommandEnd::Done(CommandAnswer { answer, version })),
            Some(Err(refusal)) => self.end(CommandEnd::Failed(AskFailure::Refused(refusal))),
            None => {} // Never decided: the drop sends it back.
        }
    }

    /// Tells the caller why the command has no response.
    pub fn fail(mut self, failure: AskFailure) {
        self.end(CommandEnd::Failed(failure));
    }

    fn end(&mut self, outcome: CommandEnd<T>) {
        if let Some((_, reply, permit)) = self.open.take() {
            drop(permit); // before the answer: whoever hears it may ask again at once
            let _ = reply.send(outcome);
        }
    }
}

impl<T: Aggregate> Drop for Envelope<T> {
    fn drop(&mut self) {
        let Some((mut request, reply, permit)) = self.open.take() else { return };
        let _ = reply.send(match self.stage {
            Stage::Waiting | Stage::Decided => {
                request.command.take_verdict(); // decided anew
                CommandEnd::NotDone(request, permit)
            }
            Stage::Deciding => CommandEnd::Failed(AskFailure::Poison),
            Stage::Submitted => CommandEnd::Interrupted,
        });
    }
}

/// Type-independent view of a command and its verdict, which is its response or rejection.
trait AnyCommand<T: Aggregate>: Send + Sync {
    /// Decides the command and stores the verdict. Returns the rest of the decision; `None` if the command is rejected.
    fn decide(&mut self, this: Option<&T>, id: Id, cx: &DecisionContext<'_>, revision: i64) -> Option<Decision<T, ()>>;
    /// Builds the audit log entry; see [`Envelope::audit`].
    fn audit(&self, caller: &CommandOrigin, id: Id, cx: &DecisionContext<'_>) -> Option<Audit>;
    /// Serialises the verdict; `None` if it is not stored for the idempotency key.
    fn verdict_to_store(&self) -> Option<Result<String, serde_json::Error>>;
    /// Removes the verdict; `None` if the command has not been decided.
    fn take_verdict(&mut self) -> Option<Result<AnyAnswer, Refusal>>;
}

/// Command of a specific type, and its verdict.
struct TypedCommand<T: Aggregate, C: Command<T>> {
    command: C,
    /// Response or rejection from the last decision; `None` before the first one.
    verdict: Option<Result<C::Answer, Refusal>>,
}

impl<T: Aggregate, C: Command<T>> AnyCommand<T> for TypedCommand<T, C> {
    fn decide(&mut self, this: Option<&T>, id: Id, cx: &DecisionContext<'_>, revision: i64) -> Option<Decision<T, ()>> {
        let verdict = match self.command.if_version() {
            Some(version) if version != revision => {
                Err(Refusal::new(Class::Stale, "stale_version", "the record has changed since you read it"))
            }
            _ => self.command.decide(this, id, cx),
        };
        match verdict {
            Ok(decision) => Some(decision.map_answer(|answer| self.verdict = Some(Ok(answer)))),
            Err(refusal) => {
                self.verdict = Some(Err(refusal));
                None
            }
        }
    }

    fn audit(&self, caller: &CommandOrigin, id: Id, cx: &DecisionContext<'_>) -> Option<Audit> {
        let answer = self.verdict.as_ref()?.as_ref().ok()?;
        records::audit::<T, C>(&self.command, caller, id, cx, answer)
    }

    fn verdict_to_store(&self) -> Option<Result<String, serde_json::Error>> {
        let verdict = self.verdict.as_ref().filter(|verdict| records::is_kept(verdict))?;
        Some(serde_json::to_string(verdict))
    }

    fn take_verdict(&mut self) -> Option<Result<AnyAnswer, Refusal>> {
        self.verdict.take().map(|verdict| verdict.map(|answer| Box::new(answer) as AnyAnswer))
    }
}
