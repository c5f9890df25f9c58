//! The server's log, its messages about the shop, and the counters behind `/metrics`.

pub mod log;
pub mod meters;
pub mod process;
mod repeats;
pub mod request;
pub mod story;
