//! Carries out wants, outside the actors. Reports come back as commands through the handle.

use crate::actors::kernel::handle::Handle;
use crate::domain::aggregate::{Aggregate, Versioned};
use async_trait::async_trait;
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::AbortHandle;

/// The outside of one kind of thing.
#[async_trait]
pub trait Effects<T: Aggregate>: Send + Sync + 'static {
    /// Carries out one want and reports to `of`. Returning means "this try is over": as long as the want stands it is
    /// called again after a pause, so an error needs no handling beyond a log line.
    async fn run(&self, want: T::Effect, of: Handle<T>);
    /// A commit of the thing is on disk (also called once when it was loaded). Must not wait.
    fn committed(&self, of: &Handle<T>, state: &Arc<Versioned<T>>) {
        let _ = (of, state);
    }
}

/// A kind that wants nothing.
pub struct Nothing;

#[async_trait]
impl<T: Aggregate> Effects<T> for Nothing {
    async fn run(&self, _: T::Effect, _: Handle<T>) {}
}

const PAUSE_FIRST: Duration = Duration::from_millis(50);
/// Short enough that nothing is told late after a long outage, long enough to cost nothing meanwhile.
const PAUSE_LONGEST: Duration = Duration::from_secs(2);

/// Pursues a want until it is aborted; a try that returns or falls is followed by another, ever more slowly.
pub(super) fn keep_running<T: Aggregate>(world: Arc<dyn Effects<T>>, want: T::Effect, of: Handle<T>) -> AbortHandle {
    tokio::spawn(async move {
        let mut pause = PAUSE_FIRST;
        loop {
            let one_try = AssertUnwindSafe(world.run(want.clone(), of.clone())).catch_unwind();
            if one_try.await.is_err() {
                tracing::error!(kind = T::KIND, id = %of.id(), ?want, "outside work fell and is tried again");
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_LONGEST);
        }
    })
    .abort_handle()
}
