//! Ports for programs that are killed and restarted.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};

use crate::error::ChaosError;

/// First port of the range. It is outside the range from which the system assigns ports to connections, so while a
/// program is down, no connection takes its port.
const FIRST_PORT: u16 = 9_100;
/// Number of ports in the range, which ends below the range used by the integration tests.
const PORT_COUNT: u16 = 880;
/// Number of ports for each run before it uses those of the next one.
const PORTS_PER_RUN: u32 = 8;

/// Ports of this run. Each is reserved by a UDP socket with the same number, which none of the programs uses, so that
/// another run does not take the port while its program is down.
#[derive(Debug)]
pub struct Ports {
    reservations: Vec<UdpSocket>,
    next: u16,
}

impl Ports {
    /// Creates the range without any reservation.
    pub fn new() -> Self {
        let start = std::process::id().wrapping_mul(PORTS_PER_RUN) % u32::from(PORT_COUNT);
        Self { reservations: Vec::new(), next: start as u16 }
    }

    /// Returns a port on which nothing listens, a different one for each call.
    pub fn free(&mut self) -> Result<u16, ChaosError> {
        for _ in 0..PORT_COUNT {
            let port = FIRST_PORT + self.next;
            self.next = (self.next + 1) % PORT_COUNT;
            let Ok(reservation) = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)) else { continue };
            if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
                self.reservations.push(reservation);
                return Ok(port);
            }
        }
        Err(ChaosError::Failed(format!("no free port from {FIRST_PORT} on")))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn no_port_is_given_away_twice() {
        let (mut first, mut second) = (Ports::new(), Ports::new());
        let mut ports = [first.free().unwrap(), first.free().unwrap(), second.free().unwrap(), second.free().unwrap()];
        ports.sort_unstable();
        assert!(ports.windows(2).all(|pair| pair[0] != pair[1]), "{ports:?}");
    }
}
