//! Ports for programs that tests start.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex};

/// First port of the range. It is outside the range from which the system assigns ports to connections, so while a
/// program is down, no connection of another test takes its port.
const FIRST: u16 = 10_000;
/// Number of ports in the range, which ends below the range for simulated printers (`cli::process::Place::ports`).
const COUNT: u32 = 6_900;
/// Port in the range that browsers refuse to connect to.
const REFUSED_BY_BROWSERS: u16 = 10_080;
/// Number of ports for each test process before it uses those of the next one.
const SHARE: u32 = 8;

/// Index of the next port to try; the first index differs between processes.
static NEXT: LazyLock<AtomicU32> = LazyLock::new(|| AtomicU32::new(std::process::id().wrapping_mul(SHARE)));

/// Reservations of this process: it owns a port while it holds the UDP socket with the same number, which no program
/// under test uses. The system releases the sockets when the process exits for any reason.
static RESERVATIONS: Mutex<Vec<UdpSocket>> = Mutex::new(Vec::new());

/// Returns a port on which nothing listens, a different one for each call. No other test gets it before this process
/// exits, not even while the program that listens on it is down.
pub fn free_port() -> u16 {
    for _ in 0..COUNT {
        let place = NEXT.fetch_add(1, Ordering::Relaxed) % COUNT;
        let port = FIRST + u16::try_from(place).unwrap();
        if port == REFUSED_BY_BROWSERS {
            continue;
        }
        let Ok(reservation) = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)) else { continue };
        // A program that outlived its test may still listen.
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            RESERVATIONS.lock().unwrap().push(reservation);
            return port;
        }
    }
    panic!("none of {COUNT} ports is free, or this process has too many files open")
}

/// Returns an address at which nothing listens while this process runs.
pub fn closed_address() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()))
}
