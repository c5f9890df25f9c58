//! Effects: the external work that a committed state calls for, such as sending a command to another aggregate,
//! communicating with a printer or sending an email.
//!
//! Effects are level-triggered. After every load and every commit, the actor determines which effects the state calls
//! for ([`Aggregate::effects`]), starts a task for each new effect, and aborts the task of each effect that is no
//! longer called for. There is no queue of effects, so recovery after a crash is the same as normal operation: the
//! state is loaded, and its effects start again. An effect may therefore run more than once, and must be idempotent or
//! determine how far it got. The result is reported as a command through the handle, and only the commit of that
//! command ends the effect. While the commit is not possible, [`report`] retries the command, not the work.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use tokio::task::AbortHandle;

use crate::envelope::CommandOrigin;
use crate::handle::{ASK_TIMEOUT, AskError, Handle};
#[cfg(any(test, debug_assertions))]
use crate::test_panics::{self, Point};
use domain::aggregate::{Aggregate, Command, Versioned};
use domain::schedule::Delays;
use store::lease::Leadership;

/// Executor of an aggregate kind's effects.
#[async_trait]
pub trait Effects<T: Aggregate>: Send + Sync + 'static {
    /// Attempts an effect once and reports the result to `of` with a command. Returning only means that this attempt is
    /// over. As long as the state calls for the effect, it is attempted again after a pause, so an error only needs to
    /// be logged. The future may be dropped at any await point, when the state no longer calls for the effect.
    async fn run(&self, effect: T::Effect, of: Handle<T>);
    /// Observes each commit of the aggregate, and its state once after loading. Runs within the actor, so it must not
    /// block.
    fn committed(&self, of: &Handle<T>, state: &Arc<Versioned<T>>) {
        let _ = (of, state);
    }
}

/// Effects for kinds whose states call for no external work.
pub struct NoEffects;

#[async_trait]
impl<T: Aggregate> Effects<T> for NoEffects {
    async fn run(&self, _: T::Effect, _: Handle<T>) {}
}

/// Reports to an aggregate the outcome of external work that must be done only once, for example that an email was
/// accepted, a webhook was delivered or a file was uploaded. While the aggregate cannot accept the report (the database
/// cannot be written, or too many commands are waiting), only the report is retried. Meanwhile, the effect's task holds
/// the outcome in memory; it ends when the state no longer calls for the effect.
///
/// The rules must recognise the command if it arrives twice, because a report that received no response may have been
/// committed. An error is final: the report was rejected, it crashed the actor, or the server is shutting down.
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

/// Backoff between attempts at an effect. The longest pause is short enough for reports to resume soon after a long
/// outage, and long enough that an effect that stays due meanwhile costs almost nothing.
const RETRY_DELAYS: Delays = Delays { first: Duration::from_millis(50), longest: Duration::from_secs(2) };

/// Keeps an effect running until the task is aborted. If an attempt returns or panics, the next one starts after an
/// increasing delay. No attempt starts while another server may lead, as after the process was stopped for a while.
pub(super) fn keep_running<T: Aggregate>(
    effects: Arc<dyn Effects<T>>,
    effect: T::Effect,
    of: Handle<T>,
    leadership: Leadership,
) -> AbortHandle {
    tokio::spawn(async move {
        for tries in 0_u32.. {
            leadership.wait_until_confirmed().await;
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
