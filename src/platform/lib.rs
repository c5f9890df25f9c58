//! Foundation for all other crates, without any knowledge of the shop: HTTP and TLS clients that reject addresses they
//! must not connect to, secrets, the log, counters, shared values, messages for operating system errors, kinds of
//! network errors, and channels whose waiters wake in order.

pub mod http;
pub mod io_words;
pub mod network_fault;
pub mod observe;
pub mod recent;
pub mod secrets;
pub mod shared;
pub mod tls;
pub mod watch;
