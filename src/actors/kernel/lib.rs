//! Generic part of all actors; it depends on no kind of aggregate.
//!
//! [`actor`] is the one actor type behind every aggregate; [`handle`] sends it commands and reads its state;
//! `supervisor` restarts the actors of a kind; [`directory`] finds, reads and creates aggregates; [`effects`] carries
//! out outside work.

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
