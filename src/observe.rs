//! The server's log, and the counters behind `/metrics`.

pub mod log;
pub mod meters;
