//! What the server tells of itself: its log, and counters that `/metrics` shows.

pub mod log;
pub mod meters;
