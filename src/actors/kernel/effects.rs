//! Effects: the outside work that a committed state calls for (send a command to another aggregate, talk to a printer,
//! send a mail).
//!
//! Effects are level-triggered. After every load and every commit the actor asks the state which effects it calls for
//! ([`Aggregate::effects`]), starts a task for each new one and aborts the task of each that is no longer called for.
//! Nothing is remembered in a queue, so recovery after a crash is the same as normal operation: the state is loaded and
//! its effects start again. Hence an effect may run more than once, and must be idempotent or determine by itself how
//! far it got. Its result comes back as a command through the handle; only that command's commit ends the effect. While
//! the commit is not possible, [`report`] repeats the command, not the work.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use tokio::task::AbortHandle;

use crate::directory::ASK_TIMEOUT;
use crate::envelope::CommandOrigin;
use crate::handle::{AskError, Handle};
#[cfg(any(test, debug_assertions))]
use crate::test_panics::{self, Point};
use domain::aggregate::{Aggregate, Command, Versioned};
use domain::schedule::Delays;

/// Executor of the effects of one kind of aggregate.
#[async_trait]
pub trait Effects<T: Aggregate>: Send + Sync + 'static {
    /// Tries an effect once and reports to `of` with a command. Returning means only that this try is over: while the
    /// state calls for the effect it is retried after a pause, so an error needs no handling beyond a log line. The
    /// future may be dropped at any await, when the state no longer calls for the effect.
    async fn run(&self, effect: T::Effect, of: Handle<T>);
    /// Observes each commit of the aggregate, and once its state after it was loaded. Runs inside the actor: must not
    /// block.
    fn committed(&self, of: &Handle<T>, state: &Arc<Versioned<T>>) {
        let _ = (of, state);
    }
}

/// Effects of kinds whose states call for no outside work.
pub struct NoEffects;

#[async_trait]
impl<T: Aggregate> Effects<T> for NoEffects {
    async fn run(&self, _: T::Effect, _: Handle<T>) {}
}

/// Reports to an aggregate the outcome of outside work that must not be repeated: a mail that was accepted, a delivery
/// that was answered, a file that was uploaded. While the aggregate cannot take the outcome (the database cannot write,
/// too many commands are waiting), only the report is repeated; the outcome stays in the memory of the effect's task,
/// which ends when the state no longer calls for the effect.
///
/// The rules must recognise the command when it arrives twice, since a report without an answer may have been
/// committed. An error is final: the report was refused, it crashed the actor, or the server is shutting down.
pub async fn report<T: Aggregate, C: Command<T>>(of: &Handle<T>, command: C) -> Result<C::Answer, AskError> {
    let mut tries = 0;
    loop {
        let error = match of.ask(CommandOrigin::system(), command.clone(), ASK_TIMEOUT).await {
            Ok(answered) => return Ok(answered.answer),
            Err(error @ (AskError::Refused(_) | AskError::KeyTaken | AskError::Poison | AskError::Closed)) => {
                return Err(error);
            }
            Err(error) => error,
        };
        tracing::debug!(kind = T::KIND, id = %of.id(), %error, tries, "recording an outcome failed; retrying");
        tokio::time::sleep(RETRY_DELAYS.next(tries, 1.0)).await;
        tries = tries.saturating_add(1);
    }
}

/// Backoff between the tries of one effect. The longest pause is short enough that reports resume soon after a long
/// outage, and long enough that a standing effect costs nothing meanwhile.
const RETRY_DELAYS: Delays = Delays { first: Duration::from_millis(50), longest: Duration::from_secs(2) };

/// Runs an effect repeatedly until the task is aborted. A try that returns or panics is followed by another after an
/// increasing pause.
pub(super) fn keep_running<T: Aggregate>(
    effects: Arc<dyn Effects<T>>,
    effect: T::Effect,
    of: Handle<T>,
) -> AbortHandle {
    tokio::spawn(async move {
        for tries in 0_u32.. {
            let run = async {
                #[cfg(any(test, debug_assertions))]
                test_panics::reached(T::KIND, Point::Effect);
                effects.run(effect.clone(), of.clone()).await;
            };
            let one_try = AssertUnwindSafe(run).catch_unwind();
            if one_try.await.is_err() {
                tracing::error!(kind = T::KIND, id = %of.id(), ?effect, "an effect panicked; retrying");
            }
            tokio::time::sleep(RETRY_DELAYS.next(tries, 1.0)).await;
        }
    })
    .abort_handle()
}
