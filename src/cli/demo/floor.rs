//! The virtual printers, and a receiver of webhooks beside them, on ports that stay the same from start to start.

use std::net::{Ipv4Addr, SocketAddr};

use simulator::fleet::FleetError;
use simulator::sink::Sink;
use simulator::{Fleet, FleetOptions, SimPrinter};

use super::folder::Folder;
use crate::cli::CliError;

/// How much faster than their G-code's estimate the printers print.
pub const SPEED: f64 = 120.0;

/// Ports that one demo uses: the receiver's, then two rows of printers.
const PORTS: u16 = 250;
/// Where the row of the other kind begins, whatever the number of the first: adding printers moves none.
const ROW: u16 = 101;
/// Where a new demo begins to look for free ports.
const FIRST_PORT: u16 = 17_000;
/// How many places it tries.
const TRIES: u16 = 40;

/// Everything outside the server.
#[derive(Debug)]
pub struct Floor {
    fw_rest: Fleet,
    server_rest: Fleet,
    /// Where webhooks go.
    pub sink: Sink,
}

impl Floor {
    /// Starts everything where it was last time, or at the first free place, which the folder then remembers.
    pub async fn start(folder: &mut Folder) -> Result<Self, CliError> {
        let places: Vec<u16> = match folder.memory.base_port {
            Some(known) => vec![known],
            None => (0..TRIES).map(|place| FIRST_PORT + place * PORTS).collect(),
        };
        let last = places.last().copied();
        for base in places {
            match Self::start_at(base, folder.memory.printers).await {
                Ok(floor) => {
                    floor.sink.verify_with(&folder.memory.webhook_secret);
                    folder.memory.base_port = Some(base);
                    folder.keep()?;
                    return Ok(floor);
                }
                Err(FleetError::Listen { .. }) if Some(base) != last => {}
                Err(error) => {
                    let words = format!("the simulated printers do not start: {error}");
                    return Err(CliError::Failed(format!("{words}; is this demo running already?")));
                }
            }
        }
        Err(CliError::Failed("there are no free ports for the simulated printers".to_owned()))
    }

    async fn start_at(base: u16, printers: usize) -> Result<Self, FleetError> {
        let server_rest = printers / 2;
        let row = |fw_rest, server_rest, port| FleetOptions {
            fw_rest,
            server_rest,
            base_port: Some(port),
            speed: SPEED,
            seed: u64::from(port),
        };
        let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, base));
        let sink = Sink::start_on(addr).await.map_err(|source| FleetError::Listen { addr, source })?;
        Ok(Self {
            fw_rest: Fleet::start(row(printers - server_rest, 0, base + 1)).await?,
            server_rest: Fleet::start(row(0, server_rest, base + ROW)).await?,
            sink,
        })
    }

    /// All printers.
    pub fn printers(&self) -> impl Iterator<Item = &SimPrinter> {
        self.fw_rest.printers.iter().chain(&self.server_rest.printers)
    }

    /// Stops them.
    pub fn shutdown(&self) {
        self.fw_rest.shutdown();
        self.server_rest.shutdown();
        self.sink.shutdown();
    }
}
