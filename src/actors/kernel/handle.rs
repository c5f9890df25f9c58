//! Handles to aggregates. They read the last committed state without using a mailbox, and send commands.
//!
//! A handle never becomes invalid. It refers to the directory's entry rather than to an actor, so it survives crashes,
//! restarts and the unloading of the aggregate. A command that was definitely not carried out is sent again to the next
//! actor; the caller only notices the delay.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::oneshot;

use crate::entry::{ActorStatus, DirectoryEntry};
use crate::envelope::{AnyAnswer, AskFailure, CommandAnswer, CommandEnd, CommandOrigin, Envelope, PendingCommand};
use crate::message::Msg;
use domain::aggregate::{Aggregate, Command, Versioned};
use domain::id::Id;
use domain::refusal::Refusal;
use store::Unavailable;

/// Maximum time that a caller waits for a response; after that, the HTTP layer responds with 503.
pub const ASK_TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum time that a caller whose command was interrupted by a crash waits for the state on disk to be published.
const SUCCESSOR_WITHIN: Duration = Duration::from_secs(5);

/// Reason that a command has no response.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AskError {
    /// The rules rejected the command. Nothing was changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The idempotency key was already used by a different request; the outcome is the response stored for it.
    #[error("another request used the idempotency key at the same time")]
    KeyTaken,
    /// Too many commands are waiting for the aggregate. Nothing was changed.
    #[error("too many commands are queued; try again shortly")]
    Overloaded,
    /// The aggregate is out of service, usually because its actor crashed too often. Nothing was changed.
    #[error("out of service after repeated faults")]
    Parked,
    /// The database did not accept the commit. Nothing was changed.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The command caused the actor to crash. Nothing was changed, and the command is not retried.
    #[error("internal error")]
    Poison,
    /// The outcome is unknown; a retry with the idempotency key reveals it.
    #[error("the outcome is unknown; check whether the change was made before you retry")]
    Unknown,
    /// No response arrived in time; the command may still be carried out.
    #[error("the request timed out")]
    Timeout,
    /// The server is shutting down. Nothing was changed.
    #[error("the server is shutting down")]
    Closed,
}

impl From<AskFailure> for AskError {
    fn from(failure: AskFailure) -> Self {
        match failure {
            AskFailure::Refused(refusal) => Self::Refused(refusal),
            AskFailure::KeyTaken => Self::KeyTaken,
            AskFailure::Unavailable(why) => Self::Unavailable(why),
            AskFailure::Poison => Self::Poison,
            AskFailure::Unknown => Self::Unknown,
        }
    }
}

/// Handle to an aggregate. Cheap to clone.
pub struct Handle<T: Aggregate>(pub(super) Arc<DirectoryEntry<T>>);

impl<T: Aggregate> Clone for Handle<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Aggregate> Handle<T> {
    /// Returns the ID of the aggregate.
    pub fn id(&self) -> Id {
        self.0.id
    }

    /// Returns whether the aggregate is out of service after repeated crashes.
    pub fn is_parked(&self) -> bool {
        matches!(self.0.status.borrow().1, ActorStatus::Parked)
    }

    /// Returns the last committed state, without a mailbox or lock; empty until the state has been loaded once.
    pub fn read(&self) -> Arc<Versioned<T>> {
        self.0.published.load_full()
    }

    /// Sends a command and waits up to `within` for the response. The caller does not notice a crash of the actor if
    /// the command was definitely not carried out and there is time left.
    pub async fn ask<C: Command<T>>(
        &self,
        caller: CommandOrigin,
        command: C,
        within: Duration,
    ) -> Result<CommandAnswer<C::Answer>, AskError> {
        typed(self.send(PendingCommand::new(caller, command), within).await)
    }

    /// Sends a command of any type, as [`Self::ask`] does. [`typed`] converts the response.
    pub fn send(
        &self,
        request: PendingCommand<T>,
        within: Duration,
    ) -> BoxFuture<'_, Result<CommandAnswer<AnyAnswer>, AskError>> {
        async move { tokio::time::timeout(within, self.deliver(request)).await.unwrap_or(Err(AskError::Timeout)) }
            .boxed()
    }

    async fn deliver(&self, mut request: PendingCommand<T>) -> Result<CommandAnswer<AnyAnswer>, AskError> {
        let mut statuses = self.0.status.subscribe();
        let full = |_| {
            self.0.supervisor.meter().overloaded.one();
            AskError::Overloaded
        };
        let mut permit = self.0.permits.clone().try_acquire_owned().map_err(full)?;
        loop {
            let (generation, status) =
                match statuses.wait_for(|(_, status)| !matches!(status, ActorStatus::Starting)).await {
                    Ok(now) => (now.0, now.1.clone()),
                    Err(_) => return Err(AskError::Closed),
                };
            let actor = match status {
                ActorStatus::Here(actor) => actor,
                ActorStatus::Resting => {
                    self.0.activate();
                    continue;
                }
                ActorStatus::Closed => return Err(AskError::Closed),
                ActorStatus::Starting | ActorStatus::Parked => return Err(AskError::Parked),
            };
            let (reply, outcome) = oneshot::channel();
            // A refused send hands the envelope back; dropping it answers NotDone through `outcome`.
            let _ = actor.cast(Msg::Do(Envelope::new(request, reply, permit)));
            match outcome.await {
                Ok(CommandEnd::Done(answered)) => return Ok(answered),
                Ok(CommandEnd::Failed(failure)) => return Err(failure.into()),
                Err(_) | Ok(CommandEnd::Interrupted) => {
                    let published = self.0.published_after(generation);
                    let _ = tokio::time::timeout(SUCCESSOR_WITHIN, published).await;
                    return Err(AskError::Unknown);
                }
                Ok(CommandEnd::NotDone(back, returned_permit)) => {
                    (request, permit) = (back, returned_permit);
                    let moved =
                        statuses.wait_for(|(g, status)| *g > generation || !matches!(status, ActorStatus::Here(_)));
                    if moved.await.is_err() {
                        return Err(AskError::Closed);
                    }
                }
            }
        }
    }
}

/// Gives a response the type that belongs to its command.
pub fn typed<A: 'static>(outcome: Result<CommandAnswer<AnyAnswer>, AskError>) -> Result<CommandAnswer<A>, AskError> {
    outcome.and_then(|answered| answered.typed().ok_or(AskError::Unknown))
}
