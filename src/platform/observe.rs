//! Log of the server, its messages about the shop, and the counters behind `/metrics`.

pub mod log;
pub mod meters;
pub mod process;
mod repeats;
pub mod story;
