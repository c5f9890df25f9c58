//! The generic part of all actors; it knows no kind of aggregate.
//!
//! [`actor`] is the one actor behind every aggregate; [`handle`] is how everybody speaks to one; `supervisor` restarts
//! the actors of a kind; [`directory`] finds, reads and creates aggregates; [`effects`] carries out outside work.

pub mod actor;
pub mod directory;
pub mod effects;
pub mod entry;
pub mod envelope;
pub mod environment;
pub mod handle;
pub mod restart_policy;
pub mod root;
mod supervisor;
#[cfg(any(test, debug_assertions))]
mod test_panics;
