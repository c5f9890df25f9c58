//! Ports for programs that tests start.

use std::net::TcpListener;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// First of the ports. None of them is among those that the system chooses for connections, so while a program is down,
/// no connection of another test takes its port.
const FIRST: u16 = 10_000;
/// Number of the ports: they end before those of simulated printers (`cli::process::Place::ports`).
const COUNT: u32 = 6_900;
/// The one of them that browsers refuse to open.
const REFUSED_BY_BROWSERS: u16 = 10_080;
/// Number of ports for each process of tests, before it takes those of the next.
const SHARE: u32 = 8;

/// Place of the next port to try, which begins elsewhere in each process.
static NEXT: LazyLock<AtomicU32> = LazyLock::new(|| AtomicU32::new(std::process::id().wrapping_mul(SHARE)));

/// Returns a port on which nothing listens, another one at each call.
pub fn free_port() -> u16 {
    loop {
        let place = NEXT.fetch_add(1, Ordering::Relaxed) % COUNT;
        let port = FIRST + u16::try_from(place).unwrap();
        if port != REFUSED_BY_BROWSERS && TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
