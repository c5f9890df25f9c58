//! The simulated printers and a webhook receiver, on ports that stay the same from start to start.

use std::net::{Ipv4Addr, SocketAddr};

use simulator::fleet::FleetError;
use simulator::sink::Sink;
use simulator::{Fleet, FleetOptions, SimPrinter};

use super::folder::Folder;
use crate::cli::CliError;

/// How many times faster than their G-code estimates the printers print.
pub const SPEED: f64 = 120.0;

/// Number of ports of one demo: the receiver's, then two rows of printers.
const PORTS: u16 = 250;
/// Offset of the second row, which is fixed so that adding printers to the first moves no port.
const ROW: u16 = 101;
/// First port that a new demo tries.
const FIRST_PORT: u16 = 17_000;
/// Number of port ranges that a new demo tries.
const TRIES: u16 = 40;

/// The simulated programs outside the server.
#[derive(Debug)]
pub struct Floor {
    fw_rest: Fleet,
    server_rest: Fleet,
    /// The program that receives the webhooks of the shop.
    pub sink: Sink,
}

impl Floor {
    /// Starts everything on the ports of last time, or on the first free range, which is then remembered.
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
                    let words = format!("the simulated printers cannot start: {error}");
                    return Err(CliError::Failed(format!("{words}; is this demo already running?")));
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

    /// All virtual printers, in an order that adding printers does not change within a row.
    pub fn printers(&self) -> impl Iterator<Item = &SimPrinter> {
        self.fw_rest.printers.iter().chain(&self.server_rest.printers)
    }

    /// Stops printers and receiver.
    pub fn shutdown(&self) {
        self.fw_rest.shutdown();
        self.server_rest.shutdown();
        self.sink.shutdown();
    }
}
