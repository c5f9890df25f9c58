//! Ground that everything else stands on and that knows nothing of the shop: HTTP and TLS clients that refuse addresses
//! they must not dial, secrets, the log and the counters, and messages for errors of the operating system.

pub mod http;
pub mod io_words;
pub mod observe;
pub mod secrets;
pub mod shared;
pub mod tls;
