//! Ports for programs that tests start.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex};

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

/// Reservations of this process: a port is its own as long as it holds the UDP socket of the same number, which no
/// program under test uses. The system ends them with the process, however it ends.
static RESERVATIONS: Mutex<Vec<UdpSocket>> = Mutex::new(Vec::new());

/// Returns a port on which nothing listens, another one at each call. No other test gets it before this process ends,
/// not even while the program that listens on it is down.
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

/// Returns an address on which nothing listens as long as this process runs.
pub fn closed_address() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()))
}
