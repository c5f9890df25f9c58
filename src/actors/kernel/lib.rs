//! Generic part of all actors, independent of the aggregate kinds.
//!
//! [`actor`] is the single actor type behind every aggregate; [`handle`] sends commands to an aggregate and reads its
//! state; `supervisor` restarts the actors of a kind; [`directory`] finds, reads and creates aggregates; [`effects`]
//! carries out external work.

pub mod actor;
pub mod directory;
pub mod effects;
pub mod entry;
pub mod envelope;
pub mod environment;
pub mod handle;
pub mod message;
pub mod restart_policy;
pub mod root;
mod supervisor;
#[cfg(any(test, debug_assertions))]
mod test_panics;
#[cfg(test)]
mod tests;
