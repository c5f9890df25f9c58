//! Messages to an aggregate's actor, from its handles, the store and its supervisor.

use crate::envelope::Envelope;
use domain::aggregate::Aggregate;
use store::Settlement;
use store::ordered_work::LoadAnswer;

/// Message to an aggregate's actor.
pub enum Msg<T: Aggregate> {
    /// A command for the aggregate, with the caller's reply channel.
    Do(Envelope<T>),
    /// The store's response to a load, which includes everything queued before the load.
    Loaded(LoadAnswer<T>),
    /// The store's response to the commit in flight.
    Settled(Settlement),
    /// The callers that just got a response have had a chance to send a new command; the waiting commands must now be
    /// decided.
    Decide,
    /// The state must be loaded again.
    Reload,
    /// The idle timer fired; contains the number of commands handled when the timer was set.
    Quiet(u64),
    /// The server is shutting down: finish the accepted commands, then stop.
    Leave,
    /// Crash the actor on purpose, for tests.
    #[cfg(any(test, debug_assertions))]
    Crash,
}
